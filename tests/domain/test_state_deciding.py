"""Session-state records decided in the order of commands: approval, room, and the source's end."""

from typing import Any

import attrs
from domain.session_state_cases import APPROVAL, GENE, KEY, MEMORY, NOW_NS, PROFILE, SCOPE, record
from strategies import SMALL, counting_bytes

from turnfold.events.codec import decode_events, encode_events
from turnfold.events.commands import (
    AddTurns,
    Command,
    DeleteKey,
    DeleteState,
    Entropy,
    ExpireSession,
    Instant,
    RecordState,
    TurnToAdd,
)
from turnfold.events.decide import decide
from turnfold.events.event import (
    ContentErased,
    Event,
    SessionStateDeleted,
    SessionStateRecorded,
    StoreOpened,
)
from turnfold.events.evolve import evolve
from turnfold.events.keys import Channel, ConversationKey, pseudonym
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.notice import notices, whereabouts
from turnfold.events.reasons import Reason
from turnfold.events.restore import restore_from
from turnfold.events.session import KeyTag
from turnfold.events.session_state import (
    Blocker,
    SessionStateRecord,
    TenantScope,
    record_tag,
    scope_tag,
)
from turnfold.events.session_state.policy import RECORD_OVERHEAD_BYTES, stored_bytes
from turnfold.events.snapshot import capture, sealed_parts, skeleton, state_digest
from turnfold.events.state import StoreState
from turnfold.events.turns import AvatarText

SECRET = b"s" * 32
SPOKEN = ConversationKey("828f937f-5fe2-5d35-a368-a556b6fa9e23", Channel.DIRECT_IM)
OTHER = ConversationKey("828f937f-5fe2-5d35-a368-a556b6fa9e23", Channel.PUBLIC_CHAT)


def names(key: ConversationKey) -> KeyTag:
    return pseudonym(SECRET, key.avatar), key.channel.code


class Run:
    """A store without a disk. `now` is the time of the next command."""

    def __init__(self, limits: Limits = SMALL) -> None:
        self.state = StoreState()
        self.entropy = Entropy(counting_bytes())
        self.now = Instant(NOW_NS, 0)
        self.apply(
            StoreOpened(
                position=1,
                at=self.now.at,
                age=0,
                reason=Reason.OPENED_NEW,
                epoch=1,
                ruleset=1,
                limits=tuple(getattr(limits, name) for name in BOUNDS),
            )
        )

    def apply(self, *events: Event) -> None:
        for event in events:
            evolve(self.state, event)
        self.state.commit()

    def do(self, command: Command) -> tuple[tuple[Event, ...], Any]:
        """Decide, pass the events through their bytes, evolve."""
        decision = decide(self.state, command, self.now, self.entropy, names)
        events = decision.events
        if events:
            chained, payload = encode_events(events)
            assert decode_events(chained, events[0].position, payload) == events
        self.apply(*events)
        return events, decision.answer

    def say(self, key: ConversationKey = SPOKEN) -> int:
        """A turn's position."""
        (receipt,) = self.do(AddTurns(key, (TurnToAdd(AvatarText("hello")),)))[1]
        position: int = receipt.position
        return position

    def write(self, made: SessionStateRecord, **changes: Any) -> tuple[Blocker, ...]:
        """What blocked the write; empty if it was written."""
        command = RecordState(
            made, record_tag(SECRET, made.key), scope_tag(SECRET, made.scope), APPROVAL, NOW_NS
        )
        events, report = self.do(attrs.evolve(command, **changes))
        assert report.applied == bool(events)
        blockers: tuple[Blocker, ...] = report.blockers
        return blockers

    def stored(self, made: SessionStateRecord) -> bool:
        return record_tag(SECRET, made.key) in self.state.records


def derived(position: int | None, key: ConversationKey = SPOKEN) -> SessionStateRecord:
    """A record of a conversation, built when its newest turn had this position."""
    made = SessionStateRecord.from_conversation(
        [], key, scope=SCOPE, profile=PROFILE, memory_anchors=[MEMORY], gene_anchors=[GENE],
        digest_key=KEY,
    )  # fmt: skip
    return attrs.evolve(made, source_position=position)


# --- the approval ----------------------------------------------------------------------------


def test_an_approval_that_has_run_out_meanwhile_blocks() -> None:
    run = Run()
    run.now = Instant(NOW_NS + 10, 0)
    assert run.write(record()) == (Blocker.APPROVAL_EXPIRED,)
    assert not run.state.records


def test_a_clock_moved_back_revives_no_approval() -> None:
    run = Run()
    assert run.write(record(), seen_ns=NOW_NS + 10) == (Blocker.APPROVAL_EXPIRED,)
    run.now = Instant(NOW_NS + 20, 0)
    run.say()  # an event at a later time
    run.now = Instant(NOW_NS - 5, 0)
    run.say()
    assert run.state.at == NOW_NS - 5
    assert run.write(record()) == (Blocker.APPROVAL_EXPIRED,)


def test_the_latest_time_is_known_after_a_generation_and_from_what_an_opening_saw() -> None:
    run = Run()
    run.now = Instant(NOW_NS + 20, 0)
    run.say()
    run.now = Instant(NOW_NS, 0)
    run.say()
    captured = capture(run.state)
    payload = b"".join(part for _session, _position, part in sealed_parts(captured))
    restored = restore_from(skeleton(captured), payload)
    assert restored.highest_at == run.state.highest_at == NOW_NS + 20

    opened = StoreOpened(
        position=restored.position + 1, at=NOW_NS, age=0, reason=Reason.OPENED_CLEAN, epoch=2,
        ruleset=1, limits=tuple(getattr(SMALL, name) for name in BOUNDS), seen_at=NOW_NS + 50,
    )  # fmt: skip
    chained, sealed = encode_events([opened])
    evolve(restored, decode_events(chained, opened.position, sealed)[0])
    assert restored.highest_at == NOW_NS + 50


# --- room ------------------------------------------------------------------------------------


def test_records_fill_their_limits_exactly_and_a_replacement_counts_once() -> None:
    made = [record(state_id=f"state-{number}") for number in range(3)]
    cost = stored_bytes(made[0])
    run = Run(attrs.evolve(SMALL, state_records=3, state_bytes=2 * cost + cost - 1))
    assert run.write(made[0]) == run.write(made[1]) == ()
    assert run.write(made[2]) == (Blocker.BYTES_FULL,)
    assert run.write(made[1]) == ()  # in place of itself
    used = run.state.record_bytes + len(run.state.records) * RECORD_OVERHEAD_BYTES
    assert used == 2 * cost

    run = Run(attrs.evolve(SMALL, state_records=2, state_bytes=3 * cost))
    assert run.write(made[0]) == run.write(made[1]) == ()
    assert run.write(made[2]) == (Blocker.RECORDS_FULL,)
    run.do(DeleteState(record_tag(SECRET, made[0].key)))
    assert run.write(made[2]) == ()


def test_without_room_every_reason_is_named() -> None:
    run = Run(attrs.evolve(SMALL, state_records=0, state_bytes=0))
    run.now = Instant(NOW_NS + 99, 0)
    assert run.write(record()) == (
        Blocker.APPROVAL_EXPIRED,
        Blocker.RECORDS_FULL,
        Blocker.BYTES_FULL,
    )


# --- the conversation that a record comes from -----------------------------------------------


def test_a_record_of_a_live_conversation_is_stored_and_goes_with_it() -> None:
    run = Run()
    made = derived(run.say())
    assert run.write(made) == ()
    assert run.write(record()) == ()  # of no conversation
    run.do(DeleteKey(OTHER))
    assert run.stored(made)

    events, receipt = run.do(DeleteKey(SPOKEN))
    assert receipt.session_states == 1
    gone = [event for event in events if isinstance(event, SessionStateDeleted)]
    assert [event.reason for event in gone] == [Reason.STATE_SOURCE_DELETED]
    assert not run.stored(made)
    assert run.stored(record())


def test_a_late_write_brings_nothing_of_a_deleted_conversation_back() -> None:
    run = Run()
    made = derived(run.say())
    run.do(DeleteKey(SPOKEN))
    assert run.write(made) == (Blocker.SOURCE_GONE,)

    later = run.say()  # the same avatar talks again
    assert run.write(made) == (Blocker.SOURCE_GONE,)
    assert run.write(derived(later)) == ()


def test_a_deletion_is_not_forgotten_when_the_next_session_has_expired() -> None:
    run = Run()
    made = derived(run.say())
    run.do(DeleteKey(SPOKEN))
    run.say()
    run.do(ExpireSession(SPOKEN))
    assert run.write(made) == (Blocker.SOURCE_GONE,)


def test_the_end_of_a_session_that_nobody_deleted_blocks_nothing() -> None:
    run = Run()
    made = derived(run.say())
    run.do(ExpireSession(SPOKEN))
    assert run.write(made) == ()
    run.do(DeleteKey(SPOKEN))  # ended sessions included
    assert not run.stored(made)
    assert run.write(made) == (Blocker.SOURCE_GONE,)


def test_a_record_that_was_read_can_be_written_again_after_a_new_session_began() -> None:
    run = Run()
    assert run.write(derived(run.say())) == ()
    read_at = run.state.records[record_tag(SECRET, derived(None).key)].position
    run.do(ExpireSession(SPOKEN))
    run.say()
    assert run.write(derived(read_at)) == ()
    run.do(DeleteKey(SPOKEN))
    assert run.write(derived(read_at)) == (Blocker.SOURCE_GONE,)


def test_a_record_that_tells_no_position_or_an_unknown_conversation_is_refused() -> None:
    run = Run()
    run.say()
    assert run.write(derived(None)) == (Blocker.SOURCE_GONE,)
    assert run.write(derived(99, OTHER)) == (Blocker.SOURCE_GONE,)


# --- deletion, generations, notices ----------------------------------------------------------


def test_deleting_what_is_not_there_is_no_event() -> None:
    run = Run()
    events, report = run.do(DeleteState(bytes(16)))
    assert (events, report.applied, report.blockers) == ((), False, (Blocker.UNAVAILABLE,))


def test_replaced_and_deleted_payloads_are_due_for_erasure() -> None:
    run = Run()
    run.write(record())
    first = run.state.position
    run.write(record(source_trace_ids=()))
    second = run.state.position
    assert {due.positions for due in run.state.pending.values()} == {(first,)}
    run.do(DeleteState(record_tag(SECRET, record().key)))
    assert {due.positions for due in run.state.pending.values()} == {(first,), (second,)}
    assert run.state.record_bytes == 0


def test_records_come_through_a_generation() -> None:
    run = Run()
    run.write(derived(run.say()))
    run.write(record())
    captured = capture(run.state)
    payload = b"".join(part for _session, _position, part in sealed_parts(captured))
    restored = restore_from(skeleton(captured), payload)
    assert restored.records == run.state.records
    assert state_digest(capture(restored)) == state_digest(captured)
    assert len([one for one in restored.records.values() if one.source is not None]) == 1


def test_the_erasure_of_a_record_is_a_notice_about_no_key() -> None:
    run = Run()
    run.write(record())
    recorded = run.state.position
    run.do(DeleteState(record_tag(SECRET, record().key)))
    erased = ContentErased(
        position=run.state.position + 1, at=0, age=0, reason=Reason.ERASED_DELETED,
        session=recorded, through=recorded, payloads=1, erased_bytes=9,
    )  # fmt: skip
    (notice,) = notices([erased], whereabouts(run.state))
    assert not hasattr(notice, "first")
    assert (notice.reason, getattr(notice, "pseudonym", "")) == (Reason.ERASED_DELETED, None)


def test_an_event_of_a_record_names_nobody() -> None:
    run = Run()
    scope = TenantScope("tenant-name", "workspace-name", "session-name")
    made = record(scope=scope, state_id="state-name", turns=())
    command = RecordState(
        made, record_tag(SECRET, made.key), scope_tag(SECRET, scope), APPROVAL, NOW_NS
    )
    (event,), _ = run.do(command)
    assert isinstance(event, SessionStateRecorded)
    chained, payload = encode_events([event])
    digest = made.state_digest.encode()
    for spelled in (b"-name", digest, bytes.fromhex(made.state_digest[-64:])):
        assert spelled not in chained
        assert b"-name" in payload
    assert "-name" not in repr(event) + repr(command)
