"""Named checkpoints: at least once, never past what was handled, never past what is durable."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtime.feed_log import SECRET, ListLog
from runtime.feed_rig import WAIT_S, Recorder, Rig, running

from turnfold.actors.checkpoints import Checkpoints, MemoryCheckpoints
from turnfold.events.errors import CorruptData, InvalidInput
from turnfold.events.notice import Notice


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Journal(MemoryCheckpoints):
    """Writes down every save with what was handled and durable at that moment; may fail."""

    def __init__(self, log: ListLog, seen: list[int]) -> None:
        super().__init__()
        self.log = log
        self.seen = seen
        self.saves: list[tuple[int, int, int]] = []
        self.failing = 0
        self.saved = threading.Event()

    def save_checkpoint(self, name_tag: bytes, position: int) -> None:
        if self.failing:
            self.failing -= 1
            raise OSError(28, "no space left")
        self.saves.append((position, self.seen[-1] if self.seen else 0, self.log.durable))
        super().save_checkpoint(name_tag, position)
        self.saved.set()


def tag(rig: Rig, name: str) -> bytes:
    return Checkpoints(rig.saved, SECRET).tag(name)


# --- where a named subscriber goes on ----------------------------------------------------------


def test_named_subscriber_goes_on_after_its_checkpoint() -> None:
    """`after` is for the first time only."""
    seen: list[int] = []
    with running(turns=5) as rig:
        first = rig.feed.subscribe(lambda: Recorder(seen), name="audit", after=2)
        assert first.wait(5, WAIT_S)
        assert first.cancel(WAIT_S)
        rig.turns(3)
        second = rig.feed.subscribe(lambda: Recorder(seen), name="audit", after=0)
        assert second.wait(8, WAIT_S)

    assert seen == [3, 4, 5, 6, 7, 8]


def test_checkpoint_is_saved_when_the_feed_closes() -> None:
    rig = Rig(turns=5)
    subscription = rig.feed.subscribe(lambda: Recorder([]), name="audit", after=0)
    assert subscription.wait(5, WAIT_S)

    assert rig.feed.close(WAIT_S)

    assert rig.saved.load_checkpoint(tag(rig, "audit")) == 5


def test_subscriber_that_dies_before_its_checkpoint_sees_notices_again() -> None:
    """As after a crash: nothing was saved, so everything since the last save comes again."""
    seen: list[int] = []
    rig = Rig(turns=4)
    name = tag(rig, "audit")
    rig.saved.save_checkpoint(name, 2)
    subscription = rig.feed.subscribe(lambda: Recorder(seen), name="audit")
    assert subscription.wait(4, WAIT_S)
    assert rig.saved.load_checkpoint(name) == 2  # the interval is not over
    with running(read=rig.log.read, head=lambda: 4, checkpoints=rig.saved) as after_crash:
        again = after_crash.feed.subscribe(lambda: Recorder(seen), name="audit")
        assert again.wait(4, WAIT_S)
    assert rig.feed.close(WAIT_S)

    assert seen == [3, 4, 3, 4]


def test_subscriber_parked_for_failing_keeps_its_checkpoint() -> None:
    def fail_at_3(notice: Notice) -> None:
        if notice.position == 3:
            raise ValueError

    with running(turns=4) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder([], fail_at_3), name="audit", after=0)
        assert rig.told_parked.wait(WAIT_S)
        assert subscription.join(WAIT_S)

        assert rig.saved.load_checkpoint(tag(rig, "audit")) == 2


def test_subscriber_without_a_name_leaves_no_checkpoint() -> None:
    journal = Journal(ListLog(), [])
    with running(turns=4, checkpoints=journal) as rig:
        assert rig.feed.subscribe(lambda: Recorder([]), after=0).wait(4, WAIT_S)

    assert journal.saves == []


# --- when it is saved ----------------------------------------------------------------------------


def test_checkpoint_is_saved_once_an_interval_and_only_for_what_was_handled() -> None:
    seen: list[int] = []
    clock = Clock()
    journal = Journal(ListLog(), seen)

    def tick(_notice: Notice) -> None:
        clock.now += 1.0

    with running(checkpoints=journal, clock=clock, checkpoint_interval_s=2.0) as rig:
        journal.log = rig.log
        subscription = rig.feed.subscribe(lambda: Recorder(seen, tick), name="audit", after=0)
        for _ in range(40):
            rig.turns(1)
            assert subscription.wait(rig.log.durable, WAIT_S)

    positions = [position for position, _handled, _durable in journal.saves]
    assert positions == sorted(set(positions))
    assert positions[-1] == 40
    assert 10 < len(positions) <= 21
    assert all(position == handled <= durable for position, handled, durable in journal.saves)


def test_quiet_subscriber_saves_after_the_interval_without_another_notice() -> None:
    seen: list[int] = []
    log = ListLog()
    journal = Journal(log, seen)
    log.turns(3)
    with running(
        read=log.read, head=lambda: log.durable, checkpoints=journal, checkpoint_interval_s=0.01
    ) as rig:
        rig.feed.subscribe(lambda: Recorder(seen), name="audit", after=0)

        assert journal.saved.wait(WAIT_S)
        assert journal.saves == [(3, 3, 3)]


def test_checkpoint_that_cannot_be_written_is_written_later_and_stops_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[int] = []
    log = ListLog()
    journal = Journal(log, seen)
    journal.failing = 2
    log.turns(3)
    with running(
        read=log.read, head=lambda: log.durable, checkpoints=journal, checkpoint_interval_s=0.0
    ) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen), name="audit", after=0)
        assert subscription.wait(3, WAIT_S)
        assert journal.saved.wait(WAIT_S)

    assert journal.saves == [(3, 3, 3)]
    assert "a checkpoint was not written: OSError" in caplog.text


# --- names ---------------------------------------------------------------------------------------


def test_name_that_is_in_use_is_refused_until_it_is_cancelled() -> None:
    with running(turns=1) as rig:
        first = rig.feed.subscribe(lambda: Recorder([]), name="audit")
        with pytest.raises(InvalidInput, match="a subscriber of this name is running"):
            rig.feed.subscribe(lambda: Recorder([]), name="audit")
        rig.feed.subscribe(lambda: Recorder([]), name="billing")
        rig.feed.subscribe(lambda: Recorder([]))
        rig.feed.subscribe(lambda: Recorder([]))
        assert first.cancel(WAIT_S)
        rig.feed.subscribe(lambda: Recorder([]), name="audit")


@pytest.mark.parametrize("name", ["", "é" * 65, 7, b"audit"])
def test_name_that_is_no_short_text_is_refused(name: str) -> None:
    with running() as rig, pytest.raises(InvalidInput, match="1 to 128 bytes"):
        rig.feed.subscribe(lambda: Recorder([]), name=name)


@given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=30))
def test_tags_differ_by_name_and_by_store_and_are_stable(one: str, other: str) -> None:
    mine, theirs = Checkpoints(MemoryCheckpoints(), SECRET), Checkpoints(MemoryCheckpoints(), b"k")

    assert mine.tag(one) == mine.tag(one)
    assert (mine.tag(one) == mine.tag(other)) == (one == other)
    assert mine.tag(one) != theirs.tag(one)
    assert mine.tag(one) != mine.tag(None)
    assert len(mine.tag(one)) == 16


# --- a checkpoint that can't be right ------------------------------------------------------------


@pytest.mark.parametrize("position", [9, -1])
def test_checkpoint_beyond_the_log_is_a_clear_error_and_tells_nothing(position: int) -> None:
    seen: list[int] = []
    with running(turns=4) as rig:
        rig.saved.save_checkpoint(tag(rig, "audit"), position)
        with pytest.raises(CorruptData, match=rf"at position {position}, but the store ends at 4"):
            rig.feed.subscribe(lambda: Recorder(seen), name="audit", after=0)
        assert rig.feed.subscriptions == ()

    assert seen == []
