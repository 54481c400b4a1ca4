"""A long log replays in the memory of a short one (by the benchmark that gives the rate too)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parent.parent.parent / "benchmarks" / "replay.py"
GROWTH_KIB = 16 * 1024  # a frame, the state of 64 keys, what the allocator keeps


@pytest.mark.parametrize(
    "events", [20_000, pytest.param(1_000_000, marks=pytest.mark.nightly)], ids=str
)
def test_memory_does_not_grow_with_the_log(events: int, tmp_path: Path) -> None:
    options = ["--events", str(events), "--directory", str(tmp_path), "--json"]
    command = [sys.executable, str(BENCHMARK), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)

    assert made["long"]["events"] == events
    assert made["short"]["events"] == events // 100
    assert made["long"]["digest"] != made["short"]["digest"]
    assert made["long"]["grown_kib"] < made["short"]["grown_kib"] + GROWTH_KIB
