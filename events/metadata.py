"""What an operator sees of live sessions: who, where, when and how much, never what was said."""

import heapq
from collections.abc import Iterable
from typing import Final
from uuid import UUID

import attrs

from turnfold.events.errors import InvalidInput
from turnfold.events.keys import Channel, SessionId
from turnfold.events.session import Session

PAGE_SIZE_MAX: Final = 1024


@attrs.frozen
class SessionMetadata:
    """One live session. Times are wall-clock UTC ns; `byte_count` is in accounted bytes.

    `avatar` is None if the key's payload was lost to damage. `turn_count` includes turns that
    were compacted. `start` is the position at which the session began: lists are in its order.
    """

    session_id: SessionId
    avatar: UUID | None
    channel: Channel
    started_at: int
    last_at: int
    turn_count: int
    byte_count: int
    start: int


@attrs.frozen
class MetadataPage:
    """Some sessions, oldest start first. `next_after` asks for the next page; None at the end."""

    items: tuple[SessionMetadata, ...]
    next_after: int | None


def metadata(session: Session) -> SessionMetadata:
    """The metadata of one session."""
    return SessionMetadata(
        session_id=session.session_id,
        avatar=None if session.key is None else session.key.avatar,
        channel=session.channel,
        started_at=session.started.at,
        last_at=session.last_at,
        turn_count=session.turn_count,
        byte_count=session.size,
        start=session.start,
    )


def list_page(sessions: Iterable[Session], *, after: int = 0, size: int = 256) -> MetadataPage:
    """The first `size` sessions (1 to PAGE_SIZE_MAX) that started after position `after`.

    A start never changes and no new one is lower than an old one, so turning pages shows each
    session that stays live exactly once, whatever happens between two pages. Raises InvalidInput.
    """
    if type(size) is not int or not 1 <= size <= PAGE_SIZE_MAX:
        raise InvalidInput(f"a page holds 1 to {PAGE_SIZE_MAX} sessions: size is such an integer")
    if type(after) is not int:
        raise InvalidInput("after must be the next_after of a page, an integer")
    later = (session for session in sessions if session.start > after)
    found = heapq.nsmallest(size + 1, later, key=lambda session: session.start)
    items = tuple(metadata(session) for session in found[:size])
    return MetadataPage(items, items[-1].start if len(found) > size else None)
