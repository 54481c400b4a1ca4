"""What one subscription does next: the switch from catching up to live, and back, as a pure step.

`Pump.step(fact)` takes what just happened and gives the one thing to do now. It has no thread,
no clock and no file, so that a test can put an append or a checkpoint timer between any two steps.
The shell (`actors.subscription`) carries actions out and reports facts:

    Look       -> TakeTail, ReadLog or Wait        where are the next positions?
    Taken      -> Deliver or Again                 from memory: exactly the next ones
    Read       -> Deliver, Again or Pause          from the log: in order, a hole told as a gap
    Handled    -> Again                            the position moves, and only here
    Failed     -> Restart or Park
    CutShort   -> Again
    CheckpointDue -> Save or Again                 never past what was handled
    Saved      -> Again

There is no mode that could be wrong: each look asks anew whether the tail in memory holds the
next position. If it does, the subscription is live; if not, it is served from the log.
Either way an item is taken only if it is exactly the next one.
"""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from turnfold.events.event import Gap
from turnfold.events.notice import Notice
from turnfold.events.reasons import Reason

BATCH_ITEMS_MAX: Final = 256

Item = Notice | Gap


@attrs.frozen
class Notices:
    """A batch for a subscriber: everything it wants of positions `first`..`last`, in order.

    As a message to an actor it is asked, and the return acknowledges it. A `Gap` stands where
    positions are missing; with filters, other positions may be absent without one.
    """

    first: int
    last: int
    items: tuple[Item, ...]


# --- facts -------------------------------------------------------------------------------------


@attrs.frozen
class Look:
    """The tail in memory holds `first`..`last`; positions through `durable` may be told."""

    first: int
    last: int
    durable: int


@attrs.frozen
class Taken:
    """What the tail answered: a run of positions without a hole, or nothing."""

    notices: tuple[Notice, ...]


@attrs.frozen
class Read:
    """What the log answered, in order of position."""

    items: Sequence[Item]


@attrs.frozen
class Handled:
    """The subscriber acknowledged the batch."""


@attrs.frozen
class Failed:
    """The subscriber (or its source) failed; it handled everything through `handled`."""

    handled: int


@attrs.frozen
class CutShort:
    """The subscription ends within a batch; everything through `handled` was handled."""

    handled: int


@attrs.frozen
class CheckpointDue:
    """It is time to save how far the subscriber is."""


@attrs.frozen
class Saved:
    """The checkpoint at `position` is on disk."""

    position: int


Fact = Look | Taken | Read | Handled | Failed | CutShort | CheckpointDue | Saved

# --- actions -----------------------------------------------------------------------------------


@attrs.frozen
class Wait:
    """Nothing to do until a position is told."""


@attrs.frozen
class Pause:
    """The log doesn't show yet what is known to be there: look again in a moment."""


@attrs.frozen
class Again:
    """Look again now."""


@attrs.frozen
class TakeTail:
    """Take at most `most` items after position `after` from memory."""

    after: int
    most: int


@attrs.frozen
class ReadLog:
    """Read at most `most` items of positions `after`+1..`through` from the log."""

    after: int
    through: int
    most: int


@attrs.frozen
class Deliver:
    """Give the batch to the subscriber."""

    notices: Notices


@attrs.frozen
class Save:
    """Save a checkpoint at `position`."""

    position: int


@attrs.frozen
class Restart:
    """Start the subscriber afresh after `delay_s`, then look again."""

    delay_s: float


@attrs.frozen
class Park:
    """The subscriber failed too often; it stands at `position` and is not restarted."""

    position: int


Action = Wait | Pause | Again | TakeTail | ReadLog | Deliver | Save | Restart | Park


class Pump:
    """One subscription from `position`, which is the last position it doesn't need.

    `wants` filters notices (gaps always pass). A subscriber that fails is restarted after each
    of `restart_delays_s` in turn and parked when they are used up; any progress starts them anew.
    """

    __slots__ = (
        "_batch",
        "_delays_s",
        "_durable",
        "_failures",
        "_most",
        "_wants",
        "position",
        "saved",
    )

    def __init__(
        self,
        position: int,
        *,
        wants: Callable[[Notice], bool] | None = None,
        restart_delays_s: Sequence[float] = (),
        batch_items: int = BATCH_ITEMS_MAX,
    ) -> None:
        self.position = position
        self.saved = position
        self._wants = wants
        self._delays_s = tuple(restart_delays_s)
        self._most = batch_items
        self._batch: Notices | None = None
        self._durable = position
        self._failures = 0

    def step(self, fact: Fact) -> Action:
        """What to do after `fact`."""
        if isinstance(fact, Look):
            return self._look(fact)
        if isinstance(fact, Taken):
            return self._taken(fact)
        if isinstance(fact, Read):
            return self._read(fact)
        if isinstance(fact, Handled):
            return self._handled()
        if isinstance(fact, Failed):
            return self._failed(fact)
        if isinstance(fact, CutShort):
            return self._cut_short(fact.handled)
        if isinstance(fact, CheckpointDue):
            return Save(self.position) if self.position > self.saved else Again()
        self.saved = max(self.saved, fact.position)
        return Again()

    def _look(self, look: Look) -> Action:
        assert self._batch is None, "a batch is with the subscriber"
        self._durable = look.durable
        if look.durable <= self.position:
            return Wait()
        if look.first <= self.position + 1 <= look.last:
            return TakeTail(self.position, self._most)
        return ReadLog(self.position, look.durable, self._most)

    def _taken(self, taken: Taken) -> Action:
        first = self.position + 1
        run = taken.notices[: self._durable - self.position]
        if not run or run[0].position != first:
            return Again()  # the tail moved on since the look; the log has what is missing
        kept = run if self._wants is None else tuple(filter(self._wants, run))
        return self._told(first + len(run) - 1, kept)

    def _read(self, read: Read) -> Action:
        expected = self.position + 1
        kept: list[Item] = []
        for item in read.items:
            start, last = _span(item)
            if last < expected:
                continue  # handled before
            if last > self._durable:
                break  # never told before it is durable
            if start > expected:
                kept.append(Gap(expected, start - 1, Reason.DAMAGE_UNDECLARED))
            if isinstance(item, Gap):
                kept.append(Gap(max(start, expected), last, item.reason))
            elif self._wants is None or self._wants(item):
                kept.append(item)
            expected = last + 1
        if expected == self.position + 1:
            return Pause()
        return self._told(expected - 1, tuple(kept))

    def _told(self, last: int, items: tuple[Item, ...]) -> Action:
        if not items:
            self._move(last)
            return Again()
        self._batch = Notices(self.position + 1, last, items)
        return Deliver(self._batch)

    def _handled(self) -> Action:
        assert self._batch is not None, "no batch is with the subscriber"
        self._move(self._batch.last)
        self._batch = None
        return Again()

    def _failed(self, failed: Failed) -> Action:
        self._cut_short(failed.handled)
        self._failures += 1
        if self._failures > len(self._delays_s):
            return Park(self.position)
        return Restart(self._delays_s[self._failures - 1])

    def _cut_short(self, handled: int) -> Action:
        self._batch = None
        if handled > self.position:
            self._move(handled)
        return Again()

    def _move(self, position: int) -> None:
        self.position = position
        self._failures = 0


def _span(item: Item) -> tuple[int, int]:
    return (item.first, item.last) if isinstance(item, Gap) else (item.position, item.position)
