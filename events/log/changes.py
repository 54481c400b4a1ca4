"""What happened to sessions between two positions: one pass over the events in between."""

from pathlib import Path

import attrs

from turnfold.events.errors import InvalidInput
from turnfold.events.event import (
    ENDED_TYPES,
    Event,
    SessionCompacted,
    SessionStarted,
    TurnAdded,
)
from turnfold.events.keys import Channel
from turnfold.events.log.replay import Replayed, replay
from turnfold.events.log.stepping import Progress, replay_steps
from turnfold.events.reasons import Reason
from turnfold.events.state import StoreState


@attrs.define
class SessionChange:
    """One session that something happened to.

    `session` is its start. `started` and `ended` say why, where it did in between; `turns` were
    added, `compacted` became part of a summary. `bytes_before` and `bytes_after` are accounted
    bytes at both positions, 0 where it was not live.
    """

    session: int
    channel: Channel | None
    started: Reason | None = None
    ended: Reason | None = None
    turns: int = 0
    compacted: int = 0
    bytes_before: int = 0
    bytes_after: int = 0

    @property
    def what(self) -> str:
        """In a word: started, ended, passed (both) or changed."""
        if self.started is not None:
            return "started" if self.ended is None else "passed"
        return "changed" if self.ended is None else "ended"


@attrs.frozen(eq=False)
class Changes:
    """Two moments of one store, and every session that something happened to between them."""

    before: Replayed
    after: Replayed
    sessions: tuple[SessionChange, ...]


def changes(
    storage_path: str | Path, first: int, last: int, *, progress: Progress | None = None
) -> Changes:
    """What happened at positions `first + 1` to `last`. Raises InvalidInput, and like `replay`."""
    if not 0 < first <= last:
        raise InvalidInput("two positions from 1 on are compared, the lower one first")
    before = replay(storage_path, until=first)
    found = {
        session.start: SessionChange(session.start, session.channel, bytes_before=session.size)
        for session in before.state.sessions()
    }
    touched: set[int] = set()
    state = before.state
    for step in replay_steps(storage_path, until=last, progress=progress):
        state = step.state
        for event in step.events:
            if event.position > first:
                touched |= _see(event, found)
    after = Replayed(state, state.position)
    _see_bytes(state, found)
    return Changes(
        before, after, tuple(one for start, one in sorted(found.items()) if start in touched)
    )


def _see(event: Event, found: dict[int, SessionChange]) -> set[int]:
    """Count an event; the sessions that it is about."""
    if isinstance(event, SessionStarted):
        started = SessionChange(event.position, event.channel, started=event.reason)
        found[event.position] = started
        return {event.position}
    start = getattr(event, "session", 0)
    change = found.get(start)
    if change is None:
        return set()
    if isinstance(event, TurnAdded):
        change.turns += 1
    elif isinstance(event, SessionCompacted):
        change.compacted += len(event.covers)
    elif isinstance(event, ENDED_TYPES):
        change.ended = event.reason
    else:
        return set()
    return {start}


def _see_bytes(state: StoreState, found: dict[int, SessionChange]) -> None:
    for session in state.sessions():
        change = found.get(session.start)
        if change is not None:
            change.bytes_after = session.size
