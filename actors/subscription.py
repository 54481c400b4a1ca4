"""One subscription: a thread that carries out what its `Pump` says.

The thread waits for the tail, reads the log, calls the subscriber, sleeps between restarts and
writes checkpoints. Nobody waits for it: the feed only wakes it, and it takes what is there.
"""

import logging
import threading
from collections.abc import Callable
from typing import Final

import pykka

from turnfold.actors.pump import (
    Action,
    Again,
    CheckpointDue,
    CutShort,
    Deliver,
    Failed,
    Handled,
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
)
from turnfold.actors.subscriber import Gone, Interrupted, Target
from turnfold.actors.supply import Standing, SubscriptionState, Supply
from turnfold.events.errors import TurnfoldError

logger = logging.getLogger(__name__)

PAUSE_S: Final = 0.05  # before the log is asked again for what it should have
# Between slices of reading the log (0.5 ms each): while the store takes turns, all subscriptions
# that are behind get an eighth of the interpreter's time together; in quiet times half of it.
BUSY_REST_S: Final = 0.0035
QUIET_REST_S: Final = 0.0005


class Subscription:
    """A subscriber's place in the stream. Made by `subscribe`; any thread may use it."""

    def __init__(
        self,
        supply: Supply,
        pump: Pump,
        make_target: Callable[[], Target],
        *,
        name_tag: bytes,
        standing: Standing,
        ended: Callable[["Subscription"], None],
    ) -> None:
        self._supply = supply
        self._pump = pump
        self._make_target = make_target
        self._name_tag = name_tag
        self._standing = standing
        self._ended = ended
        self.state = SubscriptionState.RUNNING
        self.error: BaseException | None = None
        self.restarts = 0
        self._target: Target | None = None
        self._cursor = supply.cursor(self._rest)
        self._save_at = supply.clock() + supply.checkpoint_interval_s
        self._told_before = 0
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._moved = threading.Condition()
        self._waiting = 0
        self._thread = threading.Thread(target=self._run, name="turnfold-Subscription", daemon=True)

    @property
    def position(self) -> int:
        """The last position that was handled (or filtered out)."""
        return self._pump.position

    @property
    def lag(self) -> int:
        """How many durable positions are not handled yet."""
        return max(0, self._supply.head() - self._pump.position)

    def wait(self, position: int, timeout_s: float | None = None) -> bool:
        """Wait until everything through `position` is handled; whether it is.

        From the subscriber itself it returns at once.
        """
        if threading.current_thread() is self._thread:
            return self.position >= position
        with self._moved:
            self._waiting += 1
            try:
                self._moved.wait_for(
                    lambda: self.position >= position or self.state != SubscriptionState.RUNNING,
                    timeout_s,
                )
            finally:
                self._waiting -= 1
        return self.position >= position

    def cancel(self, timeout_s: float | None = None) -> bool:
        """End it after the notice in hand and save its checkpoint; whether the thread has ended.

        From the subscriber itself it returns at once, with False.
        """
        self.stop()
        return self.join(timeout_s)

    def __repr__(self) -> str:
        return f"Subscription({self.state}, position={self.position}, lag={self.lag})"

    # --- the feed ---------------------------------------------------------------------------

    def is_named(self, name_tag: bytes) -> bool:
        """Whether it keeps the checkpoint with this tag."""
        return self._standing.named and self._name_tag == name_tag

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """There may be something new. Costs next to nothing if the thread is busy."""
        if not self._wake.is_set():
            self._wake.set()

    def stop(self) -> None:
        """Ask the thread to end; returns at once."""
        self._stopping.set()
        self._wake.set()
        target = self._target
        if target is not None:
            target.interrupt()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait for the thread; whether it has ended."""
        if threading.current_thread() is self._thread:
            return False
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # --- the subscription's thread ------------------------------------------------------------

    def _run(self) -> None:
        end = SubscriptionState.FAILED
        try:
            outcome: Action | SubscriptionState = self._begin()
            while not isinstance(outcome, SubscriptionState):
                if self._stopping.is_set():
                    outcome = SubscriptionState.CANCELLED
                else:
                    outcome = self._carry_out(outcome)
                    self._tell_waiting()
            end = outcome
        finally:
            self._finish(end)

    def _carry_out(self, action: Action) -> Action | SubscriptionState:
        step = self._pump.step
        if isinstance(action, Again):
            return self._look()
        if isinstance(action, TakeTail):
            self._cursor.close()
            return step(Taken(self._supply.tail.take(action.after, action.most)))
        if isinstance(action, ReadLog):
            return self._read_log(action)
        if isinstance(action, Deliver):
            return self._deliver(action.notices)
        if isinstance(action, Save):
            return self._save(action.position)
        if isinstance(action, Restart):
            self._stopping.wait(action.delay_s)
            return self._begin()
        if isinstance(action, Park):
            return SubscriptionState.PARKED
        if isinstance(action, Pause):
            self._stopping.wait(PAUSE_S)
            return Again()
        return self._wait()

    def _begin(self) -> Action:
        try:
            self._target = self._make_target()
        except BaseException as error:  # noqa: BLE001 - a factory's SystemExit ends no thread of ours
            return self._failed(error)
        return Again()

    def _look(self) -> Action:
        self._wake.clear()  # before the look, so that what comes after it is not missed
        if self._unsaved and self._supply.clock() >= self._save_at:
            return self._pump.step(CheckpointDue())
        tail = self._supply.tail
        return self._pump.step(Look(*tail.span, tail.durable))

    def _wait(self) -> Action:
        left_s = self._save_at - self._supply.clock() if self._unsaved else None
        if self._wake.wait(left_s if left_s is None else max(0.0, left_s)):
            return Again()
        return self._pump.step(CheckpointDue())

    def _read_log(self, action: ReadLog) -> Action:
        try:
            items = self._cursor.fetch(action.after, action.most)
        except (OSError, TurnfoldError) as error:
            self._cursor.close()
            return self._failed(error)
        return self._pump.step(Read(items))

    def _deliver(self, notices: Notices) -> Action | SubscriptionState:
        assert self._target is not None
        try:
            self._target.deliver(notices)
        except Interrupted:
            self._pump.step(CutShort(self._target.handled))
            return SubscriptionState.CANCELLED
        except Gone:
            if self._standing.restartable:
                return self._failed(pykka.ActorDeadError("the actor was stopped"))
            return SubscriptionState.PARKED if self.error else SubscriptionState.STOPPED
        except BaseException as error:  # noqa: BLE001 - whatever it raises stays in its own thread
            return self._failed(error)
        self.error = None
        return self._pump.step(Handled())

    def _failed(self, error: BaseException) -> Action:
        self.error = error
        handled = self._target.handled if self._target is not None else 0
        self._stop_target()
        action = self._pump.step(Failed(handled))
        if isinstance(action, Restart):
            self.restarts += 1
        # The type alone: what a subscriber writes into its errors is not ours to log.
        logger.warning(
            "a subscriber failed after position %d with %s and is %s",
            self._pump.position,
            type(error).__name__,
            f"restarted in {action.delay_s:g} s" if isinstance(action, Restart) else "parked",
        )
        return action

    @property
    def _unsaved(self) -> bool:
        return self._standing.named and self._pump.position > self._pump.saved

    def _save(self, position: int) -> Action:
        self._save_at = self._supply.clock() + self._supply.checkpoint_interval_s
        try:
            self._supply.checkpoints.save(self._name_tag, position)
        except (OSError, TurnfoldError) as error:
            # The old one stands, so nothing is left out after a restart; the next one may succeed.
            logger.warning("a checkpoint was not written: %s", type(error).__name__)
            return Again()
        return self._pump.step(Saved(position))

    def _stop_target(self) -> None:
        target, self._target = self._target, None
        if target is None:
            return
        try:
            target.stop()
        except BaseException as error:  # noqa: BLE001 - it stays in the subscriber's own thread
            logger.warning("a subscriber failed in on_stop: %s", type(error).__name__)

    def _finish(self, end: SubscriptionState) -> None:
        self._cursor.close()
        self._stop_target()
        if self._unsaved:
            self._save(self._pump.position)
        with self._moved:
            self.state = end
            self._moved.notify_all()
        self._ended(self)
        if end is SubscriptionState.PARKED and self._standing.reported:
            self._supply.parked(self._name_tag, self._pump.position)

    def _tell_waiting(self) -> None:
        if self._waiting:
            with self._moved:
                self._moved.notify_all()

    def _rest(self) -> None:
        told = self._supply.tail.durable
        self._stopping.wait(QUIET_REST_S if told == self._told_before else BUSY_REST_S)
        self._told_before = told
