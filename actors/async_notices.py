"""Notices for asyncio: a subscription's thread on one side, `async for` on the other.

The thread hands over one batch and waits until the loop takes it, so at most two batches are in
memory, the loop is woken once a batch, and a slow task only makes its own subscription slow.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Self

from turnfold.actors.pump import Item, Notices
from turnfold.actors.subscriber import Gone, Interrupted, Target
from turnfold.actors.subscription import Subscription

Launch = Callable[[Callable[[], Target]], Subscription]


class AsyncNotices(AsyncIterator[Item]):
    """What `store.notices()` returns: for one task, in one loop.

    The subscription begins with the first item that is asked for. It ends when the store is
    closed, with `aclose()`, or when the iterator is forgotten, as after a `break`.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._bridge: _Bridge | None = None
        self._subscription: Subscription | None = None
        self._items: list[Item] = []  # of the batch in hand, the next one last

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        """The next notice or gap. Raises StopAsyncIteration at the end, or why it ended early."""
        while not self._items:
            batch = await self._begun().next()
            if batch is None:
                if self._subscription is not None and self._subscription.error is not None:
                    raise self._subscription.error
                raise StopAsyncIteration
            self._items = list(reversed(batch.items))
        return self._items.pop()

    def _begun(self) -> "_Bridge":
        if self._bridge is None:
            bridge = self._bridge = _Bridge(asyncio.get_running_loop())
            # No reference to this iterator, or it would never be forgotten.
            self._subscription = self._launch(lambda: bridge)
        return self._bridge

    async def aclose(self) -> None:
        """End the subscription, without waiting for its thread."""
        self._end()

    def _end(self) -> None:
        if self._subscription is not None:
            self._subscription.stop()

    def __del__(self) -> None:
        self._end()


class _Bridge:
    """The target of such a subscription. `next` and what it calls run in the loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.handled = 0
        self._loop = loop
        self._batch: Notices | None = None
        self._ended = False
        self._waiting: asyncio.Future[None] | None = None
        self._taken = threading.Event()
        self._interrupted = False

    # --- the subscription's thread --------------------------------------------------------

    def deliver(self, notices: Notices) -> None:
        """Hand the batch over. Raises Interrupted, or Gone if the loop is closed."""
        self._taken.clear()
        if self._interrupted:
            raise Interrupted
        if not self._call(self._put, notices):
            raise Gone
        self._taken.wait()
        if self._interrupted:
            raise Interrupted
        self.handled = notices.last

    def interrupt(self) -> None:
        """Stop waiting for the loop. Any thread."""
        self._interrupted = True
        self._taken.set()

    def stop(self) -> None:
        """Tell the loop that nothing more comes."""
        self._call(self._put, None)

    def _call(self, function: Callable[[Notices | None], None], batch: Notices | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(function, batch)
        except RuntimeError:  # the loop is closed
            return False
        return True

    # --- the loop's thread ------------------------------------------------------------------

    def _put(self, batch: Notices | None) -> None:
        if batch is None:
            self._ended = True
        else:
            self._batch = batch
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def next(self) -> Notices | None:
        """The next batch; None after the last one."""
        if self._waiting is not None:
            msg = "another task is waiting for this iterator's next notice"
            raise RuntimeError(msg)
        while self._batch is None:
            if self._ended:
                return None
            self._waiting = self._loop.create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        batch, self._batch = self._batch, None
        self._taken.set()
        return batch
