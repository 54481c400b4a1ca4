"""The composition root: picks log and archive, clock and entropy, and starts a store with them."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from turnfold.actors.bookkeeping import opening
from turnfold.actors.clock import AgeClock, Clock, SystemClock
from turnfold.actors.config import Config
from turnfold.actors.control import CONVERSATIONS
from turnfold.actors.digest_keys import DigestKeys, file_keys, memory_keys
from turnfold.actors.feed import Feed
from turnfold.actors.ledger import Ledger
from turnfold.actors.names import KeyNames
from turnfold.actors.published import Published
from turnfold.actors.reads import Reads
from turnfold.actors.recheck import Recheck
from turnfold.actors.supervisor import Parts, Supervisor
from turnfold.events.codec import decode_events
from turnfold.events.commands import Entropy, Instant
from turnfold.events.errors import TurnfoldError
from turnfold.events.event import Event, Gap
from turnfold.events.keys import boundary_key
from turnfold.events.log.backend import Archive, Log
from turnfold.events.log.opening import OpeningReport
from turnfold.events.notice import whereabouts
from turnfold.events.reasons import Reason
from turnfold.events.state import StoreState

EntropySource = Callable[[int], bytes]
"""Gives a number of random bytes."""

STORE_ID_BYTES: Final = 16
SECRET_BYTES: Final = 32
LOCK_POLL_S: Final = 0.05  # while another process owns the store


def start_store(
    config: Config, *, clock: Clock | None = None, entropy: EntropySource | None = None
) -> Supervisor:
    """Open what `config` names and start its threads. Raises StorageError and its kin."""
    make = file_parts if config.persistence_enabled else _memory_parts
    supervisor = Supervisor(make(config, clock or SystemClock(), entropy or os.urandom))
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
        report=OpeningReport(Reason.OPENED_NEW),
        keys=memory_keys(entropy),
        files=log.close,
    )


def file_parts(config: Config, clock: Clock, entropy: EntropySource) -> Parts:
    """A store on files, recovered, without threads yet; the caller closes `files`."""
    from turnfold.events.log.posix_disk import PosixDisk, check_platform

    check_platform()
    from turnfold.events.log.ownership import StoreLock
    from turnfold.events.log.recovery import open_store

    assert config.storage_path is not None, "Config checks that"
    with contextlib.ExitStack() as undo:
        disk = PosixDisk(config.storage_path / CONVERSATIONS, create=True)
        undo.callback(disk.close)
        again = _until(time.monotonic() + config.open_timeout_s)
        recovered = open_store(
            disk,
            lambda: StoreLock.acquire(disk, again=again),
            limits=config.limits,
            on_damage=config.on_damage,
            entropy=entropy,
        )
        undo.callback(recovered.log.close)  # gives up the ownership, before the disk is closed
        return assemble(
            config,
            clock,
            entropy,
            log=recovered.log,
            archive=recovered.archive,
            state=recovered.state,
            last=recovered.last,
            report=recovered.report,
            keys=file_keys(
                disk,
                entropy,
                in_use=bool(recovered.state.records),
                read_only=recovered.read_only is not None,
            ),
            files=undo.pop_all().close,
            read_only=recovered.read_only,
        )


def _until(deadline: float) -> Callable[[], bool]:
    """Waits a little for somebody else's lock; False once the time is over."""
    pause = threading.Event()

    def again() -> bool:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        pause.wait(min(LOCK_POLL_S, left))
        return True

    return again


def assemble(
    config: Config,
    clock: Clock,
    entropy: EntropySource,
    *,
    log: Log,
    archive: Archive,
    state: StoreState,
    last: Instant | None,
    report: OpeningReport,
    keys: DigestKeys,
    files: Callable[[], None],
    read_only: TurnfoldError | None = None,
) -> Parts:
    """A store around a log and an archive whose events are folded into `state`.

    `last` is the newest instant in the log, None if the store is new; `report` says how
    it was found; `keys` make session-state digests; `files` closes what was opened with it.
    """
    names = KeyNames(log.secret)
    ages = AgeClock(clock, last)
    published = Published(state)
    where = whereabouts(state)
    rules = config.redaction
    same_rules = state.opening.ruleset == rules.ruleset
    return Parts(
        config=config,
        log=log,
        archive=archive,
        ledger=Ledger(log, state, names, Entropy(entropy), published),
        published=published,
        clock=ages,
        reads=lambda recheck: Reads(published, ages, names, recheck, boundary_key(log.secret)),
        recheck=lambda tell: Recheck(
            state, rules=rules, same_rules=same_rules, entropy=entropy, tell=tell
        ),
        feed=lambda parked, damaged: Feed(
            read=event_reader(log, damaged),
            head=lambda: log.durable,
            secret=log.secret,
            where=where,
            notices_waiting=config.limits.notices_waiting,
            checkpoints=archive,
            parked=parked,
        ),
        opening=None
        if read_only is not None
        else opening(
            report,
            state,
            epoch=log.epoch,
            ruleset=rules.ruleset,
            limits=config.limits,
            recorded_clock=clock.recorded,
            seen_at=0 if last is None else last.at,
        ),
        read_only=read_only,
        names=names,
        keys=keys,
        files=files,
    )


def event_reader(
    log: Log, damaged: Callable[[Gap], None]
) -> Callable[[int], Iterator[Sequence[Event] | Gap]]:
    """The durable events after a position, a frame at a time, without content.

    `damaged` is told of positions that are missing and were never declared to be.
    """

    def read(after: int) -> Iterator[Sequence[Event] | Gap]:
        for item in log.read(after, content=False):
            if not isinstance(item, Gap):
                yield decode_events(item.chained, item.first, None)
                continue
            if item.reason is Reason.DAMAGE_UNDECLARED:
                damaged(item)
            yield item

    return read
