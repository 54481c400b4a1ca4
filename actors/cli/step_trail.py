"""A place in a log that can be moved to any position, as `turnfold replay --tui` does.

Going on folds the next frames. Going back folds again from the beginning: one state is held, and 8
bytes for each frame passed.
"""

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs

from turnfold.events.errors import ReplayError
from turnfold.events.event import Event
from turnfold.events.log.replay import durable_position, store_disk
from turnfold.events.log.stepping import Step, replay_steps
from turnfold.events.receipts import iso_time
from turnfold.events.snapshot import capture, state_digest


@attrs.frozen
class SessionRow:
    """A live session in a table: start, channel, pseudonym, turns, bytes, its last position."""

    start: int
    channel: str
    pseudonym: str
    turns: int
    size: int
    last: int


@attrs.frozen
class Frame:
    """What there is to see at a position; the session that was active last is the first."""

    position: int
    at: str
    events: tuple[Event, ...]
    digest: str
    active: int
    total_bytes: int
    active_limit: int
    bytes_limit: int
    pending: int
    ended: int
    sessions: tuple[SessionRow, ...]


class Trail:
    """Moves through one log; `frame` is where it stands. Raises like `replay`."""

    def __init__(self, storage_path: Path, until: int | None = None) -> None:
        self._path = storage_path
        disk = store_disk(storage_path)
        try:
            last = durable_position(disk)
        finally:
            disk.close()
        self.last = last if until is None else min(last, until)
        self._steps: Iterator[Step] = iter(())
        self._passed = array("Q")  # the position of each frame so far
        self.frame = self._begin()

    def _begin(self) -> Frame:
        self._steps = replay_steps(self._path, until=self.last)
        self._passed = array("Q")
        frame = self._pull(lambda _step: True)
        if frame is None:
            raise ReplayError("nothing in the log is durable yet")
        return frame

    def _pull(self, is_there: Callable[[Step], bool]) -> Frame | None:
        """Go on until a step is the one, or to the end; None if it was reached before."""
        last: Step | None = None
        for step in self._steps:
            self._passed.append(step.position)
            last = step
            if is_there(step):
                break
        # The state changes with each step, so it is looked at where it stops.
        return None if last is None else _frame(last)

    def forward(self, steps: int = 1) -> Frame:
        """Go on by so many frames, or to the end."""
        target = len(self._passed) + steps
        self.frame = self._pull(lambda _step: len(self._passed) >= target) or self.frame
        return self.frame

    def back(self, steps: int = 1) -> Frame:
        """Go back by so many frames, or to the first."""
        return self.to(self._passed[max(0, len(self._passed) - 1 - steps)])

    def to(self, position: int) -> Frame:
        """Go to the frame that holds this position, or to the end."""
        if position < self.frame.position:
            self.frame = self._begin()
        if position > self.frame.position:
            self.frame = self._pull(lambda step: step.position >= position) or self.frame
        return self.frame


def _frame(step: Step) -> Frame:
    state = step.state
    limits = state.opening.limits
    sessions = sorted(state.sessions(), key=lambda session: -session.last)
    return Frame(
        position=step.position,
        at=iso_time(state.at),
        events=tuple(step.events),
        digest=state_digest(capture(state)).hex(),
        active=state.active,
        total_bytes=state.total_bytes,
        active_limit=limits.active_sessions,
        bytes_limit=limits.aggregate_bytes,
        pending=len(state.pending),
        ended=len(state.ended),
        sessions=tuple(
            SessionRow(
                session.start,
                session.channel.value,
                session.tag[0].hex()[:12],
                session.turn_count,
                session.size,
                session.last,
            )
            for session in sessions
        ),
    )
