"""Starting and ending: order, no thread left, no reply left."""

import threading
from itertools import chain
from typing import Any

import pykka
import pytest
from runtime.fake_log import KEY, WAIT_S, FakeArchive, FakeLog, Running, running, until

from turnfold.actors.bootstrap import event_reader
from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.messages import AddTurn, DeleteKey, Flush, GetStats, Sync
from turnfold.actors.subscriber import Subscriber
from turnfold.actors.unregistered import UnregisteredActor
from turnfold.events.errors import NotWritten, OutcomeUnknown, StoreClosed, StoreFailed
from turnfold.events.event import DamageFound, Gap
from turnfold.events.notice import Notice
from turnfold.events.reasons import Reason
from turnfold.events.turns import AvatarText


def own_threads() -> set[str]:
    return {t.name for t in threading.enumerate() if t.name.startswith("turnfold-")}


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Any:
    assert not own_threads()
    yield
    until(lambda: not own_threads())


def test_a_store_that_was_opened_and_closed_leaves_no_thread() -> None:
    for _ in range(5):
        with ConversationStore() as store:
            store.add_turn(KEY, AvatarText("x"))
            assert own_threads()
        assert not own_threads()


def test_a_store_is_not_in_pykkas_registry() -> None:
    with ConversationStore():
        assert pykka.ActorRegistry.get_all() == []
    with pytest.raises(RuntimeError, match="registry"):
        UnregisteredActor.start()


def test_an_opening_that_cannot_be_written_raises_and_leaves_no_thread() -> None:
    for fault in (NotWritten("full"), OutcomeUnknown("unknown"), RuntimeError("broken")):
        log = FakeLog()
        log.append_faults = [fault]
        expected = StoreFailed if isinstance(fault, RuntimeError) else type(fault)
        with pytest.raises(expected):
            Running(Config(), log, FakeArchive())
        assert log.closed
        assert not own_threads()


def test_closing_flushes_and_marks_the_logs_end() -> None:
    with running() as store:
        store.ref.ask(AddTurn(KEY, AvatarText("x")))
    assert len(store.archive.generations) == 1
    assert store.log.marks >= 1
    assert store.log.durable == store.log.position
    assert store.log.closed


def test_closing_makes_accepted_turns_durable_or_says_that_it_could_not() -> None:
    store = Running(Config(durability="flush"), FakeLog(), FakeArchive())
    store.log.open_gate.clear()  # the ticker's sync waits here
    store.ref.ask(AddTurn(KEY, AvatarText("accepted")))
    assert store.log.at_gate.wait(WAIT_S)
    store.log.sync_faults = [OutcomeUnknown("the disk failed")]
    closing = threading.Thread(target=_close_expecting, args=(store, []))
    closing.start()
    store.log.open_gate.set()
    closing.join()
    assert store.log.closed


def _close_expecting(store: Running, errors: list[BaseException]) -> None:
    try:
        store.supervisor.close()
    except OutcomeUnknown as error:
        errors.append(error)


def test_a_failed_last_sync_is_raised_by_close_after_everything_is_closed() -> None:
    store = Running(Config(durability="flush"), FakeLog(), FakeArchive())
    until(lambda: store.log.marks > 0)
    store.log.sync_faults = [OutcomeUnknown("the disk failed")]
    store.supervisor._ticker.stop()  # pyright: ignore[reportPrivateUsage]  # so that close syncs first
    store.ref.ask(AddTurn(KEY, AvatarText("accepted")))
    with pytest.raises(OutcomeUnknown):
        store.supervisor.close()
    assert store.log.closed
    store.supervisor.close()


def test_a_full_disk_at_close_keeps_nothing_open() -> None:
    with running() as store:
        store.ref.ask(AddTurn(KEY, AvatarText("x")))
        store.archive.faults = [OSError(28, "No space left on device")]
    assert store.log.closed
    assert store.archive.generations == []


def test_commands_in_flight_at_close_are_all_answered() -> None:
    """By a receipt or by StoreClosed; and nothing comes in afterwards."""
    with running() as store:
        outcomes: list[object] = []
        started = threading.Barrier(9)

        def keep_adding() -> None:
            started.wait()
            for number in range(10_000):
                try:
                    outcomes.append(store.ref.ask(AddTurn(KEY, AvatarText(f"{number}"))))
                except StoreClosed as error:
                    outcomes.append(error)
                    return

        threads = [threading.Thread(target=keep_adding) for _ in range(8)]
        for thread in threads:
            thread.start()
        started.wait()
        until(lambda: len(outcomes) > 50)
        store.supervisor.close()
        for thread in threads:
            thread.join(WAIT_S)
            assert not thread.is_alive()
        assert sum(isinstance(outcome, StoreClosed) for outcome in outcomes) == 8
        assert store.ref.ask(GetStats()).commands_in_flight == 0


def test_a_deletion_under_way_at_close_is_finished_first() -> None:
    with running() as store:
        store.ref.ask(AddTurn(KEY, AvatarText("x")))
        store.archive.open_gate.clear()
        deletion = store.ref.ask(DeleteKey(KEY), block=False)
        assert store.archive.at_gate.wait(WAIT_S)
        closing = threading.Thread(target=store.supervisor.close)
        closing.start()
        until(lambda: store.supervisor.door.admission._closed)  # pyright: ignore[reportPrivateUsage]  # close has begun
        store.archive.open_gate.set()
        closing.join(WAIT_S)
        assert deletion.get(timeout=WAIT_S).sessions == 1


def test_what_waits_in_the_background_when_the_store_is_poisoned_is_answered() -> None:
    with running() as store:
        store.ref.ask(AddTurn(KEY, AvatarText("x")))
        store.archive.open_gate.clear()
        flush = store.ref.ask(Flush(), block=False)
        assert store.archive.at_gate.wait(WAIT_S)
        store.log.sync_faults = [OutcomeUnknown("the disk failed")]
        with pytest.raises(OutcomeUnknown):
            store.ref.ask(AddTurn(KEY, AvatarText("y")))
        with pytest.raises(OutcomeUnknown):
            flush.get(timeout=WAIT_S)
        store.archive.open_gate.set()


def test_closing_from_many_threads_closes_once() -> None:
    with running() as store:
        threads = [threading.Thread(target=store.supervisor.close) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
            assert not thread.is_alive()


def test_a_failure_of_background_work_closes_the_store_to_commands() -> None:
    with running() as store:
        store.ref.ask(AddTurn(KEY, AvatarText("x")))
        store.archive.faults = [ZeroDivisionError()]
        with pytest.raises(StoreFailed):
            store.ref.ask(Flush())
        with pytest.raises(StoreFailed):
            store.ref.ask(AddTurn(KEY, AvatarText("y")))


def test_damage_that_a_reader_meets_is_recorded_once() -> None:
    with running() as store:
        for number in range(5):
            store.ref.ask(AddTurn(KEY, AvatarText(f"{number}")))
        store.log.missing = {4}
        read = event_reader(store.log, store.supervisor.damaged)
        for _ in range(3):
            assert Gap(4, 4, Reason.DAMAGE_UNDECLARED) in list(read(0))
        store.ref.ask(Sync())
        store.log.missing = ()
        frames = [frame for frame in read(0) if not isinstance(frame, Gap)]
        found = [event for event in chain(*frames) if isinstance(event, DamageFound)]
        assert [(event.first, event.last) for event in found] == [(4, 4)]


def test_a_system_exit_in_a_subscriber_changes_nothing_for_the_store() -> None:
    class Exiting(Subscriber):
        def on_notice(self, notice: Notice) -> None:
            met.set()
            raise SystemExit

    met = threading.Event()
    with running() as store:
        store.supervisor.feed.subscribe(Exiting)
        store.ref.ask(AddTurn(KEY, AvatarText("x")))
        assert met.wait(WAIT_S)
        assert store.ref.ask(AddTurn(KEY, AvatarText("y"))).durable


def test_a_subscriber_that_never_returns_keeps_nobody_from_closing() -> None:
    class Stuck(Subscriber):
        def on_notice(self, notice: Notice) -> None:
            stuck.set()
            assert free.wait(WAIT_S)

    stuck, free = threading.Event(), threading.Event()
    with running() as store:
        store.supervisor.feed.subscribe(Stuck)
        store.ref.ask(AddTurn(KEY, AvatarText("x")))
        assert stuck.wait(WAIT_S)
        store.supervisor.close()
        assert store.log.closed
        free.set()
