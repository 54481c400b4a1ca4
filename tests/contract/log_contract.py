"""What every `Log` must do, whatever it keeps its events in. Each implementation inherits it."""

from collections.abc import Iterator

import pytest

from turnfold.events.commands import Instant
from turnfold.events.errors import NotWritten
from turnfold.events.event import Gap
from turnfold.events.log.backend import FrameParts, Log, ReadFrame
from turnfold.events.log.chain import advance, genesis

STORE_ID = b"S" * 16
SECRET = b"k" * 32
NOW = Instant(1_700_000_000_000_000_000, 5)


def parts(first: int, count: int = 1) -> FrameParts:
    """A frame whose bytes follow from its position."""
    return FrameParts(first, count, b"chained %d" % first, b"payload %d" % first)


def spans(items: Iterator[ReadFrame | Gap]) -> list[tuple[int, int]]:
    """First and last position of each frame; a gap fails the test."""
    found: list[tuple[int, int]] = []
    for item in items:
        assert isinstance(item, ReadFrame)
        assert item.chained == b"chained %d" % item.first
        found.append((item.first, item.last))
    return found


class LogContract:
    """`log` gives a new, empty log of STORE_ID and SECRET. `keeps_content`: payloads come back."""

    keeps_content = True

    @pytest.fixture
    def log(self) -> Log | Iterator[Log]:
        """A new, empty log."""
        raise NotImplementedError

    def test_new_log_is_empty(self, log: Log) -> None:
        assert (log.position, log.durable, log.head) == (0, 0, genesis(STORE_ID))
        assert (log.store_id, log.secret, log.epoch) == (STORE_ID, SECRET, 1)
        assert spans(log.read(0)) == []

    def test_appended_is_durable_after_a_sync(self, log: Log) -> None:
        log.append([parts(1), parts(2, 3)], expected=0)
        before = (log.position, log.durable, spans(log.read(0)))
        log.sync()

        assert before == (4, 0, [])
        assert (log.position, log.durable) == (4, 4)
        assert spans(log.read(0)) == [(1, 1), (2, 4)]

    def test_head_is_the_chain_over_everything_appended(self, log: Log) -> None:
        log.append([parts(1), parts(2, 3)], expected=0)
        log.append([parts(5)], expected=4)

        head = genesis(STORE_ID)
        for first in (1, 2, 5):
            head = advance(head, first, 1, b"chained %d" % first)
        assert log.head == head

    @pytest.mark.parametrize("expected", [0, 1, 3])
    def test_append_at_another_position_writes_nothing(self, log: Log, expected: int) -> None:
        log.append([parts(1, 2)], expected=0)
        head = log.head

        with pytest.raises(NotWritten, match="position 2"):
            log.append([parts(expected + 1)], expected=expected)

        assert (log.position, log.head) == (2, head)

    @pytest.mark.parametrize(
        "frames", [[], [parts(2)], [parts(1), parts(1)], [parts(1, 0)]], ids=range(4)
    )
    def test_frames_that_do_not_follow_each_other_write_nothing(
        self, log: Log, frames: list[FrameParts]
    ) -> None:
        with pytest.raises(ValueError, match="frame"):
            log.append(frames, expected=0)

        log.append([parts(1)], expected=0)
        log.sync()
        assert spans(log.read(0)) == [(1, 1)]

    def test_reading_gives_whole_frames_between_two_positions(self, log: Log) -> None:
        log.append([parts(1, 3), parts(4, 3), parts(7, 3), parts(10)], expected=0)
        log.sync()

        assert spans(log.read(3)) == [(4, 6), (7, 9), (10, 10)]
        assert spans(log.read(4, through=7)) == [(4, 6), (7, 9)]
        assert spans(log.read(3, through=6)) == [(4, 6)]
        assert spans(log.read(10)) == []
        assert spans(log.read(99)) == []

    def test_payload_comes_back_or_is_never_kept(self, log: Log) -> None:
        log.append([parts(1)], expected=0)
        log.sync()

        (frame,) = log.read(0)
        (without,) = log.read(0, content=False)

        assert isinstance(frame, ReadFrame)
        assert isinstance(without, ReadFrame)
        assert frame.payload == (b"payload 1" if self.keeps_content else None)
        assert frame.payload_intact
        assert without.payload is None

    def test_reading_goes_on_beside_appending(self, log: Log) -> None:
        log.append([parts(1), parts(2)], expected=0)
        log.sync()
        items = log.read(0)
        first = next(items)
        log.append([parts(3)], expected=2)
        log.sync()
        rest = spans(items)

        assert isinstance(first, ReadFrame)
        assert first.first == 1
        assert rest[0] == (2, 2)
        assert spans(log.read(2)) == [(3, 3)]

    def test_watermark_syncs_and_takes_no_position(self, log: Log) -> None:
        log.append([parts(1)], expected=0)
        head = log.head
        log.watermark(NOW)
        log.watermark(NOW)
        log.append([parts(2)], expected=1, bookkeeping=True)
        log.sync()

        assert log.durable == 2
        assert log.head == advance(head, 2, 1, b"chained 2")
        assert spans(log.read(0)) == [(1, 1), (2, 2)]

    def test_close_syncs_and_ends_appending_but_not_reading(self, log: Log) -> None:
        log.append([parts(1)], expected=0)
        log.close()
        log.close()

        assert log.durable == 1
        assert spans(log.read(0)) == [(1, 1)]
        with pytest.raises(NotWritten, match="closed"):
            log.append([parts(2)], expected=1)
