"""The job that every store gets: the same turns, in the same order, from as many producers.

200 conversations, texts of 40 to 2,000 characters (lognormal, 305 in the median), three kinds of
turn, one word in thirty outside ASCII, so that most texts are. Every turn has a turn id.
"""

import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.turns import AgentResponse, AvatarText, ToolSummary, Turn

CONVERSATIONS = 200
WORDS = (
    "the of and to in is that it for on with as was at by an be this have from or one had not but"
    " what all were when we there can use your which their said if do will each about how up out"
    " them then she many some so these would other into has more her two like him see time could"
    " people my than first water been call who its now find long down day did get come made may"
    " region parcel avatar texture object script teleport prim invoice refund agent context memory"
    " summary schedule meeting calendar function response request database network customer"
).split()
EXOTIC = (
    "café naïve Zürich smörgåsbord 日本語 会話 привет メモ 🙂 🚀 — “quoted” €12.50 नमस्ते שלום"
    " https://example.org/a?b=1"
).split()

Line = tuple[int, int, str]
"""Conversation, number of the line, text."""

Figures = dict[str, float]
"""What one run measured, by name; the unit is the end of the name."""


def make_lines(count: int, seed: int = 7) -> list[Line]:
    """Lines with 4,000 different texts."""
    draw = random.Random(seed)
    texts: list[str] = []
    for _ in range(min(count, 4000)):
        want = min(2000, max(40, int(draw.lognormvariate(5.72, 0.7))))
        words = draw.choices(WORDS, k=want // 4)
        for place in range(len(words)):
            if draw.random() < 0.03:
                words[place] = draw.choice(EXOTIC)
        texts.append(" ".join(words)[:want])
    return [
        (draw.randrange(CONVERSATIONS), number, texts[draw.randrange(len(texts))])
        for number in range(count)
    ]


KEYS = [ConversationKey(f"{number + 1:032x}", Channel.DIRECT_IM) for number in range(CONVERSATIONS)]
ROLES = ("user", "assistant", "tool")


def key_of(line: Line) -> ConversationKey:
    """The key of the line's conversation."""
    return KEYS[line[0]]


def turn_of(line: Line) -> Turn:
    """The line as a turn, redacted; the kind goes round."""
    kind, text = line[1] % 3, line[2]
    if kind == 0:
        return AvatarText(text)
    return AgentResponse(text) if kind == 1 else ToolSummary("search", text)


def shares(lines: Sequence[Line], count: int) -> list[list[Line]]:
    """The lines by producer; each conversation has one."""
    return [[line for line in lines if line[0] % count == which] for which in range(count)]


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which `part` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


class Stopwatch:
    """Times single calls until `seconds` are over. Calls may come from many threads."""

    def __init__(self, seconds: float) -> None:
        self.latencies: list[float] = []
        self._begin = time.perf_counter()
        self._used = time.process_time()
        self._end = self._begin + seconds
        self.done = self._begin

    def call(self, work: Callable[[Line], Any], line: Line) -> bool:
        """Do the work on the line unless the time is over; whether it was done."""
        begin = time.perf_counter()
        if begin > self._end:
            return False
        work(line)
        self.lap(begin)
        return True

    def start(self) -> float | None:
        """The beginning of a lap, or None if the time is over."""
        begin = time.perf_counter()
        return None if begin > self._end else begin

    def lap(self, begin: float) -> None:
        """A call that began then has ended."""
        self.done = time.perf_counter()
        self.latencies.append(self.done - begin)

    def figures(self) -> Figures:
        """Calls a second, their latencies, and what the whole process computed for each."""
        return {
            "rate": len(self.latencies) / (self.done - self._begin),
            "p50_us": percentile(self.latencies, 0.5) * 1e6,
            "p99_us": percentile(self.latencies, 0.99) * 1e6,
            "cpu_us": (time.process_time() - self._used) / len(self.latencies) * 1e6,
        }


def drive(
    work: Callable[[Line], Any], lines: Sequence[Line], count: int, seconds: float
) -> Figures:
    """Let `count` threads work on their shares of the lines, for at most so many seconds."""
    watch = Stopwatch(seconds)

    def produce(share: list[Line]) -> None:
        for line in share:
            if not watch.call(work, line):
                return

    parts = shares(lines, count)
    if count == 1:
        produce(parts[0])
        return watch.figures()
    threads = [threading.Thread(target=produce, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return watch.figures()


def directory_bytes(directory: Path) -> int:
    """Bytes of all files below."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def note(text: str) -> None:
    """Say on the terminal what is being done; tables go to stdout."""
    print(text, file=sys.stderr, flush=True)
