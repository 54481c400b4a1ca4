"""What subscribers cost: durable turns a second with 0, 4 and 32 of them, in one run.

    python benchmarks/subscribers.py [--turns 6000] [--rounds 5] [--json]

64 asyncio tasks add turns with durability "commit" to a store on files. Each round runs every
count of subscribers once; ratios are made inside a round, so that a slow moment of the machine
hits both sides.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time

from job import key_of, make_lines, turn_of

from turnfold.actors import AsyncConversationStore, Config, Subscriber
from turnfold.events import Notice

TASKS = 64
COUNTS = (0, 4, 32)


class Listener(Subscriber):
    """Looks at every notice and keeps none."""

    def on_notice(self, notice: Notice) -> None:
        """Read it."""
        assert notice.position


async def turns_a_second(turns: int, subscribers: int) -> float:
    """The rate at which 64 tasks add turns beside this many subscribers."""
    lines = make_lines(turns)
    with tempfile.TemporaryDirectory() as directory:
        config = Config(storage_path=directory, persistence_enabled=True, control_socket=False)
        async with AsyncConversationStore.from_config(config) as store:
            for _ in range(subscribers):
                store.subscribe(Listener)

            async def add(part: int) -> None:
                for line in lines[part::TASKS]:
                    await store.add_turn(key_of(line), turn_of(line), turn_id=f"t{line[1]}")

            begun = time.perf_counter()
            await asyncio.gather(*(add(part) for part in range(TASKS)))
            return turns / (time.perf_counter() - begun)


def main() -> None:
    """Print the medians and the ranges of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rounds = [
        {count: asyncio.run(turns_a_second(options.turns, count)) for count in COUNTS}
        for _ in range(options.rounds)
    ]
    figures = {
        f"{count}_subscribers_ratio": sorted(round(one[count] / one[0], 3) for one in rounds)
        for count in COUNTS[1:]
    }
    if options.json:
        sys.stdout.write(json.dumps(figures) + "\n")
        return
    alone = statistics.median(one[0] for one in rounds)
    sys.stdout.write(f"64 tasks, no subscriber: {alone:,.0f} turns/s in the median\n")
    for name, ratios in figures.items():
        middle = statistics.median(ratios)
        sys.stdout.write(f"{name}: {middle} in the median, {ratios[0]} to {ratios[-1]}\n")


if __name__ == "__main__":
    main()
