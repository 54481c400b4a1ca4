"""What a turn costs in the log: the same however long its session is, each text once."""

import base64
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from runtime.fake_log import KEY, FakeLog, running

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.messages import AddTurn
from turnfold.events import read_events
from turnfold.events.errors import TextTooLarge
from turnfold.events.event import Gap, SessionCompacted
from turnfold.events.limits import Limits
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary, Turn

PICTURE = random.Random(1).randbytes(90_000)
DATA_URI = "data:image/png;base64," + base64.b64encode(PICTURE).decode()


def test_a_turn_costs_the_log_the_same_however_long_its_session_is() -> None:
    log = FakeLog()
    limits = Limits(turns_per_session=4096, bytes_per_session=4 << 20)
    with running(Config(limits=limits), log=log) as store:
        for _ in range(1500):
            store.ref.ask(AddTurn(KEY, AvatarText("twenty bytes of words")))
    sizes = [len(frame.chained) + len(frame.payload) for frame in log.frames[2:1500]]

    assert max(sizes) <= min(sizes) + 16  # numbers grow, nothing else


def test_each_text_is_in_the_log_once(tmp_path: Path) -> None:
    with ConversationStore(Config(storage_path=tmp_path, persistence_enabled=True)) as store:
        for number in range(200):
            store.add_turn(KEY, AvatarText(f"sentinel-{number:03}"))
            store.context(KEY)
        log = b"".join(f.read_bytes() for f in (tmp_path / "conversations/log").iterdir())
    assert [log.count(b"sentinel-%03d" % number) for number in range(200)] == [1] * 200


@pytest.mark.parametrize(
    "turn",
    [
        AvatarText(f"look: {DATA_URI} nice?"),
        AgentResponse(f"here it is {DATA_URI}"),
        ToolSummary("camera", f'{{"content": [{{"url": "{DATA_URI}"}}]}}'),
        ActionResult("photo", "ok", DATA_URI),
    ],
    ids=lambda turn: turn.kind.name.lower(),
)
def test_a_picture_inside_a_text_is_not_stored(tmp_path: Path, turn: Turn) -> None:
    with ConversationStore(Config(storage_path=tmp_path, persistence_enabled=True)) as store:
        store.add_turn(KEY, turn)
        store.flush()
        kept = b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())
        shown = str(store.context(KEY).messages)
    encoded = DATA_URI.partition(",")[2]
    for start in range(0, len(encoded) - 64, 64):
        assert encoded[start : start + 64].encode() not in kept
        assert encoded[start : start + 64] not in shown


@pytest.mark.parametrize("kind", [AvatarText, AgentResponse])
def test_a_text_over_the_input_cap_never_becomes_a_turn(kind: Callable[[str], Turn]) -> None:
    with pytest.raises(TextTooLarge):
        kind(DATA_URI * 50)
    with pytest.raises(TextTooLarge):
        ToolSummary("camera", DATA_URI * 50)


def test_after_the_largest_turn_compaction_comes_to_rest(tmp_path: Path) -> None:
    limits = Limits(bytes_per_session=16 << 10, turn_bytes=8 << 10, summary_bytes=1024)
    config = Config(storage_path=tmp_path, persistence_enabled=True, limits=limits)
    with ConversationStore(config) as store:
        for number in range(20):
            store.add_turn(KEY, AvatarText(f"{number} hello"))
        store.add_turn(KEY, AvatarText("so many words " * 600))
        before = store.stats().position
        for number in range(8):
            store.add_turn(KEY, AgentResponse(f"{number} yes"))
        compactions = [
            event.position
            for event in read_events(tmp_path)
            if not isinstance(event, Gap) and isinstance(event, SessionCompacted)
        ]
    assert len([position for position in compactions if position > before]) <= 1
