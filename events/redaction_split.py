"""Secrets that are split over two turns: neither text shows one, both together do.

«my password is» and then «hunter2»; a token whose second half comes in the next message. Only the
end of one text and the start of the next are looked at, so the cost is bounded.
"""

import re

from turnfold.events.redaction import RedactedText, redact
from turnfold.events.redaction_rule import Span
from turnfold.events.redaction_search import TooMuchWork, Work, find, work_limit
from turnfold.events.redaction_shapes import has_letters_and_digits, shape
from turnfold.events.redaction_tokens import continues_token

EDGE_CHARS = 160
"""How much of either text, in characters, is looked at."""

_WORDS_MAX = 4
_OPEN_END = re.compile(r"[\w:=\]]$")
_LAST_RUN = re.compile(r"[A-Za-z0-9_\-+/=.~%:]{8,}$", re.ASCII)
_ONE_RUN = re.compile(r"[A-Za-z0-9_\-+/=.~%]{8,}", re.ASCII)
_CUT_OFF = re.compile(r"\[redacted:(?:token|jwt|cap|auth|cookie)\]$")


def redact_split(
    before: RedactedText, after: RedactedText
) -> tuple[RedactedText, RedactedText] | None:
    """Both texts with what only their union shows replaced, or None where there is nothing.

    `after` is the turn that follows `before` from the same speaker. The results are redacted texts
    like any other; `redactions` of each counts what is replaced in it.

    A sentence goes on if the first text has no end and the second is a few words; a token goes on
    if the second text is nothing but the rest of it.
    """
    tail, head = str(before)[-EDGE_CHARS:].rstrip(), str(after)[:EDGE_CHARS]
    words = head.split()
    if len(after) > len(head) or not 0 < len(words) <= _WORDS_MAX or not _OPEN_END.search(tail):
        return None
    cut = len(tail)
    told = [span for span in _found(f"{tail} {head}") if span[0] > cut]
    if told and (len(words) == 1 or has_letters_and_digits(words[0])):
        spans = [(start - cut - 1, end - cut - 1, kind) for start, end, kind in told]
        return before, redact(_replaced(head, spans))
    return _wrapped(before, tail, head.strip())


def _wrapped(
    before: RedactedText, tail: str, rest: str
) -> tuple[RedactedText, RedactedText] | None:
    """A token whose second part is the whole of the next text."""
    if not _ONE_RUN.fullmatch(rest) or not continues_token(rest) or shape(rest).digits == 0:
        return None
    cut_off = _CUT_OFF.search(tail)
    if cut_off is not None and shape(rest).changes >= 4:
        return before, redact(cut_off.group())
    last = _LAST_RUN.search(tail)
    if last is None or shape(last.group()).digits == 0:
        return None
    cut = len(tail)
    crossing = [span for span in _found(tail + rest) if span[0] < cut < span[1]]
    if not crossing:
        return None
    start, _, kind = crossing[0]
    start = max(start, last.start())
    kept = str(before).rstrip()[: start - cut]
    return redact(f"{kept}[redacted:{kind}]"), redact(f"[redacted:{kind}]")


def _found(text: str) -> list[Span]:
    try:
        return find(text, Work(work_limit(len(text))))
    except TooMuchWork:
        return []


def _replaced(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, kind in spans:
        parts += (text[done:start], f"[redacted:{kind}]")
        done = end
    return "".join((*parts, text[done:]))
