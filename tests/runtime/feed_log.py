"""A small log in memory for the feed's tests, and events to put into it."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from turnfold.events.event import (
    Event,
    Gap,
    SessionExpired,
    SessionStarted,
    SubscriberParked,
    TurnAdded,
)
from turnfold.events.keys import Channel, ConversationKey, SessionId, pseudonym
from turnfold.events.notice import Notice, notices
from turnfold.events.reasons import Reason
from turnfold.events.sealed import Withheld

SECRET = b"s" * 32
ALICE = ConversationKey(UUID(int=1), Channel.PUBLIC_CHAT)
BOB = ConversationKey(UUID(int=2), Channel.DIRECT_IM)


def started(position: int, key: ConversationKey = ALICE) -> SessionStarted:
    """A session's first event."""
    return SessionStarted(
        position=position,
        at=position,
        age=position,
        reason=Reason.STARTED_FIRST_TURN,
        session_id=SessionId(f"{position:032x}"),
        pseudonym=pseudonym(SECRET, key.avatar),
        channel=key.channel,
        commitment=b"c" * 16,
        sealed=Withheld(48),
    )


def added(position: int, session: int, reason: Reason = Reason.ADDED_AVATAR) -> TurnAdded:
    """A turn without its text, as the feed reads it."""
    return TurnAdded(
        position=position,
        at=position,
        age=position,
        reason=reason,
        session=session,
        text_bytes=4,
        extras_bytes=0,
        commitment=b"c" * 16,
        sealed=Withheld(20),
    )


def expired(position: int, session: int) -> SessionExpired:
    """A session's end."""
    return SessionExpired(
        position=position,
        at=position,
        age=position,
        reason=Reason.EXPIRED_INACTIVITY,
        session=session,
    )


def parked(position: int, name_tag: bytes, at_position: int) -> SubscriberParked:
    """What the store appends when it is told that a subscriber is parked."""
    return SubscriberParked(
        position=position,
        at=position,
        age=position,
        reason=Reason.SUBSCRIBER_FAILING,
        name_tag=name_tag,
        at_position=at_position,
    )


def notice(event: Event) -> Notice:
    """What a subscriber is told of an event whose session nobody knows."""
    (told,) = notices([event], {})
    assert isinstance(told, Notice)
    return told


def positions(items: Iterable[Notice | Gap]) -> list[int]:
    """Every position of the items; those of a gap are negative."""
    found: list[int] = []
    for item in items:
        if isinstance(item, Gap):
            found += [-position for position in range(item.first, item.last + 1)]
        else:
            found.append(item.position)
    return found


class ListLog:
    """Frames in a list; what is durable and what is still kept can be set. Any thread.

    `reads` counts how often a reader was opened, and `failing` makes the next ones raise.
    """

    def __init__(self) -> None:
        self.frames: list[tuple[Event, ...]] = []
        self.durable = 0
        self.kept_from = 1
        self.gaps: dict[int, Gap] = {}  # by the position that follows them
        self.reads = 0
        self.failing = 0
        self._lock = threading.Lock()

    @property
    def position(self) -> int:
        """The last position that was appended."""
        return self.frames[-1][-1].position if self.frames else 0

    def append(self, *events: Event, durable: bool = True) -> tuple[Event, ...]:
        """Append one frame."""
        self.frames.append(events)
        if durable:
            self.durable = events[-1].position
        return events

    def turns(self, count: int, *, frame: int = 1, session: int = 1) -> list[tuple[Event, ...]]:
        """Append `count` turns in frames of `frame`; the first event ever starts the session."""
        frames: list[tuple[Event, ...]] = []
        while count > 0:
            events: list[Event] = []
            while count > 0 and len(events) < frame:
                position = self.position + len(events) + 1
                events.append(started(1) if position == 1 else added(position, session))
                count -= 1
            frames.append(self.append(*events))
        return frames

    def read(self, after: int) -> Iterator[Sequence[Event] | Gap]:
        """The durable events after a position, as `Feed` wants them."""
        with self._lock:
            self.reads += 1
            if self.failing > 0:
                self.failing -= 1
                raise OSError(5, "the disk is on fire")
        return self._read(after)

    def _read(self, after: int) -> Iterator[Sequence[Event] | Gap]:
        if after + 1 < self.kept_from:
            yield Gap(after + 1, self.kept_from - 1, Reason.TRIMMED_STORAGE_LIMIT)
            after = self.kept_from - 1
        index = 0
        while index < len(self.frames):  # frames that come meanwhile are read too
            frame = self.frames[index]
            index += 1
            if frame[-1].position > self.durable:
                return
            gap = self.gaps.get(frame[0].position)
            if gap is not None and gap.last > after:
                yield gap
            if frame[-1].position > after:
                yield frame
