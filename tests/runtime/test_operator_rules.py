"""Rules from the configuration: what they find, what is refused, and stores from before them."""

from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from domain.redaction_lines import ALPHANUMERIC, Maker
from hypothesis import given
from hypothesis import strategies as st
from runtime.fake_log import KEY, until
from runtime.state_rig import every_byte, opened
from watching import watching

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.messages import AddTurn, AddTurns
from turnfold.events.errors import InvalidConfig
from turnfold.events.event import StoreOpened, TurnRedacted
from turnfold.events.limits import Limits
from turnfold.events.log.read_events import read_events
from turnfold.events.log.verify import verify
from turnfold.events.reasons import Reason
from turnfold.events.redaction import RULESET_VERSION, RedactedText, clip, is_clean, redact
from turnfold.events.redaction_operator import (
    CHARACTERS,
    MIN_LENGTH,
    RULES_MAX,
    OperatorRules,
    builtin_version,
    parse_rules,
)
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary

BADGE: dict[str, dict[str, Any]] = {
    "badge": {"prefix": "BDG:", "characters": "digits", "min_length": 6}
}
RULES = parse_rules(BADGE)
NUMBER = "60" + "417" + "3358"
SECRET = f"BDG:{NUMBER}"


def said(store: ConversationStore) -> str:
    return "\n".join(message.content for message in store.context(KEY).messages)


def rule(**changes: Any) -> dict[str, Any]:
    return {"x": {key: value for key, value in (BADGE["badge"] | changes).items() if value != ""}}


# --- what they find ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"my badge {SECRET}, ok?", "my badge [redacted:token], ok?"),
        (f'{{"badge": "{SECRET}"}}', '{"badge": "[redacted:token]"}'),
        (f"{SECRET}{SECRET}", "[redacted:token]"),
        (f"BDG:12{SECRET}", "BDG:12[redacted:token]"),
        ("BDG\u200b:" + NUMBER, "[redacted:token]"),
        ("BDG%3A" + NUMBER, "[redacted:token]"),
        ("ＢＤＧ：" + NUMBER, "[redacted:token]"),
        ("BDG:12345 is too short", "BDG:12345 is too short"),
        ("bdg:604173358 is something else", "bdg:604173358 is something else"),
        ("[redacted:token] BDG: 60", "[redacted:token] BDG: 60"),
    ],
)
def test_the_prefix_and_the_run_after_it_go(text: str, expected: str) -> None:
    assert is_clean(text)  # the built-in rules see nothing in it
    found = RULES.redact(text)
    assert found == expected
    assert is_clean(str(found))
    assert RULES.is_clean(str(found))
    assert RULES.is_clean(text) == (text == expected)
    assert sum(count for _, count in found.redactions) == (0 if text == expected else 1)


def test_a_prefix_that_overlaps_itself_is_found_wherever_it_starts() -> None:
    rules = parse_rules({"x": {"prefix": "a-a-", "characters": "letters", "min_length": 4}})
    assert rules.redact("a-a-a-abcdefg") == "a-[redacted:token]"


pieces = st.sampled_from(["BDG:", "BDG", "12", "604173", " ", "%3A", "[redacted:token]", "é", ":"])
texts = st.lists(pieces | st.text(max_size=4), max_size=12).map("".join)


@given(text=texts)
def test_the_result_is_a_fixed_point_of_all_rules_also_when_it_is_cut(text: str) -> None:
    once = RULES.redact(text)
    assert RULES.redact(str(once)) == once == redact(str(once))
    for size in (0, 5, 20, once.byte_count):
        assert RULES.is_clean(str(clip(once, size)))


def lines_run(rules: OperatorRules, text: str) -> int:
    """How many lines of Python the search takes: an amount of work that no clock is needed for."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace if "redaction" in frame.f_code.co_filename else None

    with watching(trace, lines=True):
        rules.find(text)
    return count


@pytest.mark.parametrize("unit", ["a", "aab", "a-", "b", "aa%61", "é"])
@pytest.mark.parametrize("characters", CHARACTERS)
def test_twice_the_text_is_at_most_twice_the_work(unit: str, characters: str) -> None:
    rules = parse_rules(
        {"x": {"prefix": "aaa", "characters": characters, "min_length": MIN_LENGTH[1]}}
    )
    assert lines_run(rules, unit * 4_000) <= 2.1 * lines_run(rules, unit * 2_000) + 50


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("x", r"^conversation\.redaction must be a table$"),
        ({"x": "y"}, r"^conversation\.redaction\.x must be a table$"),
        ({"Bad Name": {}}, r"^conversation\.redaction has a rule whose name"),
        (rule(more=1), r"^conversation\.redaction\.x has a key that is none of prefix, "),
        (rule(prefix=""), r"^conversation\.redaction\.x\.prefix is missing: .* no bound$"),
        (rule(min_length=""), r"^conversation\.redaction\.x\.min_length is missing: .* no bound$"),
        (rule(characters=""), r"^conversation\.redaction\.x\.characters is missing"),
        (rule(prefix="AB"), r"^conversation\.redaction\.x\.prefix must be .* 3 to 32 characters$"),
        (rule(prefix="A" * 33), r"\.prefix must be .* 3 to 32 characters$"),
        (rule(prefix="my key"), r"\.prefix must be printable ASCII .* patterns are not supported$"),
        (rule(prefix=r"\d+\d+"), r"\.prefix must be printable ASCII"),
        (rule(prefix='ab"'), r"\.prefix must be printable ASCII"),
        (rule(prefix="ключ"), r"\.prefix must be printable ASCII"),
        (rule(prefix=7), r"\.prefix must be a text"),
        (rule(characters="[^x]*"), r"\.characters must be one of digits, hex, "),
        (rule(characters=["digits"]), r"\.characters must be one of "),
        (rule(min_length=3), r"\.min_length must be an integer from 4 to 64$"),
        (rule(min_length=65), r"\.min_length must be an integer from 4 to 64$"),
        (rule(min_length=True), r"\.min_length must be an integer"),
        (
            {f"rule_{n}": BADGE["badge"] for n in range(RULES_MAX + 1)},
            r"^conversation\.redaction has 33 rules; the hard ceiling is 32$",
        ),
    ],
)
def test_what_has_no_bound_is_refused_by_its_full_name(value: object, message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        Config(redaction=value)
    with pytest.raises(InvalidConfig, match=message):
        Config.from_mapping({"conversation": {"redaction": value}})


def test_a_refusal_repeats_no_value() -> None:
    secret = "ghp" + "_" + Maker(3).run(ALPHANUMERIC, 36)
    values: list[dict[str, Any]] = [
        {secret: {}},
        rule(prefix=secret),
        rule(characters=secret),
        rule(**{secret: 1}),
    ]
    for value in values:
        with pytest.raises(InvalidConfig) as refused:
            Config(redaction=value)
        assert secret[4:] not in str(refused.value)


def test_rules_in_a_file_are_those_by_keyword(tmp_path: Path) -> None:
    file = tmp_path / "turnfold.toml"
    file.write_text(
        '[conversation.redaction.badge]\nprefix = "BDG:"\ncharacters = "digits"\nmin_length = 6\n'
    )
    assert Config.load(file) == Config(redaction=BADGE) != Config()
    assert Config(redaction=RULES).redaction is RULES
    assert "BDG" not in repr(Config(redaction=BADGE))


def test_each_set_of_rules_has_its_number_and_the_order_in_the_file_has_none() -> None:
    two: Mapping[str, Any] = BADGE | rule()
    numbers = [
        parse_rules(value).ruleset
        for value in ({}, BADGE, two, rule(), rule(min_length=7), rule(prefix="BDG-"))
    ]
    assert len(set(numbers)) == len(numbers)
    assert numbers[0] == RULESET_VERSION
    assert {builtin_version(number) for number in numbers} == {RULESET_VERSION}
    assert parse_rules(dict(reversed(list(two.items())))).ruleset == numbers[2]


# --- in a store -----------------------------------------------------------------------------------


def test_every_text_that_enters_is_searched(tmp_path: Path) -> None:
    with opened(tmp_path, redaction=BADGE) as store:
        store.add_turn(KEY, AvatarText(f"it is {SECRET}"), turn_id="1")
        assert store.add_turn(KEY, AvatarText(f"it is {SECRET}"), turn_id="1").duplicate
        store.add_turns(KEY, [AgentResponse(SECRET, call_ids=(SECRET,))])
        store.add_turns(KEY, [ToolSummary(f"tool {SECRET}", SECRET, call_id=SECRET)])
        store.ref.ask(AddTurn(KEY, ActionResult(SECRET, "ok", SECRET, call_id=SECRET)))
        store.ref.ask(AddTurns(KEY, [ActionResult(SECRET, "ok")]))
        shown = said(store)
        assert "it is [redacted:token:1]" in shown
        assert NUMBER not in shown
        store.flush()
        files = every_byte(tmp_path)
    assert NUMBER.encode() not in files + every_byte(tmp_path)
    assert verify(tmp_path).ok


def test_a_text_is_redacted_before_it_is_clipped() -> None:
    with opened(None, redaction=BADGE, limits=Limits(turn_bytes=64)) as store:
        store.add_turn(KEY, AvatarText("x" + " x" * 27 + f" {SECRET}"))
        assert "BDG" not in said(store)


def test_records_from_before_the_rules_are_redacted_again_and_erased(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add_turn(KEY, AvatarText(f"it is {SECRET}"), turn_id="1")
        store.add_turn(KEY, ToolSummary(SECRET, "found"))
        assert SECRET in said(store)
    with opened(tmp_path, redaction=BADGE) as store:
        assert NUMBER not in said(store)
        assert store.add_turn(KEY, AvatarText(f"it is {SECRET}"), turn_id="1").duplicate
        until(lambda: store.stats().erasures_pending > 0)
        store.flush()
        files = every_byte(tmp_path)
    assert NUMBER.encode() not in files
    assert NUMBER.encode() not in every_byte(tmp_path)
    events = list(read_events(tmp_path))
    openings = [event.ruleset for event in events if isinstance(event, StoreOpened)]
    assert openings == [RULESET_VERSION, RULES.ruleset]
    (redacted,) = [event for event in events if isinstance(event, TurnRedacted)]
    assert redacted.reason is Reason.REDACTED_RULESET
    assert len(redacted.parts) == 2
    assert not [event for event in events if event.reason is Reason.QUARANTINED_UNREDACTED]


def test_summaries_from_before_the_rules_are_redacted_again(tmp_path: Path) -> None:
    with opened(tmp_path, limits=Limits(turns_per_session=4)) as store:
        for number in range(9):
            store.add_turn(KEY, ActionResult(f"act {SECRET}", "failed", f"no {SECRET} {number}"))
        assert NUMBER in said(store)
    with opened(tmp_path, redaction=BADGE, limits=Limits(turns_per_session=4)) as store:
        assert NUMBER not in said(store)
        until(lambda: store.stats().erasures_pending > 0)
        store.flush()
        assert NUMBER.encode() not in every_byte(tmp_path)


def test_without_rules_a_text_passes_as_it_is() -> None:
    text = redact(SECRET)
    assert OperatorRules().redact(text) is text
    assert isinstance(RULES.redact(text), RedactedText)
