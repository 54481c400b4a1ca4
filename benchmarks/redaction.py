"""How long redaction takes: on a plain line, on real chat, on hostile input.

    python benchmarks/redaction.py [--shared DIR] [--seconds 20]

The shared folder (`data/*.jsonl`) is optional. Times are the best of several rounds, in process
time; on a loaded machine they are an upper bound. Growth is the ratio of the times for 64 and for
16 KiB of the same hostile input, which is 4 where the cost is linear.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from turnfold.events.redaction import redact

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from domain.redaction_lines import secret_lines  # noqa: E402  # needs the path above
from domain.test_redaction_linear import ATTACKS  # noqa: E402  # the same attacks as the tests

PLAIN = (
    "so I walked over to the old harbour with Mia yesterday and we looked at the boats for a "
    "while, then the rain came and everybody ran for the small cafe on the corner where they "
    "serve that thick soup we liked last summer, and honestly it was one of the nicest evenings "
    "we had in months, don't you agree, friend?"
)[:300]
KIB = 1024


def seconds(text: str, rounds: int = 5) -> float:
    """Best process time of one redaction."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        redact(text)
        best = min(best, time.process_time() - start)
    return best


def mean_us(texts: Sequence[str], rounds: int = 5) -> float:
    """Best mean over all texts, in microseconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for text in texts:
            redact(text)
        best = min(best, time.process_time() - start)
    return best / len(texts) * 1e6


def repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def ordinary(shared: Path | None) -> None:
    """Plain lines and real chat."""
    print(f"300 plain characters     {mean_us([PLAIN] * 2000):8.1f} us")
    everything: list[str] = []
    for name in ("public_chat", "direct_im"):
        path = shared / "data" / f"{name}.jsonl" if shared else None
        if path is not None and path.is_file():
            with path.open(encoding="utf-8") as lines:
                texts = [json.loads(line)["text"] for line in lines]
            everything += texts
            print(f"{name:24} {mean_us(texts, 3):8.1f} us mean of {len(texts)}")
    if everything:
        print(f"{'both':24} {mean_us(everything, 3):8.1f} us mean of {len(everything)}")


def hostile() -> None:
    """Each attack repeated: cost per KiB and growth."""
    rows: list[tuple[float, float, str]] = []
    for unit in ATTACKS:
        small, large = (seconds(repeated(unit, size * KIB), 3) for size in (16, 64))
        rows.append((large / 64 * 1e3, large / max(small, 1e-6), unit))
    rows.sort(reverse=True)
    print("\nhostile units, repeated      ms/KiB   growth for 4 x the text")
    for cost, growth, unit in rows[:10]:
        print(f"{unit!a:28} {cost:6.2f}   {growth:.1f}")


def random_hostile(budget_s: float, seed: int) -> None:
    """Random mixtures of attacks and secrets: the worst found in the time given."""
    draw = random.Random(seed)
    units = [*(unit for unit in ATTACKS if unit.isascii()), *(line.text for line in secret_lines())]
    end = time.monotonic() + budget_s
    worst = 0.0
    tried = 0
    while time.monotonic() < end:
        parts = (draw.choice(units)[: draw.randrange(1, 60)] for _ in range(draw.randrange(1, 4)))
        text = repeated("".join(parts), 4 * KIB)
        worst = max(worst, seconds(text, 2) / 4 * 1e3)
        tried += 1
    print(f"\nworst of {tried} random mixtures of 4 KiB: {worst:.2f} ms/KiB")


def main() -> None:
    parser = argparse.ArgumentParser(description="How long redaction takes")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--seconds", type=float, default=20.0, help="for random mixtures")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    ordinary(chosen.shared if chosen.shared.is_dir() else None)
    hostile()
    random_hostile(chosen.seconds, chosen.seed)


if __name__ == "__main__":
    main()
