"""No pattern of redaction searches a long run again and again from each of its characters."""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import turnfold.events

LONG = 64
# These judge one word or what is right behind it, which is short, and never search a text.
JUDGES = frozenset(
    """
    PROSE_ENDING _GOES_ON _ELEMENT _FOLLOWS _ORDINARY _VERSION _ADDRESS _HYPHENED _SHORT_TAILED
    _TAILED _LITERAL _LAST_RUN _NUMBERED_WORD _LETTERS _DATE
    """.split()
)

Tree = Sequence[tuple[Any, Any]]
parser: Any = importlib.import_module("re._parser")


def inside(value: Any, name: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    kind = value.__class__.__name__  # so that Any stays Any
    if kind == "Pattern" and value.pattern.__class__ is str:
        yield name, value
    elif kind == "Lazy":
        yield name, value.compiled()
    elif kind == "Rule":
        yield f"{name}: {value.source}", value.pattern.compiled()
    elif kind == "dict":
        for key, part in value.items():
            yield from inside(part, f"{name}[{key}]")
    elif kind in ("tuple", "list"):
        for number, part in enumerate(value):  # rules may share their source
            yield from inside(part, f"{name}[{number}]")


def patterns() -> dict[str, re.Pattern[str]]:
    """Every pattern of redaction by where it stands."""
    found: dict[str, re.Pattern[str]] = {}
    for module in pkgutil.iter_modules(turnfold.events.__path__):
        if module.name.startswith("redaction"):
            names = vars(importlib.import_module(f"turnfold.events.{module.name}"))
            for name, value in names.items():
                if not name.startswith("__"):
                    found |= inside(value, f"{module.name}.{name}")
    return found


def begins_with_a_run(tree: Tree) -> bool:
    """Whether a search may take a run of LONG characters from each of its places, for nothing."""
    for place, (operation, value) in enumerate(tree):
        rest = tree[place + 1 :]
        match str(operation):
            case "ASSERT" | "ASSERT_NOT":
                if value[0] < 0:
                    return False  # what stands before it says where it may begin
            case "SUBPATTERN":
                return begins_with_a_run([*value[3], *rest])
            case "ATOMIC_GROUP":
                return begins_with_a_run([*value, *rest])
            case "BRANCH":
                return any(begins_with_a_run([*branch, *rest]) for branch in value[1])
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, repeated = value
                if int(high) >= LONG:
                    return any(is_demanding(item) for item in rest)
                return begins_with_a_run([*repeated]) or (low == 0 and begins_with_a_run(rest))
            case _:
                return False
    return False


def is_demanding(item: tuple[Any, Any]) -> bool:
    """Whether an item of a pattern can fail."""
    if str(item[0]) in ("ASSERT", "ASSERT_NOT", "AT"):
        return True
    return bool(parser.SubPattern(parser.State(), [item]).getwidth()[0] > 0)


PATTERNS = patterns()


def test_all_patterns_are_here() -> None:
    assert len(PATTERNS) > 450


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_no_search_begins_with_a_long_run(name: str) -> None:
    # `[a-z]{4,}20\d{6}` on "zzzz…" takes the run from each place: 270 ms for 16 KiB.
    if name.rpartition(".")[2] in JUDGES:
        return
    pattern = PATTERNS[name]
    assert not begins_with_a_run(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


def test_the_check_finds_such_patterns() -> None:
    for source in (r"[a-z]{4,}20\d{6}", r"(?:x|\s+)y", r"a?(?>\w*)-", r"(?P<v>\d{2,99}+)(?=z)"):
        assert begins_with_a_run(parser.parse(source))
    for source in (r"[a-z]{4}20\d{6}", r"(?<!\w)\w+x", r"\w+", r"ab*c", r"\s{0,4}x"):
        assert not begins_with_a_run(parser.parse(source))
