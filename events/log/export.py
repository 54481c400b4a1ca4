"""An export: a log's chained parts and nothing else, in a directory of its own.

Frames keep their headers and chained parts, payload parts are left out; segment headers carry the
flag EXPORTED and no key check. The hash chain covers chained parts alone, so it is the same one:
`verify`, `read_events`, `replay` and checkpoints work on an export as on the store. Avatars are
pseudonyms in it, and the key that they are made with stays behind.

What is damaged in the store is missing in its export, at the same positions.
"""

from pathlib import Path

import attrs

from turnfold.events.codec import decode_times, encode_times
from turnfold.events.errors import StorePathError
from turnfold.events.event import Gap
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.frame import encode_frame, encode_watermark
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.replay import STORE_DIRECTORY, durable_position, store_disk
from turnfold.events.log.scan import ScannedFrame
from turnfold.events.log.segment import (
    LOG_DIRECTORY,
    SEGMENT_HEADER_BYTES,
    SegmentHeader,
    install_segment,
    list_segments,
    prepare_segment,
)
from turnfold.events.log.survey import Anchor, Place, SegmentEntry, list_entries, store_id_of
from turnfold.events.log.walk import Walk

_WRITE_BYTES = 1 << 20  # frames are gathered to writes of this size


@attrs.frozen
class Exported:
    """What went into an export: positions `first`..`last` in `frames`, `size` bytes in all."""

    first: int
    last: int
    frames: int
    segments: int
    size: int


def export_log(storage_path: str | Path, directory: str | Path) -> Exported:
    """Write what is durable of a store to `directory`, which has to be empty or absent.

    Works beside a running store. Raises StorePathError, DiskFull, UnsupportedFormat, StorageError.
    """
    source = store_disk(storage_path)
    try:
        target = PosixDisk(Path(directory) / STORE_DIRECTORY, create=True)
        try:
            if target.list(""):
                raise StorePathError(f"{target.name} is not empty; choose an empty directory")
            return _Export(source, target).run()
        finally:
            target.close()
    finally:
        source.close()


class _Export:
    def __init__(self, source: Disk, target: Disk) -> None:
        self._source = source
        self._target = target
        self._through = durable_position(source)
        self._headers: dict[int, SegmentHeader] = {}
        self._base = 0  # of the segment being written
        self._file: File | None = None
        self._offset = 0
        self._pieces: list[bytes] = []
        self._waiting = 0  # bytes in pieces
        self._last = self._epoch = self._frames = self._size = 0
        self._times = b""

    def run(self) -> Exported:
        entries = list_entries(self._source)
        self._headers = {e.base: e.header for e in entries if e.header is not None}
        first = next((entry for entry in entries if entry.header is not None), None)
        self._target.make_directory(LOG_DIRECTORY)
        walk = Walk(
            self._source,
            entries,
            store_id_of(entries) or bytes(16),
            anchor=_anchor(first),
            visit=self._visit,
            declare=_pass,
        )
        walk.run()
        if self._last:
            self._append(encode_watermark(self._last, self._times, self._epoch))
        self._finish()
        self._target.sync_directory(LOG_DIRECTORY)
        self._target.sync_directory("")
        begins = 1 if first is None else first.begins
        return Exported(
            begins, self._last, self._frames, len(list_segments(self._target)), self._size
        )

    def _visit(self, place: Place, frame: ScannedFrame, _head: bytes) -> None:
        header = frame.header
        if header.last > self._through:
            return
        if place.base != self._base:
            self._finish()
            self._begin(self._headers[place.base])
        self._append(
            encode_frame(
                header.first,
                header.count,
                frame.chained,
                b"",
                synced_through=header.synced_through,
                epoch=header.epoch,
            )
        )
        self._last, self._epoch = header.last, header.epoch
        self._times = encode_times(*decode_times(frame.chained))
        self._frames += 1

    def _begin(self, header: SegmentHeader) -> None:
        exported = attrs.evolve(header, key_check=bytes(8), exported=True)
        self._file = prepare_segment(self._target, exported)
        self._base, self._offset = header.base, SEGMENT_HEADER_BYTES

    def _append(self, data: bytes) -> None:
        self._pieces.append(data)
        self._waiting += len(data)
        if self._waiting >= _WRITE_BYTES:
            self._write()

    def _write(self) -> None:
        assert self._file is not None, "a segment was begun"
        self._file.write(self._offset, b"".join(self._pieces))
        self._offset += self._waiting
        self._pieces, self._waiting = [], 0

    def _finish(self) -> None:
        """Give the segment its name, once all of it is on the disk."""
        if self._file is None:
            return
        try:
            self._write()
            self._file.sync()
        finally:
            self._file.close()
        self._file = None
        install_segment(self._target, self._base)
        self._size += self._offset


def _anchor(first: SegmentEntry | None) -> Anchor:
    if first is None or first.header is None or first.begins == 1:
        return Anchor(0, b"")
    return Anchor(first.begins - 1, first.header.previous_head)


def _pass(_gap: Gap) -> None:
    """Declared gaps stand in the segments' headers, which are copied."""
