"""The command line as a whole: help, exit codes, what it loads, how it ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from runtime.cli_run import chat, said, turnfold

from turnfold.actors.cli.app import app
from turnfold.actors.cli.demo_writer import SAMPLE
from turnfold.events.errors import CorruptData, StorageError

ANN = "61bd0364-10b9-504d-bc71-12251bcea0a7"
COMMANDS = sorted(getattr(typer.main.get_command(app), "commands", {}))


def loaded_by(*arguments: object) -> set[str]:
    """Which packages a run of the command line had loaded when it left."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*{name.partition('.')[0] for name in sys.modules},"
        " file=sys.stderr))\n"
        f"sys.argv = {['turnfold', *map(str, arguments)]!r}\n"
        "from turnfold.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_help_loads_nothing_heavy() -> None:
    """Modules and not seconds, which depend on the machine: help takes 0.1 s to 0.2 s."""
    loaded = loaded_by("--help")

    assert "typer" in loaded
    assert not loaded & {"attr", "cbor2", "pykka", "hypothesis"}


def test_listing_sessions_loads_no_actor_library(tmp_path: Path) -> None:
    turnfold("ingest", "-", "--store", tmp_path, stdin=chat(said(ANN, "hello")))

    assert "pykka" not in loaded_by("sessions", "--store", tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(command: str) -> None:
    done = turnfold(command, "--help")

    assert done.code == 0
    assert "Usage: turnfold" in done.out
    grouped = command in {"audit", "quarantine", "state"}
    assert grouped or "Example" in done.out


def test_no_command_shows_the_help() -> None:
    done = turnfold()

    assert "Commands:" in done.out + done.err
    for command in COMMANDS:
        assert command in done.out + done.err


def test_the_version_is_the_package_s() -> None:
    assert turnfold("--version").out == "turnfold 0.1.0\n"


def test_an_unknown_command_is_a_usage_error() -> None:
    assert turnfold("remember").code == 2


def test_a_reader_that_has_gone_is_no_error(tmp_path: Path) -> None:
    """`turnfold events | head -1` leaves no traceback behind."""
    turnfold("ingest", SAMPLE, "--store", tmp_path)
    command = [sys.executable, "-m", "turnfold", "events", "--store", str(tmp_path), "--json"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)

    assert b"Traceback" not in done.stderr
    assert b"Error" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this platform has no /dev/full")
def test_an_output_that_takes_nothing_is_told_in_one_line(tmp_path: Path) -> None:
    turnfold("ingest", SAMPLE, "--store", tmp_path)
    command = [sys.executable, "-m", "turnfold", "sessions", "--store", str(tmp_path)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)

    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"output can't be written" in done.stderr


def test_a_closed_output_is_no_error(tmp_path: Path) -> None:
    turnfold("ingest", SAMPLE, "--store", tmp_path)
    command = [sys.executable, "-m", "turnfold", "sessions", "--store", str(tmp_path)]
    closing = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = subprocess.run(closing, stderr=subprocess.PIPE, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_without_unicode_gets_numbers(tmp_path: Path) -> None:
    turnfold("ingest", "-", "--store", tmp_path, stdin=chat(said(ANN, "grüße, 日本")))
    command = [sys.executable, "-m", "turnfold", "context", ANN, "public_chat"]
    done = subprocess.run(
        [*command, "--store", str(tmp_path)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        check=False,
    )

    assert done.returncode == 0
    assert rb"\u65e5" in done.stdout


@pytest.mark.parametrize("error", [CorruptData("file 7 is odd"), StorageError("no such device")])
def test_a_failure_is_one_line_on_standard_error(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_arguments: object) -> None:
        raise error

    turnfold("ingest", "-", "--store", tmp_path, stdin=chat(said(ANN, "hello")))
    monkeypatch.setattr("turnfold.actors.cli.views.read_view", failing)

    done = turnfold("sessions", "--store", tmp_path)

    assert (done.code, done.out, done.err) == (1, "", f"turnfold: {error}\n")


def test_a_defect_shows_no_local_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich tracebacks would print what somebody said; ours must not be rich."""
    command = (
        "import sys\n"
        "from turnfold.actors.cli import redaction\n"
        "def defective(file):\n"
        "    text = 'the ' + 'moat'\n"
        "    raise ZeroDivisionError\n"
        "redaction._read = defective\n"
        "sys.argv = ['turnfold', 'redact']\n"
        "from turnfold.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, check=False)

    assert done.returncode == 1
    assert b"ZeroDivisionError" in done.stderr
    assert b"the moat" not in done.stderr
