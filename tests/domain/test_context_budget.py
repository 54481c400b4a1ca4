"""Budgets of a context: whole exchanges, both or neither of a pair, clean clips."""

import re
from typing import Any

import pytest
from contexts import context_of, visible
from hypothesis import given
from hypothesis import strategies as st
from sessions import SECRET, session_of, stored, summary_of, turn_strategy

from turnfold.events.context import Context, project
from turnfold.events.errors import InvalidInput
from turnfold.events.event import TurnAdded
from turnfold.events.extras import decode_extras
from turnfold.events.redaction import PLACEHOLDER, is_clean, redact
from turnfold.events.summary import summarise
from turnfold.events.turns import AgentResponse, AvatarText, Kind, ToolSummary, Turn


def pairs(turns: tuple[TurnAdded, ...]) -> list[tuple[int, int]]:
    """(call, result) positions, the slow way."""
    found: list[tuple[int, int]] = []
    for index, turn in enumerate(turns):
        if turn.kind.is_tool:
            for call_id in decode_extras(turn.kind, turn.extras).call_ids:
                agents = [
                    other.position
                    for other in turns[:index]
                    if other.kind is Kind.AGENT
                    and call_id in decode_extras(other.kind, other.extras).call_ids
                ]
                found += [(agents[-1], turn.position)] if agents else []
    return found


def size(context: Context) -> int:
    return sum(len(message.content.encode()) for message in context.messages)


@given(st.lists(turn_strategy(), min_size=1, max_size=14), st.integers(0, 4000))
def test_a_budget_holds_and_splits_no_pair(turns: list[Turn], budget: int) -> None:
    session = session_of(stored(turns))
    context = project(session, None, secret=SECRET, budget_bytes=budget)
    whole = project(session, None, secret=SECRET)

    assert size(context) <= budget
    shown = visible(context)
    assert shown == sorted(shown)
    empty = {t.position for t in session.turns} - set(visible(whole))
    for call, result in pairs(session.turns):
        if call not in empty:
            assert (call in shown) == (result in shown)
    if size(whole) <= budget:
        assert context == whole


@given(st.lists(turn_strategy(), min_size=1, max_size=14), st.integers(0, 1500))
def test_a_token_budget_holds_with_the_callers_counter(turns: list[Turn], budget: int) -> None:
    def count(text: str) -> int:
        return len(re.findall(r"\w+|[^\w\s]", text))

    context = context_of(turns, budget_tokens=budget, count_tokens=count)

    assert sum(count(message.content) for message in context.messages) <= budget


def test_whole_exchanges_are_left_out_oldest_first() -> None:
    turns: list[Turn] = []
    for number in range(4):
        turns += [AvatarText(f"question {number}"), AgentResponse(f"answer {number}")]

    assert visible(context_of(turns, budget_bytes=53)) == [6, 7, 8, 9]
    assert visible(context_of(turns, budget_bytes=36)) == [6, 7, 8, 9]
    assert visible(context_of(turns, budget_bytes=35)) == [8, 9]
    assert visible(context_of(turns, budget_tokens=14)) == [6, 7, 8, 9]


def test_both_or_neither_of_a_call_and_its_result_stay() -> None:
    turns: list[Turn] = [
        AvatarText("go"),
        AgentResponse("calling", call_ids=("c1",)),
        *(AvatarText("x"), AgentResponse("y")) * 3,
        AvatarText("and?"),
        ToolSummary("look", "late", call_id="c1"),
    ]
    whole = context_of(turns)

    assert 11 in visible(whole)
    for budget in range(size(whole)):
        shown = visible(context_of(turns, budget_bytes=budget))
        assert (3 in shown) == (11 in shown)


def test_the_summary_stays_beside_the_newest_exchange_if_it_takes_no_more_than_half() -> None:
    summary = summary_of(
        summarise(stored([AvatarText("hello there")]), None, 512), covered=1, position=3
    )
    turns = stored([AvatarText("a" * 400), AgentResponse("b" * 400)] * 5, first=4)
    session = session_of(turns, summary=summary)
    takes = len(project(session, None, secret=SECRET).messages[0].content)

    def shown(budget: int) -> list[int]:
        return visible(project(session, None, secret=SECRET, budget_bytes=budget))

    assert shown(max(2 * takes, takes + 800)) == [3, 12, 13]
    assert 3 not in shown(2 * takes - 1)
    assert shown(takes + 4000) == [3, *range(4, 14)]


def test_a_large_newest_exchange_is_clipped_with_redaction_intact() -> None:
    secret = "pass" + "word: hunter2" + "xyz9 "
    text = "é" * 50 + secret * 9 + "日本語" * 40
    turns: list[Turn] = [AvatarText(text), AgentResponse("yes " * 90)]

    for budget in range(0, 700, 7):
        context = context_of(turns, budget_bytes=budget)
        assert size(context) <= budget
        for message in context.messages:
            assert redact(message.content) == message.content
            rest = PLACEHOLDER.sub("", message.content)
            assert "[red" not in rest
    assert visible(context_of(turns, budget_bytes=200)) == [2, 3]
    assert visible(context_of(turns, budget_bytes=50)) == [2]


def test_a_clipped_exchange_gives_up_its_oldest_calls_and_keeps_the_question() -> None:
    turns: list[Turn] = [AvatarText("what is there?")]
    for number in range(3):
        turns += [
            AgentResponse("", call_ids=(f"c{number}",)),
            ToolSummary("look", "seen " * 99, call_id=f"c{number}"),
        ]
    one_pair = size(context_of([AvatarText("what is there?"), *turns[1:3]]))

    shown = visible(context_of(turns, budget_bytes=one_pair))

    assert shown == [2, 7, 8]


@pytest.mark.parametrize("budget", [-1, True, 1.5, "1", b""])
def test_a_budget_that_is_no_size_is_refused(budget: Any) -> None:
    for budgets in ({"budget_bytes": budget}, {"budget_tokens": budget}):
        with pytest.raises(InvalidInput, match="budget"):
            context_of([AvatarText("x")], **budgets)


def test_a_counter_that_cant_be_called_is_refused() -> None:
    wrong: Any = 5
    with pytest.raises(InvalidInput, match="count_tokens"):
        context_of([AvatarText("x")], budget_tokens=9, count_tokens=wrong)


def test_messages_of_a_context_are_clean() -> None:
    context = context_of(
        [AvatarText("hello"), AgentResponse("hi"), ToolSummary("look", "a plaza at noon")]
    )

    assert all(is_clean(message.content) for message in context.messages)
