"""How many turns a second a store takes, against the disk alone and against SQLite.

    python benchmarks/turns.py [--rounds 3] [--turns 8000] [--directory DIR]

Every figure is durable: an answer means that fdatasync has returned. Rounds are interleaved and
the table shows medians and their ratios inside this run; rates of different runs or machines can't
be compared. The job: 200 conversations, texts of 300 characters in the median, three kinds of
turn, one subscriber listening.
"""

import argparse
import asyncio
import os
import random
import sqlite3
import statistics
import struct
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import cbor2

from turnfold.actors.async_store import AsyncConversationStore
from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.subscriber import Subscriber
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.notice import Notice
from turnfold.events.turns import AgentResponse, AvatarText, ToolSummary, Turn

CONVERSATIONS = 200
WORDS = (
    "the of and to in is that it for on with as was at by an be this have from or one had not but"
    " what all were when we there can use your which their said if do will each about how up out"
    " them then she many some so these would other into has more her two like him see time could"
    " people my than first water been call who its now find long down day did get come made may"
    " region parcel avatar texture object script teleport prim café naïve smörgåsbord привет 日本語"
).split()

Line = tuple[int, int, str]
"""Conversation, number of the line, text."""


def make_lines(count: int, seed: int = 7) -> list[Line]:
    """Lines of 40 to 2,000 characters, lognormal, about 300 in the median."""
    draw = random.Random(seed)
    lines: list[Line] = []
    for number in range(count):
        want = min(2000, max(40, int(draw.lognormvariate(5.7, 0.7))))
        words = draw.choices(WORDS, k=want // 4)
        lines.append((draw.randrange(CONVERSATIONS), number, " ".join(words)[:want]))
    return lines


def key_of(line: Line) -> ConversationKey:
    """The key of the line's conversation."""
    return ConversationKey(f"{line[0] + 1:032x}", Channel.PUBLIC_CHAT)


def turn_of(line: Line) -> Turn:
    """The line as a turn, redacted; the kind goes round."""
    kind, text = line[1] % 3, line[2]
    if kind == 0:
        return AvatarText(text)
    return AgentResponse(text) if kind == 1 else ToolSummary("search", text)


def shares(lines: Sequence[Line], count: int) -> list[list[Line]]:
    """The lines by producer; each conversation has one."""
    return [[line for line in lines if line[0] % count == which] for which in range(count)]


def in_threads(work: Callable[[list[Line]], None], parts: list[list[Line]]) -> float:
    """Seconds that it takes to work on all parts at once."""
    threads = [threading.Thread(target=work, args=(part,)) for part in parts]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begin


# --- what it is compared with ------------------------------------------------------------------


def encoded(line: Line) -> bytes:
    """A record as small as can be: length, checksum, one CBOR array."""
    body = cbor2.dumps([1, 1, line[0], line[1], 1_700_000_000_000_000_000, "avatar", line[2]])
    return struct.pack("<II", len(body), zlib.crc32(body)) + body


def raw(lines: Sequence[Line], directory: Path, batch: int) -> float:
    """Seconds to encode, write and fdatasync, `batch` records at a time, in one thread."""
    path = directory / "raw"
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    begin = time.perf_counter()
    for start in range(0, len(lines), batch):
        os.write(descriptor, b"".join(map(encoded, lines[start : start + batch])))
        os.fdatasync(descriptor)
    seconds = time.perf_counter() - begin
    os.close(descriptor)
    path.unlink()
    return seconds


def sqlite(lines: Sequence[Line], directory: Path, producers: int) -> float:
    """Seconds for one insert per commit, WAL with synchronous=FULL, behind one lock."""
    path = directory / "turns.sqlite"
    database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    database.execute("pragma journal_mode=wal")
    database.execute("pragma synchronous=full")
    database.execute(
        "create table turns(conversation, number, text, primary key(conversation, number))"
    )
    lock = threading.Lock()

    def work(part: list[Line]) -> None:
        for line in part:
            with lock:
                database.execute("insert into turns values(?, ?, ?)", line)

    seconds = in_threads(work, shares(lines, producers))
    database.close()
    for left in directory.glob("turns.sqlite*"):
        left.unlink()
    return seconds


# --- the store -----------------------------------------------------------------------------------


class Listener(Subscriber):
    """The one subscriber."""

    def on_notice(self, notice: Notice) -> None:
        """Nothing: what is measured is that it is told."""


def config(directory: Path) -> Config:
    """A store of its own below `directory`."""
    return Config(storage_path=tempfile.mkdtemp(dir=directory), persistence_enabled=True)


def threads(lines: Sequence[Line], directory: Path, producers: int) -> float:
    """Seconds for blocking add_turn calls from so many threads."""
    with ConversationStore(config(directory)) as store:
        store.subscribe(Listener)

        def work(part: list[Line]) -> None:
            for line in part:
                store.add_turn(key_of(line), turn_of(line))

        return in_threads(work, shares(lines, producers))


def tasks(lines: Sequence[Line], directory: Path, count: int) -> float:
    """Seconds for awaited add_turn calls from so many tasks of one loop."""

    async def main() -> float:
        async with AsyncConversationStore(config(directory)) as store:
            store.subscribe(Listener)

            async def work(part: list[Line]) -> None:
                for line in part:
                    await store.add_turn(key_of(line), turn_of(line))

            begin = time.perf_counter()
            await asyncio.gather(*map(work, shares(lines, count)))
            return time.perf_counter() - begin

    return asyncio.run(main())


def bulk(lines: Sequence[Line], directory: Path, size: int) -> float:
    """Seconds for add_turns of `size` turns at a time, one caller."""
    with ConversationStore(config(directory)) as store:
        store.subscribe(Listener)
        begin = time.perf_counter()
        for which in range(CONVERSATIONS):
            part = [line for line in lines if line[0] == which]
            for start in range(0, len(part), size):
                piece = part[start : start + size]
                store.add_turns(key_of(piece[0]), [turn_of(line) for line in piece])
        return time.perf_counter() - begin


def redaction(lines: Sequence[Line], _directory: Path) -> float:
    """Seconds to construct the turns: what every row of the store also contains."""
    begin = time.perf_counter()
    for line in lines:
        turn_of(line)
    return time.perf_counter() - begin


Case = tuple[str, Callable[[Sequence[Line], Path], float], float]
"""Name, what is run, and which part of the lines it gets."""

CASES: list[Case] = [
    ("raw, 1 a sync", lambda lines, where: raw(lines, where, 1), 0.25),
    ("raw, 64 a sync", lambda lines, where: raw(lines, where, 64), 1.0),
    ("SQLite FULL, 1 thread", lambda lines, where: sqlite(lines, where, 1), 0.25),
    ("SQLite FULL, 8 threads", lambda lines, where: sqlite(lines, where, 8), 0.25),
    ("redaction alone", redaction, 1.0),
    ("1 thread", lambda lines, where: threads(lines, where, 1), 0.25),
    ("8 threads", lambda lines, where: threads(lines, where, 8), 1.0),
    ("64 tasks", lambda lines, where: tasks(lines, where, 64), 1.0),
    ("add_turns of 64", lambda lines, where: bulk(lines, where, 64), 1.0),
]
GOALS = [
    ("1 thread", "raw, 1 a sync", 0.65),
    ("1 thread", "SQLite FULL, 1 thread", 0.9),
    ("8 threads", "SQLite FULL, 8 threads", 1.5),
    ("64 tasks", "raw, 64 a sync", 0.30),
    ("add_turns of 64", "raw, 64 a sync", 0.45),
]


def main() -> None:
    """Run all cases in turn, `--rounds` times, and print two tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=8000)
    parser.add_argument("--directory", type=Path, default=None, help="on the disk to measure")
    options = parser.parse_args()
    lines = make_lines(options.turns)
    rates: dict[str, list[float]] = {name: [] for name, _run, _part in CASES}
    for _ in range(options.rounds):
        for name, run, part in CASES:
            some = lines[: int(len(lines) * part)]
            with tempfile.TemporaryDirectory(dir=options.directory) as where:
                rates[name].append(len(some) / run(some, Path(where)))
    medians = {name: statistics.median(found) for name, found in rates.items()}
    print(f"{'turns a second':<28}{'median':>10}{'lowest':>10}{'highest':>10}")
    for name, found in rates.items():
        print(f"{name:<28}{medians[name]:>10,.0f}{min(found):>10,.0f}{max(found):>10,.0f}")
    print(f"\n{'ratio':<50}{'reached':>10}{'goal':>8}")
    for ours, theirs, goal in GOALS:
        print(f"{ours + ' / ' + theirs:<50}{medians[ours] / medians[theirs]:>10.2f}{goal:>8.2f}")


if __name__ == "__main__":
    main()
