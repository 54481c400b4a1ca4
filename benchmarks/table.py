"""Goals, what was reached, and the page and plot that show it.

Ratios are made inside one round, between two measurements that ran minutes apart at most, and
the table gives their median and range.
"""

import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import attrs
from job import Figures
from peers import DURABILITY

Rounds = Mapping[str, Sequence[Figures]]
"""The figures of each case, one per round."""


@attrs.frozen
class Goal:
    """One line of the table: a figure, or its ratio to another case's, and what it should be.

    `at_most`: the goal is an upper bound.
    """

    what: str
    case: str
    figure: str
    goal: float
    than: str = ""
    than_figure: str = ""
    at_most: bool = False
    unit: str = "x"
    scale: float = 1.0

    def reached(self, rounds: Rounds) -> list[float]:
        """What each round gave; nothing where it was skipped."""
        ours = rounds.get(self.case, ())
        if not self.than:
            return [one[self.figure] * self.scale for one in ours if self.figure in one]
        theirs = rounds.get(self.than, ())
        figure = self.than_figure or self.figure
        pairs = [
            (a[self.figure], b[figure])
            for a, b in zip(ours, theirs, strict=False)
            if self.figure in a and figure in b
        ]
        return [b / a if self.at_most_of_latency else a / b for a, b in pairs]

    @property
    def at_most_of_latency(self) -> bool:
        """Whether the figures are times, of which the peer's should be a multiple."""
        return self.figure.endswith("_us") and not self.at_most

    def share(self, value: float) -> float:
        """The part of the goal that was reached: 1 is all of it."""
        if self.at_most:
            return self.goal / value if value else math.inf
        return value / self.goal


GOALS = [
    Goal("1 blocking producer / raw", "Turnfold, 1 thread", "rate", 0.65, "raw, 1 a sync"),
    Goal("1 blocking producer / SQLite", "Turnfold, 1 thread", "rate", 0.9, "SQLite, 1 thread"),
    Goal("8 threads / SQLite", "Turnfold, 8 threads", "rate", 1.5, "SQLite, 8 threads"),
    Goal("8 threads / Redis", "Turnfold, 8 threads", "rate", 1.8, "Redis, 8 threads"),
    Goal("8 threads / OpenAI Agents", "Turnfold, 8 threads", "rate", 8.0, "OpenAI Agents, 8 tasks"),
    Goal(
        "8 threads / eventsourcing",
        "Turnfold, 8 threads",
        "rate",
        12.0,
        "eventsourcing, 8 threads",
    ),
    Goal("64 tasks / raw, 64 a sync", "Turnfold, 64 tasks", "rate", 0.30, "raw, 64 a sync"),
    Goal("64 tasks / OpenAI Agents", "Turnfold, 64 tasks", "rate", 15.0, "OpenAI Agents, 8 tasks"),
    Goal("64 tasks / ADK", "Turnfold, 64 tasks", "rate", 60.0, "ADK, 8 tasks"),
    Goal(
        "add_turns of 64 / raw, 64 a sync",
        "Turnfold, add_turns of 64",
        "rate",
        0.45,
        "raw, 64 a sync",
    ),
    Goal("redact: 300 ASCII characters", "redaction", "plain_us", 20, at_most=True, unit="µs"),
    Goal("redact: real chat, mean", "redaction", "chat_us", 60, at_most=True, unit="µs"),
    Goal(
        "redact: hostile input",
        "redaction",
        "hostile_ms_per_kib",
        2,
        at_most=True,
        unit="ms/KiB",
    ),
    Goal("context, idle, p50", "context", "idle_p50_us", 60, at_most=True, unit="µs"),
    Goal("context, 64 writers, p99", "context", "busy_p99_us", 1000, at_most=True, unit="µs"),
    Goal(
        "context / OpenAI Agents",
        "context",
        "idle_p50_us",
        10,
        "OpenAI Agents, 8 tasks",
        "read_p50_us",
    ),
    Goal("mixed load: context p99", "mixed load", "read_p99_us", 1000, at_most=True, unit="µs"),
    Goal(
        "open 200,000 turns / decode state",
        "open, long history",
        "ratio",
        2.0,
        at_most=True,
    ),
    Goal("fold a million events", "replay", "fold_us_per_event", 12, at_most=True, unit="s"),
    Goal("scan a million events", "replay", "scan_us_per_event", 2.5, at_most=True, unit="s"),
    Goal(
        "append p50, 1,000,000 / 1,000 stored",
        "growth, 1,000,000",
        "append_p50_us",
        1.2,
        "growth, 1,000",
        at_most=True,
    ),
    Goal(
        "log beside the text",
        "bytes per turn",
        "overhead_without_bytes",
        120,
        at_most=True,
        unit="B/turn",
    ),
    Goal(
        "log beside the text, with turn ids",
        "bytes per turn",
        "overhead_with_turn_id_bytes",
        150,
        at_most=True,
        unit="B/turn",
    ),
    Goal("memory / live text", "memory", "per_live_byte", 2.5, at_most=True),
    Goal("import turnfold.events", "starts", "import_s", 0.15, at_most=True, unit="s"),
    Goal("turnfold --help", "starts", "help_s", 0.35, at_most=True, unit="s"),
    Goal("turnfold sessions", "starts", "sessions_s", 0.4, at_most=True, unit="s"),
]


def number(value: float) -> str:
    """Three significant digits, grouped."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def spread(values: Sequence[float]) -> str:
    """Median and range."""
    low, high = number(min(values)), number(max(values))
    median = number(statistics.median(values))
    return median if low == high else f"{median} [{low} to {high}]"


def goal_rows(rounds: Rounds) -> list[list[str]]:
    """What, goal, reached, share of the goal."""
    rows: list[list[str]] = []
    for goal in GOALS:
        reached = goal.reached(rounds)
        if not reached:
            continue
        sign = "≤" if goal.at_most else "≥"
        share = goal.share(statistics.median(reached))
        target = f"{sign} {goal.goal:g} {goal.unit}"
        rows.append([goal.what, target, spread(reached), f"{share:.2f}"])
    return rows


RATE_HEAD = ("case", "turns/s", "p50 µs", "p99 µs", "CPU µs/turn", "stored means")


def rate_rows(rounds: Rounds) -> list[list[str]]:
    """Turns a second of every case that writes."""
    rows: list[list[str]] = []
    for name, found in rounds.items():
        if name == "mixed load" or not any("rate" in one for one in found):
            continue
        columns = [
            [one[figure] for one in found if figure in one]
            for figure in ("rate", "p50_us", "p99_us", "cpu_us")
        ]
        store = name.split(",")[0].split(" ")[0].lower()
        shown = [spread(values) if values else "" for values in columns]
        rows.append([name, *shown, DURABILITY.get(store, "")])
    return rows


def figure_rows(found: Sequence[Figures]) -> list[list[str]]:
    """Every figure of one case."""
    names = list(dict.fromkeys(name for one in found for name in one))
    return [[name, spread([one[name] for one in found if name in one])] for name in names]


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns line up."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in (head, *rows)]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def machine() -> str:
    """What it ran on, without naming the machine."""
    memory = ""
    total = Path("/proc/meminfo")
    if total.exists():
        memory = f", {int(total.read_text().split()[1]) / 2**20:.0f} GiB of memory"
    system = f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}"
    cores = len(os.sched_getaffinity(0))
    return f"{platform.machine()}, {cores} cores{memory}, {system}"


def versions() -> str:
    """Of Python, of what the store uses, and of the peers that are there."""
    names = (
        "ahocorasick-rs attrs cbor2 google-crc32c pykka openai-agents langgraph-checkpoint-sqlite"
    )
    found = [f"Python {platform.python_version()}"]
    for name in [*names.split(), "eventsourcing", "google-adk", "redis"]:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def page(rounds: Rounds, skipped: Mapping[str, str], count: int) -> str:
    """The page for docs/reference."""
    parts = [
        "# Benchmarks",
        "Written by `make bench`; don't edit. Every ratio is made inside one round, in which all"
        " cases run one after the other, each in a process of its own. Given are the median and"
        " the range of the rounds. Redaction, limits, the hash chain, turn ids and one subscriber"
        " are in every row of Turnfold.",
        f"{time.strftime('%Y-%m-%d')}; {count} rounds; {machine()}. {versions()}.",
        f"Load average at the end: {os.getloadavg()[1]:.1f}. Above the number of cores other work"
        " ran too: then only figures in CPU time and the order of the ratios mean anything.",
        "![What was reached, as a share of each goal](benchmarks.svg)",
        "## Goals",
        markdown(["line", "goal", "reached", "share of goal"], goal_rows(rounds)),
        "## Writing",
        markdown(RATE_HEAD, rate_rows(rounds)),
    ]
    for title, case in (
        ("One turn, step by step", "steps"),
        ("64 writers, 8 readers, 8 subscribers, a flush and a deletion a second", "mixed load"),
        ("Contexts", "context"),
        ("Redaction", "redaction"),
        ("Opening, 20,000 turns of history", "open, short history"),
        ("Opening, 200,000 turns of history", "open, long history"),
        ("Replay", "replay"),
        ("Behind 1,000 stored turns", "growth, 1,000"),
        ("Behind 100,000 stored turns", "growth, 100,000"),
        ("Behind 1,000,000 stored turns", "growth, 1,000,000"),
        ("Log beside the text", "bytes per turn"),
        ("Memory at full limits", "memory"),
        ("Starting", "starts"),
    ):
        if rounds.get(case):
            parts += [f"## {title}", markdown(["figure", "value"], figure_rows(rounds[case]))]
    if skipped:
        rows = [[name, reason] for name, reason in skipped.items()]
        parts += ["## Not measured", markdown(["case", "why"], rows)]
    return "\n\n".join(parts) + "\n"


def plot(rounds: Rounds) -> str:
    """Shares of the goals as bars, in SVG; the line is the goal."""
    bars = [(goal, goal.reached(rounds)) for goal in GOALS]
    bars = [(goal, reached) for goal, reached in bars if reached]
    left, unit, height = 270, 180, 22
    width, total = left + 3 * unit + 90, height * len(bars) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{total}" fill="white"/>',
    ]
    for place, (goal, reached) in enumerate(bars):
        share = goal.share(statistics.median(reached))
        top = 10 + place * height
        colour = "#2a7f62" if share >= 1 else "#c9a227" if share >= 0.8 else "#b5443a"
        length = min(3.0, share) * unit
        parts += [
            f'<text x="{left - 8}" y="{top + 13}" text-anchor="end">{goal.what}</text>',
            f'<rect x="{left}" y="{top}" width="{length:.0f}" height="16" fill="{colour}"/>',
            f'<text x="{left + length + 6:.0f}" y="{top + 13}">{share:.2f}</text>',
        ]
    bottom = 10 + height * len(bars)
    parts += [
        f'<line x1="{left + unit}" y1="4" x2="{left + unit}" y2="{bottom}" stroke="black"/>',
        f'<text x="{left + unit}" y="{bottom + 16}" text-anchor="middle">goal</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def show(rounds: Rounds, skipped: Mapping[str, str]) -> None:
    """Both tables on the terminal."""
    print(markdown(RATE_HEAD, rate_rows(rounds)))
    print()
    print(markdown(["line", "goal", "reached", "share of goal"], goal_rows(rounds)))
    for name, reason in skipped.items():
        print(f"skipped: {name}: {reason}", file=sys.stderr)
