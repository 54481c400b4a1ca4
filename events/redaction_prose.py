"""Rules for passwords, codes and logins told in prose.

A cue word («password», «pwd», «пароль» …) alone means nothing: chat is full of talk about
passwords. What counts is how a value is tied to the cue, and how much the value looks like one:

- `password: X`, `password = X`: any word that isn't talk (`NOT_A_VALUE`);
- `password is X`: the same, for one word;
- `password X`: X must look made up (letters with digits or signs);
- anything made up near the cue, in the same clause.
"""

import re
from collections.abc import Iterator
from itertools import islice

from turnfold.events.redaction_before import named_before, quoted_before
from turnfold.events.redaction_containers import OPENED
from turnfold.events.redaction_guess import (
    CALL,
    PROSE_ENDING,
    TRIM,
    could_be_password,
    fits_unannounced,
    is_ordinal,
    looks_made_up,
    passphrase_at,
)
from turnfold.events.redaction_json import is_member
from turnfold.events.redaction_rule import NOT_MASK, Lazy
from turnfold.events.redaction_shapes import has_uuid, shape
from turnfold.events.redaction_words import PASSWORD_CUES

AI = re.ASCII | re.IGNORECASE

_CUES: dict[str, Lazy] = {
    literal: Lazy(rf"(?:{pattern})(?![A-Za-z0-9])", re.IGNORECASE)
    for literal, pattern in PASSWORD_CUES
}
PROSE_CUES: tuple[str, ...] = tuple(_CUES)

_ADVERB = (
    r"(?:always|now|still|just|currently|actually|really|simply|set|going|again|only|maybe|nu"
    r"|jetzt|nun|immer|noch|ahora|maintenant|toujours|agora|adesso|ancora|теперь|сейчас|nyt|teraz"
    r"|sigue|siendo|wciąż|nadal|gewoon|einfach)"
)
_FILLER = r"(?:(?:just|simply|literally|only|probably|the word|the phrase|called)\s{1,2}){0,2}"
_LINK = re.compile(
    r"[\"'`\])*_]{0,3}"
    r"(?:\s{1,2}\([^()\n]{1,40}\))?"
    r"(?:(?P<mark>\s{0,3}(?:(?:is|was|ist|lautet|be)\s{0,2})?(?:=>|->|→|:=|==?|[:>|：＝]|-(?=\s)"
    r"|equals)\s{0,3}"
    rf"(?:(?:it['’]?s|it is|is)\s{{1,2}})?{_FILLER})"
    rf"|(?P<verb>\s{{1,3}}(?:is|was|were|ist|war|bleibt|blijft|lautet|hei(?:ß|ss)t|es|era|est|était"
    rf"|c['’]est|é|to|are|it['’]s|è|e'|je|on|är|er)"
    rf"(?:\s{{1,2}}{_ADVERB}){{0,2}}(?:\s{{1,2}}to(?:\s{{1,2}}be)?)?:?\s{{1,3}}"
    rf"{_FILLER}|['’]?s\s{{1,3}}{_FILLER}|s\s{{0,2}}[:=]\s{{0,2}})"
    r"|(?P<aside>\s{0,2}[?,.;]\s{0,3}(?:it['’]?s|it is|try|that['’]?s|use)\s{1,3})"
    r"|(?P<bare>\s{1,3}))",
    re.IGNORECASE,
)
# What introduces the value some words after the cue: «password for the door is …».
_INTRO = re.compile(
    r"\s{0,2}(?:=>|->|→|:=|==?|:)\s{1,3}|(?<=\s)(?:is|was|be|to|it['’]?s|it is|use|try|type"
    r"|enter|put|es|est"
    r"|c['’]est|ist|lautet|é|è|är|er|becomes|remains|stays|says|reads|as|with|still|now|either"
    r"|called"
    rf"|namely|auf|на|na|à)(?:\s{{1,2}}{_ADVERB})?\s{{1,2}}",
    re.IGNORECASE,
)
_VALUE = re.compile(
    rf"\"(?P<q1>(?:[^\"\\{NOT_MASK}\n]|\\[^{NOT_MASK}\n]){{3,64}}+)\"|'(?P<q2>[^'{NOT_MASK}\n]{{3,64}})'"
    rf"|“(?P<q3>[^”{NOT_MASK}\n]{{3,64}})”|`(?P<q4>[^`{NOT_MASK}\n]{{3,64}})`"
    rf"|(?P<word>[^\s{NOT_MASK}。，、！？；：）」』】》…]{{3,256}}+)"
)
_TOKEN_MAX = 80
_TOKEN = re.compile(rf"[^\s{NOT_MASK}]{{1,{_TOKEN_MAX}}}+")
_DIGIT = re.compile("[0-9]")

_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]{1,20}://", AI)
_LEAD = re.compile(r"\bto\s*$")
_SET = re.compile(r"\b(?:set|change[ds]?|reset|update[ds]?)\b", AI)
_NEAR_AFTER = 72
_NEAR_BEFORE = 56


def _boundary(text: str, start: int, cue: str) -> bool:
    """The cue begins a word, or a CamelCase part of a name; a full «password» may end any."""
    ahead = text[start - 1 : start]
    if not ahead.isalpha():
        return not (ahead == "/" and cue == "passwd")
    return (ahead.islower() and text[start].isupper()) or (
        len(cue) >= 6 and cue.startswith(("pas", "p4", "p@"))
    )


class PasswordSearch:
    """Finds the passwords that cues of one text announce. Cues of one literal come in order.

    What lies near several cues is judged once, for the first of them, so that the whole search
    is linear however many cues there are.
    """

    __slots__ = ("_far_to", "_near_to", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self.restart()

    def restart(self) -> None:
        """Another literal follows."""
        # Up to where full cues and short ones («pw») have judged the text behind them.
        self._far_to = [0, 0]
        self._near_to = [0, 0]

    def near(self, at: int, literal: str) -> list[tuple[int, int]]:
        """The passwords that the cue at `at` announces, before or after it."""
        text = self._text
        cue_match = _CUES[literal].compiled().match(text, at)
        if cue_match is None:
            return []
        cue = cue_match.group().lower()
        if not _boundary(text, at, cue):
            return []
        end = cue_match.end()
        if OPENED.match(text, end):
            return []  # what is in the array or the object is judged one by one
        if is_member(text, end):
            value = _linked(text, at, end, cue)
            return [value] if value is not None else []
        found = (
            _linked(text, at, end, cue)
            or self._far(end, cue)
            or named_before(text, at, end)
            or quoted_before(text, at)
        )
        if found is None:
            return list(self._anywhere(at, end, cue))
        another = _ANOTHER.match(text, found[1])
        if another is not None and looks_made_up(another["v"].strip(TRIM), announced=True):
            return [found, another.span("v")]
        return [found]

    def _far(self, end: int, cue: str) -> tuple[int, int] | None:
        short = cue in ("pass", "pw")
        judged = max(self._far_to) if short else self._far_to[0]
        found = _announced_far(self._text, end, max(end, judged), cue)
        self._far_to[short] = max(self._far_to[short], end + _FAR_MAX)
        return found

    def _anywhere(self, at: int, end: int, cue: str) -> Iterator[tuple[int, int]]:
        text = self._text
        weak = cue in ("pass", "passes", "passs") and not _ACCOUNT.search(text, max(0, at - 40), at)
        judged = max(self._near_to) if weak else self._near_to[0]
        found, judged_to = _made_up(text, max(end, judged), end + _NEAR_AFTER, weak=weak)
        yield from found
        low = max(at - _NEAR_BEFORE, 0, judged)
        while 0 < low < at and not text[low - 1].isspace():
            low += 1  # not in the middle of a word
        yield from _made_up(text, low, at, weak=weak)[0]
        self._near_to[weak] = max(self._near_to[weak], judged_to)


# «from X to Y», «X or Y».
_ANOTHER = re.compile(
    rf"[\"'.,!?]{{0,2}}\s{{1,3}}(?:to|or|and|not|then|now|->|→)\s{{1,3}}[\"']?"
    rf"(?P<v>[^\s{NOT_MASK}\"']{{4,64}}+)",
    AI,
)
_ACCOUNT = re.compile(
    r"\b(?:user(?:name)?|login|log ?in|ftp|ssh|un|account|admin|wi-?fi|nickserv)\b", AI
)


def _linked(text: str, at: int, cue_end: int, cue: str) -> tuple[int, int] | None:
    """A value tied to the cue directly."""
    link = _LINK.match(text, cue_end)
    if link is None:
        return None
    marked = link["mark"] is not None
    if marked or link["verb"] is not None:
        spoken = marked and cue.endswith("phrase")
        phrase = passphrase_at(text, link.end(), sentence=spoken)
        if phrase is not None:
            return phrase
    value = _VALUE.match(text, link.end())
    if value is None:
        return None
    group = value.lastgroup or "word"
    word = value[group]
    trimmed = word.strip(TRIM)
    if "\n" in link.group() and not shape(word).digits:
        return None
    if CALL.match(word) or word.startswith("==") or _SCHEME.match(word):
        return None
    if link["aside"] is not None:
        asked = link["aside"].lstrip().startswith("?") and trimmed.isalpha()
        fits = asked or group != "word" or looks_made_up(trimmed, announced=True)
    elif link["bare"] is not None:
        fits = fits_unannounced(cue, trimmed) if group == "word" else _quoted_ok(cue, trimmed)
    elif cue == "pass" and not _ACCOUNT.search(text, max(0, at - 40), at):
        fits = (marked and _short_pass(text, word, value.end(group))) or (
            shape(word).digits > 0 and not is_ordinal(trimmed)
        )
    elif _LEAD.search(link.group()):
        fits = shape(word).digits > 0 and _SET.search(text, max(0, at - 40), at) is not None
    else:
        fits = marked or group != "word" or _plain_value(text, trimmed, value.end())
    return _span(value, group) if fits and could_be_password(word) else None


def _span(value: re.Match[str], group: str) -> tuple[int, int]:
    """The range of a value without the comma that the sentence goes on with."""
    start, end = value.span(group)
    while group == "word" and end - start > 3 and value.string[end - 1] in ",;":
        end -= 1
    return start, end


def _quoted_ok(cue: str, word: str) -> bool:
    if cue not in ("pass", "pw", "pwd") and len(word) >= 6 and word.isalpha() and word.islower():
        return True
    return looks_made_up(word, announced=True) and (cue != "pass" or shape(word).digits > 0)


def _plain_value(text: str, word: str, end: int) -> bool:
    """«the password is X» with a plain X: not a participle, not the first word of a clause."""
    if shape(word).digits or not word.replace("-", "").isalpha():
        return True
    if "-" in word and PROSE_ENDING.fullmatch(word):
        return False
    if PROSE_ENDING.fullmatch(word) and len(word) < 12:
        return False
    after = _TOKEN.match(text, end + 1) if text[end : end + 1] == " " else None
    return after is None or after.group().lower().strip(TRIM) not in _CLAUSE_WORDS


_CLAUSE_WORDS = frozenset(
    "to of than that from by into it is was with too enough because about people one ones".split()
)


def _announced_far(text: str, cue_end: int, low: int, cue: str) -> tuple[int, int] | None:
    """A made-up or quoted value some words after the cue: «password for the door is …»."""
    last = min(len(text), cue_end + _FAR_MAX)
    if low >= last:
        return None
    stop = _CLAUSE_END.search(text, low, last)
    for intro in islice(_INTRO.finditer(text, low, stop.start() if stop else last), 5):
        phrase = passphrase_at(text, intro.end()) if cue not in ("pass", "pw") else None
        if phrase is not None:
            return phrase
        value = _VALUE.match(text, intro.end())
        if value is None:
            continue
        group = value.lastgroup or "word"
        word = value[group].strip(TRIM)
        if CALL.match(word) or _SCHEME.match(word) or not could_be_password(value[group]):
            continue
        quoted = group != "word" and (" " not in word or cue.endswith("phrase"))
        marked = intro.group().strip() in (":", "=", "->", "=>", "→")
        if looks_made_up(word, announced=True) or (quoted and cue != "pass"):
            return _span(value, group)
        if marked and cue != "pass" and _letters_and_digits(word):
            return _span(value, group)
        letters = word.replace("-", "").isalpha()
        tied = letters and _TIED.fullmatch(text, cue_end, intro.end()) is not None
        if (
            tied
            and cue not in ("pass", "pw")
            and (marked or _plain_value(text, word, value.end()))
            and _ends_clause(text, value.end())
        ):
            return _span(value, group)
    return None


_FAR_MAX = 90
_CLAUSE_END = re.compile(r"\n\s*\n")
_TIED = re.compile(
    r"(?:\s{1,2}(?:(?:for|to|on|of|in|at|für|von|vom|zum|de|du|del|della|di|da|do|para|pour"
    r"|voor|van"
    r"|för|till|til|от|для|на|od)(?:\s{1,2}[^\s:=.?!]{1,24}){1,5}|here|there|now|today)"
    r"|,\s[^,\n]{1,32},)"
    r"\s{0,2}(?:\b(?:is|ist|lautet|es|est|je|är|er|on|è|é)|:|=|->|=>|→)\s+",
    AI,
)


def _letters_and_digits(word: str) -> bool:
    found = shape(word)
    odd = "/" in word or not word.isascii() or has_uuid(word)
    return found.letters >= 3 and found.digits >= 2 and not odd


def _ends_clause(text: str, end: int) -> bool:
    return end >= len(text) or text[end - 1] in ".,;!?)" or text[end] in "\n,;.!?)"


def _short_pass(text: str, word: str, end: int) -> bool:
    """`pass: X` with a plain word: only as the last word, so that «I'll pass: too tired» stays."""
    if shape(word).digits and not is_ordinal(word.strip(TRIM)):
        return True
    return len(word) >= 6 and text[end : end + 1] != " " and could_be_password(word)


def _made_up(text: str, low: int, high: int, *, weak: bool) -> tuple[list[tuple[int, int]], int]:
    """Made-up words that begin in a part, where nothing ties them to the cue; where they end."""
    found: list[tuple[int, int]] = []
    last = high
    if low < high and _DIGIT.search(text, low, high + _TOKEN_MAX):
        for match in _TOKEN.finditer(text, low, high + _TOKEN_MAX):
            if match.start() >= high:
                break
            last = max(last, match.end())
            token = match.group()
            if not _DIGIT.search(token):
                continue
            word = token.strip(TRIM)
            if looks_made_up(word) and not (weak and shape(word).digits < 2):
                start = match.start() + token.index(word)
                found.append((start, start + len(word)))
    return found, last
