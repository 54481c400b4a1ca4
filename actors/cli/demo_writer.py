"""The process that `turnfold demo` kills: takes chat lines in and says what is safe.

Lines come on standard input. For each, once it is durable, a line of JSON goes out: the number of
the line, the position it has, and a digest of the text as it is stored.
"""

import json
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Final

from turnfold.actors.bootstrap import start_store
from turnfold.actors.cli.ingest_lines import ChatLine, parse_line
from turnfold.actors.cli.intake import add_and_wait
from turnfold.actors.clock import RecordedClock
from turnfold.actors.config import Config
from turnfold.actors.supervisor import Supervisor
from turnfold.events.keys import Channel
from turnfold.events.limits import Limits

SAMPLE: Final = Path(__file__).with_name("sample_chat.jsonl")
TURNS_KEPT: Final = 16  # so few that the sample's longest conversation is compacted


def demo_config(storage_path: Path) -> Config:
    """What the demo runs with."""
    limits = Limits(turns_per_session=TURNS_KEPT)
    return Config(storage_path=storage_path, persistence_enabled=True, limits=limits)


def parse_sample(line: bytes) -> ChatLine:
    """A line of the sample; every one has a time. Raises InvalidInput."""
    return parse_line(line, Channel.PUBLIC_CHAT)


def text_digest(text: str) -> str:
    """By which the text that was acknowledged and the text that is stored are compared."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def open_at(storage_path: Path, line: ChatLine) -> Supervisor:
    """The demo's store, opened at the time of this line."""
    assert line.at is not None
    return start_store(demo_config(storage_path), clock=RecordedClock(line.at))


def main() -> None:
    """Run until standard input ends, or until killed."""
    store: Supervisor | None = None
    for number, data in enumerate(sys.stdin.buffer, 1):
        line = parse_sample(data)
        if store is None:
            store = open_at(Path(sys.argv[1]), line)
        receipt = add_and_wait(store, line)
        answer = {
            "line": number,
            "position": receipt.position,
            "digest": text_digest(line.turn.text),
        }
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    if store is not None:
        store.close()


if __name__ == "__main__":
    main()
