import gzip
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log.memory_file import MemoryFile

from turnfold.events.log.chain import genesis
from turnfold.events.log.frame import (
    CHAINED_BYTES_MAX,
    EVENTS_MAX,
    FRAME_OVERHEAD_BYTES,
    HEADER_BYTES,
    MAGIC,
    POSITION_MAX,
    decode_header,
    encode_frame,
    encode_watermark,
)
from turnfold.events.log.scan import Stop, scan_segment
from turnfold.events.log.segment import SegmentHeader, encode_segment_header, read_segment_header

GOLDEN = Path(__file__).parent.parent / "golden" / "segment-v1.log.gz"
SIZES = (0, 1, 4_095, 4_096, 4_097, 65_535, 65_536, 65_537, 65_538)


def pattern(size: int) -> bytes:
    """Bytes that never repeat in a row, every value among them."""
    return bytes((index * 31 + (index >> 8)) & 0xFF for index in range(size))


def golden_segment() -> bytes:
    """What the golden file holds: a frame for each size of payload, then a watermark."""
    store_id = bytes(range(16))
    header = SegmentHeader(1, 7, store_id, genesis(store_id), b"keycheck")
    pieces = [encode_segment_header(header)]
    for first, size in enumerate(SIZES, 1):
        chained = b"\x83chained part %d" % first
        pieces.append(
            encode_frame(first, 1, chained, pattern(size), synced_through=first - 1, epoch=7)
        )
    pieces.append(encode_watermark(len(SIZES), b"\x83\x01\x02\x80", 7))
    return b"".join(pieces)


def frame() -> bytes:
    return encode_frame(41, 2, b"chained", b"payload", synced_through=38, epoch=3)


def test_golden_segment_is_still_written_byte_for_byte() -> None:
    assert gzip.decompress(GOLDEN.read_bytes()) == golden_segment()


def test_golden_segment_is_still_read() -> None:
    file = MemoryFile(gzip.decompress(GOLDEN.read_bytes()))

    scan = scan_segment(file, expected=1)
    frames = list(scan)

    assert read_segment_header(file, 1).epoch == 7
    assert [f.payload for f in frames] == [*map(pattern, SIZES), b""]
    assert all(f.payload_ok for f in frames)
    assert [f.header.count for f in frames] == [1] * len(SIZES) + [0]
    assert scan.stopped is Stop.END


@given(
    place=st.tuples(st.integers(1, POSITION_MAX - EVENTS_MAX), st.integers(1, EVENTS_MAX)),
    lag=st.integers(1, 2**32 - 1),
    epoch=st.integers(0, 2**32 - 1),
    chained=st.binary(min_size=1, max_size=300),
    payload=st.binary(max_size=300),
)
def test_header_round_trips(
    place: tuple[int, int], lag: int, epoch: int, chained: bytes, payload: bytes
) -> None:
    first, count = place
    synced = max(0, first - lag)

    data = encode_frame(first, count, chained, payload, synced_through=synced, epoch=epoch)
    header = decode_header(data)

    assert header is not None
    assert (header.first, header.count, header.epoch) == (first, count, epoch)
    assert (header.chained_bytes, header.payload_bytes) == (len(chained), len(payload))
    assert header.synced_through == synced
    assert header.last == first + count - 1
    assert header.frame_bytes == len(data) == FRAME_OVERHEAD_BYTES + len(chained) + len(payload)


def test_header_with_a_flipped_bit_is_none() -> None:
    accepted: list[int] = []
    for bit in range(HEADER_BYTES * 8):
        data = bytearray(frame())
        data[bit // 8] ^= 1 << bit % 8
        if decode_header(bytes(data)) is not None:
            accepted.append(bit)

    assert accepted == []


def test_header_cut_short_is_none() -> None:
    assert [n for n in range(HEADER_BYTES + 1) if decode_header(frame()[:n])] == [HEADER_BYTES]


def test_watermark_names_the_next_position_and_claims_all_before() -> None:
    header = decode_header(encode_watermark(9, b"times", 2))

    assert header is not None
    assert (header.first, header.count, header.last, header.synced_through) == (10, 0, 9, 9)


@pytest.mark.parametrize(
    ("first", "count", "chained_bytes"),
    [
        (0, 1, 1),
        (POSITION_MAX, 1, 1),
        (1, 0, 1),
        (1, EVENTS_MAX + 1, 1),
        (1, 1, 0),
        (1, 1, CHAINED_BYTES_MAX + 1),
    ],
)
def test_frame_out_of_bounds_is_refused(first: int, count: int, chained_bytes: int) -> None:
    with pytest.raises(ValueError, match=r"position|events|chained"):
        encode_frame(first, count, bytes(chained_bytes), b"", synced_through=0, epoch=1)


@given(st.text())
def test_no_text_holds_the_magic(text: str) -> None:
    assert MAGIC not in text.encode("utf-8", "replace")


def test_header_of_every_frame_has_a_byte_that_no_stored_text_has() -> None:
    """The chained length's top byte is zero, and NUL is dropped from every text."""
    data = encode_frame(1, 1, bytes(CHAINED_BYTES_MAX), b"", synced_through=0, epoch=1)

    assert data[5] == 0


def test_frames_differ_by_every_field() -> None:
    """No field is left out of the bytes."""
    variants = [
        encode_frame(5, 1, b"c", b"p", synced_through=3, epoch=1),
        encode_frame(6, 1, b"c", b"p", synced_through=4, epoch=1),
        encode_frame(5, 2, b"c", b"p", synced_through=3, epoch=1),
        encode_frame(5, 1, b"d", b"p", synced_through=3, epoch=1),
        encode_frame(5, 1, b"c", b"q", synced_through=3, epoch=1),
        encode_frame(5, 1, b"c", b"p", synced_through=4, epoch=1),
        encode_frame(5, 1, b"c", b"p", synced_through=3, epoch=2),
    ]

    assert len({blake2b(data).digest() for data in variants}) == len(variants)
