"""The feed: from the store actor's commits to every subscriber, without anyone waiting for anyone.

The store actor's thread calls `publish` after each commit, which puts the events into the feed's
inbox and returns. The feed's thread makes notices of them, once for all subscriptions, puts them
into the tail and wakes the subscriptions, each of which has a thread of its own and takes what
comes next for it: from the tail, or, when the tail no longer reaches back to it, from the log.

So what waits for a subscriber is bounded (the tail, shared by all), a slow one is only further
back, and each sees every durable position exactly in order.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pykka

from turnfold.actors.async_notices import AsyncNotices
from turnfold.actors.catch_up import SLICE_EVENTS, EventReader, LogCursor
from turnfold.actors.checkpoints import Checkpoints, CheckpointStorage
from turnfold.actors.pump import Pump
from turnfold.actors.subscriber import Factory, Target, target_maker
from turnfold.actors.subscription import QUIET_REST_S, Subscription
from turnfold.actors.supply import Standing, Supply
from turnfold.actors.tail import Tail
from turnfold.events.errors import InvalidInput, StoreClosed
from turnfold.events.event import ContentErased, Event, SessionStarted
from turnfold.events.keys import ConversationKey, pseudonym
from turnfold.events.notice import Notice, notices
from turnfold.events.reasons import Reason
from turnfold.events.session import KeyTag

logger = logging.getLogger(__name__)

# Between two rounds of notices: under load, threads are woken 100 times a second and not once a
# commit. The first event after a quiet time is told at once.
ROUND_S: Final = 0.01
RESTART_DELAYS_S: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
CHECKPOINT_INTERVAL_S: Final = 1.0


class Feed:
    """All subscriptions of one store.

    `read(after)` gives the durable events after a position, a frame at a time, without content,
    and a `Gap` where positions are missing; it is called from the subscriptions' threads.
    `head()` is the durable position, from any thread. `where` says whose session is whose when
    the feed starts (`events.notice.whereabouts`). `parked(name_tag, position)` is called from a
    subscription's thread when its subscriber failed too often; it must not wait and not raise.
    `notices_waiting` bounds the tail. `restart_delays_s` are the waits before each restart; when
    they are used up the subscriber is parked.
    """

    def __init__(
        self,
        *,
        read: EventReader,
        head: Callable[[], int],
        secret: bytes,
        where: Mapping[int, KeyTag],
        notices_waiting: int,
        checkpoints: CheckpointStorage,
        parked: Callable[[bytes, int], None],
        restart_delays_s: Sequence[float] = RESTART_DELAYS_S,
        checkpoint_interval_s: float = CHECKPOINT_INTERVAL_S,
        round_s: float = ROUND_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._head = head
        self._secret = secret
        self._where = dict(where)
        self._checkpoints = Checkpoints(checkpoints, secret)
        self._restart_delays_s = tuple(restart_delays_s)
        self._round_s = round_s
        self._tail = Tail(head(), notices_waiting)
        gate = threading.Lock()
        self._supply = Supply(
            tail=self._tail,
            cursor=lambda rest: LogCursor(read, self._where, gate=gate, rest=rest),
            checkpoints=self._checkpoints,
            head=head,
            parked=parked,
            clock=clock,
            checkpoint_interval_s=checkpoint_interval_s,
        )
        self._lock = threading.Lock()
        self._subscriptions: tuple[Subscription, ...] = ()  # replaced under the lock, read without
        self._closed = False
        self._process = os.getpid()
        self._inbox: deque[tuple[Sequence[Event], int]] = deque()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="turnfold-Feed", daemon=True)

    # --- the store ----------------------------------------------------------------------------

    def start(self) -> None:
        """Start the feed's thread."""
        self._thread.start()

    def publish(self, events: Sequence[Event], durable: int) -> None:
        """Take a commit's events; positions through `durable` may be told. Never waits.

        Called by the store actor's thread, after each commit and after each sync that moved the
        durable position (then perhaps without events), in order of position.
        """
        self._inbox.append((events, durable))
        if not self._wake.is_set():
            self._wake.set()

    def drain(self, timeout_s: float) -> bool:
        """Wait until every running subscriber has handled what is durable now; whether it has."""
        head = self._head()
        deadline = time.monotonic() + timeout_s
        done = [
            subscription.wait(head, max(0.0, deadline - time.monotonic()))
            for subscription in self._subscriptions
        ]
        return all(done)

    def close(self, timeout_s: float = 5.0) -> bool:
        """End all subscriptions, each after the notice in hand; save their checkpoints.

        Call it after the last `publish`. Returns whether every thread has ended within the
        time: a subscriber that doesn't return keeps its own.
        """
        with self._lock:
            self._closed = True
            subscriptions = self._subscriptions
        self._stopping.set()
        self._wake.set()
        for subscription in subscriptions:
            subscription.stop()
        deadline = time.monotonic() + timeout_s
        ended = [s.join(max(0.0, deadline - time.monotonic())) for s in subscriptions]
        if self._thread.ident is not None:
            self._thread.join(max(0.0, deadline - time.monotonic()))
        return all(ended) and not self._thread.is_alive()

    # --- subscribers --------------------------------------------------------------------------

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        """Those that are running."""
        return self._subscriptions

    def subscribe(
        self,
        target: "pykka.ActorRef[Any] | Factory",
        *,
        name: str | None = None,
        after: int | None = None,
        reasons: Iterable[Reason | str] | None = None,
        key: ConversationKey | None = None,
    ) -> Subscription:
        """Tell `target` everything after position `after`, from now on if it is None.

        `target` is a class derived from Subscriber, a function that makes one or starts an
        actor, or an actor's reference, which is asked `Notices`. With a `name` the subscriber
        goes on after its checkpoint, if it has one, and `after` is for its first time only.
        `reasons` and `key` leave everything else out; gaps are always told.

        Raises InvalidInput (also for a position after the newest durable one, and for a name
        that is in use), CorruptData (a checkpoint beyond the log), StoreClosed.
        """
        make_target = target_maker(target)
        wants = self._filter(reasons, key)
        tag = self._checkpoints.tag(name)
        start = self.first_after(after)
        if name is not None:
            saved = self._checkpoints.load(tag, durable=self._head())
            start = start if saved is None else saved
        pump = Pump(start, wants=wants, restart_delays_s=self._restart_delays_s)
        standing = Standing(
            named=name is not None,
            restartable=not isinstance(target, pykka.ActorRef),
            reported=True,
        )
        return self._launch(pump, make_target, tag, standing)

    def notices(
        self,
        *,
        after: int | None = None,
        reasons: Iterable[Reason | str] | None = None,
        key: ConversationKey | None = None,
    ) -> AsyncNotices:
        """The same as an asynchronous iterator: notices and gaps, until the store is closed.

        At most two batches wait for the loop, which is woken once a batch. Raises InvalidInput.
        """
        wants = self._filter(reasons, key)
        start = self.first_after(after)
        tag = self._checkpoints.tag(None)

        def launch(make_target: Callable[[], Target]) -> Subscription:
            pump = Pump(start, wants=wants)  # no restarts: an error goes to the iterating task
            return self._launch(pump, make_target, tag, Standing())

        return AsyncNotices(launch)

    def first_after(self, after: int | None) -> int:
        """The position to start after. Raises InvalidInput if it isn't there yet."""
        head = self._head()
        if after is None:
            return head
        if type(after) is not int or after < 0:
            raise InvalidInput("after must be a position (an integer from 0) or None")
        if after > head:
            raise InvalidInput(
                f"after={after} is beyond the newest durable position, {head}: start at or before"
                " it, or pass None for what comes from now on"
            )
        return after

    def _filter(
        self, reasons: Iterable[Reason | str] | None, key: ConversationKey | None
    ) -> Callable[[Notice], bool] | None:
        wanted = None if reasons is None else _reasons(reasons)
        if key is None:
            return None if wanted is None else lambda notice: notice.reason in wanted
        if not isinstance(key, ConversationKey):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
            raise InvalidInput("key must be a ConversationKey")
        name, channel = pseudonym(self._secret, key.avatar).hex(), key.channel
        return lambda notice: (
            notice.pseudonym == name
            and notice.channel is channel
            and (wanted is None or notice.reason in wanted)
        )

    def _launch(
        self, pump: Pump, make_target: Callable[[], Target], tag: bytes, standing: Standing
    ) -> Subscription:
        subscription = Subscription(
            self._supply,
            pump,
            make_target,
            name_tag=tag,
            standing=standing,
            ended=self._ended,
        )
        if os.getpid() != self._process:  # a forked child has no thread that would serve it
            raise StoreClosed("this process forked off the store's own; open a store of its own")
        with self._lock:
            if self._closed:
                raise StoreClosed("the store is closed; open it again to subscribe")
            if standing.named and any(s.is_named(tag) for s in self._subscriptions):
                raise InvalidInput(
                    "a subscriber of this name is running; cancel it first, or use another name"
                )
            # Before it starts, so that no wake-up is missed; it can't end before this is left.
            before, self._subscriptions = (
                self._subscriptions,
                (*self._subscriptions, subscription),
            )
            try:
                subscription.start()
            except RuntimeError:  # no more threads
                self._subscriptions = before
                raise
        return subscription

    def _ended(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions = tuple(s for s in self._subscriptions if s is not subscription)

    # --- the feed's thread --------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._wake.clear()
            self._round()
            self._stopping.wait(self._round_s)
        self._round()

    def _round(self) -> None:
        """Take everything from the inbox, then wake whoever waits."""
        inbox = self._inbox
        while inbox:
            events, durable = inbox.popleft()
            for begin in range(0, len(events), SLICE_EVENTS):
                if begin:
                    self._stopping.wait(QUIET_REST_S)
                self._take(events[begin : begin + SLICE_EVENTS])
            self._tail.durable = durable
        for subscription in self._subscriptions:
            subscription.wake()

    def _take(self, events: Sequence[Event]) -> None:
        if self._subscriptions:
            self._tail.put(list(self._told(events)))
        else:
            # Only these two change whose session is whose.
            about = [e for e in events if type(e) is SessionStarted or type(e) is ContentErased]
            deque(self._told(about), maxlen=0)
            self._tail.skip_to(events[-1].position)

    def _told(self, events: Sequence[Event]) -> Iterator[Notice]:
        for notice in notices(events, self._where):
            assert isinstance(notice, Notice)
            yield notice


def _reasons(reasons: Iterable[Reason | str]) -> frozenset[Reason]:
    known = {reason.value: reason for reason in Reason}
    if isinstance(reasons, str):
        raise InvalidInput("reasons must be a collection of reason codes, not one text")
    wanted: set[Reason] = set()
    for reason in reasons:
        if reason not in known:
            raise InvalidInput("reasons holds an unknown code; docs/reference/reasons.md lists all")
        wanted.add(known[reason])
    return frozenset(wanted)
