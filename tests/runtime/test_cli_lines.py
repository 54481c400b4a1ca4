"""Lines of recorded chat: what is taken, and what is refused with which reason."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnfold.actors.cli.ingest_lines import LINE_BYTES_MAX, ChatLine, parse_line, parse_time
from turnfold.events.errors import InvalidInput, TextTooLarge
from turnfold.events.keys import Channel
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, Outcome, ToolSummary

AVATAR = "61bd0364-10b9-504d-bc71-12251bcea0a7"
MARKER = "zebra-crossing"  # stands in every bad line, and must stand in no message


def parsed(**fields: Any) -> ChatLine:
    line = json.dumps({"avatar": AVATAR, "text": "hello", **fields}).encode()
    return parse_line(line, Channel.PUBLIC_CHAT)


# --- what is taken ---------------------------------------------------------------------------


def test_a_line_without_kind_and_channel_is_what_an_avatar_said_in_public() -> None:
    line = parsed(at="2004-11-15T01:00:00Z")

    assert line.turn == AvatarText("hello")
    assert line.key.channel is Channel.PUBLIC_CHAT
    assert str(line.key.avatar) == AVATAR
    assert line.at == 1_100_480_400 * 10**9
    assert line.turn_id is None


def test_the_default_channel_is_for_lines_that_name_none() -> None:
    data = json.dumps({"avatar": AVATAR, "text": "x"}).encode()
    named = json.dumps({"avatar": AVATAR, "text": "x", "channel": "public_chat"}).encode()

    assert parse_line(data, Channel.DIRECT_IM).key.channel is Channel.DIRECT_IM
    assert parse_line(named, Channel.DIRECT_IM).key.channel is Channel.PUBLIC_CHAT


def test_null_is_the_same_as_a_key_left_out() -> None:
    nothing = dict.fromkeys(("at", "channel", "kind", "tool", "call_id", "turn_id", "outcome"))

    assert parsed(**nothing) == parsed()


def test_an_agent_response_opens_its_call() -> None:
    assert parsed(kind="agent_response", call_id="c-1").turn == AgentResponse(
        "hello", call_ids=("c-1",)
    )


@pytest.mark.parametrize("kind", ["tool_result", "tool_summary"])
def test_a_tool_result_is_a_tool_summary(kind: str) -> None:
    turn = parsed(kind=kind, tool="lookup", call_id="c-1").turn

    assert turn == ToolSummary("lookup", "hello", call_id="c-1")


@pytest.mark.parametrize(
    ("text", "outcome", "expected"),
    [
        ("Error: no such flight", None, Outcome.FAILED),
        ("Errors were found and mended", None, Outcome.FAILED),
        ("Booked. Error rate 0", None, Outcome.OK),
        ("error in lower case", None, Outcome.OK),
        ("Error, but it is said to be fine", "ok", Outcome.OK),
        ("Booked", "refused", Outcome.REFUSED),
    ],
)
def test_an_action_without_an_outcome_failed_if_its_text_starts_with_error(
    text: str, outcome: str | None, expected: Outcome
) -> None:
    turn = parsed(kind="action_result", tool="book", text=text, outcome=outcome).turn

    assert isinstance(turn, ActionResult)
    assert turn.outcome is expected


def test_lone_surrogates_are_replaced_and_counted() -> None:
    line = parse_line(
        b'{"avatar": "%s", "text": "a\\ud800b"}' % AVATAR.encode(), Channel.PUBLIC_CHAT
    )

    assert line.turn.text == "a\ufffdb"
    assert line.turn.text.replaced == 1


def test_a_byte_order_mark_and_windows_line_ends_are_let_pass() -> None:
    data = json.dumps({"avatar": AVATAR, "text": "x"}).encode()

    assert parse_line(b"\xef\xbb\xbf" + data + b"\r\n", Channel.PUBLIC_CHAT).turn.text == "x"


def test_secrets_are_gone_before_there_is_a_turn() -> None:
    secret = "hunter" + "2-Battery"

    line = parsed(text=f"my password is {secret}")

    assert secret not in line.turn.text
    assert secret not in repr(line)


# --- times -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:01z", 10**9),
        ("1970-01-01 00:01Z", 60 * 10**9),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:00:00-0100", 0),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T00:00:00.5Z", 500_000_000),
        ("1970-01-01T00:00:00,25Z", 250_000_000),
        ("2261-12-31T23:59:59Z", 9_214_646_399 * 10**9),
    ],
)
def test_times_are_read_to_the_nanosecond(text: str, at: int) -> None:
    assert parse_time(text) == at


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "2004-11-15",
        "2004-11-15T01:00:00",  # no zone
        "2004-13-15T01:00:00Z",
        "2004-02-30T01:00:00Z",
        "2004-11-15T25:00:00Z",
        "2004-11-15T01:00:00+99:00",
        "2004-11-15T01:00:00.1234567890Z",
        "1969-12-31T23:59:59Z",
        "2300-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "٢٠٠٤-11-15T01:00:00Z",  # digits, but not ASCII ones
        1_100_480_400,
        True,
        ["2004-11-15T01:00:00Z"],
    ],
)
def test_other_times_are_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="a time"):
        parse_time(value)


# --- what is refused -------------------------------------------------------------------------

BAD_LINES = {
    "not JSON": (b"{'text': 'x'", "not JSON"),
    "a bare NUL": (b'{"text": "a\x00b"}', "not JSON"),
    "not UTF-8": (b'{"text": "\xff\xfe"}', "not UTF-8"),
    "nested too deeply": (b"[" * 100_000, "not JSON"),
    "a number of many digits": (b'{"text": ' + b"9" * 10_000 + b"}", "not JSON"),
    "not an object": (b'["text"]', "not an object"),
    "a bare text": (b'"text"', "not an object"),
    "a key twice": (b'{"text": "a", "text": "b"}', "stands twice"),
    "NaN": (b'{"text": NaN}', "NaN"),
    "Infinity": (b'{"at": -Infinity}', "Infinity"),
}


@pytest.mark.parametrize(("line", "reason"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_line_that_is_no_object_is_refused(line: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_line(line, Channel.PUBLIC_CHAT)


BAD_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "no text": ({"text": None}, '"text" must be a text'),
    "a number as text": ({"text": 7}, '"text" must be a text'),
    "a list as text": ({"text": [MARKER]}, '"text" must be a text'),
    "a NUL": ({"text": f"{MARKER}\0"}, "NUL"),
    "no avatar": ({"avatar": None}, '"avatar" is missing'),
    "a name as avatar": ({"avatar": MARKER}, "not a UUID"),
    "a number as avatar": ({"avatar": 61}, "not a UUID"),
    "a group channel": ({"channel": f"group {MARKER}"}, "unknown channel"),
    "a channel in capitals": ({"channel": "PUBLIC_CHAT"}, "unknown channel"),
    "a list as channel": ({"channel": [MARKER]}, "unknown channel"),
    "another kind": ({"kind": "system_message"}, '"kind" must be one of'),
    "a list as kind": ({"kind": [MARKER]}, '"kind" must be one of'),
    "an unknown key": ({MARKER: MARKER}, "unknown"),
    "a scratchpad": ({"reasoning": MARKER}, "unknown"),
    "a time without a zone": ({"at": "2004-11-15T01:00:00"}, "a time must look like"),
    "a tool turn without a tool": ({"kind": "tool_result"}, 'needs a "tool"'),
    "an empty tool": ({"kind": "tool_result", "tool": ""}, 'needs a "tool"'),
    "an avatar with a tool": ({"tool": MARKER}, 'no "tool"'),
    "an avatar with a call": ({"call_id": "c-1"}, 'no "call_id"'),
    "an agent with an outcome": ({"kind": "agent_response", "outcome": "ok"}, 'no "outcome"'),
    "another outcome": (
        {"kind": "action_result", "tool": "t", "outcome": MARKER},
        "unknown action outcome",
    ),
    "a turn id with blanks": ({"turn_id": f"{MARKER} 1"}, "turn_id"),
    "a turn id that is too long": ({"turn_id": MARKER * 10}, "turn_id"),
    "a number as turn id": ({"turn_id": 5}, "turn_id"),
    "an object as call id": ({"kind": "agent_response", "call_id": {}}, "call_id"),
}


@pytest.mark.parametrize(("fields", "reason"), BAD_FIELDS.values(), ids=BAD_FIELDS.keys())
def test_a_wrong_field_is_refused_without_repeating_it(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as caught:
        parsed(**fields)

    assert MARKER not in str(caught.value)


def test_a_text_over_the_input_cap_is_refused() -> None:
    with pytest.raises(TextTooLarge):
        parsed(text="x" * (256 * 1024 + 1))


def test_a_line_over_the_cap_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(InvalidInput, match="more than"):
        parse_line(b" " * (LINE_BYTES_MAX + 1), Channel.PUBLIC_CHAT)


def test_the_largest_text_fits_on_a_line_even_if_every_character_is_escaped() -> None:
    escaped = b"\\u0061" * (256 * 1024)

    line = parse_line(
        b'{"avatar": "%s", "text": "%s"}' % (AVATAR.encode(), escaped), Channel.PUBLIC_CHAT
    )

    assert line.turn.text.byte_count == 256 * 1024 or line.turn.text.redactions


@given(st.binary(max_size=200))
def test_any_bytes_are_a_line_or_a_reason(data: bytes) -> None:
    with contextlib.suppress(InvalidInput):
        assert isinstance(parse_line(data, Channel.PUBLIC_CHAT), ChatLine)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(
    st.dictionaries(
        st.sampled_from(["at", "avatar", "channel", "kind", "tool", "call_id", "outcome", "text"]),
        JSON_VALUES | st.just(AVATAR) | st.sampled_from(["action_result", "direct_im", "ok"]),
    )
)
def test_any_fields_are_a_line_or_a_reason(fields: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidInput):
        line = json.dumps(fields).encode()
        assert isinstance(parse_line(line, Channel.PUBLIC_CHAT), ChatLine)
