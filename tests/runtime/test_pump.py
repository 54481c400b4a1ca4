"""The pump alone: every start, an append or a timer at every step, nothing lost or twice."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtime.feed_log import ListLog, added, notice, positions, started

from turnfold.actors.pump import (
    BATCH_ITEMS_MAX,
    Action,
    Again,
    CheckpointDue,
    CutShort,
    Deliver,
    Failed,
    Handled,
    Item,
    Look,
    Notices,
    Park,
    Pause,
    Pump,
    Read,
    ReadLog,
    Restart,
    Save,
    Saved,
    Taken,
    TakeTail,
    Wait,
)
from turnfold.actors.tail import Tail
from turnfold.events.event import Gap
from turnfold.events.notice import Notice
from turnfold.events.reasons import Reason


def told(position: int, reason: Reason = Reason.ADDED_AVATAR) -> Notice:
    return notice(started(1) if position == 1 else added(position, 1, reason))


class World:
    """A store, its log, its tail and one subscriber around a pump, all in one thread."""

    def __init__(self, length: int, start: int, *, tail: int, batch: int, delays: int = 0) -> None:
        self.log = ListLog()
        self.tail = Tail(0, tail)
        self.pump = Pump(start, batch_items=batch, restart_delays_s=[0.0] * delays)
        self.action: Action = Again()
        self.seen: list[Item] = []
        self.saved: list[int] = []
        for _ in range(length):
            self.append()

    def append(self, *, durable: bool = True, published: bool = True) -> None:
        """One more event: in the log, and perhaps in the tail and durable."""
        position = self.log.position + 1
        self.log.append(started(1) if position == 1 else added(position, 1), durable=durable)
        if published:
            self.publish()

    def publish(self) -> None:
        """Bring the tail up to the log."""
        held = self.tail.span[1]
        self.tail.put([told(position) for position in range(held + 1, self.log.position + 1)])
        self.tail.durable = self.log.durable

    def sync(self) -> None:
        """Everything that was appended is durable."""
        self.log.durable = self.log.position
        self.publish()

    def read(self, after: int, most: int) -> list[Item]:
        """What the log's cursor gives."""
        items: list[Item] = []
        for frame in self.log.read(after):
            found: list[Item] = (
                [frame] if isinstance(frame, Gap) else [notice(event) for event in frame]
            )
            items += found
        return items[:most]

    def deliver(self, notices: Notices) -> Action:
        """A subscriber that handles everything."""
        assert positions(list(notices.items)) == list(range(notices.first, notices.last + 1))
        self.seen += notices.items
        return self.pump.step(Handled())

    def carry_out(self) -> bool:
        """One step; False when there is nothing to do."""
        action, step = self.action, self.pump.step
        if isinstance(action, Again | Restart | Pause):
            self.action = step(Look(*self.tail.span, self.tail.durable))
        elif isinstance(action, TakeTail):
            self.action = step(Taken(self.tail.take(action.after, action.most)))
        elif isinstance(action, ReadLog):
            self.action = step(Read(self.read(action.after, action.most)))
        elif isinstance(action, Deliver):
            self.action = self.deliver(action.notices)
        elif isinstance(action, Save):
            self.saved.append(action.position)
            self.action = step(Saved(action.position))
        elif isinstance(action, Wait):
            self.action = Again()
            return self.tail.durable > self.pump.position
        else:
            return False
        return True

    def run(self, inject: Callable[[int], None] = lambda step: None) -> int:
        """Run until nothing is left to do; `inject` is called before each step."""
        steps = 0
        inject(0)
        while self.carry_out():
            steps += 1
            assert steps < 10_000, "the pump does not come to rest"
            inject(steps)
        return steps


LENGTH = 7
SHAPES = [(tail, batch) for tail in (1, 2, 3, 8) for batch in (1, 2, 3, 8)]


@pytest.mark.parametrize(("tail", "batch"), SHAPES)
@pytest.mark.parametrize("start", range(LENGTH + 1))
@pytest.mark.parametrize("burst", [1, 2, 5])
def test_append_at_every_step_is_told_once_and_in_order(
    start: int, burst: int, tail: int, batch: int
) -> None:
    """From every position, one burst of appends before every step of catching up and going live."""
    steps = World(LENGTH, start, tail=tail, batch=batch).run()

    for moment in range(steps + 1):
        world = World(LENGTH, start, tail=tail, batch=batch)

        def burst_at(step: int, world: World = world, moment: int = moment) -> None:
            if step == moment:
                for _ in range(burst):
                    world.append()

        world.run(burst_at)
        world.run()

        assert positions(world.seen) == list(range(start + 1, LENGTH + burst + 1))


@pytest.mark.parametrize(("tail", "batch"), SHAPES)
@pytest.mark.parametrize("start", range(LENGTH + 1))
def test_checkpoint_timer_at_every_step_saves_only_what_was_handled(
    start: int, tail: int, batch: int
) -> None:
    """The timer fires between every two steps, appends go on, and the switch to live is passed."""
    world = World(LENGTH, start, tail=tail, batch=batch)
    handled: list[int] = []

    def fire(step: int) -> None:
        if step % 3 == 0 and world.log.position < 3 * LENGTH:
            world.append()
        action = world.pump.step(CheckpointDue())
        if isinstance(action, Save):
            handled.append(max(positions(world.seen)))
            assert action.position == handled[-1]
            world.saved.append(action.position)
            world.pump.step(Saved(action.position))

    world.run(fire)
    fire(1)

    assert positions(world.seen) == list(range(start + 1, world.log.position + 1))
    assert world.saved == sorted(set(world.saved))
    assert world.saved[-1:] == [world.log.position]


@pytest.mark.parametrize("start", range(LENGTH + 1))
def test_start_at_every_position_repeats_nothing_before_it(start: int) -> None:
    world = World(LENGTH, start, tail=3, batch=2)

    world.run()

    assert positions(world.seen) == list(range(start + 1, LENGTH + 1))
    assert world.pump.position == LENGTH


@given(
    start=st.integers(0, 6),
    tail=st.integers(1, 6),
    batch=st.integers(1, 6),
    moves=st.lists(
        st.sampled_from(["step", "append", "write", "unseen", "sync", "fail", "checkpoint"]),
        max_size=120,
    ),
    cut=st.lists(st.integers(0, 6), min_size=1),
)
def test_any_interleaving_tells_each_durable_position_once_and_in_order(
    start: int, tail: int, batch: int, moves: list[str], cut: list[int]
) -> None:
    """Appends that are durable, not yet durable or not yet published; failures inside batches."""
    world = World(6, start, tail=tail, batch=batch, delays=200)
    failures = iter(cut * 200)

    def fails(notices: Notices) -> Action:
        done = notices.items[: next(failures) % (len(notices.items) + 1)]
        world.seen += done
        return world.pump.step(Failed(max(positions(list(done)), default=0)))

    for move in moves:
        if move == "append":
            world.append()
        elif move == "write":
            world.append(durable=False)
        elif move == "unseen":
            world.append(published=False)
        elif move == "sync":
            world.sync()
        elif move == "checkpoint":
            saved = world.pump.step(CheckpointDue())
            assert not isinstance(saved, Save) or saved.position <= world.log.durable
        elif move == "fail" and isinstance(world.action, Deliver):
            world.action = fails(world.action.notices)
        else:
            world.carry_out()
        assert world.pump.position <= world.log.durable
        assert positions(world.seen) == list(range(start + 1, start + 1 + len(world.seen)))

    world.sync()
    world.run()

    assert positions(world.seen) == list(range(start + 1, world.log.position + 1))


# --- what is not simply the next notice ------------------------------------------------------


def stepped(pump: Pump, items: list[Item], *, first: int, durable: int) -> Action:
    looked = pump.step(Look(first, durable, durable))
    assert isinstance(looked, ReadLog)
    return pump.step(Read(items))


def test_declared_gap_is_an_item_in_its_place() -> None:
    pump = Pump(0)
    gap = Gap(2, 4, Reason.OPENED_DAMAGED)

    action = stepped(pump, [told(1), gap, told(5)], first=9, durable=8)

    assert action == Deliver(Notices(1, 5, (told(1), gap, told(5))))


def test_start_inside_a_gap_is_told_the_rest_of_it() -> None:
    pump = Pump(3)

    action = stepped(pump, [Gap(2, 4, Reason.OPENED_DAMAGED), told(5)], first=9, durable=8)

    rest = Gap(4, 4, Reason.OPENED_DAMAGED)
    assert action == Deliver(Notices(4, 5, (rest, told(5))))


def test_hole_without_a_gap_is_told_as_undeclared_damage() -> None:
    pump = Pump(0)

    action = stepped(pump, [told(1), told(4)], first=9, durable=8)

    hole = Gap(2, 3, Reason.DAMAGE_UNDECLARED)
    assert action == Deliver(Notices(1, 4, (told(1), hole, told(4))))


def test_positions_that_are_not_durable_are_not_told() -> None:
    pump = Pump(0)

    action = stepped(pump, [told(1), told(2), told(3)], first=9, durable=2)

    assert action == Deliver(Notices(1, 2, (told(1), told(2))))


def test_tail_beyond_what_is_durable_is_told_in_part() -> None:
    pump = Pump(0)
    pump.step(Look(1, 3, 2))

    assert pump.step(Taken((told(1), told(2), told(3)))) == Deliver(
        Notices(1, 2, (told(1), told(2)))
    )


def test_positions_that_were_handled_are_not_told_again() -> None:
    pump = Pump(2)
    old: list[Item] = [told(1), told(2), Gap(1, 2, Reason.OPENED_DAMAGED)]

    action = stepped(pump, [*old, told(3)], first=9, durable=8)

    assert action == Deliver(Notices(3, 3, (told(3),)))


def test_log_that_does_not_show_yet_what_is_durable_is_asked_again_later() -> None:
    assert stepped(Pump(0), [], first=9, durable=8) == Pause()


def test_tail_that_moved_on_since_the_look_is_not_used() -> None:
    pump = Pump(0)
    assert isinstance(pump.step(Look(1, 8, 8)), TakeTail)

    assert pump.step(Taken(())) == Again()
    assert pump.step(Taken((told(2), told(3)))) == Again()
    assert isinstance(pump.step(Look(3, 8, 8)), ReadLog)


@pytest.mark.parametrize("span", [(1, 0), (1, 2), (5, 6)])
def test_durable_position_that_the_tail_does_not_hold_is_read_from_the_log(
    span: tuple[int, int],
) -> None:
    """Whether the tail ends before it or begins after it."""
    assert Pump(2).step(Look(*span, 6)) == ReadLog(2, 6, BATCH_ITEMS_MAX)


def test_filter_passes_gaps_and_moves_over_what_it_drops() -> None:
    pump = Pump(0, wants=lambda notice: notice.reason is Reason.ADDED_AGENT)
    wanted = told(3, Reason.ADDED_AGENT)
    gap = Gap(4, 5, Reason.TRIMMED_STORAGE_LIMIT)

    action = stepped(pump, [told(1), told(2), wanted, gap, told(6)], first=9, durable=8)

    assert action == Deliver(Notices(1, 6, (wanted, gap)))


def test_batch_that_the_filter_empties_is_not_delivered() -> None:
    pump = Pump(0, wants=lambda notice: notice.reason is Reason.ADDED_AGENT)
    pump.step(Look(1, 2, 2))

    assert pump.step(Taken((told(1), told(2)))) == Again()
    assert pump.position == 2


# --- failures ----------------------------------------------------------------------------------


def failing(pump: Pump, handled: int = 0) -> Action:
    pump.step(Look(1, 3, 3))
    pump.step(Taken(tuple(told(p) for p in range(pump.position + 1, 4))))
    return pump.step(Failed(handled))


def test_failures_in_a_row_are_answered_by_growing_delays_and_then_parking() -> None:
    pump = Pump(0, restart_delays_s=(1, 2))

    assert [failing(pump) for _ in range(3)] == [Restart(1), Restart(2), Park(0)]


def test_progress_within_a_failed_batch_starts_the_delays_anew() -> None:
    pump = Pump(0, restart_delays_s=(1, 2))

    assert failing(pump) == Restart(1)
    assert failing(pump, handled=2) == Restart(1)
    assert pump.position == 2
    assert failing(pump) == Restart(2)
    assert failing(pump) == Park(2)


def test_cancelling_within_a_batch_keeps_what_was_handled() -> None:
    pump = Pump(0)
    pump.step(Look(1, 3, 3))
    pump.step(Taken((told(1), told(2), told(3))))

    pump.step(CutShort(2))

    assert pump.step(CheckpointDue()) == Save(2)


def test_saved_checkpoint_is_not_saved_again() -> None:
    pump = Pump(0)
    pump.step(Look(1, 1, 1))
    pump.step(Taken((told(1),)))
    pump.step(Handled())

    assert pump.step(CheckpointDue()) == Save(1)
    pump.step(Saved(1))
    assert pump.step(CheckpointDue()) == Again()


# --- the tail ------------------------------------------------------------------------------------


@given(capacity=st.integers(1, 9), sizes=st.lists(st.integers(1, 20), max_size=20))
def test_tail_holds_the_newest_run_within_its_capacity(capacity: int, sizes: list[int]) -> None:
    tail = Tail(0, capacity)
    last = 0

    for size in sizes:
        tail.put([told(position) for position in range(last + 1, last + size + 1)])
        last += size
        first, end = tail.span
        held = tail.take(first - 1, 10**6)

        assert end == last
        assert [notice.position for notice in held] == list(range(first, last + 1))
        assert len(held) <= capacity
        assert first == 1 or tail.take(first - 2, 10) == ()


def test_tail_begins_anew_after_a_hole() -> None:
    tail = Tail(0, 8)
    tail.put([told(1), told(2)])

    tail.put([told(5), told(6)])

    assert tail.span == (5, 6)
    assert tail.take(0, 8) == ()
    assert tail.take(5, 8) == (told(6),)
