"""Admission: how many commands may be in flight, bounded at the door.

pykka's inbox has no bound, so the bound stands before it. A permit is taken in the sender's
thread and given back when the command's slot is settled. Who finds no permit is refused with
StoreBusy or stands in line; a permit given back goes to the first in line.
"""

import threading
from collections import deque

import attrs

from turnfold.actors.reply import BlockingSlot, LoopSlot, Slot
from turnfold.events.errors import StoreBusy, StoreClosed


def closed_error() -> StoreClosed:
    """The error for a command that came after the store was closed."""
    return StoreClosed("the store is closed and nothing was stored; open it again")


@attrs.define(eq=False)
class _Place:
    """One place in the line. `granted` is set under the lock when a permit goes to it."""

    slot: Slot
    granted: bool = False


class Admission:
    """Permits for `limit` commands. All methods are safe from any thread and short."""

    __slots__ = ("_closed", "_free", "_limit", "_line", "_lock")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._free = limit
        self._line: deque[_Place] = deque()
        self._lock = threading.Lock()
        self._closed = False

    @property
    def in_flight(self) -> int:
        """Permits that are out."""
        return self._limit - self._free

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._line)

    def try_enter(self) -> bool:
        """Take a permit if one is free and nobody stands in line. Raises StoreClosed."""
        with self._lock:
            if self._closed:
                raise closed_error()
            if self._free and not self._line:
                self._free -= 1
                return True
            return False

    def enter(self, timeout_s: float | None = None) -> None:
        """Take a permit; stand in line for it if need be (None: as long as it takes).

        Raises StoreBusy after `timeout_s` seconds, or StoreClosed.
        """
        if self.try_enter():
            return
        if timeout_s is not None and timeout_s <= 0:
            raise self.busy_error()
        slot = BlockingSlot()
        place = self._stand_in_line(slot)
        if place.granted:
            return
        try:
            slot.wait(timeout_s)
        except StoreBusy:
            if self._leave_line(place):
                raise self.busy_error() from None
            slot.wait(None)  # a permit came at the last moment, or the store was closed

    async def enter_async(self, slot: LoopSlot) -> None:
        """As `enter`, without blocking the loop; a cancelled task gives its place or permit back.

        Raises StoreClosed.
        """
        place = self._stand_in_line(slot)
        if place.granted:
            return
        try:
            await slot.future
        except BaseException:  # cancelled, or the store was closed: goes on to the caller
            self._give_up(place)
            raise

    def leave(self, count: int) -> None:
        """Give permits back: to those in line first."""
        granted: list[_Place] = []
        with self._lock:
            while count and self._line:
                place = self._line.popleft()
                place.granted = True
                granted.append(place)
                count -= 1
            self._free += count
        for place in granted:
            if not place.slot.settle(None):  # its loop is closed: nobody will use the permit
                self.leave(1)

    def close(self) -> None:
        """Let nobody in any more; those in line get StoreClosed."""
        with self._lock:
            self._closed = True
            waiting = list(self._line)
            self._line.clear()
        for place in waiting:
            place.slot.settle(closed_error())

    def disown(self) -> None:
        """In a forked child: nobody gets in. The lock may have been held at the fork."""
        self._lock = threading.Lock()
        self._line = deque()
        self._closed = True

    def busy_error(self) -> StoreBusy:
        """The error for a command that got no permit."""
        return StoreBusy(
            f"{self._limit} commands are in flight and nothing was stored; try again later, wait"
            " longer, or raise conversation.limits.commands_in_flight"
        )

    def _stand_in_line(self, slot: Slot) -> _Place:
        """A place at the end of the line, or one granted at once if a permit is free."""
        place = _Place(slot)
        with self._lock:
            if self._closed:
                raise closed_error()
            if self._free and not self._line:
                self._free -= 1
                place.granted = True
            else:
                self._line.append(place)
        return place

    def _give_up(self, place: _Place) -> None:
        """Give the place back, or the permit if one has come."""
        if not self._leave_line(place) and place.granted:
            self.leave(1)

    def _leave_line(self, place: _Place) -> bool:
        """Stop waiting; False if a permit (or the end) has come already."""
        with self._lock:
            if place in self._line:
                self._line.remove(place)
                return True
            return False
