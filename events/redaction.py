"""Redaction: the one way text enters Turnfold.

`redact(text)` replaces what looks like a secret with `[redacted:KIND]` and answers a
`RedactedText`, which nothing else can construct. It is pure and deterministic, and linear in the
length of any input; `redact(redact(x)) == redact(x)` holds by construction: the result is searched
again until nothing is found. `clip` bounds a redacted text. See docs/explanation/redaction.md.
"""

import re
from collections.abc import Callable
from typing import Final, NoReturn, Self, SupportsIndex

from turnfold.events.errors import InvalidInput, TextTooLarge
from turnfold.events.redaction_marks import (
    Mark,
    Marks,
    clipped,
    counted,
    cut,
    mark_of_all,
    without_numbers,
)
from turnfold.events.redaction_rule import KINDS, PLACEHOLDER, Span
from turnfold.events.redaction_search import TooMuchWork, Work, find, work_limit
from turnfold.events.redaction_split import EDGE_CHARS, split_findings

__all__ = [
    "INPUT_BYTES_MAX",
    "KINDS",
    "PLACEHOLDER",
    "RULESET_VERSION",
    "Mark",
    "Marks",
    "RedactedText",
    "clip",
    "from_storage",
    "is_clean",
    "redact",
    "redact_more",
    "redact_split",
]

RULESET_VERSION: int = 1
"""Raised whenever a rule changes; stored texts of an older version are searched again."""

INPUT_BYTES_MAX = 256 * 1024
"""Longest input in UTF-8 bytes; a longer one is refused before it is scanned."""

_PASSES_MAX = 3
_WHOLE_TEXT = "[redacted:text]"
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SEAL: Final = object()

More = Callable[[str], list[Span]]
"""Finds what further rules take for a secret: ranges in order, none touching another."""


def _no_more(_text: str) -> list[Span]:
    return []


class RedactedText(str):
    """A sanitised text in which no rule finds a secret. Only `redact` and its kin construct it.

    It is a `str`, immutable, and equal to the plain text; operations on it give plain strings.
    It can't be pickled or subclassed. `repr` shows its length only.

    Attributes:
        redactions: what was replaced in this text, as (kind, count), sorted by kind.
        byte_count: UTF-8 bytes.
        truncated_from: UTF-8 bytes of the redacted text before it was clipped, or None.
        replaced: how many lone surrogates became U+FFFD.
        marks: where this text's own placeholders begin, their kinds and fingerprints.
    """

    __slots__ = ("_seal", "byte_count", "marks", "redactions", "replaced", "truncated_from")

    marks: Marks
    _seal: object
    byte_count: int
    redactions: tuple[tuple[str, int], ...]
    replaced: int
    truncated_from: int | None

    def __new__(cls, *_: object, **__: object) -> Self:
        raise TypeError("RedactedText has no public constructor; call redact()")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("RedactedText can't be subclassed")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("RedactedText is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("RedactedText is immutable")

    def __repr__(self) -> str:
        return f"<RedactedText of {len(self)} characters>"

    def __copy__(self) -> "RedactedText":
        return self

    def __deepcopy__(self, memo: object) -> "RedactedText":
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("RedactedText can't be pickled; store its text and use from_storage()")


def _sealed(
    text: str, marks: Marks = (), *, replaced: int = 0, truncated_from: int | None = None
) -> RedactedText:
    result = str.__new__(RedactedText, text)
    put = object.__setattr__
    put(result, "marks", marks)
    put(result, "byte_count", len(text) if text.isascii() else len(text.encode()))
    put(result, "redactions", counted(marks))
    put(result, "replaced", replaced)
    put(result, "truncated_from", truncated_from)
    put(result, "_seal", _SEAL)
    return result


def _is_sealed(text: object) -> bool:
    return type(text) is RedactedText and getattr(text, "_seal", None) is _SEAL


def redact(text: str) -> RedactedText:
    """`text` without control characters, each secret in it replaced by `[redacted:KIND]`.

    Raises:
        InvalidInput: `text` is not a string.
        TextTooLarge: it has more than `INPUT_BYTES_MAX` bytes of UTF-8; it was not scanned.
    """
    if type(text) is RedactedText and _is_sealed(text):
        return text
    plain, replaced = _sanitised(_checked(text))
    return _sealed(*_settled(plain, ()), replaced=replaced)


def is_clean(text: str) -> bool:
    """Whether `redact` would leave `text` exactly as it is.

    Raises:
        InvalidInput: `text` is not a string.
    """
    if _is_sealed(text):
        return True
    try:
        plain = _checked(text)
    except TextTooLarge:
        return False
    return _sanitised(plain) == (plain, 0) and not _found(plain)


def from_storage(text: str) -> RedactedText:
    """A text that was redacted before it was stored; its placeholders aren't counted again.

    Raises:
        InvalidInput: the text is not a fixed point of `redact` under these rules.
    """
    if not is_clean(text):
        raise InvalidInput(
            f"stored text of {len(text)} characters is not a redacted text under rule set "
            f"{RULESET_VERSION}; redact it again"
        )
    return _sealed(str(text))


def clip(text: RedactedText, max_bytes: int) -> RedactedText:
    """At most the first `max_bytes` UTF-8 bytes of `text`, itself a redacted text.

    Cuts between characters and never inside a placeholder, which is dropped whole. What a cut
    makes look like a secret is redacted in turn.

    Raises:
        InvalidInput: `text` is not a `RedactedText`, or `max_bytes` is negative.
    """
    if not _is_sealed(text):
        raise InvalidInput("clip() takes a RedactedText; call redact() first")
    if max_bytes < 0:
        raise InvalidInput(f"max_bytes is {max_bytes}; it must be 0 or more")
    if text.byte_count <= max_bytes:
        return text
    truncated_from = text.truncated_from or text.byte_count
    plain, marks = clipped(str(text), text.marks, max_bytes)
    for _ in range(_PASSES_MAX):
        spans = _found(plain)
        if not spans:
            break
        plain, marks = cut(plain, spans, marks)
        plain, marks = clipped(plain, marks, max_bytes)
    if _found(plain):
        plain, marks = (
            (_WHOLE_TEXT, mark_of_all("text", plain)) if len(_WHOLE_TEXT) <= max_bytes else ("", ())
        )
    return _sealed(plain, marks, replaced=text.replaced, truncated_from=truncated_from)


def redact_more(text: RedactedText, more: More) -> RedactedText:
    """`text` without what `more` finds; then neither `more` nor any rule finds anything in it.

    Raises InvalidInput if it is not a `RedactedText`.
    """
    if not _is_sealed(text):
        raise InvalidInput("redact_more() takes a RedactedText; call redact() first")
    return _cut_again(text, more(str(text)), more)


def redact_split(
    before: RedactedText, after: RedactedText
) -> tuple[RedactedText, RedactedText] | None:
    """Both texts with what only their union shows replaced, or None where there is nothing.

    `after` is the turn that follows `before` from the same speaker: «my password is», «…».

    Raises:
        InvalidInput: one of them is not a `RedactedText`.
    """
    if not (_is_sealed(before) and _is_sealed(after)):
        raise InvalidInput("redact_split() takes two RedactedTexts; call redact() first")
    first = max(0, len(before) - EDGE_CHARS)
    findings = split_findings(str(before)[first:], str(after))
    if findings is None:
        return None
    ends = [(start + first, end + first, kind) for start, end, kind in findings[0]]
    return _cut_again(before, ends), _cut_again(after, findings[1])


def _cut_again(text: RedactedText, spans: list[Span], more: More = _no_more) -> RedactedText:
    if not spans:
        return text
    plain, marks = _settled(*cut(str(text), spans, text.marks), more)
    return _sealed(plain, marks, replaced=text.replaced, truncated_from=text.truncated_from)


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise InvalidInput(f"text must be a str, not {type(text).__name__}")
    plain = str.__str__(text)  # the characters themselves, whatever a subclass says
    size = len(plain)
    if size <= INPUT_BYTES_MAX and not plain.isascii():
        size = len(plain.encode("utf-8", "surrogatepass"))
    if size > INPUT_BYTES_MAX:
        raise TextTooLarge(
            f"text has more than {INPUT_BYTES_MAX} bytes; it was refused unread, send it in parts"
        )
    return plain


def _sanitised(text: str) -> tuple[str, int]:
    """The text as it may be stored apart from secrets, and how many lone surrogates it had."""
    replaced = 0
    if not text.isprintable():
        if not text.isascii():
            text, replaced = _SURROGATE.subn("\ufffd", text)
        text = _CONTROL.sub("", text)
    return (without_numbers(text) if "[redacted:" in text else text), replaced


def _found(text: str, total: Work | None = None) -> list[Span]:
    """The findings of one pass, whose work also counts towards that of all passes."""
    work = Work(work_limit(len(text)))
    try:
        spans = find(text, work)
        if total is not None:
            total.add(work.spent)
        return spans
    except TooMuchWork:
        return [(0, len(text), "text")]


def _settled(plain: str, marks: Marks, more: More = _no_more) -> tuple[str, Marks]:
    """The text after as many passes as it takes until nothing is found, and its placeholders."""
    total = Work(work_limit(len(plain)))
    for _ in range(_PASSES_MAX):
        spans = _found(plain, total) or more(plain)
        if not spans:
            return plain, marks
        plain, marks = cut(plain, spans, marks)
    found = _found(plain, total) or more(plain)
    return (_WHOLE_TEXT, mark_of_all("text", plain)) if found else (plain, marks)
