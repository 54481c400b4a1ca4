"""`turnfold audit`: keys, signed checkpoints, proof, export, and what is said when it can't be."""

import json
import shutil
import stat
import sys
from pathlib import Path

import pytest
from log.log_rewrite import later_by_a_second, rewrite
from runtime.cli_run import turnfold, unchanged

from turnfold.actors.cli.demo_writer import SAMPLE
from turnfold.events.audit_note import Checkpoint, SignedNote, VerifierKey
from turnfold.events.audit_signing import is_signed
from turnfold.events.log.replay import STORE_DIRECTORY

TAMSIN = "e2a94b6d-08f7-4d1c-8f65-1b9e3c7a2d50"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    assert turnfold("ingest", SAMPLE, "--clock", "recorded", "--store", folder / "store").code == 0
    return folder


@pytest.fixture
def store(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written / "store", tmp_path / "store"))


@pytest.fixture
def key(tmp_path: Path, store: Path) -> Path:
    assert turnfold("audit", "keygen", tmp_path / "audit.key", "--store", store).code == 0
    return tmp_path / "audit.key"


def public(key: Path) -> Path:
    return key.with_name("audit.key.pub")


def saved(store: Path, key: Path) -> Path:
    out = store.parent / "saved.checkpoint"
    done = turnfold("audit", "checkpoint", "--key", key, "--out", out, "--store", store)
    assert done.code == 0, done.err
    return out


# --- keys and checkpoints ------------------------------------------------------------------------


def test_a_private_key_is_for_its_owner_alone(key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_text().startswith("PRIVATE+KEY+turnfold/")
    assert VerifierKey.parse(public(key).read_text()).name.startswith("turnfold/")


def test_a_key_that_is_there_is_not_replaced(key: Path, store: Path) -> None:
    before = key.read_bytes()
    done = turnfold("audit", "keygen", key, "--name", "example.org/a")

    assert done.code == 2
    assert key.read_bytes() == before


def test_a_signed_checkpoint_is_a_note_that_its_key_verifies(store: Path, key: Path) -> None:
    with unchanged(store):
        done = turnfold("audit", "checkpoint", "--key", key, "--store", store)
    note = SignedNote.decode(done.out.encode())

    assert done.code == 0
    assert is_signed(note, VerifierKey.parse(public(key).read_text()))
    report = turnfold("verify", "--store", store, "--json").json
    found = Checkpoint.decode(note.text)
    assert f"{found.position}:{found.head.hex()}" == report["head"]


def test_without_a_key_the_checkpoint_is_its_text_alone(store: Path) -> None:
    done = turnfold("audit", "checkpoint", "--origin", "example.org/log", "--store", store)

    assert Checkpoint.decode(done.out).origin == "example.org/log"
    assert SignedNote.decode(done.out.encode()).signatures == ()


def test_a_checkpoint_as_json_has_what_the_note_has(store: Path, key: Path) -> None:
    made = turnfold("audit", "checkpoint", "--key", key, "--store", store, "--json").json
    found = Checkpoint.decode(SignedNote.decode(made["note"].encode()).text)

    assert made["position"] == found.position
    assert made["head"] == found.head.hex()
    assert made["signed_by"] == [found.origin]


# --- proof ---------------------------------------------------------------------------------------


def test_a_log_that_went_on_and_was_erased_from_extends_its_checkpoint(
    store: Path, key: Path
) -> None:
    checkpoint = saved(store, key)
    assert turnfold("delete", TAMSIN, "--all", "--store", store).code == 0
    done = turnfold("audit", "verify", checkpoint, "--key", public(key), "--store", store)

    assert done.code == 0, done.out
    assert done.out.splitlines()[-1] == "ok"


def test_a_rewritten_log_is_told_with_its_first_position(store: Path, key: Path) -> None:
    checkpoint, export = saved(store, key), store.parent / "export"
    assert turnfold("audit", "export", export, "--store", store).code == 0
    rewrite(store / STORE_DIRECTORY, later_by_a_second(10), chain=True)
    arguments = (checkpoint, "--key", public(key), "--store", store)
    done = turnfold("audit", "verify", *arguments)

    assert done.code == 1
    assert "DIFFERS" in done.out
    found = turnfold("audit", "verify", *arguments, "--against", export, "--json")
    assert found.code == 1
    assert found.json["checkpoints"][0]["verdict"] == "differs"
    assert found.json["checkpoints"][0]["first"] <= 10 <= found.json["checkpoints"][0]["last"]
    assert 0 < found.json["export"]["differs_at"] <= 10


def test_a_checkpoint_that_somebody_changed_is_not_looked_at(store: Path, key: Path) -> None:
    checkpoint = saved(store, key)
    lines = checkpoint.read_text().split("\n")
    lines[1] = "3"
    checkpoint.write_text("\n".join(lines))
    done = turnfold("audit", "verify", checkpoint, "--key", public(key), "--store", store)

    assert done.code == 1
    assert "not signed by this key" in done.out


def test_signatures_are_checked_or_expressly_not(store: Path, key: Path) -> None:
    checkpoint = saved(store, key)

    assert turnfold("audit", "verify", checkpoint, "--store", store).code == 2
    assert turnfold("audit", "verify", checkpoint, "--unsigned", "--store", store).code == 0
    both = ("--unsigned", "--key", public(key))
    assert turnfold("audit", "verify", checkpoint, *both, "--store", store).code == 2
    wrong = turnfold("audit", "verify", checkpoint, "--key", key, "--store", store)
    assert wrong.code == 2
    assert "private" in wrong.err


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\n", b"nothing of the kind\n"])
def test_what_is_no_checkpoint_is_a_mistake_of_usage(
    store: Path, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "file").write_bytes(content)

    done = turnfold("audit", "verify", tmp_path / "file", "--unsigned", "--store", store)
    assert done.code == 2


# --- export --------------------------------------------------------------------------------------


def test_every_reading_command_takes_an_export(store: Path, key: Path, tmp_path: Path) -> None:
    export = tmp_path / "export"
    with unchanged(store):
        done = turnfold("audit", "export", export, "--key", key, "--store", store)
    assert done.code == 0, done.err

    with unchanged(export):
        verified = turnfold("verify", "--store", export)
        assert verified.out.splitlines()[-1] == "ok"
        assert "export" in verified.out
        events = turnfold("events", "--store", export, "--json")
        assert events.out == turnfold("events", "--store", store, "--json").out
        assert turnfold("replay", "--store", export).out == turnfold("replay", "--store", store).out
        checked = (export / "checkpoint.txt", "--key", public(key))
        assert turnfold("audit", "verify", *checked, "--store", export).code == 0
        assert turnfold("audit", "verify", *checked, "--store", store).code == 0


def test_nothing_that_was_typed_is_in_an_export(store: Path, tmp_path: Path) -> None:
    assert turnfold("audit", "export", tmp_path / "export", "--store", store).code == 0
    files = [path for path in (tmp_path / "export").rglob("*") if path.is_file()]
    everything = b"".join(path.read_bytes() for path in files)
    lines = [json.loads(line) for line in Path(SAMPLE).read_text().splitlines()]
    typed = {value for line in lines for value in line.values() if len(str(value)) > 6}
    typed -= {line["at"] for line in lines} | {line.get("kind") for line in lines}
    typed -= {line.get("channel") for line in lines}

    assert len(typed) > 20
    assert not [len(value) for value in typed if value.encode() in everything]


def test_writing_to_an_export_is_refused(store: Path, tmp_path: Path) -> None:
    export = tmp_path / "export"
    assert turnfold("audit", "export", export, "--store", store).code == 0
    with unchanged(export):
        done = turnfold("ingest", SAMPLE, "--store", export)
    assert done.code != 0
    assert "export" in done.err
    assert turnfold("audit", "export", export, "--store", store).code == 2


def test_with_a_key_that_cannot_sign_nothing_is_exported(
    store: Path, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = tmp_path / "export"
    arguments = ("audit", "export", export, "--store", store, "--key")
    assert turnfold(*arguments, tmp_path / "missing.key").code == 2
    assert turnfold(*arguments, public(key)).code == 2
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert turnfold(*arguments, key).code == 1
    assert not export.exists()


# --- without the extra ---------------------------------------------------------------------------


def test_without_its_extra_only_signatures_are_missing(
    store: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = saved(store, key)
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    signing = turnfold("audit", "checkpoint", "--key", key, "--store", store)

    assert signing.code == 1
    assert "turnfold[audit]" in signing.err
    checking = turnfold("audit", "verify", checkpoint, "--key", public(key), "--store", store)
    assert "turnfold[audit]" in checking.err
    assert turnfold("audit", "checkpoint", "--store", store).code == 0
    assert turnfold("audit", "verify", checkpoint, "--unsigned", "--store", store).code == 0
