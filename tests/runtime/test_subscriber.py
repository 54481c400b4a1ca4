"""Subscribers that raise, exit, die or come to life again, and the actors among them."""

import logging
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pykka
import pytest
from runtime.feed_rig import WAIT_S, Recorder, running

from turnfold.actors.feed import RESTART_DELAYS_S
from turnfold.actors.pump import Notices
from turnfold.actors.subscriber import Subscriber
from turnfold.actors.supply import SubscriptionState
from turnfold.events.errors import InvalidInput
from turnfold.events.event import Gap
from turnfold.events.notice import Notice
from turnfold.events.reasons import Reason

SECRET = "hunter2-" + "0" * 16


@pytest.fixture(autouse=True)
def no_actor_is_left() -> Iterator[None]:
    """Stop the actors that a test started, and nothing else: the registry is pykka's only list."""
    yield
    pykka.ActorRegistry.stop_all(timeout=WAIT_S)


class Once:
    """Raises `error` the first time it is asked about each of these positions."""

    def __init__(self, error: BaseException, *positions: int) -> None:
        self.error = error
        self.left = list(positions)

    def __call__(self, notice: Notice) -> None:
        if notice.position in self.left:
            self.left.remove(notice.position)
            raise self.error


# --- failing and starting again --------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ValueError(SECRET), SystemExit(3), KeyboardInterrupt(), GeneratorExit()]
)
def test_failed_subscriber_is_made_anew_and_gets_the_same_notice_again(
    error: BaseException,
) -> None:
    """What it handled before is not repeated, and what it failed on is not left out."""
    seen: list[int] = []
    made: list[Recorder] = []
    act = Once(error, 1, 3, 4)

    def make() -> Recorder:
        made.append(Recorder(seen, act))
        return made[-1]

    with running(turns=6) as rig:
        subscription = rig.feed.subscribe(make, after=0)
        assert subscription.wait(6, WAIT_S)
        assert subscription.restarts == 3
        assert subscription.error is None

    assert seen == [1, 2, 3, 4, 5, 6]
    assert len(made) == 4
    assert not rig.parked


def test_exit_of_a_subscriber_stops_no_other_actor() -> None:
    class Bystander(pykka.ThreadingActor):
        pass

    bystander = Bystander.start()
    act = Once(SystemExit(), 2)
    with running(turns=3) as rig:
        other = rig.feed.subscribe(lambda: Recorder([]), after=0)
        exiting = rig.feed.subscribe(lambda: Recorder([], act), after=0)
        assert exiting.wait(3, WAIT_S)
        assert other.wait(3, WAIT_S)

    assert exiting.restarts == 1
    assert bystander.is_alive()


def test_subscriber_that_keeps_failing_is_parked_where_it_stands() -> None:
    seen: list[int] = []

    def poison(notice: Notice) -> None:
        if notice.position == 3:
            raise ValueError(SECRET)

    with running(turns=6) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen, poison), after=0)
        assert rig.told_parked.wait(WAIT_S)
        assert subscription.join(WAIT_S)

        assert subscription.state is SubscriptionState.PARKED
        assert subscription.restarts == 3
        assert isinstance(subscription.error, ValueError)
        assert rig.feed.subscriptions == ()

    assert seen == [1, 2]
    assert [position for _tag, position in rig.parked] == [2]


def test_waiting_for_a_parked_subscriber_ends() -> None:
    def fail(_notice: Notice) -> None:
        raise ValueError

    with running(turns=6) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder([], fail), after=0)

        assert not subscription.wait(6, WAIT_S)
        assert subscription.position == 0


def test_parked_event_names_the_subscriber_by_its_tag() -> None:
    def fail(_notice: Notice) -> None:
        raise ValueError

    with running(turns=1) as rig:
        rig.feed.subscribe(lambda: Recorder([], fail), name=SECRET, after=0)
        assert rig.told_parked.wait(WAIT_S)

    ((tag, _position),) = rig.parked
    assert len(tag) == 16
    assert SECRET.encode() not in tag


def test_factory_that_raises_is_tried_again() -> None:
    seen: list[int] = []
    errors = [SystemExit(), OSError(SECRET)]

    def make() -> Recorder:
        if errors:
            raise errors.pop()
        return Recorder(seen)

    with running(turns=2) as rig:
        subscription = rig.feed.subscribe(make, after=0)
        assert subscription.wait(2, WAIT_S)
        assert subscription.restarts == 2

    assert seen == [1, 2]


def test_factory_that_makes_something_else_is_parked_with_the_reason() -> None:
    with running(turns=2) as rig:
        subscription = rig.feed.subscribe(lambda: "no subscriber", after=0)  # type: ignore[arg-type, return-value]  # pyright: ignore[reportArgumentType]  # the test is that it is refused
        assert rig.told_parked.wait(WAIT_S)
        assert subscription.join(WAIT_S)

    assert isinstance(subscription.error, InvalidInput)
    assert "the factory returned str" in str(subscription.error)


def test_log_lines_about_a_failure_have_no_text_of_it(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_notice: Notice) -> None:
        raise ValueError(SECRET)

    with caplog.at_level(logging.DEBUG), running(turns=1) as rig:
        rig.feed.subscribe(lambda: Recorder([], fail), after=0)
        assert rig.told_parked.wait(WAIT_S)

    assert "ValueError" in caplog.text
    assert "parked" in caplog.text
    assert SECRET not in caplog.text


def test_delays_between_restarts_grow() -> None:
    assert list(RESTART_DELAYS_S) == sorted(set(RESTART_DELAYS_S))


# --- the base class ----------------------------------------------------------------------------


class Closing(Recorder):
    """Says when it is stopped, and in which thread things happened."""

    def __init__(self, seen: list[int], calls: list[str], threads: set[int]) -> None:
        super().__init__(seen, lambda _: self.note("notice"))
        self.calls = calls
        self.threads = threads
        self.note("made")

    def note(self, what: str) -> None:
        self.calls.append(what)
        self.threads.add(threading.get_ident())

    def on_stop(self) -> None:
        self.note("stopped")
        raise ValueError(SECRET)


def test_subscriber_lives_in_one_thread_and_is_stopped_last() -> None:
    calls: list[str] = []
    threads: set[int] = set()
    with running(turns=2) as rig:
        subscription = rig.feed.subscribe(partial(Closing, [], calls, threads), after=0)
        assert subscription.wait(2, WAIT_S)
        assert subscription.cancel(WAIT_S)

    assert calls == ["made", "notice", "notice", "stopped"]
    assert len(threads) == 1
    assert threading.get_ident() not in threads
    assert subscription.state is SubscriptionState.CANCELLED


def test_gap_is_logged_by_a_subscriber_that_does_not_ask_for_gaps(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Subscriber().on_gap(Gap(3, 7, Reason.TRIMMED_STORAGE_LIMIT))

    assert "positions 3 to 7 are missing: trimmed.storage_limit" in caplog.text


def test_base_class_alone_is_no_subscriber() -> None:
    with running(turns=1) as rig:
        subscription = rig.feed.subscribe(Subscriber, after=0)
        assert rig.told_parked.wait(WAIT_S)
        assert subscription.join(WAIT_S)

    assert isinstance(subscription.error, NotImplementedError)


@pytest.mark.parametrize(
    ("target", "named"),
    [
        (Recorder([]), "Recorder"),
        (pykka.ThreadingActor, "the class ThreadingActor"),
        (None, "NoneType"),
        ("audit", "str"),
    ],
)
def test_what_cannot_be_subscribed_is_refused_by_type(target: Any, named: str) -> None:
    with running() as rig, pytest.raises(InvalidInput, match=rf"not {named}$"):
        rig.feed.subscribe(target)


# --- cancelling ----------------------------------------------------------------------------------


def test_cancelled_subscriber_gets_nothing_more() -> None:
    seen: list[int] = []
    with running(turns=5) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen), after=0)
        assert subscription.wait(5, WAIT_S)
        assert subscription.cancel(WAIT_S)
        rig.turns(5)
        assert rig.feed.drain(WAIT_S)

    assert seen == [1, 2, 3, 4, 5]


def test_subscriber_can_cancel_itself_within_a_batch() -> None:
    seen: list[int] = []
    cancelled: list[bool] = []
    ready = threading.Event()

    def stop_at_3(notice: Notice) -> None:
        ready.wait(WAIT_S)
        if notice.position == 3:
            cancelled.append(subscription.cancel())

    with running(turns=50) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder(seen, stop_at_3), after=0)
        ready.set()
        assert subscription.join(WAIT_S)

    assert cancelled == [False]
    assert seen == [1, 2, 3]
    assert subscription.position == 3
    assert not rig.parked


def test_cancelling_does_not_wait_for_the_back_off() -> None:
    def fail(_notice: Notice) -> None:
        raise ValueError

    with running(turns=1, restart_delays_s=(3600.0,)) as rig:
        subscription = rig.feed.subscribe(lambda: Recorder([], fail), after=0)
        while subscription.restarts == 0:
            assert not subscription.wait(1, 0.01)

        assert subscription.cancel(WAIT_S)


# --- pykka actors ------------------------------------------------------------------------------


class Agent(pykka.ThreadingActor):
    """A user's actor: writes down batches, and does what `act` says."""

    def __init__(self, batches: list[Notices], act: Callable[[Notices], object]) -> None:
        super().__init__()
        self.batches = batches
        self.act = act

    def on_receive(self, message: Any) -> Any:
        assert isinstance(message, Notices)
        self.act(message)
        self.batches.append(message)


def nothing(_notices: Notices) -> None:
    """An actor that just takes what it gets."""


def told(batches: list[Notices]) -> list[int]:
    return [item.position for batch in batches for item in batch.items if isinstance(item, Notice)]


def test_actor_is_asked_batches_that_follow_each_other() -> None:
    batches: list[Notices] = []
    agent = Agent.start(batches, nothing)
    with running(turns=600) as rig:
        subscription = rig.feed.subscribe(agent, after=0)
        assert subscription.wait(600, WAIT_S)

    assert told(batches) == list(range(1, 601))
    assert [batch.first for batch in batches] == [1, *(batch.last + 1 for batch in batches[:-1])]
    assert 1 < len(batches) < 60
    assert agent.is_alive()


def test_actor_that_raises_gets_the_same_batch_again() -> None:
    batches: list[Notices] = []
    errors: list[BaseException] = [ValueError(SECRET), pykka.Timeout(), pykka.ActorDeadError()]

    def act(_notices: Notices) -> None:
        if errors:
            raise errors.pop()

    agent = Agent.start(batches, act)
    with running(turns=5) as rig:
        subscription = rig.feed.subscribe(agent, after=0)
        assert subscription.wait(5, WAIT_S)
        assert subscription.restarts == 3

    assert told(batches) == [1, 2, 3, 4, 5]


def test_actor_that_keeps_raising_is_parked_and_lives_on() -> None:
    def act(_notices: Notices) -> None:
        raise ValueError(SECRET)

    agent = Agent.start([], act)
    with running(turns=5) as rig:
        subscription = rig.feed.subscribe(agent, after=0)
        assert rig.told_parked.wait(WAIT_S)
        assert subscription.join(WAIT_S)

    assert subscription.state is SubscriptionState.PARKED
    assert agent.is_alive()


def test_actor_that_exits_on_a_batch_is_parked_and_the_feed_goes_on() -> None:
    """Its SystemExit makes pykka stop every registered actor; ours is not among them."""
    seen: list[int] = []

    def act(_notices: Notices) -> None:
        raise SystemExit

    agent = Agent.start([], act)
    with running(turns=5) as rig:
        dying = rig.feed.subscribe(agent, after=0)
        other = rig.feed.subscribe(lambda: Recorder(seen), after=0)
        assert rig.told_parked.wait(WAIT_S)
        assert dying.join(WAIT_S)
        rig.turns(5)
        assert other.wait(10, WAIT_S)

    assert not agent.is_alive()
    assert dying.state is SubscriptionState.PARKED
    assert seen == list(range(1, 11))


def test_actor_that_its_owner_stopped_ends_the_subscription_and_is_no_failure() -> None:
    agent = Agent.start([], nothing)
    with running(turns=1) as rig:
        subscription = rig.feed.subscribe(agent, after=0)
        assert subscription.wait(1, WAIT_S)
        agent.stop()
        rig.turns(1)
        assert subscription.join(WAIT_S)

    assert subscription.state is SubscriptionState.STOPPED
    assert not rig.parked


def test_actor_from_a_factory_is_started_again_and_stopped_in_the_end() -> None:
    batches: list[Notices] = []
    made: list[pykka.ActorRef[Agent]] = []
    exits = [True]

    def act(_notices: Notices) -> None:
        if exits:
            exits.pop()
            raise SystemExit

    def make() -> pykka.ActorRef[Agent]:
        made.append(Agent.start(batches, act))
        return made[-1]

    with running(turns=5) as rig:
        subscription = rig.feed.subscribe(make, after=0)
        assert subscription.wait(5, WAIT_S)
        assert [ref.is_alive() for ref in made] == [False, True]
        assert subscription.cancel(WAIT_S)

    assert told(batches) == [1, 2, 3, 4, 5]
    made[-1].actor_stopped.wait(WAIT_S)
    assert not made[-1].is_alive()


def test_cancelling_does_not_wait_for_an_actor_that_does_not_answer() -> None:
    go_on = threading.Event()
    asked = threading.Event()

    def act(_notices: Notices) -> None:
        asked.set()
        go_on.wait(WAIT_S)

    agent = Agent.start([], act)
    with running(turns=1) as rig:
        subscription = rig.feed.subscribe(agent, after=0)
        assert asked.wait(WAIT_S)

        assert subscription.cancel(WAIT_S)
        assert subscription.position == 0
        go_on.set()
