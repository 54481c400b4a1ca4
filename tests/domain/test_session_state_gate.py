"""Scopes never see each other, and what one may not see looks like what isn't there."""

import unicodedata

import pytest
from domain.session_state_cases import KEY, OTHER_KEY, SCOPE, ids, record, scopes
from hypothesis import assume, given
from hypothesis import strategies as st

from turnfold.events.errors import InvalidStateRecord
from turnfold.events.session_state import (
    Blocker,
    CorruptLabel,
    GateAction,
    SessionReplayPlanner,
    SessionStateKey,
    SessionStateRecord,
    TenantScope,
    decide_access,
    decide_write,
    lookup_tag,
    record_tag,
    scope_tag,
)
from turnfold.events.session_state.codec import inspect_stored, stored_form
from turnfold.events.session_state.gate import gate_notice
from turnfold.events.session_state.policy import Room, WritePolicy
from turnfold.events.session_state.reports import UNAVAILABLE, list_report, read_report

SECRET = b"the store's lasting secret......"

# Scopes that a careless store takes for one another.
NEAR = [
    TenantScope(*parts)
    for parts in [
        ("tenant", "workspace", "session"),
        ("Tenant", "workspace", "session"),
        ("tenant", "WORKSPACE", "session"),
        ("tenant", "workspace", "sessioN"),
        ("tenant:workspace", "session", "session"),
        ("tenant", "workspace:session", "session"),
        ("tenant", "workspace", "session:"),
        ("tenant", "workspace", ":session"),
        ("tenant", "workspace", "."),
        ("tenant", ".", "session"),
        ("tenant.", "workspace", "session"),
        ("tenan", "tworkspace", "session"),
        ("workspace", "tenant", "session"),
        ("tenant", "session", "workspace"),
        ("tenant", "workspace", "session_state"),
        ("tenant", "workspace", "00"),
        ("tenant", "workspace", "0"),
        ("tenant", "workspace", "1"),
        ("tenant", "workspace", "01"),
    ]
]


@pytest.mark.parametrize("action", list(GateAction))
def test_a_scope_may_touch_itself_alone(action: GateAction) -> None:
    for actor in NEAR:
        for target in NEAR:
            assert decide_access(actor, target, action).allowed == (actor is target)


@given(scopes, scopes, st.sampled_from(GateAction))
def test_every_differing_part_is_a_blocker(
    actor: TenantScope, target: TenantScope, action: GateAction
) -> None:
    differing = [one != other for one, other in zip(actor.parts, target.parts, strict=True)]
    names = [Blocker.CROSS_TENANT, Blocker.CROSS_WORKSPACE, Blocker.CROSS_SESSION]
    expected = tuple(name for name, differs in zip(names, differing, strict=True) if differs)
    decision = decide_access(actor, target, action)
    assert decision.blockers == expected
    assert decision.reasons == (("state.cross_tenant",) if expected else ("state.allowed",))


@given(ids)
def test_another_unicode_form_of_an_id_is_itself_or_refused(name: str) -> None:
    wide = "".join(chr(ord(character) + 0xFEE0) for character in name)
    assert unicodedata.normalize("NFKC", wide) == name
    with pytest.raises(InvalidStateRecord):
        TenantScope(wide, "workspace", "session")
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert unicodedata.normalize(form, name) == name


@given(st.lists(scopes, min_size=2, max_size=6, unique=True), ids)
def test_tags_of_different_scopes_differ(many: list[TenantScope], state_id: str) -> None:
    tags = {scope_tag(SECRET, scope) for scope in many}
    tags |= {record_tag(SECRET, SessionStateKey(scope, state_id)) for scope in many}
    assert len(tags) == 2 * len(many)


def test_tags_of_near_scopes_differ() -> None:
    tags = {record_tag(SECRET, SessionStateKey(scope, scope.session_id)) for scope in NEAR}
    assert len(tags) == len(NEAR)
    assert all(len(tag) == 16 for tag in tags)
    assert record_tag(b"another secret", SessionStateKey(SCOPE, "state-1")) not in tags


@given(scopes, scopes, ids)
def test_a_lookup_finds_the_own_record_and_never_a_foreign_one(
    actor: TenantScope, target: TenantScope, state_id: str
) -> None:
    own = record_tag(SECRET, SessionStateKey(actor, state_id))
    assert lookup_tag(SECRET, actor, actor, state_id) == own
    assume(actor != target)
    asked = lookup_tag(SECRET, actor, target, state_id)
    assert asked != own
    assert asked != record_tag(SECRET, SessionStateKey(target, state_id))


class CountingStore(dict[bytes, bytes]):
    """Stored forms by tag, as the store keeps them; counts its reads."""

    reads = 0

    def get(self, key: bytes, default: bytes | None = None) -> bytes | None:  # type: ignore[override]  # one signature of several
        self.reads += 1
        return super().get(key, default)


def test_a_foreign_record_reads_like_one_that_is_not_there() -> None:
    """Report, error and number of reads are the same whether or not it exists."""
    kept = record()
    full, empty = CountingStore(), CountingStore()
    full[record_tag(SECRET, kept.key)] = stored_form(kept)
    for actor in NEAR[1:]:
        for store in (full, empty):
            found = store.get(lookup_tag(SECRET, actor, kept.scope, kept.state_id))
            report = read_report(found, kept.key, KEY)
            assert report == UNAVAILABLE
            assert repr(report) == repr(UNAVAILABLE)
    assert full.reads == empty.reads == len(NEAR) - 1

    own = full.get(lookup_tag(SECRET, SCOPE, SCOPE, kept.state_id))
    assert read_report(own, kept.key, KEY).record == kept


def test_a_record_stored_under_a_foreign_key_is_corrupt_not_shown() -> None:
    kept = record()
    for scope in NEAR[1:]:
        report = read_report(stored_form(kept), SessionStateKey(scope, kept.state_id), KEY)
        assert (report.record, report.error_label) == (None, "key_mismatch")
    report = read_report(stored_form(kept), SessionStateKey(SCOPE, "state-2"), KEY)
    assert (report.record, report.error_label) == (None, "key_mismatch")


def inspected(*stored: bytes) -> list[tuple[bytes, SessionStateRecord | CorruptLabel]]:
    return [(data, inspect_stored(data)) for data in stored]


def test_a_listing_never_shows_a_foreign_record() -> None:
    own, foreign = record(), record(scope=NEAR[1], turns=())
    report = list_report(inspected(stored_form(foreign), stored_form(own)), SCOPE, KEY)
    assert [entry.state_digest for entry in report.entries] == [own.state_digest]
    assert len(report.error_digests) == 1
    assert report.blocked_reasons == ("state.corrupt",)


def test_a_listing_has_a_stable_order() -> None:
    stored = [stored_form(record(state_id=name)) for name in ("b", "B", "a", "10", "9")]
    report = list_report(inspected(*stored), SCOPE, KEY)
    assert [entry.state_id for entry in report.entries] == ["10", "9", "B", "a", "b"]
    assert list_report(inspected(*stored[::-1]), SCOPE, KEY) == report


def test_a_write_to_a_foreign_scope_does_not_tell_whether_there_is_room() -> None:
    """Room depends on whether a record would be replaced, so it would tell that there is one."""
    for actor in NEAR[1:]:
        answers = {
            decide_write(
                actor, record(), WritePolicy(), None, now_ns=0, highest_seen_ns=0, room=room
            )
            for room in (Room(0, 0), Room(1, 1 << 30), None)
        }
        assert len(answers) == 1


def test_a_foreign_record_is_rejected_before_any_input_is_returned() -> None:
    planner = SessionReplayPlanner()
    for actor in NEAR[1:]:
        full, bare = (
            planner.preview(actor, made)
            for made in (record(), record(turns=(), memory_anchors=(), profile=record().profile))
        )
        assert full == bare
        assert full.rejected
        assert full.blocked_reasons == ("state.cross_tenant",)
        assert full.retrieval_inputs == full.routing_inputs == full.gene_inputs == ()
        assert [full.profile, full.scope, full.state_digest] == [None, None, None]


@given(scopes, scopes, st.sampled_from(GateAction))
def test_a_notice_names_scopes_by_keyed_digests_alone(
    actor: TenantScope, target: TenantScope, action: GateAction
) -> None:
    notice = gate_notice(decide_access(actor, target, action), actor, target, KEY)
    assert (notice.actor_digest == notice.target_digest) == (actor == target)
    other = gate_notice(decide_access(actor, target, action), actor, target, OTHER_KEY)
    assert other.actor_digest != notice.actor_digest
    for part in (*actor.parts, *target.parts):
        if len(part) >= 8:
            assert part not in repr(notice)
