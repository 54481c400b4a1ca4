"""Empty files, many openings, erasure from end to end, and more turns than a log may hold."""

import shutil
from pathlib import Path

import pytest
from runtime.fake_log import KEY, OTHER_KEY, until

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events import read_events, replay, verify
from turnfold.events.errors import StoreReadOnly
from turnfold.events.event import Gap, Quarantined, StoreOpened
from turnfold.events.limits import Limits
from turnfold.events.turns import AgentResponse, AvatarText

TEXTS = [f"turn {number}" for number in range(5)]


def config(path: Path, limits: Limits | None = None) -> Config:
    return Config(storage_path=path, persistence_enabled=True, limits=limits or Limits())


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of one session, closed in order."""
    path = tmp_path_factory.mktemp("closed")
    with ConversationStore(config(path)) as store:
        for text in TEXTS:
            store.add_turn(KEY, AvatarText(text))
    return path


def said(store: ConversationStore) -> list[str]:
    return [m.content for m in store.context(KEY).messages if m.content in TEXTS]


@pytest.mark.parametrize("kept", ["the log", "the generation", "neither"])
def test_an_empty_file_keeps_no_store_from_opening_and_is_told(
    closed: Path, tmp_path: Path, kept: str
) -> None:
    path = tmp_path / "store"
    shutil.copytree(closed, path)
    doomed = {
        "the log": ["generations"],
        "the generation": ["log"],
        "neither": ["generations", "log"],
    }
    emptied = [
        file for folder in doomed[kept] for file in (path / "conversations" / folder).iterdir()
    ]
    assert len(emptied) == len(doomed[kept])
    for file in emptied:
        file.write_bytes(b"")

    for _ in range(2):  # and again: no loop of failing starts
        with ConversationStore(config(path)) as store:
            assert said(store) == ([] if kept == "neither" else TEXTS)
            assert store.add_turn(OTHER_KEY, AvatarText("goes on")).durable
    events = [event for event in read_events(path) if not isinstance(event, Gap)]
    assert any(isinstance(event, Quarantined) for event in events)
    assert verify(path).ok


@pytest.mark.parametrize("name", ["LOCK", "reserve", "digest.keys"])
def test_an_empty_file_beside_the_log_costs_no_conversation(
    closed: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "store"
    shutil.copytree(closed, path)
    (path / "conversations" / name).write_bytes(b"")
    with ConversationStore(config(path)) as store:
        assert said(store) == TEXTS
        assert store.add_turn(KEY, AgentResponse("goes on")).durable


def test_with_an_empty_key_the_store_is_only_read_and_no_file_changes(
    closed: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store"
    shutil.copytree(closed, path)
    (path / "conversations" / "pseudonym.key").write_bytes(b"")
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    with ConversationStore(config(path)) as store, pytest.raises(StoreReadOnly):
        store.add_turn(KEY, AvatarText("x"))
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before


def test_opening_again_and_again_adds_nothing_to_a_session(tmp_path: Path) -> None:
    for number, text in enumerate(TEXTS, 1):
        with ConversationStore(config(tmp_path)) as store:
            store.add_turn(KEY, AvatarText(text))
            assert store.list_metadata().items[0].turn_count == number
            assert said(store) == TEXTS[:number]
    state = replay(tmp_path, content=True).state
    (session,) = state.sessions()
    assert [turn.text for turn in session.turns] == TEXTS


def test_positions_go_on_after_everything_was_erased(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path)) as store:
        for text in TEXTS:
            store.add_turn(KEY, AvatarText(text))
        store.delete(KEY)
        store.flush()
        last = store.stats().position
    for _ in range(2):
        with ConversationStore(config(tmp_path)) as store:
            receipt = store.add_turn(KEY, AvatarText("a new beginning"))
            assert receipt.position > last
            last = receipt.position
            assert store.context(KEY).position == last
            assert store.list_metadata().items[0].turn_count in (1, 2)
    positions = [event.position for event in read_events(tmp_path) if not isinstance(event, Gap)]
    assert positions == list(range(1, len(positions) + 1))
    assert sum(isinstance(e, StoreOpened) for e in read_events(tmp_path)) == 3


def test_many_turns_take_no_more_disk_than_the_limits(tmp_path: Path) -> None:
    """Three times as much as the log may hold goes through it."""
    limits = Limits(
        turns_per_session=64,
        aggregate_bytes=64 << 10,
        bytes_per_session=32 << 10,
        turn_bytes=1024,
        tool_turn_bytes=1024,
        summary_bytes=1024,
        active_sessions=16,
        log_bytes=1 << 20,
        generation_bytes=1 << 20,
        quarantine_bytes=0,
        state_bytes=0,
        state_records=0,
    )
    ceiling = limits.log_bytes + limits.generation_bytes
    beside = 1 << 20  # reserve, keys, lock, checkpoints
    largest = 0
    with ConversationStore(config(tmp_path, limits)) as store:
        for _ in range(10):
            store.add_turns(KEY, [AvatarText("so many words " * 40)] * 300)
            store.flush()
            until(lambda: store.stats().erasures_pending == 0)
            taken = sum(f.stat().st_size for f in tmp_path.rglob("*") if f.is_file())
            largest = max(largest, taken)
    first = next(iter(read_events(tmp_path)))
    assert isinstance(first, Gap)  # the log was trimmed, and says so
    assert largest <= ceiling + beside
