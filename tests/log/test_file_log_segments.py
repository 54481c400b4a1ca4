from pathlib import Path

import pytest
from log.log_rig import (
    NOW,
    SECRET,
    STORE_ID,
    LogRig,
    append,
    batch,
    frames_seen,
    outline,
    parts,
    raw,
)

from turnfold.events.errors import CorruptData, NotWritten, OutcomeUnknown, StorageError
from turnfold.events.event import Gap
from turnfold.events.keys import key_check
from turnfold.events.limits import GIB, MIB
from turnfold.events.log.chain import advance, skip
from turnfold.events.log.file_log import SEGMENT_BYTES, FileLog, segment_bytes_for
from turnfold.events.log.scan import scan_segment
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES, list_segments, read_segment_header
from turnfold.events.reasons import Reason

FULL = 1 << 20  # bytes that a test's appends never need


@pytest.fixture
def rig(tmp_path: Path) -> LogRig:
    return LogRig(tmp_path / "store")


@pytest.fixture
def log(rig: LogRig) -> FileLog:
    return rig.open()


# --- segments ------------------------------------------------------------------------------------


def test_segment_size_is_an_eighth_of_a_small_log() -> None:
    assert segment_bytes_for(GIB) == SEGMENT_BYTES == 64 * MIB
    assert segment_bytes_for(MIB) == MIB // 8


def test_segments_rotate_before_they_pass_their_size(rig: LogRig) -> None:
    log = rig.open(segment_bytes=1000)

    for _ in range(30):
        append(log)

    bases = list_segments(rig.disk)
    assert len(bases) > 3
    assert all(rig.file(base).stat().st_size <= 1000 for base in bases)
    assert outline(log.read(0)) == frames_seen(1, 30)


def test_frame_larger_than_a_segment_gets_one_of_its_own(rig: LogRig) -> None:
    log = rig.open(segment_bytes=1000)
    append(log)

    log.append([parts(2, payload_bytes=5000)], expected=1)
    append(log)

    assert list_segments(rig.disk) == [1, 2, 3]
    assert outline(log.read(0)) == frames_seen(1, 3)


def test_rotation_comes_after_a_sync_and_is_durable_before_a_frame_goes_in(
    rig: LogRig, log: FileLog
) -> None:
    log.append(batch(1, 1), expected=0)
    rig.faults.calls.clear()

    assert log.rotate()

    assert rig.faults.calls == ["sync", "create", "write", "sync", "rename", "sync_directory"]
    header = read_segment_header(rig.disk.open(f"log/{2:020}.log"), 2)
    assert header.previous_head == log.head
    assert header.key_check == key_check(SECRET)
    assert header.store_id == STORE_ID


def test_empty_segment_is_not_rotated(log: FileLog) -> None:
    assert not log.rotate()


def test_without_room_for_a_segment_the_old_one_goes_on(rig: LogRig) -> None:
    log = rig.open(segment_bytes=SEGMENT_HEADER_BYTES + 150)
    append(log)
    rig.faults.room_bytes = 100

    with pytest.raises(NotWritten):
        append(log, 2)
    append(log, bookkeeping=True)
    rig.faults.room_bytes = FULL
    append(log)

    assert list_segments(rig.disk) == [1, 3]
    assert outline(log.read(0)) == frames_seen(1, 3)


@pytest.mark.parametrize("call", ["rename", "sync_directory"])
def test_rotation_that_fails_for_another_reason_poisons(rig: LogRig, call: str) -> None:
    log = rig.open()
    append(log)
    rig.faults.counted, rig.faults.fail_at = frozenset({call}), 1
    rig.faults.calls.clear()

    with pytest.raises(OutcomeUnknown, match="new segment"):
        log.rotate()

    assert outline(log.read(0)) == frames_seen(1, 1)


# --- opening -------------------------------------------------------------------------------------


def test_each_opening_starts_a_segment(rig: LogRig, log: FileLog) -> None:
    append(log, 2)
    log.close()

    again = rig.open(2, log.head, epoch=2)
    append(again)

    assert list_segments(rig.disk) == [1, 3]
    assert outline(again.read(0)) == frames_seen(1, 3)


def test_empty_segment_is_replaced_by_the_next_opening(rig: LogRig, log: FileLog) -> None:
    log.watermark(NOW)
    log.close()

    again = rig.open(epoch=2)
    append(again)

    assert list_segments(rig.disk) == [1]
    assert read_segment_header(rig.disk.open(f"log/{1:020}.log"), 1).epoch == 2
    assert outline(again.read(0)) == frames_seen(1, 1)


def test_segment_with_events_is_not_replaced(rig: LogRig, log: FileLog) -> None:
    append(log)
    log.close()
    before = rig.file().read_bytes()

    with pytest.raises(CorruptData, match="holds events"):
        rig.open(epoch=2)

    assert rig.file().read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"TURN", bytes(128)], ids=["empty", "short", "zeros"])
def test_segment_file_without_a_header_is_replaced(rig: LogRig, content: bytes) -> None:
    (rig.root / "log").mkdir(parents=True)
    rig.file().write_bytes(content)

    log = rig.open()
    append(log)

    assert outline(log.read(0)) == frames_seen(1, 1)


def test_leftover_of_an_opening_that_died_is_removed(rig: LogRig, log: FileLog) -> None:
    append(log)
    log.close()
    leftover = rig.root / "log" / f"{7:020}.log.tmp"
    leftover.write_bytes(b"half a segment")

    append(rig.open(1, log.head, epoch=2))

    assert not leftover.exists()
    assert rig.seen() == frames_seen(1, 1)


def test_carried_frames_keep_their_epoch_and_come_before_new_ones(
    rig: LogRig, log: FileLog
) -> None:
    """Frames 3 and 4 were never known to be durable: recovery writes them again, then goes on."""
    append(log, 2)
    log.close()
    carried = (raw(3, 2), raw(4, 2))

    again = rig.open(2, log.head, epoch=2, carried=carried)
    head = advance(log.head, 3, 1, parts(3).chained)
    head = advance(head, 4, 1, parts(4).chained)

    assert (again.position, again.durable, again.head) == (4, 4, head)
    append(again)
    epochs = [
        frame.header.epoch for frame in scan_segment(rig.disk.open(f"log/{3:020}.log"), expected=3)
    ]
    assert epochs == [1, 1, 2]
    assert outline(again.read(0)) == frames_seen(1, 5)


def test_tail_is_replaced_by_what_is_carried_over_in_one_step(rig: LogRig, log: FileLog) -> None:
    log.append(batch(1, 3), expected=0)
    log.close()

    again = rig.open(epoch=2, carried=(raw(1, 0), raw(2, 0)), replace_tail=True)
    append(again)

    assert list_segments(rig.disk) == [1]
    assert outline(again.read(0)) == frames_seen(1, 3)


@pytest.mark.parametrize("carried", [(raw(3, 2)[:-1],), (raw(4, 2),), (raw(3, 2), b"\xfd")])
def test_carried_bytes_that_are_no_whole_frames_are_refused(
    rig: LogRig, log: FileLog, carried: tuple[bytes, ...]
) -> None:
    append(log, 2)
    log.close()

    with pytest.raises(CorruptData, match="aren't whole"):
        rig.open(2, log.head, epoch=2, carried=carried)

    assert list_segments(rig.disk) == [1]
    assert rig.disk.list("log") == [f"{1:020}.log"]


def test_declared_gap_is_in_the_header_and_in_the_chain(rig: LogRig, log: FileLog) -> None:
    append(log, 2)
    log.close()
    gap = Gap(3, 9, Reason.OPENED_DAMAGED)

    again = rig.open(9, log.head, epoch=2, gap=gap)

    assert (again.position, again.head) == (9, skip(log.head, gap))
    append(again)
    assert outline(again.read(0)) == [*frames_seen(1, 2), gap, (10, 10)]


def test_gap_of_an_empty_segment_survives_its_replacement(rig: LogRig, log: FileLog) -> None:
    """The opening that declared the gap died before it could append anything."""
    append(log, 2)
    log.close()
    gap = Gap(3, 9, Reason.OPENED_DAMAGED)
    damaged = rig.open(9, log.head, epoch=2, gap=gap)
    damaged.close()

    again = rig.open(9, damaged.head, epoch=3)
    append(again)

    assert again.read(0) is not None
    assert outline(again.read(0)) == [*frames_seen(1, 2), gap, (10, 10)]
    assert read_segment_header(rig.disk.open(f"log/{10:020}.log"), 10).head == damaged.head


def test_replacement_of_a_gap_by_another_chain_is_refused(rig: LogRig, log: FileLog) -> None:
    append(log, 2)
    log.close()
    rig.open(9, log.head, epoch=2, gap=Gap(3, 9, Reason.OPENED_DAMAGED)).close()

    with pytest.raises(CorruptData, match="another chain"):
        rig.open(9, log.head, epoch=3)


def test_failing_any_one_call_while_opening_leaves_a_log_that_opens(tmp_path: Path) -> None:
    for n in range(1, 12):
        rig = LogRig(tmp_path / str(n))
        log = rig.open()
        append(log, 2)
        log.close()
        rig.faults.calls.clear()
        rig.faults.fail_at = n
        failed = False
        try:
            rig.open(2, log.head, epoch=2).close()
        except StorageError:
            failed = True
        rig.faults.fail_at = None

        again = rig.open(2, log.head, epoch=3)
        append(again)

        assert outline(again.read(0)) == frames_seen(1, 3)
        assert failed or n > 5
