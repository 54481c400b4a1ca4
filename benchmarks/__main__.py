"""Benchmarks of the whole product, of the disk alone and of other stores.

    python benchmarks [--quick] [--rounds N] [--turns N] [--only TEXT] [--no-history]

Each measurement is a process of its own; a round runs all of them once, and rounds are repeated.
The full run writes docs/reference/benchmarks.md and its plot; `--quick` prints its tables only.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from job import Figures, note
from table import Rounds, page, plot, show

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parent / "docs" / "reference"
QUICK_S = 90.0
CASE_TIMEOUT_S = 600.0

QUICK = (
    "raw, 1 a sync",
    "SQLite, 1 thread",
    "Turnfold, 1 thread",
    "SQLite, 8 threads",
    "Turnfold, 8 threads",
    "raw, 64 a sync",
    "Turnfold, 64 tasks",
    "Turnfold, add_turns of 64",
)
QUICK_ONCE = ("redaction", "context", "steps", "replay", "open, short history", "bytes per turn")
PEERS = (
    "Redis, 8 threads",
    "OpenAI Agents, 8 tasks",
    "LangGraph, 1 thread",
    "eventsourcing, 8 threads",
    "ADK, 8 tasks",
)
ONCE = (
    "redaction",
    "context",
    "mixed load",
    "steps",
    "starts",
    "bytes per turn",
    "memory",
    "open, short history",
    "open, long history",
    "replay",
    "growth, 1,000",
    "growth, 100,000",
    "growth, 1,000,000",
)
COSTLY = ("growth, 100,000", "growth, 1,000,000", "open, long history", "replay")
"""Those that store many turns first: in every second round."""


def measure(case: str, turns: int, seconds: float, directory: Path | None) -> Figures | str:
    """The figures of one case, or why there are none."""
    where = tempfile.mkdtemp(dir=directory)
    command = [sys.executable, str(HERE / "one.py"), case, str(turns), str(seconds), where]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=CASE_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"took more than {CASE_TIMEOUT_S:.0f} s"
    finally:
        shutil.rmtree(where, ignore_errors=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1]
    found = json.loads(done.stdout.splitlines()[-1])
    return str(found["skipped"]) if "skipped" in found else found


def run(options: argparse.Namespace) -> tuple[Rounds, dict[str, str], int]:
    """All rounds; what was skipped, and how many rounds there were."""
    started = time.monotonic()
    rounds: dict[str, list[Figures]] = {}
    skipped: dict[str, str] = {}
    done = 0
    for number in range(options.rounds):
        if options.quick and number and time.monotonic() - started > QUICK_S * 0.5:
            break
        cases = [*QUICK, *(() if options.quick else PEERS)]
        if options.quick:
            cases += QUICK_ONCE if number == 0 else ()
        else:
            costly = number % 2 == 0 and not options.no_history
            cases += [case for case in ONCE if costly or case not in COSTLY]
        for case in cases:
            if options.only not in case or case in skipped:
                continue
            found = measure(case, options.turns, options.seconds, options.directory)
            if isinstance(found, str):
                skipped[case] = found
                note(f"  {case}: {found}")
            else:
                rounds.setdefault(case, []).append(found)
        done += 1
        note(f"round {done} after {time.monotonic() - started:.0f} s")
    return rounds, skipped, done


def main() -> None:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        prog="benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"about {QUICK_S:.0f} s, no peers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=0, help="20,000, or 6,000 with --quick")
    parser.add_argument("--seconds", type=float, default=0.0, help="limit of one case")
    parser.add_argument(
        "--no-history", action="store_true", help="leave out what stores many turns first"
    )
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--directory", type=Path, default=None, help="on the disk to measure")
    options = parser.parse_args()
    options.turns = options.turns or (6_000 if options.quick else 20_000)
    options.seconds = options.seconds or (1.0 if options.quick else 3.0)
    rounds, skipped, count = run(options)
    cache = HERE.parent / ".cache"
    cache.mkdir(exist_ok=True)
    (cache / "benchmarks.json").write_text(json.dumps(rounds, indent=1))
    show(rounds, skipped)
    if not options.quick and not options.only:
        REFERENCE.mkdir(parents=True, exist_ok=True)
        (REFERENCE / "benchmarks.md").write_text(page(rounds, skipped, count))
        (REFERENCE / "benchmarks.svg").write_text(plot(rounds))
        note("written: docs/reference/benchmarks.md, docs/reference/benchmarks.svg")


if __name__ == "__main__":
    main()
