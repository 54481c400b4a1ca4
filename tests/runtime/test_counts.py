"""What a turn costs, in counts and not in time: a slower path shows on any machine.

System calls a batch, bytes and objects a turn, calls of Python functions a turn, and how these
grow. The bounds are some tenths above what was counted when they were set; `make bench` says what
they mean in microseconds.
"""

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from watching import watching

from turnfold.actors.bootstrap import file_parts
from turnfold.actors.clock import RecordedClock
from turnfold.actors.config import Config
from turnfold.actors.supervisor import Parts
from turnfold.events.commands import AddTurns, Entropy, Instant, TurnToAdd
from turnfold.events.context import project
from turnfold.events.decide import decide
from turnfold.events.evolve import fold
from turnfold.events.keys import Channel, ConversationKey, pseudonym
from turnfold.events.log import ownership, posix_disk
from turnfold.events.redaction import redact
from turnfold.events.snapshot import capture, skeleton
from turnfold.events.state import StoreState
from turnfold.events.turns import AvatarText, ToolSummary, Turn

NOON = 1_700_000_000_000_000_000
CHAT = (
    "well i walked over to the market place near the old bridge and looked at the new shirts they"
    " had, some of them are nice but a little bit expensive for me. maybe we can go there together"
    " later when you are back home? i would like to show you the blue one, it has the sort of"
    " collar that you said"
)
SAY = AvatarText(CHAT)
TOOK = ToolSummary("look", "a plaza with a fountain and five benches around it")


def key(number: int) -> ConversationKey:
    return ConversationKey(f"{number + 1:032x}", Channel.DIRECT_IM)


class Writer:
    """A store on files without its threads: what the store actor does, call by call."""

    def __init__(self, directory: Path) -> None:
        config = Config(storage_path=directory, persistence_enabled=True)
        self.parts: Parts = file_parts(config, RecordedClock(NOON), os.urandom)
        self.ledger = self.parts.ledger
        assert self.parts.opening is not None
        self.ledger.take(self.parts.opening(1, Instant(NOON, 0)))
        self.ledger.commit(sync=True, bookkeeping=True)
        self.log = next(directory.rglob("*.log"))
        self._added = 0

    def add(self, number: int, turns: Sequence[Turn] = (SAY,), *, with_id: bool = False) -> None:
        items: list[TurnToAdd] = []
        for turn in turns:
            self._added += 1
            items.append(TurnToAdd(turn, f"turn-{self._added}" if with_id else None))
        self.ledger.decide(AddTurns(key(number), tuple(items)), Instant(NOON, self._added))

    def commit(self) -> None:
        self.ledger.commit(sync=True)

    def add_alone(self, number: int, turns: Sequence[Turn] = (SAY,)) -> None:
        """A batch of one command."""
        self.add(number, turns)
        self.commit()


@pytest.fixture
def writer(tmp_path: Path) -> Generator[Writer]:
    made = Writer(tmp_path)
    yield made
    made.parts.files()


def calls(work: Callable[[], object]) -> int:
    """How many Python functions of Turnfold the work calls in this thread."""
    count = 0

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        if event == "call" and "turnfold" in frame.f_code.co_filename:
            count += 1

    with watching(profile):
        work()
    return count


# --- a batch ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 64])
def test_a_batch_is_one_write_and_one_sync_whatever_its_size(
    writer: Writer, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    made: Counter[str] = Counter()

    class Counted:
        """`os`, counting."""

        def __getattr__(self, name: str) -> Any:
            found = getattr(os, name)
            if callable(found) and not isinstance(found, type) and name not in ("fspath",):
                made[name] += 1
            return found

    for number in range(size):
        writer.add(number % 8)
    monkeypatch.setattr(posix_disk, "os", Counted())
    monkeypatch.setattr(ownership, "os", Counted())
    writer.commit()
    monkeypatch.undo()

    # Two looks: is the store still ours, has nobody else written to the segment.
    assert made == {"pwrite": 1, "fdatasync": 1, "fstat": 1, "stat": 1}


@pytest.mark.parametrize(("with_id", "bound"), [(False, 100), (True, 136)])
def test_a_turn_takes_few_bytes_beside_its_text(writer: Writer, with_id: bool, bound: int) -> None:
    writer.add_alone(0)
    before, count = writer.log.stat().st_size, 200

    for _ in range(count):
        writer.add(0, with_id=with_id)
        writer.commit()

    beside = (writer.log.stat().st_size - before) / count - len(CHAT)
    assert 80 < beside <= bound


def test_turns_of_one_command_share_what_a_frame_costs(writer: Writer) -> None:
    writer.add_alone(0)
    before = writer.log.stat().st_size

    writer.add_alone(0, (SAY,) * 64)

    assert (writer.log.stat().st_size - before) / 64 - len(CHAT) <= 50


# --- a turn ------------------------------------------------------------------------------------


def test_adding_a_turn_calls_few_functions(writer: Writer) -> None:
    writer.add_alone(0)

    assert calls(lambda: writer.add_alone(0)) <= 100


def test_a_turn_of_many_calls_fewer(writer: Writer) -> None:
    writer.add_alone(0)

    assert calls(lambda: writer.add_alone(0, (SAY,) * 64)) / 64 <= 44


def test_redacting_plain_chat_calls_few_functions() -> None:
    redact(CHAT)

    assert calls(lambda: redact(CHAT)) <= 46


def test_a_stored_turn_keeps_few_objects(writer: Writer) -> None:
    for _ in range(8):
        writer.add_alone(0)
    gc.collect()
    before, count = sys.getallocatedblocks(), 100

    for _ in range(count):
        writer.add_alone(0)
    gc.collect()

    assert (sys.getallocatedblocks() - before) / count <= 12


def test_a_context_calls_few_functions_a_turn(writer: Writer) -> None:
    for _ in range(20):
        writer.add_alone(0, (SAY, TOOK))
    session, _ended = writer.parts.published.find(writer.ledger.names(key(0)))
    assert session is not None
    drawings = writer.parts.published.drawings(session.start)
    project(session, None, secret=bytes(32), drawings=drawings)

    again = calls(lambda: project(session, None, secret=bytes(32), drawings=drawings))

    assert again / 40 <= 4


# --- growth ------------------------------------------------------------------------------------


def test_adding_a_turn_costs_the_same_behind_any_number_of_turns_and_sessions(
    writer: Writer,
) -> None:
    writer.add_alone(0)
    found: list[int] = []
    for sessions, turns in ((1, 1), (30, 3), (300, 200)):
        for number in range(sessions):
            writer.add_alone(number)
        writer.add_alone(0, (SAY,) * turns)
        found.append(calls(lambda: writer.add_alone(0)))

    assert max(found) - min(found) <= 2


@pytest.mark.parametrize("plain", [True, False])
def test_redaction_grows_no_faster_than_its_text(plain: bool) -> None:
    unit = CHAT + " " if plain else "my pass" + "word is "
    small, large = (unit * (size // len(unit)) for size in (8192, 32768))
    redact(large)

    assert calls(lambda: redact(large)) <= 4.4 * calls(lambda: redact(small)) + 40


def _events(count: int) -> list[Any]:
    """A history of that many commands over eight keys, folded nowhere yet."""
    state, entropy = StoreState(), Entropy(os.urandom)
    events: list[Any] = []
    for number in range(count):
        command = AddTurns(key(number % 8), (TurnToAdd(SAY),))  # compacts nothing
        decided = decide(
            state,
            command,
            Instant(NOON, number),
            entropy,
            lambda named: (pseudonym(bytes(32), named.avatar), named.channel.code),
        ).events
        fold(decided, state)
        events += decided
    return events


def test_a_fold_costs_the_same_for_each_event() -> None:
    short, long = _events(200), _events(1600)

    short_each = calls(lambda: fold(short)) / len(short)
    long_each = calls(lambda: fold(long)) / len(long)

    assert long_each <= 1.1 * short_each
    assert long_each <= 16


def test_a_generation_grows_no_faster_than_the_state() -> None:
    small, large = fold(_events(200)), fold(_events(800))

    few = calls(lambda: skeleton(capture(small)))
    many = calls(lambda: skeleton(capture(large)))

    assert many <= 4.4 * few + 100
