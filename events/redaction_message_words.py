"""Words of a message, each with the punctuation around it."""

import re
from typing import NamedTuple

from turnfold.events.redaction_rule import NOT_MASK
from turnfold.events.redaction_views import MASK

_CHUNK = re.compile(rf"[^\s{NOT_MASK}]{{1,80}}+|[{NOT_MASK}]++")
# «pin:8820», «code->1573», «ok…Fj3-kk2»: a word, a mark, and a value without a blank.
_GLUED = re.compile(r"[\w.'’\-]{1,24}?[\"'”]?(?::|=>?|->|→|…|\.{2,}|—)(?=[^\s/:=.…])")
_OPENING = "\"'`“”‘’«»「」『』(<[{*~—–…-.,;:→>|/= "
_CLOSING = _OPENING + "!?)]}"


def without_apostrophes(word: str) -> str:
    """The word as it is looked up."""
    return word.replace("'", "").replace("’", "")


class Token(NamedTuple):
    """A word: its range, its letters for look-ups, the punctuation and line breaks around it.

    A tuple, because it takes a third of the time of a frozen class, and a message has dozens.

    Attributes:
        plain: nothing but letters, none of them upper-case behind the first.
        owner: ends with an apostrophe and an s.
    """

    start: int
    end: int
    low: str
    before: str
    after: str
    plain: bool
    owner: bool


def words_of(text: str, start: int, end: int) -> list[Token]:
    """The words of a part of a text, in order."""
    found: list[Token] = []
    last = start
    for match in _CHUNK.finditer(text, start, end):
        word, (first, stop) = match.group(), match.span()
        gap = "\n" if "\n" in text[last:first] else ""
        last = stop
        if word.isalpha():
            plain = word[1:].islower() or len(word) == 1
            found.append(Token(first, stop, word.lower(), gap, "", plain, False))
            continue
        glued = _GLUED.match(text, first, stop)
        if glued is not None:
            found.append(_token(text[first : glued.end()], first, gap))
            first, gap = glued.end(), ""
        found.append(_token(text[first:stop], first, gap))
    return found


def _token(word: str, first: int, gap: str) -> Token:
    core = word.lstrip(_OPENING)
    bare = core.rstrip(_CLOSING)
    start = first + len(word) - len(core)
    low = without_apostrophes(bare.lower())
    if not any(map(str.isalnum, low)):
        low = MASK if MASK in word else ""  # a dash, an emoji
    owner = len(low) > 1 and bare[-2:-1] in ("'", "’") and low[-1] == "s"
    plain = bare.isalpha() and (bare[1:].islower() or len(bare) == 1)
    if word == "w/":
        return Token(start, start + 1, "w", gap, "", True, False)
    before, after = gap + word[: len(word) - len(core)], core[len(bare) :]
    if ".." in after:
        after = after.replace("...", "…")
    return Token(start, start + len(bare), low, before, after, plain, owner)
