"""What a summary says: facts about turns that are no longer kept, and how they are stored.

Additive facts (counts, ranges, tallies) are exact under any number of merges. Selected facts
(action results and excerpts) are quoted from a turn, each with its position and kind, from which
its trust follows; there is no field that could make an untrusted text trusted.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Never, TypeGuard, TypeVar

import attrs

from turnfold.events import cbor
from turnfold.events.errors import CorruptData
from turnfold.events.limits import NAME_BYTES_MAX
from turnfold.events.turns import KINDS, Kind, Outcome

VERSION: Final = 1
OUTCOMES_TOP: Final = 12  # actions with a tally of their own
TOOLS_TOP: Final = 8  # tools with a count of their own
EXCERPT_BYTES_MAX: Final = 200
DETAIL_BYTES_MAX: Final = 120  # of an action result's text
EXCERPT_SHARE_BYTES: Final = 128  # of a summary's limit to each excerpt: 32 of them in 4 KiB
EXCERPTS_MIN: Final = 8
COUNTS_BYTES_MAX: Final = 192
"""A summary without names, results and excerpts never takes more: 17 integers of <= 9 bytes."""

_OUTCOMES = tuple(Outcome)  # index == code
_INT_MAX = 2**64 - 1
_T = TypeVar("_T")


@attrs.frozen(repr=False)
class Tally:
    """How often something with this name happened.

    `partial`: earlier uses may be among the others, because the name was not kept all the time.
    """

    name: str
    partial: bool
    counts: tuple[int, ...]


@attrs.frozen(repr=False)
class Table:
    """Tallies by name, highest first, and the sum of all that have no name here."""

    named: tuple[Tally, ...]
    other: tuple[int, ...]

    @property
    def total(self) -> tuple[int, ...]:
        """Exact sums over all names."""
        rows = [self.other, *(tally.counts for tally in self.named)]
        return tuple(sum(column) for column in zip(*rows, strict=True))

    def add(self, rows: Iterable[tuple[str | None, tuple[int, ...]]]) -> "Table":
        """The table with rows added; a row without a name goes to the others."""
        known = {tally.name: tally for tally in self.named}
        partial = any(self.other)
        other = self.other
        for name, counts in rows:
            if name is None:
                other = _plus(other, counts)
            elif name in known:
                tally = known[name]
                known[name] = Tally(name, tally.partial, _plus(tally.counts, counts))
            else:
                known[name] = Tally(name, partial, counts)
        return Table(tuple(sorted(known.values(), key=_tally_rank)), other)

    def top(self, size: int) -> "Table":
        """The table with at most `size` names; the rest joins the others."""
        other = self.other
        for tally in self.named[size:]:
            other = _plus(other, tally.counts)
        return Table(self.named[:size], other)


def _plus(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _tally_rank(tally: Tally) -> tuple[int, int, str]:
    """What didn't go well first, then the most frequent, then by name."""
    return -sum(tally.counts[1:]), -tally.counts[0], tally.name


@attrs.frozen(repr=False)
class Result:
    """One action's outcome (trusted) with its name and detail (untrusted)."""

    position: int
    outcome: Outcome
    action: str
    text: str

    @property
    def rank(self) -> tuple[int, int]:
        """Failed, refused, ok; the newest first."""
        return (1, 2, 0).index(self.outcome.value), -self.position


@attrs.frozen(repr=False)
class Excerpt:
    """Words of one turn, verbatim."""

    position: int
    kind: Kind
    score: int
    text: str

    @property
    def rank(self) -> tuple[int, int, str]:
        """Highest score first, then the newest, then by text."""
        return -self.score, -self.position, self.text


@attrs.frozen(repr=False, kw_only=True)
class Facts:
    """A decoded summary.

    Positions and times (`at`, ns) are those of the first and last turn covered. `counts` are turns
    by kind, in the order of KINDS; `text_bytes` the bytes of their texts; `redactions` how many
    secrets had been replaced in them; `truncated` how many had been clipped; `lost` how many had no
    readable text any more; `unknown` how many were in an earlier summary that can't be read.
    `outcomes` has (ok, failed, refused) by action, `tools` has (uses,) by tool.
    """

    first: int
    last: int
    first_at: int
    last_at: int
    counts: tuple[int, ...]
    text_bytes: int
    redactions: int
    truncated: int
    lost: int
    unknown: int
    outcomes: Table
    tools: Table
    results: tuple[Result, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()

    @property
    def turns(self) -> int:
        """How many turns the summary stands for, told by kind or not."""
        return sum(self.counts) + self.unknown

    def __repr__(self) -> str:
        return f"Facts({self.turns} turns, positions {self.first} to {self.last})"


# --- bytes -----------------------------------------------------------------------------------


def result_item(result: Result) -> list[Any]:
    """The stored form of a result."""
    return [result.position, result.outcome.value, result.action, result.text]


def excerpt_item(excerpt: Excerpt) -> list[Any]:
    """The stored form of an excerpt."""
    return [excerpt.position, excerpt.kind.value, excerpt.score, excerpt.text]


def _table_item(table: Table) -> list[Any]:
    named = [[tally.name, tally.partial, *tally.counts] for tally in table.named]
    return [named, *table.other]


def encode(facts: Facts) -> bytes:
    """Deterministic CBOR: an array in fixed order; lists by rank or by position."""
    return cbor.encode(
        [
            VERSION,
            facts.first,
            facts.last,
            facts.first_at,
            facts.last_at,
            list(facts.counts),
            facts.text_bytes,
            facts.redactions,
            facts.truncated,
            facts.lost,
            facts.unknown,
            _table_item(facts.outcomes),
            _table_item(facts.tools),
            [result_item(result) for result in facts.results],
            [excerpt_item(excerpt) for excerpt in facts.excerpts],
        ]
    )


def decode(data: bytes, *, exact: bool = True) -> Facts:
    """The facts that `encode` stored. Raises CorruptData.

    `exact` demands the very bytes that `encode` gives; a reader of bytes that were checked against
    their commitment can do without.
    """
    fields = _items(cbor.decode(data, exact=exact), 15)
    if fields[0] != VERSION:
        raise CorruptData("a summary of an unknown version")
    first, last, first_at, last_at = (_count(field) for field in fields[1:5])
    if first > last:
        _malformed()
    return Facts(
        first=first,
        last=last,
        first_at=first_at,
        last_at=last_at,
        counts=tuple(_count(field) for field in _items(fields[5], len(KINDS))),
        text_bytes=_count(fields[6]),
        redactions=_count(fields[7]),
        truncated=_count(fields[8]),
        lost=_count(fields[9]),
        unknown=_count(fields[10]),
        outcomes=_table(fields[11], len(_OUTCOMES), OUTCOMES_TOP),
        tools=_table(fields[12], 1, TOOLS_TOP),
        results=tuple(_result(item) for item in _items(fields[13])),
        excerpts=tuple(_excerpt(item) for item in _items(fields[14])),
    )


def _malformed() -> Never:
    raise CorruptData("a summary has the wrong form")


def _items(value: object, size: int | None = None) -> list[Any]:
    if not isinstance(value, list):
        _malformed()
    items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]  # callers check them
    if size is not None and len(items) != size:
        _malformed()
    return items


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= _INT_MAX


def _count(value: object) -> int:
    if not _is_count(value):
        _malformed()
    return value


def _text(value: object, bytes_max: int) -> str:
    if not isinstance(value, str) or len(value.encode()) > bytes_max:
        _malformed()
    return value


def _table(value: object, width: int, names_max: int) -> Table:
    fields = _items(value, 1 + width)
    named = [_tally(item, width) for item in _items(fields[0])]
    if len(named) > names_max or len({tally.name for tally in named}) < len(named):
        _malformed()
    return Table(tuple(named), tuple(_count(field) for field in fields[1:]))


def _tally(value: object, width: int) -> Tally:
    fields = _items(value, 2 + width)
    if type(fields[1]) is not bool:
        _malformed()
    counts = tuple(_count(field) for field in fields[2:])
    return Tally(_text(fields[0], NAME_BYTES_MAX), fields[1], counts)


def _result(value: object) -> Result:
    fields = _items(value, 4)
    outcome = _choice(_OUTCOMES, fields[1])
    action = _text(fields[2], NAME_BYTES_MAX)
    return Result(_count(fields[0]), outcome, action, _text(fields[3], DETAIL_BYTES_MAX))


def _excerpt(value: object) -> Excerpt:
    fields = _items(value, 4)
    kind = _choice(KINDS, fields[1])
    text = _text(fields[3], EXCERPT_BYTES_MAX)
    return Excerpt(_count(fields[0]), kind, _count(fields[2]), text)


def _choice(values: Sequence[_T], code: object) -> _T:
    if not _is_count(code) or code >= len(values):
        _malformed()
    return values[code]
