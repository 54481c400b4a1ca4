"""The real kernel's faults: failing calls by strace, a full file system, stopped and killed owners.

A child process runs the store and prints what it was answered; then the store is opened again, and
what it holds has to agree with every answer.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from turnfold import AvatarText, Config, ConversationKey, ConversationStore
from turnfold.events import read_events
from turnfold.events.errors import StoreLocked
from turnfold.events.event import Gap, TurnAdded
from turnfold.events.log.verify import verify

KEY = ConversationKey("00000000-0000-0000-0000-000000000001", "public_chat")
TURNS = 8

# Prints one JSON line for each turn: its text, and "done" or the error's class.
WRITER = """
import json, sys
from turnfold import AvatarText, Config, ConversationKey, ConversationStore
from turnfold.events.errors import TurnfoldError

key = ConversationKey("00000000-0000-0000-0000-000000000001", "public_chat")

def tell(what, outcome):
    print(json.dumps([what, outcome]), flush=True)

try:
    store = ConversationStore(Config(storage_path=sys.argv[1], persistence_enabled=True))
except TurnfoldError as error:
    tell("open", type(error).__name__)
    sys.exit()
for number in range(int(sys.argv[2])):
    try:
        store.add_turn(key, AvatarText(f"turn {number}"))
        tell(f"turn {number}", "done")
    except TurnfoldError as error:
        tell(f"turn {number}", type(error).__name__)
try:
    shown = [m.content for m in store.context(key).messages]
    tell("read", [text for text in shown if text.startswith("turn")])
    store.close()
except TurnfoldError as error:
    tell("close", type(error).__name__)
"""


def config(path: Path) -> Config:
    return Config(storage_path=path, persistence_enabled=True)


def said(path: Path) -> list[str]:
    """Texts of all turns in the log. Nothing may be missing."""
    events = list(read_events(path, content=True))
    assert not any(isinstance(event, Gap) for event in events)
    return [event.text or "" for event in events if isinstance(event, TurnAdded)]


def answers(output: str) -> list[tuple[str, Any]]:
    return [(what, outcome) for what, outcome in map(json.loads, output.splitlines())]


# --- failing system calls --------------------------------------------------------------------


@cache
def strace_problem() -> str | None:
    """Why strace can't make a call fail here, None if it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    probe = "import os, sys; os.fdatasync(os.open(sys.argv[1], os.O_RDONLY))"
    command = ["strace", "-f", "-o", "/dev/null", "-e", "inject=fdatasync:error=EIO"]
    done = subprocess.run(
        [*command, sys.executable, "-c", probe, __file__], capture_output=True, check=False
    )
    return None if b"Input/output error" in done.stderr else "strace can't trace processes here"


def run_with_fault(path: Path, call: str, error: str, number: int) -> list[tuple[str, Any]]:
    """What a writer was answered while each thread's `number`-th call failed; [] if none did."""
    trace = path.with_name("trace")
    command = ["strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={call}"]
    command += ["-e", f"inject={call}:error={error}:when={number}"]
    done = subprocess.run(
        [*command, sys.executable, "-c", WRITER, str(path), str(TURNS)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    return answers(done.stdout) if "INJECTED" in trace.read_text() else []


def check_answers(path: Path, told: Sequence[tuple[str, Any]]) -> None:
    """What was answered is what the reopened store holds."""
    with ConversationStore(config(path)) as store:
        store.add_turn(KEY, AvatarText("afterwards"))
    stored = said(path)
    assert len(stored) == len(set(stored))
    turns = [(what, outcome) for what, outcome in told if what.startswith("turn")]
    for text, outcome in turns:
        if outcome == "done":
            assert text in stored
        else:
            assert outcome in ("NotWritten", "OutcomeUnknown", "StoreFailed", "StoreReadOnly")
            assert text not in stored or outcome == "OutcomeUnknown"
    for what, shown in told:
        if what == "read":
            done = [text for text, outcome in turns if outcome == "done"]
            assert [text for text in shown if text in done] == done
    assert verify(path).ok


def check_faults(directory: Path, call: str, error: str, numbers: Sequence[int]) -> None:
    """Each of these calls fails in a store of its own."""
    problem = strace_problem()
    if problem:
        pytest.skip(problem)
    outcomes: set[Any] = set()
    for number in numbers:
        path = directory / f"{number}" / "store"
        with ConversationStore(config(path)) as store:
            store.add_turn(KEY, AvatarText("before"))
        told = run_with_fault(path, call, error, number)
        assert told, f"no {call} failed at {number}"
        check_answers(path, told)
        outcomes.update(outcome for what, outcome in told if what.startswith(("turn", "open")))
    if error == "EINTR":
        assert outcomes == {"done"}, "an interrupted call is simply repeated"
    else:
        assert outcomes - {"done"}, "somebody was told"


FAULTS = [
    (call, error) for call in ("fdatasync", "pwrite64") for error in ("EIO", "ENOSPC", "EINTR")
]


@pytest.mark.parametrize(("call", "error"), FAULTS)
def test_replies_are_true_while_a_call_fails(tmp_path: Path, call: str, error: str) -> None:
    check_faults(tmp_path, call, error, (2, 6) if error == "EIO" else (5,))


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("call", "error"), FAULTS)
def test_replies_are_true_whichever_call_fails(tmp_path: Path, call: str, error: str) -> None:
    check_faults(tmp_path, call, error, range(1, 11))


# --- a full file system ------------------------------------------------------------------------

# Fills the store until a turn is refused, frees room, and says what every step came to.
FILLER = """
import json, os, resource, sys
from turnfold import AvatarText, Config, ConversationKey, ConversationStore
from turnfold.events.errors import TurnfoldError

path, how = sys.argv[1], sys.argv[2]
key, other, third = (
    ConversationKey(f"00000000-0000-0000-0000-00000000000{n}", "public_chat") for n in (1, 2, 3)
)
told = {}

def tell(what, act):
    try:
        act()
        told[what] = "done"
    except TurnfoldError as error:
        told[what] = type(error).__name__

def fill(name):
    \"\"\"Add turns until one is refused; the outcome that ended it.\"\"\"
    for number in range(4000):
        text = f"{name} {number} " + rain * 200
        tell(name, lambda: store.add_turn(key, AvatarText(text)))
        if told[name] != "done":
            return
        acknowledged.append(f"{name} {number} ")

rain = "It rained again, and it did. "
acknowledged = []
ballast = os.path.join(path, "ballast")
if how == "disk":
    with open(ballast, "wb") as file:
        file.write(b"x" * 700_000)
store = ConversationStore(Config(storage_path=path, persistence_enabled=True))
store.add_turn(other, AvatarText("to be deleted"))
store.add_turn(third, AvatarText("to be expired"))
if how == "size":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, resource.RLIM_INFINITY))
fill("full")
tell("again", lambda: store.add_turn(key, AvatarText("again " + rain * 200)))
shown = "".join(m.content for m in store.context(key).messages)
told["reads"] = acknowledged[-1] in shown and "again " not in shown
tell("delete", lambda: store.delete(other))
tell("expire", lambda: store.expire(third))
if how == "disk":
    os.unlink(ballast)
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
tell("after", lambda: store.add_turn(key, AvatarText("after")))
tell("delete later", lambda: store.delete(other))
tell("close", store.close)

from turnfold.events import read_events
from turnfold.events.event import TurnAdded
from turnfold.events.log.verify import verify
with ConversationStore(Config(storage_path=path, persistence_enabled=True)) as store:
    told["reopened"] = acknowledged[-1] in "".join(m.content for m in store.context(key).messages)
texts = [e for e in read_events(path) if isinstance(e, TurnAdded)]
told["turns"], told["acknowledged"] = len(texts), len(acknowledged) + 3
told["verified"] = [str(f) for f in verify(path).findings]
told["left"] = any(b"to be deleted" in open(os.path.join(d, f), "rb").read()
    for d, _, fs in os.walk(path) for f in fs if f != "control.sock")
print(json.dumps(told))
"""

_MOUNT = {
    "tmpfs": 'mount -t tmpfs -o size=4m tmpfs "$0" && mkdir "$0/store"',
    "ext4": (
        'truncate -s 8M "$1" && mkfs.ext4 -q -O ^has_journal -m 0 "$1"'
        ' && mount -o loop "$1" "$0" && mkdir "$0/store"'
    ),
}


def on_small_disk(kind: str, directory: Path) -> dict[str, Any]:
    """What the filler told, on a file system of its own. Skips where none can be mounted."""
    disk, image = directory / "disk", directory / "image"
    disk.mkdir()
    script = f'( {_MOUNT[kind]} ) || exit 77; exec "$2" -c "$3" "$0/store" disk'
    # A mount namespace of its own: the mount goes with the last process in it.
    namespace = ["unshare", "--mount"]
    if os.geteuid() != 0:
        namespace.append("--map-root-user")
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    done = subprocess.run(
        [*namespace, "sh", "-c", script, str(disk), str(image), sys.executable, FILLER],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode in (1, 77) and not done.stdout:
        pytest.skip(f"no {kind} can be mounted here")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def check_full(told: dict[str, Any]) -> None:
    """Turns are refused as not written, everything else goes on, and so do turns with room."""
    refused = {what for what in ("full", "again") if told[what] == "NotWritten"}
    assert refused == {"full", "again"}
    assert told["reads"]
    assert {told[what] for what in ("delete", "expire", "after", "delete later", "close")} == {
        "done"
    }
    assert told["reopened"]
    assert told["turns"] == told["acknowledged"]
    assert told["verified"] == []
    assert not told["left"], "what was deleted on the full disk is in no file"


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
def test_on_a_full_file_system_only_turns_are_refused(tmp_path: Path, kind: str) -> None:
    check_full(on_small_disk(kind, tmp_path))


def test_at_a_file_size_limit_only_turns_are_refused(tmp_path: Path) -> None:
    """RLIMIT_FSIZE: the same where nothing can be mounted."""
    done = subprocess.run(
        [sys.executable, "-c", FILLER, str(tmp_path / "store"), "size"],
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=True,
    )

    check_full(dict(json.loads(done.stdout)))


# --- a stopped and a killed owner ----------------------------------------------------------------


def test_a_stopped_owner_keeps_the_store_and_a_killed_one_leaves_it(tmp_path: Path) -> None:
    """SIGSTOP, an attempt to take over, SIGKILL while it is stopped, and a takeover."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path), "1000000"], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        told = [owner.stdout.readline() for _ in range(5)]
        owner.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, owner.pid, os.WSTOPPED)
        with pytest.raises(StoreLocked, match=f"process {owner.pid};"):
            ConversationStore(config(tmp_path))
        doctor = subprocess.run(
            [sys.executable, "-m", "turnfold", "doctor", "--store", str(tmp_path), "--json"],
            stdout=subprocess.PIPE,
            check=False,
        )
        owner.send_signal(signal.SIGKILL)
        told += owner.stdout.readlines()

    assert json.loads(doctor.stdout)["owner"] == str(owner.pid)
    check_answers(tmp_path, answers("".join(line for line in told if line.endswith("\n"))))
