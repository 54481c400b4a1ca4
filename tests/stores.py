"""A store on files for tests: recovery, log and archive in one thread, fed by a history."""

import random
from collections.abc import Callable
from pathlib import Path

from histories import T0, History

from turnfold.events.codec import encode_events
from turnfold.events.commands import Instant
from turnfold.events.event import ContentErased, Event, GenerationWritten
from turnfold.events.evolve import evolve, fold
from turnfold.events.limits import Limits
from turnfold.events.log.backend import FrameParts, GenerationFile
from turnfold.events.log.disk import Disk
from turnfold.events.log.opening import opening_events
from turnfold.events.log.ownership import Ownership, StoreLock
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.recovery import OnDamage, Recovered, open_store
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture, state_digest

LIMITS = Limits()


def no_pause() -> None:
    """For archives: tests need not give way."""


class Owned:
    """Ownership that nobody contests."""

    def check(self) -> None: ...

    def release(self) -> None: ...


class FileStore:
    """An open store. `history` makes the commands; what the store records goes into it too."""

    def __init__(
        self,
        disk: Disk,
        history: History | list[History],
        *,
        limits: Limits = LIMITS,
        on_damage: OnDamage = "recover",
        acquire: Callable[[], Ownership] = Owned,
    ) -> None:
        """Of several histories that may have happened, the one that the state shows is taken."""
        self.disk = disk
        self.opened: Recovered = open_store(
            disk, acquire, limits=limits, on_damage=on_damage, entropy=random.Random(1).randbytes
        )
        histories = [history] if isinstance(history, History) else history
        self.recovered_digest = state_digest(capture(self.opened.state))
        self.history = self._happened(histories)
        self.log, self.archive = self.opened.log, self.opened.archive
        self.state, self.report = self.opened.state, self.opened.report
        if self.opened.read_only is None:
            self._open(limits)

    def _happened(self, histories: list[History]) -> History:
        happened = (
            one
            for one in histories
            if one.position == self.opened.state.position
            and state_digest(capture(fold(one.events))) == self.recovered_digest
        )
        return histories[-1] if len(histories) == 1 else next(happened, histories[-1])

    def _open(self, limits: Limits) -> None:
        events = opening_events(
            self.report,
            self.state,
            now=self.now,
            epoch=self.log.epoch,
            ruleset=1,
            limits=limits,
            recorded_clock=False,
        )
        self.history.adopt(events)
        self.write(events)

    @property
    def now(self) -> Instant:
        """The history's time, a second a command."""
        elapsed = len(self.history.frames) * 1_000_000_000
        return Instant(T0 + elapsed, elapsed)

    @property
    def digest(self) -> bytes:
        """The state digest now."""
        return state_digest(capture(self.state))

    def write(self, events: tuple[Event, ...], *, sync: bool = True) -> None:
        """Append one frame and fold it."""
        chained, payload = encode_events(events)
        parts = FrameParts(events[0].position, len(events), chained, payload)
        self.log.append([parts], expected=self.log.position)
        if sync:
            self.log.sync()
        for event in events:
            evolve(self.state, event)
        self.state.commit()

    def run(self, commands: int, *, sync: bool = True) -> "FileStore":
        """That many random commands; erasures that the history records are carried out first."""
        for _ in range(commands):
            events = self.history.step()
            if isinstance(events[0], ContentErased):
                self.log.sync()
                self.archive.erase(list(self.state.pending.values()), no_pause)
            self.write(events, sync=sync)
        return self

    def flush(self) -> GenerationFile:
        """Sync, and write a generation."""
        self.log.sync()
        written = self.archive.write_generation(capture(self.state), self.log.head, no_pause)
        event = GenerationWritten(
            position=self.state.position + 1,
            at=self.now.at,
            age=self.now.age,
            reason=Reason.WRITTEN_FLUSH,
            generation=written.position,
            digest=written.digest,
            size=written.size,
        )
        self.history.adopt((event,))
        self.write((event,))
        return written

    def erase(self) -> None:
        """Carry out every pending erasure and record it."""
        self.log.sync()
        erased = self.archive.erase(list(self.state.pending.values()), no_pause)
        events = tuple(
            ContentErased(
                position=self.state.position + index,
                at=self.now.at,
                age=self.now.age,
                reason=one.pending.reason,
                session=one.pending.session,
                through=one.pending.through,
                payloads=one.payloads,
                erased_bytes=one.erased_bytes,
            )
            for index, one in enumerate(erased, 1)
        )
        if events:
            self.history.pending.clear()
            self.history.adopt(events)
            self.write(events)

    def close(self) -> None:
        """Close cleanly."""
        self.log.watermark(self.now)
        self.log.close()


def store_at(
    path: Path,
    history: History | None = None,
    *,
    limits: Limits = LIMITS,
    on_damage: OnDamage = "recover",
) -> FileStore:
    """Open the store below `path`, or make one, for this history."""
    disk = PosixDisk(path, create=True)
    return FileStore(
        disk,
        history or History(1),
        limits=limits,
        on_damage=on_damage,
        acquire=lambda: StoreLock.acquire(disk),
    )


def texts_below(path: Path) -> bytes:
    """Every byte of every file below `path`, in one string to search in."""
    return b"\n".join(file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file())
