"""The folded state: live sessions, how ended ones ended, and what must still be erased.

`StoreState` has one owner, the fold or the store actor, and is changed in place by `evolve`
alone. Values inside it (`Session` and below) are replaced, never changed, so a reader that has
one may keep it. Every change is journalled until `commit()`; `rollback()` takes the changes
since the last commit back, for a batch that certainly did not reach the disk.
"""

from collections.abc import Callable, Iterator
from typing import Any

from turnfold.events.keys import Pseudonym
from turnfold.events.reasons import Reason
from turnfold.events.session import (
    EndedSession,
    KeyTag,
    Opening,
    PendingErasure,
    Session,
    StateRecord,
)


class StoreState:
    """See the module. Lookup is O(1); each channel is ordered by last activity."""

    __slots__ = (
        "_journal",
        "_scalars",
        "age",
        "at",
        "channels",
        "ended",
        "first_kept",
        "forgotten",
        "head_before_kept",
        "highest_at",
        "index",
        "opening",
        "pending",
        "position",
        "record_bytes",
        "records",
        "total_bytes",
        "where",
    )

    def __init__(self) -> None:
        self.position = 0  # of the last event folded in
        self.at = 0  # ns, of the last event
        self.highest_at = 0  # ns, the latest wall time of any event: `at` may fall
        self.age = 0  # ns, never falling
        self.total_bytes = 0  # of all live sessions
        self.record_bytes = 0  # of all session-state records
        self.first_kept = 1  # the log starts here ...
        self.head_before_kept = b""  # ... with this chain head before it
        self.forgotten = False  # whether an ending was ever dropped from `ended`
        self.opening = Opening()
        self.channels: tuple[dict[Pseudonym, Session], ...] = ({}, {})
        self.where: dict[int, KeyTag] = {}  # start of each live session
        self.ended: dict[KeyTag, EndedSession] = {}  # oldest position first
        self.pending: dict[tuple[int, Reason], PendingErasure] = {}
        self.records: dict[bytes, StateRecord] = {}
        # start -> turn tag -> (content tag, position): an index of what the sessions hold
        self.index: dict[int, dict[bytes, tuple[bytes, int]]] = {}
        self._journal: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self._scalars = self._get_scalars()

    # --- reading -----------------------------------------------------------------------

    @property
    def active(self) -> int:
        """How many sessions are live."""
        return len(self.channels[0]) + len(self.channels[1])

    def session(self, tag: KeyTag) -> Session | None:
        """The live session of a key, overdue or not."""
        return self.channels[tag[1]].get(tag[0])

    def session_at(self, start: int) -> Session | None:
        """The live session that started at this position."""
        tag = self.where.get(start)
        return None if tag is None else self.session(tag)

    def sessions(self) -> Iterator[Session]:
        """All live sessions; each channel least recently active first."""
        for channel in self.channels:
            yield from channel.values()

    # --- changing (by evolve alone) --------------------------------------------------------

    def put_session(self, session: Session) -> None:
        """Add or replace a session and make it the most recently active of its channel."""
        tag = session.tag
        channel = self.channels[tag[1]]
        self._journal.append((self._restore_session, (tag, channel.pop(tag[0], None))))
        channel[tag[0]] = session
        self.where[session.start] = tag

    def replace_session(self, session: Session) -> None:
        """Replace a live session without making it more recent."""
        tag = session.tag
        channel = self.channels[tag[1]]
        self._journal.append((self._restore_session, (tag, channel[tag[0]])))
        channel[tag[0]] = session

    def remove_session(self, session: Session) -> None:
        """Take a live session out."""
        tag = session.tag
        del self.channels[tag[1]][tag[0]]
        del self.where[session.start]
        index = self.index.pop(session.start, None)
        self._journal.append((self._restore_removed, (session, index)))

    def put_ended(self, tag: KeyTag, ended: EndedSession) -> None:
        """Remember how a key's session ended, as the newest; the oldest are forgotten."""
        self._journal.append((self._restore_ended, (tag, self.ended.pop(tag, None))))
        self.ended[tag] = ended
        while len(self.ended) > self.opening.limits.ended_keys:
            self.forgotten = True
            oldest = next(iter(self.ended))
            self._journal.append((self._restore_ended, (oldest, self.ended.pop(oldest))))

    def drop_ended(self, tag: KeyTag) -> None:
        """Forget how a key's session ended: a new one is live."""
        if tag in self.ended:
            self._journal.append((self._restore_ended, (tag, self.ended.pop(tag))))

    def put_pending(self, pending: PendingErasure) -> None:
        """Remember that text must be erased."""
        name = (pending.session, pending.reason)
        self._journal.append((_restore, (self.pending, name, self.pending.get(name))))
        self.pending[name] = pending

    def drop_pending(self, name: tuple[int, Reason]) -> None:
        """The text is erased."""
        self._journal.append((_restore, (self.pending, name, self.pending.pop(name, None))))

    def put_record(self, record: StateRecord) -> None:
        """Add or replace a session-state record."""
        old = self.records.get(record.record)
        self._journal.append((_restore, (self.records, record.record, old)))
        self.records[record.record] = record

    def drop_record(self, name: bytes) -> None:
        """Take a session-state record out."""
        self._journal.append((_restore, (self.records, name, self.records.pop(name, None))))

    def index_turn_id(self, start: int, tag: bytes, entry: tuple[bytes, int] | None) -> None:
        """Make a turn id findable, or (None) forget it."""
        index = self.index.setdefault(start, {})
        self._journal.append((_restore, (index, tag, index.get(tag))))
        if entry is None:
            index.pop(tag, None)
        else:
            index[tag] = entry

    # --- the journal ---------------------------------------------------------------------------

    def commit(self) -> None:
        """Keep all changes since the last commit."""
        self._journal.clear()
        self._scalars = self._get_scalars()

    def rollback(self) -> None:
        """Take all changes since the last commit back."""
        while self._journal:
            undo, arguments = self._journal.pop()
            undo(*arguments)
        self._set_scalars(self._scalars)
        for channel in self.channels:
            ordered = sorted(channel.items(), key=lambda item: item[1].last)
            channel.clear()
            channel.update(ordered)
        ended = sorted(self.ended.items(), key=lambda item: item[1].position)
        self.ended.clear()
        self.ended.update(ended)

    def _get_scalars(self) -> tuple[Any, ...]:
        return (
            self.position,
            self.at,
            self.highest_at,
            self.age,
            self.total_bytes,
            self.record_bytes,
            self.first_kept,
            self.head_before_kept,
            self.forgotten,
            self.opening,
        )

    def _set_scalars(self, scalars: tuple[Any, ...]) -> None:
        (
            self.position,
            self.at,
            self.highest_at,
            self.age,
            self.total_bytes,
            self.record_bytes,
            self.first_kept,
            self.head_before_kept,
            self.forgotten,
            self.opening,
        ) = scalars

    def _restore_session(self, tag: KeyTag, session: Session | None) -> None:
        channel = self.channels[tag[1]]
        current = channel.pop(tag[0])
        if session is None:
            del self.where[current.start]
            self.index.pop(current.start, None)
        else:
            channel[tag[0]] = session

    def _restore_removed(
        self, session: Session, index: dict[bytes, tuple[bytes, int]] | None
    ) -> None:
        self.channels[session.tag[1]][session.tag[0]] = session
        self.where[session.start] = session.tag
        if index is not None:
            self.index[session.start] = index

    def _restore_ended(self, tag: KeyTag, ended: EndedSession | None) -> None:
        _restore(self.ended, tag, ended)


def _restore(table: dict[Any, Any], name: object, value: object) -> None:
    if value is None:
        table.pop(name, None)
    else:
        table[name] = value
