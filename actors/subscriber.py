"""Who gets the notices: the `Subscriber` to derive from, and raw pykka actors.

A target takes one batch at a time in the thread of its subscription. It returns when the batch is
handled, which acknowledges it, or raises; then `handled` says how far it came. Nothing that a
subscriber raises, SystemExit included, leaves that thread.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeGuard

import pykka

from turnfold.actors.pump import Notices
from turnfold.events.errors import InvalidInput
from turnfold.events.event import Gap
from turnfold.events.notice import Notice

logger = logging.getLogger(__name__)

ANSWER_POLL_S: Final = 0.25  # how soon a dead actor or a cancelled subscription is noticed


class Subscriber:
    """Derive from it and write `on_notice`; pass the class (or a factory) to `subscribe`.

    Every instance runs in one thread of its own: it is made there, every method is called there,
    and after an exception a new instance takes its place and goes on with the first notice that
    was not handled. So a notice may be seen more than once, and none is left out.
    """

    def on_notice(self, notice: Notice) -> None:
        """Handle one notice; returning acknowledges it. The subscriber's thread.

        An exception ends this instance: the next one gets the same notice again.
        """
        raise NotImplementedError

    def on_gap(self, gap: Gap) -> None:
        """Positions `gap.first`..`gap.last` can't be told: lost or trimmed. Here: log a warning.

        The subscriber's thread; an exception is as one in `on_notice`.
        """
        logger.warning("positions %d to %d are missing: %s", gap.first, gap.last, gap.reason)

    def on_stop(self) -> None:
        """Let go of what the instance holds. The subscriber's thread, once, as its last call.

        An exception is logged and changes nothing.
        """


Factory = Callable[[], "Subscriber | pykka.ActorRef[Any]"]


class Interrupted(Exception):
    """The subscription was cancelled while a batch was out."""


class Gone(Exception):
    """The actor was stopped by its owner before it got the batch."""


class Target(Protocol):
    """Where a subscription's batches go. All but `interrupt` run in the subscription's thread."""

    handled: int
    """The last position that was handled, also when `deliver` raised."""

    def deliver(self, notices: Notices) -> None:
        """Return when the batch is handled; raise if it is not."""
        ...

    def interrupt(self) -> None:
        """End a `deliver` that waits for somebody else. Any thread."""
        ...

    def stop(self) -> None:
        """The last call: nothing more will be delivered."""
        ...


class SubscriberTarget:
    """Calls a `Subscriber`, notice by notice; each return acknowledges."""

    __slots__ = ("_interrupted", "_subscriber", "handled")

    def __init__(self, subscriber: Subscriber) -> None:
        self._subscriber = subscriber
        self._interrupted = False
        self.handled = 0

    def deliver(self, notices: Notices) -> None:
        """Call `on_notice` and `on_gap` in order. Raises Interrupted between two of them."""
        on_notice = self._subscriber.on_notice
        for item in notices.items:
            if self._interrupted:
                raise Interrupted
            if isinstance(item, Gap):
                self._subscriber.on_gap(item)
                self.handled = item.last
            else:
                on_notice(item)
                self.handled = item.position
        self.handled = notices.last

    def interrupt(self) -> None:
        """End the batch after the notice in hand."""
        self._interrupted = True

    def stop(self) -> None:
        """Call `on_stop`."""
        self._subscriber.on_stop()


class RefTarget:
    """Asks a pykka actor to handle `Notices`; its answer, whatever it is, acknowledges.

    `owned` actors were started for this subscription and are stopped with it.
    """

    __slots__ = ("_interrupted", "_owned", "_ref", "handled")

    def __init__(self, ref: pykka.ActorRef[Any], *, owned: bool) -> None:
        self._ref = ref
        self._owned = owned
        self._interrupted = threading.Event()
        self.handled = 0

    def deliver(self, notices: Notices) -> None:
        """Ask, and wait for the answer as long as the actor lives.

        Raises what the actor raised, ActorDeadError if it died on the batch, Gone if it was
        stopped before, Interrupted.
        """
        if not self._ref.is_alive():
            raise Gone
        future = self._ref.ask(notices, block=False)
        earlier: pykka.Timeout | None = None
        while True:
            alive = self._ref.is_alive()  # before the wait: an answer comes before the end
            try:
                future.get(timeout=ANSWER_POLL_S)
            except pykka.Timeout as error:
                if error is earlier:  # the same object again: it is the actor's own answer
                    raise
                earlier = error
            except pykka.ActorDeadError:
                raise (pykka.ActorDeadError if self._ref.is_alive() else Gone) from None
            else:
                self.handled = notices.last
                return
            if self._interrupted.is_set():
                raise Interrupted
            if not alive:
                raise pykka.ActorDeadError

    def interrupt(self) -> None:
        """Stop waiting for the answer."""
        self._interrupted.set()

    def stop(self) -> None:
        """Stop the actor if it was started for this subscription."""
        if self._owned:
            self._ref.stop(block=False)


def target_maker(target: object) -> Callable[[], Target]:
    """What makes the target for the first time and after each failure.

    Raises InvalidInput if `target` is neither an ActorRef nor a factory.
    """
    if _is_ref(target):
        return lambda: RefTarget(target, owned=False)
    if _is_another_class(target) or not callable(target):
        raise InvalidInput(
            "subscribe an ActorRef, a class derived from Subscriber, or a function that returns"
            f" one of them, not {_name(target)}"
        )
    factory: Callable[[], object] = target
    return lambda: _made(factory())


def _made(made: object) -> Target:
    if isinstance(made, Subscriber):
        return SubscriberTarget(made)
    if _is_ref(made):
        return RefTarget(made, owned=True)
    raise InvalidInput(
        f"the factory returned {_name(made)}; it must return a Subscriber or an ActorRef"
    )


def _is_ref(value: object) -> TypeGuard["pykka.ActorRef[Any]"]:
    return isinstance(value, pykka.ActorRef)


def _is_another_class(value: object) -> bool:
    return isinstance(value, type) and not issubclass(value, Subscriber)


def _name(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
