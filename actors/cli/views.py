"""The state as files alone tell it, beside a running store or without one.

As a running store does, a view believes no text: what a context shows is checked first.
"""

import os
from pathlib import Path

import attrs

from turnfold.actors.clock import SystemClock
from turnfold.events.codec import decode_events
from turnfold.events.commands import Instant
from turnfold.events.errors import CorruptData, ReplayError, StoreReadOnly
from turnfold.events.event import Gap
from turnfold.events.evolve import evolve
from turnfold.events.keys import ConversationKey, pseudonym
from turnfold.events.log.backend import ReadFrame
from turnfold.events.log.disk import Disk
from turnfold.events.log.frame import POSITION_MAX
from turnfold.events.log.generation_file import restore_newest
from turnfold.events.log.layout import read_key
from turnfold.events.log.opening import lose_sessions
from turnfold.events.log.reader import LogReader
from turnfold.events.log.replay import replay_disk, store_disk
from turnfold.events.reasons import Reason
from turnfold.events.session import EndedSession, KeyTag, Session
from turnfold.events.state import StoreState


@attrs.frozen
class View:
    """The newest durable state, and `now`: the instant at which sessions are live or overdue.

    In a store whose last opening ran on recorded times, now is the time of its last event; in any
    other it is this moment, with the age carried on by the wall clock.
    """

    state: StoreState
    now: Instant

    def live(self) -> list[Session]:
        """The sessions whose time is not up, oldest start first."""
        age = self.now.age
        sessions = (item for item in self.state.sessions() if not item.is_overdue(age))
        return sorted(sessions, key=lambda session: session.start)

    def find(self, tag: KeyTag) -> tuple[Session | None, EndedSession | None]:
        """The key's live session as it may be shown, or how its last one ended."""
        session, ended = self.state.session(tag), self.state.ended.get(tag)
        if session is None:
            return None, ended
        if session.is_overdue(self.now.age):
            reason = Reason.EXPIRED_INACTIVITY
            return None, EndedSession(reason, session.last, session.session_id, session.start)
        return _checked(session), None


def _checked(session: Session) -> Session:
    """The session with what isn't clean under today's redaction rules redacted again."""
    from turnfold.actors.recheck import redacted_session
    from turnfold.events.commands import Entropy
    from turnfold.events.recheck import unclean_texts

    unclean = [text for text in unclean_texts(session) if text is not None]
    return redacted_session(session, unclean, Entropy(os.urandom)) if unclean else session


def read_view(storage_path: Path) -> View:
    """The newest generation and the durable events behind it, as a state.

    Raises StorageError and its kin, and ReplayError where damage has to be dealt with first.
    """
    disk = store_disk(storage_path)
    try:
        newest = restore_newest(disk, 1, POSITION_MAX)
        if newest is None:
            state = replay_disk(disk, content=True).state
        else:
            state = newest[1]
            _fold_tail(disk, state)
    finally:
        disk.close()
    if state.opening.recorded_clock:
        return View(state, Instant(state.at, state.age))
    wall = SystemClock().wall_ns()
    return View(state, Instant(wall, state.age + max(0, wall - state.at)))


def _fold_tail(disk: Disk, state: StoreState) -> None:
    reader = LogReader(disk, state.position)
    try:
        for item in reader.read():
            if isinstance(item, Gap):
                _pass(item, state)
            elif item.last > state.position:
                _fold(item, state)
    except CorruptData as error:
        raise ReplayError(
            f"the log doesn't continue the state at position {state.position}: {error}; run"
            " `turnfold verify`, then open the store, which goes on with what can be proven"
        ) from None
    finally:
        reader.close()


def _fold(frame: ReadFrame, state: StoreState) -> None:
    trusted = frame.payload_intact
    for event in decode_events(frame.chained, frame.first, frame.payload, trusted=trusted):
        if event.position > state.position:
            evolve(state, event)
    state.commit()


def _pass(gap: Gap, state: StoreState) -> None:
    """Get over missing positions as an opening would: what was deleted in them must not be back."""
    evolve(state, Gap(state.position + 1, gap.last, gap.reason))
    state.commit()
    if gap.reason is Reason.DAMAGE_UNDECLARED:
        lose_sessions(state, state.where)


def secret_of(storage_path: Path) -> bytes:
    """What keys the store's pseudonyms. Raises StoreReadOnly if it is lost."""
    disk = store_disk(storage_path)
    try:
        secret = read_key(disk)
    finally:
        disk.close()
    if secret is None:
        raise StoreReadOnly(
            "pseudonym.key is missing or damaged, so no avatar of this store can be found by its"
            " UUID; put the file back from a backup"
        )
    return secret


def tag_of(storage_path: Path, key: ConversationKey) -> KeyTag:
    """What the key is called in the store's events. Raises StoreReadOnly."""
    return pseudonym(secret_of(storage_path), key.avatar), key.channel.code
