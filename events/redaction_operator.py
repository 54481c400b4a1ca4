"""Rules that an operator adds from the configuration, on top of the built-in ones.

A rule is a literal prefix and at least so many characters of one class after it; the whole run
goes. That form is linear by construction, which somebody's regular expression isn't: a prefix
is looked for, a run is measured once, and a run that is too short is shorter than 64 characters.
Rules see the same folded and unescaped views of a text as the built-in ones.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final, cast

import attrs

from turnfold.events.errors import InvalidConfig
from turnfold.events.redaction import (
    PLACEHOLDER,
    RULESET_VERSION,
    RedactedText,
    is_clean,
    redact,
    redact_more,
)
from turnfold.events.redaction_rule import Span
from turnfold.events.redaction_views import MASK, UNESCAPE_ROUNDS, View, folded, unescaped

SECTION: Final = "conversation.redaction"
RULES_MAX: Final = 32
PREFIX_CHARS: Final = (3, 32)
MIN_LENGTH: Final = (4, 64)
CHARACTERS: Final[dict[str, str]] = {
    "digits": "0-9",
    "hex": "0-9A-Fa-f",
    "letters": "A-Za-z",
    "alphanumeric": "0-9A-Za-z",
    "token": r"0-9A-Za-z_\-+=~",
}
"""The classes of characters that may follow a prefix. None has a blank, a quote or a backslash, so
that JSON stays parseable."""

_KIND: Final = "token"
_RULE_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_PREFIX = re.compile(r"[!#-\[\]-~]+")  # printable ASCII without blanks, quotes and backslashes
_KEYS: Final = ("prefix", "characters", "min_length")
_VERSION_BITS: Final = 16


@attrs.frozen
class OperatorRule:
    """`prefix` and at least `min_length` characters of the class `characters` after it."""

    name: str
    prefix: str = attrs.field(repr=False)
    characters: str
    min_length: int
    _run: re.Pattern[str] = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        run = re.compile(f"[{CHARACTERS[self.characters]}]*+")
        object.__setattr__(self, "_run", run)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it matches, in order."""
        at = text.find(self.prefix)
        while at >= 0:
            start = at + len(self.prefix)
            run = self._run.match(text, start)
            end = start if run is None else run.end()
            if end - start >= self.min_length:
                yield at, end
                at = text.find(self.prefix, end)
            else:
                at = text.find(self.prefix, at + 1)


@attrs.frozen
class OperatorRules:
    """All added rules, by name. `OperatorRules()` adds none."""

    rules: tuple[OperatorRule, ...] = ()

    @property
    def ruleset(self) -> int:
        """What stands in the log for the rules in force, built-in ones included.

        Without added rules that is `RULESET_VERSION`; with them, its bits above the sixteenth are a
        digest of them, so that another set of rules is another number.
        """
        if not self.rules:
            return RULESET_VERSION
        stated = [f"{r.name} {r.prefix} {r.characters} {r.min_length}\n" for r in self.rules]
        digest = blake2b("".join(stated).encode(), digest_size=4, person=b"tf-ruleset").digest()
        return int.from_bytes(digest, "little") << _VERSION_BITS | RULESET_VERSION

    def redact(self, text: str) -> RedactedText:
        """The text redacted by all rules, the added ones last. Raises as `redact`."""
        clean = redact(text)
        return redact_more(clean, self.find) if self.rules else clean

    def is_clean(self, text: str) -> bool:
        """Whether `redact` would leave the text as it is."""
        return is_clean(text) and not (self.rules and self.find(text))

    def find(self, text: str) -> list[Span]:
        """What the added rules find, in order, none touching another."""
        if "[redacted:" in text:
            text = PLACEHOLDER.sub(lambda match: MASK * len(match.group()), text)
        found = [
            view.span(start, end)
            for view in _views(text)
            for rule in self.rules
            for start, end in rule.spans(view.text)
        ]
        return _united(found)


def builtin_version(ruleset: int) -> int:
    """The version of the built-in rules in what stands in the log."""
    return ruleset & ((1 << _VERSION_BITS) - 1)


def parse_rules(value: object) -> OperatorRules:
    """The rules of the table `[conversation.redaction]`: a table for each, by name.

    Raises InvalidConfig, which names the key in full and repeats no value.
    """
    if isinstance(value, OperatorRules):
        return value
    table = _table(SECTION, value)
    if len(table) > RULES_MAX:
        raise InvalidConfig(f"{SECTION} has {len(table)} rules; the hard ceiling is {RULES_MAX}")
    named = [(_rule_name(name), rule) for name, rule in table.items()]
    return OperatorRules(tuple(_rule(name, rule) for name, rule in sorted(named, key=_first)))


def _first(item: tuple[str, object]) -> str:
    return item[0]


def _rule_name(name: object) -> str:
    if isinstance(name, str) and _RULE_NAME.fullmatch(name) and is_clean(name):
        return name
    raise InvalidConfig(
        f"{SECTION} has a rule whose name isn't 1 to 32 of a-z, 0-9 and _, a letter first"
    )


def _rule(name: str, value: object) -> OperatorRule:
    where = f"{SECTION}.{name}"
    table = _table(where, value)
    for key in table:
        if key not in _KEYS:
            raise InvalidConfig(f"{where} has a key that is none of {', '.join(_KEYS)}")
    for key in _KEYS:
        if key not in table:
            raise InvalidConfig(f"{where}.{key} is missing: a rule without it has no bound")
    prefix, characters, min_length = (table[key] for key in _KEYS)
    low, high = PREFIX_CHARS
    if not isinstance(prefix, str) or not low <= len(prefix) <= high:
        raise InvalidConfig(f"{where}.prefix must be a text of {low} to {high} characters")
    if not _PREFIX.fullmatch(prefix):
        raise InvalidConfig(
            f"{where}.prefix must be printable ASCII without blanks, quotes and backslashes;"
            " it is taken literally, patterns are not supported"
        )
    if not isinstance(characters, str) or characters not in CHARACTERS:
        raise InvalidConfig(f"{where}.characters must be one of {', '.join(CHARACTERS)}")
    low, high = MIN_LENGTH
    if type(min_length) is not int or not low <= min_length <= high:
        raise InvalidConfig(f"{where}.min_length must be an integer from {low} to {high}")
    return OperatorRule(name, prefix, characters, min_length)


def _table(where: str, value: object) -> Mapping[object, Any]:
    if not isinstance(value, Mapping):
        raise InvalidConfig(f"{where} must be a table")
    return cast("Mapping[object, Any]", value)


def _views(text: str) -> Iterator[View]:
    """The folded text, then each round of unescaping."""
    view: View | None = folded(text)
    for _ in range(UNESCAPE_ROUNDS + 1):
        if view is None:
            return
        yield view
        view = unescaped(view)


def _united(found: Iterable[tuple[int, int]]) -> list[Span]:
    united: list[Span] = []
    for start, end in sorted(found):
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(united[-1][1], end), _KIND
        else:
            united.append((start, end, _KIND))
    return united
