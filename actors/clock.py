"""The only clock. Everything else gets the time as an argument.

Two readings matter: the wall clock (UTC ns), which events record for people, and the *age*, which
alone decides expiry and never falls. While a store is open its age runs on CLOCK_BOOTTIME (which
goes on while the machine sleeps); at open it is carried on by `max(0, wall now - last wall)`, so
a wall clock that was set back adds nothing.
"""

import threading
import time
from typing import Final, Protocol

from turnfold.events.commands import Instant

NS_PER_S: Final = 1_000_000_000
# Not every platform has CLOCK_BOOTTIME; the monotonic clock may stop while the machine sleeps.
_BOOT_CLOCK: Final[int | None] = getattr(time, "CLOCK_BOOTTIME", None)


class Clock(Protocol):
    """What a store asks for the time. Both methods are called from any thread."""

    @property
    def recorded(self) -> bool:
        """Whether the times come from recorded input (then StoreOpened says so)."""
        ...

    def wall_ns(self) -> int:
        """UTC nanoseconds since 1970; may jump either way."""
        ...

    def boot_ns(self) -> int:
        """Nanoseconds on a clock that never falls; its zero means nothing."""
        ...


class SystemClock:
    """The machine's clocks."""

    __slots__ = ()

    @property
    def recorded(self) -> bool:
        """False."""
        return False

    def wall_ns(self) -> int:
        """CLOCK_REALTIME."""
        return time.time_ns()

    def boot_ns(self) -> int:
        """CLOCK_BOOTTIME where there is one."""
        if _BOOT_CLOCK is None:
            return time.monotonic_ns()
        return time.clock_gettime_ns(_BOOT_CLOCK)


class RecordedClock:
    """A clock that stands where the input says: for `ingest --clock recorded` and for tests.

    `advance_to` moves it. A time before the newest one moves the wall back and leaves the age
    where it is: input that is a little out of order ages nothing twice.
    """

    __slots__ = ("_first_ns", "_lock", "_newest_ns", "_wall_ns")

    def __init__(self, wall_ns: int) -> None:
        self._lock = threading.Lock()
        self._wall_ns = self._first_ns = self._newest_ns = wall_ns

    @property
    def recorded(self) -> bool:
        """True."""
        return True

    def wall_ns(self) -> int:
        """The time that was recorded last."""
        return self._wall_ns

    def boot_ns(self) -> int:
        """Nanoseconds from the first time to the newest."""
        return self._newest_ns - self._first_ns

    def advance_to(self, wall_ns: int) -> None:
        """Take the next recorded time."""
        with self._lock:
            self._newest_ns = max(self._newest_ns, wall_ns)
            self._wall_ns = wall_ns


class AgeClock:
    """`Instant`s for one open store: the wall now, and the store's age carried on from `last`.

    `last` is the newest instant that the log recorded, or None for a new store, whose age is 0.
    `highest_at` is the latest wall time seen so far (ns), which a clock moved back doesn't lower.
    """

    __slots__ = (
        "_base_ns",
        "_boot_ns",
        "_lock",
        "_wall_ns",
        "clock",
        "highest_at",
        "opened",
        "recovered_ns",
    )

    def __init__(self, clock: Clock, last: Instant | None) -> None:
        self.clock = clock
        self._boot_ns = clock.boot_ns
        self._wall_ns = clock.wall_ns
        wall = clock.wall_ns()
        self.recovered_ns = 0 if last is None else max(0, wall - last.at)
        age = (0 if last is None else last.age) + self.recovered_ns
        self._base_ns = age - clock.boot_ns()
        self.opened = Instant(wall, age)
        self.highest_at = wall if last is None else max(wall, last.at)
        self._lock = threading.Lock()

    def now(self) -> Instant:
        """Wall clock and age. Any thread."""
        now = Instant(self._wall_ns(), self._base_ns + self._boot_ns())
        if now.at > self.highest_at:
            with self._lock:
                self.highest_at = max(self.highest_at, now.at)
        return now

    def advance_to(self, wall_ns: int) -> Instant:
        """Take a recorded time, which came with a command; only if the clock is a RecordedClock."""
        assert isinstance(self.clock, RecordedClock), "the door lets no time in for other clocks"
        self.clock.advance_to(wall_ns)
        return self.now()

    def age(self) -> int:
        """The age alone (ns). Any thread."""
        return self._base_ns + self._boot_ns()
