"""Marks: where a redacted text's own placeholders stand, and of which secrets.

A mark's fingerprint says whether two secrets are the same without saying what they are. It is
Python's string hash, SipHash under a key that each process draws for itself and shows to nobody;
it is kept in memory only and means nothing in another process.
"""

import re
from collections import Counter
from typing import Final, NamedTuple

from turnfold.events.redaction_json import quotes_needed
from turnfold.events.redaction_rule import KINDS, PLACEHOLDER, Span

_PLACEHOLDER_CHARS_MAX: Final = max(map(len, KINDS)) + len("[redacted::000000]")
_NUMBERED: Final = re.compile(
    rf"(\[redacted:(?:{'|'.join(kind for kind in KINDS if kind != 'blob')}|blob:[0-9]{{1,6}}))"
    r"(?::[0-9]++)++\]"
)


class Mark(NamedTuple):
    """A placeholder that stands at character `at` instead of a secret of this kind."""

    at: int
    kind: str
    fingerprint: int

    def __repr__(self) -> str:
        return f"Mark(at={self.at}, {self.kind})"


Marks = tuple[Mark, ...]
"""In the order of the text. A user can type placeholders too: those have no mark."""


def mark_of_all(kind: str, secret: str) -> Marks:
    """The marks of a text that is one placeholder and nothing else."""
    return (Mark(0, kind, hash(secret)),)


def counted(marks: Marks) -> tuple[tuple[str, int], ...]:
    """How many placeholders of each kind, sorted by kind."""
    return tuple(sorted(Counter(mark.kind for mark in marks).items())) if marks else ()


def without_numbers(text: str) -> str:
    """`text` in which each numbered placeholder that somebody typed is a plain one.

    Only a context numbers placeholders (see ordinals): who types or repeats a number would claim
    that their word is the secret that another message held.
    """
    return _NUMBERED.sub(r"\1]", text)


def cut(text: str, spans: list[Span], marks: Marks) -> tuple[str, Marks]:
    """The text with `spans` replaced by placeholders, and where its own ones now stand."""
    parts: list[str] = []
    placed: list[Mark] = []
    kept = list(reversed(marks))
    done = length = 0
    for start, end, kind in spans:
        absorbed: list[int] = []
        while kept and kept[-1].at < end:
            mark = kept.pop()
            if mark.at < start:
                placed.append(mark._replace(at=length + mark.at - done))
            else:
                absorbed.append(mark.fingerprint)
        parts.append(text[done:start])
        length += start - done
        secret = text[start:end]
        quotes = quotes_needed(text, start, end)
        placeholder = _placeholder(kind, secret)
        placed.append(Mark(length + len(quotes), kind, _fingerprint(secret, absorbed)))
        parts += quotes, placeholder, quotes
        length += 2 * len(quotes) + len(placeholder)
        done = end
    placed.extend(mark._replace(at=length + mark.at - done) for mark in reversed(kept))
    parts.append(text[done:])
    return "".join(parts), tuple(placed)


def _fingerprint(secret: str, absorbed: list[int]) -> int:
    """Of what is replaced; placeholders inside it stand for the secrets that they replaced."""
    return hash((secret, *absorbed)) if absorbed else hash(secret)


def _placeholder(kind: str, secret: str) -> str:
    if kind == "blob":
        return f"[redacted:blob:{len(secret.encode())}]"
    return f"[redacted:{kind}]"


def clipped(text: str, marks: Marks, max_bytes: int) -> tuple[str, Marks]:
    """The longest start of at most `max_bytes` bytes that ends outside every placeholder."""
    if not text.isascii():
        end = len(text.encode()[:max_bytes].decode("utf-8", "ignore"))
    else:
        end = min(len(text), max_bytes)
    opening = text.rfind("[redacted:", max(0, end - _PLACEHOLDER_CHARS_MAX), end + 10)
    if 0 <= opening < end:
        match = PLACEHOLDER.match(text, opening)
        if match is not None and match.end() > end:
            end = opening
    return text[:end], tuple(mark for mark in marks if mark.at < end)
