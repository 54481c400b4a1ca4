"""A log and an archive in memory that a test can hold up or make fail, and a store around them."""

import contextlib
import threading
from collections.abc import Callable, Container, Generator, Iterator, Sequence
from hashlib import shake_128

from turnfold.actors.bootstrap import assemble
from turnfold.actors.clock import RecordedClock
from turnfold.actors.config import Config
from turnfold.actors.digest_keys import memory_keys
from turnfold.actors.refs import StoreRef
from turnfold.actors.supervisor import Supervisor
from turnfold.events.commands import Instant
from turnfold.events.errors import NotWritten
from turnfold.events.event import Gap
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.log.backend import (
    Erasure,
    FrameParts,
    GenerationFile,
    QuarantinedFile,
    ReadFrame,
    Trimmed,
)
from turnfold.events.log.frame import MAGIC, FrameHeader
from turnfold.events.log.opening import OpeningReport
from turnfold.events.reasons import Reason
from turnfold.events.session import PendingErasure
from turnfold.events.snapshot import Capture
from turnfold.events.state import StoreState

WAIT_S = 20.0  # for a condition that comes at once unless something is broken
NOON = 1_700_000_000_000_000_000

KEY = ConversationKey("00000000-0000-0000-0000-000000000001", Channel.PUBLIC_CHAT)
OTHER_KEY = ConversationKey("00000000-0000-0000-0000-000000000002", Channel.DIRECT_IM)


class SteppedClock(RecordedClock):
    """A live clock as far as the store can tell, moved by the test."""

    __slots__ = ()

    @property
    def recorded(self) -> bool:
        """False: time passes between commands too."""
        return False


class FakeLog:
    """Keeps frames. `append_faults` and `sync_faults` are raised one a call, None passes.

    `full` refuses what isn't bookkeeping. While `open_gate` is clear, a sync waits; `at_gate` says
    that one does.
    """

    store_id = bytes(16)
    secret = bytes(range(32))
    epoch = 1
    base = 1

    def __init__(self) -> None:
        self.position = 0
        self.durable = 0
        self.head = bytes(32)
        self.frames: list[FrameParts] = []
        self.writes: list[int] = []  # commands per write
        self.syncs = 0
        self.marks = 0
        self.closed = False
        self.full = False
        self.missing: Container[int] = ()  # frames that begin here can't be read
        self.append_faults: list[BaseException | None] = []
        self.sync_faults: list[BaseException | None] = []
        self.open_gate = threading.Event()
        self.open_gate.set()
        self.at_gate = threading.Event()
        self.changed = threading.Condition()

    def append(
        self, frames: Sequence[FrameParts], *, expected: int, bookkeeping: bool = False
    ) -> None:
        assert expected == self.position == frames[0].first - 1
        if self.append_faults and (fault := self.append_faults.pop(0)):
            raise fault
        if self.full and not bookkeeping:
            raise NotWritten("no space left; nothing was stored")
        self.frames.extend(frames)
        self.writes.append(len(frames))
        self.position = frames[-1].first + frames[-1].count - 1

    def sync(self) -> None:
        self.syncs += 1
        self.at_gate.set()
        assert self.open_gate.wait(WAIT_S)
        self.at_gate.clear()
        if self.sync_faults and (fault := self.sync_faults.pop(0)):
            raise fault
        self.durable = self.position

    def watermark(self, now: Instant) -> None:
        with self.changed:
            self.marks += 1
            self.changed.notify_all()

    def read(
        self, after: int, *, through: int | None = None, content: bool = True
    ) -> Iterator[ReadFrame | Gap]:
        for frame in tuple(self.frames):
            last = frame.first + frame.count - 1
            if after < last <= self.durable and frame.first in self.missing:
                yield Gap(frame.first, last, Reason.DAMAGE_UNDECLARED)
            elif after < last <= self.durable:
                sizes = len(frame.chained), len(frame.payload)
                header = FrameHeader(MAGIC, *sizes, frame.first, frame.count, 1, 1, 0)
                payload = frame.payload if content else None
                yield ReadFrame(header, frame.chained, payload, True)

    def close(self) -> None:
        self.closed = True


class FakeArchive:
    """Remembers what it was asked; `faults` are raised one a job. Nothing is written."""

    def __init__(self) -> None:
        self.generations: list[GenerationFile] = []
        self.erased: list[PendingErasure] = []
        self.emptied = 0
        self.is_full = False
        self.trimmed: Trimmed | None = None
        self.at_trim: Callable[[], tuple[int, int]] = lambda: (0, 0)
        self.seen_at_trim = (0, 0)
        self.faults: list[BaseException | None] = []
        self.open_gate = threading.Event()
        self.open_gate.set()
        self.at_gate = threading.Event()
        self.checkpoints: dict[bytes, int] = {}

    def _step(self) -> None:
        self.at_gate.set()
        assert self.open_gate.wait(WAIT_S)
        if self.faults and (fault := self.faults.pop(0)):
            raise fault

    def write_generation(
        self, captured: Capture, head: bytes, pause: Callable[[], None]
    ) -> GenerationFile:
        self._step()
        pause()
        written = GenerationFile("generation", captured.position, bytes(32), 100)
        self.generations.append(written)
        return written

    def retire(self) -> Sequence[GenerationFile]:
        return [self.generations[-3]] if len(self.generations) > 2 else []

    def erase(
        self, pending: Sequence[PendingErasure], pause: Callable[[], None]
    ) -> Sequence[Erasure]:
        self._step()
        self.erased.extend(pending)
        return [Erasure(item, payloads=2, erased_bytes=50) for item in pending]

    def quarantined(self) -> Sequence[QuarantinedFile]:
        return []

    def empty_quarantine(self) -> int:
        self.emptied += 1
        return 0

    def is_log_full(self) -> bool:
        return self.is_full

    def trimmable(self) -> Trimmed | None:
        trimmed, self.trimmed = self.trimmed, None
        return trimmed

    def trim(self, trimmed: Trimmed, pause: Callable[[], None]) -> None:
        self._step()
        self.seen_at_trim = self.at_trim()

    def load_checkpoint(self, name_tag: bytes) -> int | None:
        return self.checkpoints.get(name_tag)

    def save_checkpoint(self, name_tag: bytes, position: int) -> None:
        self.checkpoints[name_tag] = position


class Running:
    """A store on a FakeLog, open. `ref` is its door; `clock` moves its time."""

    def __init__(
        self,
        config: Config,
        log: FakeLog,
        archive: FakeArchive,
        *,
        state: StoreState | None = None,
    ) -> None:
        self.log = log
        self.archive = archive
        self.clock = SteppedClock(NOON)
        self.supervisor = Supervisor(
            assemble(
                config,
                self.clock,
                bytes_that_differ(),
                log=log,
                archive=archive,
                state=state or StoreState(),
                last=Instant(state.at, state.age) if state else None,
                report=OpeningReport(Reason.OPENED_NEW),
                keys=memory_keys(bytes_that_differ()),
                files=log.close,
            )
        )
        self.supervisor.start()
        self.ref = StoreRef(self.supervisor.door, self.supervisor.reads, self.supervisor.stats)

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance_to(self.clock.wall_ns() + round(seconds * 1_000_000_000))


@contextlib.contextmanager
def running(
    config: Config | None = None,
    *,
    log: FakeLog | None = None,
    archive: FakeArchive | None = None,
) -> Generator[Running]:
    """An open store on fakes, closed at the end whatever happens; gates are opened for that."""
    store = Running(config or Config(), log or FakeLog(), archive or FakeArchive())
    try:
        yield store
    finally:
        store.log.open_gate.set()
        store.archive.open_gate.set()
        store.supervisor.close()


def bytes_that_differ() -> Callable[[int], bytes]:
    """A deterministic source of entropy, different at every call."""
    calls = iter(range(1 << 30))

    def source(size: int) -> bytes:
        return shake_128(next(calls).to_bytes(8, "big")).digest(size)

    return source


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds that another thread brings about."""
    pause = threading.Event()
    for _ in range(int(WAIT_S / 0.002)):
        if condition():
            return
        pause.wait(0.002)
    raise AssertionError("the condition did not come about")
