"""AsyncConversationStore: the store for asyncio. No method blocks the loop."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self

import pykka

from turnfold.actors.bootstrap import EntropySource, start_store
from turnfold.actors.clock import Clock
from turnfold.actors.config import Config
from turnfold.actors.messages import (
    METADATA_PAGE,
    AddTurns,
    Flush,
    Flushed,
    GetContext,
    ListMetadata,
    Sync,
    Synced,
)
from turnfold.actors.pump import Item
from turnfold.actors.refs import AsyncStoreRef
from turnfold.actors.state_desk import StateAccess
from turnfold.actors.stats import Stats
from turnfold.actors.subscriber import Factory
from turnfold.actors.subscription import Subscription
from turnfold.actors.supervisor import Supervisor
from turnfold.actors.worker_thread import in_thread
from turnfold.events.commands import DeleteKey, ExpireSession, TurnToAdd
from turnfold.events.context import Context
from turnfold.events.errors import StoreClosed
from turnfold.events.keys import ConversationKey, SessionId
from turnfold.events.metadata import MetadataPage
from turnfold.events.reasons import Reason
from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt, Receipt
from turnfold.events.turns import Turn


class AsyncConversationStore:
    """The same as ConversationStore with awaitable methods; `async with` opens and closes it.

    Cancelling a task that adds a turn leaves the turn whole or absent. `timeout` is in seconds;
    when it is over, StoreBusy is raised and the command may still be carried out.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        clock: Clock | None = None,
        entropy: EntropySource | None = None,
    ) -> None:
        """Nothing is opened yet: `async with` or `await store.open()` does that."""
        self._start = lambda: start_store(config or Config(), clock=clock, entropy=entropy)
        self._running: Supervisor | None = None
        self._ref: AsyncStoreRef | None = None

    @classmethod
    def from_config(
        cls,
        config: Config,
        *,
        clock: Clock | None = None,
        entropy: EntropySource | None = None,
    ) -> Self:
        """The same as the constructor."""
        return cls(config, clock=clock, entropy=entropy)

    # --- opening and closing ---------------------------------------------------------------

    async def open(self) -> Self:
        """Open the store in a thread of its own. Raises as ConversationStore does.

        If the task is cancelled meanwhile, the store is closed again.
        """
        if self._running is None:
            running = await in_thread(self._start, undo=Supervisor.close)
            self._running = running
            self._ref = AsyncStoreRef(running.door, running.reads, running.stats)
        return self

    async def close(self) -> None:
        """Flush and close in a thread of its own; goes on if the task is cancelled."""
        if self._running is not None:
            await in_thread(self._running.close)

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def _supervisor(self) -> Supervisor:
        if self._running is None:
            raise StoreClosed("the store is not open yet; use `async with` or `await open()`")
        return self._running

    @property
    def ref(self) -> AsyncStoreRef:
        """Send messages. Raises StoreClosed before the store was opened."""
        if self._ref is None:
            raise StoreClosed("the store is not open yet; use `async with` or `await open()`")
        return self._ref

    @property
    def state_access(self) -> StateAccess:
        """What an AsyncSessionStateStore works with. Raises StoreClosed before it was opened."""
        return self._supervisor.state_access

    # --- changing ----------------------------------------------------------------------------

    async def add_turn(
        self,
        key: ConversationKey,
        turn: Turn,
        turn_id: str | None = None,
        session: SessionId | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the parameter of the blocking method
    ) -> Receipt:
        """See ConversationStore.add_turn."""
        # Without a message in between: this is the hot path.
        request = self._supervisor.door.add_turns(key, (TurnToAdd(turn, turn_id),), session)
        receipt: Receipt = await self.ref.submit(request, True, timeout)
        return receipt

    async def add_turns(
        self,
        key: ConversationKey,
        turns: Sequence[Turn | TurnToAdd],
        session: SessionId | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the parameter of the blocking method
    ) -> tuple[Receipt, ...]:
        """See ConversationStore.add_turns."""
        receipts: tuple[Receipt, ...] = await self.ref.ask(AddTurns(key, turns, session), timeout)
        return receipts

    async def expire(
        self,
        key: ConversationKey,
        timeout: float | None = None,  # noqa: ASYNC109 - the parameter of the blocking method
    ) -> ExpiryReceipt:
        """See ConversationStore.expire."""
        receipt: ExpiryReceipt = await self.ref.ask(ExpireSession(key), timeout)
        return receipt

    async def delete(
        self,
        key: ConversationKey,
        timeout: float | None = None,  # noqa: ASYNC109 - the parameter of the blocking method
    ) -> DeletionReceipt:
        """See ConversationStore.delete."""
        receipt: DeletionReceipt = await self.ref.ask(DeleteKey(key), timeout)
        return receipt

    async def sync(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - the parameter of the blocking method
    ) -> Synced:
        """See ConversationStore.sync."""
        synced: Synced = await self.ref.ask(Sync(), timeout)
        return synced

    async def flush(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - the parameter of the blocking method
    ) -> Flushed:
        """See ConversationStore.flush."""
        flushed: Flushed = await self.ref.ask(Flush(), timeout)
        return flushed

    # --- reading -------------------------------------------------------------------------------

    async def context(
        self,
        key: ConversationKey,
        *,
        budget_bytes: int | None = None,
        budget_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> Context:
        """See ConversationStore.context. What takes longer is done in a thread."""
        message = GetContext(key, budget_bytes, budget_tokens, count_tokens)
        context: Context = await self.ref.ask(message)
        return context

    async def list_metadata(self, *, after: int = 0, size: int = METADATA_PAGE) -> MetadataPage:
        """See ConversationStore.list_metadata. With many sessions it is done in a thread."""
        page: MetadataPage = await self.ref.ask(ListMetadata(after, size))
        return page

    def stats(self) -> Stats:
        """See ConversationStore.stats; nothing to wait for."""
        return self._supervisor.stats()

    # --- subscribers -----------------------------------------------------------------------------

    def subscribe(
        self,
        target: pykka.ActorRef[Any] | Factory,
        *,
        name: str | None = None,
        after: int | None = None,
        reasons: Iterable[Reason | str] | None = None,
        key: ConversationKey | None = None,
    ) -> Subscription:
        """See ConversationStore.subscribe."""
        return self._supervisor.feed.subscribe(
            target, name=name, after=after, reasons=reasons, key=key
        )

    def notices(
        self,
        *,
        after: int | None = None,
        reasons: Iterable[Reason | str] | None = None,
        key: ConversationKey | None = None,
    ) -> AsyncIterator[Item]:
        """`async for notice in store.notices(after=0)`: every event after a position, in order."""
        return self._supervisor.feed.notices(after=after, reasons=reasons, key=key)
