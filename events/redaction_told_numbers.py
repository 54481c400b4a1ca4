"""Numbers that a message tells: PINs, codes of doors and alarms, one-time codes."""

import re
from collections.abc import Iterator

from turnfold.events.redaction_links import AFTERWORDS, DIGIT_WORDS, NAMED, PUTTING, UNITS
from turnfold.events.redaction_message import Message
from turnfold.events.redaction_topics import (
    ACCESS,
    CODE,
    DIAL,
    ENTRY,
    HUSH,
    OTP,
    PIN,
    PLACE,
    SECRET,
)

_NUMBERS_MAX = 9
"""A message with more numbers is a table."""

_NUMBER = re.compile(
    r"[0-9]{3,8}[#*]?|[0-9]{6}(?:-[0-9]{6}){1,7}|[0-9](?:-[0-9]){2,7}|[0-9]{1,4}(?:-[0-9]{1,4}){1,3}"
    r"|[A-ZА-я][0-9]{3,5}[A-Z]?|[0-9]{2,5}[A-FHJLN-ZА-я][0-9]{0,5}|[A-Z]-[0-9]{4,8}"
    r"|(?=[A-Z]*[0-9])(?=[0-9]*[A-Z])[A-Z0-9]{5,8}"
)
_KEYS = re.compile(r"[0-9](?:[ \-][0-9]){3,7}")
_BLOCKS = re.compile(r"[0-9]{6}(?:-[0-9]{6}){1,7}")
_KEYED = re.compile(r"[0-9](?:-[0-9]){3,7}")
_DATE = re.compile(r"(?:19|20)[0-9]{2}-.+|.+-(?:19|20)[0-9]{2}")
_YEAR = re.compile(r"19[0-9][0-9]|20[0-3][0-9]")
_FILE_MODE = re.compile(r"0[67][04567][04567]")
_GROUP = re.compile(r"[0-9]{1,4}")
_DIGIT = re.compile(r"[0-9]")
# The wheel of a safe: «31 left, 7 right, 22 left».
_TURN = r"(?:[0-9]{1,2} ?(?:left|right|l|r|cw|ccw|links|rechts)|(?:left|right|l|r) ?[0-9]{1,2})\b"
_TURNED = r"(?:left|right)(?: [a-z]{1,8}){0,4} to [0-9]{1,2}"
_TURNS = re.compile(
    rf"{_TURNED}(?:,? (?:then |and )?{_TURNED}){{1,3}}"
    rf"|{_TURN}(?:,? (?:then |and |back )?{_TURN}){{1,4}}",
    re.IGNORECASE,
)
_DEVICES = frozenset("phone laptop tablet ipad iphone pc screen unlock mobile handy".split())


def told_numbers(message: Message) -> Iterator[tuple[int, int]]:
    """The ranges of the numbers that a message tells."""
    text, tokens = message.text, message.tokens
    if message.topics & (PIN | CODE | PLACE):
        for match in _TURNS.finditer(text, tokens[0].start, tokens[-1].end):
            yield match.span()
    told_like = ""
    found = _numbers(message)
    for place, size in found if len(found) <= _NUMBERS_MAX else ():
        start, end = tokens[place].start, tokens[place + size - 1].end
        form = _DIGIT.sub("0", text[start:end])
        if _is_told(message, place, size) or (form == told_like and message.goes_on(place)):
            told_like = form
            yield start, end


def _numbers(message: Message) -> list[tuple[int, int]]:
    """Where numbers begin in a message, and how many words each is told in."""
    found: list[tuple[int, int]] = []
    behind = 0
    for place, token in enumerate(message.tokens):
        if place < behind or not token.low:
            continue
        size = 0
        if token.low in DIGIT_WORDS:
            size = _spelled_out(message, place)
        elif any(map(str.isdigit, token.low[:5])):
            size = _grouped(message, place)
            if not size and _NUMBER.fullmatch(message.text, token.start, token.end):
                size = 1
        if size:
            behind = place + size
            found.append((place, size))
    return found


def _grouped(message: Message, place: int) -> int:
    """How many words a number is told in: «493 027», «6, 0, 3, 9»; 0 if in one."""
    tokens, size = message.tokens, 0
    figures = len(tokens[place].low)
    for token in tokens[place : place + 8]:
        if len(token.low) != figures or not _GROUP.fullmatch(token.low):
            break
        size += 1
        if token.after != "" and (figures > 1 or token.after != ","):
            break
    return size if size > 1 and 3 <= size * figures <= 9 else 0


def _spelled_out(message: Message, place: int) -> int:
    """How many words a number is told in that is spelled out: «four four seven one»."""
    size = 0
    for token in message.tokens[place : place + 9]:
        if token.low not in DIGIT_WORDS:
            break
        size += 1
        if token.after:
            break
    return size if size >= 3 else 0


def _is_told(message: Message, place: int, size: int) -> bool:
    first, last = message.tokens[place], message.tokens[place + size - 1]
    value, topics = message.text[first.start : last.end], message.topics
    link = max(message.link_before(place, number=True), message.link_behind(place + size - 1))
    keyed = last.after[:1] in ("#", "*") and value.isdigit()
    if keyed or value[-1] in "#*" or _KEYS.fullmatch(value):  # only keypads have these
        link = max(link, 2)
    if _BLOCKS.fullmatch(value) and topics & OTP:
        link = 3
    if not link or not _counts_nothing(message, place, size, sure=link == 3):
        return False
    if not _has_form(message, place, size, link):
        return False
    odd = keyed or value[0] == "0" or not value.isdigit()
    backed = odd or topics & (HUSH | ENTRY | DIAL) > 0
    topic = _topic(message, value, link, odd=odd)
    if not topic and link == 3 and _KEYED.fullmatch(value) and topics & (ENTRY | DIAL | HUSH):
        topic = 2
    if not topic and _KEYS.fullmatch(value) and topics & (ENTRY | DIAL | ACCESS):
        topic = 3 if link == 2 and topics & (DIAL | ACCESS) else 2
    if not topic and link == 3 and topics & ENTRY and _is_with(message, place):
        topic = 2
    return topic > 0 and topic + link + backed >= 5


def _is_with(message: Message, place: int) -> bool:
    """«get in w/ 6201», «tu tapes 6A03»."""
    return place > 0 and message.tokens[place - 1].low in ("w", "with", "avec", "mit", "tapes")


def _has_form(message: Message, place: int, size: int, link: int) -> bool:
    """Whether a code looks so: not a date, not a year, and the shorter the surer the topic."""
    first, last = message.tokens[place], message.tokens[place + size - 1]
    value, topics = message.text[first.start : last.end], message.topics
    if _DATE.fullmatch(value) or (_YEAR.fullmatch(value) and not (topics & PIN and link >= 2)):
        return False
    if _FILE_MODE.fullmatch(value) and not topics & PIN:
        return False
    figures = len(_DIGIT.findall(value)) if size < 3 else 4
    if size >= 4 and (link == 3 or topics & (DIAL | ACCESS)):
        return True
    if size > 1 or (figures < 4 and len(value) > figures):
        six = figures == 6 or (size > 1 and len(value.replace(" ", "").replace("-", "")) == 6)
        if (
            topics & (PIN | OTP)
            or (topics & CODE and link == 3 and six)
            or (topics & ENTRY and link == 3)
        ):
            return True
        return topics & CODE > 0 and topics & PLACE > 0
    if figures < 4:
        alone = last.after != "" or place + size == len(message.tokens)
        return topics & DIAL > 0 or (topics & PIN > 0 and (link == 3 or alone))
    lettered = value.isalnum() and not value.isdigit()
    return not lettered or link >= (2 if topics & PIN else 3)


def _topic(message: Message, value: str, link: int, *, odd: bool) -> int:
    """How much the message speaks of something that has a code, from 0 to 3."""
    topics = message.topics
    if topics & (PIN | OTP) or (topics & SECRET and (link == 3 or odd)):
        return 3
    if topics & CODE:
        return 3 if topics & PLACE else 2
    if topics & PLACE and (odd or not value.endswith("00")):
        return 2
    if len(value) == 6 or (topics & (HUSH | DIAL | ENTRY) and len(value) == 4):
        return 0 if _DEVICES.isdisjoint(token.low for token in message.tokens) else 2
    return 0


def _counts_nothing(message: Message, place: int, size: int, *, sure: bool) -> bool:
    """Nothing stands behind a number that it could count, and no name before it."""
    token, behind = message.tokens[place], place + size
    if (place and _is_name(message, place)) or token.before.endswith(("-", "/")):
        return False
    if message.tokens[behind - 1].after or behind == len(message.tokens):
        return True
    following = message.tokens[behind]
    if not following.low or following.low in AFTERWORDS:
        return True
    if token.low[0] == "0" and following.low not in UNITS:
        return True
    round_sum = message.word(behind - 1).endswith("00")
    if sure and message.topics & (PIN | OTP) and not round_sum and following.low not in UNITS:
        return len(following.low) > 2
    return following.before != "" and following.before[0] in "\n-—–(→\"'"


def _is_name(message: Message, place: int) -> bool:
    """«room 4471», but not «punch in 4471»."""
    previous = message.tokens[place - 1]
    if previous.low not in NAMED or previous.after or message.tokens[place].before:
        return False
    at = max(0, place - 2)
    return not (
        previous.low == "in" and (message.marks[at] & DIAL or message.tokens[at].low in PUTTING)
    )
