"""Faults that the real kernel makes: calls that fail under strace, small file systems, size limits.

What the writer was told is compared with what the next opening finds.
"""

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import attrs
import pytest

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events import read_events, verify
from turnfold.events.event import Gap, StoreOpened, TurnAdded
from turnfold.events.limits import Limits
from turnfold.events.reasons import Reason

# Adds turns, tells what came of each, and erases all of them in the end if it is asked to.
WRITER = """
import sys
from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events.errors import TurnfoldError
from turnfold.events.keys import ConversationKey
from turnfold.events.limits import Limits
from turnfold.events.turns import AvatarText

path, turns, size, deletes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "yes"
key = ConversationKey("00000000-0000-0000-0000-000000000001", "public_chat")
limits = Limits(turns_per_session=4096, bytes_per_session=4 << 20)  # so that all words stay
try:
    store = ConversationStore(
        Config(storage_path=path, persistence_enabled=True, limits=limits)
    )
except TurnfoldError as error:
    print("open", type(error).__name__, flush=True)
    sys.exit()
for number in range(turns):
    text = f"turn {number} " + "w " * (size // 2)
    try:
        store.add_turn(key, AvatarText(text))
    except TurnfoldError as error:
        print(number, type(error).__name__, flush=True)
    else:
        print(number, "stored", flush=True)
if deletes:
    print("delete", store.delete(key).sessions, flush=True)
try:
    store.close()
except TurnfoldError as error:
    print("close", type(error).__name__, flush=True)
"""
CERTAINLY_NOT = {"NotWritten", "StoreFailed", "StoreClosed"}


@attrs.frozen
class Told:
    """What the writer was told: the answer for each turn, and for other calls that failed."""

    turns: dict[int, str]
    other: dict[str, str]

    def numbers(self, *answers: str) -> set[int]:
        return {number for number, answer in self.turns.items() if answer in answers}


def run_writer(
    path: Path, *before: str, turns: int = 12, size: int = 20, deletes: bool = False
) -> Told:
    """Run the writer behind another command, such as strace."""
    arguments = [str(path), str(turns), str(size), "yes" if deletes else "no"]
    done = subprocess.run(
        [*before, sys.executable, "-c", WRITER, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
    turn_lines = {int(name): answer for name, answer in lines if name.isdigit()}
    return Told(turn_lines, {name: answer for name, answer in lines if not name.isdigit()})


def stored(path: Path) -> set[int]:
    """The numbers of the turns that the next opening finds. It must find no damage."""
    limits = Limits(turns_per_session=4096, bytes_per_session=4 << 20)
    with ConversationStore(Config(storage_path=path, persistence_enabled=True, limits=limits)):
        pass
    numbers: set[int] = set()
    for event in read_events(path, content=True):
        assert not isinstance(event, Gap)
        if isinstance(event, StoreOpened):
            assert event.reason in (Reason.OPENED_NEW, Reason.OPENED_CLEAN, Reason.OPENED_TORN_TAIL)
        if isinstance(event, TurnAdded):
            assert event.text is not None
            numbers.add(int(event.text.split()[1]))
    assert verify(path).ok
    return numbers


def check(told: Told, path: Path) -> None:
    found = stored(path)
    assert told.numbers("stored") <= found
    assert not told.numbers(*CERTAINLY_NOT) & found


@cache
def strace() -> str:
    """The path of a strace that may trace, or the test is skipped."""
    command = shutil.which("strace")
    if command is None or subprocess.run([command, "-qq", "true"], check=False).returncode:
        pytest.skip("strace is not there, or may not trace")
    return command


def injected(call: str, error: str, at: int) -> list[str]:
    options = ["-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}"]
    return [strace(), *options, "-e", f"inject={call}:error={error}:when={at}"]


@pytest.mark.parametrize("at", [5, 9, 14])
@pytest.mark.parametrize(("call", "error"), [("fdatasync", "EIO"), ("pwrite64", "ENOSPC")])
def test_a_call_that_the_kernel_fails_is_told_truthfully(
    tmp_path: Path, call: str, error: str, at: int
) -> None:
    told = run_writer(tmp_path, *injected(call, error, at))
    assert told.turns or told.other
    check(told, tmp_path)
    unknown = told.numbers("OutcomeUnknown")
    if unknown:  # after a failed sync nothing is taken any more
        assert told.numbers("stored") <= set(range(min(unknown)))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("call", "error"),
    [("fdatasync", "EIO"), ("fsync", "EIO"), ("pwrite64", "EIO"), ("pwrite64", "ENOSPC")],
)
def test_every_call_that_the_kernel_fails_is_told_truthfully(
    tmp_path: Path, call: str, error: str
) -> None:
    for at in range(1, 48):
        path = tmp_path / str(at)
        path.mkdir()
        told = run_writer(path, *injected(call, error, at))
        check(told, path)


def test_on_a_file_size_limit_turns_are_refused_and_deletion_works(tmp_path: Path) -> None:
    """RLIMIT_FSIZE: no file may pass 400 KiB, and a segment would be larger."""
    limited = ["sh", "-c", 'ulimit -f "$1" && shift && exec "$@"', "sh", "800"]  # of 512 bytes
    told = run_writer(tmp_path / "kept", *limited, turns=80, size=8000)
    assert told.numbers("NotWritten")
    assert told.numbers("stored") == stored(tmp_path / "kept")

    gone = tmp_path / "gone"
    assert run_writer(gone, *limited, turns=80, size=8000, deletes=True).other["delete"] == "1"
    assert not any(b"w w w" in f.read_bytes() for f in gone.rglob("*") if f.is_file())
    assert verify(gone).ok


def test_on_a_full_file_system_turns_are_refused_and_deletion_works(tmp_path: Path) -> None:
    """A file system of 4 MiB in a mount namespace of its own; what is in it is copied out."""
    inside = tmp_path / "inside"
    inside.mkdir()
    mount = f'mount -t tmpfs -o size=4m none "{inside}"'
    namespace = ["unshare", "-rm", "sh", "-c"]
    tool = shutil.which("unshare")
    if tool is None or subprocess.run([*namespace, mount], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    for deletes in (False, True):
        outside = tmp_path / f"outside-{deletes}"
        script = f'{mount} && "$@"; cp -a "{inside}/store" "{outside}"'
        told = run_writer(
            inside / "store", *namespace, script, "sh", turns=450, size=8000, deletes=deletes
        )
        assert told.numbers("NotWritten")
        if deletes:
            assert told.other["delete"] == "1"
            assert not any(b"w w w" in f.read_bytes() for f in outside.rglob("*") if f.is_file())
        else:
            assert told.numbers("stored") == stored(outside)
