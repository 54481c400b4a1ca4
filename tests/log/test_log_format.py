"""docs/reference/log-format.md: its tables and its example are what the code reads and writes."""

import re
from pathlib import Path

import pytest
from log.memory_file import MemoryFile

from turnfold.events.codec import decode_events, encode_events, encode_times
from turnfold.events.event import TurnAdded
from turnfold.events.keys import key_check
from turnfold.events.log.chain import advance, genesis
from turnfold.events.log.frame import HEADER_BYTES, encode_frame, encode_watermark
from turnfold.events.log.scan import Stop, scan_segment
from turnfold.events.log.segment import (
    SEGMENT_HEADER_BYTES,
    SegmentHeader,
    encode_segment_header,
    parse_segment_header,
)
from turnfold.events.reasons import Reason
from turnfold.events.sealed import commit, seal

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "log-format.md"
STORE_ID = bytes(range(16))
SEALED = seal(bytes(range(16)), b"hi")
TURN = TurnAdded(
    position=1,
    at=1_700_000_000_000_000_000,
    age=5,
    reason=Reason.ADDED_AVATAR,
    session=1,
    text_bytes=2,
    extras_bytes=0,
    commitment=commit(SEALED),
    sealed=SEALED,
)


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def example(page: str) -> bytes:
    """The bytes of the worked example; each line must continue the one before."""
    data = b""
    for offset, digits in re.findall(r"^([0-9a-f]{4})  ((?:[0-9a-f]{2} ?)+)", page, re.MULTILINE):
        assert int(offset, 16) == len(data)
        data += bytes.fromhex(digits)
    return data


def test_example_is_what_is_written(page: str) -> None:
    chained, payload = encode_events([TURN])
    header = SegmentHeader(1, 1, STORE_ID, genesis(STORE_ID), key_check(bytes(32)))
    times = encode_times(1_700_000_000_050_000_000, 50_000_005)

    assert example(page) == b"".join(
        [
            encode_segment_header(header),
            encode_frame(1, 1, chained, payload, synced_through=0, epoch=1),
            encode_watermark(1, times, 1),
        ]
    )
    assert advance(header.head, 1, 1, chained).hex() in page


def test_example_is_read_back(page: str) -> None:
    data = example(page)
    scan = scan_segment(MemoryFile(data), expected=1)

    turn, watermark = scan

    assert parse_segment_header(data, 1).store_id == STORE_ID
    assert decode_events(turn.chained, turn.header.first, turn.payload) == (TURN,)
    assert (watermark.header.count, watermark.header.synced_through) == (0, 1)
    assert scan.stopped is Stop.END


@pytest.mark.parametrize(
    ("section", "size"),
    [("Segment header", SEGMENT_HEADER_BYTES), ("Frame header", HEADER_BYTES)],
)
def test_field_tables_leave_no_byte_out(page: str, section: str, size: int) -> None:
    _, _, below = page.partition(f"## {section}")
    table, _, _ = below.partition("\n## ")

    offset = 0
    for row in re.findall(r"^\| (\d+) \| (\d+) \|", table, re.MULTILINE):
        assert int(row[0]) == offset
        offset += int(row[1])

    assert offset == size
