"""Text that breaks encoders and parsers elsewhere: halves of characters, NUL, arguments in JSON."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from turnfold.events.errors import InvalidTurn
from turnfold.events.redaction import redact
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary, Turn

HALVES = ["\udc97", "\ud83d"]
PLACES = [("", "words"), ("wo", "rds"), ("words", "")]
KINDS: list[Callable[[str], Turn]] = [
    AvatarText,
    AgentResponse,
    lambda text: ToolSummary("look", text),
    lambda text: ActionResult("sit", "ok", text),
]
VALUES = [
    "hunter2" + "Xy9",
    'quo"te' + "Pw7!x",
    "back\\slash" + "9z",
    "gh" + "p_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5",
]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize(("before", "after"), PLACES)
def test_half_a_character_is_replaced_in_every_text_and_name(
    half: str, before: str, after: str
) -> None:
    expected = f"{before}\ufffd{after}"
    for kind in KINDS:
        turn = kind(before + half + after)
        assert turn.text == expected
        assert turn.text.replaced == 1
        assert turn.text.encode() == expected.encode()
    assert ToolSummary(before + half + after, "x").tool == expected


def test_nul_goes_from_texts_and_names_and_is_refused_in_ids() -> None:
    for kind in KINDS:
        assert kind("a\0b").text == "ab"
    assert ToolSummary("lo\0ok", "x").tool == "look"
    with pytest.raises(InvalidTurn):
        AgentResponse("", call_ids=("c\0",))
    with pytest.raises(InvalidTurn):
        ToolSummary("look", "x", call_id="c\0")


NAME = "pass" + "word"


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize("indent", [None, 2])
def test_redacted_arguments_are_still_the_same_json(value: str, indent: int | None) -> None:
    arguments = {"user": "ada", NAME: value, "room": 7, "again": {NAME: value}}

    told = redact(json.dumps(arguments, indent=indent))

    assert value not in told
    assert json.dumps(value)[1:-1] not in told
    parsed = json.loads(told)
    assert (parsed["user"], parsed["room"]) == ("ada", 7)
    placeholder = parsed[NAME]
    assert placeholder == parsed["again"][NAME]
    assert placeholder.startswith("[redacted:")  # can't be taken for a value that was masked
    assert redact(told) == told


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize(
    "sentence",
    [f"my {NAME} is %s", f"{NAME}: %s", f"{NAME}=%s", "log in with ada/%s", f"the {NAME}: '%s'."],
)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_sentence_inside_json_loses_its_secret_and_no_quote(
    value: str, sentence: str, depth: int
) -> None:
    text = json.dumps({"n": 1, "text": sentence % value, "after": 2})
    for _ in range(depth - 1):
        text = json.dumps({"arguments": text})

    told: dict[str, Any] = json.loads(redact(text))
    for _ in range(depth - 1):
        told = json.loads(told["arguments"])

    assert (told["n"], told["after"]) == (1, 2)
    assert value not in told["text"]
    assert "[redacted:" in told["text"]


@pytest.mark.parametrize("depth", [2, 3])
def test_a_named_secret_goes_from_json_inside_json(depth: int) -> None:
    text = json.dumps({NAME: "hunter" + "2", "n": 1})
    for _ in range(depth - 1):
        text = json.dumps({"arguments": text})

    assert "hunter" not in redact(text)
