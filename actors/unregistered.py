"""The base of every actor that Turnfold starts: a pykka actor that is not in pykka's registry.

A BaseException in any registered actor makes pykka call `ActorRegistry.stop_all()`, and
messages left in a stopped actor's inbox are dropped. So our actors stay out of the registry,
are started and joined by the supervisor alone, and answer what is left in their inbox in
`on_stop`. The inbox is a SimpleQueue: 0.2 us a message instead of 4.8.
"""

import queue
import threading
from typing import Any, Self

import pykka
from pykka import ActorRef

Inbox = queue.SimpleQueue[Any]


class UnregisteredActor(pykka.ThreadingActor):
    """Start it with `launch`, never with `start` (which registers).

    A subclass must not let any exception out of `on_receive`: for a told message pykka would
    end the actor, and for a BaseException it would stop every actor of the process.
    """

    use_daemon_thread = True  # the supervisor joins it; a forgotten close() can't hang the exit
    thread: threading.Thread | None = None

    @staticmethod
    def _create_actor_inbox() -> Inbox:
        return queue.SimpleQueue()

    @classmethod
    def start(cls, *args: Any, **kwargs: Any) -> ActorRef[Any]:
        """Refused: it would register the actor. Use `launch`."""
        del args, kwargs
        msg = f"{cls.__name__} stays out of pykka's registry; use {cls.__name__}.launch()"
        raise RuntimeError(msg)

    @classmethod
    def launch(cls, *args: Any, **kwargs: Any) -> Self:
        """Construct the actor in the caller's thread and start its own."""
        actor = cls(*args, **kwargs)
        actor.run()
        return actor

    def run(self) -> None:
        """Start the thread of an actor that was constructed before."""
        self._start_actor_loop()

    def _start_actor_loop(self) -> None:
        name = f"turnfold-{type(self).__name__}"
        self.thread = threading.Thread(target=self._actor_loop, name=name, daemon=True)
        self.thread.start()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until the thread has ended; whether it has."""
        if self.thread is not None:
            self.thread.join(timeout_s)
        return not self.is_running

    @property
    def is_running(self) -> bool:
        """Whether the thread was started and has not ended."""
        return self.thread is not None and self.thread.is_alive()

    def undelivered(self) -> list[Any]:
        """Take what is left in the inbox: the envelopes' messages, in order."""
        left: list[Any] = []
        while True:
            try:
                left.append(self.actor_inbox.get_nowait().message)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType]  # our inbox is a SimpleQueue
            except queue.Empty:
                return left
