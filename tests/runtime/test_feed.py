"""The feed: every subscriber sees every durable position once and in order, whatever others do."""

import threading
from collections.abc import Callable
from functools import partial

import pytest
from runtime.feed_log import ALICE, BOB, ListLog, added, expired, parked, started
from runtime.feed_rig import WAIT_S, Recorder, Rig, running

from turnfold.actors.subscription import Subscription
from turnfold.actors.supply import SubscriptionState
from turnfold.events.errors import InvalidInput, StoreClosed
from turnfold.events.event import ContentErased, Gap
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.notice import Notice
from turnfold.events.reasons import Reason


def reached(subscription: Subscription, rig: Rig) -> bool:
    """Wait until the subscriber has handled all that is durable."""
    return subscription.wait(rig.log.durable, WAIT_S)


# --- order and completeness ------------------------------------------------------------------


def test_live_subscriber_is_told_what_comes_after_it_subscribed() -> None:
    seen: list[int] = []
    with running(turns=5) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen))
        rig.turns(3)

        assert reached(subscription, rig)

    assert seen == [6, 7, 8]


@pytest.mark.parametrize("waiting", [1, 2, 5, 64])
@pytest.mark.parametrize("start", [0, 1, 7, 39, 40])
def test_catching_up_beside_a_writer_misses_and_repeats_nothing(waiting: int, start: int) -> None:
    seen: list[int] = []
    with running(turns=40, waiting=waiting) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen), after=start)
        rig.turns(60, frame=3)

        assert reached(subscription, rig)

    assert seen == list(range(start + 1, 101))


@pytest.mark.parametrize("start", [1, 599, 600, 999])
def test_start_within_a_long_frame_begins_there(start: int) -> None:
    """One command's frame may hold more events than a batch does."""
    seen: list[int] = []
    with running(waiting=1) as rig:
        rig.turns(1_000, frame=1_000)
        subscription = rig.feed.subscribe(lambda: Recorder(seen), after=start)
        assert reached(subscription, rig)

    assert seen == list(range(start + 1, 1_001))


def test_burst_of_any_length_is_told_without_dropping_anybody() -> None:
    """A burst far longer than the tail: the subscriber is served from the log and comes back."""
    seen: list[int] = []
    with running(waiting=8) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen))
        rig.turns(20_000, frame=100)

        assert reached(subscription, rig)
        rig.turns(3)
        assert reached(subscription, rig)
        assert subscription.state is SubscriptionState.RUNNING

    assert seen == list(range(1, 20_004))


def test_slow_subscriber_holds_nobody_up_and_sees_everything() -> None:
    """While one stands still, the writer and another subscriber go on; the tail stays bounded."""
    go_on = threading.Event()
    slow: list[int] = []
    fast: list[int] = []
    with running(waiting=8) as rig:
        behind = rig.feed.subscribe(lambda: Recorder(slow, lambda _: go_on.wait(WAIT_S)))
        ahead = rig.feed.subscribe(lambda: Recorder(fast))
        rig.turns(500)

        assert reached(ahead, rig)
        assert (behind.position, behind.lag, slow) == (0, 500, [])
        go_on.set()
        assert reached(behind, rig)
        assert behind.lag == 0

    assert fast == slow == list(range(1, 501))


def test_thirty_two_subscribers_see_the_same_while_half_of_them_misbehave() -> None:
    """Slow ones, raising ones and ones that exit, beside a writer: positions 1..n for each."""
    seen: list[list[int]] = [[] for _ in range(32)]
    pause = threading.Event()

    def trouble(number: int) -> Callable[[Notice], object] | None:
        if number % 2 == 0:
            return None
        failed: set[int] = set()

        def act(notice: Notice) -> None:
            if number % 4 == 1:
                pause.wait(0.0005)
            elif notice.position % 50 == number and notice.position not in failed:
                failed.add(notice.position)
                raise SystemExit if number % 8 == 3 else ValueError("secret")

        return act

    with running(waiting=16) as rig:
        subscriptions: list[Subscription] = []
        for number in range(32):
            make = partial(Recorder, seen[number], trouble(number))
            subscriptions.append(rig.feed.subscribe(make, after=0))
        rig.turns(600, frame=4)

        assert all(reached(subscription, rig) for subscription in subscriptions)

    assert all(positions == list(range(1, 601)) for positions in seen)
    assert not rig.parked


def test_position_that_is_not_durable_is_not_told() -> None:
    seen: list[int] = []
    with running(waiting=2) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen), after=0)
        rig.commit(started(1))
        for position in range(2, 9):
            rig.commit(added(position, 1), durable=False)
        assert subscription.wait(1, WAIT_S)
        assert not subscription.wait(2, 0)
        told_before = list(seen)

        rig.log.durable = 8
        rig.feed.publish((), 8)
        assert subscription.wait(8, WAIT_S)

    assert told_before == [1]
    assert seen == list(range(1, 9))


def test_notices_carry_whose_and_why_and_no_content() -> None:
    got: list[Notice] = []
    with running() as rig:
        subscription = rig.feed.subscribe(lambda: Recorder([], got.append))
        rig.commit(started(1), added(2, 1))
        rig.commit(expired(3, 1))
        assert reached(subscription, rig)

    assert [(n.type, n.reason, n.session) for n in got] == [
        ("SessionStarted", Reason.STARTED_FIRST_TURN, 1),
        ("TurnAdded", Reason.ADDED_AVATAR, 1),
        ("SessionExpired", Reason.EXPIRED_INACTIVITY, 1),
    ]
    assert {n.channel for n in got} == {Channel.PUBLIC_CHAT}
    assert len({n.pseudonym for n in got}) == 1


# --- where a subscription begins ---------------------------------------------------------------


def test_start_beyond_the_newest_position_is_a_clear_error() -> None:
    with running(turns=3) as rig:
        with pytest.raises(InvalidInput, match="after=8 is beyond the newest durable position, 3"):
            rig.feed.subscribe(lambda: Recorder([]), after=8)
        with pytest.raises(InvalidInput, match="after=8 is beyond"):
            rig.feed.notices(after=8)
        assert rig.feed.subscriptions == ()


@pytest.mark.parametrize("after", [-1, True, 1.0, "1"])
def test_start_that_is_no_position_is_refused(after: int) -> None:
    with running(turns=3) as rig, pytest.raises(InvalidInput, match="after must be a position"):
        rig.feed.subscribe(lambda: Recorder([]), after=after)


def test_start_at_the_newest_position_waits_for_the_next() -> None:
    seen: list[int] = []
    with running(turns=3) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen), after=3)
        rig.turns(1)
        assert reached(subscription, rig)

    assert seen == [4]


def test_subscribing_while_notices_are_told_misses_no_wake_up() -> None:
    with running(waiting=2) as rig:
        for _ in range(200):
            rig.turns(1)
            subscription = rig.feed.subscribe(lambda: Recorder([]), after=rig.log.durable - 1)

            assert reached(subscription, rig)
            subscription.stop()


# --- gaps --------------------------------------------------------------------------------------


def test_positions_that_are_gone_from_the_log_are_told_as_one_gap() -> None:
    """As for a store in memory, whose log is only so long."""
    seen: list[int] = []
    gate = threading.Event()
    with running(waiting=2, turns=1) as rig:
        subscription = rig.feed.subscribe(
            lambda: Recorder(seen, lambda _: gate.wait(WAIT_S)), after=0
        )
        rig.turns(9)
        rig.log.kept_from = 8
        gate.set()
        assert reached(subscription, rig)

    told = [position for position in seen if position > 0]
    gone = [-position for position in seen if position < 0]
    assert sorted(told + gone) == list(range(1, 11)) == [abs(position) for position in seen]
    assert told[-3:] == [8, 9, 10]


def test_declared_gap_within_the_log_is_told_in_its_place() -> None:
    seen: list[int] = []
    with running(waiting=1) as rig:
        rig.log.append(started(1))
        rig.log.append(added(6, 1))
        rig.log.gaps[6] = Gap(2, 5, Reason.OPENED_DAMAGED)
        rig.feed.publish((), 6)
        subscription = rig.feed.subscribe(lambda: Recorder(seen), after=0)
        assert reached(subscription, rig)

    assert seen == [1, -2, -3, -4, -5, 6]


# --- filters -----------------------------------------------------------------------------------


def two_sessions(log: ListLog) -> None:
    """Alice's session at 1, Bob's at 2, then turns of both; both end, and Alice's is erased."""
    log.append(started(1, ALICE))
    log.append(started(2, BOB))
    log.append(added(3, 1), added(4, 2), added(5, 1, Reason.ADDED_AGENT))
    log.append(expired(6, 1))
    log.append(expired(7, 2))
    erased = ContentErased(
        position=8,
        at=8,
        age=8,
        reason=Reason.ERASED_EXPIRED,
        session=1,
        through=6,
        payloads=3,
        erased_bytes=88,
    )
    log.append(erased)


@pytest.mark.parametrize("start", range(9))
def test_key_filter_knows_sessions_that_began_before_the_start(start: int) -> None:
    """Also of a session that has ended and been erased since, which nobody remembers."""
    seen: list[int] = []
    log = ListLog()
    two_sessions(log)
    with running(read=log.read, head=lambda: log.durable) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen), after=start, key=ALICE)
        assert subscription.wait(log.durable, WAIT_S)

    assert seen == [position for position in (1, 3, 5, 6, 8) if position > start]


def test_key_and_reason_filters_apply_live_too() -> None:
    by_key: list[int] = []
    by_reason: list[int] = []
    by_both: list[int] = []
    agent = ["added.agent"]
    with running(waiting=64) as rig:
        subscriptions = [
            rig.feed.subscribe(lambda: Recorder(by_key), key=BOB),
            rig.feed.subscribe(lambda: Recorder(by_reason), reasons=agent),
            rig.feed.subscribe(lambda: Recorder(by_both), reasons=agent, key=BOB),
        ]
        rig.commit(started(1, ALICE), started(2, BOB), added(3, 2, Reason.ADDED_AGENT))
        rig.commit(added(4, 1, Reason.ADDED_AGENT), added(5, 2))
        assert all(reached(subscription, rig) for subscription in subscriptions)

    assert (by_key, by_reason, by_both) == ([2, 3, 5], [3, 4], [3])


def test_key_of_the_same_avatar_in_the_other_channel_is_another_key() -> None:
    seen: list[int] = []
    other = ConversationKey(ALICE.avatar, Channel.DIRECT_IM)
    with running() as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen), key=other)
        rig.commit(started(1, ALICE))
        assert reached(subscription, rig)

    assert seen == []


@pytest.mark.parametrize("reasons", ["added.agent", ["added.agnet"], [3]])
def test_unknown_reason_is_refused_and_nothing_is_subscribed(reasons: list[str]) -> None:
    with running() as rig:
        with pytest.raises(InvalidInput, match="reason"):
            rig.feed.subscribe(lambda: Recorder([]), reasons=reasons)
        assert rig.feed.subscriptions == ()


# --- the log is slow to answer, or doesn't ------------------------------------------------------


def test_error_of_the_log_is_tried_again_and_nothing_is_left_out() -> None:
    seen: list[int] = []
    with running(turns=20, waiting=1) as rig:
        rig.log.failing = 2
        subscription = rig.feed.subscribe(lambda: Recorder(seen), after=0)
        assert reached(subscription, rig)
        assert subscription.restarts == 2

    assert seen == list(range(1, 21))


def test_subscriber_that_is_live_does_not_touch_the_log() -> None:
    seen: list[int] = []
    with running(waiting=64) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen))
        for _ in range(20):
            rig.turns(3)
            assert reached(subscription, rig)

        assert rig.log.reads == 0
    assert seen == list(range(1, 61))


def test_long_catch_up_opens_the_log_once() -> None:
    """Each reopening would search the segment for the place again."""
    seen: list[int] = []
    with running(turns=3_000, waiting=1) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen), after=0)
        assert reached(subscription, rig)

        assert rig.log.reads == 1
    assert seen == list(range(1, 3_001))


# --- the end -------------------------------------------------------------------------------------


def test_close_ends_every_thread_and_then_refuses_subscribers() -> None:
    before = set(threading.enumerate())
    rig = Rig(turns=10)
    subscriptions = [rig.feed.subscribe(lambda: Recorder([]), after=0) for _ in range(5)]

    assert rig.feed.close(WAIT_S)

    assert set(threading.enumerate()) <= before
    assert {s.state for s in subscriptions} == {SubscriptionState.CANCELLED}
    with pytest.raises(StoreClosed):
        rig.feed.subscribe(lambda: Recorder([]))
    assert rig.feed.close(0)


def test_close_does_not_wait_for_a_subscriber_that_never_returns() -> None:
    stuck = threading.Event()
    entered = threading.Event()

    def stand_still(_notice: Notice) -> None:
        entered.set()
        stuck.wait(WAIT_S)

    rig = Rig(turns=1)
    rig.feed.subscribe(lambda: Recorder([], stand_still), after=0)
    other = rig.feed.subscribe(lambda: Recorder([]), after=0)
    assert entered.wait(WAIT_S)

    assert not rig.feed.close(0.05)

    assert other.join(WAIT_S)
    stuck.set()
    assert rig.feed.close(WAIT_S)


def test_drain_waits_until_running_subscribers_are_done() -> None:
    seen: list[int] = []
    with running(waiting=4) as rig:
        rig.feed.subscribe(lambda: Recorder(seen))
        rig.turns(200)

        assert rig.feed.drain(WAIT_S)
        assert seen == list(range(1, 201))


def test_last_publish_before_close_reaches_the_tail_without_a_subscriber() -> None:
    rig = Rig()
    rig.turns(10)

    assert rig.feed.close(WAIT_S)


def test_event_that_parks_a_subscriber_is_told_like_any_other() -> None:
    got: list[Notice] = []
    with running() as rig:
        subscription = rig.feed.subscribe(lambda: Recorder([], got.append))
        rig.commit(parked(1, b"t" * 16, 0))
        assert reached(subscription, rig)

    assert [(n.reason, n.pseudonym) for n in got] == [(Reason.SUBSCRIBER_FAILING, None)]
