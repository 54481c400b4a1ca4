"""What is missing between the segments of a log, and what openings have said of it.

Both are told from the edges of segments alone, so that an opening, which reads the log only from
its newest generation on, can afford to look at all of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from turnfold.events.codec import decode_events
from turnfold.events.errors import CorruptData, StorePathError
from turnfold.events.event import DamageFound, Event, Gap, StoreOpened
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.scan import BLOCK_BYTES, FrameScan, find_headers
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES
from turnfold.events.log.survey import SegmentEntry
from turnfold.events.reasons import Reason


def missing_between(disk: Disk, entries: Sequence[SegmentEntry]) -> Iterator[Gap]:
    """Ranges that no segment holds, between the first and the last of these with a header."""
    whole = [entry for entry in entries if entry.header is not None]
    for left, right in pairwise(whole):
        file = disk.open(left.path)
        try:
            last = max(left.base - 1, _last_position(file))
        finally:
            file.close()
        if last < right.begins - 1:
            yield Gap(last + 1, right.begins - 1, Reason.DAMAGE_UNDECLARED)


def _last_position(file: File) -> int:
    """The highest position in a segment's last headers; 0 if it holds no frame."""
    size, reach = file.status().size, BLOCK_BYTES
    while True:
        begin = max(SEGMENT_HEADER_BYTES, size - reach)
        last = max((header.last for _offset, header in find_headers(file, begin)), default=0)
        if last or begin == SEGMENT_HEADER_BYTES:
            return last
        reach *= 8  # a frame longer than that


def declared_losses(disk: Disk, entries: Iterable[SegmentEntry]) -> list[Gap]:
    """The ranges that openings said are lost. Each has said so in its first frame."""
    found: list[Gap] = []
    epoch = 0
    for entry in entries:
        if entry.header is None or entry.header.epoch == epoch:
            continue
        epoch = entry.header.epoch
        try:
            file = disk.open(entry.path)
        except (FileNotFoundError, StorePathError):  # trimmed since it was listed
            continue
        try:
            found += _declared_in(file, entry.base, epoch)
        finally:
            file.close()
    return found


def _declared_in(file: File, base: int, epoch: int) -> Iterator[Gap]:
    for frame in FrameScan(file, expected=base, content=False):
        if frame.header.epoch != epoch:
            continue  # carried along from before
        try:
            events = decode_events(frame.chained, frame.header.first, None)
        except CorruptData:
            return
        yield from (lost for event in events if (lost := lost_range(event)) is not None)
        return


def lost_range(event: Event) -> Gap | None:
    """The positions that an event says are lost, if it does."""
    if isinstance(event, StoreOpened) and event.lost_first:
        return Gap(event.lost_first, event.lost_last, event.reason)
    if isinstance(event, DamageFound):
        return Gap(event.first, event.last, event.reason)
    return None
