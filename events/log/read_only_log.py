"""A log that is only read: the store is damaged and may not be repaired, or its key is lost."""

from collections.abc import Iterator, Sequence

from turnfold.events.commands import Instant
from turnfold.events.errors import StoreReadOnly
from turnfold.events.event import Gap
from turnfold.events.log.backend import FrameParts, ReadFrame
from turnfold.events.log.disk import Disk
from turnfold.events.log.ownership import Ownership
from turnfold.events.log.reader import LogReader


class ReadOnlyLog:
    """`Log` whose writing methods raise StoreReadOnly with what to do about it."""

    def __init__(
        self,
        disk: Disk,
        ownership: Ownership,
        *,
        store_id: bytes,
        secret: bytes,
        epoch: int,
        position: int,
        head: bytes,
        why: str,
    ) -> None:
        self._disk = disk
        self._ownership = ownership
        self._why = why
        self.store_id = store_id
        self.secret = secret
        self.epoch = epoch
        self.position = self.durable = position
        self.base = position + 1  # nothing is begun
        self.head = head

    def append(
        self, frames: Sequence[FrameParts], *, expected: int, bookkeeping: bool = False
    ) -> None:
        """Raises StoreReadOnly."""
        del frames, expected, bookkeeping
        raise StoreReadOnly(self._why)

    def sync(self) -> None:
        """Nothing was appended."""

    def watermark(self, now: Instant) -> None:
        """Nothing to say."""
        del now

    def read(
        self, after: int, *, through: int | None = None, content: bool = True
    ) -> Iterator[ReadFrame | Gap]:
        """See Log."""
        reader = LogReader(self._disk, after, content=content)
        try:
            yield from reader.read(through)
        finally:
            reader.close()

    def close(self) -> None:
        """See Log."""
        self._ownership.release()
