"""Blocks that were made for one context and are shown again in the next: nothing shows it."""

from contexts import parsed
from hypothesis import given
from hypothesis import strategies as st
from sessions import SECRET, erased, session_of, stored, summary_of, turn_strategy

from turnfold.events.context import project
from turnfold.events.context_messages import Drawings
from turnfold.events.summary import summarise
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary, Turn

CALL = AgentResponse("on my way", call_ids=("c1",))
RESULT = ToolSummary("look", "a plaza", call_id="c1")


@given(st.lists(turn_strategy(), max_size=12), st.integers(0, 12))
def test_a_context_is_the_same_with_kept_blocks(turns: list[Turn], count: int) -> None:
    session = session_of(stored(turns))
    earlier = session_of(stored(turns)[:count])
    drawings: Drawings = {}
    project(earlier, None, secret=SECRET, drawings=drawings)

    for budget in (None, 40, 400, 4000):
        kept = project(session, None, secret=SECRET, drawings=drawings, budget_bytes=budget)
        assert kept == project(session, None, secret=SECRET, budget_bytes=budget)


def test_a_kept_block_names_a_call_only_while_the_call_is_shown() -> None:
    turns = stored([AvatarText("come"), CALL, RESULT])
    drawings: Drawings = {}
    for shown, call_id in ((turns, "c1"), (turns[2:], None), (turns, "c1")):
        context = project(session_of(shown), None, secret=SECRET, drawings=drawings)
        assert parsed(context.messages[-1])["records"][0].get("call_id") == call_id


def test_blocks_of_tools_actions_and_summaries_are_kept_and_no_plain_text_is() -> None:
    turns = stored([AvatarText("come"), CALL, RESULT, ActionResult("walk", "ok", "there")])
    summary = summary_of(summarise(turns, None, 600), covered=4, position=9)
    drawings: Drawings = {}

    project(session_of(turns, summary=summary), None, secret=SECRET, drawings=drawings)

    assert set(drawings) == {turns[2].position, turns[3].position, summary.position}


def test_a_lost_text_is_never_shown_from_a_kept_block() -> None:
    turn = stored([RESULT])[0]
    drawings: Drawings = {}
    project(session_of([turn]), None, secret=SECRET, drawings=drawings)

    context = project(session_of([erased(turn)]), None, secret=SECRET, drawings=drawings)

    assert parsed(context.messages[-1])["records"][0]["lost_bytes"] == turn.text_bytes
