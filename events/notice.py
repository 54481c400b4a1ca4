"""Notices: what subscribers are told of each event. Positions, reasons and numbers, no content."""

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, Final

import attrs

from turnfold.events.event import (
    ContentErased,
    Event,
    Gap,
    GenerationRetired,
    GenerationWritten,
    Quarantined,
    SessionCompacted,
    SessionDeleted,
    SessionStarted,
    TurnAdded,
    TurnRedacted,
)
from turnfold.events.keys import CHANNELS, Channel
from turnfold.events.reasons import Reason
from turnfold.events.session import KeyTag
from turnfold.events.state import StoreState

Where = MutableMapping[int, KeyTag]
"""Which key each session belongs to, by start: folded by `notices` from the events it sees."""


@attrs.frozen
class Notice:
    """One event, less its content.

    `type` is the event's name (TurnAdded, ...). `pseudonym` (32 hexadecimal digits) stands for the
    avatar in this store; it and `channel` are None where the event is about no key, or about a
    session that is not known any more. `session` is the start of the session it is about. `turns`
    and `bytes` are how many turns (or payloads) and bytes the event is about, 0 where it is about
    neither.
    """

    position: int
    at: int
    type: str
    reason: Reason
    pseudonym: str | None
    channel: Channel | None
    session: int | None
    turns: int
    bytes: int


def whereabouts(state: StoreState) -> dict[int, KeyTag]:
    """What `notices` needs to know of sessions that began before the first event it gets."""
    # Session-state records have no key; their erasures are no session's.
    pending = (one for one in state.pending.values() if one.tag[1] < len(CHANNELS))
    return {one.session: one.tag for one in pending} | state.where


def notices(events: Iterable[Event | Gap], where: Where) -> Iterator[Notice | Gap]:
    """The notice of each event, in order; gaps as they are. `where` is kept up to date.

    A session is remembered until its text is erased after its end: that erasure is the last
    notice which names its key.
    """
    for event in events:
        yield event if isinstance(event, Gap) else _notice(event, where)


def _notice(event: Event, where: Where) -> Notice:
    start, tag = _session_of(event, where)
    turns, size = _numbers(event)
    return Notice(
        event.position,
        event.at,
        type(event).__name__,
        event.reason,
        None if tag is None else tag[0].hex(),
        None if tag is None else CHANNELS[tag[1]],
        start,
        turns,
        size,
    )


def _session_of(event: Event, where: Where) -> tuple[int | None, KeyTag | None]:
    if isinstance(event, SessionStarted):
        where[event.position] = event.pseudonym, event.channel.code
        return event.position, where[event.position]
    start: int | None = getattr(event, "session", None)
    if not start:
        return None, _tag_of(event)
    tag = where.get(start) or _tag_of(event)
    if isinstance(event, ContentErased) and event.reason in _ERASED_FOR_GOOD:
        where.pop(start, None)
    return start, tag


def _tag_of(event: Event) -> KeyTag | None:
    return (event.pseudonym, event.channel.code) if isinstance(event, SessionDeleted) else None


def _numbers(event: Event) -> tuple[int, int]:
    numbers = _NUMBERS.get(type(event))
    return (0, 0) if numbers is None else numbers(event)


_NUMBERS: Final[dict[type[Event], Callable[[Any], tuple[int, int]]]] = {
    TurnAdded: lambda event: (1, event.text_bytes),
    SessionCompacted: lambda event: (len(event.covers), event.summary_bytes),
    TurnRedacted: lambda event: (len(event.parts), sum(part.text_bytes for part in event.parts)),
    ContentErased: lambda event: (event.payloads, event.erased_bytes),
    GenerationWritten: lambda event: (0, event.size),
    GenerationRetired: lambda event: (0, event.size),
    Quarantined: lambda event: (0, event.size),
}

_ERASED_FOR_GOOD: Final = frozenset(
    {
        Reason.ERASED_DELETED,
        Reason.ERASED_EXPIRED,
        Reason.ERASED_EVICTED,
        Reason.ERASED_LOST,
    }
)
