"""Passwords told before their cue: «use X as the password», «X is my password»."""

import re

from turnfold.events.redaction_guess import PROSE_ENDING, TRIM, could_be_password, looks_made_up
from turnfold.events.redaction_views import MASK
from turnfold.events.redaction_words import FUNCTION_WORDS

AI = re.ASCII | re.IGNORECASE
_REACH = 56

_OWNERS_IN_ORDER = (
    "the my your a our its his her their that this new old current correct right admin root wifi "
    "wi-fi login server account guest secret real actual"
).split()
_OWNERS = frozenset(_OWNERS_IN_ORDER)
_OWNER = rf"(?:(?:{'|'.join(_OWNERS_IN_ORDER)}|[a-z]{{2,10}}['’]s)\s{{1,3}}){{0,3}}"
_HOWS = frozenset(
    "as for is was = <- <= ← that's that’s thats (that's (that’s (thats ( - – —".split()
)
_TOKEN = re.compile(r"\S+")
_ASKED = frozenset(
    "use used using try tried enter entered type typed put set have need say write word phrase"
    " words".split()
)
_QUOTES = "\"'“”`"
_GOES_ON = re.compile(r"\s+[a-z]", AI)


def named_before(text: str, at: int, cue_end: int) -> tuple[int, int] | None:
    """«use X as the password», «X is my password»: read backwards from the cue."""
    low = max(0, at - 110)
    words = text[low:at].lower().split()[-9:]
    owners: list[str] = []
    while words and len(owners) < 4 and _is_owner(words[-1]):
        owners.append(words.pop())
    if words and words[-1] == "also":
        words.pop()
    if len(words) < 2 or words[-1] not in _HOWS:
        return None
    how = words.pop()
    if words[-4:] == ["is", "what", "i", "use"]:
        del words[-4:]
    tokens = list(_TOKEN.finditer(text, low, at))[-9:][: len(words)]
    return _judge(text, tokens, how, owners, cue_end) if tokens else None


def _is_owner(word: str) -> bool:
    return word in _OWNERS or (word.endswith(("'s", "’s")) and word not in _HOWS)


def _judge(
    text: str, tokens: list[re.Match[str]], how: str, owners: list[str], cue_end: int
) -> tuple[int, int] | None:
    """Whether the last of `tokens` is a password, given the words behind it."""
    token = tokens[-1].group()
    start = tokens[-1].start() + len(token) - len(token.lstrip(_QUOTES + "(:"))
    value = token.strip(_QUOTES + "(:,")
    word = value.strip(TRIM)
    if not 3 <= len(word) <= 64 or MASK in token or not could_be_password(value):
        return None
    span = start, start + len(value)
    if looks_made_up(word, announced=how != "for"):
        return span
    quoted = token[0] in _QUOTES
    asked = len(tokens) > 1 and tokens[-2].group().lower() in _ASKED
    if how == "as":
        return span if asked or quoted else None
    if _GOES_ON.match(text, cue_end):
        return None
    if how == "for":
        owned = not {"the", "my", "your", "our", "his", "her", "a"}.isdisjoint(owners)
        return span if asked and owned else None
    named = how in ("is", "was") and (start == 0 or quoted) and word.isalpha()
    talk = word.lower() in FUNCTION_WORDS or PROSE_ENDING.fullmatch(word) is not None
    return span if named and not talk else None


_POINTS_BACK = re.compile(rf"(?:that['’]?s|that is|which is|it is|it['’]s)\s{{1,3}}{_OWNER}$", AI)
_QUOTE = re.compile(r"[\"“`]|(?<![A-Za-z])'")
_LAST_QUOTED = re.compile(r"[\"'“`](?P<v>[^\s\"'“”`]{4,32})[\"'”`](?=[^\"'“”`]*$)")


def quoted_before(text: str, at: int) -> tuple[int, int] | None:
    """«whisper 'X' to the guard, that's the password»."""
    low = max(0, at - _REACH)
    if not _QUOTE.search(text, low, at):
        return None
    points = _POINTS_BACK.search(text, low, at)
    if points is None:
        return None
    match = _LAST_QUOTED.search(text, low, points.start())
    return match.span("v") if match is not None and could_be_password(match["v"]) else None
