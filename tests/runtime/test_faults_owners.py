"""Several processes and threads at one store: one owner, no stolen lock, no false conflict."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from runtime.cli_run import turnfold
from runtime.fake_log import KEY, NOON, OTHER_KEY, SteppedClock

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events import read_events
from turnfold.events.errors import StoreLocked, TurnIdConflict
from turnfold.events.event import Gap, TurnAdded
from turnfold.events.turns import AgentResponse, AvatarText

# Says that it is ready, opens when told, says what came of it, adds a turn for each further line.
OPENER = """
import sys
from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events.errors import StoreLocked
from turnfold.events.keys import ConversationKey
from turnfold.events.turns import AvatarText

key = ConversationKey("00000000-0000-0000-0000-000000000001", "public_chat")
print("ready", flush=True)
sys.stdin.readline()
try:
    store = ConversationStore(Config(storage_path=sys.argv[1], persistence_enabled=True))
except StoreLocked:
    print("refused", flush=True)
else:
    print("owner", flush=True)
    while sys.stdin.readline():
        print(store.add_turn(key, AvatarText("from the owner")).position, flush=True)
    store.close()
"""


class Opener:
    """A process that wants a store."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OPENER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def say(self, line: str = "") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.communicate()


def config(path: Path) -> Config:
    return Config(storage_path=path, persistence_enabled=True)


def positions(path: Path) -> list[int]:
    events = list(read_events(path))
    assert not any(isinstance(event, Gap) for event in events)
    return [event.position for event in events if not isinstance(event, Gap)]


def test_of_eight_processes_at_a_fresh_directory_one_owns_it(tmp_path: Path) -> None:
    openers = [Opener(tmp_path) for _ in range(8)]
    assert [opener.hear() for opener in openers] == ["ready"] * 8
    for opener in openers:
        opener.say()
    answers = [opener.hear() for opener in openers]
    owner = openers[answers.index("owner")]
    owner.say()
    assert int(owner.hear()) > 0
    for opener in openers:
        opener.end()

    assert sorted(answers) == ["owner"] + ["refused"] * 7
    assert positions(tmp_path) == list(range(1, len(positions(tmp_path)) + 1))


def test_a_stopped_owner_keeps_the_store_and_goes_on(tmp_path: Path) -> None:
    owner = Opener(tmp_path)
    owner.hear()
    owner.say()
    assert owner.hear() == "owner"
    owner.say()
    first = int(owner.hear())
    owner.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(3):
            with pytest.raises(StoreLocked):
                ConversationStore(config(tmp_path))
    finally:
        owner.process.send_signal(signal.SIGCONT)
    owner.say()
    assert int(owner.hear()) == first + 1
    owner.end()

    with ConversationStore(config(tmp_path)) as store:
        assert store.add_turn(KEY, AvatarText("the next owner")).durable
    turns = [event for event in read_events(tmp_path) if isinstance(event, TurnAdded)]
    assert len(turns) == 3
    assert positions(tmp_path) == list(range(1, len(positions(tmp_path)) + 1))


def test_an_operator_waits_for_a_stopped_owner_no_longer_than_asked(tmp_path: Path) -> None:
    owner = Opener(tmp_path)
    owner.hear()
    owner.say()
    assert owner.hear() == "owner"
    owner.process.send_signal(signal.SIGSTOP)
    key = (str(KEY.avatar), KEY.channel.value)
    try:
        for command in ("expire", "delete"):
            done = turnfold(command, *key, "--store", tmp_path, "--timeout", "0.2")
            assert done.code != 0
            assert "no answer within 0.2 s" in done.err
    finally:
        owner.process.send_signal(signal.SIGCONT)
    done = turnfold("delete", *key, "--store", tmp_path, "--timeout", "60")
    assert done.code == 0
    owner.end()


def test_turns_of_one_instant_are_no_conflict() -> None:
    with ConversationStore(clock=SteppedClock(NOON)) as store:
        session = store.add_turn(KEY, AvatarText("one")).session_id
        store.add_turn(KEY, AgentResponse("two"), session=session)
        store.add_turn(KEY, AvatarText("three"), session=session)
        assert [m.content for m in store.context(KEY).messages] == ["one", "two", "three"]


def test_what_happens_to_another_key_between_two_turns_is_no_conflict() -> None:
    with ConversationStore() as store:
        store.add_turn(OTHER_KEY, AvatarText("elsewhere"))
        session = store.add_turn(KEY, AvatarText("one")).session_id
        store.context(KEY)
        store.list_metadata()
        store.expire(OTHER_KEY)
        store.flush()
        store.delete(OTHER_KEY)
        again = store.add_turn(KEY, AgentResponse("two"), session=session)
        assert again.session_id == session


def test_of_32_threads_with_one_turn_id_and_other_words_one_is_stored() -> None:
    outcomes: list[str] = []
    with ConversationStore() as store:
        store.add_turn(KEY, AvatarText("hello"))
        gate = threading.Barrier(32)

        def add(number: int) -> None:
            gate.wait()
            try:
                store.add_turn(KEY, AvatarText(f"words of {number}"), turn_id="the-one")
            except TurnIdConflict:
                outcomes.append("refused")
            else:
                outcomes.append("stored")

        threads = [threading.Thread(target=add, args=(number,)) for number in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["refused"] * 31 + ["stored"]
        assert store.list_metadata().items[0].turn_count == 2


def test_listing_and_reading_hold_up_no_writer_and_fail_for_none(tmp_path: Path) -> None:
    """Four writers beside a reader of the store and one of its files."""
    wrong: list[str] = []
    done = threading.Event()
    with ConversationStore(config(tmp_path)) as store:

        def write(number: int) -> None:
            for turn in range(40):
                store.add_turn(KEY, AvatarText(f"{number}.{turn}"))

        def read() -> None:
            while not done.is_set():
                store.list_metadata()
                store.context(KEY)
                if any(isinstance(event, Gap) for event in read_events(tmp_path)):
                    wrong.append("a gap")

        reader = threading.Thread(target=read)
        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in (reader, *writers):
            thread.start()
        for thread in writers:
            thread.join()
        done.set()
        reader.join()
        assert store.list_metadata().items[0].turn_count == 160
    assert not wrong
