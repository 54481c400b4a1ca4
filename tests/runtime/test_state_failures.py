"""Session state where the disk fails: whole or absent, and deletions go on."""

from typing import Any

import pytest
from domain.session_state_cases import APPROVAL, SCOPE, record
from runtime.fake_log import WAIT_S, Running, running
from runtime.state_rig import config

from turnfold.actors.messages import GetStats
from turnfold.actors.reply import FutureSlot
from turnfold.events.commands import Command
from turnfold.events.errors import NotWritten, OutcomeUnknown, StoreBusy, StoreClosed, StoreFailed
from turnfold.events.limits import Limits
from turnfold.events.session_state import Blocker, OperatorApproval, SessionStateRecord

FOR_LONG = OperatorApproval("operator-7", at=0, until=APPROVAL.until_ns * 2)


def write_command(store: Running, made: SessionStateRecord) -> Command:
    blockers, command = store.supervisor.state_access.desk.decide_write(SCOPE, made, FOR_LONG)
    assert command is not None, blockers
    return command


def call(store: Running, command: Command, timeout: float | None = WAIT_S) -> Any:
    return store.supervisor.door.call(command, False, timeout)


def sent(store: Running, command: Command) -> FutureSlot:
    """Send without waiting."""
    slot = FutureSlot()
    store.supervisor.door.post(command, False, slot)
    return slot


def read(store: Running) -> SessionStateRecord | None:
    return store.supervisor.state_access.desk.read(SCOPE, record().key).record


def test_a_record_is_answered_and_seen_only_after_the_sync_that_covers_it() -> None:
    with running(config(durability="flush")) as store:
        store.log.open_gate.clear()
        slot = sent(store, write_command(store, record()))
        assert store.log.at_gate.wait(WAIT_S)
        assert read(store) is None
        store.log.open_gate.set()
        assert slot.future.get(timeout=WAIT_S).applied
        assert read(store) == record()


def test_a_write_that_finds_no_space_leaves_no_trace_and_a_deletion_still_works() -> None:
    with running(config()) as store:
        call(store, write_command(store, record()))
        store.log.full = True
        with pytest.raises(NotWritten):
            call(store, write_command(store, record(source_trace_ids=())))
        assert read(store) == record()
        delete = store.supervisor.state_access.desk.delete_command(SCOPE, record().key)
        assert call(store, delete).applied
        assert read(store) is None
        store.log.full = False
        assert call(store, write_command(store, record())).applied


def test_a_failed_sync_is_an_unknown_outcome_and_reads_go_on() -> None:
    with running(config()) as store:
        call(store, write_command(store, record()))
        store.log.sync_faults = [OutcomeUnknown("the disk failed")]
        with pytest.raises(OutcomeUnknown):
            call(store, write_command(store, record(source_trace_ids=())))
        with pytest.raises(StoreFailed):
            call(store, write_command(store, record()))
        assert read(store) == record()


def test_a_deletion_is_answered_after_its_erasure_is_recorded() -> None:
    with running(config()) as store:
        call(store, write_command(store, record()))
        store.archive.open_gate.clear()
        delete = store.supervisor.state_access.desk.delete_command(SCOPE, record().key)
        slot = sent(store, delete)
        assert store.archive.at_gate.wait(WAIT_S)
        assert read(store) is None
        assert store.ref.ask(GetStats()).erasures_pending == 1
        store.archive.open_gate.set()
        assert slot.future.get(timeout=WAIT_S).applied
        assert store.ref.ask(GetStats()).erasures_pending == 0
        assert store.log.durable == store.log.position


def test_a_write_that_timed_out_is_whole_when_it_is_there() -> None:
    with running(config()) as store:
        store.log.open_gate.clear()
        with pytest.raises(StoreBusy):
            call(store, write_command(store, record()), timeout=0)
        store.log.open_gate.set()
        assert call(store, write_command(store, record())).applied  # again: it replaces itself
        assert read(store) == record()


def test_an_approval_that_runs_out_on_the_way_is_noticed_by_the_store() -> None:
    with running(config()) as store:
        command = write_command(store, record())
        position = store.log.position
        store.clock.advance_to(FOR_LONG.until_ns)
        report = call(store, command)
        assert report.blockers == (Blocker.APPROVAL_EXPIRED,)
        assert not report.applied
        assert store.log.position == position


def test_of_two_writes_that_both_found_the_last_room_one_is_refused() -> None:
    with running(config(limits=Limits(state_records=1))) as store:
        commands = [write_command(store, record(state_id=f"state-{n}")) for n in range(2)]
        store.log.open_gate.clear()
        slots = [sent(store, command) for command in commands]
        store.log.open_gate.set()
        reports = [slot.future.get(timeout=WAIT_S) for slot in slots]
        assert [report.applied for report in reports] == [True, False]
        assert reports[1].blockers == (Blocker.RECORDS_FULL,)


def test_a_closed_store_writes_nothing() -> None:
    with running(config()) as store:
        command = write_command(store, record())
        store.supervisor.close()
        with pytest.raises(StoreClosed):
            call(store, command)
