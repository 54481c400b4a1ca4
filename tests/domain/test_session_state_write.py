"""A record is written only if every condition holds, and each that doesn't is reported."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import product

import attrs
import pytest
from domain.session_state_cases import ALLOWED, APPROVAL, KEY, NOW_NS, SCOPE, record, turn
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.errors import InvalidStateRecord
from turnfold.events.keys import ConversationKey
from turnfold.events.session_state import (
    Blocker,
    OperatorApproval,
    SessionStateAnchor,
    SessionStateWriteReport,
    TenantScope,
    WritePolicy,
    decide_write,
)
from turnfold.events.session_state.conversation import derived_from
from turnfold.events.session_state.policy import Room, approval_blockers, stored_bytes
from turnfold.events.session_state.reports import SessionStateDeleteReport

CONVERSATION = ConversationKey("828f937f-5fe2-5d35-a368-a556b6fa9e23", "public_chat")
FOREIGN = TenantScope("tenant-2", "workspace", "session")
LIKE_A_TOKEN = "gh" + "p_" + "a1B2" * 9

# Each condition of a write, and what is reported when it alone is missing.
CONDITIONS = (
    Blocker.WRITES_DISABLED,
    Blocker.NOT_APPROVED,
    Blocker.CROSS_TENANT,
    Blocker.NO_MEMORY_ANCHOR,
    Blocker.NO_GENE_ANCHOR,
    Blocker.PREVIEW_NOT_ALLOWED,
    Blocker.SOURCE_UNKNOWN,
    Blocker.ID_LIKE_CREDENTIAL,
    Blocker.RECORDS_FULL,
    Blocker.BYTES_FULL,
)


def decide_missing(missing: set[Blocker]) -> tuple[Blocker, ...]:
    """What is decided when exactly the conditions in `missing` don't hold."""
    changes: dict[str, object] = {"turns": [turn(preview="short")]}
    if Blocker.NO_MEMORY_ANCHOR in missing:
        changes["memory_anchors"] = ()
    if Blocker.NO_GENE_ANCHOR in missing:
        changes["gene_anchors"] = ()
    if Blocker.ID_LIKE_CREDENTIAL in missing:
        changes["source_trace_ids"] = [LIKE_A_TOKEN]
    made = attrs.evolve(
        record(**changes),
        derived_from=derived_from(CONVERSATION, KEY),
        source=None if Blocker.SOURCE_UNKNOWN in missing else CONVERSATION,
    )
    return decide_write(
        FOREIGN if Blocker.CROSS_TENANT in missing else SCOPE,
        made,
        WritePolicy(
            durable_writes_enabled=Blocker.WRITES_DISABLED not in missing,
            previews_allowed=Blocker.PREVIEW_NOT_ALLOWED not in missing,
        ),
        None if Blocker.NOT_APPROVED in missing else APPROVAL,
        now_ns=NOW_NS,
        highest_seen_ns=NOW_NS,
        room=Room(
            records=0 if Blocker.RECORDS_FULL in missing else 1,
            bytes=stored_bytes(made) - (Blocker.BYTES_FULL in missing),
        ),
    )


def test_all_combinations_of_conditions() -> None:
    """Of 2^10 only the one where all hold is allowed; every other names what is missing."""
    for holds in product([True, False], repeat=len(CONDITIONS)):
        missing = {name for name, held in zip(CONDITIONS, holds, strict=True) if not held}
        expected = missing
        if Blocker.CROSS_TENANT in missing:  # what depends on stored state isn't told
            expected = missing - {Blocker.RECORDS_FULL, Blocker.BYTES_FULL}
        assert decide_missing(missing) == tuple(sorted(expected, key=CONDITIONS.index))


@pytest.mark.parametrize("name", CONDITIONS)
def test_each_condition_alone_blocks(name: Blocker) -> None:
    assert decide_missing({name}) == (name,)


def test_by_default_nothing_is_written() -> None:
    made = record()
    blockers = decide_write(SCOPE, made, WritePolicy(), None, now_ns=0, highest_seen_ns=0)
    report = SessionStateWriteReport.of(made, blockers, applied=False)
    assert report.blocked_reasons == ("state.writes_disabled", "state.not_approved")
    assert report.preview_only
    assert not report.applied


def test_a_record_without_a_preview_needs_no_permission_for_one() -> None:
    assert not decide_write(
        SCOPE, record(), ALLOWED, APPROVAL, now_ns=NOW_NS, highest_seen_ns=NOW_NS
    )


def test_reasons_are_published_codes_and_blockers_name_the_cause() -> None:
    made = record(memory_anchors=(), gene_anchors=())
    blockers = decide_write(FOREIGN, made, ALLOWED, APPROVAL, now_ns=NOW_NS + 10, highest_seen_ns=0)
    report = SessionStateWriteReport.of(made, blockers, applied=False)
    assert report.blockers == (
        Blocker.APPROVAL_EXPIRED,
        Blocker.CROSS_TENANT,
        Blocker.NO_MEMORY_ANCHOR,
        Blocker.NO_GENE_ANCHOR,
    )
    assert report.blocked_reasons == ("state.not_approved", "state.cross_tenant", "state.invalid")


@pytest.mark.parametrize("field", ["state_id", "anchor", "turn", "trace", "scope"])
def test_an_id_that_looks_like_a_credential_is_not_written(field: str) -> None:
    scope = TenantScope("tenant", "workspace", LIKE_A_TOKEN) if field == "scope" else SCOPE
    anchor_id = LIKE_A_TOKEN if field == "anchor" else "memory:1"
    digest = turn().payload_digest
    turn_id = LIKE_A_TOKEN if field == "turn" else "turn-1"
    made = record(
        scope=scope,
        state_id=LIKE_A_TOKEN if field == "state_id" else "state-1",
        memory_anchors=[SessionStateAnchor("memory_chain", anchor_id, "sha256:" + "0" * 64)],
        turns=[type(turn())(turn_id, "avatar", digest)],
        source_trace_ids=[LIKE_A_TOKEN] if field == "trace" else [],
    )
    blockers = decide_write(scope, made, ALLOWED, APPROVAL, now_ns=NOW_NS, highest_seen_ns=0)
    assert blockers == (Blocker.ID_LIKE_CREDENTIAL,)


@pytest.mark.parametrize(
    "name",
    [
        "828f937f-5fe2-5d35-a368-a556b6fa9e23",
        "conversation-0123456789abcdef0123456789abcdef",
        "turn-18446744073709551615",
        "2024-05-15T15:00:11Z",
        "telegram:chat:-1001234567890",
        "memory:" + "9f86d081884c7d659a2feaa0c55ad015" * 2,
        "trace.9f86d081884c7d659a2feaa0c55ad015.3",
        "4f2d6c1b9a8e7d6c5b4a39281706f5e4d3c2b1a0",
    ],
)
def test_ordinary_ids_are_not_taken_for_credentials(name: str) -> None:
    made = record(state_id=name, source_trace_ids=[name])
    assert not decide_write(SCOPE, made, ALLOWED, APPROVAL, now_ns=NOW_NS, highest_seen_ns=0)


@pytest.mark.parametrize(
    "name",
    [
        "api-" + "9f86d081884c7d659a2feaa0c55ad015",
        "my-secret:" + "9f86d081884c7d659a2feaa0c55ad015",
        "memory:" + "9f86d081884c7d659a2feaa0c55ad015" + ":" + LIKE_A_TOKEN,
        "eyJ"
        + "hbGciOiJIUzI1NiJ9.eyJ"
        + "zdWIiOiIxMjM0NTY3ODkwIn0."
        + "c2lnbmF0dXJlLW9mLXRva2Vu" * 2,
    ],
)
def test_a_credential_is_not_hidden_by_a_hash_or_a_separator(name: str) -> None:
    made = record(source_trace_ids=[name])
    blockers = decide_write(SCOPE, made, ALLOWED, APPROVAL, now_ns=NOW_NS, highest_seen_ns=0)
    assert blockers == (Blocker.ID_LIKE_CREDENTIAL,)


# --- approval and time ---------------------------------------------------


def test_an_approval_is_in_force_from_its_beginning_until_just_before_its_end() -> None:
    def at(now_ns: int) -> tuple[Blocker, ...]:
        return approval_blockers(APPROVAL, now_ns=now_ns, highest_seen_ns=0)

    assert at(APPROVAL.at_ns - 1) == (Blocker.APPROVAL_NOT_STARTED,)
    assert at(APPROVAL.at_ns) == ()
    assert at(APPROVAL.until_ns - 1) == ()
    assert at(APPROVAL.until_ns) == (Blocker.APPROVAL_EXPIRED,)


@given(st.lists(st.integers(0, 40), min_size=1), st.integers(0, 20), st.integers(1, 20))
def test_a_clock_moved_back_never_revives_an_approval(
    clock: list[int], at: int, duration: int
) -> None:
    approval = OperatorApproval("operator", at=at, until=at + duration)
    highest = 0
    expired = False
    for now in clock:
        blockers = approval_blockers(approval, now_ns=now, highest_seen_ns=highest)
        highest = max(highest, now)
        assert not (expired and not blockers)
        expired = expired or blockers == (Blocker.APPROVAL_EXPIRED,)
        assert expired == (highest >= at + duration)


def test_times_of_an_approval_may_be_datetimes_with_a_zone() -> None:
    start = datetime(2027, 1, 15, 8, tzinfo=UTC)
    elsewhere = start.astimezone(timezone(timedelta(hours=-7)))
    end = start + timedelta(microseconds=1)
    approval = OperatorApproval("operator", at=elsewhere, until=end)
    assert approval == OperatorApproval("operator", at=NOW_NS, until=NOW_NS + 1000)
    with pytest.raises(InvalidStateRecord):
        OperatorApproval("operator", at=start.replace(tzinfo=None), until=end)


# --- reports -------------------------------------------------------------


def test_a_blocked_write_is_never_reported_as_applied() -> None:
    with pytest.raises(InvalidStateRecord):
        SessionStateWriteReport.of(record(), (Blocker.NOT_APPROVED,), applied=True)
    assert SessionStateWriteReport.of(record(), (), applied=True).applied


def test_an_applied_write_leaves_the_flags_of_the_record_as_they_are() -> None:
    made = record()
    SessionStateWriteReport.of(made, (), applied=True)
    assert made.write_allowed is False
    assert made.preview_only is True


def test_deleting_what_is_not_there_is_reported_as_unavailable() -> None:
    assert SessionStateDeleteReport.of(deleted=True).blockers == ()
    missing = SessionStateDeleteReport.of(deleted=False)
    assert (missing.applied, missing.blocked_reasons) == (False, ("state.unavailable",))
