"""Group commit: one write and one sync for everything that came while the last sync ran."""

import asyncio
import threading
from typing import Any

import pytest
from runtime.fake_log import KEY, OTHER_KEY, WAIT_S, FakeLog, Running, running, until

from turnfold.actors.batch import BATCH_COMMANDS_MAX
from turnfold.actors.config import Config
from turnfold.actors.messages import AddTurn, AddTurns, GetStats, Sync
from turnfold.actors.reply import LoopSlot, ReplyCounts, settle_all
from turnfold.events.errors import NotWritten, OutcomeUnknown, StoreFailed
from turnfold.events.turns import AgentResponse, AvatarText


def say(number: int) -> AddTurn:
    return AddTurn(KEY, AvatarText(f"turn {number}"))


def hold(store: Running) -> Any:
    """Let one command reach its sync and keep it there; the future of its answer."""
    store.log.open_gate.clear()
    blocker = store.ref.ask(AddTurn(OTHER_KEY, AvatarText("blocker")), block=False)
    assert store.log.at_gate.wait(WAIT_S)
    return blocker


def test_commands_that_come_during_a_sync_share_the_next_write_and_sync() -> None:
    with running() as store:
        hold(store)
        futures = [store.ref.ask(say(number), block=False) for number in range(50)]
        writes, syncs = len(store.log.writes), store.log.syncs
        store.log.open_gate.set()

        receipts = [future.get(timeout=WAIT_S) for future in futures]

        assert store.log.writes[writes:] == [50]
        assert store.log.syncs == syncs + 1
        ordered = [receipt.position for receipt in receipts]
        assert ordered == sorted(ordered)


def test_a_batch_has_at_most_so_many_commands() -> None:
    with running() as store:
        hold(store)
        count = BATCH_COMMANDS_MAX + 88
        futures = [store.ref.ask(say(number), block=False) for number in range(count)]
        writes = len(store.log.writes)
        store.log.open_gate.set()

        for future in futures:
            future.get(timeout=WAIT_S)

        assert store.log.writes[writes:] == [BATCH_COMMANDS_MAX, 88]


def test_a_command_of_several_turns_is_one_frame() -> None:
    with running() as store:
        store.ref.ask(AddTurns(KEY, [AvatarText("a"), AgentResponse("b"), AvatarText("c")]))
        assert [frame.count for frame in store.log.frames] == [1, 4]


@pytest.mark.parametrize("fault", [NotWritten("full"), OutcomeUnknown("unknown")])
def test_every_command_of_a_failed_batch_fails_with_it(fault: Exception) -> None:
    with running() as store:
        blocker = hold(store)
        futures = [store.ref.ask(say(number), block=False) for number in range(5)]
        futures.append(store.ref.ask(AddTurn(KEY, AvatarText("x"), "id"), block=False))
        futures.append(store.ref.ask(AddTurn(KEY, AvatarText("x"), "id"), block=False))
        store.log.append_faults = [fault]
        store.log.open_gate.set()

        assert blocker.get(timeout=WAIT_S).durable
        for future in futures:
            with pytest.raises(type(fault)):
                future.get(timeout=WAIT_S)
        until(lambda: store.ref.ask(GetStats()).commands_in_flight == 0)


def test_after_a_batch_was_not_written_the_next_one_gets_its_positions() -> None:
    with running() as store:
        store.log.append_faults = [NotWritten("full")]
        with pytest.raises(NotWritten):
            store.ref.ask(say(1))
        assert store.ref.ask(say(2)).position == 3  # after StoreOpened and SessionStarted


def test_a_sync_request_makes_a_flush_mode_batch_durable() -> None:
    with running(Config(durability="flush")) as store:
        hold(store)  # the opening's watermark, or this sync
        store.log.open_gate.set()
        store.ref.ask(say(1))
        synced = store.ref.ask(Sync())
        assert synced.durable == store.log.durable == store.log.position


def test_the_same_turn_id_sent_by_two_threads_at_once_is_stored_once() -> None:
    with running() as store:
        receipts: list[Any] = []
        start = threading.Barrier(2)

        def add() -> None:
            start.wait()
            receipts.append(store.ref.ask(AddTurn(KEY, AvatarText("once"), "id-1")))

        threads = [threading.Thread(target=add) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert receipts[0].position == receipts[1].position
        assert sorted(receipt.duplicate for receipt in receipts) == [False, True]


async def test_slots_of_one_loop_cost_one_wake_up_per_batch() -> None:
    loop = asyncio.get_running_loop()
    wakes: list[Any] = []

    class CountingLoop:
        def create_future(self) -> "asyncio.Future[Any]":
            return loop.create_future()

        def call_soon_threadsafe(self, *call: Any) -> None:
            wakes.append(call)
            loop.call_soon_threadsafe(*call)

    counting: Any = CountingLoop()
    slots = [LoopSlot(counting) for _ in range(64)]
    counts = ReplyCounts()

    settle_all([(slot, number) for number, slot in enumerate(slots)], counts)

    assert await asyncio.gather(*(slot.future for slot in slots)) == list(range(64))
    assert len(wakes) == 1
    assert counts.undeliverable == 0


def test_a_failure_while_the_inbox_is_full_leaves_nobody_waiting() -> None:
    log = FakeLog()
    with running(log=log) as store:
        hold(store)
        futures = [store.ref.ask(say(number), block=False) for number in range(600)]
        log.append_faults = [ValueError("broken")]
        log.open_gate.set()
        for future in futures:
            with pytest.raises(StoreFailed):
                future.get(timeout=WAIT_S)
        until(lambda: store.ref.ask(GetStats()).commands_in_flight == 0)
