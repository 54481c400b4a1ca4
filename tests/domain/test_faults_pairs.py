"""Calls and results that don't come one for one: what belongs together stays or goes together."""

from contexts import context_of, visible
from sessions import SECRET, session_of, stored, turn_added

from turnfold.events.compaction import compact
from turnfold.events.context import project
from turnfold.events.limits import Limits
from turnfold.events.turns import AgentResponse, AvatarText, Kind, ToolSummary, Turn

INTERIM_AND_FINAL: list[Turn] = [
    AvatarText("book it"),  # 2
    AgentResponse("", call_ids=("c1",)),  # 3
    ToolSummary("book", "pending", call_id="c1"),  # 4
    AvatarText("and?"),  # 5
    AgentResponse("still waiting"),  # 6
    ToolSummary("book", "seat 4", call_id="c1"),  # 7
    AvatarText("thanks"),  # 8
    AgentResponse("welcome"),  # 9
]
CALL_AND_ITS_RESULTS = {3, 4, 7}
THREE_AT_ONCE: list[Turn] = [
    AvatarText("look everywhere"),
    AgentResponse("", call_ids=("a", "b", "c")),
    ToolSummary("look", "left", call_id="a"),
    ToolSummary("look", "right", call_id="b"),
    ToolSummary("look", "up", call_id="c"),
    AgentResponse("nothing there"),
]


def together(shown: set[int], those: set[int]) -> bool:
    return shown >= those or not shown & those


def test_an_interim_result_does_not_part_the_final_one_from_its_call() -> None:
    compactions = 0
    for turns_max in range(4, 12):
        limits = Limits(turns_per_session=turns_max, tool_turns_per_session=4)
        session = session_of(stored(INTERIM_AND_FINAL))
        compaction = compact(session, Kind.AVATAR, 300, limits)
        covered = set(compaction.covers) if compaction else set[int]()
        assert together(covered, CALL_AND_ITS_RESULTS)
        compactions += compaction is not None
    assert compactions > 2


def test_no_budget_shows_one_of_two_results_without_the_other() -> None:
    for budget in range(900):
        shown = set(visible(context_of(INTERIM_AND_FINAL, budget_bytes=budget)))
        # The call itself has no words, so only its results can be seen.
        assert together(shown, CALL_AND_ITS_RESULTS - {3})


def test_calls_made_at_once_are_compacted_with_all_their_results() -> None:
    for before in range(4):
        turns = [AvatarText("hello")] * before + THREE_AT_ONCE + [AvatarText("and now?")] * 3
        call_and_results = {before + offset for offset in (3, 4, 5, 6)}
        for turns_max in range(4, len(turns) + 2):
            limits = Limits(turns_per_session=turns_max, tool_turns_per_session=4)
            compaction = compact(session_of(stored(turns)), Kind.AVATAR, 300, limits)
            covered = set(compaction.covers) if compaction else set[int]()
            assert together(covered, call_and_results)


def test_a_result_stamped_before_its_call_stays_behind_it() -> None:
    turns: list[Turn] = [
        AvatarText("go"),
        AgentResponse("calling", call_ids=("c1",)),
        ToolSummary("look", "seen", call_id="c1"),
        AgentResponse("there it is"),
    ]
    stamps = (10, 9, 8, 7)  # a clock that is set back
    session = session_of(
        [turn_added(turn, 2 + n, at=stamps[n] * 10**9) for n, turn in enumerate(turns)]
    )

    assert visible(project(session, None, secret=SECRET)) == [2, 3, 4, 5]
