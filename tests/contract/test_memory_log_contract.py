import pytest
from contract.log_contract import SECRET, STORE_ID, LogContract, parts

from turnfold.events.event import Gap
from turnfold.events.log.backend import Log, ReadFrame
from turnfold.events.log.memory_log import MemoryArchive, MemoryLog
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture, state_digest
from turnfold.events.state import StoreState


class TestMemoryLog(LogContract):
    """It keeps no payloads."""

    keeps_content = False

    @pytest.fixture
    def log(self) -> Log:
        return MemoryLog(STORE_ID, SECRET)


def test_tail_is_bounded_and_what_fell_off_is_a_gap() -> None:
    log = MemoryLog(STORE_ID, SECRET, tail_bytes=500)
    for position in range(1, 101):
        log.append([parts(position)], expected=position - 1)
    log.sync()

    gap, *frames = log.read(0)

    assert isinstance(gap, Gap)
    assert (gap.first, gap.reason) == (1, Reason.TRIMMED_STORAGE_LIMIT)
    kept = [frame.first for frame in frames if isinstance(frame, ReadFrame)]
    assert kept == list(range(gap.last + 1, 101))
    assert 5 <= len(kept) <= 10
    assert next(log.read(50)) == Gap(51, gap.last, Reason.TRIMMED_STORAGE_LIMIT)


def test_newest_frame_is_kept_whatever_its_size() -> None:
    log = MemoryLog(STORE_ID, SECRET, tail_bytes=1)
    log.append([parts(1), parts(2)], expected=0)
    log.sync()

    assert [item.last for item in log.read(0)] == [1, 2]


def test_no_payload_is_kept() -> None:
    log = MemoryLog(STORE_ID, SECRET)
    log.append([parts(1)], expected=0)
    log.sync()

    assert [frame.payload for frame in log.read(0) if isinstance(frame, ReadFrame)] == [None]


def test_generation_in_memory_names_the_state_and_keeps_nothing() -> None:
    archive = MemoryArchive(MemoryLog(STORE_ID, SECRET))
    captured = capture(StoreState())
    pauses: list[int] = []

    written = archive.write_generation(captured, b"", lambda: pauses.append(1))

    assert (written.position, written.digest, written.size) == (0, state_digest(captured), 0)
    assert pauses
    assert archive.retire() == ()


def test_checkpoint_lasts_and_never_passes_the_durable_position() -> None:
    log = MemoryLog(STORE_ID, SECRET)
    archive = MemoryArchive(log)
    log.append([parts(1)], expected=0)

    with pytest.raises(ValueError, match="durable"):
        archive.save_checkpoint(b"tag", 1)
    log.sync()
    archive.save_checkpoint(b"tag", 1)

    assert (archive.load_checkpoint(b"tag"), archive.load_checkpoint(b"other")) == (1, None)
