"""Session state in a running store: what is written, what survives, and what goes with what."""

import json
import threading
from itertools import product
from pathlib import Path

import attrs
import pytest
from domain.session_state_cases import (
    APPROVAL,
    GENE,
    MEMORY,
    NOW_NS,
    SCOPE,
    record,
    turn,
)
from runtime.fake_log import SteppedClock
from runtime.state_rig import (
    FOREIGN,
    SPOKEN,
    every_byte,
    files,
    of_conversation,
    opened,
    settled,
    wrote,
)

from turnfold.actors.async_store import AsyncConversationStore
from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.messages import AddTurn
from turnfold.actors.state_store import AsyncSessionStateStore, SessionStateStore
from turnfold.events.commands import DeleteState, RecordState
from turnfold.events.errors import ConversationsDisabled, InvalidInput, InvalidStateRecord
from turnfold.events.limits import MIB, Limits
from turnfold.events.session_state import (
    Blocker,
    OperatorApproval,
    SessionStateKey,
    SessionStateRecord,
    TenantScope,
)
from turnfold.events.turns import AgentResponse, AvatarText, ToolSummary, Turn

LIKE_A_TOKEN = "gh" + "p_" + "a1B2" * 9
SENTINEL = "zanzibar-sentinel"

# --- nothing by default ----------------------------------------------------------------------


def test_by_default_nothing_is_written_and_every_file_stays_as_it_is(tmp_path: Path) -> None:
    with opened(tmp_path, durable_writes_enabled=False) as store:
        states = SessionStateStore(store)
        before = settled(tmp_path)
        report = states.write(SCOPE, record())
        assert report.blocked_reasons == ("state.writes_disabled", "state.not_approved")
        assert not report.applied
        assert report.preview_only
        assert states.read(SCOPE, record().key).blockers == (Blocker.UNAVAILABLE,)
        assert states.list(SCOPE).entries == ()
        assert not states.delete(SCOPE, record().key).applied
        assert files(tmp_path) == before
        assert store.stats().position == 1  # the opening


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
)


def missing_some(states: SessionStateStore, missing: set[Blocker]) -> SessionStateRecord:
    """A record of a conversation for which these conditions don't hold."""
    made = of_conversation(
        states,
        memory_anchors=() if Blocker.NO_MEMORY_ANCHOR in missing else [MEMORY],
        gene_anchors=() if Blocker.NO_GENE_ANCHOR in missing else [GENE],
        source_trace_ids=[LIKE_A_TOKEN] if Blocker.ID_LIKE_CREDENTIAL in missing else [],
    )
    made = attrs.evolve(made, turns=(turn(preview="short"),))
    return attrs.evolve(made, source=None) if Blocker.SOURCE_UNKNOWN in missing else made


@pytest.mark.parametrize("writes_enabled", [True, False])
@pytest.mark.parametrize("previews_allowed", [True, False])
@pytest.mark.parametrize("has_room", [True, False])
def test_of_all_combinations_of_conditions_only_the_whole_one_writes(
    *, writes_enabled: bool, previews_allowed: bool, has_room: bool
) -> None:
    """Each condition alone blocks, every missing one is reported, all together write."""
    configured = {
        Blocker.WRITES_DISABLED: writes_enabled,
        Blocker.PREVIEW_NOT_ALLOWED: previews_allowed,
        Blocker.RECORDS_FULL: has_room,
    }
    asked = [name for name in CONDITIONS if name not in configured]
    with opened(
        durable_writes_enabled=writes_enabled,
        previews_allowed=previews_allowed,
        limits=Limits(state_records=int(has_room)),
    ) as store:
        store.add_turn(SPOKEN, AvatarText("hello"))
        states = SessionStateStore(store)
        for holds in product([False, True], repeat=len(asked)):
            held = configured | dict(zip(asked, holds, strict=True))
            missing = {name for name in CONDITIONS if not held[name]}
            position = store.stats().position
            report = states.write(
                FOREIGN if Blocker.CROSS_TENANT in missing else SCOPE,
                missing_some(states, missing),
                None if Blocker.NOT_APPROVED in missing else APPROVAL,
            )
            if Blocker.CROSS_TENANT in missing:  # what depends on stored state isn't told
                missing -= {Blocker.RECORDS_FULL}
            assert set(report.blockers) == missing
            assert report.applied == (not missing)
            assert (store.stats().position > position) == (not missing)


# --- what is written -------------------------------------------------------------------------


def test_a_written_record_is_read_listed_previewed_and_deleted() -> None:
    with opened() as store:
        states = SessionStateStore(store)
        report = wrote(states, record())
        assert report.state_digest == record().state_digest
        read = states.read(SCOPE, record().key)
        assert read.record == record()
        assert read.record is not None
        assert not read.record.write_allowed
        (entry,) = states.list(SCOPE).entries
        assert (entry.state_id, entry.turn_count) == ("state-1", 2)
        inputs = states.preview(SCOPE, read.record, max_inputs=1)
        assert [one.reference_id for one in inputs.retrieval_inputs] == ["memory:1"]
        assert inputs.omitted == 4

        wrote(states, record(source_trace_ids=()))  # replaces it
        assert states.read(SCOPE, record().key).record == record(source_trace_ids=())
        assert states.delete(SCOPE, record().key).applied
        assert states.delete(SCOPE, record().key).blockers == (Blocker.UNAVAILABLE,)
        assert states.preview(SCOPE, states.read(SCOPE, record().key).record).rejected


def test_a_write_is_durable_when_it_is_answered_also_with_durability_flush(tmp_path: Path) -> None:
    with opened(tmp_path, durability="flush") as store:
        wrote(SessionStateStore(store), record())
        assert store.stats().durable == store.stats().position


def test_records_of_many_threads_are_all_there() -> None:
    with opened() as store:
        states = SessionStateStore(store)
        made = [record(state_id=f"state-{number}") for number in range(32)]
        threads = [threading.Thread(target=wrote, args=(states, one)) for one in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(states.list(SCOPE).entries) == 32
        assert all(states.read(SCOPE, one.key).record == one for one in made)


def test_what_is_full_is_refused_and_says_so() -> None:
    with opened(limits=Limits(state_records=1)) as store:
        states = SessionStateStore(store)
        wrote(states, record())
        report = states.write(SCOPE, record(state_id="two"), APPROVAL)
        assert report.blockers == (Blocker.RECORDS_FULL,)
        wrote(states, record())


def test_nobody_gets_past_the_gate_through_the_stores_door() -> None:
    """The commands behind a write and a deletion are not messages."""
    with opened() as store:
        command = RecordState(record(), bytes(16), bytes(16), APPROVAL, NOW_NS)
        for message in (command, DeleteState(bytes(16))):
            with pytest.raises(InvalidInput):
                store.ref.ask(message)


def test_arguments_of_another_type_are_refused_by_name() -> None:
    class Everyone(TenantScope):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = TenantScope.__hash__

    with opened() as store:
        states = SessionStateStore(store)
        everyone = Everyone("a", "b", "c")
        with pytest.raises(InvalidStateRecord, match="actor_scope"):
            states.read(everyone, record().key)
        with pytest.raises(InvalidStateRecord, match="actor_scope"):
            states.list(everyone)
        with pytest.raises(InvalidStateRecord, match="approval"):
            states.write(SCOPE, record(), True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # a flag is no approval


# --- the clock -------------------------------------------------------------------------------


def test_an_approval_is_in_force_from_its_first_to_before_its_last_moment() -> None:
    for wall_ns, blockers in (
        (APPROVAL.at_ns - 1, (Blocker.APPROVAL_NOT_STARTED,)),
        (APPROVAL.at_ns, ()),
        (APPROVAL.until_ns - 1, ()),
        (APPROVAL.until_ns, (Blocker.APPROVAL_EXPIRED,)),
    ):
        with opened(wall_ns=wall_ns) as store:
            assert SessionStateStore(store).write(SCOPE, record(), APPROVAL).blockers == blockers


def test_a_clock_moved_back_in_an_open_store_revives_no_approval() -> None:
    clock = SteppedClock(APPROVAL.until_ns)
    settings = Config(durable_writes_enabled=True)
    with ConversationStore(settings, clock=clock) as store:
        states = SessionStateStore(store)
        clock.advance_to(NOW_NS)
        expired = (Blocker.APPROVAL_EXPIRED,)
        assert states.write(SCOPE, record(), APPROVAL).blockers == expired
        longer = OperatorApproval("operator-7", at=NOW_NS, until=APPROVAL.until_ns + 1)
        assert states.write(SCOPE, record(), longer).applied


@pytest.mark.parametrize("flushes", [False, True])
def test_a_clock_moved_back_between_openings_revives_no_approval(
    tmp_path: Path, *, flushes: bool
) -> None:
    """What an opening has seen is kept, though its last sign is a watermark or a generation."""
    clock = SteppedClock(NOW_NS)
    settings = Config(storage_path=tmp_path, persistence_enabled=True, durable_writes_enabled=True)
    with ConversationStore(settings, clock=clock) as store:
        store.add_turn(SPOKEN, AvatarText("hello"))
        clock.advance_to(APPROVAL.until_ns)
    for _ in range(3):
        with opened(tmp_path, wall_ns=NOW_NS) as store:
            blockers = SessionStateStore(store).write(SCOPE, record(), APPROVAL).blockers
            assert blockers == (Blocker.APPROVAL_EXPIRED,)
            store.add_turn(SPOKEN, AvatarText("again"))
            if flushes:
                store.flush()


# --- what survives ---------------------------------------------------------------------------


def test_records_survive_a_restart_generations_erasure_and_trimming(tmp_path: Path) -> None:
    small = Limits(log_bytes=MIB, generation_bytes=32 * MIB, aggregate_bytes=MIB)
    said = AvatarText("0123456789abcdef " * 400)
    with opened(tmp_path, limits=small) as store:
        states = SessionStateStore(store)
        store.add_turn(SPOKEN, AvatarText("hello"))
        derived = of_conversation(states)
        for made in (record(), derived):
            wrote(states, made)
        store.flush()
        other = attrs.evolve(SPOKEN, channel="public_chat")
        log = tmp_path / "conversations" / "log"
        first = min(log.iterdir())
        while first.exists():  # trimmed by a flush, or by itself
            store.add_turns(other, [said] * 50)
            store.delete(other)
            store.flush()
    for _ in range(2):
        with opened(tmp_path, limits=small) as store:
            states = SessionStateStore(store)
            assert states.read(SCOPE, record().key).record == record()
            assert states.read(SCOPE, derived.key).record == derived
            assert len(states.list(SCOPE).entries) == 2
            store.flush()
    with opened(tmp_path, limits=small) as store:
        assert store.delete(SPOKEN).session_states == 1
        assert SessionStateStore(store).read(SCOPE, derived.key).record is None


def recorded_chat(folder: Path) -> list[Turn]:
    """The turns of the first avatar in the recorded chat."""
    with (folder / "data" / "direct_im.jsonl").open(encoding="utf-8") as lines:
        chat = [json.loads(line) for line in lines]
    turns: list[Turn] = []
    for line in chat[:200]:
        if line["avatar"] != chat[0]["avatar"]:
            continue
        if line["kind"] == "agent_response":
            turns.append(AgentResponse(line["text"]))
        elif line["kind"] == "avatar_text":
            turns.append(AvatarText(line["text"]))
        else:
            turns.append(ToolSummary(line["tool"] or "tool", line["text"]))
    return turns


def test_the_preview_of_recorded_chat_is_the_same_after_a_restart_and_changes_no_file(
    tmp_path: Path, shared_data: Path
) -> None:
    turns = recorded_chat(shared_data)
    assert len(turns) > 10
    with opened(tmp_path) as store:
        states = SessionStateStore(store)
        store.add_turns(SPOKEN, turns)
        made = of_conversation(states)
        assert len(made.turns) == len(turns)
        wrote(states, made)
        before = settled(tmp_path)
        preview = states.preview(SCOPE, states.read(SCOPE, made.key).record)
        assert files(tmp_path) == before
        for said in turns:
            assert not said.text.encode() or said.text.encode() not in made.encoded
    assert [one.reference_id for one in preview.retrieval_inputs] == [MEMORY.anchor_id]
    assert [one.reference_id for one in preview.routing_inputs] == ["coding"]
    assert [one.reference_id for one in preview.gene_inputs] == [GENE.anchor_id]
    with opened(tmp_path) as store:
        states = SessionStateStore(store)
        before = settled(tmp_path)
        assert states.preview(SCOPE, states.read(SCOPE, made.key).record) == preview
        assert files(tmp_path) == before


# --- conversations ---------------------------------------------------------------------------


def test_deleting_a_conversation_deletes_and_erases_what_was_derived_from_it(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, previews_allowed=True) as store:
        states = SessionStateStore(store)
        store.add_turn(SPOKEN, AvatarText("hello"))
        made = of_conversation(states)
        shown = turn(preview=f"a preview with the {SENTINEL}")
        made = attrs.evolve(made, turns=(*made.turns, shown))
        wrote(states, made)
        wrote(states, record())
        store.flush()
        assert SENTINEL.encode() in every_byte(tmp_path)  # in the log and in a generation

        receipt = store.delete(SPOKEN)
        assert receipt.session_states == 1
        assert states.read(SCOPE, made.key).blockers == (Blocker.UNAVAILABLE,)
        assert states.read(SCOPE, record().key).record == record()
        assert SENTINEL.encode() not in every_byte(tmp_path)
        late = states.write(SCOPE, made, APPROVAL)
        assert late.blockers == (Blocker.SOURCE_GONE,)
    with opened(tmp_path, previews_allowed=True) as store:
        late = SessionStateStore(store).write(SCOPE, made, APPROVAL)
        assert late.blockers == (Blocker.SOURCE_GONE,)
        assert SENTINEL.encode() not in every_byte(tmp_path)


def test_a_deleted_or_replaced_record_is_erased_from_every_file(tmp_path: Path) -> None:
    with opened(tmp_path, previews_allowed=True) as store:
        states = SessionStateStore(store)
        wrote(states, record(turns=[turn(preview=f"one {SENTINEL}")]))
        store.flush()
        wrote(states, record(turns=[turn(preview=f"two {SENTINEL}")]))
        store.flush()
        assert states.delete(SCOPE, record().key).applied
        assert SENTINEL.encode() not in every_byte(tmp_path)


def test_a_record_that_was_read_is_written_again_with_its_source() -> None:
    with opened() as store:
        states = SessionStateStore(store)
        store.add_turn(SPOKEN, AvatarText("hello"))
        made = of_conversation(states)
        wrote(states, made)
        store.expire(SPOKEN)
        read = states.read(SCOPE, made.key).record
        assert read is not None
        unknown = states.write(SCOPE, read, APPROVAL)
        assert unknown.blockers == (Blocker.SOURCE_UNKNOWN,)
        wrote(states, states.with_source(read, SPOKEN))
        other = attrs.evolve(SPOKEN, channel="public_chat")
        with pytest.raises(InvalidStateRecord):
            states.with_source(read, other)
        forged = states.write(SCOPE, attrs.evolve(read, source=other), APPROVAL)
        assert forged.blockers == (Blocker.SOURCE_UNKNOWN,)
        assert store.delete(SPOKEN).session_states == 1


def test_a_conversation_that_is_not_live_gives_no_record() -> None:
    with opened() as store:
        states = SessionStateStore(store)
        with pytest.raises(InvalidStateRecord, match="not live"):
            of_conversation(states)
        store.add_turn(SPOKEN, AvatarText("hello"))
        store.expire(SPOKEN)
        with pytest.raises(InvalidStateRecord, match="not live"):
            of_conversation(states)


def test_a_store_without_transcripts_refuses_every_turn_and_keeps_session_state(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, enabled=False) as store:
        with pytest.raises(ConversationsDisabled):
            store.add_turn(SPOKEN, AvatarText(SENTINEL))
        with pytest.raises(ConversationsDisabled):
            store.ref.ask(AddTurn(SPOKEN, AvatarText(SENTINEL)))
        states = SessionStateStore(store)
        said = states.turn_digest(SENTINEL, turn_id="turn-1", role="avatar", scope=SCOPE)
        assert states.matches(said, SENTINEL, SCOPE)
        assert not states.matches(said, SENTINEL, FOREIGN)
        wrote(states, record(turns=[said]))
    with opened(tmp_path, enabled=False) as store:
        assert SessionStateStore(store).read(SCOPE, record().key).record is not None
    assert SENTINEL.encode() not in every_byte(tmp_path)


# --- the gate's notices ----------------------------------------------------------------------


def test_each_decision_is_a_counter_and_a_notice_without_ids_and_no_event() -> None:
    with opened() as store:
        states = SessionStateStore(store)
        position = store.stats().position
        states.write(SCOPE, record())
        states.read(SCOPE, record().key)
        states.read(FOREIGN, record().key)
        states.list(SCOPE)
        states.preview(FOREIGN, record())
        states.delete(FOREIGN, record().key)
        assert states.decisions() == {
            "delete state.cross_tenant": 1,
            "list state.allowed": 1,
            "read state.allowed": 1,
            "read state.cross_tenant": 1,
            "replay state.cross_tenant": 1,
            "write state.not_approved": 1,
        }
        taken, noticed = states.gate_notices()
        assert (taken, len(noticed)) == (6, 6)
        assert noticed[1].actor_digest == noticed[1].target_digest
        assert noticed[2].actor_digest != noticed[2].target_digest == noticed[1].target_digest
        for part in (*SCOPE.parts, *FOREIGN.parts):
            assert f"'{part}'" not in repr(noticed)
        assert states.gate_notices(after=taken) == (6, ())
        states.list(SCOPE)
        assert len(states.gate_notices(after=taken)[1]) == 1
        assert SessionStateStore(store).decisions() == states.decisions()
        assert store.stats().position == position


# --- asyncio ---------------------------------------------------------------------------------


async def test_the_asynchronous_store_does_the_same() -> None:
    settings = Config(durable_writes_enabled=True)
    async with AsyncConversationStore(settings, clock=SteppedClock(NOW_NS)) as store:
        states = AsyncSessionStateStore(store)
        assert (await states.write(SCOPE, record())).blockers == (Blocker.NOT_APPROVED,)
        assert (await states.write(SCOPE, record(), APPROVAL)).applied
        read = await states.read(SCOPE, record().key)
        assert read.record == record()
        assert (await states.preview(SCOPE, read.record)).gene_inputs
        assert len((await states.list(SCOPE)).entries) == 1
        assert await states.find_error("no digest") is None
        await store.add_turn(SPOKEN, AvatarText("hello"))
        made = await states.from_conversation(
            SPOKEN, scope=SCOPE, profile=record().profile, memory_anchors=[], gene_anchors=[]
        )
        assert len(made.turns) == 1
        assert (await states.rotate_key()).startswith("k2-")
        assert (await states.delete(SCOPE, record().key)).applied
        assert (await states.read(SCOPE, SessionStateKey(SCOPE, "state-1"))).record is None
