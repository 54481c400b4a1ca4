"""A store's life in few numbers: sessions and bytes over time, and what happened when.

However long the log, at most `buckets` stretches of equal length are kept: when more would be
needed, each two are joined. So the memory is bounded and one pass is enough.
"""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import attrs

from turnfold.events.event import Event
from turnfold.events.limits import Limits
from turnfold.events.state import StoreState

BUCKETS: Final = 480


class Mark(StrEnum):
    """What is marked, in the order in which it is drawn."""

    COMPACTION = "compaction"
    EXPIRY = "expiry"
    EVICTION = "eviction"
    DELETION = "deletion"
    QUARANTINE = "quarantine"
    DAMAGE = "damage"
    OPENING = "opening"


_MARKS: Final = {
    "SessionCompacted": Mark.COMPACTION,
    "SessionExpired": Mark.EXPIRY,
    "SessionEvicted": Mark.EVICTION,
    "SessionDeleted": Mark.DELETION,
    "SessionStateDeleted": Mark.DELETION,
    "Quarantined": Mark.QUARANTINE,
    "SessionLost": Mark.DAMAGE,
    "DamageFound": Mark.DAMAGE,
    "StoreOpened": Mark.OPENING,
}


@attrs.define
class Bucket:
    """One stretch: the most sessions and bytes in it, those at its end, and marks by kind."""

    first: int  # position
    last: int  # position
    sessions: int = 0
    sessions_most: int = 0
    bytes: int = 0
    bytes_most: int = 0
    marks: Counter[Mark] = attrs.Factory(Counter[Mark])

    def after(self) -> "Bucket":
        """A stretch behind this one in which nothing happens."""
        return Bucket(self.last, self.last, self.sessions, self.sessions, self.bytes, self.bytes)

    def join(self, later: "Bucket") -> None:
        """Take in the stretch behind this one."""
        self.last = later.last
        self.sessions, self.bytes = later.sessions, later.bytes
        self.sessions_most = max(self.sessions_most, later.sessions_most)
        self.bytes_most = max(self.bytes_most, later.bytes_most)
        self.marks += later.marks


@attrs.frozen
class LimitChange:
    """From `x` on so many sessions and bytes are allowed."""

    x: int
    active_sessions: int
    aggregate_bytes: int


class Timeline:
    """Filled by `add`, step by step. `x` is wall time (UTC ns) or, with `by_position`, positions.

    A wall clock that went back is held where it was: the picture's time never falls.
    """

    def __init__(self, *, by_position: bool = False, buckets: int = BUCKETS) -> None:
        self.by_position = by_position
        self.width = 1  # of a bucket, in units of x
        self.begin = self.end = 0  # x of the first and the last step
        self.first = self.last = 0  # positions
        self.buckets: dict[int, Bucket] = {}
        self.reasons: Counter[str] = Counter()
        self.limits: list[LimitChange] = []
        self._most = buckets

    def add(self, events: Iterable[Event], state: StoreState) -> None:
        """The next step of a replay: its events and the state after it."""
        x = state.position if self.by_position else state.highest_at
        if not self.last:
            self.begin, self.first = x, state.position
        self.end, self.last = max(x, self.end), state.position
        bucket = self._bucket(state.position)
        bucket.last = state.position
        bucket.sessions, bucket.bytes = state.active, state.total_bytes
        bucket.sessions_most = max(bucket.sessions_most, state.active)
        bucket.bytes_most = max(bucket.bytes_most, state.total_bytes)
        for event in events:
            self.reasons[event.reason.value] += 1
            mark = _MARKS.get(type(event).__name__)
            if mark is not None:
                bucket.marks[mark] += 1
        self._see_limits(state.opening.limits)

    def _see_limits(self, limits: Limits) -> None:
        now = limits.active_sessions, limits.aggregate_bytes
        before = self.limits[-1] if self.limits else None
        if before is None or (before.active_sessions, before.aggregate_bytes) != now:
            self.limits.append(LimitChange(self.end, *now))

    def _bucket(self, position: int) -> Bucket:
        index = (self.end - self.begin) // self.width
        while index >= self._most:
            self._join_pairs()
            index = (self.end - self.begin) // self.width
        bucket = self.buckets.get(index)
        if bucket is None:
            bucket = self.buckets[index] = Bucket(position, position)
        return bucket

    def _join_pairs(self) -> None:
        joined: dict[int, Bucket] = {}
        for index, bucket in self.buckets.items():
            earlier = joined.get(index // 2)
            if earlier is None:
                joined[index // 2] = bucket
            else:
                earlier.join(bucket)
        self.buckets = joined
        self.width *= 2

    @property
    def marks(self) -> Counter[Mark]:
        """How often each happened, all told."""
        total: Counter[Mark] = Counter()
        for bucket in self.buckets.values():
            total += bucket.marks
        return total

    def spread(self, columns: int) -> list[Bucket]:
        """The buckets at `columns` places of equal width; where nothing happened, what was."""
        span = max(1, self.end - self.begin + 1)
        cells: list[Bucket | None] = [None] * columns
        for index, bucket in self.buckets.items():
            at = min(columns - 1, index * self.width * columns // span)
            cell = cells[at]
            if cell is None:
                cells[at] = attrs.evolve(bucket, marks=Counter(bucket.marks))
            else:
                cell.join(bucket)
        filled: list[Bucket] = []
        before = Bucket(self.first, self.first)
        for cell in cells:
            before = cell if cell is not None else before.after()
            filled.append(before)
        return filled
