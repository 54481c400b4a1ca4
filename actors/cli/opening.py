"""Opening a store to write to it from the command line, the way its owner last opened it."""

from pathlib import Path

import attrs

from turnfold.actors.bootstrap import start_store
from turnfold.actors.clock import Clock, RecordedClock
from turnfold.actors.config import Config
from turnfold.actors.supervisor import Supervisor
from turnfold.events.log.inspection import Inspection, inspect
from turnfold.events.log.replay import STORE_DIRECTORY, store_disk
from turnfold.events.log.segment import LOG_DIRECTORY


def open_for_writing(
    config: Config, clock: Clock | None, *, own_limits: bool = False
) -> tuple[Supervisor, int]:
    """The running store, and the position of the last event before it was opened.

    Unless `own_limits`, the limits are those of the last opening: a visit with other limits would
    evict what its owner keeps. Without a clock, a store that ran on recorded times stands still at
    its last one, as this moment would expire everything in it. Raises StorageError and its kin.
    """
    path = config.storage_path
    assert path is not None, "only stores on disk are opened here"
    found = _inspected(path)
    if found is None:
        return start_store(config, clock=clock), 0
    opening = found.fold.state.opening
    if opening.epoch and not own_limits:
        config = attrs.evolve(config, limits=opening.limits)
    if clock is None and opening.recorded_clock and found.last is not None:
        clock = RecordedClock(found.last.at)
    return start_store(config, clock=clock), found.survey.position


def _inspected(storage_path: Path) -> Inspection | None:
    """What lies there, if it looks like a store; opening it says so if it is none."""
    directory = storage_path / STORE_DIRECTORY / LOG_DIRECTORY
    try:
        if not directory.is_dir():
            return None
    except PermissionError:
        return None  # opening the store says which directory can't be searched
    disk = store_disk(storage_path)
    try:
        return inspect(disk)
    finally:
        disk.close()
