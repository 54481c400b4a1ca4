"""The newest notices in memory: one run of positions without a hole, shared by all subscriptions.

The feed's thread alone writes. Any thread reads without a lock: the run is one list that only
grows at its end, and is replaced by a shorter copy when it is too long, so whoever holds a view
sees the same positions at the same places.
"""

from collections.abc import Sequence

from turnfold.events.notice import Notice

_View = tuple[int, list[Notice]]
"""The position of the first notice, and the run."""


class Tail:
    """At most `capacity` notices; those through `durable` may be told."""

    __slots__ = ("_capacity", "_view", "durable")

    def __init__(self, durable: int, capacity: int) -> None:
        self.durable = durable
        self._capacity = capacity
        self._view: _View = (durable + 1, [])

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last position held; (n + 1, n) if none is."""
        first, run = self._view
        return first, first + len(run) - 1

    def take(self, after: int, most: int) -> tuple[Notice, ...]:
        """At most `most` notices from position `after` + 1 on; none if the tail begins later."""
        first, run = self._view
        skip = after + 1 - first
        return tuple(run[skip : skip + most]) if skip >= 0 else ()

    # --- the feed's thread ----------------------------------------------------------------

    def put(self, notices: Sequence[Notice]) -> None:
        """Add the notices of the next positions. After a hole the tail begins anew."""
        if not notices:
            return
        first, run = self._view
        if notices[0].position != first + len(run):
            first, run = notices[0].position, []
        run.extend(notices)
        over = len(run) - self._capacity
        if over > 0:
            # A quarter more than needed, so that copies are few.
            cut = min(len(run), over + self._capacity // 4)
            first, run = first + cut, run[cut:]
        self._view = (first, run)

    def skip_to(self, position: int) -> None:
        """Hold nothing; the next notice is that of `position` + 1."""
        self._view = (position + 1, [])
