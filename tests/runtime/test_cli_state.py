"""`turnfold state`: records checked, written, looked at, found by their errors and deleted."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from domain.session_state_cases import SHA
from runtime.cli_run import Done, contents, turnfold, unchanged
from runtime.fake_log import SteppedClock
from runtime.test_state_bytes import exposed, flip

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events.keys import ConversationKey
from turnfold.events.log.replay import replay
from turnfold.events.sealed import NONCE_BYTES
from turnfold.events.turns import AvatarText

SCOPE = "acme/helpdesk/chat-42"
SENTINEL = "zanzibar-sentinel"
APPROVED = ("--approved-by", "ops-7", "--approved-at", "2020-01-01T00:00:00Z", "--approved-until",
            "2200-01-01T00:00:00Z")  # fmt: skip
IN_2100_NS = 4_102_444_800 * 1_000_000_000
SPOKEN = ConversationKey("828f937f-5fe2-5d35-a368-a556b6fa9e23", "direct_im")


def document(**changes: Any) -> bytes:
    parts: dict[str, Any] = {
        "state_id": "latest",
        "scope": {"tenant_id": "acme", "workspace_id": "helpdesk", "session_id": "chat-42"},
        "profile": {"task_profile": "coding", "model_id": "local/model-7b", "max_tokens": 100},
        "memory_anchors": [{"anchor_id": "memory:17", "evidence_digest": SHA}],
        "gene_anchors": [{"anchor_id": "gene:3", "evidence_digest": SHA}],
        "retrieval_evidence": [
            {"kind": "experience", "anchor_id": "seen:1", "evidence_digest": SHA}
        ],
        "turns": [{"turn_id": "turn-1", "role": "avatar", "payload": SENTINEL}],
        "source_trace_ids": ["trace:1"],
    }
    merged = {name: value for name, value in (parts | changes).items() if value is not None}
    return json.dumps(merged).encode()


@attrs.frozen
class Store:
    """A store that the command line works on, with durable writes on."""

    path: Path
    config: Path

    def run(self, *arguments: object, stdin: bytes = b"", scope: str | None = SCOPE) -> Done:
        """`turnfold state ARGUMENTS --config FILE`."""
        scoped = () if scope is None else ("--scope", scope)
        return turnfold("state", *arguments, *scoped, "--config", self.config, stdin=stdin)

    def record(self, data: bytes, *options: object) -> Done:
        return self.run("record", "-", *options, "--json", stdin=data)

    def stored(self) -> bytes:
        """The stored form of the only record."""
        (record,) = replay(self.path, content=True).state.records.values()
        assert isinstance(record.sealed, bytes)
        return record.sealed[NONCE_BYTES:]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    config = tmp_path / "turnfold.toml"
    config.write_text(
        'storage_path = "store"\n[conversation]\npersistence_enabled = true\n'
        "[session_state]\ndurable_writes_enabled = true\n"
    )
    return Store(tmp_path / "store", config)


def test_by_default_nothing_is_written_nor_made(tmp_path: Path, store: Store) -> None:
    (tmp_path / "latest.json").write_bytes(document())
    place = ("--scope", SCOPE, "--store", tmp_path / "store", "--json")
    with unchanged(tmp_path):
        done = turnfold("state", "record", tmp_path / "latest.json", *place)
    assert done.code == 1
    assert done.json["blocked_reasons"] == ["state.writes_disabled", "state.not_approved"]
    assert not (tmp_path / "store").exists()

    assert store.record(document(), *APPROVED).code == 0
    with unchanged(tmp_path):
        done = turnfold("state", "record", tmp_path / "latest.json", *place, *APPROVED)
        assert done.json["blocked_reasons"] == ["state.writes_disabled"]
        assert store.record(document()).json["blocked_reasons"] == ["state.not_approved"]


def test_a_record_is_written_shown_listed_and_deleted(store: Store) -> None:
    done = store.record(document(), *APPROVED)
    assert (done.code, done.json["applied"]) == (0, True)
    shown = store.run("show", "latest", "--json").json
    assert shown["facts"]["state_digest"] == done.json["state_digest"]
    assert not shown["facts"]["flags"]["write_allowed"]
    assert shown["record"]["retrieval_evidence"][0]["kind"] == "experience"
    again = store.record(json.dumps(shown["record"]).encode(), *APPROVED)
    assert again.json["state_digest"] == done.json["state_digest"]  # the document is whole

    (entry,) = store.run("list", "--json").json["records"]
    assert (entry["state_id"], entry["turns"]) == ("latest", 1)
    for command in (("show", "latest"), ("list",), ("preview", "latest")):
        assert store.run(*command).code == 0
    deleted = store.run("delete", "latest", "--json")
    assert (deleted.code, deleted.json["applied"]) == (0, True)
    for command in (("show", "latest"), ("delete", "latest"), ("preview", "latest")):
        done = store.run(*command, "--json")
        assert done.code == 1
        assert "state.unavailable" in done.json["blockers"]
    assert store.run("list", "--json").json["records"] == []


def test_a_preview_is_the_same_each_time_and_changes_nothing(store: Store) -> None:
    store.record(document(), *APPROVED)
    with unchanged(store.path):
        first = store.run("preview", "latest", "--json").json
        assert [one["reference_id"] for one in first["retrieval_inputs"]] == ["memory:17", "seen:1"]
        assert [one["source"] for one in first["routing_inputs"]] == ["profile"]
        assert [one["reference_id"] for one in first["gene_inputs"]] == ["gene:3"]
        fewer = store.run("preview", "latest", "--max-inputs", 1, "--json").json
        assert fewer["omitted"] == 1
    assert store.run("rotate-key", scope=None).code == 0  # opens and closes the store
    assert store.run("preview", "latest", "--json").json == first


def test_no_text_of_a_document_is_kept_or_printed(store: Store) -> None:
    done = store.record(document(), *APPROVED)
    shown = store.run("show", "latest", "--json")
    assert not any(SENTINEL.encode() in data for data in contents(store.path).values())
    assert SENTINEL not in done.out + done.err + shown.out


def test_another_scope_sees_what_it_would_see_of_nothing(store: Store) -> None:
    store.record(document(), *APPROVED)
    for other in ("acme/helpdesk/chat-43", "Acme/helpdesk/chat-42", "acme/helpdesk/chat-42."):
        for command in ("show", "preview"):
            there = store.run(command, "latest", "--json", scope=other)
            absent = store.run(command, "nothing", "--json", scope=other)
            assert (there.code, there.out, there.err) == (1, absent.out, absent.err)
        assert store.run("list", "--json", scope=other).json["records"] == []
        written = store.run("record", "-", "--json", *APPROVED, stdin=document(), scope=other)
        assert {one.split(".")[1] for one in written.json["blockers"]} == {"cross_tenant"}


def test_a_scope_has_exactly_three_ids(store: Store) -> None:
    store.record(document(), *APPROVED)
    for wrong in ("acme/helpdesk", "acme/helpdesk/chat-42/x", "acme//chat-42", "//", "", "a/b/c d"):
        done = store.run("list", scope=wrong)
        assert done.code == 2
        assert "c d" not in done.err


def test_a_corrupt_record_is_told_by_label_and_found_by_its_digest(store: Store) -> None:
    store.record(document(), *APPROVED)
    payload = store.stored()
    assert flip(store.path, payload, len(payload) // 2)
    with unchanged(store.path):
        done = store.run("show", "latest", "--json")
        assert (done.code, done.json["record"], done.json["corrupt"]) == (1, None, True)
        digest = done.json["error_digest"]
        listed = store.run("list", "--json")
        assert (listed.code, listed.json["error_digests"]) == (1, [digest])
        for command in (("show", "latest"), ("list",), ("preview", "latest")):
            assert digest in store.run(*command).out
        found = store.run("find-error", digest, "--json", scope=None)
        assert (found.code, found.json["found"]) == (0, True)
        assert found.json["error_label"] == done.json["error_label"]
        assert store.run("find-error", digest[:-1] + "g", scope=None).code == 1
    shown = (done.out + listed.out + found.out).replace(digest.rpartition(":")[0], "the key")
    assert not exposed(payload, shown)
    assert store.run("rotate-key", scope=None).code == 0
    assert store.run("find-error", digest, scope=None).code == 0  # under the retired key
    assert store.run("delete", "latest").code == 0
    assert store.run("find-error", digest, scope=None).code == 1


def test_a_record_can_be_made_of_a_conversation_of_the_store(store: Store) -> None:
    settings = Config.load(store.config)
    with ConversationStore(settings) as running:
        running.add_turn(SPOKEN, AvatarText(SENTINEL))
    named = {"avatar": str(SPOKEN.avatar), "channel": "direct_im"}
    data = document(turns=None, state_id=None, conversation=named)
    assert store.record(data, *APPROVED).code == 0
    assert SENTINEL.encode() not in store.stored()
    with ConversationStore(settings) as running:
        assert running.delete(SPOKEN).session_states == 1
    assert store.record(data, *APPROVED).code == 2  # it is not live any more


def test_the_store_of_a_running_program_is_read_and_not_written(store: Store) -> None:
    store.record(document(), *APPROVED)
    with ConversationStore(Config.load(store.config)):
        assert store.run("show", "latest").code == 0
        for done in (
            store.record(document(state_id="two"), *APPROVED),
            store.run("delete", "latest"),
            store.run("rotate-key", scope=None),
        ):
            assert done.code == 1
            assert "owned by process" in done.err
    assert len(store.run("list", "--json").json["records"]) == 1


def test_an_approval_is_whole_and_its_times_have_a_zone(store: Store) -> None:
    for options in (
        ("--approved-by", "ops-7"),
        (*APPROVED[:3], "2020-01-01T00:00:00", *APPROVED[4:]),
        (*APPROVED[:3], SENTINEL, *APPROVED[4:]),
        (*APPROVED[:3], "2300-01-01T00:00:00Z", *APPROVED[4:]),
    ):
        done = store.record(document(), *options)
        assert done.code == 2
        assert SENTINEL not in done.err
    expired = (*APPROVED[:5], "2021-01-01T00:00:00Z")
    assert store.record(document(), *expired).json["blockers"] == ["state.not_approved.expired"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        document(scope=SENTINEL),
        document(scope={"tenant_id": SENTINEL}),
        document(profile={"task_profile": SENTINEL}),
        document(memory_anchors=SENTINEL),
        document(memory_anchors=[{"anchor_id": f"{SENTINEL} x", "evidence_digest": SHA}]),
        document(turns=[{"turn_id": "t", "role": "avatar"}]),
        document(turns=[{"turn_id": "t", "role": "avatar", "payload": [SENTINEL]}]),
        document(turns=[{"turn_id": "t", "role": SENTINEL, "payload": "x"}]),
        document(source_trace_ids=[SENTINEL, SENTINEL]),
        document(conversation={"avatar": SENTINEL, "channel": "direct_im"}, turns=None),
        document(conversation={"avatar": str(SPOKEN.avatar), "channel": "direct_im"}),
        document(**{SENTINEL: 1}),
        document(write_allowed=True),
        document(profile=None),
    ],
)
def test_a_malformed_document_is_refused_without_quoting_it(store: Store, data: bytes) -> None:
    done = store.record(data, *APPROVED)
    assert done.code == 2
    assert SENTINEL not in done.err + done.out
    assert "Traceback" not in done.err
    assert not store.path.exists()


def test_a_document_that_is_not_there_is_an_error(store: Store, tmp_path: Path) -> None:
    assert store.run("record", tmp_path / "absent.json").code == 2
    assert store.run("list").code == 2  # no store yet


def test_the_latest_time_that_the_store_has_seen_counts_also_here(store: Store) -> None:
    with ConversationStore(Config.load(store.config), clock=SteppedClock(IN_2100_NS)) as running:
        running.add_turn(SPOKEN, AvatarText("hello"))
    until_2099 = (*APPROVED[:5], "2099-12-31T00:00:00Z")
    blockers = store.record(document(), *until_2099).json["blockers"]
    assert blockers == ["state.not_approved.expired"]
    assert store.record(document(), *APPROVED).code == 0
