"""Reading: contexts while others write, replay and scan, opening a store, memory."""

import resource
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from job import KEYS, Figures, Line, key_of, percentile, shares, turn_of
from writing import Listener, build, config

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events.event import Gap
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.limits import Limits
from turnfold.events.log.generation_file import (
    Rejected,
    list_generations,
    load_generation,
    restore_generation,
)
from turnfold.events.log.reader import LogReader
from turnfold.events.log.replay import replay, store_disk

FIFTY = Limits(turns_per_session=50)
"""Keeps the last 50 turns, so that a context is what other stores call "the last 50"."""


def _timed(work: Callable[[], object], count: int) -> list[float]:
    taken: list[float] = []
    for _ in range(count):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return taken


def _read(store: ConversationStore, count: int) -> list[float]:
    taken: list[float] = []
    for number in range(count):
        key = KEYS[number * 7 % len(KEYS)]
        taken += _timed(lambda: store.context(key), 1)  # noqa: B023 - called at once
    return taken


def _context_figures(name: str, taken: Sequence[float]) -> Figures:
    return {
        f"{name}_p50_us": percentile(taken, 0.5) * 1e6,
        f"{name}_p99_us": percentile(taken, 0.99) * 1e6,
        f"{name}_max_us": max(taken) * 1e6,
    }


def contexts(lines: Sequence[Line], directory: Path, seconds: float) -> Figures:
    """The last 50 turns as a context: idle, then while 64 threads add turns."""
    settings = build(lines, directory, max(len(lines), 60 * len(KEYS)), FIFTY)
    with ConversationStore(settings) as store:
        _read(store, len(KEYS))  # recovered texts are checked before they are first shown
        figures = _context_figures("idle", _read(store, 2000))
        reads, _writes = _mixed(store, lines, seconds, writers=64, readers=1, flushes=False)
        return {**figures, **_context_figures("busy", reads)}


def mixed(lines: Sequence[Line], directory: Path, seconds: float) -> Figures:
    """64 writers, 8 readers, 8 subscribers, a flush every second, a deletion in each."""
    settings = build(lines, directory, max(len(lines), 60 * len(KEYS)), FIFTY)
    with ConversationStore(settings) as store:
        for _ in range(8):
            store.subscribe(Listener)
        reads, writes = _mixed(store, lines, seconds, writers=64, readers=8, flushes=True)
        return {
            **_context_figures("read", reads),
            **_context_figures("write", writes),
            "rate": len(writes) / seconds,
        }


def _mixed(
    store: ConversationStore,
    lines: Sequence[Line],
    seconds: float,
    *,
    writers: int,
    readers: int,
    flushes: bool,
) -> tuple[list[float], list[float]]:
    """Latencies of contexts and of add_turn. Readers rest a millisecond between two reads."""
    over = threading.Event()
    reads: list[float] = []
    writes: list[float] = []

    def write(share: list[Line]) -> None:
        while share:
            for line in share:
                if over.is_set():
                    return
                turn = turn_of(line)
                writes.extend(_timed(lambda: store.add_turn(key_of(line), turn), 1))  # noqa: B023 - called at once

    def read() -> None:
        while not over.wait(0.001):
            reads.extend(_read(store, 5))

    def flush() -> None:
        number = 0
        while not over.wait(1.0):
            store.flush()
            store.delete(KEYS[number])
            number += 1

    work: list[threading.Thread] = [
        threading.Thread(target=write, args=(share,)) for share in shares(lines, writers)
    ]
    work += [threading.Thread(target=read) for _ in range(readers)]
    if flushes:
        work.append(threading.Thread(target=flush))
    for thread in work:
        thread.start()
    over.wait(seconds)
    over.set()
    for thread in work:
        thread.join()
    return reads, writes


# --- from the files ------------------------------------------------------------------------------


def replayed(lines: Sequence[Line], directory: Path, stored: int) -> Figures:
    """CPU time to fold every event from position 1, and to walk the frames undecoded."""
    settings = build(lines, directory, stored, Limits())
    assert settings.storage_path is not None
    begin = time.process_time()
    folded = replay(settings.storage_path)
    middle = time.process_time()
    events = scan(settings)
    end = time.process_time()
    assert events == folded.position
    return {
        "fold_us_per_event": (middle - begin) / events * 1e6,
        "scan_us_per_event": (end - middle) / events * 1e6,
    }


def scan(settings: Config) -> int:
    """How many events the frames hold, headers and checksums of chained parts checked."""
    assert settings.storage_path is not None
    disk = store_disk(settings.storage_path)
    reader = LogReader(disk, content=False)
    count = sum(
        item.last - item.first + 1 if isinstance(item, Gap) else item.header.count
        for item in reader.read()
    )
    reader.close()
    disk.close()
    return count


def opened(lines: Sequence[Line], directory: Path, stored: int) -> Figures:
    """Open a store with a long history and read one context; beside its live state alone."""
    settings = build(lines, directory, stored, Limits())
    assert settings.storage_path is not None
    disk = store_disk(settings.storage_path)
    decode: list[float] = []
    for _ in range(3):
        begin = time.perf_counter()
        loaded = load_generation(disk, list_generations(disk)[0], None)
        assert not isinstance(loaded, Rejected)
        restore_generation(disk, loaded)
        decode.append(time.perf_counter() - begin)
    disk.close()
    whole: list[float] = []
    for _ in range(3):
        begin = time.perf_counter()
        store = ConversationStore(settings)
        store.context(KEYS[7])
        whole.append(time.perf_counter() - begin)
        store.close()
    return {
        "open_ms": statistics.median(whole) * 1e3,
        "decode_ms": statistics.median(decode) * 1e3,
        "ratio": statistics.median(whole) / statistics.median(decode),
    }


# --- memory --------------------------------------------------------------------------------------


def memory(lines: Sequence[Line], directory: Path, live_bytes: int) -> Figures:
    """Resident memory per byte of live text once the aggregate limit is full."""
    base = _resident()
    limits = Limits(aggregate_bytes=live_bytes)
    turns = [turn_of(line) for line in lines]
    settings = config(directory, durability="flush", limits=limits)
    assert settings.storage_path is not None
    text = number = 0
    with ConversationStore(settings) as store:
        while text < live_bytes * 2:  # twice: full, and with evictions and compactions
            key = ConversationKey(f"{number % 1000 + 1:032x}", Channel.DIRECT_IM)
            some = turns[number * 64 % len(turns) :][:64]
            store.add_turns(key, some)
            text += sum(turn.text.byte_count for turn in some)
            number += 1
        accounted = store.stats().aggregate_bytes
        grown = _resident() - base
    live = sum(
        turn.text_bytes
        for session in replay(settings.storage_path).state.sessions()
        for turn in session.turns
    )
    return {
        "rss_mib": grown / 2**20,
        "live_text_mib": live / 2**20,
        "accounted_mib": accounted / 2**20,
        "per_live_byte": max(0.0, grown - 40 * 2**20) / live,
    }


def _resident() -> int:
    """Bytes resident now; the peak where the platform doesn't tell."""
    status = Path("/proc/self/statm")
    if status.exists():
        pages = int(status.read_text().split()[1])
        return pages * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
