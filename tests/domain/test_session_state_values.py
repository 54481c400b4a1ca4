"""Every value refuses what breaks a rule, names all of it, and changes nothing it takes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import attrs
import pytest
from domain.session_state_cases import (
    GENE,
    KEY,
    KEYRING,
    MEMORY,
    OTHER_KEY,
    PROFILE,
    RETRIEVAL,
    ROUTING,
    SCOPE,
    SHA,
    ids,
    record,
    turn,
)
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.errors import InvalidInput, InvalidStateRecord
from turnfold.events.redaction import is_clean
from turnfold.events.session_state import (
    Blocker,
    CorruptLabel,
    DigestKey,
    DigestKeyring,
    GateReason,
    OperatorApproval,
    SessionAnchorKind,
    SessionRuntimeProfile,
    SessionStateAnchor,
    SessionStateRecord,
    SessionTurnDigest,
    TaskProfile,
    TenantScope,
    WritePolicy,
)
from turnfold.events.session_state.digest import ALGORITHMS, DigestPurpose, plain_digest
from turnfold.events.session_state.record import FLAGS
from turnfold.events.session_state.turn_digest import PREVIEW_CHARS_MAX, make_preview
from turnfold.events.turns import Role


def blockers_of(make: Callable[..., object], *args: Any, **kwargs: Any) -> list[Blocker]:
    """What the error says that `make` raises."""
    with pytest.raises(InvalidStateRecord) as caught:
        make(*args, **kwargs)
    assert isinstance(caught.value, InvalidInput)
    assert caught.value.__context__ is None
    return [Blocker(name) for name in caught.value.blockers]


# --- ids ---------------------------------------


@given(ids, ids, ids)
def test_ids_are_kept_exactly(tenant: str, workspace: str, session: str) -> None:
    assert TenantScope(tenant, workspace, session).parts == (tenant, workspace, session)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        " ",
        "a b",
        "a\n",
        "a\0",
        "../a",
        "a/b",
        "a'b",
        "é",
        "\N{FULLWIDTH LATIN SMALL LETTER A}",
        "\N{CYRILLIC SMALL LETTER A}",
        "\N{ARABIC-INDIC DIGIT ONE}",
        "a\N{ZERO WIDTH SPACE}",
        "\ud800",
        "a" * 129,
        "a" * 300,
    ],
)
def test_what_is_no_id_is_refused_not_repaired(bad: str) -> None:
    assert blockers_of(TenantScope, bad, "w", bad) == [Blocker.BAD_ID, Blocker.BAD_ID]
    assert blockers_of(record, state_id=bad) == [Blocker.BAD_ID]
    assert blockers_of(SessionStateAnchor, "routing", bad, SHA) == [Blocker.BAD_ID]
    assert blockers_of(record, source_trace_ids=["ok", bad]) == [Blocker.BAD_ID]


@given(st.text())
def test_an_id_is_taken_exactly_if_it_has_only_the_allowed_characters(text: str) -> None:
    allowed = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-")
    if 1 <= len(text) <= 128 and set(text) <= allowed:
        assert TenantScope(text, "w", "s").tenant_id == text
    else:
        assert blockers_of(TenantScope, text, "w", "s") == [Blocker.BAD_ID]


class SlyText(str):
    """A str that claims to be equal to everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize("bad", [None, 7, b"tenant", True, ["t"], SlyText("t")])
def test_an_id_of_another_type_is_refused(bad: object) -> None:
    assert blockers_of(TenantScope, bad, "w", "s") == [Blocker.BAD_TYPE]


def test_all_that_is_wrong_is_reported_at_once() -> None:
    assert blockers_of(
        SessionRuntimeProfile,
        "poetry",
        model_id="",
        tokenizer=7,
        context_window=0,
        max_tokens=True,
        streaming=1,
        cancellation_anchor_digest="yes",
    ) == [
        Blocker.BAD_CHOICE,
        Blocker.BAD_ID,
        Blocker.BAD_TYPE,
        Blocker.OUT_OF_RANGE,
        Blocker.BAD_TYPE,
        Blocker.BAD_TYPE,
        Blocker.BAD_DIGEST,
    ]
    assert blockers_of(
        SessionStateRecord,
        state_id="",
        scope="tenant",
        profile=None,
        memory_anchors=[MEMORY],
        gene_anchors=(MEMORY, MEMORY),
        turns=(turn(1), turn(1), "turn"),
        source_trace_ids=("a", "a", ""),
        derived_from=SHA,
    ) == [
        Blocker.BAD_ID,
        Blocker.BAD_TYPE,
        Blocker.BAD_TYPE,
        Blocker.DIGEST_NOT_KEYED,
        Blocker.BAD_TYPE,
        Blocker.WRONG_ANCHOR_KIND,
        Blocker.WRONG_ANCHOR_KIND,
        Blocker.DUPLICATE,
        Blocker.DUPLICATE,
        Blocker.BAD_TYPE,
        Blocker.DUPLICATE,
        Blocker.BAD_ID,
    ]


def test_a_long_list_of_problems_keeps_the_message_short() -> None:
    with pytest.raises(InvalidStateRecord) as caught:
        record(source_trace_ids=[""] * 200)
    assert len(caught.value.blockers) == 200
    assert "and 184 more" in str(caught.value)
    assert len(str(caught.value)) < 1200


# --- profile, anchors, turns ---------------------------------------


def test_of_a_profile_only_the_task_is_required() -> None:
    profile = SessionRuntimeProfile("long_document")
    assert profile == SessionRuntimeProfile(TaskProfile.LONG_DOCUMENT)
    assert profile.values() == ("long_document", None, None, None, None, False, None)


def test_an_answer_longer_than_the_context_window_is_refused() -> None:
    assert SessionRuntimeProfile("coding", context_window=10, max_tokens=10).max_tokens == 10
    assert blockers_of(SessionRuntimeProfile, "coding", context_window=10, max_tokens=11) == [
        Blocker.OUT_OF_RANGE
    ]


@pytest.mark.parametrize(
    ("slot", "fitting"),
    [
        ("memory_anchors", {"memory_chain"}),
        ("gene_anchors", {"gene_chain"}),
        ("retrieval_evidence", {"retrieval", "experience"}),
        ("routing_evidence", {"routing", "runtime_kv"}),
    ],
)
def test_each_slot_takes_its_own_kinds_of_anchor(slot: str, fitting: set[str]) -> None:
    for kind in SessionAnchorKind:
        anchor = SessionStateAnchor(kind, "an-id", SHA)
        if kind.value in fitting:
            assert getattr(record(**{slot: [anchor]}), slot) == (anchor,)
        else:
            assert blockers_of(record, **{slot: [anchor]}) == [Blocker.WRONG_ANCHOR_KIND]


@pytest.mark.parametrize("slot", ["memory_anchors", "turns", "source_trace_ids"])
def test_lists_are_bounded(slot: str) -> None:
    lists: dict[str, list[Any]] = {
        "memory_anchors": [SessionStateAnchor("memory_chain", f"m-{n}", SHA) for n in range(257)],
        "turns": [attrs.evolve(turn(), turn_id=f"turn-{n}") for n in range(4097)],
        "source_trace_ids": [f"trace-{n}" for n in range(257)],
    }
    items = lists[slot]
    assert len(getattr(record(**{slot: items[:-1]}), slot)) == len(items) - 1
    assert blockers_of(record, **{slot: items}) == [Blocker.TOO_MANY]


def test_a_record_above_one_mebibyte_is_refused() -> None:
    long = [f"{n:0128}" for n in range(4096)]
    turns = [attrs.evolve(turn(preview="x" * 96), turn_id=name) for name in long]
    assert blockers_of(record, turns=turns) == [Blocker.TOO_LARGE]


@pytest.mark.parametrize("bad", ["system", "user", "", None, 7])
def test_a_turn_has_one_of_three_roles(bad: object) -> None:
    digest = turn().payload_digest
    assert blockers_of(SessionTurnDigest, "turn-1", bad, digest) == [Blocker.BAD_CHOICE]


@pytest.mark.parametrize("bad", [-1, 1 << 32, 1.5, True, "7", None])
def test_a_token_estimate_is_a_bounded_count(bad: object) -> None:
    assert blockers_of(
        SessionTurnDigest, "turn-1", "avatar", turn().payload_digest, token_estimate=bad
    )[0] in (Blocker.BAD_TYPE, Blocker.OUT_OF_RANGE)


@given(st.text(max_size=400))
def test_a_preview_is_short_and_redacted(text: str) -> None:
    preview = make_preview(text)
    assert len(preview) <= PREVIEW_CHARS_MAX
    assert is_clean(preview)
    assert make_preview(preview) == preview


def test_a_preview_is_never_cut_inside_a_placeholder() -> None:
    token = "gh" + "p_" + "a1B2" * 9
    for before in range(60, 100):
        preview = make_preview("x" * before + " " + token + " and more text behind it")
        assert token[:12] not in preview
        assert "[" not in preview or preview.count("[") == preview.count("]")


def test_a_turn_has_no_preview_unless_one_is_given() -> None:
    assert turn(text="some text").summary_preview is None
    assert turn(text="some text", preview="short").summary_preview == "short"


# --- digests ---------------------------------------


def test_a_keyed_digest_names_its_algorithm_and_key() -> None:
    algorithm, key_id, value = KEY.digest(DigestPurpose.EVIDENCE, b"x").split(":")
    assert (algorithm, key_id, len(bytes.fromhex(value))) == ("blake2b-256-keyed", "key-1", 32)
    assert plain_digest(b"x").split(":")[0] == "blake2b-256"


@given(st.lists(st.binary(max_size=3), max_size=4), st.lists(st.binary(max_size=3), max_size=4))
def test_different_parts_have_different_digests(one: list[bytes], other: list[bytes]) -> None:
    first, second = (KEY.digest(DigestPurpose.EVIDENCE, *parts) for parts in (one, other))
    assert (first == second) == (one == other)


def test_a_digest_is_valid_for_one_purpose_and_key_alone() -> None:
    digest = KEY.digest(DigestPurpose.TURN, b"x")
    assert KEYRING.verify(digest, DigestPurpose.TURN, b"x")  # made with a retired key
    assert not KEYRING.verify(digest, DigestPurpose.ERROR, b"x")
    assert not KEYRING.verify(digest, DigestPurpose.TURN, b"y")
    assert not KEYRING.verify(digest, DigestPurpose.TURN, "x")
    assert not DigestKeyring(OTHER_KEY).verify(digest, DigestPurpose.TURN, b"x")
    assert not KEYRING.verify(digest.replace("key-1", "key-2"), DigestPurpose.TURN, b"x")
    assert not KEYRING.verify("nonsense", DigestPurpose.TURN, b"x")
    assert digest in KEYRING.digests(DigestPurpose.TURN, b"x")


@pytest.mark.parametrize(
    "text",
    ["", "yes", "\ud800", "a\udc97b", "\0", "é", "e\N{COMBINING ACUTE ACCENT}", "👩‍👩‍👧", "👩👩👧"],
)
def test_any_text_has_one_digest_and_no_other_text_has_it(text: str) -> None:
    assert turn(text=text).payload_digest == turn(text=text).payload_digest
    assert turn(text=text).matches(text, SCOPE, KEYRING)
    for other in ("no", "\udc00", text + "\0", "\N{LATIN SMALL LETTER E WITH ACUTE}x"):
        assert turn(text=other).payload_digest != turn(text=text).payload_digest


def test_equal_texts_have_different_digests_in_other_scopes_and_turns() -> None:
    other = TenantScope("other", "workspace", "session")
    same = {"role": "avatar", "key": KEY}
    found = {
        SessionTurnDigest.of("yes", turn_id=turn_id, scope=scope, **same).payload_digest  # type: ignore[arg-type]  # a dict of both
        for turn_id in ("turn-1", "turn-2")
        for scope in (SCOPE, other)
    }
    assert len(found) == 4


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_evidence_may_be_digested_with_any_listed_algorithm(name: str) -> None:
    digest = f"{name}:{'0f' * (ALGORITHMS[name] // 2)}"
    assert SessionStateAnchor("routing", "r", digest).evidence_digest == digest
    for bad in (digest[:-1], digest + "0", digest.upper(), digest + "\n", digest.replace(":", "")):
        assert blockers_of(SessionStateAnchor, "routing", "r", bad) == [Blocker.BAD_DIGEST]


@pytest.mark.parametrize(
    "bad", ["", "ab" * 32, "md5:" + "ab" * 16, "secret text", "crc:" + "a" * 64]
)
def test_a_digest_without_a_known_algorithm_is_refused(bad: str) -> None:
    assert blockers_of(SessionStateAnchor, "routing", "r", bad) == [Blocker.BAD_DIGEST]
    assert blockers_of(SessionTurnDigest, "t", "agent", bad) == [Blocker.BAD_DIGEST]


def test_a_payload_digest_must_be_keyed() -> None:
    assert blockers_of(SessionTurnDigest, "t", "agent", SHA) == [Blocker.DIGEST_NOT_KEYED]


@pytest.mark.parametrize(
    ("key_id", "secret"),
    [
        ("", b"x" * 32),
        ("a:b", b"x" * 32),
        ("k" * 33, b"x" * 32),
        ("k", b"x" * 31),
        ("k", b"x" * 65),
    ],
)
def test_a_digest_key_has_a_plain_id_and_enough_secret(key_id: str, secret: bytes) -> None:
    assert len(blockers_of(DigestKey, key_id, secret)) == 1


def test_two_keys_of_a_ring_never_share_an_id() -> None:
    twin = DigestKey("key-1", b"y" * 32)
    assert blockers_of(DigestKeyring, KEY, (twin,)) == [Blocker.DUPLICATE]


# --- the record's flags ---------------------------------------


def test_the_flags_are_constants_of_every_record() -> None:
    made = record()
    assert dict(FLAGS) == {name: getattr(made, name) for name, _value in FLAGS}
    assert made.raw_messages_stored is False
    assert made.read_only is made.report_only is made.preview_only is True
    assert made.write_allowed is False


@pytest.mark.parametrize("flag", [name for name, _value in FLAGS])
def test_no_input_changes_a_flag(flag: str) -> None:
    made = record()
    with pytest.raises(TypeError):
        record(**{flag: True})
    with pytest.raises(TypeError):
        attrs.evolve(made, **cast("Any", {flag: True}))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(made, flag, True)
    with pytest.raises(AttributeError):
        object.__setattr__(made, flag, True)
    assert getattr(made, flag) is dict(FLAGS)[flag]


def test_values_are_frozen() -> None:
    for value in (SCOPE, PROFILE, MEMORY, GENE, RETRIEVAL, ROUTING, turn(), record(), KEY):
        for field in attrs.fields(type(value)):
            with pytest.raises(attrs.exceptions.FrozenInstanceError):
                setattr(value, field.name, None)


# --- published names ---------------------------------------


def test_each_blocker_belongs_to_one_published_reason() -> None:
    assert {blocker.reason for blocker in Blocker} == set(GateReason) - {GateReason.ALLOWED}
    assert [reason.value for reason in GateReason] == [
        "state.allowed",
        "state.writes_disabled",
        "state.not_approved",
        "state.cross_tenant",
        "state.invalid",
        "state.full",
        "state.unavailable",
        "state.corrupt",
    ]


@pytest.mark.parametrize("truth", [1, "yes", "true", None, 0])
def test_a_policy_switch_is_true_or_false_itself(truth: object) -> None:
    assert blockers_of(WritePolicy, truth) == [Blocker.BAD_TYPE]
    assert blockers_of(WritePolicy, previews_allowed=truth) == [Blocker.BAD_TYPE]


@pytest.mark.parametrize(("at", "until"), [(5, 5), (6, 5), (-1, 5), (0, 1 << 63), (0, True)])
def test_an_approval_has_a_beginning_before_its_end(at: int, until: int) -> None:
    assert len(blockers_of(OperatorApproval, "operator", at=at, until=until)) == 1


@pytest.mark.parametrize("by", ["", None, "a b", "é"])
def test_an_approval_names_who_gave_it(by: object) -> None:
    assert len(blockers_of(OperatorApproval, by, at=0, until=1)) == 1


def test_every_published_name_is_in_the_reference() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "session-state.md"
    text = page.read_text(encoding="utf-8")
    kinds = (Blocker, GateReason, CorruptLabel, SessionAnchorKind, TaskProfile, Role)
    names = [member.value for kind in kinds for member in kind]
    names += [*ALGORITHMS, *(f"{flag}={value}" for flag, value in FLAGS)]
    assert [name for name in names if f"`{name}`" not in text] == []
