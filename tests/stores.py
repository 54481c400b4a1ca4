"""A store on files for tests: recovery, log and archive in one thread, fed by a history."""

import random
from collections.abc import Callable
from pathlib import Path

from histories import T0, History

from turnfold.events.codec import encode_events
from turnfold.events.commands import Instant
from turnfold.events.event import ContentErased, Event, GenerationWritten
from turnfold.events.evolve import evolve
from turnfold.events.limits import Limits
from turnfold.events.log.backend import FrameParts, GenerationFile
from turnfold.events.log.disk import Disk
from turnfold.events.log.opening import opening_events
from turnfold.events.log.ownership import Ownership, StoreLock
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.recovery import OnDamage, Recovered, open_store
from turnfold.events.reasons import Reason
from turnfold.events.sealed import Erased
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
        history: History,
        *,
        limits: Limits = LIMITS,
        on_damage: OnDamage = "recover",
        acquire: Callable[[], Ownership] = Owned,
    ) -> None:
        self.disk = disk
        self.history = history
        entropy = random.Random(history.seed).randbytes
        self.opened: Recovered = open_store(
            disk, acquire, limits=limits, on_damage=on_damage, entropy=entropy
        )
        self.log, self.archive = self.opened.log, self.opened.archive
        self.state, self.report = self.opened.state, self.opened.report
        if self.opened.read_only is None:
            self._open(limits)

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
        common = {"at": self.now.at, "age": self.now.age, "reason": Reason.WRITTEN_FLUSH}
        event = GenerationWritten(
            position=self.state.position + 1,
            generation=written.position,
            digest=written.digest,
            size=written.size,
            **common,  # type: ignore[arg-type]  # times and a reason, as they are called
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


def store_at(path: Path, seed: int = 1, **options: object) -> FileStore:
    """A new or an existing store below `path`, with a history of its own."""
    return reopen(path, History(seed), **options)


def reopen(path: Path, history: History, **options: object) -> FileStore:
    """Open the store below `path` again for the same history."""
    disk = PosixDisk(path, create=True)
    return FileStore(disk, history, acquire=lambda: StoreLock.acquire(disk), **options)  # type: ignore[arg-type]  # passed on


def texts_below(path: Path) -> bytes:
    """Every byte of every file below `path`, in one string to search in."""
    return b"\n".join(file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file())


def live_contents(store: FileStore) -> dict[int, bytes | Erased]:
    """What the live state holds, by position."""
    return {
        position: sealed
        for session in store.state.sessions()
        for position, sealed in (
            (session.start, session.started.sealed),
            *((turn.position, turn.sealed) for turn in session.turns),
        )
    }
