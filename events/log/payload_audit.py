"""Are payloads where they must be, and zeros where they must be, and nowhere else?

Gets every event with its content, in order, and the state before each. Remembered are the sealed
payloads of sessions that aren't wholly erased: what `ContentErased` says is gone is compared and
forgotten.
"""

from typing import Final

import attrs

from turnfold.events.erasure_plan import live_commitments, sealed_of, sealed_targets, session_of
from turnfold.events.event import (
    ContentErased,
    Event,
    SessionCompacted,
    SessionStarted,
)
from turnfold.events.keys import Pseudonym
from turnfold.events.sealed import Erased, Unreadable
from turnfold.events.session import PendingErasure
from turnfold.events.state import StoreState

DAMAGED: Final = "a payload doesn't match its commitment"
ZEROED: Final = "a payload is zeros although nothing erased it"


# Not frozen: one for each payload; never changed.
@attrs.define
class _Payload:
    position: int  # of its event
    target: int  # whose text it is
    commitment: bytes
    zero: bool
    damaged: bool  # neither zero nor what was written
    summary: bool


class PayloadAudit:
    """One pass over a log. `problems` are (position, what) pairs.

    `watched_left` are positions of texts that are left of the `watched` pseudonym.
    """

    def __init__(self, watched: Pseudonym | None = None) -> None:
        self._watched = watched
        self._watched_sessions: set[int] = set()
        self._by_session: dict[int, list[_Payload]] = {}
        self._summaries: set[int] = set()
        self.problems: list[tuple[int, str]] = []
        self.payloads = 0
        self.erased = 0
        self.watched_left: list[int] = []

    def see(self, event: Event, state: StoreState | None) -> None:
        """The next event; `state` is the one before it, if it is known."""
        if isinstance(event, ContentErased):
            self._erased(event, state)
            return
        session = session_of(event)
        if isinstance(event, SessionStarted) and event.pseudonym == self._watched:
            self._watched_sessions.add(session)
        summary = isinstance(event, SessionCompacted)
        if summary:
            self._summaries.add(event.position)
        for sealed, (target, commitment) in zip(
            sealed_of(event), sealed_targets(event), strict=True
        ):
            self.payloads += 1
            zero = type(sealed) is Erased
            self.erased += zero
            if not zero and session in self._watched_sessions:
                self.watched_left.append(event.position)
            is_summary = summary or target in self._summaries
            kept = self._by_session.setdefault(session, [])
            damaged = type(sealed) is Unreadable
            kept.append(_Payload(event.position, target, commitment, zero, damaged, is_summary))

    def skip(self) -> None:
        """Positions are missing here: what is zeros by now may have been erased in one of them."""
        for kept in self._by_session.values():
            kept[:] = [payload for payload in kept if not payload.zero]

    def _erased(self, event: ContentErased, state: StoreState | None) -> None:
        """Text is said to be gone: look, and forget it."""
        kept = self._by_session.get(event.session, [])
        pending = None
        if state is not None:
            pending = state.pending.get((event.session, event.reason))
        for payload in list(kept):
            if payload.position > event.through:
                continue
            if pending is None:
                if payload.zero:  # said twice, or before the state that is known
                    kept.remove(payload)
            elif _is_gone(pending, payload, kept):
                kept.remove(payload)
                if not payload.zero:
                    self.problems.append(
                        (payload.position, f"a payload is there that {event.position} says is gone")
                    )
        if not kept:
            self._by_session.pop(event.session, None)

    def close(self, state: StoreState | None) -> None:
        """The log has ended: whatever is still zero or damaged must be due to go.

        Without a state zeros can't be judged.
        """
        due: dict[int, list[PendingErasure]] = {}
        for item in state.pending.values() if state is not None else ():
            due.setdefault(item.session, []).append(item)
        for session, kept in self._by_session.items():
            live = live_commitments(None if state is None else state.session_at(session))
            for payload in kept:
                if not (payload.zero and state is not None) and not payload.damaged:
                    continue
                is_due = live.get(payload.target) != payload.commitment and any(
                    _is_gone(item, payload, kept) for item in due.get(session, [])
                )
                if not is_due:
                    self.problems.append((payload.position, ZEROED if payload.zero else DAMAGED))


def _is_gone(item: PendingErasure, payload: _Payload, kept: list[_Payload]) -> bool:
    """Whether an erasure means this payload."""
    if payload.position > item.through:
        return False
    if item.positions:
        if payload.target not in item.positions:
            return False
        later = (
            other.position
            for other in kept
            if other.target == payload.target and payload.position < other.position <= item.through
        )
        return item.session == payload.position or any(later)
    if not item.covered:
        return True
    if payload.summary:
        return payload.target < item.through
    return item.session < payload.target <= item.covered and payload.target not in item.kept
