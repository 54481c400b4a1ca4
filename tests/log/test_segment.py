from pathlib import Path

import attrs
import pytest
from log.log_rig import FaultyDisk
from log.memory_file import MemoryFile

from turnfold.events.errors import CorruptData, DiskFull, StorageError, UnsupportedFormat
from turnfold.events.event import Gap
from turnfold.events.log.chain import genesis, skip
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.frame import encode_frame, encode_watermark
from turnfold.events.log.scan import Stop, find_headers, scan_segment
from turnfold.events.log.segment import (
    GAP_REASONS,
    SEGMENT_HEADER_BYTES,
    SegmentHeader,
    encode_segment_header,
    install_segment,
    list_segments,
    parse_segment_header,
    prepare_segment,
    segment_base,
    segment_path,
)
from turnfold.events.reasons import Reason

STORE_ID = b"S" * 16
HEADER = SegmentHeader(1, 3, STORE_ID, genesis(STORE_ID), b"keycheck")
WITH_GAP = attrs.evolve(HEADER, base=21, gap=Gap(11, 20, Reason.OPENED_DAMAGED))


def resealed(data: bytes, offset: int, value: bytes) -> bytes:
    """A header with other bytes at `offset` and the checksum that fits them."""
    changed = data[:offset] + value + data[offset + len(value) : 124]
    return changed + crc32c(changed).to_bytes(4, "little")


def frames(first: int, count: int) -> list[bytes]:
    return [
        encode_frame(p, 1, b"chained %d" % p, b"payload %d" % p, synced_through=p - 1, epoch=1)
        for p in range(first, first + count)
    ]


# --- names and headers ---------------------------------------------------------------------------


def test_names_sort_like_positions() -> None:
    bases = [1, 9, 10, 99, 2**40, 2**63 - 1]
    names = [segment_path(base).removeprefix("log/") for base in bases]

    assert names == sorted(names)
    assert [segment_base(name) for name in names] == bases


@pytest.mark.parametrize(
    "name",
    ["1.log", f"{0:020}.log", f"{1:020}.log.tmp", f"{1:021}.log", f"{2**64 - 1:020}.log", "x"],
)
def test_other_names_are_no_segments(name: str) -> None:
    assert segment_base(name) is None


@pytest.mark.parametrize("header", [HEADER, WITH_GAP], ids=["plain", "gap"])
def test_header_round_trips(header: SegmentHeader) -> None:
    data = encode_segment_header(header)

    assert len(data) == SEGMENT_HEADER_BYTES
    assert parse_segment_header(data, header.base) == header


@pytest.mark.parametrize("reason", GAP_REASONS)
def test_gap_is_part_of_the_head(reason: Reason) -> None:
    gap = Gap(11, 20, reason)
    header = attrs.evolve(WITH_GAP, gap=gap)

    assert header.head == skip(header.previous_head, gap)
    assert parse_segment_header(encode_segment_header(header), 21).gap == gap


def test_header_with_a_flipped_bit_is_corrupt() -> None:
    for bit in range(SEGMENT_HEADER_BYTES * 8):
        data = bytearray(encode_segment_header(WITH_GAP))
        data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptData, match=segment_path(21)):
            parse_segment_header(bytes(data), 21)


@pytest.mark.parametrize("size", [0, 1, 64, 127])
def test_header_cut_short_is_corrupt(size: int) -> None:
    with pytest.raises(CorruptData, match=f"at byte {size}"):
        parse_segment_header(encode_segment_header(HEADER)[:size], 1)


@pytest.mark.parametrize(("offset", "value"), [(8, b"\x02\0"), (10, b"\x02\0")])
def test_newer_version_or_unknown_flag_is_unsupported(offset: int, value: bytes) -> None:
    data = resealed(encode_segment_header(HEADER), offset, value)

    with pytest.raises(UnsupportedFormat, match="format"):
        parse_segment_header(data, 1)


def test_renamed_segment_is_corrupt() -> None:
    with pytest.raises(CorruptData, match="renamed or copied"):
        parse_segment_header(encode_segment_header(HEADER), 2)


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (100, b"\x01"),  # unused bytes
        (80, (12).to_bytes(8, "little")),  # a gap's first position without its last
        (96, b"\xff"),  # a reason that is none
        (24, bytes(8)),  # base 0
    ],
)
def test_header_that_says_nonsense_is_corrupt(offset: int, value: bytes) -> None:
    data = resealed(encode_segment_header(HEADER), offset, value)

    with pytest.raises(CorruptData):
        parse_segment_header(data, 0 if offset == 24 else 1)


def test_gap_must_end_before_the_base() -> None:
    with pytest.raises(ValueError, match="gap"):
        attrs.evolve(HEADER, base=21, gap=Gap(11, 19, Reason.OPENED_DAMAGED))


# --- preparing and installing --------------------------------------------------------------------


def test_prepared_segment_is_invisible_until_installed(tmp_path: Path) -> None:
    disk = FaultyDisk(tmp_path / "store")
    disk.make_directory("log")

    prepare_segment(disk, HEADER, frames(1, 2)).close()
    before = list_segments(disk)
    install_segment(disk, 1)

    assert before == []
    assert list_segments(disk) == [1]
    assert len(list(scan_segment(disk.open(segment_path(1)), expected=1))) == 2


@pytest.mark.parametrize("room_bytes", [0, 1, 127, 128, 150])
def test_segment_that_does_not_fit_leaves_nothing(tmp_path: Path, room_bytes: int) -> None:
    disk = FaultyDisk(tmp_path / "store")
    disk.make_directory("log")
    disk.faults.room_bytes = room_bytes

    with pytest.raises(DiskFull):
        prepare_segment(disk, HEADER, frames(1, 1))

    assert disk.list("log") == []


def test_segment_whose_sync_fails_leaves_nothing(tmp_path: Path) -> None:
    disk = FaultyDisk(tmp_path / "store")
    disk.make_directory("log")
    disk.faults.counted, disk.faults.fail_at = frozenset({"sync"}), 1

    with pytest.raises(StorageError, match="as told"):
        prepare_segment(disk, HEADER)

    assert disk.list("log") == []


# --- walking frames ------------------------------------------------------------------------------


def segment(*pieces: bytes) -> MemoryFile:
    return MemoryFile(encode_segment_header(HEADER) + b"".join(pieces))


def test_walk_gives_offsets_that_lead_to_the_payloads() -> None:
    file = segment(*frames(1, 3))

    for frame in scan_segment(file, expected=1):
        size = frame.header.payload_bytes
        assert (
            file.read(frame.payload_offset, size)
            == frame.payload
            == b"payload %d" % (frame.header.first)
        )


def test_walk_without_content_reads_no_payload() -> None:
    file = segment(encode_frame(1, 1, b"c", bytes(1 << 20), synced_through=0, epoch=1))

    (frame,) = scan_segment(file, expected=1, content=False)

    assert frame.payload is None
    assert frame.payload_ok is None
    assert file.read_bytes < 1 << 18


def test_frame_cut_anywhere_is_torn_and_those_before_it_are_whole() -> None:
    *whole, last = frames(1, 3)
    for cut in range(1, len(last)):
        scan = scan_segment(segment(*whole, last[:cut]), expected=1)

        assert [frame.header.first for frame in scan] == [1, 2]
        assert scan.stopped is Stop.TORN
        assert scan.offset == SEGMENT_HEADER_BYTES + sum(map(len, whole))
        assert (scan.stopped_header is not None) == (cut >= 32)


def test_frame_whose_end_is_zeros_stops_the_walk_or_loses_its_payload() -> None:
    """Sectors that were never written read as zeros once the file is longer."""
    *whole, last = frames(1, 3)
    for keep in range(len(last)):
        scan = scan_segment(segment(*whole, last[:keep] + bytes(len(last) - keep)), expected=1)
        found = list(scan)

        if len(found) == 3:
            assert not found[2].payload_ok
            assert found[2].chained == b"chained 3"
        else:
            assert [frame.header.first for frame in found] == [1, 2]
            assert scan.stopped in (Stop.ZEROS, Stop.HEADER, Stop.CHAINED)


def test_damaged_payload_does_not_stop_the_walk() -> None:
    file = segment(*frames(1, 2))
    (first, _) = list(scan_segment(file, expected=1))
    file.data[first.payload_offset] ^= 1

    damaged, intact = list(scan_segment(file, expected=1))

    assert (damaged.payload_ok, intact.payload_ok) == (False, True)


def test_damaged_chained_part_stops_the_walk_with_its_header() -> None:
    file = segment(*frames(1, 2))
    file.data[SEGMENT_HEADER_BYTES + 32] ^= 1
    scan = scan_segment(file, expected=1)

    assert list(scan) == []
    assert scan.stopped is Stop.CHAINED
    assert scan.stopped_header is not None
    assert scan.stopped_header.first == 1


def test_walk_refuses_positions_out_of_order() -> None:
    scan = scan_segment(segment(*frames(1, 1), *frames(3, 1)), expected=1)

    assert [frame.header.first for frame in scan] == [1]
    assert scan.stopped is Stop.POSITION


def test_walk_goes_on_where_more_was_written() -> None:
    one, two = frames(1, 2)
    file = segment(one, two[:20])
    scan = scan_segment(file, expected=1)
    before = [frame.header.first for frame in scan]
    file.data += two[20:]

    assert before == [1]
    assert [frame.header.first for frame in scan] == [2]
    assert scan.stopped is Stop.END


def test_walk_sees_what_was_written_in_place_of_what_stopped_it() -> None:
    """A failed write was taken back and another frame took its place."""
    one, two = frames(1, 2)
    file = segment(one, b"junk" * 100)
    scan = scan_segment(file, expected=1)
    before = [frame.header.first for frame in scan]
    file.truncate(scan.offset)
    file.write(scan.offset, two)

    assert before == [1]
    assert [frame.header.first for frame in scan] == [2]


def test_watermarks_take_no_position() -> None:
    one, two = frames(1, 2)
    scan = scan_segment(segment(one, encode_watermark(1, b"times", 1), two), expected=1)

    assert [(frame.header.first, frame.header.count) for frame in scan] == [(1, 1), (2, 0), (2, 1)]


def test_length_beyond_the_file_allocates_nothing() -> None:
    """The header is intact and names 100 MiB that aren't there."""
    huge = encode_frame(1, 1, b"c", bytes(100 << 20), synced_through=0, epoch=1)[:200]
    file = segment(huge)
    scan = scan_segment(file, expected=1)

    assert list(scan) == []
    assert scan.stopped is Stop.TORN
    assert file.read_bytes < 4096


def test_headers_are_found_whatever_lies_between() -> None:
    pieces = frames(1, 40)
    junk = b"\xfd\xff\xfd" * 40_000
    file = segment(pieces[0][10:], junk, *pieces[1:39], junk, pieces[39])

    found = list(find_headers(file))

    assert [header.first for _, header in found] == list(range(2, 41))
    assert all(file.read(offset, 2) == b"\xfd\xff" for offset, _ in found)


def test_header_search_ends_where_it_is_told() -> None:
    file = segment(*frames(1, 3))
    offsets = [offset for offset, _ in find_headers(file)]

    assert [offset for offset, _ in find_headers(file, offsets[0] + 1, offsets[2])] == [offsets[1]]


@pytest.mark.parametrize("shift", [65_536 - 31, 65_536 - 1, 65_536, 65_536 + 1])
def test_header_across_a_block_is_found_once(shift: int) -> None:
    file = segment(bytes(shift - SEGMENT_HEADER_BYTES), *frames(7, 1))

    assert [(offset, h.first) for offset, h in find_headers(file, 0)] == [(shift, 7)]
