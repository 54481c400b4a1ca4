"""A load model: what 10, 1,000 and 100,000 avatars who talk at once ask of a store.

    python benchmarks/scale.py [--caller-us 70] [--actor-us 45] [--context-us 75] [--sync-us 90]

The costs are those of `make bench` (redact and admit; hand over, decide, encode, chain, frame,
publish, reply; context; sync). Arrivals are simulated, and a process is: one interpreter, which
serves callers and the store actor in turn, and one disk, beside which the interpreter goes on.
"""

import argparse
import math
import random
from collections import deque
from collections.abc import Sequence

import attrs
from job import percentile
from table import markdown, number

GAP_S = 30.0  # from one message of an avatar to its next, while it talks
TURNS_PER_EXCHANGE = 2.3  # the avatar's, the agent's, and in three of ten a tool's
TEXT_BYTES = 390.0  # of one turn, UTF-8
LOG_BYTES = 105.0  # of one turn in the log, beside its text
MEMORY_BYTES = 1100.0  # of one live turn beside its text: accounted overhead and objects
LIVE_TURNS = 40.0  # of one conversation before its summary takes over
SESSIONS_MAX = 65_536  # hard ceiling of active_sessions
AGGREGATE_MAX = 1 << 30  # hard ceiling of aggregate_bytes
ACCOUNTED_BYTES = 256.0  # of one live turn beside its text, as limits count it
LOG_MAX = 64 << 30  # hard ceiling of log_bytes
USABLE = 0.6  # of one interpreter: beyond it, queues grow faster than load
BATCH_MAX = 512


@attrs.frozen
class Costs:
    """Seconds of one interpreter for a turn in its caller's thread, in the store actor's, and for
    a context; and of the disk for a sync."""

    caller: float
    actor: float
    context: float
    sync: float

    @property
    def exchange(self) -> float:
        """Seconds of interpreter for one exchange: its turns, and one context."""
        return TURNS_PER_EXCHANGE * (self.caller + self.actor) + self.context


@attrs.frozen
class Served:
    """What one process did: latencies in seconds, turns per sync, the interpreter's load."""

    latencies: list[float]
    batch: float
    load: float


def arrivals(avatars: int, seconds: float, draw: random.Random) -> list[float]:
    """When turns come. Exchanges are a Poisson process; an agent answers after 1 to 5 s."""
    times: list[float] = []
    at = 0.0
    while (at := at + draw.expovariate(avatars / GAP_S)) < seconds:
        times.append(at)
        times.append(at + draw.uniform(1.0, 5.0))
        if draw.random() < TURNS_PER_EXCHANGE - 2:
            times.append(at + draw.uniform(0.5, 4.0))
    return sorted(times)


def serve(times: Sequence[float], costs: Costs) -> Served:
    """Group commit: all that came while the last sync ran share the next one."""
    # The context of an exchange is charged to its turns in equal parts.
    caller = costs.caller + costs.context / TURNS_PER_EXCHANGE
    waiting: deque[float] = deque()
    latencies: list[float] = []
    clock = busy = 0.0
    batches = came = 0
    while came < len(times) or waiting:
        if not waiting:
            clock = max(clock, times[came])
        while came < len(times) and times[came] <= clock and len(waiting) < BATCH_MAX:
            waiting.append(times[came])
            clock, busy, came = clock + caller, busy + caller, came + 1
        batch = [waiting.popleft() for _ in range(min(len(waiting), BATCH_MAX))]
        work = len(batch) * costs.actor
        busy += work
        durable = clock + work + costs.sync
        clock += work
        while came < len(times) and max(clock, times[came]) < durable:
            clock = max(clock, times[came]) + caller
            waiting.append(times[came])
            busy, came = busy + caller, came + 1
        clock = max(clock, durable)
        latencies += [durable - arrival for arrival in batch]
        batches += 1
    return Served(latencies, len(times) / batches, busy / max(clock, times[-1]))


def processes(avatars: int, costs: Costs) -> int:
    """How many stores it takes, by whatever each runs out of first."""
    return max(math.ceil(avatars / most) for most in limits(costs).values())


def limits(costs: Costs) -> dict[str, float]:
    """How many avatars one store can serve, by what it runs out of."""
    return {
        "the interpreter": USABLE * GAP_S / costs.exchange,
        "active_sessions": SESSIONS_MAX,
        "aggregate_bytes": AGGREGATE_MAX / (LIVE_TURNS * (TEXT_BYTES + ACCOUNTED_BYTES)),
        "log_bytes in an hour": LOG_MAX / 3600 / log_rate(1),
    }


def first_limit(avatars: int, costs: Costs) -> str:
    """What one store would run out of first, and at how many avatars."""
    found = limits(costs)
    name = min(found, key=lambda which: found[which])
    return f"{name}, at {number(found[name])} ({avatars / found[name]:.0%})"


def log_rate(avatars: float) -> float:
    """Bytes of log a second."""
    return avatars / GAP_S * TURNS_PER_EXCHANGE * (TEXT_BYTES + LOG_BYTES)


def row(avatars: int, costs: Costs, seconds: float) -> list[str]:
    """One line of the table."""
    count = processes(avatars, costs)
    served = serve(arrivals(avatars // count, seconds, random.Random(1)), costs)
    memory = avatars * LIVE_TURNS * (TEXT_BYTES + MEMORY_BYTES) / 2**20
    return [
        f"{avatars:,}",
        number(avatars / GAP_S * TURNS_PER_EXCHANGE),
        str(count),
        f"{served.load:.1%}",
        number(served.batch),
        f"{percentile(served.latencies, 0.5) * 1e3:.2f} / "
        f"{percentile(served.latencies, 0.99) * 1e3:.2f}",
        number(log_rate(avatars) * 86_400 / 1e9),
        number(memory / count),
        first_limit(avatars, costs),
    ]


HEAD = (
    "avatars",
    "turns/s",
    "stores",
    "interpreter",
    "turns per sync",
    "p50 / p99 ms",
    "log GB/day",
    "MiB of memory each",
    "one store runs out of",
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="scale", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--caller-us", type=float, default=70.0)
    parser.add_argument("--actor-us", type=float, default=45.0)
    parser.add_argument("--context-us", type=float, default=75.0)
    parser.add_argument("--sync-us", type=float, default=90.0)
    parser.add_argument("--seconds", type=float, default=30.0, help="that are simulated")
    given = parser.parse_args()
    costs = Costs(
        given.caller_us / 1e6, given.actor_us / 1e6, given.context_us / 1e6, given.sync_us / 1e6
    )
    rows = [row(avatars, costs, given.seconds) for avatars in (10, 1_000, 10_000, 100_000)]
    print(markdown(HEAD, rows))


if __name__ == "__main__":
    main()
