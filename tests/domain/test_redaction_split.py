"""A secret that is split over two turns is found in their union, and only there."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from domain.redaction_lines import ALPHANUMERIC, ORDINARY_LINES, Maker, join

from turnfold.events import redaction_split
from turnfold.events.redaction import is_clean, redact, redact_split

MAKE = Maker(21)
PASSWORD = MAKE.password()
TOKEN = join("gh", "p_") + MAKE.run(ALPHANUMERIC, 36)
UUID = MAKE.uuid()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("my password is", PASSWORD),
        ("the wifi password:", "marmalade"),
        ("my pin is", "4821"),
        (f"take {TOKEN[:20]}", TOKEN[20:]),
        (f"http://grid.example:9000/CAPS/{UUID[:18]}", f"{UUID[18:]}0000/"),
    ],
)
def test_what_only_the_union_shows_goes(before: str, after: str) -> None:
    first, second = redact(before), redact(after)
    assert second == after
    both = redact_split(first, second)
    assert both is not None
    for text in both:
        assert is_clean(str(text))
        assert after[:12] not in text
        assert before[-12:] not in text or not any(char.isdigit() for char in before[-12:])
    assert both[1].redactions


def test_the_rest_of_a_token_that_was_already_seen_goes() -> None:
    first = redact(f"key {TOKEN}")
    assert first.endswith("[redacted:token]")
    both = redact_split(first, redact(MAKE.run(ALPHANUMERIC, 18)))
    assert both is not None
    assert both[1] == "[redacted:token]"


def test_ordinary_turns_after_each_other_stay() -> None:
    for before in (*ORDINARY_LINES, "I forgot my password", "the password is", "what's your key"):
        for after in (*ORDINARY_LINES, "brb", "wrong", "thanks", "ok 5 minutes"):
            assert redact_split(redact(before), redact(after)) is None


@pytest.mark.parametrize("before", ["my password is", "the wifi password:", "key"])
@pytest.mark.parametrize("after", [PASSWORD, "marmalade", "4821", TOKEN[20:]])
def test_what_is_left_of_a_split_secret_is_left_alone(before: str, after: str) -> None:
    both = redact_split(redact(before), redact(after)) or (redact(before), redact(after))
    assert redact_split(*both) is None


@pytest.mark.parametrize("name", ["public_chat", "direct_im"])
def test_real_turns_after_each_other_stay_and_few_of_them_are_searched(
    shared_data: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        redact(json.loads(line)["text"])
        for line in (shared_data / "data" / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    searched: list[int] = []
    found = redaction_split._found  # pyright: ignore[reportPrivateUsage]  # to count its calls

    def counted(text: str) -> list[tuple[int, int, str]]:
        searched.append(len(text))
        return found(text)

    monkeypatch.setattr(redaction_split, "_found", counted)
    for before, after in pairwise(texts):  # whoever says it
        assert redact_split(before, after) is None
    assert len(searched) <= len(texts) * 0.03
    assert max(searched) <= 2 * redaction_split.EDGE_CHARS + 1
