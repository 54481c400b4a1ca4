"""Compaction: which turns of a session become its summary, so that the next turn fits.

It happens before a turn is added and goes down to three quarters of the limit that would be
passed, so that it doesn't happen at every turn. Whole exchanges go, oldest first; exchanges that a
call and its result tie together go together, when the newest of them does. The newest exchange,
which a turn that isn't an avatar's joins, is touched only if it exceeds a limit alone: it gives up
its oldest tool turns first, then its oldest turns, a call and its results always together.

Nothing here can fail for want of room: the limits guarantee that the largest turn, the largest
summary and the remembered turn ids fit without any other turn.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import attrs

from turnfold.events.event import TurnAdded
from turnfold.events.exchanges import Calls, calls, exchange_starts, groups, units
from turnfold.events.limits import TAG_BYTES, TURN_OVERHEAD_BYTES, Limits
from turnfold.events.reasons import Reason
from turnfold.events.sealed import NONCE_BYTES
from turnfold.events.session import Session
from turnfold.events.summary import summarise
from turnfold.events.summary_facts import COUNTS_BYTES_MAX
from turnfold.events.turns import Kind

_KEEP_PARTS: Final = 3  # compaction goes down to 3/4 of a limit
_PARTS: Final = 4


@attrs.frozen(repr=False)
class Compaction:
    """The turns at exactly the positions `covers` become `summary` (encoded, without a nonce).

    `covers` is empty only if nothing but the summary itself was too large.
    """

    covers: tuple[int, ...]
    reason: Reason
    summary: bytes

    def __repr__(self) -> str:
        return f"Compaction({len(self.covers)} turns, {self.reason}, {len(self.summary)} bytes)"


class _Load(NamedTuple):
    """What a session holds of each thing that is limited."""

    turns: int
    tool_turns: int
    bytes: int

    def within(self, bound: "_Load") -> bool:
        return (
            self.turns <= bound.turns
            and self.tool_turns <= bound.tool_turns
            and self.bytes <= bound.bytes
        )


_REASONS: Final = (
    Reason.COMPACTED_TURNS,
    Reason.COMPACTED_TOOL_TURNS,
    Reason.COMPACTED_SESSION_BYTES,
)


def compact(session: Session, kind: Kind, cost: int, limits: Limits) -> Compaction | None:
    """What must be compacted before a turn of this kind and accounted cost can be added.

    `cost` is in accounted bytes: overhead, text, names, and the tag if the turn has an id. None if
    the limits hold with the turn.
    """
    turns, tool_turns = len(session.turns) + 1, session.tool_turns + kind.is_tool
    size = session.size + cost
    if (
        turns <= limits.turns_per_session
        and tool_turns <= limits.tool_turns_per_session
        and size <= limits.bytes_per_session
    ):
        return None  # the usual case, once per turn
    load = _Load(turns, tool_turns, size)
    return _compacted(session, load, _ceiling(limits), limits, begins=kind is Kind.AVATAR)


def conform(session: Session, limits: Limits) -> Compaction | None:
    """What must be compacted until lowered limits hold. None if they hold.

    A summary larger than `summary_bytes` is cut to it, without turns if need be.
    """
    load = _Load(len(session.turns), session.tool_turns, session.size)
    ceiling = _ceiling(limits)
    if not load.within(ceiling):
        compacted = _compacted(session, load, ceiling, limits, begins=False)
        if compacted is not None:
            return compacted
    summary = session.summary
    if summary is None or summary.size <= limits.summary_bytes:
        return None
    smaller = _summary((), session, limits.summary_bytes)
    return Compaction((), Reason.COMPACTED_SESSION_BYTES, smaller)


def _ceiling(limits: Limits) -> _Load:
    return _Load(limits.turns_per_session, limits.tool_turns_per_session, limits.bytes_per_session)


def _compacted(
    session: Session, load: _Load, ceiling: _Load, limits: Limits, *, begins: bool
) -> Compaction | None:
    plan = _Plan(session, load, ceiling, limits)
    plan.choose(begins=begins)
    if not plan.chosen:
        return None
    turns = [turn for index, turn in enumerate(session.turns) if index in plan.chosen]
    exceeded = next(
        reason for reason, have, bound in zip(_REASONS, load, ceiling, strict=True) if have > bound
    )
    summary = _summary(turns, session, plan.summary_room)
    return Compaction(tuple(turn.position for turn in turns), exceeded, summary)


def _summary(turns: Sequence[TurnAdded], session: Session, room: int) -> bytes:
    earlier, unknown = session.summary, 0
    previous: bytes | None = None
    if earlier is not None:
        if isinstance(earlier.sealed, bytes):
            previous = earlier.sealed[NONCE_BYTES:]
        else:
            unknown = earlier.covered
    return summarise(turns, previous, room, unknown=unknown)


def _source_bytes(turn: TurnAdded) -> int:
    return turn.text_bytes + turn.extras_bytes


class _Plan:
    """The turns chosen so far and what would be left without them."""

    def __init__(self, session: Session, load: _Load, ceiling: _Load, limits: Limits) -> None:
        self._turns = session.turns
        self._load = load
        self._ceiling = ceiling
        self._target = _Load(
            *(
                max(1, _KEEP_PARTS * bound // _PARTS) if have > bound else bound
                for have, bound in zip(load, ceiling, strict=True)
            )
        )
        self._summary_bytes = limits.summary_bytes
        self._old_summary_bytes = session.summary.size if session.summary else 0
        self._sources = self._old_summary_bytes
        self._tool_turns = 0
        self._tags = len(session.turn_ids)
        self._tags_too_many = max(0, session.turn_id_count - limits.turn_ids_per_session)
        self.chosen: set[int] = set()

    @property
    def summary_room(self) -> int:
        """Bytes that the new summary may take: less than what it replaces. Counts may take more."""
        return min(self._summary_bytes, self._sources - 1)

    def choose(self, *, begins: bool) -> None:
        """Choose turns until the target is reached; `begins`: a new exchange comes after them."""
        if not self._turns:
            return
        linked = calls(self._turns)
        older, newest = _exchange_groups(self._turns, linked)
        if begins:
            older, newest = [*older, newest], []
        self._choose_exchanges(older)
        if newest and not self._left().within(self._ceiling):
            for unit in units(newest, self._turns, linked):
                if self._left().within(self._target):
                    return
                self._take(unit)

    def _choose_exchanges(self, exchanges: Sequence[list[int]]) -> None:
        only_tools = self._load._replace(tool_turns=0).within(self._ceiling)
        tools_to_come = sum(self._count_tools(exchange) for exchange in exchanges)
        for exchange in exchanges:
            if self._left().within(self._target) or (only_tools and not tools_to_come):
                return
            self._take(exchange)
            tools_to_come -= self._count_tools(exchange)

    def _take(self, indices: Iterable[int]) -> None:
        for index in indices:
            turn = self._turns[index]
            self.chosen.add(index)
            self._sources += _source_bytes(turn)
            self._tool_turns += turn.kind.is_tool
            self._tags += turn.turn_tag is not None

    def _left(self) -> _Load:
        """An upper bound of what is left, the new summary and the incoming turn included.

        A compacted turn's id is remembered, unless lowered limits say that there are too many.
        """
        if not self.chosen:
            return self._load
        freed = self._sources + TURN_OVERHEAD_BYTES * len(self.chosen)
        freed += TAG_BYTES * min(self._tags, self._tags_too_many)
        return _Load(
            self._load.turns - len(self.chosen),
            self._load.tool_turns - self._tool_turns,
            self._load.bytes - freed + max(self.summary_room, COUNTS_BYTES_MAX),
        )

    def _count_tools(self, indices: Iterable[int]) -> int:
        return sum(self._turns[index].kind.is_tool for index in indices)


def _exchange_groups(
    turns: Sequence[TurnAdded], linked: Calls
) -> tuple[list[list[int]], list[int]]:
    """Indices of turns by exchange, tied exchanges as one: the older ones, and the newest."""
    starts = exchange_starts(turns)
    ends = [*starts[1:], len(turns)]
    exchange_of = [
        number
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
        for _ in range(start, end)
    ]
    tied = [(exchange_of[tool], exchange_of[agent]) for tool, agent in linked.answers.items()]
    grouped = [
        [index for exchange in group for index in range(starts[exchange], ends[exchange])]
        for group in groups(len(starts), tied)
    ]
    return grouped[:-1], grouped[-1]
