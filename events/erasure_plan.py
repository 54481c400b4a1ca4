"""Which sealed payloads a pending erasure means: in the log, event by event, and in a generation.

A payload may lie in the log once as a turn's or summary's own and again for each time it was
redacted; a generation holds the form that was the newest at its position.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import attrs

from turnfold.events.event import (
    Event,
    SessionCompacted,
    SessionStarted,
    SessionStateRecorded,
    TurnAdded,
    TurnRedacted,
)
from turnfold.events.sealed import Sealed
from turnfold.events.session import PendingErasure, Session
from turnfold.events.skeleton import StoredPart
from turnfold.events.state import StoreState

Place = TypeVar("Place")
"""How the caller names a place in a file."""


@attrs.frozen
class SealedAt(Generic[Place]):
    """A sealed payload of the log: whose text it is (a turn's or a summary's position), where."""

    target: int
    place: Place
    commitment: bytes


class ErasurePlan(Generic[Place]):
    """Finds the payloads of all these pending erasures in one pass over the log.

    Give every event from `first` to `last` in order to `in_event`, then ask `in_generation`.
    `first` and `last` are the lowest and highest position that may hold such a payload, 0 if
    nothing is pending.
    """

    def __init__(self, pending: Iterable[PendingErasure]) -> None:
        self._by_session: dict[int, list[PendingErasure]] = {}
        for item in pending:
            self._by_session.setdefault(item.session, []).append(item)
        self._summaries: set[int] = set()
        self._newest: dict[int, SealedAt[Place]] = {}  # of texts that were redacted again
        self._redacted = {
            position
            for items in self._by_session.values()
            for item in items
            for position in item.positions
        }
        # Once and not on demand: a pass asks for `last` at every frame.
        self.first = min(self._by_session, default=0)
        self.last = max(
            (item.through for items in self._by_session.values() for item in items), default=0
        )

    def concerns(self, event: Event) -> bool:
        """Whether the event's session has a pending erasure: others need not be given."""
        return session_of(event) in self._by_session

    def in_event(
        self, event: Event, sealed: Sequence[SealedAt[Place]]
    ) -> Iterator[tuple[PendingErasure, Place]]:
        """The places to be zeroed, each with the erasure that asks for it.

        `sealed` are the event's payloads in order.
        """
        if isinstance(event, SessionCompacted):
            self._summaries.add(event.position)
        for part in sealed:
            before = self._newest.get(part.target)
            for item in self._by_session.get(session_of(event), ()):
                if event.position > item.through:
                    continue
                if part.target in item.positions:
                    if isinstance(event, SessionStateRecorded):
                        yield item, part.place
                    elif before is not None:
                        yield item, before.place
                elif not item.positions and self._is_gone(item, part.target):
                    yield item, part.place
            if part.target in self._redacted:
                self._newest[part.target] = part

    def in_generation(self, part: StoredPart) -> PendingErasure | None:
        """The erasure that a generation's sealed part must be zeroed for, if any."""
        for item in self._by_session.get(part.session or part.position, ()):
            if not item.positions:
                gone = part.session != 0 and self._is_gone(item, part.position, part.summary)
            elif part.session == 0:
                gone = True
            else:
                newest = self._newest.get(part.position)
                gone = (
                    part.position in item.positions
                    and newest is not None
                    and newest.commitment != part.commitment
                )
            if gone:
                return item
        return None

    def _is_gone(self, item: PendingErasure, target: int, summary: bool | None = None) -> bool:
        if not item.covered:  # the session has ended
            return True
        if target in self._summaries if summary is None else summary:
            return target < item.through
        return item.session < target <= item.covered and target not in item.kept


def is_torn(state: StoreState, event: Event) -> bool:
    """Whether the state needs a payload of an event that was read with content and isn't whole.

    A payload that nothing needs is due to be erased, or an erasure is recorded that has been
    carried out: neither is what an unfinished write left.
    """
    if isinstance(event, SessionStateRecorded):
        record = state.records.get(event.record)
        live = {} if record is None else {record.position: record.commitment}
    else:
        live = live_commitments(state.session_at(session_of(event)))
    return any(
        not isinstance(sealed, bytes) and live.get(target) == commitment
        for sealed, (target, commitment) in zip(
            sealed_of(event), sealed_targets(event), strict=True
        )
    )


def live_commitments(session: Session | None) -> dict[int, bytes]:
    """The commitment to each text that a live session holds, by the text's position."""
    if session is None:
        return {}
    live = {turn.position: turn.commitment for turn in session.turns}
    live[session.start] = session.started.commitment
    if session.summary is not None:
        live[session.summary.position] = session.summary.commitment
    return live


def sealed_of(event: Event) -> tuple[Sealed, ...]:
    """The sealed payloads of an event, in order."""
    if isinstance(event, TurnRedacted):
        return tuple(part.sealed for part in event.parts)
    if isinstance(event, TurnAdded | SessionStarted | SessionCompacted | SessionStateRecorded):
        return (event.sealed,)
    return ()


def sealed_targets(event: Event) -> tuple[tuple[int, bytes], ...]:
    """(target, commitment) of each sealed payload of an event, in the order of its payload."""
    if isinstance(event, TurnRedacted):
        return tuple((part.position, part.commitment) for part in event.parts)
    if isinstance(event, TurnAdded | SessionStarted | SessionCompacted | SessionStateRecorded):
        return ((event.position, event.commitment),)
    return ()


def session_of(event: Event) -> int:
    """The session an event belongs to; a session-state record is one by itself, 0 is none."""
    if isinstance(event, TurnAdded | SessionCompacted | TurnRedacted):
        return event.session
    if isinstance(event, SessionStarted | SessionStateRecorded):
        return event.position
    return 0
