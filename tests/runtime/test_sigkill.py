"""A writer that is killed with SIGKILL at random moments loses no acknowledged turn."""

import random
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from turnfold.actors import Config, ConversationStore
from turnfold.events import read_events
from turnfold.events.event import Gap, StoreOpened, TurnAdded
from turnfold.events.reasons import Reason

# Four threads; every third command adds three turns at once. A line is written only after the
# store has answered, so what the parent reads was acknowledged. Each thread goes on to another
# avatar before a conversation is compacted, which would erase the texts to compare, however far
# it gets before it is killed.
WRITER = """
import os, sys, threading
from turnfold.actors import Config, ConversationStore
from turnfold.events import AvatarText, Channel, ConversationKey

path, run = sys.argv[1], int(sys.argv[2])
store = ConversationStore(Config(storage_path=path, persistence_enabled=True))

def write(thread):
    number = 0
    while True:
        avatar = f"{run:08x}{thread:08x}{number // 15 + 1:016x}"
        key = ConversationKey(avatar, Channel.PUBLIC_CHAT)
        texts = [f"run{run} thread{thread} command{number} turn{i}" for i in range(3)]
        if number % 3:
            receipts = [store.add_turn(key, AvatarText(texts[0]))]
        else:
            receipts = store.add_turns(key, [AvatarText(text) for text in texts])
        for text, receipt in zip(texts, receipts):
            os.write(1, f"{receipt.position} {text}\\n".encode())
        number += 1

for thread in range(4):
    threading.Thread(target=write, args=(thread,), daemon=True).start()
threading.Event().wait()
"""


def acknowledged_before_kill(path: Path, run: int, lines: int) -> dict[int, str]:
    """Position -> text of the turns that were acknowledged before the writer was killed."""
    command = [sys.executable, "-c", WRITER, str(path), str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        read = [writer.stdout.readline() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        read += writer.stdout.readlines()
    whole = [line.decode() for line in read if line.endswith(b"\n")]
    found = [line.rstrip("\n").split(" ", 1) for line in whole]
    return {int(position): text for position, text in found}


def check_after_kill(path: Path, after: int, acknowledged: dict[int, str]) -> int:
    """Reopen, and compare the log with what was acknowledged; the position reached."""
    with ConversationStore(Config(storage_path=path, persistence_enabled=True)):
        pass
    stored: dict[int, str] = {}
    commands: dict[str, int] = defaultdict(int)
    position = after
    for event in read_events(path, after=after, content=True):
        assert not isinstance(event, Gap), "nothing was damaged"
        position = event.position
        if isinstance(event, StoreOpened):
            assert event.reason in (Reason.OPENED_NEW, Reason.OPENED_CLEAN, Reason.OPENED_TORN_TAIL)
        elif isinstance(event, TurnAdded):
            stored[position] = event.text or ""
            commands[stored[position].rsplit(" ", 1)[0]] += 1
    assert acknowledged.items() <= stored.items()
    for command, turns in commands.items():
        number = int(command.rsplit("command", 1)[1])
        assert turns == (1 if number % 3 else 3), "a command is whole or absent"
    return position


def kill_repeatedly(path: Path, times: int, seed: int) -> int:
    """Kill a writer after random numbers of acknowledgements; how many turns were acknowledged."""
    choose = random.Random(seed)
    position = total = 0
    for run in range(times):
        acknowledged = acknowledged_before_kill(path, run, choose.randint(1, 400))
        assert acknowledged
        total += len(acknowledged)
        position = check_after_kill(path, position, acknowledged)
    return total


def test_no_acknowledged_turn_is_lost_in_a_few_kills(tmp_path: Path) -> None:
    """The short form for every run of the tests."""
    assert kill_repeatedly(tmp_path, times=8, seed=1) > 8


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_no_acknowledged_turn_is_lost_in_200_kills(tmp_path: Path) -> None:
    """The long form."""
    assert kill_repeatedly(tmp_path, times=200, seed=2) > 200
