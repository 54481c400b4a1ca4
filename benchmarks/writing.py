"""Writing: a store beside the disk alone and SQLite. Every figure is durable when it counts."""

import asyncio
import os
import sqlite3
import struct
import tempfile
import threading
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import cbor2
from job import (
    CONVERSATIONS,
    Figures,
    Line,
    Stopwatch,
    directory_bytes,
    drive,
    key_of,
    shares,
    turn_of,
)

from turnfold.actors.async_store import AsyncConversationStore
from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.subscriber import Subscriber
from turnfold.events.commands import TurnToAdd
from turnfold.events.keys import ConversationKey
from turnfold.events.limits import Limits
from turnfold.events.notice import Notice
from turnfold.events.turns import Turn

# --- the disk alone ------------------------------------------------------------------------------


def encoded(line: Line) -> bytes:
    """A record as small as can be: length, checksum, one CBOR array."""
    body = cbor2.dumps([1, 1, line[0], line[1], 1_700_000_000_000_000_000, "avatar", line[2]])
    return struct.pack("<II", len(body), zlib.crc32(body)) + body


def raw(lines: Sequence[Line], directory: Path, batch: int) -> Figures:
    """Encode, write and fdatasync, `batch` records at a time, in one thread."""
    descriptor = os.open(directory / "raw", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    begin, used = time.perf_counter(), time.process_time()
    for start in range(0, len(lines), batch):
        os.write(descriptor, b"".join(map(encoded, lines[start : start + batch])))
        os.fdatasync(descriptor)
    seconds, used = time.perf_counter() - begin, time.process_time() - used
    size = os.fstat(descriptor).st_size
    os.close(descriptor)
    return {
        "rate": len(lines) / seconds,
        "cpu_us": used / len(lines) * 1e6,
        "bytes_per_turn": size / len(lines),
    }


def sqlite(lines: Sequence[Line], directory: Path, producers: int, seconds: float) -> Figures:
    """One insert per commit, WAL with synchronous=FULL, one connection behind one lock."""
    database = sqlite3.connect(
        directory / "turns.sqlite", check_same_thread=False, isolation_level=None
    )
    database.execute("pragma journal_mode=wal")
    database.execute("pragma synchronous=full")
    database.execute(
        "create table turns(conversation, number, text, primary key(conversation, number))"
        " without rowid"
    )
    lock = threading.Lock()

    def work(line: Line) -> None:
        with lock:
            database.execute("insert into turns values(?, ?, ?)", line)

    figures = drive(work, lines, producers, seconds)
    count = database.execute("select count(*) from turns").fetchone()[0]
    database.close()
    return {**figures, "bytes_per_turn": directory_bytes(directory) / count}


# --- the store ------------------------------------------------------------------------------


class Listener(Subscriber):
    """The one subscriber."""

    def on_notice(self, notice: Notice) -> None:
        """Nothing: what is measured is that it is told."""


def config(directory: Path, **settings: object) -> Config:
    """A store of its own below `directory`."""
    return Config(
        storage_path=tempfile.mkdtemp(dir=directory),
        persistence_enabled=True,
        **settings,  # type: ignore[arg-type]  # keyword arguments of mixed types
    )


def threads(lines: Sequence[Line], directory: Path, producers: int, seconds: float) -> Figures:
    """Blocking add_turn calls from so many threads."""
    settings = config(directory)
    with ConversationStore(settings) as store:
        store.subscribe(Listener)
        figures = drive(
            lambda line: store.add_turn(key_of(line), turn_of(line), f"line-{line[1]}"),
            lines,
            producers,
            seconds,
        )
        stats = store.stats()
        return {**figures, "turns_per_batch": stats.commands / max(1, stats.batches)}


def tasks(lines: Sequence[Line], directory: Path, count: int, seconds: float) -> Figures:
    """Awaited add_turn calls from so many tasks of one loop."""

    async def main() -> Figures:
        async with AsyncConversationStore(config(directory)) as store:
            store.subscribe(Listener)
            watch = Stopwatch(seconds)

            async def produce(share: list[Line]) -> None:
                for line in share:
                    begin = watch.start()
                    if begin is None:
                        return
                    await store.add_turn(key_of(line), turn_of(line), f"line-{line[1]}")
                    watch.lap(begin)

            await asyncio.gather(*map(produce, shares(lines, count)))
            stats = store.stats()
            return {**watch.figures(), "turns_per_batch": stats.commands / max(1, stats.batches)}

    return asyncio.run(main())


def bulk(lines: Sequence[Line], directory: Path, size: int) -> Figures:
    """add_turns of `size` turns at a time, one caller."""
    pieces: list[list[Line]] = []
    for share in shares(lines, CONVERSATIONS):
        pieces += [share[start : start + size] for start in range(0, len(share), size)]
    with ConversationStore(config(directory)) as store:
        store.subscribe(Listener)
        begin, used = time.perf_counter(), time.process_time()
        for piece in pieces:
            store.add_turns(
                key_of(piece[0]), [TurnToAdd(turn_of(line), f"line-{line[1]}") for line in piece]
            )
        return {
            "rate": len(lines) / (time.perf_counter() - begin),
            "cpu_us": (time.process_time() - used) / len(lines) * 1e6,
        }


def build(lines: Sequence[Line], directory: Path, stored: int, limits: Limits) -> Config:
    """A closed store with so many turns; texts are redacted once, to spend the time elsewhere."""
    by_key: dict[ConversationKey, list[Turn]] = {}
    for line in lines:
        by_key.setdefault(key_of(line), []).append(turn_of(line))
    settings = config(directory, durability="flush", limits=limits)
    left = stored
    with ConversationStore(settings) as store:
        while left > 0:
            for key, share in by_key.items():
                part = share[: min(64, left)]
                if part:
                    store.add_turns(key, part)
                left -= len(part)
    return settings


def sizes(lines: Sequence[Line], directory: Path) -> Figures:
    """Bytes of log beside the text, per turn; with turn ids and without. Two in a command."""
    figures: Figures = {}
    for name, ids in (("with_turn_id", True), ("without", False)):
        settings = config(directory)
        with ConversationStore(settings) as store:
            for line in lines:
                store.add_turn(key_of(line), turn_of(line), f"line-{line[1]}" if ids else None)
            assert settings.storage_path is not None
            log = sum(path.stat().st_size for path in settings.storage_path.rglob("*.log"))
        text = sum(len(turn_of(line).text.encode()) for line in lines)
        figures[f"overhead_{name}_bytes"] = (log - text) / len(lines)
    return figures
