"""Which words of a turn are worth quoting, and whether they may be quoted at all.

Scores are integers that depend on the words alone, not on the turns around them, so that excerpts
from summaries made at different times can be compared. Nothing here depends on locale, hash seed
or Unicode tables.
"""

import re
from collections.abc import Iterator
from typing import Final

from turnfold.events.redaction import clip, redact
from turnfold.events.redaction_screen import Literals
from turnfold.events.summary_facts import EXCERPT_BYTES_MAX
from turnfold.events.turns import Kind

_READ_CHARS: Final = 4096  # of one turn: a long text is quoted from its beginning
_SENTENCES_READ: Final = 24
SENTENCES_QUOTED: Final = 3  # candidates of one turn, so that none fills a summary alone
# Longer than any excerpt by more than a placeholder: the cut can't leave half a placeholder in it.
_SENTENCE_CHARS: Final = EXCERPT_BYTES_MAX + 64
_UNITS_MIN: Final = 2
_UNITS_MAX: Final = 16

# Blanks behind a full stop, nothing behind a CJK one, line breaks. Each alternative begins with the
# character that it is about, not with a look behind, which would be tried at every place.
_SENTENCE_END = re.compile(r"[.!?…]([ \t]+)|[。！？]()|(\n+)")  # noqa: RUF001  # CJK stops
_NUMBER = re.compile(r"[0-9]")
_WIDE = re.compile("[\u2e80-\U0010ffff]")  # scripts without blanks, and everything above them
# What a cue always holds, and the cue. Most sentences hold none of it, which is told in one pass.
_CUES: Final = {
    "will": "will",
    "promise": "promised?",
    "agree": "agreed?",
    "deal": "deal",
    "deadline": "deadline",
    "tomorrow": "tomorrow",
    "today": "today",
    "tonight": "tonight",
    "meet": "meet",
    "owe": "owed?|owes",
    "paid": "paid",
    "pay": "pay",
    "must": "must",
    "name is": "name is",
    "live": "lives? (?:in|at)",
    "birthday": "birthday",
    "want": "wants?",
    "need": "needs?",
    "cancel": "cancel(?:led)?",
    "move": "moved?",
    "born": "born",
    "prefer": "prefers?",
    "remember": "remember",
    "never": "never",
    "always": "always",
}
_CUE = re.compile(rf"\b(?:{'|'.join(_CUES.values())})\b|L\$", re.ASCII | re.IGNORECASE)
_CUE_LITERALS = Literals((*_CUES, "l$"))


def sentences(text: str, kind: Kind) -> list[tuple[int, str]]:
    """(score, sentence) of the sentences of a text that are worth most, verbatim."""
    found: dict[str, int] = {}
    for sentence in _split(text[:_READ_CHARS]):
        units = _units(sentence)
        if units >= _UNITS_MIN:
            found[sentence] = _score(sentence, units, kind)
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [(score, sentence) for sentence, score in best[:SENTENCES_QUOTED]]


def _split(text: str) -> Iterator[str]:
    begin = 0
    for number, end in enumerate(_SENTENCE_END.finditer(text), 1):
        yield _trimmed(text[begin : end.start(end.lastindex or 0)])
        begin = end.end()
        if number == _SENTENCES_READ:
            return
    yield _trimmed(text[begin:])


def _trimmed(sentence: str) -> str:
    return sentence.strip(" \t\n")[:_SENTENCE_CHARS]


def _units(sentence: str) -> int:
    """Roughly the words that say something, also where a script puts no blanks between words."""
    words = {word for word in sentence.split(" ") if len(word) > 3}
    wide = 0 if sentence.isascii() else len(_WIDE.findall(sentence))
    return min(len(words) + wide // 2, _UNITS_MAX)


def _score(sentence: str, units: int, kind: Kind) -> int:
    score = 8 * units
    if _NUMBER.search(sentence):
        score += 60
    if _CUE_LITERALS.present(sentence.lower()) and _CUE.search(sentence):
        score += 80
    if sentence.endswith(("?", "？")):  # noqa: RUF001  # CJK question mark
        score += 40
    if kind is Kind.AGENT:
        score += 50
    return score


def quoted(text: str, bytes_max: int) -> str | None:
    """The start of `text` within the bytes, or None if it looks like a secret on its own.

    A part of a clean text can look like one, because what explained it is gone.
    """
    alone = redact(text)
    if alone != text:
        return None
    start = clip(alone, bytes_max)
    return str(start) if text.startswith(start) else None
