"""Every form of secret goes, and ordinary chat stays."""

import re
import unicodedata

import pytest
from domain.redaction_lines import ORDINARY_LINES, SecretLine, secret_lines

from turnfold.events.redaction import KINDS, is_clean, redact
from turnfold.events.redaction_rule import PRIORITY
from turnfold.events.redaction_search import RULES

LINES = tuple(secret_lines())


def numbered(line: SecretLine) -> str:
    """A test name that shows the kind and the place in the list, never the text."""
    return f"{line.kind}-{LINES.index(line)}"


@pytest.mark.parametrize("line", LINES, ids=numbered)
def test_the_secret_goes_and_the_rest_stays(line: SecretLine) -> None:
    text = redact(line.text)
    assert line.secret not in text
    assert line.keep in text
    assert is_clean(str(text))
    assert line.kind in dict(text.redactions)


def test_every_kind_has_a_line() -> None:
    # «text» stands for a whole text that can't be searched (test_redaction.py).
    assert {line.kind for line in LINES} | {"text"} == set(KINDS)


@pytest.mark.parametrize("number", range(len(ORDINARY_LINES)))
def test_ordinary_chat_comes_through_unchanged(number: int) -> None:
    text = redact(ORDINARY_LINES[number])
    assert text == ORDINARY_LINES[number]
    assert text.redactions == ()


def test_secrets_go_from_the_middle_of_chat() -> None:
    for number, line in enumerate(LINES):
        before = ORDINARY_LINES[number % len(ORDINARY_LINES)]
        after = ORDINARY_LINES[(number * 7) % len(ORDINARY_LINES)]
        text = redact(f"{before}\n{line.text}\n{after}")
        assert line.secret not in text, numbered(line)


def test_the_text_itself_is_never_normalised() -> None:
    decorated = "\uff21\uff22\uff23 e\u0301 %41 &amp; \\u0041 ﬁ 𝓯𝓪𝓷𝓬𝔂"
    assert unicodedata.normalize("NFKC", decorated) != decorated
    assert redact(decorated) == decorated


def test_rules_say_where_they_come_from_and_start_at_a_literal() -> None:
    for rule in RULES:
        assert rule.kind in PRIORITY
        assert rule.source
        assert all(cue == cue.lower() for cue in rule.cues)


def test_no_rule_has_an_unbounded_run_that_can_be_given_back() -> None:
    # `+` and `*` must be possessive: a run that is handed back character by character is how
    # a pattern gets slower than linear.
    loose = re.compile(r"(?<!\\)(?<!\[)[\])\w.](?:\+|\*|\{\d+,\})(?!\+)")
    for rule in RULES:
        source = re.sub(r"\\.", "_", re.sub(r"\[(?:\\.|[^\]])*\]", "_", rule.pattern.source))
        found = [match.group() for match in loose.finditer(source)]
        assert all(part in ("_*", "_+") for part in found), rule.source
