"""`turnfold doctor` beside an owner or on a closed store, in words and in JSON."""

import os
import shutil
from pathlib import Path
from uuid import UUID

import pytest
from runtime.cli_run import turnfold, unchanged

from turnfold import AvatarText, Channel, Config, ConversationKey, ConversationStore
from turnfold.actors.cli.demo_writer import SAMPLE
from turnfold.actors.clock import SystemClock

KEY = ConversationKey(UUID(int=7), Channel.PUBLIC_CHAT)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("doctor") / "store"
    assert turnfold("ingest", SAMPLE, "--clock", "recorded", "--store", store).code == 0
    return store


@pytest.fixture
def store(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "store"))


def test_a_good_store_ends_in_ok_and_is_left_as_it_is(store: Path) -> None:
    with unchanged(store):
        done = turnfold("doctor", "--store", store)

    assert (done.code, done.out.splitlines()[-1]) == (0, "ok"), done.out
    assert "nobody has it open" in done.out
    assert "everything whole" in done.out


def test_beside_a_running_owner_it_names_the_process(store: Path) -> None:
    with ConversationStore(Config(storage_path=store, persistence_enabled=True)):
        done = turnfold("doctor", "--store", store, "--json")

    assert done.json["owner"] == str(os.getpid())
    assert done.code == 0, done.out
    assert done.json["ok"] is True


def test_damage_is_told_in_words_with_what_to_do(store: Path) -> None:
    log = max((store / "conversations" / "log").iterdir(), key=lambda path: path.stat().st_size)
    data = bytearray(log.read_bytes())
    data[400] ^= 1
    log.write_bytes(data)
    for generation in (store / "conversations" / "generations").iterdir():
        generation.unlink()  # without one, everything depends on the log

    with unchanged(store):
        done = turnfold("doctor", "--store", store)
        as_json = turnfold("doctor", "--store", store, "--json")

    assert done.code == as_json.code == 1
    assert f"! log/{log.name}: " in done.out
    assert "to do: " in done.out
    opening = as_json.json["opening"]
    assert opening["reason"] == "opened.damaged"
    assert 0 < opening["lost_first"] <= opening["lost_last"]
    assert all(item["to_do"] for item in as_json.json["findings"])


def test_it_asks_the_system_for_nothing_that_changes_a_file(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside an owner bytes change anyway, so here it is the calls that are watched."""
    opened: list[int] = []
    real = os.open

    def watched(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        opened.append(flags)
        return real(path, flags, mode, dir_fd=dir_fd)

    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a call that changes something")

    monkeypatch.setattr(os, "open", watched)
    for name in ("pwrite", "ftruncate", "rename", "replace", "unlink", "mkdir", "chmod", "fchmod"):
        monkeypatch.setattr(os, name, refuse)
    assert turnfold("doctor", "--store", store).code == 0

    assert len(opened) > 10
    assert not any(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) for flags in opened)


def test_text_whose_erasure_is_overdue_is_told(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files as a kill leaves them between an expiry and its erasure."""
    config = Config(storage_path=store, persistence_enabled=True, control_socket=False)
    with ConversationStore(config) as writing:
        writing.add_turn(KEY, AvatarText("to be forgotten soon"))
        writing.expire(KEY)
        writing.add_turn(KEY, AvatarText("another session"))
        writing.sync()
        killed = shutil.copytree(store, tmp_path / "killed")
    before = turnfold("doctor", "--store", killed, "--json")
    assert before.code == 0, before.out
    assert before.json["pending_erasures"]
    assert all(item["since"] for item in before.json["pending_erasures"])
    strict = tmp_path / "strict.toml"
    strict.write_text(
        f'storage_path = "{killed}"\n'
        "[conversation]\npersistence_enabled = true\nerase_after_s = 1\n"
    )
    later = SystemClock().wall_ns() + 60 * 10**9

    def a_minute_later(_clock: SystemClock) -> int:
        return later

    monkeypatch.setattr(SystemClock, "wall_ns", a_minute_later)

    done = turnfold("doctor", "--config", strict, "--json")

    assert done.code == 1
    assert [item["about"] for item in done.json["findings"] if item["urgent"]] == ["erasure_due"]


def test_where_there_is_no_store_it_is_a_usage_error(tmp_path: Path) -> None:
    assert turnfold("doctor", "--store", tmp_path).code == 2
