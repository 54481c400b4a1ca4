"""`turnfold expire` and `delete`: in a store of nobody, and beside the agent that owns it."""

from pathlib import Path

import pytest
from runtime.cli_run import chat, contents, said, turnfold, unchanged

from turnfold.actors.bootstrap import start_store
from turnfold.actors.cli.byte_scan import pieces, scan
from turnfold.actors.config import Config
from turnfold.events import read_events
from turnfold.events.event import StoreOpened

ANN = "61bd0364-10b9-504d-bc71-12251bcea0a7"
BEN = "93817c48-c939-5bb8-8de8-64f69495bbce"
CLARA = "13e3a273-7065-5e8e-b084-26739afe82d7"
OWN = [f"the heron number {n} stands in the reeds" for n in range(40)]
OTHERS = [f"a kettle of {n} cups sings in the kitchen" for n in range(40)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Ann spoke in both channels, an ended session included; Ben in one. Recorded times."""
    lines = [
        said(ANN, OWN[0], "2026-05-01T08:00:00Z"),  # expires
        *(said(ANN, text, "2026-05-01T12:00:00Z") for text in OWN[1:]),
        *(said(BEN, text, "2026-05-01T12:00:00Z") for text in OTHERS),
        said(ANN, "under four eyes: the moat", "2026-05-01T12:00:00Z", channel="direct_im"),
    ]
    done = turnfold("ingest", "-", "--store", tmp_path, "--clock", "recorded", stdin=chat(*lines))
    assert done.code == 0
    return tmp_path


def reasons(store: Path) -> list[str]:
    return [event.reason.value for event in read_events(store)]


def live(store: Path) -> set[tuple[str, str]]:
    listed = turnfold("sessions", "--store", store, "--json").json["sessions"]
    return {(item["avatar"], item["channel"]) for item in listed}


# --- expire --------------------------------------------------------------------------------------


def test_an_expired_session_is_live_no_more(store: Path) -> None:
    done = turnfold("expire", ANN, "public_chat", "--store", store, "--json")

    assert done.code == 0
    assert done.json["expired"] is True
    assert done.json["reason"] == "expired.operator"
    assert live(store) == {(ANN, "direct_im"), (BEN, "public_chat")}


def test_without_a_live_session_nothing_is_expired(store: Path) -> None:
    done = turnfold("expire", CLARA, "public_chat", "--store", store)

    assert done.code == 0
    assert "no live session" in done.out
    assert "expired.operator" not in reasons(store)


# --- delete --------------------------------------------------------------------------------------


def test_deleted_text_is_in_no_byte_of_any_file(store: Path) -> None:
    wanted = pieces(OWN) - pieces(OTHERS)
    assert scan(store, wanted), "a scan that finds nothing before proves nothing after"

    done = turnfold("delete", ANN, "public_chat", "--store", store, "--json")

    assert done.code == 0
    assert scan(store, wanted) == {}
    assert scan(store, pieces(OTHERS))
    assert done.json["deleted"][0]["sessions"] >= 1
    assert live(store) == {(ANN, "direct_im"), (BEN, "public_chat")}
    assert turnfold("verify", "--store", store).code == 0


def test_both_channels_go_with_all(store: Path) -> None:
    done = turnfold("delete", ANN, "--all", "--store", store, "--json")

    assert done.code == 0
    assert [item["channel"] for item in done.json["deleted"]] == ["public_chat", "direct_im"]
    assert live(store) == {(BEN, "public_chat")}
    assert turnfold("verify", "--store", store, "--erased", ANN).code == 0
    assert turnfold("verify", "--store", store, "--erased", BEN).code == 1


def test_deleting_again_finds_nothing(store: Path) -> None:
    turnfold("delete", ANN, "--all", "--store", store)

    done = turnfold("delete", ANN, "--all", "--store", store)

    assert done.code == 0
    assert done.out.count("nothing of this avatar's text was there") == 2


def test_a_visit_expires_nobody_in_a_store_of_recorded_times(store: Path) -> None:
    turnfold("delete", CLARA, "public_chat", "--store", store)

    opened = [event for event in read_events(store) if isinstance(event, StoreOpened)]
    assert opened[-1].recorded_clock
    assert "expired.recovered_age" not in reasons(store)
    assert len(live(store)) == 3


# --- beside the owner --------------------------------------------------------------------------


def test_a_running_owner_carries_it_out(store: Path) -> None:
    owner = start_store(Config(storage_path=store, persistence_enabled=True))
    try:
        openings = reasons(store).count("opened.clean")
        expired = turnfold("expire", ANN, "direct_im", "--store", store, "--json")
        deleted = turnfold("delete", BEN, "public_chat", "--store", store, "--json")
        listed = turnfold("sessions", "--store", store, "--json")
    finally:
        owner.close()

    assert expired.code == deleted.code == listed.code == 0
    assert deleted.json["deleted"][0]["channel"] == "public_chat"
    assert scan(store, pieces(OTHERS) - pieces(OWN)) == {}
    assert reasons(store).count("opened.clean") == openings, "nobody else opened the store"


def test_an_owner_that_does_not_listen_is_named(store: Path) -> None:
    config = Config(storage_path=store, persistence_enabled=True, control_socket=False)
    owner = start_store(config)
    try:
        done = turnfold("delete", ANN, "public_chat", "--store", store)
    finally:
        owner.close()

    assert done.code == 1
    assert "owned by process" in done.err


# --- wrongly given -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["delete", "Ann", "public_chat"], "not a UUID"),
        (["delete", ANN, "group_chat"], "unknown channel"),
        (["delete", ANN], "--all"),
        (["delete", ANN, "public_chat", "--all"], "--all"),
        (["expire", ANN, "PUBLIC_CHAT"], "unknown channel"),
        (["expire", ANN], "Missing argument"),
        (["expire", f"{ANN}0", "public_chat"], "not a UUID"),
    ],
)
def test_a_wrong_key_changes_nothing(arguments: list[str], message: str, store: Path) -> None:
    with unchanged(store):
        done = turnfold(*arguments, "--store", store)

    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions"],
        ["context", ANN, "public_chat"],
        ["expire", ANN, "public_chat"],
        ["delete", ANN, "--all"],
        ["subject", ANN],
        ["events"],
        ["replay"],
        ["verify"],
        ["quarantine", "list"],
        ["quarantine", "purge"],
    ],
    ids=" ".join,
)
def test_where_no_store_is_none_is_made(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    done = turnfold(*arguments)

    assert done.code == 2
    assert "there is no store in" in done.err
    assert "turnfold ingest" in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions"],
        ["context", ANN, "public_chat"],
        ["subject", ANN],
        ["events", "--after", "20"],
        ["replay", "--check"],
        ["verify", "--erased", CLARA],
        ["quarantine", "list"],
    ],
    ids=" ".join,
)
def test_reading_changes_no_byte(arguments: list[str], store: Path) -> None:
    before = contents(store)

    plain = turnfold(*arguments, "--store", store)
    as_json = turnfold(*arguments, "--store", store, "--json")

    assert plain.code == as_json.code == 0
    assert contents(store) == before
