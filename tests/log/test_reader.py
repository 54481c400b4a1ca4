import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log.log_rig import GENESIS, NOW, LogRig, append, batch, frames_seen, outline, parts

from turnfold.events.errors import NotWritten, UnsupportedFormat
from turnfold.events.event import Gap
from turnfold.events.log.backend import ReadFrame
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.file_log import FileLog
from turnfold.events.log.frame import encode_frame
from turnfold.events.log.reader import LogReader
from turnfold.events.log.scan import scan_segment
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES, SegmentHeader, encode_segment_header
from turnfold.events.reasons import Reason

LOST = Reason.DAMAGE_UNDECLARED
TRIMMED = Reason.TRIMMED_STORAGE_LIMIT


@pytest.fixture
def rig(tmp_path: Path) -> LogRig:
    return LogRig(tmp_path / "store")


def segments(rig: LogRig, *sizes: int) -> FileLog:
    """A log with segments of so many frames, the last of which is marked as durable."""
    log = rig.open()
    for index, frames in enumerate(sizes):
        if index:
            log.rotate()
        append(log, frames)
    log.watermark(NOW)
    return log


def damage(rig: LogRig, position: int, *, base: int = 1, at: int = 10) -> None:
    """Flip a bit `at` bytes into the frame at `position`; by default in its header."""
    path = rig.file(base)
    data = bytearray(path.read_bytes())
    frames = scan_segment(rig.disk.open(f"log/{path.name}"), expected=base)
    offset = next(f.offset for f in frames if f.header.count and f.header.first == position)
    data[offset + at] ^= 1
    path.write_bytes(data)


# --- durable, or pending -------------------------------------------------------------------------


def test_unsynced_frames_are_pending_until_something_says_they_are_durable(rig: LogRig) -> None:
    log = rig.open()
    reader = rig.reader()
    log.append(batch(1, 3), expected=0)
    pending = outline(reader.read())
    log.sync()
    synced = outline(reader.read())
    log.append(batch(4, 1), expected=3)

    assert (pending, synced) == ([], [])
    assert outline(reader.read()) == frames_seen(1, 3)
    log.watermark(NOW)
    assert outline(reader.read()) == frames_seen(4, 4)
    assert outline(reader.read()) == []


def test_the_log_itself_knows_what_is_durable(rig: LogRig) -> None:
    log = rig.open()
    append(log, 3)
    log.append(batch(4, 1), expected=3)

    assert outline(log.read(0)) == frames_seen(1, 3)


def test_rotation_is_evidence(rig: LogRig) -> None:
    log = rig.open()
    append(log, 3)
    log.rotate()

    assert rig.seen() == frames_seen(1, 3)


@pytest.mark.parametrize("evidence", ["watermark", "rotation"])
def test_frames_that_were_taken_back_are_never_read(rig: LogRig, evidence: str) -> None:
    """A reader finds them in the file before the failed write is undone."""
    log = rig.open()
    append(log)
    reader = rig.reader()
    seen: list[tuple[int, int]] = []

    def look() -> None:
        for item in reader.read():
            assert isinstance(item, ReadFrame)
            assert item.payload is not None
            seen.append((item.first, len(item.payload)))

    rig.faults.counted, rig.faults.fail_at = frozenset({"write"}), 1
    rig.faults.calls.clear()
    rig.faults.keep_bytes = 10_000
    rig.faults.before_truncate = look
    with pytest.raises(NotWritten):
        log.append(batch(2, 3, payload_bytes=30), expected=1)
    before = list(seen)
    rig.faults.fail_at = None
    log.append(batch(2, 1, payload_bytes=50), expected=1)
    if evidence == "rotation":
        log.rotate()
    else:
        log.watermark(NOW)
    look()

    assert before == [(1, 40)]
    assert seen == [(1, 40), (2, 50)]


# --- where reading begins and ends ---------------------------------------------------------------


@pytest.mark.parametrize("after", range(9))
def test_reading_begins_behind_any_position(rig: LogRig, after: int) -> None:
    segments(rig, 3, 1, 3)

    assert rig.seen(after) == frames_seen(after + 1, 7)


def test_reading_ends_at_through(rig: LogRig) -> None:
    log = segments(rig, 3, 3)

    assert outline(log.read(1, through=4)) == frames_seen(2, 4)


def test_frames_come_whole(rig: LogRig) -> None:
    log = rig.open()
    log.append([parts(1, 3), parts(4, 3), parts(7, 3)], expected=0)
    log.sync()

    assert outline(log.read(4, through=5)) == [(4, 6)]


def test_without_content_there_are_no_payloads(rig: LogRig) -> None:
    segments(rig, 2)

    frames = list(rig.reader(content=False).read())

    assert [(f.first, f.payload) for f in frames if isinstance(f, ReadFrame)] == [
        (1, None),
        (2, None),
    ]


def test_nothing_is_read_where_nothing_is(rig: LogRig) -> None:
    without_log = rig.seen()
    rig.open()

    assert without_log == rig.seen() == []


# --- beside a writer -----------------------------------------------------------------------------


def test_reader_follows_rotations(rig: LogRig) -> None:
    log = rig.open(segment_bytes=600)
    reader = rig.reader()
    seen: list[tuple[int, int] | Gap] = []
    for _ in range(20):
        append(log, 2)
        seen += outline(reader.read())
    log.watermark(NOW)
    seen += outline(reader.read())

    assert seen == frames_seen(1, 40)


def test_reader_gets_what_was_appended_between_its_last_look_and_a_rotation(rig: LogRig) -> None:
    log = rig.open()
    append(log, 2)
    log.watermark(NOW)
    reader = rig.reader()
    before = outline(reader.read())
    append(log, 2)
    log.rotate()
    append(log, 1)
    log.watermark(NOW)

    assert before + outline(reader.read()) == frames_seen(1, 5)


def test_reader_goes_on_when_its_segment_is_replaced(rig: LogRig) -> None:
    log = rig.open()
    log.append(batch(1, 2), expected=0)
    log.close()
    reader = rig.reader()
    before = outline(reader.read())
    p = parts(1)
    carried = encode_frame(1, 1, p.chained, p.payload, synced_through=0, epoch=1)
    again = rig.open(epoch=2, carried=(carried,), replace_tail=True)
    append(again, 2)
    again.watermark(NOW)

    assert before == []
    assert outline(reader.read()) == frames_seen(1, 3)


def test_frames_written_again_in_a_newer_segment_are_read_once(rig: LogRig) -> None:
    """An opening died between writing the tail again and cutting the old one."""
    log = rig.open()
    append(log, 2)
    log.append(batch(3, 2), expected=2)
    log.close()
    carried = tuple(
        encode_frame(n, 1, parts(n).chained, parts(n).payload, synced_through=2, epoch=1)
        for n in (3, 4)
    )
    again = rig.open(2, GENESIS, epoch=2, carried=carried)  # a reader doesn't check the chain
    append(again)

    assert outline(again.read(0)) == frames_seen(1, 5)


def test_trimming_while_reading_is_a_gap(rig: LogRig) -> None:
    segments(rig, 3, 3, 3, 3)
    items = rig.reader().read()
    first = next(items)
    for base in (1, 4, 7):
        rig.file(base).unlink()

    assert isinstance(first, ReadFrame)
    assert outline(items) == [*frames_seen(2, 3), Gap(4, 9, TRIMMED), *frames_seen(10, 12)]


def test_trimmed_start_is_a_gap(rig: LogRig) -> None:
    segments(rig, 3, 3)
    rig.file(1).unlink()

    assert rig.seen() == [Gap(1, 3, TRIMMED), *frames_seen(4, 6)]
    assert rig.seen(2) == [Gap(3, 3, TRIMMED), *frames_seen(4, 6)]
    assert rig.seen(3) == frames_seen(4, 6)


# --- erasure -------------------------------------------------------------------------------------


def zero(rig: LogRig, position: int, size: int | None = None) -> None:
    """Erase the payload of a frame in the first segment, or its first bytes."""
    with rig.file().open("r+b") as file:
        for frame in scan_segment(rig.disk.open(f"log/{1:020}.log"), expected=1):
            if frame.header.first == position:
                file.seek(frame.payload_offset)
                file.write(bytes(frame.header.payload_bytes if size is None else size))


def test_erased_payload_is_zeros_and_the_rest_stays(rig: LogRig) -> None:
    segments(rig, 3)
    zero(rig, 2)

    frames = [f for f in rig.reader().read() if isinstance(f, ReadFrame)]

    assert [f.first for f in frames] == [1, 2, 3]
    assert frames[1].payload == bytes(40)
    assert [f.payload_intact for f in frames] == [True, False, True]


def test_payload_erased_in_part_is_given_for_its_commitments_to_decide(rig: LogRig) -> None:
    segments(rig, 2)
    zero(rig, 1, 7)

    frame = next(rig.reader().read())

    assert isinstance(frame, ReadFrame)
    assert not frame.payload_intact
    assert frame.payload == bytes(7) + parts(1).payload[7:]


def test_erasure_that_ends_after_the_block_was_read_is_seen_whole(rig: LogRig) -> None:
    segments(rig, 3)
    zero(rig, 2, 7)
    items = rig.reader().read()
    next(items)  # the block in memory now holds frame 2 half erased
    zero(rig, 2)

    frame = next(items)

    assert isinstance(frame, ReadFrame)
    assert frame.payload == bytes(40)


# --- gaps and damage -----------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 10, 31, 34], ids=["magic", "length", "checksum", "chained"])
def test_damaged_frame_is_a_gap_and_reading_goes_on(rig: LogRig, at: int) -> None:
    segments(rig, 4)
    damage(rig, 2, at=at)

    assert rig.seen() == [(1, 1), Gap(2, 2, LOST), (3, 3), (4, 4)]
    assert rig.seen(1) == [Gap(2, 2, LOST), (3, 3), (4, 4)]
    assert rig.seen(2) == frames_seen(3, 4)


def test_damage_at_a_segments_end_is_a_gap_up_to_the_next(rig: LogRig) -> None:
    segments(rig, 3, 2)
    damage(rig, 3)

    assert rig.seen() == [*frames_seen(1, 2), Gap(3, 3, LOST), *frames_seen(4, 5)]


def test_damage_in_the_newest_segment_is_a_gap_only_if_it_was_durable(rig: LogRig) -> None:
    log = rig.open()
    append(log, 2)
    log.append(batch(3, 2), expected=2)
    damage(rig, 3)

    assert rig.seen() == frames_seen(1, 2)
    log.watermark(NOW)
    assert rig.seen() == [*frames_seen(1, 2), Gap(3, 3, LOST), (4, 4)]


def test_durable_frames_that_vanished_are_a_gap_for_the_log_itself(rig: LogRig) -> None:
    log = rig.open()
    append(log, 3)
    damage(rig, 3)
    reader = LogReader(rig.disk, durable=lambda: 3)

    assert outline(reader.read()) == [*frames_seen(1, 2), Gap(3, 3, LOST)]
    append(log)
    log.watermark(NOW)
    assert outline(reader.read()) == [(4, 4)]


def test_declared_gap_is_told_with_its_reason(rig: LogRig) -> None:
    log = segments(rig, 2)
    gap = Gap(3, 9, Reason.OPENED_DAMAGED)
    again = rig.open(9, log.head, epoch=2, gap=gap)
    append(again)
    again.watermark(NOW)

    assert rig.seen() == [*frames_seen(1, 2), gap, (10, 10)]
    assert rig.seen(5) == [Gap(6, 9, Reason.OPENED_DAMAGED), (10, 10)]


def test_loss_before_a_declared_gap_is_told_apart(rig: LogRig) -> None:
    log = segments(rig, 3)
    again = rig.open(9, log.head, epoch=2, gap=Gap(4, 9, Reason.OPENED_DAMAGED))
    append(again)
    again.watermark(NOW)
    damage(rig, 3)

    assert rig.seen() == [
        *frames_seen(1, 2),
        Gap(3, 3, LOST),
        Gap(4, 9, Reason.OPENED_DAMAGED),
        (10, 10),
    ]


def test_missing_segment_in_the_middle_is_undeclared(rig: LogRig) -> None:
    segments(rig, 2, 2, 2)
    rig.file(3).unlink()

    assert rig.seen() == [*frames_seen(1, 2), Gap(3, 4, LOST), *frames_seen(5, 6)]


def test_segment_cut_at_a_frame_boundary_is_a_gap_not_a_skip(rig: LogRig) -> None:
    segments(rig, 3, 2)
    last = [f.offset for f in scan_segment(rig.disk.open(f"log/{1:020}.log"), expected=1)][-1]
    with rig.file().open("r+b") as file:
        file.truncate(last)

    assert rig.seen() == [*frames_seen(1, 2), Gap(3, 3, LOST), *frames_seen(4, 5)]


@pytest.mark.parametrize("at", [0, 40, 126], ids=["magic", "head", "checksum"])
def test_segment_with_a_damaged_header_is_a_gap(rig: LogRig, at: int) -> None:
    segments(rig, 2, 2, 2)
    data = bytearray(rig.file(3).read_bytes())
    data[at] ^= 1
    rig.file(3).write_bytes(data)

    assert rig.seen() == [*frames_seen(1, 2), Gap(3, 4, LOST), *frames_seen(5, 6)]


def test_segment_of_another_store_is_not_read(rig: LogRig, tmp_path: Path) -> None:
    segments(rig, 2, 2, 2)
    data = rig.file(3).read_bytes()
    foreign = SegmentHeader(3, 1, b"X" * 16, bytes(32), b"k" * 8)
    rig.file(3).write_bytes(encode_segment_header(foreign) + data[SEGMENT_HEADER_BYTES:])

    assert rig.seen() == [*frames_seen(1, 2), Gap(3, 4, LOST), *frames_seen(5, 6)]


def test_newer_format_is_refused(rig: LogRig) -> None:
    segments(rig, 2)
    data = bytearray(rig.file().read_bytes())
    data[8] = 2
    data[124:128] = crc32c(bytes(data[:124])).to_bytes(4, "little")
    rig.file().write_bytes(data)

    with pytest.raises(UnsupportedFormat):
        rig.seen()


@pytest.fixture(scope="module")
def three_segments(tmp_path_factory: pytest.TempPathFactory) -> tuple[LogRig, dict[Path, bytes]]:
    """A log of twelve frames, and what its files hold."""
    rig = LogRig(tmp_path_factory.mktemp("store"))
    segments(rig, 5, 4, 3)
    return rig, {rig.file(base): rig.file(base).read_bytes() for base in (1, 6, 10)}


@given(seed=st.integers(0, 2**32), flips=st.integers(1, 4))
def test_any_damage_gives_true_frames_and_gaps_without_a_seam(
    three_segments: tuple[LogRig, dict[Path, bytes]], seed: int, flips: int
) -> None:
    """Whatever bytes change: no frame that wasn't appended, and contiguous positions."""
    rig, intact = three_segments
    chance = random.Random(seed)
    changed = {path: bytearray(data) for path, data in intact.items()}
    for _ in range(flips):
        data = changed[chance.choice(list(changed))]
        start = chance.randrange(len(data))
        size = chance.choice([1, 1, 8, 64, 200])
        data[start : start + size] = chance.randbytes(len(data[start : start + size]))
    for path, data in changed.items():
        path.write_bytes(data)

    position = 0
    for item in rig.reader(content=False).read():
        assert item.first == position + 1
        if isinstance(item, ReadFrame):
            assert item.chained == parts(item.first).chained
        position = item.last

    assert position >= 9
