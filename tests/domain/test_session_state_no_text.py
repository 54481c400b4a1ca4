"""Nothing that a caller typed shows in a repr, an error or a report; no raw text in a record."""

from collections.abc import Callable
from typing import Any

import pytest
from domain.session_state_cases import ALLOWED, GENE, KEY, MEMORY, PROFILE, SCOPE, SHA, record, turn
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.errors import TurnfoldError
from turnfold.events.session_state import (
    DigestKey,
    DigestKeyring,
    GateAction,
    OperatorApproval,
    RuntimeRequest,
    SessionReplayPlanner,
    SessionRuntimeProfile,
    SessionStateAnchor,
    SessionStateKey,
    SessionStateRecord,
    SessionStateWriteReport,
    SessionTurnDigest,
    TenantScope,
    WritePolicy,
    decide_access,
    decide_write,
    decode_record,
    encode_record,
    lookup_tag,
)
from turnfold.events.session_state.codec import inspect_stored, stored_form
from turnfold.events.session_state.gate import gate_notice
from turnfold.events.session_state.reports import list_report, read_report
from turnfold.events.turns import Role

# A mark that no code, message or digest of ours contains, once as an id and once as free text.
MARK = "QzSentinelQz"
KEYED = turn().payload_digest
PREVIEW = SessionReplayPlanner().preview(SCOPE, record())

marked_ids = st.from_regex(r"[A-Za-z0-9._:-]{0,20}", fullmatch=True).map(lambda tail: MARK + tail)
marked_texts = st.tuples(st.text(max_size=20), st.text(max_size=20)).map(MARK.join)
marked = marked_ids | marked_texts | marked_texts.map(lambda text: f"sha256:{text}")


def profile(**fields: Any) -> SessionRuntimeProfile:
    parts: dict[str, Any] = {"task_profile": "coding"}
    return SessionRuntimeProfile(**(parts | fields))


def of(**fields: Any) -> SessionTurnDigest:
    parts: dict[str, Any] = {"payload": "x", "turn_id": "t", "role": "avatar", "scope": SCOPE}
    parts |= {"key": KEY} | fields
    return SessionTurnDigest.of(parts.pop("payload"), **parts)


# Every input field of the API that could be given a text.
FIELDS: dict[str, Callable[[Any], object]] = {
    "scope.tenant_id": lambda x: TenantScope(x, "w", "s"),
    "scope.workspace_id": lambda x: TenantScope("t", x, "s"),
    "scope.session_id": lambda x: TenantScope("t", "w", x),
    "key.scope": lambda x: SessionStateKey(x, "state"),
    "key.state_id": lambda x: SessionStateKey(SCOPE, x),
    "lookup.state_id": lambda x: lookup_tag(b"secret", SCOPE, SCOPE, x),
    "digest_key.key_id": lambda x: DigestKey(x, b"x" * 32),
    "digest_key.secret": lambda x: DigestKey("k", x),
    "digest_key.secret bytes": lambda x: DigestKey("k", (x.encode("utf-8", "replace") * 9)[:64]),
    "profile.task_profile": lambda x: profile(task_profile=x),
    "profile.model_id": lambda x: profile(model_id=x),
    "profile.tokenizer": lambda x: profile(tokenizer=x),
    "profile.context_window": lambda x: profile(context_window=x),
    "profile.max_tokens": lambda x: profile(max_tokens=x),
    "profile.streaming": lambda x: profile(streaming=x),
    "profile.cancellation": lambda x: profile(cancellation_anchor_digest=x),
    "anchor.kind": lambda x: SessionStateAnchor(x, "a", SHA),
    "anchor.anchor_id": lambda x: SessionStateAnchor("routing", x, SHA),
    "anchor.evidence_digest": lambda x: SessionStateAnchor("routing", "a", x),
    "turn.turn_id": lambda x: SessionTurnDigest(x, Role.AVATAR, KEYED),
    "turn.role": lambda x: SessionTurnDigest("t", x, KEYED),
    "turn.payload_digest": lambda x: SessionTurnDigest("t", Role.AVATAR, x),
    "turn.preview": lambda x: SessionTurnDigest("t", Role.AVATAR, KEYED, x),
    "turn.token_estimate": lambda x: SessionTurnDigest("t", Role.AVATAR, KEYED, None, x),
    "of.payload": lambda x: of(payload=x),
    "of.turn_id": lambda x: of(turn_id=x),
    "of.role": lambda x: of(role=x),
    "of.scope": lambda x: of(scope=x),
    "record.state_id": lambda x: record(state_id=x),
    "record.scope": lambda x: record(scope=x),
    "record.profile": lambda x: record(profile=x),
    "record.memory_anchors": lambda x: record(memory_anchors=x),
    "record.gene_anchors": lambda x: record(gene_anchors=[GENE, x]),
    "record.turns": lambda x: record(turns=[turn(), x]),
    "record.source_trace_ids": lambda x: record(source_trace_ids=[x]),
    "record.derived_from": lambda x: SessionStateRecord(
        state_id="s", scope=SCOPE, profile=PROFILE, derived_from=x
    ),
    "policy.writes": lambda x: WritePolicy(durable_writes_enabled=x),
    "policy.previews": lambda x: WritePolicy(previews_allowed=x),
    "approval.by": lambda x: OperatorApproval(x, at=0, until=1),
    "approval.at": lambda x: OperatorApproval("operator", at=x, until=1),
    "approval.until": lambda x: OperatorApproval("operator", at=0, until=x),
    "planner.max_inputs": lambda x: SessionReplayPlanner().preview(SCOPE, record(), x),
    "request.prompt": lambda x: RuntimeRequest.from_preview(PREVIEW, x),
    "decode.data": lambda x: decode_record(x.encode("utf-8", "replace"), SHA),
    "decode.digest": lambda x: decode_record(record().encoded, x),
}


def everything_said(error: BaseException | None) -> str:
    """All that an error and what it came from would show, fields of both included."""
    said = ""
    while error is not None:
        said += repr(error) + str(error) + repr(error.args) + repr(vars(error))
        error = error.__cause__ or error.__context__
    return said


@pytest.mark.parametrize("field", FIELDS)
@given(text=marked)
def test_no_field_shows_in_a_repr_or_an_error(field: str, text: str) -> None:
    try:
        said = repr(FIELDS[field](text))
    except TurnfoldError as error:
        said = everything_said(error)
    assert (MARK not in said) or field == "digest_key.key_id"  # public by design, in each digest


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [7, -1, 1.5, None, True, b"bytes", [], {}, object(), KEY, MEMORY])
def test_every_field_refuses_a_wrong_type_with_our_own_error(field: str, value: object) -> None:
    """Or takes it, where it fits; what never comes is a TypeError from the depths."""
    if field.startswith("decode") or field == "digest_key.secret bytes":
        value = repr(value)
    raised: TurnfoldError | None = None
    try:
        FIELDS[field](value)
    except TurnfoldError as error:
        raised = error
    assert raised is None or raised.__context__ is None


def test_a_key_never_shows_its_secret() -> None:
    secret = MARK.encode() * 4
    key = DigestKey("k", secret)
    for shown in (repr(key), str(key), repr(DigestKeyring(key)), repr(DigestKeyring(KEY, (key,)))):
        assert MARK not in shown
    with pytest.raises(TurnfoldError) as caught:
        DigestKey("k", secret * 9)
    assert MARK not in everything_said(caught.value)


@given(text=marked_texts, policy=st.sampled_from([WritePolicy(), ALLOWED]), preview=st.booleans())
def test_no_text_reaches_a_record_or_a_report(
    text: str, policy: WritePolicy, preview: bool
) -> None:
    """What was said is in no byte of the record; a preview that policy didn't allow blocks it."""
    made = record(turns=[of(payload=text, summary_preview=text if preview else None)])
    blockers = decide_write(SCOPE, made, policy, None, now_ns=0, highest_seen_ns=0)
    stored = stored_form(made)
    decision = decide_access(SCOPE, made.scope, GateAction.WRITE)
    reports = [
        SessionStateWriteReport.of(made, blockers, applied=False),
        read_report(stored, made.key, KEY),
        read_report(stored[:-1], made.key, KEY),
        list_report([(data, inspect_stored(data)) for data in (stored, stored[:-1])], SCOPE, KEY),
        gate_notice(decision, SCOPE, made.scope, KEY),
        SessionReplayPlanner().preview(SCOPE, made),
        decision,
        made,
        made.turns,
    ]
    assert all(MARK not in repr(report) for report in reports)
    if preview:
        assert "state.invalid" in reports[0].blocked_reasons  # type: ignore[attr-defined]  # of several kinds
    else:
        assert MARK.encode() not in encode_record(made) + stored


@given(name=marked_ids)
def test_ids_are_in_the_record_and_in_no_report(name: str) -> None:
    scope = TenantScope(name, name, name)
    made = record(
        state_id=name,
        scope=scope,
        memory_anchors=[SessionStateAnchor("memory_chain", name, SHA)],
        turns=[],
        source_trace_ids=[name],
    )
    stored = stored_form(made)
    assert MARK.encode() in stored
    blockers = decide_write(SCOPE, made, WritePolicy(), None, now_ns=0, highest_seen_ns=0)
    reports = [
        SessionStateWriteReport.of(made, blockers, applied=False),
        read_report(stored, made.key, KEY),
        read_report(stored[:-1], made.key, KEY),
        read_report(stored, SessionStateKey(SCOPE, name), KEY),
        list_report([(stored, inspect_stored(stored))], scope, KEY),
        SessionReplayPlanner().preview(scope, made),
        SessionReplayPlanner().preview(SCOPE, made),
        gate_notice(decide_access(SCOPE, scope, GateAction.READ), SCOPE, scope, KEY),
        made.key,
    ]
    assert all(MARK not in repr(report) for report in reports)
