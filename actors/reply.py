"""One-shot reply slots: where the answer to a command goes.

The store actor settles each slot exactly once, with an answer or with an exception, after the
sync that covers the batch in which the command was decided. A waiter that has gone (a dead
actor, a closed loop, a cancelled task) is tolerated and counted, never an error of the store.
"""

import asyncio
import queue
import threading
from collections.abc import Iterable
from typing import Any, Protocol, cast

import attrs
import pykka

from turnfold.actors.messages import CommandFailed, Correlated, Receipts
from turnfold.events.errors import StoreBusy, TurnfoldError
from turnfold.events.receipts import Receipt

Outcome = object
"""An answer, or a TurnfoldError that the waiter shall get."""


class Slot(Protocol):
    """Where one outcome goes."""

    def settle(self, outcome: Outcome) -> bool:
        """Deliver the outcome; False if nobody is there any more. Any thread, once."""
        ...


class NoReply:
    """For a command that was told without `reply_to`: nobody waits."""

    __slots__ = ()

    def settle(self, outcome: Outcome) -> bool:  # noqa: ARG002 - the protocol's signature
        """Drop the outcome."""
        return True


NO_REPLY = NoReply()


class BlockingSlot:
    """For one waiting thread. A raw lock is several times cheaper than a Condition."""

    __slots__ = ("_lock", "_outcome")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._outcome: Outcome = None

    def settle(self, outcome: Outcome) -> bool:
        """Wake the waiting thread."""
        self._outcome = outcome
        self._lock.release()
        return True

    def wait(self, timeout_s: float | None) -> Any:
        """The answer; call it once. Raises the error that is the outcome, or StoreBusy."""
        if not self._lock.acquire(timeout=-1 if timeout_s is None else max(0.0, timeout_s)):
            msg = (
                "the store gave no answer in time; the command may still be carried out:"
                " try again with the same turn_id, which adds nothing twice"
            )
            raise StoreBusy(msg)
        outcome = self._outcome
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


class LoopSlot:
    """For one awaiting task. Slots of one loop that are settled together cost one wake-up."""

    __slots__ = ("future", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()

    def settle(self, outcome: Outcome) -> bool:
        """Wake the task; False if its loop is closed."""
        return not _wake(self.loop, [(self.future, outcome)])


class ActorSlot:
    """Tells the outcome to a pykka actor: the answer itself, or CommandFailed."""

    __slots__ = ("_correlation_id", "_reply_to")

    def __init__(self, reply_to: pykka.ActorRef[Any], correlation_id: object) -> None:
        self._reply_to = reply_to
        self._correlation_id = correlation_id

    def settle(self, outcome: Outcome) -> bool:
        """Tell the actor; False if it is dead or can't be told."""
        if isinstance(outcome, TurnfoldError):
            outcome = CommandFailed(outcome)
        elif isinstance(outcome, tuple):
            outcome = Receipts(cast("tuple[Receipt, ...]", outcome))
        if self._correlation_id is not None:
            outcome = Correlated(self._correlation_id, outcome)
        try:
            self._reply_to.tell(outcome)
        except Exception:  # noqa: BLE001 - a caller's object; what it raises is no error of the store
            return False
        return True


class FutureSlot:
    """For `ask(block=False)`: settles a pykka future, which any thread may `get`."""

    __slots__ = ("future",)

    def __init__(self) -> None:
        self.future: pykka.Future[Any] = pykka.ThreadingFuture()

    def settle(self, outcome: Outcome) -> bool:
        """Set the future's value or exception; False if whoever holds it has set it before."""
        try:
            if isinstance(outcome, BaseException):
                self.future.set_exception((type(outcome), outcome, None))
            else:
                self.future.set(outcome)
        except queue.Full:
            return False
        return True


@attrs.define
class ReplyCounts:
    """Replies that found nobody: dead actors and closed loops."""

    undeliverable: int = 0


def settle_all(outcomes: Iterable[tuple[Slot, Outcome]], counts: ReplyCounts) -> None:
    """Settle many slots, with one `call_soon_threadsafe` per event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Outcome]]] = {}
    for slot, outcome in outcomes:
        if type(slot) is LoopSlot:
            waiting = loops.get(slot.loop)
            if waiting is None:
                waiting = loops[slot.loop] = []
            waiting.append((slot.future, outcome))
        elif not slot.settle(outcome):
            counts.undeliverable += 1
    for loop, waiting in loops.items():
        counts.undeliverable += _wake(loop, waiting)


def _wake(
    loop: asyncio.AbstractEventLoop, waiting: list[tuple[asyncio.Future[Any], Outcome]]
) -> int:
    """Settle futures in their loop's thread; how many were lost because the loop is closed."""
    try:
        loop.call_soon_threadsafe(_settle_futures, waiting)
    except RuntimeError:  # the loop is closed: its tasks are gone
        return len(waiting)
    return 0


def _settle_futures(waiting: list[tuple[asyncio.Future[Any], Outcome]]) -> None:
    for future, outcome in waiting:
        if future.done():  # cancelled: the command stands, whole
            continue
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
