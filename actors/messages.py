"""The messages: what an agent may send to a store, what it gets back, and what travels inside.

The public ones are sent through a `StoreRef`, never to the store actor itself. `ExpireSession`
and `DeleteKey` are the commands of the domain; `AddTurn` and `AddTurns` become one at the door,
where texts are bounded. Keys, turns and answers are values of `turnfold.events`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import attrs

from turnfold.events.commands import Command, DeleteKey, ExpireSession, Instant, TurnToAdd
from turnfold.events.errors import TurnfoldError
from turnfold.events.event import Event
from turnfold.events.keys import ConversationKey, SessionId
from turnfold.events.receipts import Receipt
from turnfold.events.turns import Turn

if TYPE_CHECKING:
    from turnfold.actors.reply import BlockingSlot, Slot

__all__ = [
    "AddTurn",
    "AddTurns",
    "CommandFailed",
    "Correlated",
    "DeleteKey",
    "ExpireSession",
    "Flush",
    "Flushed",
    "GetContext",
    "GetStats",
    "ListMetadata",
    "Receipts",
    "Submit",
    "Sync",
    "Synced",
]

METADATA_PAGE: int = 256


# --- requests that change something ------------------------------------------------------


@attrs.frozen
class AddTurn:
    """Add one turn to the key's session. Answer: Receipt.

    The same `turn_id` in the same session adds nothing and answers the first receipt. `session`
    refuses any other live session than the one named.
    """

    key: ConversationKey
    turn: Turn
    turn_id: str | None = attrs.field(default=None, repr=False)
    session: SessionId | None = None


def _tuple(turns: Iterable[Turn | TurnToAdd]) -> tuple[Turn | TurnToAdd, ...]:
    return tuple(turns)


@attrs.frozen
class AddTurns:
    """Add several turns, all or none. Answer: a tuple of receipts, told as `Receipts`."""

    key: ConversationKey
    turns: tuple[Turn | TurnToAdd, ...] = attrs.field(converter=_tuple)
    session: SessionId | None = None


@attrs.frozen
class Sync:
    """Make everything that was answered before durable. Answer: Synced."""


@attrs.frozen
class Flush:
    """Sync, erase what is due, write a generation if anything changed. Answer: Flushed."""


# --- requests that read -------------------------------------------------------------------


@attrs.frozen
class GetContext:
    """What a language model would see of one key. Answer: Context."""

    key: ConversationKey
    budget_bytes: int | None = None
    budget_tokens: int | None = None
    count_tokens: Callable[[str], int] | None = None


@attrs.frozen
class ListMetadata:
    """At most `size` live sessions in order of their start. Answer: MetadataPage.

    `next_after` of the page is `after` of the next one.
    """

    after: int = 0
    size: int = METADATA_PAGE


@attrs.frozen
class GetStats:
    """Counters and sizes of the running store. Answer: Stats."""


# --- answers beside those of turnfold.events.receipts -----------------------------------------


@attrs.frozen
class Synced:
    """Everything up to position `durable` survives a crash."""

    durable: int


@attrs.frozen
class Flushed:
    """As Synced; `generation` is the position of the newest one, 0 if there is none.

    `erased` counts the pending erasures that were carried out, `trimmed` the log's segments
    that were removed.
    """

    durable: int
    generation: int = 0
    erased: int = 0
    trimmed: int = 0


@attrs.frozen
class Receipts:
    """Told to `reply_to` for AddTurns: a receipt per turn, in order."""

    items: tuple[Receipt, ...]


@attrs.frozen
class CommandFailed:
    """Told to `reply_to` in place of an answer. `error` is what a blocking call would raise."""

    error: TurnfoldError


@attrs.frozen
class Correlated:
    """An answer (or CommandFailed) to a message that was told with a `correlation_id`."""

    correlation_id: object
    answer: object


# --- inside ------------------------------------------------------------------------------------


# Not frozen, for speed: one is made per command (0.7 us instead of 2.4). Never changed.
@attrs.define(eq=False)
class Submit:
    """A request that has passed the door, on its way to the store actor with its reply slot.

    `single`: the waiter wants the only receipt, not a tuple of one. `door` proves by identity
    that the request was bounded and admitted by this store's own door. `at` is the wall-clock time
    that recorded input brings along (ns): the batch that a command ends up in blurs nothing.
    """

    request: "Command | Sync | Flush"
    slot: "Slot"
    single: bool
    door: object
    at: int | None = None


@attrs.frozen
class Open:
    """Told once, first: append the opening's events, expire, conform, resume erasures.

    `build` makes the events from the next position and the time.
    """

    build: Callable[[int, Instant], Sequence[Event]]
    slot: "BlockingSlot"


@attrs.frozen
class Tick:
    """Told by the ticker: sweep, mark the log's end, carry out what is due."""


@attrs.frozen
class Record:
    """Told by other actors: append bookkeeping events, made from the next position and the time."""

    build: Callable[[int, Instant], Sequence[Event]]


@attrs.frozen
class Shut:
    """Told once, last: flush, mark the log's end, take no more commands."""

    slot: "BlockingSlot"
