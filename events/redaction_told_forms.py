"""Made-up words that a message tells: letters with digits or signs."""

import re
from collections.abc import Iterator

from turnfold.events.redaction_guess import looks_made_up
from turnfold.events.redaction_links import ADVERBS, LINKS, NAMED, NAMES
from turnfold.events.redaction_message import Message
from turnfold.events.redaction_shapes import Shape, has_uuid, is_hex, shape
from turnfold.events.redaction_topics import (
    ACCESS,
    CODE,
    ENTRY,
    HUSH,
    OTP,
    PIN,
    PLACE,
    SECRET,
    SPELL,
    THING,
    TOLD,
    WORD,
)
from turnfold.events.redaction_words import NUMBERED_NAMES

_GROUPS = (SECRET | WORD, SPELL, ENTRY, ACCESS | PLACE | OTP | CODE, HUSH)
_MIXED = re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]|[A-Za-z0-9][!#$%&*+_^.\-][A-Za-z0-9]|[a-z][A-Z]")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[a-z]")


def told_forms(message: Message) -> Iterator[tuple[int, int]]:
    """The ranges of the made-up words that a message tells."""
    told_like = ""
    for place, token in enumerate(message.tokens):
        if token.plain or not _MIXED.search(message.text, token.start, token.end):
            continue
        form = _LETTER.sub("a", _DIGIT.sub("0", token.low))
        if _is_told(message, place) or (form == told_like and message.goes_on(place)):
            told_like = form
            yield token.start, token.end + _signs(token.after)


def _signs(after: str) -> int:
    """How many signs at the end belong to a password."""
    return len(after) - len(after.lstrip("!$#*?"))


def _is_told(message: Message, place: int) -> bool:
    strength = _strength(message.word(place), message.tokens[place].after)
    if not strength or _is_name(message, place):
        return False
    word = message.word(place)
    topics = message.topics | (SPELL if _SPELT.fullmatch(word) else 0)
    topic = _topic(topics, strength)
    link = max(message.link_before(place), message.link_behind(place))
    if topics & HUSH and _is_last_word(message, place):
        link = 3
    if not topic and topics & TOLD and strength == 3:
        topic = not _LOUD.isdisjoint(word[1:-1])
    if strength == 1:
        return _is_weak_told(message, place, topic, link)
    if strength == 3 and place and message.tokens[place - 1].low == "and":
        link = max(link, 2)  # the name before it is no secret
    return link >= 2 and topic + link + strength >= 7


def _is_last_word(message: Message, place: int) -> bool:
    """«so u dont lose it… X», and nothing behind it."""
    last = place > 0 and place + 1 == len(message.tokens)
    return last and message.tokens[place - 1].after[-1:] in (":", "…")


def _topic(topics: int, strength: int) -> int:
    """How much a message speaks of something that has a password, from 0 to 4."""
    topic = 0
    if topics & (SECRET | SPELL | ENTRY | WORD):
        topic = 3
    elif topics & (ACCESS | HUSH | OTP):
        topic = 2
    elif topics & (THING | CODE | PIN | PLACE):
        topic = 2 if strength == 3 and not topics & THING else 1
    return topic + (sum(topics & group > 0 for group in _GROUPS) >= 2)


def _is_weak_told(message: Message, place: int, topic: int, link: int) -> bool:
    """Whether a word that is hardly made up is told: `dolphin5`, `Harbor_Lights`."""
    tokens, topics, word = message.tokens, message.topics, message.word(place)
    if _is_answer(message, place):
        return True
    if topics & SECRET and link == 3 and not _LETTERS.fullmatch(word):
        return True
    last = place > 0 and place + 1 == len(tokens) and topics & (SECRET | WORD | ENTRY)
    if last and tokens[place - 1].after[-1:] in (".", ":", "?", "…"):
        return True
    beside = place > 0 and message.marks[place - 1] & SECRET and not tokens[place - 1].after
    if link < 3 and not beside:
        return False
    hyphened = word.replace("-", "").isalpha()
    return (topic >= 4 and not hyphened) or _is_asked(message, place)


def _is_asked(message: Message, place: int) -> bool:
    """«… when prompted»."""
    behind = message.tokens[place + 1 : place + 2]
    if not behind or behind[0].low not in ("when", "if"):
        return False
    return any(mark & ENTRY for mark in message.marks[place + 2 : place + 5])


def _is_answer(message: Message, place: int) -> bool:
    """«Wifi?», and nothing else before or behind."""
    alone = place == 1 and len(message.tokens) == 2 and message.tokens[0].after[:1] in ("?", ":")
    return alone and message.marks[0] & (ACCESS | SECRET) > 0


def _is_name(message: Message, place: int) -> bool:
    """A user name, or somebody who is spoken to."""
    tokens = message.tokens
    if (place == 0 and tokens[0].after[:1] in (":", ",")) or "@" in tokens[place].before:
        return True
    for at in range(place - 1, max(-1, place - 4), -1):
        low = tokens[at].low
        if tokens[at].after not in ("", ":", "="):
            break
        if low in (NAMED if at == place - 1 else NAMES):
            return True
        if low in _ACCOUNT_NAMES and at < place - 1 and tokens[place - 1].low in _IS:
            return True
        if low not in LINKS and low not in ADVERBS:
            break
    behind = place + 1
    if behind == len(tokens) or not message.marks[behind] & SECRET:
        return False
    return tokens[behind].after[:1] in (":", "=")


_ACCOUNT_NAMES = frozenset("account acc acct alt ftp vpn wifi network ssid".split())
_IS = frozenset("is was called ist es est é è".split())

_THING = re.compile(
    r"://|[()]|\?:|\\|@[\w.\-]+:|\A[0-9]+:[0-9]|\A(?-i:[a-z0-9_\-]+(?:\.[a-z0-9_\-]+){2,})\Z"
    r"|(?:ctrl|alt|shift|sysrq|cmd|super|fn)[+\-]|\A[0-9]{4}-[0-9]{2}-[0-9]{2}",
    re.IGNORECASE,
)
"""URLs, calls, prompts, times, host names, keys to press, dates."""

_SPELT = re.compile(r"(?:[A-Za-z0-9]-){3,20}[A-Za-z0-9]")
_GROUPED = re.compile(r"[A-Za-z0-9]{2,8}(?:-[A-Za-z0-9]{2,8}){1,7}")
_MIXED_GROUP = re.compile(r"(?<![A-Za-z0-9])(?=[0-9]*[A-Za-z])(?=[A-Za-z]*[0-9])[A-Za-z0-9]+")
_HEX_GROUPS = re.compile(r"-?(?:[0-9a-f]{1,12}-){2,}[0-9a-f]{0,12}|[0-9a-f]{1,8}-[0-9a-f]{4}")
_CASES = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_LEET = re.compile(r"[A-Za-z][0-9][A-Za-z]")
_TAILED = re.compile(r"(?P<stem>[A-Za-z]{4,16})[0-9]{3,6}")
_NUMBERED_WORD = re.compile(r"[A-Za-z]+-?[A-Z]?[0-9]")
_LETTERS = re.compile(r"[A-Za-z]{3,}(?:[_.\-][A-Za-z]{3,})+|(?:[A-Z][a-z]{2,}){2,5}")
_SIGNED = re.compile(r"[A-Z][a-z]{2,}[!#$%^&*][A-Z][a-z]{2,}|[a-z]{4,16}[!#$%^*][a-z]{4,16}")
_SIGNS = frozenset("!#$%^&*+?=")
_LOUD = frozenset("!#$%^&*")


def _strength(word: str, after: str) -> int:
    """How much a word looks made up: 0 not at all, 1 perhaps, 2 yes, 3 random.

    `after`: the punctuation behind it, whose first sign may belong to it.
    """
    if not 5 <= len(word) <= 64 or not word.isascii() or has_uuid(word) or _THING.search(word):
        return 0
    if _SPELT.fullmatch(word):
        return 2
    found = shape(word)
    if _HEX_GROUPS.fullmatch(word) or (is_hex(word) and not found.digits):
        return 0
    if _GROUPED.fullmatch(word) and found.letters and len(_MIXED_GROUP.findall(word)) >= 2:
        return 3
    if word.isalpha() and len(_CASES.findall(word)) >= 5:
        return 2
    if "@" in word[1:] and "." not in word and min(found.lower, found.upper, found.digits):
        return 2
    tailed = _TAILED.fullmatch(word)
    if tailed is not None and tailed["stem"].lower() in NUMBERED_NAMES:
        return 1
    if not looks_made_up(word, announced=True):
        return 1 if tailed is not None or _LETTERS.fullmatch(word) else 0
    return _strength_of_mixed(word, after, found)


def _strength_of_mixed(word: str, after: str, found: Shape) -> int:
    inner = not _SIGNS.isdisjoint(word[1:])
    if not found.digits and _SIGNED.fullmatch(word):
        return 2
    if not found.digits or not (found.lower or inner):
        return 1
    signed = inner or after[:1] in ("!", "$", "#")
    classes = (found.lower > 0) + (found.upper > 0) + (found.digits > 0) + signed
    if len(word) >= 8 and (classes == 4 or (inner and classes >= 3)):
        return 3
    if found.digits >= 2 or inner or _LEET.search(word):
        return 2
    return 2 if len(word) >= 8 and not _NUMBERED_WORD.fullmatch(word) else 1
