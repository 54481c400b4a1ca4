"""AsyncConversationStore: cancelling leaves turns whole or absent, and no loop is blocked."""

import asyncio
import random
import threading
from typing import Any

import pytest
from runtime.fake_log import KEY, OTHER_KEY, WAIT_S, running, until

from turnfold.actors.async_store import AsyncConversationStore
from turnfold.actors.config import Config
from turnfold.actors.messages import AddTurn, AddTurns, GetContext
from turnfold.actors.refs import AsyncStoreRef
from turnfold.events.errors import InvalidTurn, LimitTooHigh, StoreBusy, StoreClosed, TurnIdConflict
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.limits import Limits
from turnfold.events.turns import AgentResponse, AvatarText, Turn


async def test_everything_is_awaitable_and_answers_as_the_blocking_store_does() -> None:
    async with AsyncConversationStore() as store:
        receipt = await store.add_turn(KEY, AvatarText("hello"), turn_id="id-1")
        assert receipt.durable
        with pytest.raises(TurnIdConflict):
            await store.add_turn(KEY, AvatarText("other"), turn_id="id-1")
        receipts = await store.add_turns(KEY, [AgentResponse("hi"), AvatarText("well")])
        assert [item.position for item in receipts] == [4, 5]
        assert (await store.context(KEY)).position == 5
        assert len((await store.list_metadata()).items) == 1
        assert (await store.sync()).durable == 5
        assert (await store.expire(KEY)).expired
        assert (await store.flush()).erased == 1
        assert (await store.delete(KEY)).avatar == KEY.avatar
        assert store.stats().commands_in_flight == 0
        with pytest.raises(InvalidTurn):
            await store.add_turns(KEY, [])


async def test_a_store_that_is_not_open_says_so() -> None:
    store = AsyncConversationStore()
    with pytest.raises(StoreClosed, match="open"):
        await store.add_turn(KEY, AvatarText("x"))
    async with store:
        await store.add_turn(KEY, AvatarText("x"))
    with pytest.raises(StoreClosed):
        await store.add_turn(KEY, AvatarText("x"))
    await store.close()


async def test_64_tasks_with_random_cancellation_leave_each_command_whole_or_absent() -> None:
    """Every command adds two turns; they are neighbours in the log or both missing."""
    choice = random.Random(11)
    keys = [ConversationKey(f"{number:032x}", Channel.DIRECT_IM) for number in range(16)]
    limits = Limits(turns_per_session=4096, bytes_per_session=4 << 20)
    with running(Config(limits=limits)) as store:
        supervisor = store.supervisor
        ref = AsyncStoreRef(supervisor.door, supervisor.reads, supervisor.stats)
        acknowledged: set[str] = set()

        async def work(task: int) -> None:
            for number in range(12):
                name = f"{task}.{number}"
                pair: list[Turn] = [AvatarText(f"a {name}"), AgentResponse(f"b {name}")]
                await ref.ask(AddTurns(keys[task % 16], pair))
                acknowledged.add(name)

        tasks = [asyncio.create_task(work(task)) for task in range(64)]
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0)
            if choice.random() < 0.2:
                choice.choice(tasks).cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)

        assert any(isinstance(result, asyncio.CancelledError) for result in results)
        stored: set[str] = set()
        for key in keys:
            said = [m.content for m in (await ref.ask(GetContext(key))).messages]
            turns = [text for text in said if text[:2] in {"a ", "b "}]
            for first, second in zip(turns[::2], turns[1::2], strict=True):
                assert (first[:2], second[:2]) == ("a ", "b ")
                assert first[2:] == second[2:]
                stored.add(first[2:])
        assert acknowledged <= stored
        until(lambda: supervisor.stats().commands_in_flight == 0)


async def test_the_loop_runs_on_while_a_command_waits_for_the_disk() -> None:
    """Counted, not timed: the loop takes many turns between a command and its answer."""
    with running() as store:
        store.log.open_gate.clear()
        supervisor = store.supervisor
        ref = AsyncStoreRef(supervisor.door, supervisor.reads, supervisor.stats)
        task = asyncio.create_task(ref.ask(AddTurn(KEY, AvatarText("x"))))
        await asyncio.sleep(0)
        turns = 0
        while not store.log.at_gate.is_set() or turns < 1000:
            turns += 1
            await asyncio.sleep(0)
        assert not task.done()
        store.log.open_gate.set()
        assert (await task).durable


async def test_a_timeout_is_store_busy_and_the_command_stands() -> None:
    with running() as store:
        store.log.open_gate.clear()
        supervisor = store.supervisor
        ref = AsyncStoreRef(supervisor.door, supervisor.reads, supervisor.stats)
        with pytest.raises(StoreBusy):
            await ref.ask(AddTurn(KEY, AvatarText("x"), "id-1"), timeout=0.01)
        store.log.open_gate.set()
        assert (await ref.ask(AddTurn(KEY, AvatarText("x"), "id-1"))).duplicate


async def test_opening_and_closing_run_in_threads_of_their_own() -> None:
    seen: list[str] = []

    class Watch:
        recorded = False

        def wall_ns(self) -> int:
            seen.append(threading.current_thread().name)
            return 1_700_000_000_000_000_000

        def boot_ns(self) -> int:
            return 0

    loop_thread = threading.current_thread().name
    store = AsyncConversationStore(clock=Watch())
    await store.open()
    assert seen
    assert loop_thread not in seen
    closing = asyncio.create_task(store.close())
    await asyncio.sleep(0)
    assert not closing.done()
    await closing


async def test_opening_that_is_cancelled_closes_the_store_again() -> None:
    entered, proceed = threading.Event(), threading.Event()

    def slow_entropy(size: int) -> bytes:
        entered.set()
        assert proceed.wait(WAIT_S)
        return bytes(size)

    opening = asyncio.create_task(AsyncConversationStore(entropy=slow_entropy).open())
    assert await asyncio.to_thread(entered.wait, WAIT_S)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    proceed.set()

    def names() -> list[str]:
        return [t.name for t in threading.enumerate() if t.name.startswith("turnfold-")]

    await asyncio.to_thread(until, lambda: not names())


async def test_an_error_of_opening_reaches_the_task() -> None:
    def broken(size: int) -> bytes:
        raise LimitTooHigh("for the test")

    with pytest.raises(LimitTooHigh):
        await AsyncConversationStore(entropy=broken).open()


async def test_notices_are_iterated_in_order() -> None:
    async with AsyncConversationStore() as store:
        await store.add_turn(KEY, AvatarText("x"))
        await store.add_turn(OTHER_KEY, AvatarText("y"))
        seen: list[int] = []
        async for notice in store.notices(after=0):
            item: Any = notice
            seen.append(item.position)
            if len(seen) == 5:
                break
        assert seen == [1, 2, 3, 4, 5]


async def test_a_large_context_is_projected_in_a_thread() -> None:
    limits = Limits(bytes_per_session=2 << 20, turn_bytes=64 << 10, turns_per_session=64)
    async with AsyncConversationStore(Config(limits=limits)) as store:
        text = AvatarText("a normal sentence about the weather. " * 1700)
        for _ in range(12):
            await store.add_turn(KEY, text)
        seen: list[int] = []

        def count(text: str) -> int:
            seen.append(threading.get_ident())
            return len(text) // 4

        context = await store.context(KEY, budget_tokens=1 << 20, count_tokens=count)
        assert len(context.messages) > 12
        assert threading.get_ident() not in seen
