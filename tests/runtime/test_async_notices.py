"""`async for notice in store.notices()`: in order, bounded, and gone when nobody wants it."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator

import pytest
from runtime.feed_log import positions
from runtime.feed_rig import WAIT_S, Rig, running

from turnfold.actors.pump import BATCH_ITEMS_MAX, Item
from turnfold.actors.supply import SubscriptionState
from turnfold.events.errors import StoreClosed


async def first(stream: AsyncIterator[Item], count: int) -> list[int]:
    """The positions of the next `count` items."""
    got: list[Item] = []
    async with asyncio.timeout(WAIT_S):
        while len(got) < count:
            got.append(await anext(stream))
    return positions(got)


def the_thread_ends(rig: Rig) -> bool:
    """Whether the only subscription ends without anybody cancelling it."""
    return all(subscription.join(WAIT_S) for subscription in rig.feed.subscriptions)


async def test_iteration_catches_up_and_goes_on_live() -> None:
    with running(turns=500, waiting=2) as rig:
        stream = rig.feed.notices(after=100)
        assert await first(stream, 400) == list(range(101, 501))

        rig.turns(3)
        assert await first(stream, 3) == [501, 502, 503]


async def test_live_only_counts_from_the_call_and_not_from_the_first_item() -> None:
    with running(turns=5) as rig:
        stream = rig.feed.notices()
        rig.turns(2)

        assert await first(stream, 2) == [6, 7]


async def test_iterator_that_nobody_iterates_costs_no_thread() -> None:
    with running(turns=5) as rig:
        rig.feed.notices(after=0)

        assert rig.feed.subscriptions == ()


async def test_filters_apply_to_iteration() -> None:
    with running(turns=5) as rig:
        stream = rig.feed.notices(after=0, reasons=["started.first_turn"])

        assert await first(stream, 1) == [1]


async def test_leaving_the_loop_early_ends_the_subscription() -> None:
    with running(turns=5) as rig:

        async def leave() -> None:
            async for _item in rig.feed.notices(after=0):
                break

        await leave()
        gc.collect()

        assert the_thread_ends(rig)


async def test_closing_the_iterator_ends_the_subscription() -> None:
    with running(turns=5) as rig:
        stream = rig.feed.notices(after=0)
        assert await first(stream, 1) == [1]
        (subscription,) = rig.feed.subscriptions

        await stream.aclose()

        assert subscription.join(WAIT_S)
        assert subscription.state is SubscriptionState.CANCELLED


async def test_iteration_ends_when_the_feed_closes() -> None:
    rig = Rig(turns=5)
    got: list[Item] = []

    async def follow() -> None:
        async for item in rig.feed.notices(after=0):
            got.append(item)
            if len(got) == 5:
                all_there.set()

    all_there = asyncio.Event()
    following = asyncio.create_task(follow())
    async with asyncio.timeout(WAIT_S):
        await all_there.wait()
        assert rig.feed.close(WAIT_S)
        await following

    assert positions(got) == [1, 2, 3, 4, 5]


async def test_iteration_after_the_feed_is_closed_says_so() -> None:
    rig = Rig(turns=5)
    stream = rig.feed.notices(after=0)
    assert rig.feed.close(WAIT_S)

    with pytest.raises(StoreClosed):
        await anext(stream)


async def test_cancelled_wait_loses_no_notice() -> None:
    with running() as rig:
        stream = rig.feed.notices()
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

        rig.turns(3)
        assert await first(stream, 3) == [1, 2, 3]


async def test_second_task_on_one_iterator_is_refused() -> None:
    with running() as rig:
        stream = rig.feed.notices()
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)

        with pytest.raises(RuntimeError, match="another task"):
            await anext(stream)
        rig.turns(1)
        async with asyncio.timeout(WAIT_S):
            assert positions([await waiting]) == [1]


async def test_error_of_the_log_reaches_the_iterating_task_and_parks_nobody() -> None:
    with running(turns=5) as rig:
        rig.log.failing = 1
        stream = rig.feed.notices(after=0)

        with pytest.raises(OSError, match="on fire"):
            await first(stream, 1)
        assert not rig.parked


async def test_slow_task_leaves_at_most_two_batches_in_memory() -> None:
    """The subscription's thread waits with the second batch until the first one is used up."""
    with running(turns=10 * BATCH_ITEMS_MAX, waiting=4) as rig:
        stream = rig.feed.notices(after=0)
        await first(stream, 1)
        (subscription,) = rig.feed.subscriptions

        assert subscription.wait(BATCH_ITEMS_MAX, WAIT_S)
        assert not subscription.wait(BATCH_ITEMS_MAX + 1, 0.05)


async def test_loop_that_is_closed_ends_the_subscription() -> None:
    with running() as rig:
        stream = rig.feed.notices()

        def iterate_elsewhere() -> None:
            async def begin() -> None:
                waiting = asyncio.ensure_future(anext(stream))
                await asyncio.sleep(0)
                waiting.cancel()

            asyncio.run(begin())

        thread = threading.Thread(target=iterate_elsewhere)
        thread.start()
        thread.join(WAIT_S)
        (subscription,) = rig.feed.subscriptions
        rig.turns(1)

        assert subscription.join(WAIT_S)
        assert subscription.state is SubscriptionState.STOPPED
