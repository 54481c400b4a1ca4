"""Secrets that are split over two turns: neither text shows one, both together do.

«my password is» and then «hunter2»; a token whose second half comes in the next message. Only the
end of one text and a short next one are looked at, so the cost is bounded.
"""

import re

from turnfold.events.redaction_prose import PROSE_CUES
from turnfold.events.redaction_rule import Span
from turnfold.events.redaction_screen import WORD_PROBED, Literals, lowered
from turnfold.events.redaction_search import TooMuchWork, Work, find, work_limit
from turnfold.events.redaction_shapes import has_letters_and_digits, shape
from turnfold.events.redaction_tokens import continues_token

EDGE_CHARS = 160
"""How much of either text, in characters, is looked at."""

_WORDS_MAX = 4
_CUES = Literals(PROSE_CUES)
_SAID = ".,:;!?)"
_OPEN_END = re.compile(r"[\w:=\]]$")
_LAST_RUN = re.compile(r"[A-Za-z0-9_\-+/=.~%:]{8,}$", re.ASCII)
_ONE_RUN = re.compile(r"[A-Za-z0-9_\-+/=.~%]{8,}", re.ASCII)
_CUT_OFF = re.compile(r"\[redacted:(?P<kind>token|jwt|cap|auth|cookie)\]$")

Findings = tuple[list[Span], list[Span]]
"""What has to go of the first text's end, and of the second text."""


def may_continue(text: str) -> bool:
    """Whether a text can be the second part of anything: a few words, no more. Half a microsecond.

    Most chat is told by its length.
    """
    return len(text) <= EDGE_CHARS and 0 < len(text.split(None, _WORDS_MAX)) <= _WORDS_MAX


def split_findings(tail: str, head: str) -> Findings | None:
    """What only the union of a text's end and the next text shows; None where there is nothing.

    A sentence goes on if the first text has no end and the second is a few words; a token goes on
    if the second text is nothing but the rest of it.
    """
    tail = tail.rstrip()
    if not may_continue(head) or not _OPEN_END.search(tail):
        return None
    words = head.split()
    if _may_be_told(tail, words):
        cut = len(tail) + 1
        told = [span for span in _found(f"{tail} {head}") if span[0] >= cut]
        if told:
            return [], [(start - cut, end - cut, kind) for start, end, kind in told]
    return _wrapped(tail, head)


def _may_be_told(tail: str, words: list[str]) -> bool:
    """Whether the words can be a value: one alone, or one of letters and digits first.

    A short plain word is one only where the text before speaks of passwords: most of the short
    lines of a chat are such words.
    """
    first = words[0]
    if len(words) > 1:
        return has_letters_and_digits(first)
    plain = len(first) < WORD_PROBED and first.rstrip(_SAID).isalpha()
    return not plain or bool(_CUES.present(lowered(tail)))


def _wrapped(tail: str, head: str) -> Findings | None:
    """A token whose second part is the whole of the next text."""
    rest = head.strip()
    if not _ONE_RUN.fullmatch(rest) or not continues_token(rest) or shape(rest).digits == 0:
        return None
    cut_off = _CUT_OFF.search(tail)
    if cut_off is not None and shape(rest).changes >= 4:
        return [], [(0, len(head), cut_off["kind"])]
    last = _LAST_RUN.search(tail)
    if last is None or shape(last.group()).digits == 0:
        return None
    cut = len(tail)
    for start, end, kind in _found(tail + rest):
        if start < cut < end:
            return [(max(start, last.start()), cut, kind)], [(0, len(head), kind)]
    return None


def _found(text: str) -> list[Span]:
    try:
        return find(text, Work(work_limit(len(text))))
    except TooMuchWork:
        return []
