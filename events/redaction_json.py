"""Codes under a quoted name, as in JSON, Python and JavaScript, and values without quotes there.

Structured text says in one word what prose says in a sentence, so the whole name decides:
`"pin": "4821"` is a secret, `"pin_count": 4` and `"status_code": 404` are not. Escaped quotes count
as quotes, for JSON often lies in a JSON string.
"""

import re
from typing import Final

from turnfold.events.redaction_rule import NOT_MASK, Lazy, Rule
from turnfold.events.redaction_views import MASK

AI = re.ASCII | re.IGNORECASE

QUOTE = r"\\{0,16}[\"'`]"
_LINK = rf"{QUOTE}\s{{0,4}}(?::|=>|=)\s{{0,4}}"
_END = r"(?=\s{0,4}(?:[,}\])\"'`\\]|\Z)|\s)"
_PIN = (
    r"pin(?:[_\- ]?(?:code|number|no))?"
    r"|(?:otp|totp|2fa|mfa|tfa)(?:[_\- ]?(?:code|token|pin))?|passcode"
)
_OF_SOMETHING = (
    r"(?:2fa|mfa|tfa|otp|totp|sms|auth(?:enticat(?:or|ion))?|login|sign[_\- ]?in|verif(?:y|ication)"
    r"|security|access|confirm(?:ation)?|backup|recovery|reset|activation|unlock|entry|door|gate"
    r"|alarm|safe|vault|garage|lock(?:er|box)?|keypad|one[_\- ]?time|two[_\- ]?factor)"
    r"[_\- ]?(?:code|combination|combo)"
)
_CARD = (
    r"(?:cvv|cvc|cvn)2?(?:[_\- ]?(?:code|number))?|card[_\- ]?(?:security|verification)[_\- ]?code"
)

# How these names begin.
_CUES = (
    *("pin", "otp", "totp", "2fa", "mfa", "tfa", "passcode", "sms", "auth", "login", "sign"),
    *("verif", "security", "access", "confirm", "backup", "recovery", "reset", "activation"),
    *("unlock", "entry", "door", "gate", "alarm", "safe", "vault", "garage", "lock", "keypad"),
    *("one_time", "one-time", "one time", "onetime"),
    *("two_factor", "two-factor", "two factor", "twofactor"),
)

# What may stand before such a name inside its quotes: `user_pin`, `atm-pin`, `newOtp`.
_OPENED = re.compile(
    rf"{QUOTE}(?:[A-Za-z0-9]{{1,16}}[_\-. ]){{0,2}}(?P<camel>[A-Za-z0-9]{{1,16}})?\Z", re.ASCII
)
_HARDWARE = re.compile(r"gpio|chip|board|bcm|socket|connector|header|led|relay|sensor", AI)
_REACH: Final = 56

_COLON = r"\s{0,4}:\s{0,4}"
_BARE = re.compile(rf"(?P<quote>{QUOTE}){_COLON}\Z")
_BARE_REACH: Final = 25
_WORD = "true|false|null|none"
_NUMBER = r"-?[0-9]{1,256}+(?:\.[0-9]{1,256}+)?"
_ENDS = r"(?=\s{0,64}[,}\]])"
_LITERAL = re.compile(rf"(?:(?P<word>{_WORD})|{_NUMBER}){_ENDS}", AI)
_MEMBER = re.compile(rf"{QUOTE}{_COLON}(?:{QUOTE}|[{NOT_MASK}]|(?:{_WORD}|{_NUMBER}){_ENDS})", AI)
_NEXT = re.compile(rf"{NOT_MASK}{QUOTE}\s{{0,4}},\s{{0,64}}{QUOTE}")
_ARRAY_REACH: Final = 600
_IN_ARRAY = re.compile(rf"(?<!\\)(?P<quote>{QUOTE}){_COLON}\[[^\[\]{{}}]{{0,600}}+\Z")
_ELEMENT_BEFORE = re.compile(r"[\[,]\s{0,64}\Z")
_FOLLOWS = re.compile(r"\s{0,64}(?:[,}\]]|\Z)")


def _is_named(match: re.Match[str]) -> bool:
    """The name has its quote before it, and isn't the pin of a board."""
    text, start = match.string, match.start()
    opened = _OPENED.search(text, max(0, start - _REACH), start)
    if opened is None or _HARDWARE.search(opened.group()) is not None:
        return False
    return opened["camel"] is None or text[start].isupper()


def is_member(text: str, end: int) -> bool:
    """Whether a quoted name ends at `end` and a text, a number or the like is its value.

    Then nothing but that value is what the name tells, however telling the name is.
    """
    return _MEMBER.match(text, end) is not None


def is_of_next_member(text: str, start: int, end: int) -> bool:
    """Whether between a cue and what it may tell its own value was replaced and a name follows."""
    return MASK in text[start:end] and _NEXT.search(text, start, end) is not None


def bare_end(text: str, start: int, end: int) -> int:
    """Where a told value ends that begins at `start`, if it is a literal behind a quoted name.

    A number ends before what separates it from the next name; `null` and the like are no secrets.
    """
    literal = _LITERAL.match(text, start)
    if literal is None or literal.end() > end or _quote_before(text, start) is None:
        return end
    return start if literal["word"] else literal.end()


def quotes_needed(text: str, start: int, end: int) -> str:
    """The quotes for what stands in place of a value without any behind a quoted name, or "".

    Also for an element without any in the array behind a quoted name.
    """
    follows = _FOLLOWS.match(text, end)
    if follows is None:
        return ""
    quote = _quote_before(text, start)
    if quote is None and follows.group()[-1:] in (",", "]"):
        quote = _quote_of_array(text, start)
    return quote or ""


def _quote_of_array(text: str, start: int) -> str | None:
    if _ELEMENT_BEFORE.search(text, max(0, start - 65), start) is None:
        return None
    found = _IN_ARRAY.search(text, max(0, start - _ARRAY_REACH), start)
    return None if found is None else found["quote"]


def _quote_before(text: str, start: int) -> str | None:
    before = _BARE.search(text, max(0, start - _BARE_REACH), start)
    return None if before is None else before["quote"]


JSON_RULES = (
    Rule(
        kind="code",
        source="a code under a quoted name",
        cues=_CUES,
        pattern=Lazy(
            rf"(?:{_OF_SOMETHING}|{_PIN})"
            rf"{_LINK}(?:{QUOTE})?\s{{0,2}}(?:[A-Z]-)?"
            rf"(?P<v>\d{{4,8}}|\d{{3}}[ \-]\d{{3}}|[A-Z0-9]{{3,6}}-[A-Z0-9]{{3,6}}){_END}",
            AI,
        ),
        accept=_is_named,
        digits=3,
    ),
    Rule(
        kind="card",
        source="a card's verification code under a quoted name",
        cues=("cvv", "cvc", "cvn", "card"),
        pattern=Lazy(rf"(?:{_CARD}){_LINK}(?:{QUOTE})?\s{{0,2}}(?P<v>\d{{3,4}}){_END}", AI),
        accept=_is_named,
        digits=3,
    ),
)
