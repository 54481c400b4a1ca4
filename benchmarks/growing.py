"""Growth: what one more turn and one context cost when much is stored already."""

import time
from collections.abc import Sequence
from pathlib import Path

import attrs
from job import KEYS, Figures, Line, key_of, percentile, turn_of
from writing import build

from turnfold.actors.conversation_store import ConversationStore
from turnfold.events.limits import Limits

SAMPLES = 1500


def grown(lines: Sequence[Line], directory: Path, stored: int) -> Figures:
    """Latencies behind `stored` turns: blocking add_turn, and context of the last turns."""
    settings = build(lines[:4000], directory, stored, Limits())
    adds: list[float] = []
    reads: list[float] = []
    with ConversationStore(attrs.evolve(settings, durability="commit")) as store:
        for key in KEYS:
            store.context(key, budget_bytes=16_384)
        turns = [(key_of(line), turn_of(line)) for line in lines[:SAMPLES]]
        for key, turn in turns:
            begin = time.perf_counter()
            store.add_turn(key, turn)
            middle = time.perf_counter()
            store.context(key, budget_bytes=16_384)
            adds.append(middle - begin)
            reads.append(time.perf_counter() - middle)
    return {
        "append_p50_us": percentile(adds, 0.5) * 1e6,
        "append_p99_us": percentile(adds, 0.99) * 1e6,
        "read_p50_us": percentile(reads, 0.5) * 1e6,
    }
