"""How an opening gets its segment: prepared under another name, synced, then renamed into place.

Nothing that is on the disk changes before the rename, and the rename replaces at most a segment
that begins at the same position: an empty one, or a tail whose frames were carried over.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from turnfold.events.errors import CorruptData, DiskFull
from turnfold.events.log.chain import advance
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.reserve import Reserve
from turnfold.events.log.scan import Stop, find_headers, scan_segment
from turnfold.events.log.segment import (
    LOG_DIRECTORY,
    SegmentHeader,
    discard_segment,
    install_segment,
    prepare_segment,
    read_segment_header,
    segment_path,
)

_TEMPORARY: Final = ".tmp"


@attrs.frozen
class Resumed:
    """A segment that is durable under its name, and where the log stands behind its frames."""

    file: File = attrs.field(repr=False)
    header: SegmentHeader
    size: int
    position: int
    head: bytes = attrs.field(repr=False)


def resume(
    disk: Disk,
    header: SegmentHeader,
    carried: Sequence[bytes],
    *,
    replace_tail: bool,
    reserve: Reserve,
) -> Resumed:
    """Start the segment. Raises as FileLog.resume says."""
    disk.make_directory(LOG_DIRECTORY)
    disk.sync_directory("")
    remove_temporary(disk)
    header = _over_existing(disk, header, replace_tail=replace_tail)
    file = _prepare(disk, header, carried, reserve)
    try:
        position, head = _walk(file, header)
        install_segment(disk, header.base)
        disk.sync_directory(LOG_DIRECTORY)
    except BaseException:
        file.close()
        discard_segment(disk, header.base)
        raise
    return Resumed(file, header, file.status().size, position, head)


def _prepare(disk: Disk, header: SegmentHeader, carried: Sequence[bytes], reserve: Reserve) -> File:
    while True:
        try:
            return prepare_segment(disk, header, carried)
        except DiskFull:
            if not reserve.spend():
                raise


def remove_temporary(disk: Disk) -> None:
    """Remove what openings and rotations that didn't finish left in the log's directory."""
    for name in disk.list(LOG_DIRECTORY):
        if name.endswith(_TEMPORARY):
            disk.unlink(f"{LOG_DIRECTORY}/{name}")


def _over_existing(disk: Disk, header: SegmentHeader, *, replace_tail: bool) -> SegmentHeader:
    """The header, with the gap that a segment to be replaced declares."""
    path = segment_path(header.base)
    try:
        file = disk.open(path)
    except FileNotFoundError:
        return header
    try:
        if not replace_tail and any(found.count for _, found in find_headers(file)):
            raise CorruptData(f"{path} holds events that would be lost; recover the log first")
        try:
            old = read_segment_header(file, header.base)
        except CorruptData:
            return header
    finally:
        file.close()
    if old.gap is None or header.gap is not None:
        return header
    if old.head != header.previous_head:
        raise CorruptData(f"{path} declares a gap that leads to another chain; recover the log")
    return attrs.evolve(header, gap=old.gap, previous_head=old.previous_head)


def _walk(file: File, header: SegmentHeader) -> tuple[int, bytes]:
    """Position and chain head behind the carried frames, which must be whole."""
    position, head = header.base - 1, header.head
    scan = scan_segment(file, expected=header.base)
    for frame in scan:
        if frame.header.count:
            position = frame.header.last
            head = advance(head, frame.header.first, frame.header.epoch, frame.chained)
    if scan.stopped is not Stop.END:
        raise CorruptData(f"frames carried to {segment_path(header.base)} aren't whole")
    return position, head
