"""The composition root: picks log and archive, clock and entropy, and starts a store with them."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from turnfold.actors.clock import AgeClock, Clock, SystemClock
from turnfold.actors.config import Config
from turnfold.actors.feed import Feed
from turnfold.actors.ledger import Ledger
from turnfold.actors.names import KeyNames
from turnfold.actors.opening import opening_events
from turnfold.actors.published import Published
from turnfold.actors.reads import Reads
from turnfold.actors.supervisor import Parts, Supervisor
from turnfold.events.codec import decode_events
from turnfold.events.commands import Entropy, Instant
from turnfold.events.event import Event, Gap
from turnfold.events.keys import boundary_key
from turnfold.events.log.backend import Archive, Log
from turnfold.events.notice import whereabouts
from turnfold.events.reasons import Reason
from turnfold.events.state import StoreState

EntropySource = Callable[[int], bytes]
"""Gives a number of random bytes."""

STORE_ID_BYTES: Final = 16
SECRET_BYTES: Final = 32


def start_store(
    config: Config, *, clock: Clock | None = None, entropy: EntropySource | None = None
) -> Supervisor:
    """Open what `config` names and start its threads. Raises StorageError and its kin."""
    supervisor = Supervisor(_memory_parts(config, clock or SystemClock(), entropy or os.urandom))
    supervisor.start()
    return supervisor


def _memory_parts(config: Config, clock: Clock, entropy: EntropySource) -> Parts:
    from turnfold.events.log.memory_log import MemoryArchive, MemoryLog

    log = MemoryLog(entropy(STORE_ID_BYTES), entropy(SECRET_BYTES))
    return assemble(
        config,
        clock,
        entropy,
        log=log,
        archive=MemoryArchive(log),
        state=StoreState(),
        last=None,
        reason=Reason.OPENED_NEW,
        files=log.close,
    )


def assemble(
    config: Config,
    clock: Clock,
    entropy: EntropySource,
    *,
    log: Log,
    archive: Archive,
    state: StoreState,
    last: Instant | None,
    reason: Reason,
    files: Callable[[], None],
) -> Parts:
    """A store around a log and an archive whose events are folded into `state`.

    `last` is the newest instant in the log, None if the store is new; `reason` says how it was
    opened; `files` closes what was opened with it.
    """
    names = KeyNames(log.secret)
    ages = AgeClock(clock, last)
    published = Published(state)
    where = whereabouts(state)
    return Parts(
        config=config,
        log=log,
        archive=archive,
        ledger=Ledger(log, state, names, Entropy(entropy), published),
        published=published,
        clock=ages,
        reads=Reads(published, ages, names, boundary_key(log.secret)),
        feed=lambda parked: Feed(
            read=event_reader(log),
            head=lambda: log.durable,
            secret=log.secret,
            where=where,
            notices_waiting=config.limits.notices_waiting,
            checkpoints=archive,
            parked=parked,
        ),
        opening=opening_events(
            epoch=log.epoch,
            limits=config.limits,
            recorded_clock=clock.recorded,
            reason=reason,
        ),
        read_only=None,
        files=files,
    )


def event_reader(log: Log) -> Callable[[int], Iterator[Sequence[Event] | Gap]]:
    """The durable events after a position, a frame at a time, without content."""

    def read(after: int) -> Iterator[Sequence[Event] | Gap]:
        for item in log.read(after, content=False):
            yield item if isinstance(item, Gap) else decode_events(item.chained, item.first, None)

    return read
