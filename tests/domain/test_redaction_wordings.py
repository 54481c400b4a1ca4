"""Passwords and codes told in prose, in wordings written round by round without sight of the rules.

What each round scored at first sight is in docs/explanation/redaction.md; here it is kept that what
was learned stays learned, and that ordinary lines stay as they are.
"""

from pathlib import Path

import pytest

from turnfold.events.redaction import redact

TABLE = Path(__file__).with_name("redaction_wordings.tsv")
ORDINARY = "N"
MISSES_MAX = 21
"""Known misses in all rounds together (docs/explanation/redaction.md names their kinds)."""


def rows() -> list[tuple[str, str, str]]:
    """Round, text and secret of each wording."""
    found: list[tuple[str, str, str]] = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            turn, wording, secret = line.split("\t")
            text = wording.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
            found.append((turn, text.replace("{}", secret) if secret else text, secret))
    return found


ROWS = rows()
ORDINARY_ROWS = [text for turn, text, _ in ROWS if turn == ORDINARY]


def test_told_secrets_go() -> None:
    told = [(turn, text, secret) for turn, text, secret in ROWS if turn != ORDINARY]
    missed = [turn for turn, text, secret in told if secret in redact(text)]
    assert len(told) == 950
    assert len(missed) <= MISSES_MAX, sorted(missed)


@pytest.mark.parametrize("number", range(len(ORDINARY_ROWS)))
def test_ordinary_talk_comes_through_unchanged(number: int) -> None:
    assert redact(ORDINARY_ROWS[number]) == ORDINARY_ROWS[number]
