"""The store actor: what is answered when, and what happens when the log or the code fails."""

import threading

import pykka
import pytest
from runtime.fake_log import KEY, OTHER_KEY, WAIT_S, FakeLog, running, until

from turnfold.actors.config import Config
from turnfold.actors.messages import (
    AddTurn,
    CommandFailed,
    DeleteKey,
    ExpireSession,
    Flush,
    Flushed,
    GetContext,
    GetStats,
    Submit,
    Sync,
    Synced,
)
from turnfold.actors.reply import BlockingSlot
from turnfold.events.errors import (
    InvalidInput,
    NotErased,
    NotWritten,
    OutcomeUnknown,
    SessionEnded,
    StoreFailed,
    TurnIdConflict,
)
from turnfold.events.log.backend import Trimmed
from turnfold.events.turns import AvatarText


def say(text: str, **options: object) -> AddTurn:
    return AddTurn(KEY, AvatarText(text), **options)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # options of the message


def positions(log: FakeLog) -> list[int]:
    return [frame.first + at for frame in log.frames for at in range(frame.count)]


# --- what is answered when -------------------------------------------------------------------


def test_a_turn_is_answered_and_seen_only_after_the_sync_that_covers_it() -> None:
    with running() as store:
        store.log.open_gate.clear()
        future = store.ref.ask(say("first"), block=False)
        assert store.log.at_gate.wait(WAIT_S)

        with pytest.raises(pykka.Timeout):
            future.get(timeout=0)
        assert store.ref.ask(GetContext(KEY)).session_id is None

        store.log.open_gate.set()
        receipt = future.get(timeout=WAIT_S)
        assert receipt.durable
        assert store.ref.ask(GetContext(KEY)).position == receipt.position


def test_a_duplicate_waits_for_the_batch_that_it_was_decided_on() -> None:
    with running() as store:
        store.log.open_gate.clear()
        blocker = store.ref.ask(say("so that the next two share a batch"), block=False)
        assert store.log.at_gate.wait(WAIT_S)
        store.log.sync_faults = [None, OutcomeUnknown("the disk failed")]
        first = store.ref.ask(say("same", turn_id="t1"), block=False)
        again = store.ref.ask(say("same", turn_id="t1"), block=False)
        conflict = store.ref.ask(say("other", turn_id="t1"), block=False)

        store.log.open_gate.set()

        assert blocker.get(timeout=WAIT_S).durable
        for future in (first, again, conflict):
            with pytest.raises(OutcomeUnknown):
                future.get(timeout=WAIT_S)


def test_refusals_of_one_batch_are_answered_with_their_own_reason() -> None:
    with running() as store:
        receipt = store.ref.ask(say("one", turn_id="t1"))
        assert store.ref.ask(say("one", turn_id="t1")).duplicate
        with pytest.raises(TurnIdConflict):
            store.ref.ask(say("two", turn_id="t1"))
        store.ref.ask(ExpireSession(KEY))
        with pytest.raises(SessionEnded, match=r"expired\.operator"):
            store.ref.ask(say("late", session=receipt.session_id))
        assert store.ref.ask(GetStats()).refused == 2


def test_with_durability_flush_a_receipt_is_not_durable_until_a_sync() -> None:
    with running(Config(durability="flush")) as store:
        store.log.open_gate.clear()  # no watermark's sync gets through meanwhile
        receipt = store.ref.ask(say("soon"))
        assert not receipt.durable
        assert store.ref.ask(GetContext(KEY)).position == receipt.position

        store.log.open_gate.set()
        assert store.ref.ask(Sync()) == Synced(receipt.position)
        assert store.ref.ask(say("soon", turn_id=None)).position > receipt.position


# --- batches that fail -------------------------------------------------------------------------


def test_a_batch_that_was_not_written_leaves_no_trace_and_the_store_goes_on() -> None:
    with running() as store:
        before = store.ref.ask(say("kept", turn_id="t0"))
        store.log.append_faults = [NotWritten("no space left")]

        with pytest.raises(NotWritten):
            store.ref.ask(say("lost", turn_id="t1"))

        assert store.ref.ask(GetContext(KEY)).position == before.position
        again = store.ref.ask(say("lost", turn_id="t1"))
        assert not again.duplicate
        assert again.position == before.position + 1
        assert positions(store.log) == list(range(1, again.position + 1))


def test_on_a_full_disk_turns_fail_and_expiry_and_deletion_still_work() -> None:
    with running() as store:
        store.ref.ask(say("old"))
        store.ref.ask(AddTurn(OTHER_KEY, AvatarText("older")))
        store.log.full = True
        store.log.open_gate.clear()
        blocker = store.ref.ask(ExpireSession(OTHER_KEY), block=False)
        assert store.log.at_gate.wait(WAIT_S)
        turn = store.ref.ask(say("no room"), block=False)
        deletion = store.ref.ask(DeleteKey(KEY), block=False)
        store.log.open_gate.set()

        assert blocker.get(timeout=WAIT_S).expired
        with pytest.raises(NotWritten):
            turn.get(timeout=WAIT_S)
        assert deletion.get(timeout=WAIT_S).sessions == 1
        assert store.ref.ask(GetContext(KEY)).previous_ended is not None


def test_a_failed_sync_poisons_the_store_and_is_never_tried_again() -> None:
    with running() as store:
        kept = store.ref.ask(say("kept"))
        store.log.sync_faults = [OutcomeUnknown("the disk failed")]
        with pytest.raises(OutcomeUnknown):
            store.ref.ask(say("unknown"))
        syncs = store.log.syncs

        for message in (say("refused"), Sync(), Flush(), DeleteKey(KEY)):
            with pytest.raises(StoreFailed):
                store.ref.ask(message)

        assert store.ref.ask(GetContext(KEY)).position == kept.position
        assert store.ref.ask(GetStats()).failed
        assert store.log.syncs == syncs


def test_an_unexpected_error_answers_store_failed_to_everything_pending() -> None:
    with running() as store:
        store.archive.open_gate.clear()
        store.ref.ask(say("text"))
        deletion = store.ref.ask(DeleteKey(KEY), block=False)
        assert store.archive.at_gate.wait(WAIT_S)
        store.log.append_faults = [RuntimeError("a secret text")]

        with pytest.raises(StoreFailed) as failed:
            store.ref.ask(say("more"))
        assert "secret" not in str(failed.value)
        with pytest.raises(StoreFailed):
            deletion.get(timeout=WAIT_S)
        with pytest.raises(StoreFailed):
            store.ref.ask(say("later"))


def test_a_base_exception_in_the_store_actor_stops_no_other_actor() -> None:
    class Bystander(pykka.ThreadingActor):
        pass

    bystander = Bystander.start()
    try:
        with running() as store:
            store.log.append_faults = [SystemExit()]
            with pytest.raises(StoreFailed):
                store.ref.ask(say("text"))
            assert bystander.is_alive()
    finally:
        bystander.stop()


# --- what did not pass the door ------------------------------------------------------------------


def test_a_message_sent_to_the_actor_itself_is_refused() -> None:
    with running() as store:
        raw = store.supervisor.door._actor  # pyright: ignore[reportPrivateUsage]  # what nobody should use

        answer = raw.ask(say("raw"), timeout=WAIT_S)
        assert isinstance(answer, CommandFailed)
        assert isinstance(answer.error, InvalidInput)

        slot = BlockingSlot()
        request, single = store.supervisor.door.request(say("forged"))
        store.supervisor.door.admission.enter(0)  # the store gives it back
        raw.tell(Submit(request, slot, single, object()))
        with pytest.raises(InvalidInput, match="door"):
            slot.wait(WAIT_S)
        assert store.ref.ask(say("proper")).durable


# --- time -----------------------------------------------------------------------------------------


def test_an_overdue_session_is_hidden_before_any_sweep_and_swept_by_a_tick() -> None:
    with running() as store:
        first = store.ref.ask(say("hello"))
        store.move(30 * 60 - 1)
        assert store.ref.ask(GetContext(KEY)).session_id == first.session_id
        store.move(1)
        context = store.ref.ask(GetContext(KEY))
        assert context.session_id is None
        assert context.previous_ended is not None
        until(lambda: store.ref.ask(GetStats()).active_sessions == 0)


def test_the_next_turn_after_expiry_starts_a_new_session_in_one_frame() -> None:
    with running() as store:
        first = store.ref.ask(say("hello"))
        store.move(30 * 60)
        second = store.ref.ask(say("again"))
        assert second.session_id != first.session_id
        assert store.ref.ask(GetContext(KEY)).session_id == second.session_id


def test_a_watermark_follows_the_last_batch() -> None:
    with running() as store:
        store.ref.ask(say("hello"))
        with store.log.changed:
            assert store.log.changed.wait_for(lambda: store.log.marks > 0, WAIT_S)
        marks = store.log.marks
        store.ref.ask(say("more"))
        with store.log.changed:
            assert store.log.changed.wait_for(lambda: store.log.marks > marks, WAIT_S)


# --- upkeep ---------------------------------------------------------------------------------------


def test_a_deletion_is_answered_after_the_erasure_is_recorded() -> None:
    with running() as store:
        store.ref.ask(say("text"))
        store.archive.open_gate.clear()
        deletion = store.ref.ask(DeleteKey(KEY), block=False)
        assert store.archive.at_gate.wait(WAIT_S)
        assert store.ref.ask(GetContext(KEY)).session_id is None
        with pytest.raises(pykka.Timeout):
            deletion.get(timeout=0)

        store.archive.open_gate.set()
        receipt = deletion.get(timeout=WAIT_S)
        assert (receipt.sessions, receipt.erased_bytes) == (1, 50)
        assert store.archive.emptied == 1
        assert store.ref.ask(GetStats()).erasures_pending == 0
        assert store.log.durable == store.log.position


def test_a_failed_erasure_fails_the_deletion_and_stays_pending() -> None:
    with running() as store:
        store.ref.ask(say("text"))
        store.archive.faults = [OSError(28, "No space left on device")]
        with pytest.raises(NotErased, match="delete again"):
            store.ref.ask(DeleteKey(KEY))
        assert store.ref.ask(GetStats()).erasures_pending == 1
        store.ref.ask(DeleteKey(KEY))
        assert store.ref.ask(GetStats()).erasures_pending == 0


def test_a_sync_that_fails_under_an_erasures_record_poisons_the_store() -> None:
    with running() as store:
        store.ref.ask(say("text"))
        store.archive.open_gate.clear()
        deletion = store.ref.ask(DeleteKey(KEY), block=False)
        assert store.archive.at_gate.wait(WAIT_S)
        store.log.sync_faults = [OutcomeUnknown("the disk failed")]
        store.archive.open_gate.set()
        with pytest.raises(OutcomeUnknown):
            deletion.get(timeout=WAIT_S)
        with pytest.raises(StoreFailed):
            store.ref.ask(say("later"))


def test_a_flush_whose_erasure_fails_says_so() -> None:
    with running() as store:
        store.ref.ask(say("text"))
        store.ref.ask(ExpireSession(KEY))
        store.archive.faults = [OSError(28, "No space left on device")]
        with pytest.raises(NotWritten):
            store.ref.ask(Flush())
        assert store.ref.ask(Flush()).erased == 1


def test_a_flush_erases_what_is_due_and_writes_a_generation_once() -> None:
    with running() as store:
        store.ref.ask(say("text"))
        store.ref.ask(ExpireSession(KEY))
        position = store.log.position

        flushed = store.ref.ask(Flush())

        assert isinstance(flushed, Flushed)
        assert (flushed.generation, flushed.erased) == (position, 1)
        assert store.ref.ask(GetStats()).erasures_pending == 0
        assert store.ref.ask(Flush()).generation == position  # bookkeeping alone causes none
        assert len(store.archive.generations) == 1


def test_flushes_that_come_together_are_all_answered() -> None:
    with running() as store:
        store.ref.ask(say("text"))
        store.archive.open_gate.clear()
        futures = [store.ref.ask(Flush(), block=False) for _ in range(5)]
        store.archive.open_gate.set()
        assert {type(future.get(timeout=WAIT_S)) for future in futures} == {Flushed}


def test_expired_text_is_erased_when_its_time_is_up() -> None:
    with running(Config(erase_after_s=60)) as store:
        store.ref.ask(say("text"))
        store.ref.ask(ExpireSession(KEY))
        assert store.ref.ask(GetStats()).erasures_pending == 1
        store.move(60)
        until(lambda: store.ref.ask(GetStats()).erasures_pending == 0)


def test_a_generation_is_written_after_each_interval_if_something_changed() -> None:
    with running(Config(generation_interval_s=60)) as store:
        store.ref.ask(say("text"))
        store.move(60)
        until(lambda: len(store.archive.generations) == 1)


def test_the_log_is_trimmed_only_after_its_event_is_durable() -> None:
    with running() as store:
        log, archive = store.log, store.archive
        store.ref.ask(say("text"))
        archive.trimmed = Trimmed(first_kept=2, head=bytes(32), segments=3, size=100)
        archive.at_trim = lambda: (log.durable, log.position)
        assert store.ref.ask(Flush()).trimmed == 3
        durable, position = archive.seen_at_trim
        assert durable == position > 0


def test_more_than_a_thousand_pending_erasures_are_carried_out_at_once() -> None:
    with running() as store:
        for _ in range(1025):
            store.ref.tell(say("text"))
            store.ref.tell(ExpireSession(KEY))
        store.ref.ask(Sync())
        until(lambda: store.ref.ask(GetStats()).erasures_pending <= 1024)
        assert len(store.archive.erased) >= 1


def test_threads_that_add_at_once_get_positions_without_gap_or_duplicate() -> None:
    got: list[int] = []

    def add() -> None:
        got.extend(store.ref.ask(say("text")).position for _ in range(25))

    with running() as store:
        threads = [threading.Thread(target=add) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(got)) == 200
        assert positions(store.log) == list(range(1, store.log.position + 1))
