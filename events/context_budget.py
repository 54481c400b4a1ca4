"""A context within a budget: what is left out, and what is clipped."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from turnfold.events.context_messages import ContextMessage, Frame, turn_messages
from turnfold.events.errors import InvalidInput
from turnfold.events.event import TurnAdded
from turnfold.events.exchanges import calls, exchange_starts, units
from turnfold.events.reasons import Reason
from turnfold.events.redaction import clip, redact

_TOKEN_BYTES: Final = 3  # assumed without a counter: English has 4 to a token, CJK about 3
_CLIPPED_BYTES_MIN: Final = 48  # of each text, rather than one turn more

Messages = list[ContextMessage | None]


class Cost(NamedTuple):
    """What messages take, in both units."""

    bytes: int
    tokens: int

    def plus(self, other: "Cost") -> "Cost":
        """The sum."""
        return Cost(self.bytes + other.bytes, self.tokens + other.tokens)


_FREE: Final = Cost(0, 0)


class Budget:
    """At most so many bytes and tokens, from 0; None is no bound. Raises InvalidInput."""

    def __init__(
        self,
        budget_bytes: int | None,
        budget_tokens: int | None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        for budget in (budget_bytes, budget_tokens):
            if budget is not None and (type(budget) is not int or budget < 0):
                raise InvalidInput("a context budget must be an integer of 0 or more")
        if count_tokens is not None and not callable(count_tokens):
            raise InvalidInput("count_tokens must be a function from a text to its tokens")
        self.bytes = budget_bytes
        self._tokens = budget_tokens
        self._count_tokens = count_tokens

    def cost(self, message: ContextMessage | None) -> Cost:
        """What a message's content takes; tokens only if they are bounded."""
        if message is None:
            return _FREE
        size = len(message.content.encode())
        if self._tokens is None:
            return Cost(size, 0)
        if self._count_tokens is None:
            return Cost(size, -(-size // _TOKEN_BYTES))
        return Cost(size, self._count_tokens(message.content))

    def total(self, messages: Iterable[ContextMessage | None]) -> Cost:
        """The cost of all messages."""
        sum_bytes = sum_tokens = 0
        for message in messages:
            cost = self.cost(message)
            sum_bytes += cost.bytes
            sum_tokens += cost.tokens
        return Cost(sum_bytes, sum_tokens)

    def holds(self, cost: Cost, *, parts: int = 1) -> bool:
        """Whether the cost is within the budget divided by `parts`."""
        return (self.bytes is None or cost.bytes * parts <= self.bytes) and (
            self._tokens is None or cost.tokens * parts <= self._tokens
        )


def fit(
    turns: Sequence[TurnAdded], opening: ContextMessage | None, budget: Budget, frame: Frame
) -> Messages:
    """The opening and the newest exchanges that the budget holds; the newest one in any case.

    A result goes where its call goes. The opening (summary or notice) stays if everything fits, or
    if it takes at most half of the budget and the newest exchange fits beside it.
    """
    opening_cost = budget.cost(opening)
    if not turns:
        return [opening] if budget.holds(opening_cost) else []
    exchanges = _exchanges(turns)
    first = _first_worth_showing(turns, exchanges, budget)
    offset = min(exchanges[first])
    rows = turn_messages(turns[offset:], frame)
    costs = [
        budget.total(rows[index - offset] for index in exchange) for exchange in exchanges[first:]
    ]
    if not budget.holds(costs[-1]):
        return _clipped([turns[index] for index in exchanges[-1]], budget, frame)
    everything = first == 0 and budget.holds(_sum([opening_cost, *costs]))
    if not everything and not (
        budget.holds(opening_cost, parts=2) and budget.holds(_sum([opening_cost, costs[-1]]))
    ):
        opening, opening_cost = None, _FREE
    kept = 1
    while kept < len(costs) and budget.holds(_sum([opening_cost, *costs[-kept - 1 :]])):
        kept += 1
    shown = sorted(index for exchange in exchanges[-kept:] for index in exchange)
    return [opening, *(rows[index - offset] for index in shown)]


def _sum(costs: Iterable[Cost]) -> Cost:
    total = _FREE
    for cost in costs:
        total = total.plus(cost)
    return total


def _exchanges(turns: Sequence[TurnAdded]) -> list[list[int]]:
    """Indices of turns by exchange; a result is listed in the exchange of its call."""
    starts = exchange_starts(turns)
    answers = calls(turns).answers
    exchanges: list[list[int]] = [[] for _ in starts]
    for index in range(len(turns)):
        exchanges[bisect_right(starts, answers.get(index, index)) - 1].append(index)
    return exchanges


def _first_worth_showing(
    turns: Sequence[TurnAdded], exchanges: Sequence[list[int]], budget: Budget
) -> int:
    """The oldest exchange that could fit: texts alone, without frames, are within the bytes."""
    if budget.bytes is None:
        return 0
    first, text_bytes = len(exchanges), 0
    while first > 0:
        text_bytes += sum(turns[index].text_bytes for index in exchanges[first - 1])
        if text_bytes > budget.bytes:
            break
        first -= 1
    return min(first, len(exchanges) - 1)


# --- clipping the newest exchange ------------------------------------------------------------


def _clipped(turns: list[TurnAdded], budget: Budget, frame: Frame) -> Messages:
    """One exchange in which every text is cut to the same length, the longest that fits.

    Where even short texts are too many, calls with their results are left out, oldest first, then
    the agent's turns, and the avatar's last.
    """
    while len(turns) > 1 and not _fits_cut_to(_CLIPPED_BYTES_MIN, turns, budget, frame):
        gone = set(_first_to_go(turns))
        turns = [turn for index, turn in enumerate(turns) if index not in gone]
    low, high = 0, max((turn.text_bytes for turn in turns), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if _fits_cut_to(middle, turns, budget, frame):
            low = middle
        else:
            high = middle - 1
    shown = _cut_to(low, turns, frame)
    while not budget.holds(budget.total(shown)):  # what a cut redacts anew can take more room
        if low == 0:
            return []
        low //= 2
        shown = _cut_to(low, turns, frame)
    return shown


def _first_to_go(turns: Sequence[TurnAdded]) -> list[int]:
    """The call and results, or else the turn, that is given up first; the avatar's turns last."""
    given_up = units(range(len(turns)), turns, calls(turns))
    said = [unit for unit in given_up if turns[unit[0]].reason is not Reason.ADDED_AVATAR]
    return (said or given_up)[0]


def _fits_cut_to(text_bytes: int, turns: list[TurnAdded], budget: Budget, frame: Frame) -> bool:
    rows = turn_messages(turns, frame, lambda text: _cut(text, text_bytes))
    return budget.holds(budget.total(rows))


def _cut_to(text_bytes: int, turns: list[TurnAdded], frame: Frame) -> Messages:
    rows = turn_messages(turns, frame, lambda text: _clean_cut(text, text_bytes))
    return [row if row is not None and row.content else None for row in rows]


def _cut(text: str, text_bytes: int) -> str:
    return text.encode()[:text_bytes].decode("utf-8", "ignore")


def _clean_cut(text: str, text_bytes: int) -> str:
    """Cut between characters, outside placeholders, and clean as a text of its own."""
    return str(clip(redact(text), text_bytes))
