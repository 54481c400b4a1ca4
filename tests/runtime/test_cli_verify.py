"""`turnfold verify`: "ok" for what was written, a finding for every byte that was changed."""

import shutil
import threading
from pathlib import Path
from uuid import UUID

import pytest
from runtime.cli_run import turnfold

from turnfold import AvatarText, Channel, Config, ConversationKey, ConversationStore
from turnfold.actors.cli.demo_writer import SAMPLE
from turnfold.events.log.frame import HEADER_BYTES, MAGIC
from turnfold.events.log.scan import FrameScan, ScannedFrame

TAMSIN = "e2a94b6d-08f7-4d1c-8f65-1b9e3c7a2d50"
NOBODY = "13e3a273-7065-5e8e-b084-26739afe82d7"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("verify") / "store"
    assert turnfold("ingest", SAMPLE, "--clock", "recorded", "--store", store).code == 0
    return store


@pytest.fixture
def store(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "store"))


def segment(store: Path) -> Path:
    return max((store / "conversations" / "log").iterdir(), key=lambda path: path.stat().st_size)


def test_a_good_store_ends_in_ok(store: Path) -> None:
    done = turnfold("verify", "--store", store)

    assert done.code == 0
    assert done.out.splitlines()[-1] == "ok"


def test_beside_the_running_owner_it_is_ok_too(store: Path) -> None:
    with ConversationStore(Config(storage_path=store, persistence_enabled=True)):
        done = turnfold("verify", "--store", store)

    assert done.code == 0, done.out


def test_an_erasure_while_it_reads_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text that was read before it was erased, and the event that says so read afterwards."""
    key = ConversationKey(UUID(TAMSIN), Channel.PUBLIC_CHAT)
    step = FrameScan.__next__
    reader, deletions = threading.get_ident(), 0

    def deleting(scan: FrameScan) -> ScannedFrame:
        nonlocal deletions
        frame = step(scan)  # the block that it is in has been read
        if threading.get_ident() == reader and not deletions:
            deletions += 1
            running.delete(key)
        return frame

    config = Config(storage_path=tmp_path, persistence_enabled=True)
    with ConversationStore(config) as running:
        for _ in range(5):
            running.add_turn(key, AvatarText("soon to be forgotten"))
        monkeypatch.setattr(FrameScan, "__next__", deleting)
        done = turnfold("verify", "--store", tmp_path)

    assert deletions == 1
    assert done.code == 0, done.out


@pytest.mark.parametrize("part", ["header", "chained part", "payload"])
def test_a_flipped_bit_is_found(store: Path, part: str) -> None:
    path = segment(store)
    data = bytearray(path.read_bytes())
    text = data.index(b"The crooked tree has been told")  # of a session that is live
    frame = data.rindex(MAGIC, 0, text)
    place = {"header": frame + 8, "chained part": frame + HEADER_BYTES + 3, "payload": text}
    data[place[part]] ^= 4
    path.write_bytes(data)

    done = turnfold("verify", "--store", store)
    as_json = turnfold("verify", "--store", store, "--json")

    assert done.code == as_json.code == 1
    assert "finding" in done.out
    assert done.out.splitlines()[-1] != "ok"
    assert as_json.json["ok"] is False
    assert as_json.json["findings"]


def test_a_saved_head_holds_after_more_was_added_and_erased(store: Path) -> None:
    head = turnfold("verify", "--store", store, "--json").json["head"]
    turnfold("ingest", SAMPLE, "--clock", "recorded", "--store", store)
    turnfold("delete", TAMSIN, "--all", "--store", store)

    assert turnfold("verify", "--store", store, "--head", head).code == 0


def test_another_head_is_a_finding(store: Path) -> None:
    position, _, head = turnfold("verify", "--store", store, "--json").json["head"].partition(":")
    other = f"{position}:{'0' if head[0] != '0' else '1'}{head[1:]}"

    done = turnfold("verify", "--store", store, "--head", other)

    assert done.code == 1
    assert "head" in done.out


def test_what_is_left_of_an_avatar_is_a_finding_until_it_is_deleted(store: Path) -> None:
    before = turnfold("verify", "--store", store, "--erased", TAMSIN)
    turnfold("delete", TAMSIN, "--all", "--store", store)
    after = turnfold("verify", "--store", store, "--erased", TAMSIN)

    assert before.code == 1
    assert after.code == 0
    assert turnfold("verify", "--store", store, "--erased", NOBODY).code == 0


@pytest.mark.parametrize(
    "options", [["--head", "5000"], ["--head", "5:xyz"], ["--erased", "Tamsin"]]
)
def test_wrong_options_are_usage_errors(store: Path, options: list[str]) -> None:
    assert turnfold("verify", "--store", store, *options).code == 2
