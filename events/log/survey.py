"""What a walk over a log found: where it breaks off, what was durable, what is to be cut."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from turnfold.events.commands import Instant
from turnfold.events.errors import CorruptData, StorePathError
from turnfold.events.log.disk import Disk
from turnfold.events.log.segment import (
    SegmentHeader,
    list_segments,
    read_segment_header,
    segment_path,
)

UNKNOWN: Final = b""  # a chain head behind damage


@attrs.frozen
class SegmentEntry:
    """A segment file. Without a header it is damaged or foreign, and `message` says how."""

    base: int
    header: SegmentHeader | None
    message: str = ""
    foreign: bool = False

    @property
    def path(self) -> str:
        """Where it lies, relative to the store."""
        return segment_path(self.base)

    def is_of(self, store_id: bytes | None) -> bool:
        """Whether it has a header, of this store."""
        return self.header is not None and self.header.store_id == store_id

    @property
    def begins(self) -> int:
        """The first position that it or the gap before it accounts for."""
        gap = self.header.gap if self.header else None
        return self.base if gap is None else gap.first


@attrs.frozen
class Break:
    """The chain of frames ends at `position`, exclusively. `resumed`: intact frames go on there.

    In the file of segment `base` the bytes from `offset` to `end` are not whole frames (none if
    frames are simply missing). `head` is the chain head before it, UNKNOWN behind other damage.
    """

    base: int
    position: int
    offset: int
    end: int
    resumed: int | None
    why: str
    head: bytes = attrs.field(repr=False)


@attrs.frozen
class Cut:
    """Bytes of segment `base` from `offset` on are no part of the log (any more)."""

    base: int
    offset: int


# Not frozen: one for each frame walked over. Never changed.
@attrs.define
class Place:
    """Where a whole frame with events lies, and the chain head before it."""

    base: int
    offset: int
    size: int
    first: int
    last: int
    head_before: bytes
    is_whole: bool  # the payload's checksum holds


@attrs.define
class Survey:
    """The result of a walk. `position` is the end of the last run of whole frames, with its head.

    `evidence` is the highest position known durable, `highest_seen` the highest one named by an
    intact header. `undurable` are frames behind the evidence, in order. `overlaps` are bytes that
    a later segment repeats or declares lost, `obsolete` whole segments of that kind, `unusable`
    segments whose header doesn't hold.
    """

    position: int = 0
    head: bytes = UNKNOWN
    evidence: int = 0
    highest_seen: int = 0
    epoch: int = 0
    watermark: Instant | None = None  # the newest
    breaks: list[Break] = attrs.Factory(list[Break])
    undurable: deque[Place] = attrs.Factory(deque[Place])
    overlaps: list[Cut] = attrs.Factory(list[Cut])
    obsolete: list[SegmentEntry] = attrs.Factory(list[SegmentEntry])
    unusable: list[SegmentEntry] = attrs.Factory(list[SegmentEntry])

    def raise_evidence(self, position: int) -> None:
        """Something says that everything up to `position` was durable."""
        self.evidence = max(self.evidence, position)
        while self.undurable and self.undurable[0].last <= self.evidence:
            self.undurable.popleft()


@attrs.frozen
class Anchor:
    """A position before which nothing is needed, and the chain head there."""

    position: int
    head: bytes


def list_entries(disk: Disk) -> list[SegmentEntry]:
    """All segments with their headers, rising. Raises UnsupportedFormat for a newer format."""
    return [_entry(disk, base) for base in list_segments(disk)]


def _entry(disk: Disk, base: int) -> SegmentEntry:
    try:
        file = disk.open(segment_path(base))
    except StorePathError as error:  # a link or a directory; a device that fails is no damage
        return SegmentEntry(base, None, str(error))
    try:
        return SegmentEntry(base, read_segment_header(file, base))
    except CorruptData as error:
        return SegmentEntry(base, None, str(error))
    finally:
        file.close()


def store_id_of(entries: list[SegmentEntry]) -> bytes | None:
    """The store that most segments say they belong to; of two alike, the older one's."""
    ids = [entry.header.store_id for entry in entries if entry.header is not None]
    return max(ids, key=ids.count, default=None)


def raw_frames(disk: Disk, places: Iterable[Place]) -> Iterator[bytes]:
    """The bytes of these frames, as they are."""
    for place in places:
        file = disk.open(segment_path(place.base))
        try:
            yield file.read(place.offset, place.size)
        finally:
            file.close()
