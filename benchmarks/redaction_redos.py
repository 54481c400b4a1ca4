"""A search for inputs on which a regular expression makes redaction slow (ReDoS).

    python benchmarks/redaction_redos.py [--seconds 120] [--seed 1]

Every pattern in the modules of redaction gives strings: one that it matches, in which a piece is
repeated and whose end is broken, so that the engine has to give back what it took. Measured in CPU
time, with the whole of redaction on:

- milliseconds for each KiB of a text of 8 KiB, of at most MS_PER_KIB_MAX;
- how much longer twice the text takes, of at most GROWTH_MAX;
- for a rule with cues, one attempt where the string begins: it may not get dearer with the text,
  as it is made wherever the cue stands.

Prints the worst of each, and exits with 1 if one is out of bounds.
"""

import argparse
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from redaction_review import Sampler

from turnfold.events.redaction import redact
from turnfold.events.redaction_search import RULES

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from domain.test_redaction_patterns import PATTERNS  # needs the path above

SMALL, LARGE = 4_096, 8_192
MS_PER_KIB_MAX: Final = 6.0
GROWTH_MAX: Final = 3.0
ATTEMPT_US_MAX: Final = 1_000.0


_AT_CUES = frozenset(rule.pattern.compiled() for rule in RULES if rule.cues)


class Attack(NamedTuple):
    """What one string costs."""

    pattern: str
    ms_per_kib: float
    growth: float
    attempt_us: float
    pump: str


def _cpu_us(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        begin = time.process_time_ns()
        work()
        best = min(best, (time.process_time_ns() - begin) / 1000)
    return best


def attacks(
    name: str, pattern: re.Pattern[str], draw: random.Random, until: float
) -> Iterator[Attack]:
    """What strings drawn from the pattern cost, until a time of the monotonic clock."""
    sampler = Sampler(draw.randrange(1 << 30))
    while time.monotonic() < until:
        sample = sampler.sample(pattern.pattern) or "a"
        begin = draw.randrange(len(sample))
        pump = sample[begin : begin + draw.randint(1, 24)]
        tail = draw.choice(["", "\x01", "!", " ", sample[-1]])
        small, large = (
            sample[:begin] + pump * (size // len(pump)) + tail for size in (SMALL, LARGE)
        )
        small_us, large_us = _cpu_us(partial(redact, small)), _cpu_us(partial(redact, large))
        attempt = _cpu_us(partial(pattern.match, large)) if pattern in _AT_CUES else 0.0
        yield Attack(name, large_us / LARGE * 1.024, large_us / small_us, attempt, pump)


def main() -> int:
    """Attack all patterns, one after the other; 1 if one is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    known = {pattern: name for name, pattern in PATTERNS.items()}  # each once
    found: list[Attack] = []
    for pattern, name in known.items():
        until = time.monotonic() + options.seconds / len(known)
        found += attacks(name, pattern, draw, until)
    print(f"{len(known)} patterns, {len(found):,} strings of {SMALL:,} and {LARGE:,} characters")
    for place, what in ((1, "ms/KiB"), (2, "times, for twice the text"), (3, "us an attempt")):
        print(f"\nworst {what}")
        for attack in sorted(found, key=lambda one: -float(one[place]))[:8]:
            print(f"{attack[place]:10.2f}  {attack.pattern[:60]:60}  {attack.pump!r}")
    out = [one for one in found if _is_out_of_bounds(one)]
    print(f"\n{len(out)} out of bounds")
    return 1 if out else 0


def _is_out_of_bounds(attack: Attack) -> bool:
    slow = attack.ms_per_kib > MS_PER_KIB_MAX
    grows = attack.growth > GROWTH_MAX and attack.ms_per_kib > MS_PER_KIB_MAX / 4
    return slow or grows or attack.attempt_us > ATTEMPT_US_MAX


if __name__ == "__main__":
    sys.exit(main())
