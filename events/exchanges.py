"""How turns belong together: exchanges, and the calls that tool turns answer.

An exchange is an avatar turn with the agent and tool turns that follow it; turns before the first
avatar turn are one exchange too. A tool turn answers the newest agent turn before it that opened
its call id. A tool turn whose call is not among the turns (compacted away, or never seen) answers
nothing.
"""

from collections.abc import Sequence

import attrs

from turnfold.events.event import TurnAdded
from turnfold.events.extras import decode_extras
from turnfold.events.reasons import Reason
from turnfold.events.turns import Kind


@attrs.frozen
class Calls:
    """Who answers whom, by index into the turns."""

    answers: dict[int, int]  # tool turn -> agent turn
    waiting: frozenset[int]  # agent turns with a call that nobody has answered


def exchange_starts(turns: Sequence[TurnAdded]) -> list[int]:
    """Indices at which an exchange begins, in order; the first is 0 unless there are no turns."""
    return [
        index
        for index, turn in enumerate(turns)
        if index == 0 or turn.reason is Reason.ADDED_AVATAR
    ]


def calls(turns: Sequence[TurnAdded]) -> Calls:
    """The calls among the turns. Raises CorruptData if names or ids are malformed."""
    opened: dict[str, int] = {}
    unanswered: set[tuple[str, int]] = set()
    answers: dict[int, int] = {}
    for index, turn in enumerate(turns):
        if not turn.extras_bytes:
            continue
        kind = turn.kind
        for call_id in decode_extras(kind, turn.extras).call_ids:
            if kind is Kind.AGENT:
                opened[call_id] = index
                unanswered.add((call_id, index))
            elif call_id in opened:
                answers[index] = opened[call_id]
                unanswered.discard((call_id, opened[call_id]))
    return Calls(answers, frozenset(index for _, index in unanswered))


def groups(count: int, joined: Sequence[tuple[int, int]]) -> list[list[int]]:
    """0..count-1 in groups, where the two of each pair are in one; a group is ordered.

    Groups are ordered by their highest member: what is tied to something newer goes with it.
    """
    root = list(range(count))

    def find(index: int) -> int:
        while root[index] != index:
            root[index] = root[root[index]]
            index = root[index]
        return index

    for left, right in joined:
        root[find(left)] = find(right)
    members: dict[int, list[int]] = {}
    for index in range(count):
        members.setdefault(find(index), []).append(index)
    return sorted(members.values(), key=lambda group: group[-1])


def units(indices: Sequence[int], turns: Sequence[TurnAdded], linked: Calls) -> list[list[int]]:
    """Calls with their results, and other turns one by one, in the order they are given up.

    Tool turns first, then what remains; in each, what still waits for a result last, and the
    oldest first.
    """
    found: dict[int, list[int]] = {}
    for index in indices:
        found.setdefault(linked.answers.get(index, index), []).append(index)

    def order(unit: list[int]) -> tuple[bool, bool, int]:
        tools = [index for index in unit if turns[index].kind.is_tool]
        waits = any(index in linked.waiting for index in unit)
        return not tools, waits, tools[0] if tools else unit[0]

    return sorted(found.values(), key=order)
