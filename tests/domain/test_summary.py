"""The factual summary: exact sums, a total order for the rest, and no secret made of parts."""

import subprocess
import sys
from collections import Counter
from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sessions import AT, erased, stored, turn_added, turn_strategy

from turnfold.events import cbor
from turnfold.events.errors import CorruptData
from turnfold.events.event import TurnAdded
from turnfold.events.limits import Limits
from turnfold.events.redaction import is_clean, redact
from turnfold.events.summary import redact_summary, summarise
from turnfold.events.summary_body import assemble, render, utc
from turnfold.events.summary_facts import COUNTS_BYTES_MAX, Facts, decode, encode
from turnfold.events.turns import (
    ActionResult,
    AgentResponse,
    AvatarText,
    Kind,
    ToolSummary,
    Turn,
)

LARGEST = 64 * 1024
MIXED: list[Turn] = [
    AvatarText("My name is Ada and I live in Ahern. lol"),
    AgentResponse("I will meet you at 8 tomorrow.", call_ids=("c1",)),
    ToolSummary("look_around", "Two avatars are at the plaza.", call_id="c1"),
    ActionResult("sit", "failed", "The bench is taken."),
    ActionResult("sit", "ok", "Sat down."),
    ActionResult("pay", "refused", "Not without the owner."),
]


def facts_of(turns: list[Turn], limit: int = LARGEST) -> Facts:
    return decode(summarise(stored(turns), None, limit))


def sums(facts: Facts) -> tuple[object, ...]:
    """Everything that must be exact whatever was merged in which order."""
    return (
        (facts.first, facts.last, facts.first_at, facts.last_at),
        facts.counts,
        (facts.text_bytes, facts.redactions, facts.truncated, facts.lost, facts.unknown),
        facts.outcomes.total,
        facts.tools.total,
    )


def test_counts_ranges_and_tallies() -> None:
    facts = facts_of(MIXED)

    assert (facts.first, facts.last) == (2, 7)
    assert (facts.first_at, facts.last_at) == (AT + 2 * 10**9, AT + 7 * 10**9)
    assert facts.counts == (1, 1, 1, 3)
    assert facts.text_bytes == sum(turn.text.byte_count for turn in MIXED)
    assert [(t.name, t.counts) for t in facts.outcomes.named] == [
        ("sit", (1, 1, 0)),
        ("pay", (0, 0, 1)),
    ]
    assert [(t.name, t.counts) for t in facts.tools.named] == [("look_around", (1,))]


def test_redactions_are_counted_and_never_quoted_as_text() -> None:
    secret = "pass" + "word: hunter2" + "xyz9"
    facts = facts_of([AvatarText(f"please remember my {secret}"), AvatarText("thanks a lot then")])

    assert facts.redactions == 1
    assert all("hunter2" not in excerpt.text for excerpt in facts.excerpts)


def test_results_are_the_last_to_go_and_failures_the_very_last() -> None:
    turns: list[Turn] = []
    for number in range(30):  # results at 3, 5, ...; every third failed
        turns.append(AvatarText(f"We must meet at {number} tomorrow, will you come? " * 4))
        turns.append(ActionResult("walk", "ok" if number % 3 else "failed", f"walk {number}"))
    failed = list(range(3, 62, 6))
    newest_first = [position for position in range(61, 2, -2) if position not in failed]
    by_rank = [*reversed(failed), *newest_first]

    kept: list[int] = []
    for limit in (4096, 2048, 1024, 768, 512, 384, 256, 192):
        facts = facts_of(turns, limit)
        positions = [result.position for result in facts.results]

        assert positions == sorted(by_rank[: len(positions)])
        assert len(positions) == 30 or not facts.excerpts
        kept.append(len(positions))

    assert kept == sorted(kept, reverse=True)
    assert kept[0] == 30
    assert 0 < kept[-1] < 10


def test_an_ok_that_says_nothing_new_is_told_once() -> None:
    facts = facts_of([ActionResult("sit", "ok", "Sat down.")] * 9)

    assert [result.position for result in facts.results] == [10]
    assert facts.outcomes.total == (9, 0, 0)


def test_excerpts_are_verbatim_with_position_and_kind() -> None:
    facts = facts_of(MIXED)
    by_position = {index + 2: turn for index, turn in enumerate(MIXED)}

    assert len(facts.excerpts) >= 3
    for excerpt in facts.excerpts:
        source = by_position[excerpt.position]
        assert excerpt.text in source.text
        assert excerpt.kind is source.kind


def test_a_name_dropped_for_room_stays_in_the_sums_and_returns_as_at_least() -> None:
    many = stored([ToolSummary(f"tool_{n:02}", "x") for n in range(20) for _ in range(20 - n)])
    first = summarise(many, None, LARGEST)
    again = stored([ToolSummary("tool_19", "x")] * 50, first=500)
    second = decode(summarise(again, first, LARGEST))

    assert decode(first).tools.total == (210,)
    assert second.tools.total == (260,)
    assert (second.tools.named[0].name, second.tools.named[0].partial) == ("tool_19", True)
    assert second.tools.named[0].counts == (50,)
    assert len(second.tools.named) == 8
    assert not second.tools.named[1].partial


def test_counts_always_fit_into_the_smallest_summary() -> None:
    """Every number at its largest, every name at its longest, in scripts of three bytes."""
    turns = [
        turn_added(turn, 2**63 + index, at=2**63)
        for index, turn in enumerate(
            [ToolSummary(chr(0x4E00 + n) * 42, "x" * 64) for n in range(40)]
            + [ActionResult(chr(0x5E00 + n) * 42, "failed", "y" * 64) for n in range(40)]
        )
    ]
    for limit in (0, COUNTS_BYTES_MAX, 512, 1024):
        summary = summarise(turns, None, limit, unknown=2**63)
        assert len(summary) <= max(COUNTS_BYTES_MAX, limit)
        assert decode(summary).tools.total == (40,)
    assert Limits(summary_bytes=512).summary_bytes > COUNTS_BYTES_MAX


def test_erased_turns_are_counted_by_kind_and_outcome() -> None:
    facts = decode(summarise([erased(turn) for turn in stored(MIXED)], None, LARGEST))

    assert facts.counts == (1, 1, 1, 3)
    assert facts.lost == 6
    assert facts.outcomes.other == (1, 1, 1)
    named = (facts.outcomes.named, facts.tools.named, facts.results, facts.excerpts)
    assert not any(named)


def test_nothing_to_summarise_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to summarise"):
        summarise([], None, 512)


# --- merging --------------------------------------------------------------------------------------

turn_lists = st.lists(turn_strategy(), min_size=1, max_size=24)


@given(turn_lists, st.integers(1, 23), st.sampled_from([512, 1024, 4096]))
def test_merged_sums_are_those_of_all_turns_at_once(
    turns: list[Turn], cut: int, limit: int
) -> None:
    added = stored(turns)
    cut = min(cut, len(added))
    left = summarise(added[:cut], None, limit)
    merged = summarise(added[cut:], left, limit) if added[cut:] else left

    assert sums(decode(merged)) == sums(decode(summarise(added, None, limit)))
    assert len(merged) <= limit


@given(turn_lists, st.sampled_from([512, 700, 4096]))
def test_pruning_again_changes_nothing(turns: list[Turn], limit: int) -> None:
    summary = summarise(stored(turns), None, limit)

    assert summarise([], summary, limit) == summary
    assert redact_summary(summary) == summary
    assert encode(decode(summary)) == summary


@given(turn_lists)
def test_five_summaries_of_summaries_quote_only_their_sources(turns: list[Turn]) -> None:
    summary: bytes | None = None
    source: dict[int, TurnAdded] = {}
    for generation in range(5):
        added = stored(turns, first=2 + 100 * generation)
        source |= {turn.position: turn for turn in added}
        summary = summarise(added, summary, 1024)
    assert summary is not None
    facts = decode(summary)

    assert facts.turns == 5 * len(turns)
    for excerpt in facts.excerpts:
        turn = source[excerpt.position]
        assert excerpt.kind is turn.kind
        assert excerpt.text in (turn.text or "")
    for result in facts.results:
        turn = source[result.position]
        assert result.outcome is turn.outcome
        assert (turn.text or "").startswith(result.text)


@given(turn_lists, st.sampled_from([512, 2048]))
def test_what_is_quoted_and_what_the_model_sees_is_clean(turns: list[Turn], limit: int) -> None:
    facts = decode(summarise(stored(turns), None, limit))

    assert all(redact(excerpt.text) == excerpt.text for excerpt in facts.excerpts)
    assert is_clean(assemble(*render(facts)))


def test_parts_that_make_a_secret_together_are_not_both_quoted() -> None:
    """The cue ends one turn, the value is the next: each alone is no secret."""
    cue, value = "so you know, my pass" + "word is", "hunter2" + "xyz9 and nothing else at all"
    turns: list[Turn] = [AvatarText(cue), AvatarText(value), AvatarText("We meet at 8 tomorrow.")]
    assert [str(turn.text) for turn in turns[:2]] == [cue, value]

    facts = facts_of(turns)

    assert is_clean(assemble(*render(facts)))
    assert [excerpt.text for excerpt in facts.excerpts if "meet" in excerpt.text]


def test_cues_without_values_cost_no_other_quotation() -> None:
    """Nobody can have failures forgotten by ending many sentences on a cue."""
    cue = "so you know, my pass" + "word is"
    turns: list[Turn] = [ActionResult("pay", "failed", "The account is closed.")]
    for number in range(40):
        turns += [
            AvatarText(f"L${number}: {cue}"),
            AgentResponse(f"We meet at {number} tomorrow, all together."),
        ]

    facts = facts_of(turns)

    assert is_clean(assemble(*render(facts)))
    assert [result.text for result in facts.results] == ["The account is closed."]
    assert any(excerpt.kind is Kind.AGENT for excerpt in facts.excerpts)
    assert not any(cue in excerpt.text for excerpt in facts.excerpts)


def test_the_bytes_are_pinned_for_every_version_of_python() -> None:
    summary = summarise(stored(MIXED * 7), None, 1024)

    assert blake2b(summary, digest_size=8).hexdigest() == "5af1f052661ff1ed"


def test_the_same_turns_give_the_same_bytes_in_any_process() -> None:
    """Hash seed and locale play no part."""
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from domain.test_summary import MIXED\n"
        "from sessions import stored\n"
        "from turnfold.events.summary import summarise\n"
        "print(summarise(stored(MIXED * 7), None, 1024).hex())\n"
    )
    found = Counter(
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "LC_ALL": locale, "PATH": ""},
        ).stdout
        for seed, locale in (("0", "C"), ("1", "C.UTF-8"), ("77", "tr_TR.UTF-8"))
    )

    assert list(found.values()) == [3]


# --- decoding -----------------------------------------------------------------------------------


SMALLEST: list[Any] = [1, 1, 1, 0, 0, [0] * 4, 0, 0, 0, 0, 0, [[], 0, 0, 0], [[], 0], [], []]


def changed(field: int, value: object) -> bytes:
    """A smallest summary in which one field is another."""
    return cbor.encode([*SMALLEST[:field], value, *SMALLEST[field + 1 :]])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        cbor.encode(SMALLEST[:-1]),
        cbor.encode(SMALLEST) + b"\x00",
        changed(0, 2),  # another version
        changed(1, 2),  # first after last
        changed(5, [0] * 3),
        changed(6, -1),
        changed(6, True),
        changed(11, [[["sit", False, 1, 2, 3]] * 2, 0, 0, 0]),  # a name twice
        changed(12, [[["look", 0, 1]], 0]),
        changed(12, [[[f"tool {number}", False, 1] for number in range(9)], 0]),
        changed(13, [[1, 9, "sit", ""]]),
        changed(13, [[1, 0, "sit", "x" * 121]]),
        changed(14, [[1, 4, 0, "hello"]]),
        changed(14, [[1, 0, 0, "x" * 201]]),
        changed(14, [[1, 0, 0, b"hello"]]),
    ],
)
def test_bytes_that_are_no_summary_are_refused(data: bytes) -> None:
    assert decode(cbor.encode(SMALLEST)).turns == 0
    with pytest.raises(CorruptData):
        decode(data)


@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 255))
def test_damaged_bytes_decode_to_facts_or_are_refused(junk: bytes, at: int, byte: int) -> None:
    good = bytearray(summarise(stored(MIXED), None, 1024))
    good[at % len(good)] = byte
    for data in (junk, bytes(good), bytes(good[: at % len(good)])):
        try:
            assert encode(decode(data)) == data
        except CorruptData:
            continue


def test_the_last_representable_time_is_shown() -> None:
    assert utc(0) == "1970-01-01T00:00:00Z"
    assert utc(2**64 - 1) == "2554-07-21T23:34:33Z"
