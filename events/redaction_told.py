"""Passwords and codes that a message tells without a rule's wording: evidence is added up.

Topics are looked up in a message (`redaction_message`), candidates are judged by their form, by
what stands right before and behind them, and by the topics around. One of the three alone is never
enough:

- a number needs a topic that has a code, a link to it («is», a colon, «punch in») and behind it
  nothing that it could count (`redaction_told_numbers`);
- a made-up word needs a topic, a link, and letters mixed with digits or signs
  (`redaction_told_forms`);
- plain words need a topic that announces words («magic word») and a place where only they can
  stand (`redaction_told_words`, `redaction_told_verbs`).
"""

import re
from collections.abc import Iterator

from turnfold.events.redaction_message import Message
from turnfold.events.redaction_rule import Span
from turnfold.events.redaction_told_cues import told_by_cues
from turnfold.events.redaction_told_forms import told_forms
from turnfold.events.redaction_told_numbers import told_numbers
from turnfold.events.redaction_told_plain import siblings
from turnfold.events.redaction_told_verbs import told_by_verbs
from turnfold.events.redaction_told_words import told_words
from turnfold.events.redaction_topics import (
    ACCESS,
    ANSWER,
    CODE,
    DIAL,
    ENTRY,
    HUSH,
    NETWORK,
    OPENED,
    OTP,
    PIN,
    PLACE,
    SECRET,
    SPELL,
    THING,
    TOLD,
    WORD,
)

_NUMBERED = PIN | CODE | PLACE | OTP | SECRET
_WORDED = WORD | SECRET | SPELL | ANSWER | ENTRY | OPENED
_MADE_UP = THING | CODE | PIN | PLACE | SECRET | WORD | SPELL | ENTRY | ACCESS | HUSH | OTP | TOLD
_WORDS_MAX = 80
_TEXT_MAX = 2_000
"""Characters; a longer text is a document, and nobody tells a password in one."""

_DATA = ('":', "{", '", "', '","')
"""Data and code have these; they are read by other rules."""

_DIGITS = re.compile(r"[0-9](?:[ ,\-]{0,2}[0-9]){2}|[A-Z][0-9]|[0-9](?:[A-Z]| left| right)")
_KEYS = re.compile(r"[0-9](?:[ \-][0-9]){3}|(?<![0-9A-Za-z.,])[0-9]{6}(?![0-9A-Za-z.])")
_LOUD = re.compile(r"[A-Za-z0-9][!#$%^&*][A-Za-z0-9]")
# Lower-case letters, upper-case ones, digits, signs, hyphens; the rest is a blank.
_CLASSES = bytes(
    ord("a") if chr(byte).islower()
    else ord("A") if chr(byte).isupper()
    else ord("0") if chr(byte).isdigit()
    else ord("!") if chr(byte) in "!#$%&*+?^"
    else ord("-") if chr(byte) == "-"
    else ord(" ")
    for byte in range(128)
) + b" " * 128  # fmt: skip
_MIXTURES = (
    *(b"a0", b"A0", b"a-0", b"A-0", b"0a", b"0A", b"aAa"),
    *(bytes((one, ord("!"), other)) for one in b"aA0" for other in b"aA0"),
)
_NUMERAL = "(?:one|two|three|four|five|six|seven|eight|nine|zero)"
_SPELLED = re.compile(rf"\b{_NUMERAL} {_NUMERAL}\b")


def may_tell(text: str, topics: int, digits: int) -> bool:
    """Whether a text that speaks of `topics` and has `digits` ASCII digits has a candidate."""
    if len(text) > _TEXT_MAX or any(sign in text for sign in _DATA):
        return False
    if topics & _WORDED or (topics & NETWORK and topics & (THING | CODE)):
        return True
    if topics & (PIN | CODE | PLACE) and _SPELLED.search(text):
        return True
    if digits >= 2 and topics & (_NUMBERED | DIAL | HUSH) and _DIGITS.search(text):
        return True
    if digits >= 4 and topics & ACCESS and _KEYS.search(text):
        return True
    if not topics & ~TOLD:
        return digits > 0 and _LOUD.search(text) is not None and _is_mixed(text)
    return topics & _MADE_UP > 0 and _is_mixed(text)


def _is_mixed(text: str) -> bool:
    """Whether a word, addresses aside, has letters beside digits or signs, or is in CamelCase."""
    if "://" in text:
        text = " ".join([word for word in text.split() if "://" not in word])
    classes = text.encode("utf-8", "surrogatepass").translate(_CLASSES)
    return any(mixture in classes for mixture in _MIXTURES)


def told(text: str, piece: tuple[int, int]) -> Iterator[Span]:
    """What one piece of `text` tells."""
    message = Message(text, *piece)
    topics = message.topics
    if not topics or len(message.tokens) > _WORDS_MAX:
        return
    if topics & (_NUMBERED | ACCESS | DIAL | ENTRY):
        for start, end in told_numbers(message):
            yield start, end, "code"
    found: list[tuple[int, int]] = []
    if topics & _MADE_UP:
        found += told_forms(message)
    found += told_words(message)
    if topics & (SECRET | NETWORK | PIN):
        found += told_by_cues(message)
    found += told_by_verbs(message)
    if found:
        found += siblings(message, found)
    for start, end in found:
        yield start, end, "credential"
