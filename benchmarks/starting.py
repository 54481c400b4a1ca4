"""Starting: what an import, the command line and the first listing cost, in a fresh process."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from job import Figures, Line
from writing import build

from turnfold.events.limits import Limits

REPEATS = 5


def _seconds(command: list[str]) -> float:
    taken: list[float] = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def starts(lines: Sequence[Line], directory: Path) -> Figures:
    """Seconds from start to end of each process, the interpreter's own included."""
    settings = build(lines, directory, len(lines), Limits())
    python = sys.executable
    cli = [python, "-m", "turnfold"]
    listing = [*cli, "sessions", "--json", "--store", str(settings.storage_path)]
    return {
        "python_s": _seconds([python, "-c", "pass"]),
        "import_s": _seconds([python, "-c", "import turnfold.events"]),
        "help_s": _seconds([*cli, "--help"]),
        "sessions_s": _seconds(listing),
    }
