"""What readers see: the sessions of the last committed batch, as immutable values.

The store actor's thread alone calls `apply`, after each commit; any thread reads without a lock
and without waiting for a sync. Each lookup is one dictionary operation. Where a session ends, its
ending is put in before the session is taken out, and the other way round where one starts, so a
reader finds at least one of them.
"""

from collections.abc import Sequence

from turnfold.actors.published_records import PublishedRecords, RecordEvent
from turnfold.events.context_messages import Drawings
from turnfold.events.event import (
    Event,
    SessionDeleted,
    SessionStarted,
    SessionStateDeleted,
    SessionStateRecorded,
    TurnAdded,
)
from turnfold.events.session import EndedSession, KeyTag, Session
from turnfold.events.state import StoreState


class Published:
    """Committed sessions and endings by key tag. Made from a state that is committed."""

    __slots__ = (
        "_drawings",
        "_ended",
        "_sessions",
        "_where",
        "pending",
        "position",
        "records",
        "total_bytes",
    )

    def __init__(self, state: StoreState) -> None:
        self._sessions: dict[KeyTag, Session] = {s.tag: s for s in state.sessions()}
        self._where: dict[int, KeyTag] = {s.start: s.tag for s in self._sessions.values()}
        self._ended: dict[KeyTag, EndedSession] = dict(state.ended)
        self._drawings: dict[int, Drawings] = {start: {} for start in self._where}
        self.records = PublishedRecords(state)
        self.position = state.position
        self.total_bytes = state.total_bytes
        self.pending = len(state.pending)

    # --- any thread --------------------------------------------------------------------

    def find(self, tag: KeyTag) -> tuple[Session | None, EndedSession | None]:
        """The key's live session, and how the one before it (or the last one) ended."""
        session = self._sessions.get(tag)
        return session, self._ended.get(tag)

    def session_at(self, start: int) -> Session | None:
        """The live session that started at this position."""
        tag = self._where.get(start)
        session = None if tag is None else self._sessions.get(tag)
        return session if session is not None and session.start == start else None

    def sessions(self) -> list[Session]:
        """All live sessions, overdue ones included, in no particular order."""
        while True:
            try:
                return list(self._sessions.values())
            except RuntimeError:  # a batch was published meanwhile; a copy takes microseconds
                continue

    def drawings(self, start: int) -> Drawings | None:
        """Where readers keep the blocks of this live session; gone with it, and with any text."""
        return self._drawings.get(start)

    @property
    def active(self) -> int:
        """How many sessions are live, overdue ones included."""
        return len(self._sessions)

    # --- the store actor's thread --------------------------------------------------------

    def apply(self, state: StoreState, events: Sequence[Event]) -> None:
        """Publish what a committed batch changed."""
        touched: set[int] = set()
        recorded: list[RecordEvent] = []
        for event in events:
            if type(event) is TurnAdded:
                touched.add(event.session)
            elif isinstance(event, SessionStarted):
                touched.add(event.position)
                self._drawings[event.position] = {}
                self._where[event.position] = event.pseudonym, event.channel.code
            elif isinstance(event, SessionDeleted):
                self._put_ended(state, (event.pseudonym, event.channel.code))
                touched.add(event.session)
            elif isinstance(event, SessionStateRecorded | SessionStateDeleted):
                recorded.append(event)
            else:
                start = getattr(event, "session", 0)
                touched.add(start)
                if start in self._drawings:
                    self._drawings[start] = {}
        touched.discard(0)
        for start in sorted(touched, reverse=True):  # the newest first: no key is without either
            self._put_session(state, start)
        self.records.apply(state, recorded)
        self.position = state.position
        self.total_bytes = state.total_bytes
        self.pending = len(state.pending)

    def _put_session(self, state: StoreState, start: int) -> None:
        tag = state.where.get(start)
        if tag is not None:
            session = state.session(tag)
            assert session is not None
            self._sessions[tag] = session
            if tag not in state.ended:
                self._ended.pop(tag, None)
            return
        self._drawings.pop(start, None)
        tag = self._where.pop(start, None)
        if tag is None:
            return
        self._put_ended(state, tag)
        shown = self._sessions.get(tag)
        if shown is not None and shown.start == start:
            del self._sessions[tag]

    def _put_ended(self, state: StoreState, tag: KeyTag) -> None:
        ended = state.ended.get(tag)
        if ended is None:
            self._ended.pop(tag, None)
            return
        self._ended.pop(tag, None)
        self._ended[tag] = ended
        while len(self._ended) > state.opening.limits.ended_keys:
            del self._ended[next(iter(self._ended))]
