"""An hour of a busy store under the smallest limits: nothing that it uses grows.

The hour is simulated, store, threads and files are real. Turns, evictions, compactions, expiries,
deletions, flushes, and every few minutes a close, some damage and an opening that sets it aside.
"""

import contextlib
import gc
import os
import threading
import tracemalloc
from pathlib import Path
from random import Random
from typing import Final

import attrs
import pytest
from runtime.fake_log import NOON, SteppedClock

from turnfold import AvatarText, Config, ConversationKey, ConversationStore
from turnfold.events import read_events
from turnfold.events.event import Gap
from turnfold.events.limits import BOUNDS, KIB, Limits
from turnfold.events.log.generations import KEPT_MAX
from turnfold.events.log.verify import verify
from turnfold.events.reasons import Reason
from turnfold.events.turns import AgentResponse, ToolSummary, Turn

HOUR_NS: Final = 3600 * 10**9
KEYS: Final = tuple(
    ConversationKey(f"00000000-0000-0000-0000-{number:012}", channel)
    for number in range(1, 7)
    for channel in ("public_chat", "direct_im")
)
# The smallest of everything; three KiB of quarantine, so that there is something to exceed.
LIMITS: Final = Limits(
    **{
        **{name: low for name, (low, _default, _high) in BOUNDS.items()},
        "quarantine_bytes": 3 * KIB,
        "commands_in_flight": 4,
    }
)
MUST_HAPPEN: Final = {
    Reason.EVICTED_SESSIONS,
    Reason.COMPACTED_TURNS,
    Reason.EXPIRED_INACTIVITY,
    Reason.EXPIRED_OPERATOR,
    Reason.DELETED_OPERATOR,
    Reason.WRITTEN_FLUSH,
    Reason.TRIMMED_STORAGE_LIMIT,
}


@attrs.frozen
class Sample:
    """What the store used at one moment."""

    files: int
    file_bytes: int
    threads: int
    descriptors: int
    heap_bytes: int


class Soak:
    """The hour, in `commands` steps."""

    def __init__(self, path: Path, commands: int, seed: int = 1) -> None:
        self._path = path
        self._files = path / "conversations"
        self._random = Random(seed)
        self._commands = commands
        self._clock = SteppedClock(NOON)
        self._now = NOON
        self._key = KEYS[0]
        self.samples: list[Sample] = []
        self.reasons: set[Reason] = set()
        self._position = 0

    def run(self) -> None:
        """Raises AssertionError where a limit is exceeded."""
        store = self._open()
        try:
            for number in range(1, self._commands + 1):
                self._now += HOUR_NS // self._commands
                self._clock.advance_to(self._now)
                self._one(store)
                if number % 10 == 0:
                    self._check_limits()
                if number % (self._commands // 12) == 0:
                    store.close()
                    self._hear()
                    self._damage()
                    store = self._open()
                    self._take_sample(store)
        finally:
            store.close()

    def _open(self) -> ConversationStore:
        config = Config(
            storage_path=self._path,
            persistence_enabled=True,
            control_socket=False,
            limits=LIMITS,
            erase_after_s=60.0,
            generation_interval_s=120.0,
        )
        return ConversationStore(config, clock=self._clock)

    def _one(self, store: ConversationStore) -> None:
        random = self._random
        if random.random() < 0.1:
            self._key = random.choice(KEYS)
        fate = random.random()
        if fate < 0.9:
            store.add_turns(self._key, [self._turn() for _ in range(random.choice((1, 2, 3)))])
        elif fate < 0.93:
            store.expire(random.choice(KEYS))
        elif fate < 0.96:
            store.delete(random.choice(KEYS))
        elif fate < 0.98:
            store.flush()
        elif fate < 0.985:  # half an hour goes by for the sessions, not for the disk
            self._now += HOUR_NS // 2
            self._clock.advance_to(self._now)
        else:
            store.context(self._key)

    def _turn(self) -> Turn:
        text = f"said {self._random.getrandbits(60)} and nothing that matters"
        kind = self._random.randrange(4)
        if kind == 0:
            return AgentResponse(text)
        return ToolSummary("search", text) if kind == 1 else AvatarText(text)

    def _damage(self) -> None:
        """A torn tail, and a generation that doesn't hold. The log stays provable."""
        log = max((self._files / "log").iterdir())
        with log.open("ab") as file:
            file.write(self._random.randbytes(self._random.randrange(1, 4000)))
        generations = sorted((self._files / "generations").iterdir())
        if len(generations) > 2:
            oldest = generations[0]
            oldest.write_bytes(oldest.read_bytes()[:-7])

    def _hear(self) -> None:
        """Remember what happened, before it is trimmed."""
        for event in read_events(self._path, after=self._position):
            self._position = event.last if isinstance(event, Gap) else event.position
            self.reasons.add(event.reason)

    def _bytes(self, directory: str) -> int:
        return sum(size for _path, size in self._sizes() if _path.startswith(directory))

    def _sizes(self) -> list[tuple[str, int]]:
        # Without Path, which interns every name: the table of those grows by doubling.
        root = str(self._files)
        found: list[tuple[str, int]] = []
        for folder, _folders, names in os.walk(root):
            for name in names:
                path = f"{folder}/{name}"
                with contextlib.suppress(FileNotFoundError):  # they come and go beside a store
                    found.append((path[len(root) + 1 :], os.stat(path).st_size))
        return found

    def _check_limits(self) -> None:
        assert self._bytes("log/") <= LIMITS.log_bytes
        assert self._bytes("generations/") <= LIMITS.generation_bytes
        assert self._bytes("quarantine/") <= LIMITS.quarantine_bytes

    def _take_sample(self, store: ConversationStore) -> None:
        store.flush()
        gc.collect()
        sizes = self._sizes()
        self.samples.append(
            Sample(
                files=len(sizes),
                file_bytes=sum(size for _path, size in sizes),
                threads=threading.active_count(),
                descriptors=len(os.listdir("/proc/self/fd")),
                heap_bytes=tracemalloc.get_traced_memory()[0],
            )
        )


def soak(path: Path, commands: int) -> None:
    """Run the hour; its second half uses no more than its first."""
    hour = Soak(path, commands)
    tracemalloc.start()
    try:
        hour.run()
    finally:
        tracemalloc.stop()

    assert hour.reasons >= MUST_HAPPEN, MUST_HAPPEN - hour.reasons
    assert len(hour.samples) == 12
    first, second = hour.samples[:6], hour.samples[6:]
    assert len({sample.threads for sample in hour.samples}) == 1
    assert max(sample.descriptors for sample in second) <= max(s.descriptors for s in first) + 2
    # Generations up to their number, an eighth of the log in each segment, and the odd ones out.
    assert max(sample.files for sample in hour.samples) <= KEPT_MAX + 24
    ceiling = LIMITS.log_bytes + LIMITS.generation_bytes + LIMITS.quarantine_bytes + (2 << 20)
    assert max(sample.file_bytes for sample in hour.samples) <= ceiling
    heaps = [sample.heap_bytes for sample in hour.samples]
    assert max(heaps[6:]) <= max(heaps[:6]) * 1.1 + 64 * KIB, heaps
    findings = [one for one in verify(path).findings if one.check != "generations"]
    assert findings == []


def test_a_short_hour_uses_no_more_at_its_end(tmp_path: Path) -> None:
    soak(tmp_path, commands=3_000)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_a_busy_hour_uses_no_more_at_its_end(tmp_path: Path) -> None:
    soak(tmp_path, commands=24_000)
