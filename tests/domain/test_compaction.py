"""Which turns become the summary, and that the next turn always fits afterwards."""

from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sessions import (
    SMALLEST,
    add,
    compacted,
    cost,
    erased,
    session_of,
    stored,
    summary_of,
    turn_added,
    turn_strategy,
)

from turnfold.events.compaction import compact, conform
from turnfold.events.event import TurnAdded
from turnfold.events.extras import decode_extras
from turnfold.events.limits import EXTRAS_BYTES_MAX, TAG_BYTES, TURN_OVERHEAD_BYTES, Limits
from turnfold.events.reasons import Reason
from turnfold.events.sealed import Erased
from turnfold.events.session import Session
from turnfold.events.summary_facts import decode
from turnfold.events.turns import (
    ActionResult,
    AgentResponse,
    AvatarText,
    Kind,
    ToolSummary,
    Turn,
)

LIMITS = Limits(turns_per_session=8, tool_turns_per_session=4, summary_bytes=1024)


def exchange(number: int, *, tools: int = 0) -> list[Turn]:
    """One question, its calls with results, and the answer."""
    ids = [f"call-{number}-{tool}" for tool in range(tools)]
    calls: list[Turn] = [AgentResponse("", call_ids=tuple(ids))] if tools else []
    results: list[Turn] = [ToolSummary("look", f"saw {number}", call_id=call_id) for call_id in ids]
    return [AvatarText(f"question {number}"), *calls, *results, AgentResponse(f"answer {number}")]


def kept_positions(session: Session, kind: Kind, limits: Limits) -> list[int]:
    compaction = compact(session, kind, TURN_OVERHEAD_BYTES + 8, limits)
    assert compaction is not None
    return [turn.position for turn in session.turns if turn.position not in compaction.covers]


def split_pairs(before: Sequence[TurnAdded], covers: Sequence[int]) -> list[int]:
    """Positions of results that were separated from the call they answered, the slow way."""
    split: list[int] = []
    for index, turn in enumerate(before):
        if not turn.kind.is_tool:
            continue
        for call_id in decode_extras(turn.kind, turn.extras).call_ids:
            agents = [
                other
                for other in before[:index]
                if other.kind is Kind.AGENT
                and call_id in decode_extras(other.kind, other.extras).call_ids
            ]
            if agents and (agents[-1].position in covers) != (turn.position in covers):
                split.append(turn.position)
    return split


def test_nothing_is_compacted_while_the_limits_hold() -> None:
    session = session_of(stored(exchange(1) * 3))

    assert compact(session, Kind.AGENT, 300, LIMITS) is None


def test_whole_exchanges_go_down_to_three_quarters() -> None:
    session = session_of(stored(exchange(1) * 4))  # positions 2..9

    compaction = compact(session, Kind.AVATAR, 300, LIMITS)

    assert compaction is not None
    assert compaction.covers == (2, 3, 4, 5)  # 4 are left, and 6 with one new and one to come
    assert compaction.reason is Reason.COMPACTED_TURNS


def test_an_avatar_turn_begins_an_exchange_and_any_other_joins_the_newest() -> None:
    turns = stored([AvatarText("all in one")] + [AgentResponse(f"part {n}") for n in range(7)])
    session = session_of(turns)

    assert kept_positions(session, Kind.AVATAR, LIMITS) == []
    assert kept_positions(session, Kind.AGENT, LIMITS) == [5, 6, 7, 8, 9]


def test_the_newest_exchange_gives_up_its_oldest_calls_with_their_results_first() -> None:
    turns: list[Turn] = [AvatarText("do it")]
    for number in range(4):
        turns += [
            AgentResponse("", call_ids=(f"c{number}",)),
            ToolSummary("look", "seen", call_id=f"c{number}"),
        ]
    limits = Limits(turns_per_session=64, tool_turns_per_session=4)
    session = session_of(stored(turns))  # the question is 2, pairs are (3, 4), (5, 6), ...

    compaction = compact(session, Kind.TOOL, 300, limits)

    assert compaction is not None
    assert compaction.covers == (3, 4, 5, 6)  # two results are left: three with the new one
    assert compaction.reason is Reason.COMPACTED_TOOL_TURNS


def test_an_open_call_is_given_up_after_the_answered_ones() -> None:
    turns: list[Turn] = [
        AvatarText("do it"),  # 2
        AgentResponse("", call_ids=("open", "half")),  # 3
        ToolSummary("look", "seen", call_id="half"),  # 4
    ]
    for number in range(3):  # 5 to 10
        turns += [
            AgentResponse("", call_ids=(f"c{number}",)),
            ToolSummary("look", "seen", call_id=f"c{number}"),
        ]
    limits = Limits(turns_per_session=64, tool_turns_per_session=4)

    assert kept_positions(session_of(stored(turns)), Kind.TOOL, limits) == [2, 3, 4, 9, 10]


def test_chat_is_not_compacted_for_tool_turns_that_are_all_in_the_newest_exchange() -> None:
    turns = [*exchange(1), *exchange(2), *exchange(3, tools=4)]
    limits = Limits(turns_per_session=64, tool_turns_per_session=4)
    session = session_of(stored(turns))

    kept = kept_positions(session, Kind.TOOL, limits)

    assert set(range(2, 7)) <= set(kept)
    assert len(kept) == 6  # one call with its four results went


def test_a_late_result_keeps_the_exchange_of_its_call() -> None:
    turns = [
        AvatarText("start it"),  # 2
        AgentResponse("", call_ids=("slow",)),  # 3
        *exchange(1),  # 4, 5
        *exchange(2),  # 6, 7
        AvatarText("and now?"),  # 8
        ToolSummary("look", "done at last", call_id="slow"),  # 9
    ]

    assert kept_positions(session_of(stored(turns)), Kind.AGENT, LIMITS) == [2, 3, 8, 9]


def test_text_that_is_gone_is_counted_and_contributes_nothing() -> None:
    turns = [erased(turn) for turn in stored(exchange(7, tools=1) * 2)]

    compaction = compact(session_of(turns), Kind.AVATAR, 300, LIMITS)

    assert compaction is not None
    facts = decode(compaction.summary)
    assert facts.lost == len(compaction.covers)
    assert not facts.excerpts
    assert sum(facts.tools.other) == facts.counts[Kind.TOOL.value]


def test_a_summary_that_cannot_be_read_is_counted() -> None:
    lost = attrs.evolve(summary_of(b"x" * 99, covered=40, position=1), sealed=Erased(115))
    session = session_of(stored(exchange(1) * 4), summary=lost)

    compaction = compact(session, Kind.AVATAR, 300, LIMITS)

    assert compaction is not None
    assert decode(compaction.summary).turns == 40 + len(compaction.covers)


def test_a_call_that_was_compacted_away_does_not_stop_its_late_result() -> None:
    late = stored([ToolSummary("look", "late", call_id="gone")] + [AgentResponse("x")] * 7)

    assert kept_positions(session_of(late), Kind.AGENT, LIMITS) == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("kind", list(Kind))
def test_the_largest_turn_fits_after_the_largest_session(kind: Kind) -> None:
    largest = AgentResponse("x" * 64)
    session = session_of([turn_added(largest, position, tagged=True) for position in range(2, 6)])
    cost_max = 64 + EXTRAS_BYTES_MAX + TURN_OVERHEAD_BYTES + TAG_BYTES

    compaction = compact(session, kind, cost_max, SMALLEST)

    assert compaction is not None
    after = compacted(session, compaction, 6)
    assert after.size + cost_max <= SMALLEST.bytes_per_session


def test_sources_that_take_more_than_counts_become_a_smaller_summary() -> None:
    turns = stored([AvatarText(f"We meet at {n} tomorrow at the plaza.") for n in range(8)])

    compaction = compact(session_of(turns), Kind.AVATAR, 300, LIMITS)

    assert compaction is not None
    sources = sum(turn.text_bytes for turn in turns if turn.position in compaction.covers)
    assert len(compaction.summary) < sources
    assert decode(compaction.summary).excerpts


def test_a_session_conforms_to_lowered_limits() -> None:
    session = session_of(stored(exchange(1, tools=2) * 8))

    compaction = conform(session, SMALLEST)

    assert compaction is not None
    after = compacted(session, compaction, 99)
    assert len(after.turns) <= 4
    assert after.tool_turns <= 1
    assert conform(after, SMALLEST) is None


def test_a_summary_is_cut_to_a_lowered_limit_without_turns() -> None:
    line = "We meet at {} tomorrow at the plaza, and then we go to the other place together."
    turns = stored([AvatarText(line.format(number)) for number in range(40)])
    large = compact(session_of(turns), Kind.AVATAR, 300, Limits(turns_per_session=8))
    assert large is not None
    assert len(large.summary) > 512
    session = session_of((), summary=summary_of(large.summary, covered=40, position=50))
    limits = Limits(summary_bytes=512)

    compaction = conform(session, limits)

    assert compaction is not None
    assert compaction.covers == ()
    assert len(compaction.summary) <= 512
    assert decode(compaction.summary).counts == decode(large.summary).counts


@given(st.lists(st.tuples(turn_strategy(), st.booleans()), max_size=40))
def test_every_turn_fits_into_the_smallest_limits(added: list[tuple[Turn, bool]]) -> None:
    session = session_of()
    ids_max = SMALLEST.turn_ids_per_session
    covered: list[int] = []
    position = 1
    for turn, wants_id in added:
        position += 2
        incoming = turn_added(turn, position, tagged=wants_id and session.turn_id_count < ids_max)
        before = session.turns
        session, compaction = add(session, incoming, SMALLEST)

        assert len(session.turns) <= SMALLEST.turns_per_session
        assert session.tool_turns <= SMALLEST.tool_turns_per_session
        assert session.size <= SMALLEST.bytes_per_session
        assert session.turns[-1] is incoming
        if compaction is not None:
            assert compaction.covers
            assert split_pairs(before, compaction.covers) == []
            assert len(compaction.summary) <= SMALLEST.summary_bytes
            covered += compaction.covers
            facts = decode(compaction.summary)
            assert facts.turns == len(covered)
            assert (facts.first, facts.last) == (min(covered), max(covered))
            assert facts.counts[2] + facts.counts[3] == sum(facts.tools.total) + sum(
                facts.outcomes.total
            )
        assert conform(session, SMALLEST) is None
    assert len(covered) == len(set(covered))


@given(st.lists(turn_strategy(), min_size=9, max_size=30), st.sampled_from(list(Kind)))
def test_compaction_depends_on_the_session_alone(turns: list[Turn], kind: Kind) -> None:
    first = compact(session_of(stored(turns)), kind, 300, LIMITS)
    second = compact(session_of(stored(turns)), kind, 300, LIMITS)

    assert first == second
    assert first is not None


@given(st.lists(turn_strategy(), min_size=9, max_size=30))
def test_what_stays_keeps_its_order_and_the_oldest_exchanges_go(turns: list[Turn]) -> None:
    """Without call ids the turns covered are a prefix that ends where an exchange begins."""
    plain = [
        turn if isinstance(turn, AvatarText) else AgentResponse(str(turn.text)) for turn in turns
    ]
    session = session_of(stored(plain))

    kept = kept_positions(session, Kind.AVATAR, LIMITS)

    assert kept == [turn.position for turn in session.turns][len(plain) - len(kept) :]
    by_position = {turn.position: turn for turn in session.turns}
    assert not kept or by_position[kept[0]].kind is Kind.AVATAR


def test_an_action_result_is_a_tool_turn() -> None:
    turns = stored([AvatarText("go")] + [ActionResult("walk", "ok", "there")] * 4)
    limits = Limits(tool_turns_per_session=4)

    compaction = compact(session_of(turns), Kind.ACTION, cost(turns[1]), limits)

    assert compaction is not None
    assert compaction.covers == (3, 4)
    assert decode(compaction.summary).outcomes.total == (2, 0, 0)
