"""The audit stream: events from a store's files, beside a running store, without any lock."""

from collections.abc import Collection, Iterator
from pathlib import Path

from turnfold.events.codec import decode_events
from turnfold.events.errors import InvalidInput, StoreReadOnly
from turnfold.events.event import Event, Gap, SessionDeleted, SessionStarted
from turnfold.events.keys import ConversationKey, pseudonym
from turnfold.events.log.disk import Disk
from turnfold.events.log.layout import KEY_PATH, read_key
from turnfold.events.log.reader import LogReader
from turnfold.events.log.replay import store_disk
from turnfold.events.reasons import Reason


def read_events(
    storage_path: str | Path,
    *,
    after: int = 0,
    content: bool = False,
    reasons: Collection[Reason | str] | None = None,
    key: ConversationKey | None = None,
) -> Iterator[Event | Gap]:
    """Durable events behind position `after`, in order; what isn't there is a Gap.

    Without `content` sealed payloads are Withheld. `reasons` and `key` choose among the events;
    gaps are always told. Raises InvalidInput for an unknown reason and StorePathError for a path
    without a store, both at the call; while it is read StoreReadOnly if `key` is given and the
    store's pseudonym key is lost, UnsupportedFormat, CorruptData and StorageError.
    """
    wanted = None if reasons is None else frozenset(_reason(reason) for reason in reasons)
    store_disk(storage_path).close()  # a wrong path is told now, not at the first event

    def read() -> Iterator[Event | Gap]:
        disk = store_disk(storage_path)
        try:
            yield from _read(disk, after, content=content, reasons=wanted, key=key)
        finally:
            disk.close()

    return read()


def _reason(value: Reason | str) -> Reason:
    try:
        return Reason(value)
    except ValueError:
        raise InvalidInput("unknown reason code; the reference of reasons lists them") from None


def _read(
    disk: Disk,
    after: int,
    *,
    content: bool,
    reasons: frozenset[Reason] | None,
    key: ConversationKey | None,
) -> Iterator[Event | Gap]:
    chosen = None if key is None else _KeyFilter(disk, key)
    # The sessions of a key are known by their starts, which may lie before `after`.
    reader = LogReader(disk, after if chosen is None else 0, content=content)
    try:
        for item in reader.read():
            if isinstance(item, Gap):
                if item.last > after:
                    yield item
                continue
            for event in decode_events(
                item.chained, item.first, item.payload, trusted=item.payload_intact
            ):
                if chosen is not None and not chosen.matches(event):
                    continue
                if event.position > after and (reasons is None or event.reason in reasons):
                    yield event
    finally:
        reader.close()


class _KeyFilter:
    """Whether an event belongs to a key. To be asked about every event, in order."""

    def __init__(self, disk: Disk, key: ConversationKey) -> None:
        secret = read_key(disk)
        if secret is None:
            raise StoreReadOnly(f"{KEY_PATH} is missing: no event can be told to be of a key")
        self._tag = pseudonym(secret, key.avatar), key.channel
        self._sessions: set[int] = set()

    def matches(self, event: Event) -> bool:
        if isinstance(event, SessionStarted | SessionDeleted):
            if (event.pseudonym, event.channel) != self._tag:
                return False
            if isinstance(event, SessionStarted):
                self._sessions.add(event.position)
            return True
        return getattr(event, "session", 0) in self._sessions
