"""Replay as a stream: what happened in each frame, and the state after it, in bounded memory."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs

from turnfold.events.event import Event
from turnfold.events.log.frame import POSITION_MAX
from turnfold.events.log.replay import Replaying, durable_position, store_disk
from turnfold.events.state import StoreState

Progress = Callable[[int, int], object]
"""Told the position that was reached, and the last one."""


@attrs.frozen(eq=False, repr=False)
class Step:
    """The state at `position` and the events that led there from the step before.

    `state` is the same object in each step and changes with the next; read from it what you need.
    Without `events` it was taken from a generation, or positions that are missing were passed.
    """

    position: int
    events: Sequence[Event]
    state: StoreState

    def __repr__(self) -> str:
        return f"Step(position={self.position}, {len(self.events)} events)"


def replay_steps(
    storage_path: str | Path,
    *,
    until: int | None = None,
    content: bool = False,
    progress: Progress | None = None,
) -> Iterator[Step]:
    """A step for each frame of a log, beside a running store.

    What is held is one frame and the state, however long the log is. `progress` is called after
    each step. Raises like `replay`.
    """
    disk = store_disk(storage_path)
    try:
        last = until or 0
        if progress is not None:
            last = min(durable_position(disk), until or POSITION_MAX)
        replaying = Replaying(disk, until=until, content=content)
        position = 0
        for state in replaying:
            if state.position == position:
                continue
            position = state.position
            yield Step(position, replaying.events, state)
            if progress is not None:
                progress(position, last)
    finally:
        disk.close()
