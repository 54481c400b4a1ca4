"""References to a running store, for agents that send messages: `StoreRef` and `AsyncStoreRef`.

They look like a pykka reference but pass the door first: a message is bounded and admitted in the
sender's thread, and its answer comes after the sync that covers it, not when the actor has read it.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pykka

from turnfold.actors.door import Door, Request, check_reply_to, checked_timeout
from turnfold.actors.messages import GetContext, GetStats, ListMetadata
from turnfold.actors.reads import Reads
from turnfold.actors.reply import NO_REPLY, ActorSlot, FutureSlot, LoopSlot, Slot
from turnfold.actors.stats import Stats
from turnfold.events.errors import StoreBusy, TurnfoldError


class _Desk:
    """What both references share: the door, and the reads, which never wait for the store."""

    __slots__ = ("_door", "_reads", "_stats")

    def __init__(self, door: Door, reads: Reads, stats: Callable[[], Stats]) -> None:
        self._door = door
        self._reads = reads
        self._stats = stats

    def _read(self, message: object) -> tuple[bool, Any]:
        """Whether the message only reads, and then the answer."""
        if isinstance(message, GetContext):
            return True, self._reads.context(
                message.key,
                budget_bytes=message.budget_bytes,
                budget_tokens=message.budget_tokens,
                count_tokens=message.count_tokens,
            )
        if isinstance(message, ListMetadata):
            return True, self._reads.list_metadata(after=message.after, size=message.size)
        if isinstance(message, GetStats):
            return True, self._stats()
        return False, None


class StoreRef(_Desk):
    """Send messages from any thread or actor. Made by the store: `store.ref`."""

    __slots__ = ()

    def tell(
        self,
        message: object,
        reply_to: pykka.ActorRef[Any] | None = None,
        correlation_id: object = None,
    ) -> None:
        """Send without waiting.

        With `reply_to`, the answer or a CommandFailed is told to that actor (in a Correlated if
        there is a `correlation_id`), refusals at the door included, and nothing is raised, but
        InvalidInput if `reply_to` is no ActorRef. Without it, raises what the door refuses:
        InvalidInput and its kin, StoreBusy, StoreClosed.
        """
        if reply_to is None:
            self._tell(message, NO_REPLY)
            return
        check_reply_to(reply_to)
        slot = ActorSlot(reply_to, correlation_id)
        try:
            self._tell(message, slot)
        except TurnfoldError as error:
            slot.settle(error)

    def _tell(self, message: object, slot: Slot) -> None:
        is_read, answer = self._read(message)
        if is_read:
            slot.settle(answer)
            return
        request, single = self._door.request(message)
        self._door.post(request, single, slot)

    def ask(self, message: object, block: bool = True, timeout: float | None = None) -> Any:
        """Send and get the answer, or with `block=False` at once a pykka future of it.

        `timeout` is in seconds, None for as long as it takes. Raises StoreBusy when it is over
        (the command may still be carried out), or the error that refused the command. A future
        has the error; its own `get(timeout=)` raises pykka.Timeout.
        """
        if not block:
            slot = FutureSlot()
            try:
                self._tell(message, slot)
            except TurnfoldError as error:
                slot.settle(error)
            return slot.future
        is_read, answer = self._read(message)
        if is_read:
            return answer
        request, single = self._door.request(message)
        return self._door.call(request, single, timeout)


class AsyncStoreRef(_Desk):
    """Send messages from a coroutine, never blocking the loop. Made by the store: `store.ref`."""

    __slots__ = ()

    def tell(
        self,
        message: object,
        reply_to: pykka.ActorRef[Any] | None = None,
        correlation_id: object = None,
    ) -> None:
        """As StoreRef.tell, which doesn't wait either."""
        StoreRef(self._door, self._reads, self._stats).tell(message, reply_to, correlation_id)

    async def ask(self, message: object, timeout: float | None = None) -> Any:  # noqa: ASYNC109 - pykka's parameter
        """Send and await the answer, which comes after the sync that covers it.

        Raises StoreBusy after `timeout` seconds, or the error that refused the command. If the
        task is cancelled, the command is carried out whole or not at all.
        """
        if isinstance(message, GetContext | ListMetadata) and not self._reads.is_quick(message):
            # The loop's own executor: starting a thread for each would block the loop each time.
            _, answer = await asyncio.to_thread(self._read, message)
            return answer
        is_read, answer = self._read(message)
        if is_read:
            return answer
        request, single = self._door.request(message)
        return await self.submit(request, single, timeout)

    async def submit(self, request: Request, single: bool, timeout: float | None) -> Any:  # noqa: ASYNC109 - pykka's parameter
        """The same for a request that the door has made of a message already."""
        timeout = checked_timeout(timeout)
        slot = LoopSlot(asyncio.get_running_loop())
        if timeout is None:
            return await self._door.call_async(request, single, slot)
        try:
            async with asyncio.timeout(timeout):
                return await self._door.call_async(request, single, slot)
        except TimeoutError:
            raise StoreBusy(
                "the store gave no answer in time; the command may still be carried out: try again"
                " with the same turn_id, which adds nothing twice"
            ) from None
