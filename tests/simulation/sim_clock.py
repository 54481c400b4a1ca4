"""A clock that a test moves: the wall either way, the boot clock forward only."""

from typing import Final

NS_PER_S: Final = 1_000_000_000
DAY_NS: Final = 24 * 3600 * NS_PER_S
YEAR_NS: Final = 365 * DAY_NS
START_NS: Final = 1_760_000_000 * NS_PER_S


class SimClock:
    """`actors.clock.Clock`, standing still until it is moved."""

    recorded = False

    def __init__(self, wall_ns: int = START_NS) -> None:
        self._wall_ns = wall_ns
        self._boot_ns = 0

    def wall_ns(self) -> int:
        """See Clock."""
        return self._wall_ns

    def boot_ns(self) -> int:
        """See Clock."""
        return self._boot_ns

    def pass_time(self, ns: int) -> None:
        """Time goes by: both clocks move."""
        self._wall_ns += ns
        self._boot_ns += ns

    def jump(self, ns: int) -> None:
        """Somebody sets the wall clock; no time goes by."""
        self._wall_ns += ns
