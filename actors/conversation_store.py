"""ConversationStore: the store for threads. A thin layer over the messages of `StoreRef`."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self

import pykka

from turnfold.actors.bootstrap import EntropySource, start_store
from turnfold.actors.clock import Clock
from turnfold.actors.config import Config
from turnfold.actors.messages import METADATA_PAGE, AddTurns, Flush, Flushed, Sync, Synced
from turnfold.actors.pump import Item
from turnfold.actors.refs import StoreRef
from turnfold.actors.stats import Stats
from turnfold.actors.subscriber import Factory
from turnfold.actors.subscription import Subscription
from turnfold.events.commands import DeleteKey, ExpireSession, TurnToAdd
from turnfold.events.context import Context
from turnfold.events.keys import ConversationKey, SessionId
from turnfold.events.metadata import MetadataPage
from turnfold.events.reasons import Reason
from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt, Receipt
from turnfold.events.turns import Turn


class ConversationStore:
    """An open store. Every method may be called from any thread; use it as a context manager.

    `timeout` is in seconds, None for as long as it takes. When it is over, StoreBusy is raised and
    the command may still be carried out; a turn with a `turn_id` can be tried again safely.

    Methods that change something raise, beside what they name: StoreBusy, StoreClosed,
    StoreFailed, NotWritten (certainly not stored), OutcomeUnknown (the disk failed in between),
    StoreReadOnly, and WouldDeadlock in the store's own threads.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        clock: Clock | None = None,
        entropy: EntropySource | None = None,
    ) -> None:
        """Open the store that `config` names; Config() keeps everything in memory.

        `clock` and `entropy` (a function of a number of bytes) replace the machine's own, for
        recorded input and for tests. Raises StorageError and its kin if it can't be opened.
        """
        self._supervisor = start_store(config or Config(), clock=clock, entropy=entropy)
        self._door = self._supervisor.door
        self._reads = self._supervisor.reads
        self.state_access = self._supervisor.state_access  # what a SessionStateStore works with
        self.ref = StoreRef(self._door, self._reads, self._supervisor.stats)

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

    # --- changing ------------------------------------------------------------------------

    def add_turn(
        self,
        key: ConversationKey,
        turn: Turn,
        turn_id: str | None = None,
        session: SessionId | None = None,
        timeout: float | None = None,
    ) -> Receipt:
        """Add a turn to the key's live session, or to a new one.

        The same `turn_id` in the same session adds nothing and answers the first receipt.
        `session` refuses every other live session. Raises InvalidKey, InvalidTurn, SessionEnded,
        TurnIdConflict, ConversationsDisabled.
        """
        request = self._door.add_turns(key, (TurnToAdd(turn, turn_id),), session)
        receipt: Receipt = self._door.call(request, True, timeout)
        return receipt

    def add_turns(
        self,
        key: ConversationKey,
        turns: Sequence[Turn | TurnToAdd],
        session: SessionId | None = None,
        timeout: float | None = None,
    ) -> tuple[Receipt, ...]:
        """Add up to 1,024 turns (1 MiB of text) to one session, all or none, a receipt for each.

        Wrap a turn in TurnToAdd to give it a turn id. Raises as `add_turn`.
        """
        receipts: tuple[Receipt, ...] = self.ref.ask(AddTurns(key, turns, session), timeout=timeout)
        return receipts

    def expire(self, key: ConversationKey, timeout: float | None = None) -> ExpiryReceipt:
        """End the key's live session now. Its text is erased at the next flush."""
        receipt: ExpiryReceipt = self.ref.ask(ExpireSession(key), timeout=timeout)
        return receipt

    def delete(self, key: ConversationKey, timeout: float | None = None) -> DeletionReceipt:
        """Delete everything ever said under the key; when it returns, the text is erased."""
        receipt: DeletionReceipt = self.ref.ask(DeleteKey(key), timeout=timeout)
        return receipt

    def sync(self, timeout: float | None = None) -> Synced:
        """Make everything answered so far durable; of use with durability "flush"."""
        synced: Synced = self.ref.ask(Sync(), timeout=timeout)
        return synced

    def flush(self, timeout: float | None = None) -> Flushed:
        """Sync, erase what is due, write a generation if anything changed."""
        flushed: Flushed = self.ref.ask(Flush(), timeout=timeout)
        return flushed

    # --- reading ---------------------------------------------------------------------------

    def context(
        self,
        key: ConversationKey,
        *,
        budget_bytes: int | None = None,
        budget_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> Context:
        """What a language model would see of this key; never waits for the disk.

        Raises InvalidKey, InvalidInput.
        """
        return self._reads.context(
            key,
            budget_bytes=budget_bytes,
            budget_tokens=budget_tokens,
            count_tokens=count_tokens,
        )

    def list_metadata(self, *, after: int = 0, size: int = METADATA_PAGE) -> MetadataPage:
        """`size` live sessions (1 to 1,024) in order of their start, without content.

        `next_after` of the page asks for the next one. Raises InvalidInput.
        """
        return self._reads.list_metadata(after=after, size=size)

    def stats(self) -> Stats:
        """Counters and sizes."""
        return self._supervisor.stats()

    # --- subscribers -----------------------------------------------------------------------

    def subscribe(
        self,
        target: pykka.ActorRef[Any] | Factory,
        *,
        name: str | None = None,
        after: int | None = None,
        reasons: Iterable[Reason | str] | None = None,
        key: ConversationKey | None = None,
    ) -> Subscription:
        """Tell `target` every event after position `after` (None: from now on), in order.

        `target` is a class derived from Subscriber, a function that makes one or starts an actor,
        or an actor's reference. With a `name` it goes on where it was. Raises InvalidInput.
        """
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
        """The same for asyncio: `async for notice in store.notices(after=0)`."""
        return self._supervisor.feed.notices(after=after, reasons=reasons, key=key)

    # --- closing ---------------------------------------------------------------------------

    def close(self) -> None:
        """Flush and close; answers StoreClosed to what comes later. Again: nothing.

        Raises OutcomeUnknown or NotWritten if turns that were accepted with durability "flush"
        could not be made durable.
        """
        self._door.check_thread()
        self._supervisor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
