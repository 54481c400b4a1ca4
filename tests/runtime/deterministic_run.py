"""A program for test_determinism: one fixed history with injected clock and entropy.

    python deterministic_run.py DIRECTORY

Prints the state digest after each step, then a digest of every file's name and bytes.
"""

import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from turnfold.actors import Config, ConversationStore
from turnfold.actors.clock import RecordedClock
from turnfold.events import (
    ActionResult,
    AgentResponse,
    AvatarText,
    Channel,
    ConversationKey,
    Limits,
    ToolSummary,
    replay,
)
from turnfold.events.turns import Turn

START_NS = 1_700_000_000_000_000_000
LIMITS = Limits(
    active_sessions=4,
    turns_per_session=8,
    bytes_per_session=16_384,
    aggregate_bytes=32_768,
    turn_bytes=1024,
    tool_turn_bytes=512,
    summary_bytes=1024,
)


def numbered_bytes(seed: int) -> Callable[[int], bytes]:
    """Bytes that depend on the seed and on how many were taken before."""
    count = 0

    def take(size: int) -> bytes:
        nonlocal count
        count += 1
        name = f"{seed}:{count}".encode()
        return b"".join(
            blake2b(name, digest_size=64, salt=block.to_bytes(4, "big")).digest()
            for block in range(-(-size // 64))
        )[:size]

    return take


def turn(number: int) -> Turn:
    """All four kinds, with names, call ids and something to redact."""
    kinds: tuple[Turn, ...] = (
        AvatarText(f"turn {number}: where is the café? \N{HAPPY PERSON RAISING ONE HAND}"),
        AgentResponse(f"turn {number}: by the pier", call_ids=(f"c{number}",)),
        ToolSummary("search", f"turn {number}: 3 places", call_id=f"c{number - 1}"),
        ActionResult("sit", "failed" if number % 3 else "ok", f"turn {number}: no seat"),
    )
    return kinds[number % 4]


def main(directory: str) -> None:
    """Two openings: turns, compaction, eviction, expiry, deletion, flush; digests in between."""
    config = Config(
        storage_path=directory, persistence_enabled=True, control_socket=False, limits=LIMITS
    )
    clock = RecordedClock(START_NS)
    number = 0
    for opening in range(2):
        entropy = numbered_bytes(opening)
        with ConversationStore(config, clock=clock, entropy=entropy) as store:
            for _ in range(90):
                number += 1
                clock.advance_to(START_NS + number * 90_000_000_000)
                key = ConversationKey(f"{number % 6 + 1:032x}", list(Channel)[number % 5 == 0])
                store.add_turn(key, turn(number), turn_id=f"id-{number}")
            store.delete(ConversationKey(f"{3:032x}", Channel.PUBLIC_CHAT))
            store.flush()
        sys.stdout.write(f"state {replay(directory).digest.hex()}\n")
    for path in sorted(path for path in Path(directory).rglob("*") if path.is_file()):
        if path.name != "LOCK":  # holds the process id
            digest = blake2b(path.read_bytes(), digest_size=16).hexdigest()
            sys.stdout.write(f"file {path.relative_to(directory)} {digest}\n")


if __name__ == "__main__":
    main(sys.argv[1])
