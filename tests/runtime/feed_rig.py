"""A feed over a small log, and subscribers that write down what they get."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from runtime.feed_log import SECRET, ListLog, added, started

from turnfold.actors.checkpoints import MemoryCheckpoints
from turnfold.actors.feed import Feed
from turnfold.actors.subscriber import Subscriber
from turnfold.events.event import Event, Gap
from turnfold.events.notice import Notice

WAIT_S = 30  # for conditions that come at once unless something is broken


class Rig:
    """The log, the feed on it, and what the feed told the store."""

    def __init__(self, *, waiting: int = 4, turns: int = 0, **options: Any) -> None:
        self.log = ListLog()
        self.log.turns(turns)
        self.saved = MemoryCheckpoints()
        self.parked: list[tuple[bytes, int]] = []
        self.told_parked = threading.Event()
        settings: dict[str, Any] = {
            "read": self.log.read,
            "head": lambda: self.log.durable,
            "secret": SECRET,
            "where": {},
            "notices_waiting": waiting,
            "checkpoints": self.saved,
            "parked": self._park,
            "restart_delays_s": (0.0, 0.0, 0.0),
            "round_s": 0.0,
        }
        self.feed = Feed(**(settings | options))
        self.feed.start()

    def _park(self, name_tag: bytes, position: int) -> None:
        self.parked.append((name_tag, position))
        self.told_parked.set()

    def commit(self, *events: Event, durable: bool = True) -> None:
        """One frame of these events, published as the store actor does."""
        self.feed.publish(self.log.append(*events, durable=durable), self.log.durable)

    def turns(self, count: int, *, frame: int = 1) -> None:
        """`count` more turns, published frame by frame."""
        while count > 0:
            size = min(frame, count)
            first = self.log.position + 1
            self.commit(
                *(started(p) if p == 1 else added(p, 1) for p in range(first, first + size))
            )
            count -= size


@contextmanager
def running(**options: Any) -> Generator[Rig]:
    """A rig that is closed in the end and leaves no thread."""
    rig = Rig(**options)
    try:
        yield rig
    finally:
        assert rig.feed.close(WAIT_S)


class Recorder(Subscriber):
    """Writes down positions; those of gaps are negative. `act` is called before each notice."""

    def __init__(self, seen: list[int], act: Callable[[Notice], object] | None = None) -> None:
        self.seen = seen
        self.act = act

    def on_notice(self, notice: Notice) -> None:
        if self.act is not None:
            self.act(notice)
        self.seen.append(notice.position)

    def on_gap(self, gap: Gap) -> None:
        self.seen += [-position for position in range(gap.first, gap.last + 1)]
