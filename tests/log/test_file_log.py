from collections.abc import Callable
from pathlib import Path

import pytest
from log.log_rig import (
    GENESIS,
    NOW,
    LogRig,
    append,
    batch,
    frames_seen,
    outline,
    parts,
)

from turnfold.events.errors import DiskFull, NotWritten, OutcomeUnknown
from turnfold.events.log.backend import FrameParts
from turnfold.events.log.chain import advance
from turnfold.events.log.file_log import FileLog
from turnfold.events.log.reserve import RESERVE_BYTES
from turnfold.events.log.scan import scan_segment
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES

FULL = 1 << 20  # bytes that a test's appends never need


@pytest.fixture
def rig(tmp_path: Path) -> LogRig:
    return LogRig(tmp_path / "store")


@pytest.fixture
def log(rig: LogRig) -> FileLog:
    return rig.open()


# --- appending -----------------------------------------------------------------------------------


def test_head_follows_the_chained_parts(rig: LogRig, log: FileLog) -> None:
    append(log, 3)

    head = GENESIS
    for first in (1, 2, 3):
        head = advance(head, first, 1, parts(first).chained)
    assert log.head == head


def test_batch_is_one_write_and_one_sync(rig: LogRig, log: FileLog) -> None:
    rig.faults.calls.clear()

    append(log, 100)

    assert rig.faults.calls == ["write", "sync"]


def test_sync_with_nothing_to_sync_does_nothing(rig: LogRig, log: FileLog) -> None:
    append(log)
    rig.faults.calls.clear()

    log.sync()

    assert rig.faults.calls == []


def test_every_frame_says_what_was_durable_when_it_was_built(rig: LogRig, log: FileLog) -> None:
    append(log, 2)
    log.append(batch(3, 2), expected=2)
    log.append(batch(5, 1), expected=4)

    file = rig.disk.open(f"log/{1:020}.log")
    assert [f.header.synced_through for f in scan_segment(file)] == [0, 0, 2, 2, 2]


@pytest.mark.parametrize(
    "frames", [[], batch(2, 1), [parts(1), parts(3)], [parts(1, 2), parts(2)]], ids=len
)
def test_frames_that_do_not_follow_each_other_are_refused(
    rig: LogRig, frames: list[FrameParts]
) -> None:
    log = rig.open()

    with pytest.raises(ValueError, match=r"frame"):
        log.append(frames, expected=0)

    assert log.position == 0
    assert rig.file().stat().st_size == SEGMENT_HEADER_BYTES


def test_closed_log_refuses_and_gives_up_ownership(rig: LogRig, log: FileLog) -> None:
    log.append(batch(1, 2), expected=0)

    log.close()
    log.close()

    assert rig.owner.released
    assert log.durable == 2
    with pytest.raises(NotWritten, match="closed"):
        log.append(batch(3, 1), expected=2)


# --- failures: certainly not written -------------------------------------------------------------


def test_write_cut_short_at_any_byte_leaves_nothing_and_the_next_append_is_whole(
    rig: LogRig, log: FileLog
) -> None:
    append(log)
    size = rig.file().stat().st_size
    head = log.head
    rig.faults.counted = frozenset({"write"})
    for kept in range(2 * (32 + 4 + 4 + len(parts(1).chained) + 40)):
        rig.faults.calls.clear()
        rig.faults.fail_at, rig.faults.keep_bytes = 1, kept

        with pytest.raises(NotWritten, match="nothing was written"):
            log.append(batch(2, 2), expected=1)

        assert rig.file().stat().st_size == size
        assert (log.position, log.durable, log.head) == (1, 1, head)

    rig.faults.fail_at = None
    append(log, 2)
    log.watermark(NOW)
    assert rig.seen() == frames_seen(1, 3)


def test_full_disk_is_not_written_until_there_is_room(rig: LogRig, log: FileLog) -> None:
    append(log)
    for room in (0, 1, 31, 32, 100):
        rig.faults.room_bytes = room
        with pytest.raises(NotWritten, match="no space"):
            append(log)

    rig.faults.room_bytes = FULL
    append(log)

    assert outline(log.read(0)) == frames_seen(1, 2)


def test_what_was_taken_back_is_durably_gone_before_the_error(rig: LogRig, log: FileLog) -> None:
    rig.faults.room_bytes = 50
    rig.faults.calls.clear()

    with pytest.raises(NotWritten):
        log.append(batch(1, 1), expected=0)

    assert rig.faults.calls == ["write", "truncate", "sync"]


def test_frames_appended_before_a_failed_write_are_durable_after_it(
    rig: LogRig, log: FileLog
) -> None:
    log.append(batch(1, 1), expected=0)
    rig.faults.room_bytes = 0

    with pytest.raises(NotWritten):
        log.append(batch(2, 1), expected=1)

    assert (log.position, log.durable) == (1, 1)


# --- failures: unknown ---------------------------------------------------------------------------


def test_failed_sync_poisons_and_is_never_repeated(rig: LogRig, log: FileLog) -> None:
    append(log)
    log.append(batch(2, 1), expected=1)
    rig.faults.counted, rig.faults.fail_at = frozenset({"sync"}), 1
    rig.faults.calls.clear()

    with pytest.raises(OutcomeUnknown, match="reopen"):
        log.sync()

    assert log.durable == 1
    rig.faults.counted = frozenset({"write", "sync", "truncate"})
    actions: list[Callable[[], object]] = [
        log.sync,
        log.rotate,
        lambda: log.watermark(NOW),
        lambda: log.append(batch(3, 1), expected=2),
    ]
    for action in actions:
        with pytest.raises(OutcomeUnknown, match="sync failed"):
            action()
    log.close()
    assert rig.faults.calls == ["sync"]
    assert rig.owner.released
    assert outline(log.read(0)) == frames_seen(1, 1)


@pytest.mark.parametrize("call", ["truncate", "sync"])
def test_failed_taking_back_poisons(rig: LogRig, log: FileLog, call: str) -> None:
    append(log)
    rig.faults.room_bytes = 20
    rig.faults.counted, rig.faults.fail_at = frozenset({call}), 1
    rig.faults.calls.clear()

    with pytest.raises(OutcomeUnknown, match="taken back"):
        log.append(batch(2, 1), expected=1)

    with pytest.raises(OutcomeUnknown):
        log.append(batch(2, 1), expected=1)


def test_failing_any_one_call_never_acknowledges_what_is_not_there(tmp_path: Path) -> None:
    """Whatever fails, synced events are read back, and nothing that is read was never appended."""
    outcomes: set[str] = set()
    for n in range(1, 60):
        rig = LogRig(tmp_path / str(n))
        log = rig.open(segment_bytes=400)
        rig.faults.calls.clear()
        rig.faults.fail_at = n
        acknowledged = 0
        for _ in range(10):
            try:
                append(log, 2)
            except NotWritten:
                outcomes.add("not written")
                continue
            except OutcomeUnknown:
                outcomes.add("unknown")
                break
            acknowledged = log.position
        rig.faults.fail_at = None

        assert log.durable >= acknowledged
        assert outline(log.read(0)) == frames_seen(1, log.durable)

    assert outcomes == {"not written", "unknown"}


@pytest.mark.parametrize("change", ["grown", "cut", "removed", "disowned"])
def test_change_by_somebody_else_poisons_before_anything_is_written(
    rig: LogRig, log: FileLog, change: str
) -> None:
    append(log)
    path = rig.file()
    data = path.read_bytes()
    if change == "grown":
        path.write_bytes(data + b"x")
    elif change == "cut":
        path.write_bytes(data[:-1])
    elif change == "removed":
        path.unlink()
    else:
        rig.owner.lost = True
    rig.faults.calls.clear()

    with pytest.raises(OutcomeUnknown):
        append(log)

    assert rig.faults.calls == []


# --- the reserve ---------------------------------------------------------------------------------


def test_reserve_pays_for_bookkeeping_on_a_full_disk(rig: LogRig, log: FileLog) -> None:
    append(log)
    rig.faults.room_bytes = 0

    with pytest.raises(NotWritten):
        append(log)
    append(log, bookkeeping=True)
    log.watermark(NOW)

    assert rig.seen() == frames_seen(1, 2)
    assert 0 < log.reserve_bytes < RESERVE_BYTES
    rig.faults.room_bytes = 2 * RESERVE_BYTES
    log.watermark(NOW)
    assert log.reserve_bytes == RESERVE_BYTES


def test_spent_reserve_means_not_written(rig: LogRig, log: FileLog) -> None:
    rig.faults.room_bytes = 0

    def append_large() -> None:
        large = parts(log.position + 1, payload_bytes=60_000)
        log.append([large], expected=log.position, bookkeeping=True)

    for _ in range(RESERVE_BYTES // 70_000):
        append_large()
    with pytest.raises(NotWritten):
        log.append(
            [parts(log.position + 1, payload_bytes=RESERVE_BYTES)],
            expected=log.position,
            bookkeeping=True,
        )

    assert log.reserve_bytes == 0


def test_log_opens_on_a_full_disk_by_the_reserve(rig: LogRig, log: FileLog) -> None:
    append(log)
    log.close()
    rig.faults.room_bytes = 1

    reopened = rig.open(1, log.head, epoch=2)
    append(reopened, bookkeeping=True)

    assert outline(reopened.read(0)) == frames_seen(1, 2)


def test_log_does_not_open_on_a_full_disk_without_a_reserve_and_changes_nothing(
    rig: LogRig, log: FileLog
) -> None:
    append(log)
    log.close()
    (rig.root / "reserve").unlink()
    before = {path.name: path.read_bytes() for path in (rig.root / "log").iterdir()}
    rig.faults.room_bytes = 0

    with pytest.raises(DiskFull):
        rig.open(1, log.head, epoch=2)

    assert {path.name: path.read_bytes() for path in (rig.root / "log").iterdir()} == before
