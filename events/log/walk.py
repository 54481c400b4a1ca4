"""A walk over a log's segments that believes nothing and changes nothing.

It begins in the segment that holds the position of the generation to start from (or in the
first), follows the chain, and goes on behind damage to see what else is there. It tells where the
first frame is that isn't whole, and the highest evidence that something was durable: what a later
intact header says, and the base of a later segment.
"""

from collections.abc import Callable

from turnfold.events.codec import decode_times
from turnfold.events.commands import Instant
from turnfold.events.errors import StorePathError
from turnfold.events.event import Gap
from turnfold.events.log.chain import advance, genesis
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.scan import BLOCK_BYTES, FrameScan, ScannedFrame, Stop, find_headers
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES, SegmentHeader
from turnfold.events.log.survey import UNKNOWN, Anchor, Break, Cut, Place, SegmentEntry, Survey

Visit = Callable[[Place, ScannedFrame, bytes], None]
"""Gets each whole frame with events in order, where it lies, and the head behind it."""


class Walk:
    """One walk; `run` once."""

    def __init__(
        self,
        disk: Disk,
        entries: list[SegmentEntry],
        store_id: bytes,
        *,
        anchor: Anchor,
        visit: Visit,
        declare: Callable[[Gap], None],
        torn_at: int = 0,
        seek: bool = False,
    ) -> None:
        """Visit what lies behind the anchor, and the frames before it in its segment.

        `declare` is told of each declared gap on the way. The frame that begins at `torn_at`
        counts as not whole, and so does all that follows it in its segment. `seek` leaves out
        the frames before the anchor, if the one behind it is found; its head is then believed.
        """
        self._disk = disk
        self._visit = visit
        self._declare = declare
        self._torn_at = torn_at
        self._seek = seek
        self._store_id = store_id
        self._anchor = anchor
        self.found = Survey()
        self._entries = self._usable(entries)

    def _usable(self, entries: list[SegmentEntry]) -> list[SegmentEntry]:
        """Sort out segments that a later one declares lost, and those without a header."""
        found = self.found
        usable: list[SegmentEntry] = []
        lost_from: int | None = None
        for listed in reversed(entries):
            entry = listed
            if entry.header is not None and entry.header.store_id != self._store_id:
                message = f"{entry.path} belongs to another store"
                entry = SegmentEntry(entry.base, None, message, foreign=True)
            if lost_from is not None and entry.base >= lost_from:
                found.obsolete.append(entry)
                continue
            if entry.header is None:
                found.unusable.append(entry)
            else:
                found.epoch = max(found.epoch, entry.header.epoch)
                if entry.header.gap is not None:
                    lost_from = entry.begins
            usable.append(entry)
        usable.reverse()
        return usable

    def run(self) -> Survey:
        """Walk to the end."""
        entries, found = self._entries, self.found
        anchor = self._anchor
        good = [index for index, entry in enumerate(entries) if entry.header is not None]
        # The segment that holds the anchor, not the one behind it: it may still have to be cut.
        start = max(
            (index for index in good if entries[index].base <= max(1, anchor.position)),
            default=good[0] if good else 0,
        )
        found.position, found.head = anchor.position, anchor.head
        if good and entries[start].begins <= anchor.position:
            header = entries[start].header
            found.position = entries[start].begins - 1
            if found.position == 0:
                found.head = genesis(self._store_id)
            else:
                found.head = UNKNOWN if header is None else header.previous_head
        for index in range(start, len(entries)):
            entry = entries[index]
            following = next((e for e in entries[index + 1 :] if e.header is not None), None)
            if entry.header is not None:
                found.raise_evidence(entry.base - 1)
            self._segment(entry, following)
        return found

    # --- one segment ----------------------------------------------------------------------

    def _segment(self, entry: SegmentEntry, following: SegmentEntry | None) -> None:
        try:
            file = self._disk.open(entry.path)
        except StorePathError:
            return  # unusable, as is said already
        try:
            if entry.header is not None:
                self._connect(entry, entry.header)
                self._frames(entry, file, following)
            elif not entry.foreign:
                # A header was durable before its file got this name, so it was damaged later. An
                # empty file proves nothing: anybody may have made it.
                if entry.base == self.found.position + 1 and file.status().size:
                    self._named(entry.base, entry.base)
                for _offset, header in find_headers(file, 0):
                    self._named(header.last, header.last)
        finally:
            file.close()

    def _connect(self, entry: SegmentEntry, header: SegmentHeader) -> None:
        """Go on from the segment before, over a declared gap if there is one."""
        found = self.found
        if entry.begins != found.position + 1:
            self._break(entry, entry.begins, 0, entry.begins, "segments are missing")
        elif header.previous_head != found.head and found.head:
            self._break(entry, entry.begins, 0, entry.begins, "the chain doesn't lead here")
        if header.gap is not None:
            self._declare(header.gap)
        found.position = entry.base - 1
        found.head = header.head

    def _frames(self, entry: SegmentEntry, file: File, following: SegmentEntry | None) -> None:
        limit = None if following is None else following.begins - 1
        scan = FrameScan(file, expected=entry.base)
        found = self.found
        if self._seek and found.position < self._anchor.position:
            self._skip_to_anchor(scan, file)
        while True:
            for frame in scan:
                if limit is not None and frame.header.last > limit:
                    found.overlaps.append(Cut(entry.base, frame.offset))
                    self._evidence_of(frame)
                    if found.position < limit:
                        why = "a frame goes on past where the next segment begins"
                        self._break(entry, found.position + 1, frame.offset, None, why)
                    return
                if frame.header.first == self._torn_at:
                    self._torn(entry, file, frame)
                    return
                self._frame(entry, frame)
            if self._ends_well(entry, file, scan, limit):
                return
            resumed = self._resume(file, scan, limit)
            end = file.status().size if resumed is None else resumed[0]
            why = scan.stopped.value if scan.stopped else ""
            first = None if resumed is None else resumed[1]
            self._break(entry, found.position + 1, scan.offset, first, why, end=end)
            if resumed is None or first is None:
                return
            found.position = first - 1
            known = found.position == self._anchor.position
            found.head = self._anchor.head if known else UNKNOWN
            scan = FrameScan(file, resumed[0], expected=first)

    def _skip_to_anchor(self, scan: FrameScan, file: File) -> None:
        wanted = self._anchor.position + 1
        offset = find_frame(file, wanted)
        if offset is not None:
            scan.skip_to(offset, wanted)
            self.found.position, self.found.head = self._anchor.position, self._anchor.head

    def _ends_well(
        self, entry: SegmentEntry, file: File, scan: FrameScan, limit: int | None
    ) -> bool:
        """Whether nothing is missing where the walk of a segment ended."""
        found = self.found
        if limit is None:  # the newest segment
            return scan.stopped is Stop.END
        if found.position != limit:
            return False
        if scan.offset < file.status().size:
            found.overlaps.append(Cut(entry.base, scan.offset))
            self._look_for_evidence(file, scan.offset)
        return True

    def _frame(self, entry: SegmentEntry, frame: ScannedFrame) -> None:
        found, header = self.found, frame.header
        self._evidence_of(frame)
        before = found.head
        if not header.count:
            found.watermark = Instant(*decode_times(frame.chained))
            return
        if before:
            found.head = advance(before, header.first, header.epoch, frame.chained)
        elif header.last == self._anchor.position:
            found.head = self._anchor.head
        found.position = header.last
        size = header.frame_bytes
        place = Place(
            entry.base,
            frame.offset,
            size,
            header.first,
            header.last,
            before,
            frame.payload_ok is not False,
        )
        found.undurable.append(place)
        self._visit(place, frame, found.head)

    def _torn(self, entry: SegmentEntry, file: File, frame: ScannedFrame) -> None:
        why = "a payload's checksum doesn't hold"
        end = file.status().size
        self._break(entry, self.found.position + 1, frame.offset, None, why, end=end)
        self._look_for_evidence(file, frame.offset)

    # --- damage and evidence -----------------------------------------------------------------

    def _resume(self, file: File, scan: FrameScan, limit: int | None) -> tuple[int, int] | None:
        """Offset and position of the next whole frame behind a bad one; evidence is gathered."""
        resumed: tuple[int, int] | None = None
        for offset, header in find_headers(file, scan.offset):
            self._named(header.last, header.synced_through)
            self.found.epoch = max(self.found.epoch, header.epoch)
            if resumed is not None or header.first <= self.found.position:
                continue
            if limit is not None and header.last > limit:
                continue
            if next(FrameScan(file, offset, expected=header.first), None) is not None:
                resumed = offset, header.first
        return resumed

    def _look_for_evidence(self, file: File, offset: int) -> None:
        for _offset, header in find_headers(file, offset):
            self._named(header.last, header.synced_through)
            self.found.epoch = max(self.found.epoch, header.epoch)

    def _evidence_of(self, frame: ScannedFrame) -> None:
        self._named(frame.header.last, frame.header.synced_through)
        self.found.epoch = max(self.found.epoch, frame.header.epoch)

    def _named(self, last: int, synced_through: int) -> None:
        found = self.found
        found.raise_evidence(synced_through)
        found.highest_seen = max(found.highest_seen, last)

    def _break(
        self,
        entry: SegmentEntry,
        position: int,
        offset: int,
        resumed: int | None,
        why: str,
        *,
        end: int = 0,
    ) -> None:
        found = self.found
        first = min(position, found.position + 1)
        end = max(offset, end)
        found.breaks.append(Break(entry.base, first, offset, end, resumed, why, found.head))


def find_frame(file: File, position: int) -> int | None:
    """Where in a segment the frame that begins at `position` lies: by halving, not by walking.

    None if there is no intact header of it, or none is where it should be.
    """
    low, high = SEGMENT_HEADER_BYTES, file.status().size
    while high - low > BLOCK_BYTES:
        middle = (low + high) // 2
        offset, header = next(find_headers(file, middle, high), (high, None))
        if header is None or header.first > position:
            high = middle
        else:
            low = offset
    for offset, header in find_headers(file, low):
        if header.first > position:
            return None
        if header.first == position and header.count:
            return offset
    return None
