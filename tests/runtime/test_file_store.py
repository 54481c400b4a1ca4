"""Stores on files: what survives, who may open, and what is left of what was deleted."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from runtime.fake_log import KEY, NOON, OTHER_KEY, until

from turnfold.actors.clock import RecordedClock
from turnfold.actors.config import Config
from turnfold.actors.control import SOCKET_NAME, ask_owner
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.messages import Flush
from turnfold.events.commands import DeleteKey
from turnfold.events.errors import DamagedStore, StoreLocked, StorePathError
from turnfold.events.limits import Limits
from turnfold.events.log.frame import HEADER_BYTES
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES
from turnfold.events.turns import AgentResponse, AvatarText

CHILD = """
import sys
from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events.keys import ConversationKey
from turnfold.events.turns import AvatarText

key = ConversationKey("00000000-0000-0000-0000-000000000001", "public_chat")
store = ConversationStore(Config(storage_path=sys.argv[1], persistence_enabled=True))
for number in range(100_000):
    receipt = store.add_turn(key, AvatarText(f"turn {number}"), turn_id=f"id-{number}")
    print(number, receipt.position, flush=True)
"""


def config(path: Path, **values: object) -> Config:
    return Config(storage_path=path, persistence_enabled=True, **values)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # settings by name


def every_byte(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())


def test_turns_sessions_and_turn_ids_survive_a_reopening(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path)) as store:
        first = store.add_turn(KEY, AvatarText("hello"), turn_id="id-1")
    with ConversationStore(config(tmp_path)) as store:
        again = store.add_turn(KEY, AvatarText("hello"), turn_id="id-1")
        assert (again.position, again.session_id) == (first.position, first.session_id)
        assert again.duplicate
        store.add_turn(KEY, AgentResponse("hi"))
        assert [m.content for m in store.context(KEY).messages][-2:] == ["hello", "hi"]


def test_a_second_owner_is_refused_and_told_the_first_ones_process(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path)) as store:
        with pytest.raises(StoreLocked, match=str(os.getpid())):
            ConversationStore(config(tmp_path))
        assert store.add_turn(KEY, AvatarText("x")).durable


def test_an_opener_waits_for_the_owner_as_long_as_configured(tmp_path: Path) -> None:
    first = ConversationStore(config(tmp_path))
    opened: list[ConversationStore] = []
    thread = threading.Thread(
        target=lambda: opened.append(ConversationStore(config(tmp_path, open_timeout_s=20)))
    )
    thread.start()
    first.add_turn(KEY, AvatarText("x"))
    first.close()
    thread.join()
    assert opened[0].context(KEY).position > 0
    opened[0].close()


def test_a_path_that_can_be_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("something")
    with pytest.raises(StorePathError):
        ConversationStore(config(occupied))
    foreign = tmp_path / "foreign"
    (foreign / "conversations").mkdir(parents=True)
    (foreign / "conversations" / "notes.txt").write_text("mine")
    with pytest.raises(StorePathError):
        ConversationStore(config(foreign))
    assert occupied.read_text() == "something"
    assert [file.name for file in (foreign / "conversations").iterdir()] == ["notes.txt"]
    assert not [t for t in threading.enumerate() if t.name.startswith("turnfold-")]


def test_killed_under_load_every_acknowledged_turn_is_there(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    acknowledged = [child.stdout.readline().split() for _ in range(200)]
    child.send_signal(signal.SIGKILL)
    acknowledged += [line.split() for line in child.stdout.read().splitlines() if " " in line]
    child.stdout.close()
    child.wait()
    with ConversationStore(config(tmp_path)) as store:
        number, position = map(int, acknowledged[-1])
        again = store.add_turn(KEY, AvatarText(f"turn {number}"), turn_id=f"id-{number}")
        assert (again.duplicate, again.position) == (True, position)
        assert store.list_metadata().items[0].turn_count >= number + 1


def test_after_a_deletion_no_byte_of_the_text_is_left(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path)) as store:
        for number in range(30):
            store.add_turn(KEY, AvatarText(f"sentinel-{number}-of-the-deleted-one"))
            store.add_turn(OTHER_KEY, AvatarText(f"remains-{number}"))
            if number % 10 == 0:
                store.expire(KEY)
                store.flush()
        assert b"sentinel-29" in every_byte(tmp_path)
        store.delete(KEY)
        left = every_byte(tmp_path)
        assert b"sentinel-" not in left
        assert b"remains-29" in left
    with ConversationStore(config(tmp_path)) as store:
        assert store.context(KEY).session_id is None
        assert store.context(OTHER_KEY).session_id is not None
    assert b"sentinel-" not in every_byte(tmp_path)


def test_expired_text_goes_with_the_next_flush(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path)) as store:
        store.add_turn(KEY, AvatarText("sentinel-of-the-expired-one"))
        store.expire(KEY)
        store.flush()
        assert b"sentinel-" not in every_byte(tmp_path)


def test_compacted_text_goes_with_the_next_flush(tmp_path: Path) -> None:
    limits = Limits(turns_per_session=4, summary_bytes=512)
    with ConversationStore(config(tmp_path, limits=limits)) as store:
        for number in range(12):
            store.add_turn(KEY, AvatarText(f"number-{number} " + "of many words here " * 60))
        assert every_byte(tmp_path).count(b"of many words here") >= 12 * 60
        store.flush()
        # Four turns verbatim, in the log and in one generation, and short excerpts of others.
        assert every_byte(tmp_path).count(b"of many words here") <= 2 * (4 * 60 + 32)


def test_a_session_expires_by_its_age_across_a_reopening(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path), clock=RecordedClock(NOON)) as store:
        store.add_turn(KEY, AvatarText("x"))
    later = RecordedClock(NOON + 29 * 60 * 1_000_000_000)
    with ConversationStore(config(tmp_path), clock=later) as store:
        assert store.context(KEY).session_id is not None
    late = RecordedClock(NOON + 30 * 60 * 1_000_000_000)
    with ConversationStore(config(tmp_path), clock=late) as store:
        context = store.context(KEY)
        assert context.session_id is None
        assert context.previous_ended is not None
        assert store.stats().active_sessions == 0


def test_the_command_line_reaches_a_running_store_by_its_socket(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path)) as store:
        store.add_turn(KEY, AvatarText("sentinel"))
        assert ask_owner(tmp_path, DeleteKey(KEY)).sessions == 1
        assert ask_owner(tmp_path, Flush()).durable > 0
        assert b"sentinel" not in every_byte(tmp_path / "conversations" / "log")
    assert not (tmp_path / "conversations" / SOCKET_NAME).exists()


def test_without_a_control_socket_there_is_none(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path, control_socket=False)):
        assert not (tmp_path / "conversations" / SOCKET_NAME).exists()


def test_a_damaged_store_may_be_opened_for_reading_only(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path)) as store:
        store.add_turn(KEY, AvatarText("first"))
        store.flush()
        for number in range(20):
            store.add_turn(KEY, AvatarText(f"turn {number}"))
        until(lambda: store.stats().durable == store.stats().position)
    segment = min((tmp_path / "conversations" / "log").iterdir())
    data = bytearray(segment.read_bytes())
    data[SEGMENT_HEADER_BYTES + HEADER_BYTES + 4] ^= 0xFF  # in the first frame's chained part
    segment.write_bytes(data)
    for generation in (tmp_path / "conversations" / "generations").iterdir():
        generation.unlink()

    with ConversationStore(config(tmp_path, on_damage="refuse")) as store:
        assert store.stats().failed
        with pytest.raises(DamagedStore):
            store.add_turn(KEY, AvatarText("x"))
        store.context(KEY)
    assert segment.read_bytes() == bytes(data)
    with ConversationStore(config(tmp_path)) as store:
        assert store.add_turn(KEY, AvatarText("goes on")).durable


def test_lowered_limits_are_reached_at_open(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path)) as store:
        for number in range(20):
            store.add_turn(KEY, AvatarText(f"turn {number}"))
        store.add_turn(OTHER_KEY, AvatarText("newer"))
    limits = Limits(active_sessions=1, turns_per_session=4)
    with ConversationStore(config(tmp_path, limits=limits)) as store:
        assert [item.avatar for item in store.list_metadata().items] == [OTHER_KEY.avatar]


def test_another_process_is_refused_and_changes_nothing_for_the_owner(tmp_path: Path) -> None:
    with ConversationStore(config(tmp_path)) as store:
        store.add_turn(KEY, AvatarText("x"))
        done = subprocess.run(
            [sys.executable, "-c", CHILD.replace("100_000", "1"), str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "StoreLocked" in done.stderr
        assert store.add_turn(KEY, AvatarText("y")).durable
