"""Rewriting a log's files as somebody would who knows the format: for tests of what is noticed."""

from collections.abc import Callable
from pathlib import Path

import attrs

from turnfold.events import cbor
from turnfold.events.log.chain import advance, genesis
from turnfold.events.log.disk import Disk
from turnfold.events.log.frame import FrameHeader, encode_frame, encode_watermark
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.scan import FrameScan
from turnfold.events.log.segment import (
    SegmentHeader,
    encode_segment_header,
    list_segments,
    read_segment_header,
    segment_path,
)


@attrs.define
class Frame:
    """A frame that may be changed before it is written back."""

    header: FrameHeader
    chained: bytes
    payload: bytes


def segments(path: Path) -> list[Path]:
    """The segment files below a store's directory, oldest first."""
    return sorted((path / "log").glob("*.log"))


def read_segment(disk: Disk, base: int) -> tuple[SegmentHeader, list[Frame]]:
    file = disk.open(segment_path(base))
    try:
        header = read_segment_header(file, base)
        scan = FrameScan(file, expected=base)
        return header, [Frame(one.header, one.chained, one.payload or b"") for one in scan]
    finally:
        file.close()


def rewrite(path: Path, change: Callable[[Frame], None], *, chain: bool) -> None:
    """Change frames and write all with good checksums; with `chain` with a good chain too."""
    disk = PosixDisk(path)
    head = b""
    for base in list_segments(disk):
        header, frames = read_segment(disk, base)
        head = head or (genesis(header.store_id) if base == 1 else header.previous_head)
        if chain and header.gap is None:
            header = attrs.evolve(header, previous_head=head)
        head = header.head
        pieces = [encode_segment_header(header)]
        for frame in frames:
            change(frame)
            pieces.append(_encoded(frame))
            if frame.header.count:
                head = advance(head, frame.header.first, frame.header.epoch, frame.chained)
        (path / segment_path(base)).write_bytes(b"".join(pieces))
    disk.close()


def _encoded(frame: Frame) -> bytes:
    header = frame.header
    if not header.count:
        return encode_watermark(header.last, frame.chained, header.epoch)
    return encode_frame(
        header.first,
        header.count,
        frame.chained,
        frame.payload,
        synced_through=header.synced_through,
        epoch=header.epoch,
    )


def later_by_a_second(position: int) -> Callable[[Frame], None]:
    """The frame with this position says that it happened a second later; all else is as it was."""

    def change(frame: Frame) -> None:
        if frame.header.count and frame.header.first <= position <= frame.header.last:
            at, age, events = cbor.decode(frame.chained)
            frame.chained = cbor.encode([at + 1_000_000_000, age, events])

    return change


def flip_chained(position: int, index: int) -> Callable[[Frame], None]:
    """One bit of the frame's chained part."""

    def change(frame: Frame) -> None:
        if frame.header.count and frame.header.first <= position <= frame.header.last:
            data = bytearray(frame.chained)
            data[index] ^= 1
            frame.chained = bytes(data)

    return change
