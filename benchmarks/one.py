"""One measurement in a process of its own: `python benchmarks/one.py CASE TURNS SECONDS DIR`.

Prints its figures as one JSON object, or {"skipped": reason}.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import growing
import peers
import reading
import redacting
import starting
import stepping
import writing
from job import Figures, Line, make_lines

Case = Callable[[Sequence[Line], Path, float], Figures]
"""The lines, an empty directory on the disk to measure, and a limit in seconds."""

CASES: dict[str, Case] = {
    "raw, 1 a sync": lambda lines, where, _s: writing.raw(lines[:4000], where, 1),
    "raw, 64 a sync": lambda lines, where, _s: writing.raw(lines, where, 64),
    "SQLite, 1 thread": lambda lines, where, s: writing.sqlite(lines, where, 1, s),
    "SQLite, 8 threads": lambda lines, where, s: writing.sqlite(lines, where, 8, s),
    "Turnfold, 1 thread": lambda lines, where, s: writing.threads(lines, where, 1, s),
    "Turnfold, 8 threads": lambda lines, where, s: writing.threads(lines, where, 8, s),
    "Turnfold, 64 tasks": lambda lines, where, s: writing.tasks(lines, where, 64, s),
    "Turnfold, add_turns of 64": lambda lines, where, _s: writing.bulk(lines, where, 64),
    "Redis, 8 threads": lambda lines, where, s: peers.redis(lines, where, 8, s),
    "OpenAI Agents, 8 tasks": lambda lines, where, s: peers.openai(lines, where, 8, s),
    "LangGraph, 1 thread": lambda lines, where, s: peers.langgraph(lines, where, 1, s),
    "eventsourcing, 8 threads": lambda lines, where, s: peers.eventsourcing(lines, where, 8, s),
    "ADK, 8 tasks": lambda lines, where, s: peers.adk(lines, where, 8, s),
    "redaction": lambda lines, where, _s: redacting.redaction(lines, where),
    "context": reading.contexts,
    "mixed load": reading.mixed,
    "replay": lambda lines, where, _s: reading.replayed(lines[:4000], where, 20 * len(lines)),
    "open, short history": lambda lines, where, _s: reading.opened(lines[:4000], where, 20_000),
    "open, long history": lambda lines, where, _s: reading.opened(lines[:4000], where, 200_000),
    "memory": lambda lines, where, _s: reading.memory(lines[:4000], where, 64 << 20),
    "bytes per turn": lambda lines, where, _s: writing.sizes(lines[:3000], where),
    "starts": lambda lines, where, _s: starting.starts(lines[:1000], where),
    "steps": lambda lines, where, _s: stepping.steps(lines[:3000], where),
    "growth, 1,000": lambda lines, where, _s: growing.grown(lines, where, 1000),
    "growth, 100,000": lambda lines, where, _s: growing.grown(lines, where, 100_000),
    "growth, 1,000,000": lambda lines, where, _s: growing.grown(lines, where, 1_000_000),
}


def main() -> None:
    """Run the case that the command line names."""
    name, turns, seconds, directory = sys.argv[1:]
    try:
        figures = CASES[name](make_lines(int(turns)), Path(directory), float(seconds))
        print(json.dumps(figures))
    except peers.Unavailable as error:
        print(json.dumps({"skipped": str(error)}))
    sys.stdout.flush()
    os._exit(0)  # threads of some peers don't end by themselves


if __name__ == "__main__":
    main()
