"""Passwords told before their cue: «use X as the password», «X is my password»."""

import re

from turnfold.events.redaction_guess import PROSE_ENDING, TRIM, could_be_password, looks_made_up
from turnfold.events.redaction_rule import NOT_MASK
from turnfold.events.redaction_words import FUNCTION_WORDS

AI = re.ASCII | re.IGNORECASE
_REACH = 56

_OWNER = (
    r"(?:(?:the|my|your|a|our|its|his|her|their|that|this|new|old|current|correct|right|admin|root"
    r"|wifi|wi-fi|login|server|account|guest|secret|real|actual|[a-z]{2,10}['’]s)\s{1,3}){0,3}"
)
_BEFORE = re.compile(
    rf"(?:^|(?<=[\s\"'“`(:]))(?P<v>[^\s{NOT_MASK}\"'“”`]{{3,64}})[\"'”`,]{{0,2}}\s{{1,3}}"
    rf"(?P<how>(?:as|for|is|was|=|<-|<=|←|that['’]?s|\(?that['’]?s|is what i use (?:as|for)"
    rf"|\(|[-–—]|is also)\s{{0,3}})"
    rf"{_OWNER}$",
    AI,
)
_HOW = re.compile(r"\s(?:as|for|is|was|that['’]?s)\s|[=(\-–—←]", re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:use|used|using|try|tried|enter|entered|type|typed|put|set|have|need|say|write)\s{1,3}$",
    AI,
)
_GOES_ON = re.compile(r"\s+[a-z]", AI)


def named_before(text: str, at: int, cue_end: int) -> tuple[int, int] | None:
    """«use X as the password», «X is my password»."""
    low = max(0, at - 110)
    if not _HOW.search(text, max(0, at - 44), at):
        return None
    match = _BEFORE.search(text, low, at)
    if match is None or not could_be_password(match["v"]):
        return None
    word = match["v"].strip(TRIM)
    how = match["how"].split(" ")[0].lower()
    if looks_made_up(word, announced=how != "for"):
        return match.span("v")
    quoted = text[match.start("v") - 1 : match.start("v")] in ('"', "'", "“", "`")
    asked = _ASKED.search(text, max(0, match.start("v") - 20), match.start("v")) is not None
    if how == "as" and (asked or quoted):
        return match.span("v")
    if (
        how == "for"
        and asked
        and not _GOES_ON.match(text, cue_end)
        and _OWNED.search(match.group())
    ):
        return match.span("v")
    starts = match.start("v") == 0 or quoted
    named = how in ("is", "was") and starts and word.isalpha()
    if not named or _GOES_ON.match(text, cue_end):
        return None
    talk = word.lower() in FUNCTION_WORDS or PROSE_ENDING.fullmatch(word) is not None
    return None if talk else match.span("v")


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


_OWNED = re.compile(r"\bfor\s+(?:the|my|your|our|his|her|a)\s", AI)
