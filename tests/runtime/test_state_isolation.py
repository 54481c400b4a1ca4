"""Two scopes never see each other: not in content, errors, sizes, steps taken or reads made."""

from collections.abc import Callable
from types import FrameType
from typing import Any

import attrs
import pytest
from domain.session_state_cases import APPROVAL, NOW_NS, record, scopes, turn
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from runtime.state_rig import opened, wrote
from watching import watching

from turnfold.actors.clock import AgeClock, RecordedClock
from turnfold.actors.config import Config
from turnfold.actors.digest_keys import memory_keys
from turnfold.actors.names import KeyNames
from turnfold.actors.published_records import PublishedRecords
from turnfold.actors.state_desk import StateDesk
from turnfold.actors.state_store import SessionStateStore
from turnfold.events.commands import Entropy, Instant, RecordState
from turnfold.events.decide import decide
from turnfold.events.errors import InvalidStateRecord
from turnfold.events.evolve import evolve
from turnfold.events.session import StateRecord
from turnfold.events.session_state import (
    Blocker,
    SessionStateKey,
    SessionStateRecord,
    TenantScope,
    record_tag,
    scope_tag,
)
from turnfold.events.session_state.policy import like_credential
from turnfold.events.state import StoreState

SECRET = bytes(range(32))
STATE_ID = "latest"


def look_alikes(scope: TenantScope) -> list[TenantScope]:
    """Scopes that a careless comparison takes for the same."""
    tenant, workspace, session = scope.parts
    return [
        TenantScope(tenant.swapcase(), workspace, session),
        TenantScope(tenant, workspace.swapcase(), session),
        TenantScope(tenant, workspace, session.swapcase()),
        TenantScope(workspace, tenant, session),
        TenantScope(tenant, session, workspace),
        TenantScope(f"{tenant[:60]}:{workspace[:60]}", workspace, session),
        TenantScope(tenant, f"{workspace[:60]}:{session[:60]}", session),
        TenantScope(tenant[:127] + ".", workspace, session),
        TenantScope(tenant, workspace, session[:127] + "-"),
    ]


pairs = st.tuples(scopes, scopes) | scopes.flatmap(
    lambda scope: st.tuples(st.just(scope), st.sampled_from(look_alikes(scope)))
)


class CountingRecords(PublishedRecords):
    """Counts what is looked up."""

    __slots__ = ("lookups",)

    def __init__(self, state: StoreState) -> None:
        super().__init__(state)
        self.lookups: list[str] = []

    def get(self, tag: bytes) -> StateRecord | None:
        self.lookups.append("get")
        return super().get(tag)

    def of_scope(self, scope_tag: bytes) -> list[StateRecord]:
        self.lookups.append("of_scope")
        return super().of_scope(scope_tag)

    def every(self) -> list[StateRecord]:
        self.lookups.append("every")
        return super().every()


def state_with(*kept: SessionStateRecord) -> StoreState:
    """A store's state that holds these records."""
    state = StoreState()
    entropy = Entropy(lambda size: b"\x07" * size)
    for made in kept:
        command = RecordState(
            made, record_tag(SECRET, made.key), scope_tag(SECRET, made.scope), APPROVAL, NOW_NS
        )
        decision = decide(state, command, Instant(NOW_NS, 0), entropy, KeyNames(SECRET))
        for event in decision.events:
            evolve(state, event)
    state.commit()
    assert len(state.records) == len(kept)
    return state


def desk_with(*kept: SessionStateRecord) -> tuple[StateDesk, CountingRecords]:
    """A desk over a store that holds these records; everything else is always the same."""
    records = CountingRecords(state_with(*kept))
    desk = StateDesk(
        Config(durable_writes_enabled=True),
        records=records,
        find=lambda _tag: (None, None),
        clock=AgeClock(RecordedClock(NOW_NS), None),
        names=KeyNames(SECRET),
        secret=SECRET,
        keys=memory_keys(lambda size: b"\x09" * size),
    )
    return desk, records


def traced(work: Callable[[], Any]) -> tuple[Any, list[tuple[str, int]]]:
    """What `work` answers, and every line of Turnfold's that it ran."""
    steps: list[tuple[str, int]] = []

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if "turnfold" not in name:
            return None
        if event == "line":
            steps.append((name, frame.f_lineno))
        return trace

    with watching(trace, lines=True):
        try:
            answer = work()
        except InvalidStateRecord as error:
            answer = (type(error), str(error), error.blockers)
    return answer, steps


def outcomes(
    desk: StateDesk, records: CountingRecords, actor: TenantScope, key: SessionStateKey
) -> Any:
    """Everything that an actor can learn about a key: answers, steps and reads."""
    answers = [
        traced(lambda: desk.read(actor, key)),
        traced(lambda: desk.list(actor)),
        traced(lambda: desk.preview(actor, desk.read(actor, key).record, 8)),
        traced(lambda: desk.delete_command(actor, key)),
    ]
    return answers, list(records.lookups)


@settings(max_examples=40)
@given(pairs)
@example((TenantScope("a", "b", "c"), TenantScope("A", "b", "c")))
@example((TenantScope("a:b", "c", "d"), TenantScope("a", "b:c", "d")))
@example((TenantScope("a", "b.c", "d"), TenantScope("a.b", "c", "d")))
def test_nothing_that_an_actor_gets_depends_on_anothers_records(
    pair: tuple[TenantScope, TenantScope],
) -> None:
    """With and without the other's records: equal answers, lines run, and lookups."""
    owner, actor = pair
    assume(owner != actor)
    made = record(scope=owner, state_id=STATE_ID, turns=[turn()])
    own = record(scope=actor, state_id="own", turns=[])
    there = outcomes(*desk_with(made, own), actor, made.key)
    absent = outcomes(*desk_with(own), actor, made.key)
    assert there == absent
    answers, lookups = there
    assert all(len(steps) > 10 for _answer, steps in answers)  # it was traced
    assert lookups == ["get", "of_scope", "get"]  # each read is one lookup
    (read, _), (listed, _), (preview, _), (_command, _) = answers
    assert (read.record, read.blockers) == (None, (Blocker.UNAVAILABLE,))
    assert [entry.state_id for entry in listed.entries] == ["own"]
    assert preview.blockers == (Blocker.UNAVAILABLE,)


@settings(max_examples=25)
@given(pairs)
def test_a_miss_of_ones_own_and_anothers_record_look_the_same(
    pair: tuple[TenantScope, TenantScope],
) -> None:
    owner, actor = pair
    assume(owner != actor)
    desk, records = desk_with(record(scope=owner, state_id=STATE_ID, turns=[]))
    foreign = desk.read(actor, SessionStateKey(owner, STATE_ID))
    missed = desk.read(actor, SessionStateKey(actor, STATE_ID))
    assert foreign == missed
    assert repr(foreign) == repr(missed)
    assert records.lookups == ["get", "get"]


@settings(max_examples=15)
@given(pairs)
def test_a_foreign_write_or_delete_changes_and_tells_nothing(
    pair: tuple[TenantScope, TenantScope],
) -> None:
    owner, actor = pair
    assume(owner != actor)
    assume(not any(like_credential(part) for part in owner.parts))  # it couldn't be stored
    made = record(scope=owner, state_id=STATE_ID, turns=[])
    reports: list[Any] = []
    for stored in (True, False):
        with opened() as store:
            states = SessionStateStore(store)
            if stored:
                wrote(states, made)
            position = store.stats().position
            reports.append(
                (
                    states.write(actor, made, APPROVAL),
                    states.delete(actor, made.key),
                    states.delete(actor, SessionStateKey(actor, STATE_ID)),
                )
            )
            assert store.stats().position == position
            assert (states.read(owner, made.key).record == made) == stored
    assert reports[0] == reports[1]
    written, deleted, missed = reports[0]
    assert {blocker.reason.value for blocker in written.blockers} == {"state.cross_tenant"}
    assert deleted == missed


@pytest.mark.parametrize(
    "parts",
    [
        ("", "b", "c"),
        ("a", "", "c"),
        ("a", "b", ""),
        ("a/b", "c", "d"),
        ("a", "b\x00", "c"),
        ("\u00e9", "b", "c"),
        ("e\u0301", "b", "c"),
        ("\uff41", "b", "c"),
        ("a ", "b", "c"),
        ("..\\a", "b", "c"),
        ("a'--", "b", "c"),
        ("a" * 129, "b", "c"),
        (1, "b", "c"),
        (b"a", "b", "c"),
    ],
)
def test_a_scope_that_could_be_turned_into_another_can_not_be_made(parts: Any) -> None:
    with pytest.raises(InvalidStateRecord) as refused:
        TenantScope(*parts)
    assert set(refused.value.blockers) <= {"state.invalid.id", "state.invalid.type"}


def test_records_of_two_tenants_with_equal_ids_are_two() -> None:
    one, two = TenantScope("one", "w", "s"), TenantScope("two", "w", "s")
    with opened() as store:
        states = SessionStateStore(store)
        for scope in (one, two):
            wrote(
                states, record(scope=scope, state_id=STATE_ID, source_trace_ids=[scope.tenant_id])
            )
        for scope in (one, two):
            read = states.read(scope, SessionStateKey(scope, STATE_ID)).record
            assert read is not None
            assert read.source_trace_ids == (scope.tenant_id,)
            assert len(states.list(scope).entries) == 1
        assert states.delete(one, SessionStateKey(one, STATE_ID)).applied
        assert states.read(two, SessionStateKey(two, STATE_ID)).record is not None
        assert attrs.asdict(states.list(one))["entries"] == ()
