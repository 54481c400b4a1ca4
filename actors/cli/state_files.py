"""Session state as the files of a store tell it: a desk that reads and decides, and writes nothing.

Works beside a running store, and over an empty state where there is no store yet.
"""

import contextlib
import os
from collections.abc import Generator

from turnfold.actors.cli.place import path_of
from turnfold.actors.cli.views import secret_of
from turnfold.actors.clock import AgeClock, Clock, RecordedClock, SystemClock
from turnfold.actors.config import Config
from turnfold.actors.control import CONVERSATIONS
from turnfold.actors.digest_keys import DigestKeys, file_keys, memory_keys
from turnfold.actors.names import KeyNames
from turnfold.actors.published import Published
from turnfold.actors.state_desk import StateDesk
from turnfold.events.commands import Instant
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.replay import replay
from turnfold.events.state import StoreState


def has_store(config: Config) -> bool:
    """Whether there is a store where the configuration says."""
    return (path_of(config) / CONVERSATIONS / "log").is_dir()


@contextlib.contextmanager
def desk_over_files(config: Config) -> Generator[StateDesk]:
    """The desk of the newest durable state. Raises StorageError and its kin."""
    path = path_of(config)
    if not has_store(config):
        yield _desk(config, StoreState(), bytes(32), memory_keys(os.urandom))
        return
    state = replay(path, content=True).state
    disk = PosixDisk(path / CONVERSATIONS)
    try:
        keys = file_keys(disk, os.urandom, in_use=bool(state.records), read_only=True)
        keys.check()
        yield _desk(config, state, secret_of(path), keys)
    finally:
        disk.close()


def _desk(config: Config, state: StoreState, secret: bytes, keys: DigestKeys) -> StateDesk:
    published = Published(state)
    recorded = state.opening.recorded_clock
    clock: Clock = RecordedClock(state.at) if recorded else SystemClock()
    return StateDesk(
        config,
        records=published.records,
        find=published.find,
        clock=AgeClock(clock, Instant(state.at, state.age) if state.position else None),
        names=KeyNames(secret),
        secret=secret,
        keys=keys,
    )
