"""Arrays and objects under a telling name, as in JSON: `"passwords": ["…", "…"]`.

What a name tells, it tells of each value in its array. Elements are replaced one by one, so that
the document stays one. Arrays of objects are left to the names inside them, and so are objects,
except under a name for a password: there each text of one word is taken for one.
"""

import re
from collections.abc import Iterator
from typing import Final

from turnfold.events.redaction_guess import could_be_password, passphrase_at
from turnfold.events.redaction_json import QUOTE
from turnfold.events.redaction_rule import NOT_MASK, Span
from turnfold.events.redaction_shapes import is_secretlike, is_uuid

AI = re.ASCII | re.IGNORECASE

OPENED = re.compile(rf"(?<!\\)(?P<quote>{QUOTE})\s{{0,4}}(?::|=>)\s{{0,4}}(?P<open>[\[{{])")
"""Where an array or an object begins as the value of a quoted name."""

_NAME_MAX: Final = 40
_NAME = re.compile(
    r"(?:(?P<password>(?:pass(?:word|wd|phrase|code)?|pwd|passwrd)s?)"
    r"|(?P<code>pins?|otps?|(?:backup|recovery|scratch|rescue|2fa|totp|mfa|access|door|gate|alarm"
    r"|security|verification)[_\- ]?codes?|cvvs?)"
    r"|(?P<token>tokens?|secrets?|(?:api|secret|access|private|auth)[_\-]?keys?))\Z",
    AI,
)
_ELEMENT = re.compile(
    rf"\s{{0,64}}(?:(?P<quote>[\"'`])(?P<plain>(?:[^\"'`\\{NOT_MASK}]|\\.|(?!(?P=quote))[\"'`]){{0,256}}+)"
    rf"(?P=quote)|(?P<escaped>\\{{1,16}}[\"'`])(?P<inner>[^\"'`\\{NOT_MASK}]{{0,256}}+)(?P=escaped)"
    rf"|[{NOT_MASK}\"'`\\]{{1,600}}+|(?P<number>-?[0-9]{{1,256}}+(?:\.[0-9]{{1,256}}+)?)"
    r"|true|false|null|None)\s{0,64}",
    re.DOTALL,
)
_ELEMENTS_MAX: Final = 64


def container_spans(text: str, opened: re.Match[str]) -> Iterator[Span]:
    """What is secret in the array or object that begins at a match of `OPENED`."""
    named = _NAME.search(text, max(0, opened.start() - _NAME_MAX), opened.start())
    if named is None or _goes_on_before(text, named.start()):
        return
    kind = named.lastgroup or ""
    is_array = opened["open"] == "["
    if not is_array and kind != "password":
        return
    at = opened.end()
    for number in range(_ELEMENTS_MAX * (1 if is_array else 2)):
        element = _ELEMENT.match(text, at)
        if element is None:
            return
        is_name = not is_array and number % 2 == 0
        if not is_name:
            span = _judged(element, kind)
            if span is not None:
                yield span
        at = element.end()
        if text[at : at + 1] != (":" if is_name else ","):
            return
        at += 1


def _goes_on_before(text: str, start: int) -> bool:
    """Whether the telling part of a name is the end of a word: `tokens`, not `compass`."""
    ahead = text[start - 1 : start]
    return ahead.isalpha() and not (ahead.islower() and text[start].isupper())


def _judged(element: re.Match[str], kind: str) -> Span | None:
    """The range of an element that is a secret under a name of this kind."""
    group = next((name for name in ("plain", "inner", "number") if element[name]), None)
    if group is None:
        return None
    value = element[group]
    start, end = element.span(group)
    digits = sum(char.isdigit() for char in value)
    if kind == "token":
        secret = group != "number" and is_secretlike(value) and not is_uuid(value)
        return (start, end, "token") if secret else None
    if kind == "code":
        letters_too = group != "number" and len(value) <= 32 and " " not in value
        return (start, end, "code") if digits >= 3 and (letters_too or value.isdigit()) else None
    if group == "number":
        return (start, end, "credential") if digits >= 4 else None
    words = passphrase_at(value, 0)
    told = could_be_password(value) if not any(map(str.isspace, value)) else words is not None
    return (start, end, "credential") if told else None
