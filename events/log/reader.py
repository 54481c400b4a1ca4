"""Reading a log, beside a running writer or without one, without any lock.

Only what is durable is given out: positions up to the highest evidence seen, which is a newer
segment (its base - 1), a later frame's `synced_through`, or what the caller knows. The rest is
pending: reading ends there without an error and can go on later. A frame is read *after* the
evidence for it was, since until then a failed write may be taken back and replaced.

Rotation, trimming, replacement of a segment and erasure may happen meanwhile. What is missing or
damaged is told as a `Gap`: declared by the segment behind it, trimmed from the log's start, or
undeclared. Damage inside a segment costs the frames up to the next intact header, no more.

Not done here: the hash chain and the commitments, which `verify` checks.
"""

from collections.abc import Callable, Iterator
from typing import Final

import attrs

from turnfold.events.errors import CorruptData
from turnfold.events.event import Gap
from turnfold.events.log.backend import ReadFrame
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.frame import (
    HEADER_BYTES,
    POSITION_MAX,
    FrameHeader,
    checksum_at,
    decode_header,
)
from turnfold.events.log.losses import declared_losses
from turnfold.events.log.scan import FrameScan, ScannedFrame, Window, find_headers
from turnfold.events.log.segment import (
    SegmentHeader,
    list_segments,
    read_segment_header,
    segment_path,
)
from turnfold.events.log.survey import list_entries
from turnfold.events.reasons import Reason

_AHEAD: Final = 1024  # headers looked at behind the evidence that was needed


@attrs.define
class _Segment:
    """The segment being read. Up to `limit` its frames are durable and never change."""

    base: int
    file: File
    scan: FrameScan
    next_base: int | None  # of the segment behind it; None: it is the newest
    limit: int

    @property
    def wanted(self) -> int:
        """The position that the next frame must begin at."""
        return self.scan.expected or self.base


class LogReader:
    """One reader's place in a log. Not for several threads at once.

    `content` false leaves payloads alone. `durable` is asked for the highest position known
    durable. A gap inside a range that an opening said is lost is told with its reason.
    """

    def __init__(
        self,
        disk: Disk,
        after: int = 0,
        *,
        content: bool = True,
        durable: Callable[[], int] = lambda: 0,
    ) -> None:
        self._disk = disk
        self._content = content
        self._durable = durable
        self._declared: list[Gap] | None = None  # looked for when it is needed
        self._store_id: bytes | None = None
        self._segment: _Segment | None = None
        self._due: list[Gap] = []  # gaps that are to be told next
        self._minimum = 0  # base of the first segment that was not left behind
        self.position = after

    def read(self, through: int | None = None) -> Iterator[ReadFrame | Gap]:
        """What is durable behind `position`, which moves along; see Log.read.

        Reading again goes on where it ended. Raises UnsupportedFormat for a newer format, and
        StorageError.
        """
        end = POSITION_MAX if through is None else through
        while self.position < end:
            if self._due:
                gap = self._due.pop(0)
                self.position = max(self.position, gap.last)
                yield gap
                continue
            segment = self._segment
            if segment is None:
                if not self._enter():
                    return
            elif segment.next_base is not None and segment.wanted >= segment.next_base:
                self._leave(segment.next_base)
            elif segment.wanted > segment.limit and not self._prove(segment, segment.wanted):
                if not self._has_moved_on(segment):
                    return
            else:
                for frame in segment.scan:
                    last = frame.header.last
                    if last > segment.limit:  # known to be durable in part only
                        segment.scan.skip_to(frame.offset, frame.header.first)
                        if not self._prove(segment, last):
                            return
                        break
                    if last > self.position and frame.header.count:
                        self.position = last
                        yield _read_frame(segment.file, frame)
                    if last >= segment.limit or last >= end:
                        break
                else:
                    if not self._pass_damage(segment):
                        return

    def close(self) -> None:
        """Close the file that is open; reading again opens it again."""
        self._leave(self._minimum)

    # --- going from segment to segment -------------------------------------------------------

    def _enter(self) -> bool:
        """Open the segment that holds the next position. False: there is none yet."""
        bases = list_segments(self._disk)
        left = [base for base in bases if base >= self._minimum]
        if not left:
            return False
        wanted = self.position + 1
        base = max((base for base in left if base <= wanted), default=left[0])
        next_base = min((other for other in left if other > base), default=None)
        try:
            file = self._disk.open(segment_path(base))
        except FileNotFoundError:  # trimmed since it was listed
            return True
        header = self._header(file, base)
        if header is None:
            file.close()
            # The newest one's frames may be pending, but what its name claims came before it.
            self._minimum = base if next_base is None else next_base
            self._owe(wanted, self._minimum - 1, Reason.DAMAGE_UNDECLARED)
            return bool(self._due)
        missing = Reason.TRIMMED_STORAGE_LIMIT if base == bases[0] else Reason.DAMAGE_UNDECLARED
        if header.gap is None:
            self._owe(wanted, base - 1, missing)
        else:
            self._owe(wanted, header.gap.first - 1, missing)
            self._owe(max(wanted, header.gap.first), base - 1, header.gap.reason)
        content = self._content and not header.exported
        scan = FrameScan(file, expected=base, content=content)
        limit = base - 1 if next_base is None else next_base - 1
        self._segment = segment = _Segment(base, file, scan, next_base, limit)
        if next_base is None:
            self._prove(segment, self.position)
        _skip_frames(segment, min(self.position, segment.limit))
        return True

    def _header(self, file: File, base: int) -> SegmentHeader | None:
        """The segment's header, or None if it is damaged or from another store."""
        try:
            header = read_segment_header(file, base)
        except CorruptData:
            return None
        except BaseException:
            file.close()
            raise
        if self._store_id is None:
            self._store_id = header.store_id
        return header if header.store_id == self._store_id else None

    def _leave(self, minimum: int) -> None:
        if self._segment is not None:
            self._segment.file.close()
            self._segment = None
        self._minimum = minimum

    def _has_moved_on(self, segment: _Segment) -> bool:
        """Whether the writer has: to a segment behind this one, or to another in its place."""
        behind = [base for base in list_segments(self._disk) if base > segment.base]
        if behind and segment.next_base is None:
            # What was appended before the rotation, but after the last look, is still to be read.
            segment.next_base = behind[0]
            segment.limit = behind[0] - 1
            segment.scan.skip_to(segment.scan.offset, segment.wanted)
            return True
        if segment.file.status().links == 0:
            self._leave(segment.base)
            return True
        return False

    # --- evidence ------------------------------------------------------------------------------

    def _prove(self, segment: _Segment, position: int) -> bool:
        """Raise the limit if there is evidence for `position`; false if there is none."""
        highest = self._durable()
        if highest < position:
            highest = _look_ahead(segment.file, segment.scan.offset, position)
        if highest > segment.limit:
            segment.limit = highest
            segment.scan.skip_to(segment.scan.offset, segment.wanted)
        return segment.limit >= position

    # --- damage --------------------------------------------------------------------------------

    def _pass_damage(self, segment: _Segment) -> bool:
        """Get past a frame that is durable and not there. False: wait for evidence."""
        if self._has_moved_on(segment):
            return True
        wanted, scan = segment.wanted, segment.scan
        found = _next_header(segment, wanted)
        if found is not None:
            offset, header = found
            if header.first - 1 > segment.limit and not self._prove(segment, header.first - 1):
                return False
            scan.skip_to(offset, header.first)
            self._owe(wanted, header.first - 1, Reason.DAMAGE_UNDECLARED)
        elif segment.next_base is not None:
            self.position = max(self.position, wanted - 1)
            self._leave(segment.next_base)  # the next segment says whether a gap is declared
        else:
            scan.skip_to(scan.offset, segment.limit + 1)
            self._owe(wanted, segment.limit, Reason.DAMAGE_UNDECLARED)
        return True

    def _owe(self, first: int, last: int, reason: Reason) -> None:
        """Tell a gap next, without what was given out already."""
        first = max(first, self.position + 1)
        if first > last:
            return
        if reason is Reason.DAMAGE_UNDECLARED and any(
            gap.holds(first, last) for gap in self._losses()
        ):
            reason = Reason.OPENED_DAMAGED
        self._due.append(Gap(first, last, reason))

    def _losses(self) -> list[Gap]:
        if self._declared is None:
            self._declared = declared_losses(self._disk, list_entries(self._disk))
        return self._declared


def _read_frame(file: File, frame: ScannedFrame) -> ReadFrame:
    payload, intact = frame.payload, frame.payload_ok is not False
    if payload is not None and not intact and payload.count(0) != len(payload):
        # Perhaps it was read while it was being erased: then it is zeros now.
        data = file.read(frame.payload_offset, frame.end - frame.payload_offset)
        payload = data[: len(payload)]
        intact = checksum_at(data, len(payload)) == crc32c(payload)
    return ReadFrame(frame.header, frame.chained, payload, intact)


def _skip_frames(segment: _Segment, position: int) -> None:
    """Pass frames that end at or before `position`, by their headers alone."""
    scan = segment.scan
    window = Window(segment.file)
    offset, expected = scan.offset, segment.base
    while True:
        index = window.at(offset, HEADER_BYTES)
        header = decode_header(window.data, index)
        if header is None or header.first != expected or header.last > position:
            scan.skip_to(offset, expected)
            return
        offset += header.frame_bytes
        expected = header.first + header.count


def _look_ahead(file: File, offset: int, position: int) -> int:
    """The highest position that headers from `offset` on say was durable, if >= `position`.

    It looks no further than needed, and a little more. What it passes may still be taken back,
    but what was durable stays so.
    """
    window = Window(file)
    highest, more = 0, _AHEAD
    while more:
        index = window.at(offset, HEADER_BYTES)
        header = decode_header(window.data, index)
        if header is None:
            found = next(find_headers(file, offset), None)
            if found is None:
                return highest
            offset, header = found
        highest = max(highest, header.synced_through)
        offset += header.frame_bytes
        if highest >= position:
            more -= 1
    return highest


def _next_header(segment: _Segment, wanted: int) -> tuple[int, FrameHeader] | None:
    """The first intact header behind damage that begins at `wanted` or later in this segment."""
    scan, end = segment.scan, segment.next_base
    stopped = scan.stopped_header
    # An intact header at the stop counts only if it lies further on than the next position.
    at_stop = stopped is None or stopped.first > wanted
    for offset, header in find_headers(segment.file, scan.offset if at_stop else scan.offset + 1):
        if header.first >= wanted and (end is None or header.first < end):
            return offset, header
    return None
