"""What a password looks like, as far as its letters tell.

Three strengths: a word that is no talk (`could_be_password`) is enough right after «password:»;
a made-up word (`looks_made_up`) is enough near the cue; a row of words that no sentence holds
together is a passphrase (`passphrase_at`).
"""

import re

from turnfold.events.redaction_shapes import has_uuid, is_hex, shape
from turnfold.events.redaction_words import FUNCTION_WORDS, NOT_A_VALUE, NUMBERED_NAMES

AI = re.ASCII | re.IGNORECASE
TRIM = "\"'`“”‘’«»「」()[]{}<>.,;!?。，、！？:"
CALL = re.compile(r"[A-Za-z_][\w.]*\(", re.ASCII)


def could_be_password(value: str) -> bool:
    """What stands after «password:» is a value: no talk, no template, no row of stars."""
    word = value.strip(TRIM)
    if len(word) < 3 or word.lower() in NOT_A_VALUE or set(word) <= set("*•.x-_#"):
        return False
    if value[0] in "(<[{" and shape(word).digits == 0:
        return False
    return not (value[0] == "=" or (word[0] in "$%" and word[1:2] in ("{", "(", "%", "s", "")))


# Letters with digits that aren't passwords: versions, sizes, ordinals, names of formats, files.
_ORDINARY = re.compile(
    r"v?\d+(?:[.:,x/\-]\d+)*[a-z%]{0,5}|[a-z]{1,8}-?\d{1,2}|\d+[a-z]{1,5}"
    r"|[\w.+\-]+@[\w\-]+(?:\.[\w.]+)?|[a-z][\w\-]*\.[a-z]{1,5}\d?|[a-z]+(?:[ \-.]?\d{1,4}"
    r"(?:\.\d+)*)"
    r"|\d[\d.,]*[a-z]{0,3}(?:/[a-z]+)?|[a-z]{1,5}[_\-]?\d+(?:[_\-.]\d+)*[a-z]?",
    AI,
)
PROSE_ENDING = re.compile(r"[a-z\-]+(?:ed|ing|able|ible|ive|ful|less|ous|ly|n't)", AI)
_SIGNS = frozenset("!@#$%^&*+_?=~")
_LOUD_SIGNS = frozenset("!@#$%^&*+?")


def looks_made_up(word: str, *, announced: bool = False) -> bool:
    """Letters with digits or signs, as nobody writes words: `tr0ub4dor&3`, `sunset7668$`.

    `announced`: an «is», «use» or the like stands right before the word.
    """
    if not 5 <= len(word) <= 64 or word.isalpha():  # most words: no digit and no sign
        return False
    if word[0] in "/~-.$<{([#@+" or not word.isascii():
        return False
    if _NAMED.match(word) or "://" in word or "/" in word or "\\" in word or ".." in word:
        return False
    if (
        _ADDRESS.fullmatch(word)
        or has_uuid(word)
        or (not announced and (is_hex(word) or _MODEL.fullmatch(word)))
    ):
        return False
    if _VERSION.fullmatch(word):
        return False
    found = shape(word)
    signs = not _SIGNS.isdisjoint(word[1:])
    if found.letters < 3:
        return False
    if not found.digits:
        return announced and not _LOUD_SIGNS.isdisjoint(word[1:-1])
    if _HYPHENED.fullmatch(word):
        return True
    if _ORDINARY.fullmatch(word):
        tailed = (_SHORT_TAILED if announced else _TAILED).fullmatch(word)
        stem = (tailed["stem"] or "").lower() if tailed is not None else "password"
        return stem not in NUMBERED_NAMES and not stem.endswith("pass")
    return announced or signs or (found.digits >= 2 and found.changes >= 2)


_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[\-+._]?[a-z]{1,8}[\-.]?\d{0,4})*", AI)
_MODEL = re.compile(r"[A-Z]{1,6}-?\d{1,5}[A-Z]{0,4}", re.ASCII)
_ADDRESS = re.compile(r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+", re.ASCII)
_NAMED = re.compile(r"[A-Za-z_\-]{1,16}=", re.ASCII)
_HYPHENED = re.compile(r"[a-z]{3,}(?:[\-_.][a-z]{3,})+[\-_.]?\d{1,6}", AI)
_SHORT_TAILED = re.compile(r"(?P<stem>[a-z]{5,})[\-_.]?\d{1,8}|(?P<stem4>[a-z]{4})\d{3,8}", AI)
_TAILED = re.compile(r"(?P<stem>[a-z]{5,})\d{1,8}[!?$#*]{0,2}", AI)


def fits_unannounced(cue: str, word: str) -> bool:
    """Whether `word` right behind a cue, with nothing between, is its value."""
    found = shape(word)
    if not found.digits or not found.letters or len(word) < 5:
        return False
    tailed = re.fullmatch(r"(?P<stem>[a-z]+)\d{1,2}", word, AI)
    if tailed is not None and tailed["stem"].lower() in NUMBERED_NAMES:
        return False
    if re.fullmatch(r"[a-z_]{1,16}=.*|\d+[a-z]{1,4}|v?\d+(?:\.\d+)*[a-z]?", word, AI):
        return False
    return cue not in ("pw", "pass") or (found.digits >= 2 and found.size >= 8)


def is_ordinal(word: str) -> bool:
    """A number with a unit or an ending, or a price."""
    return re.fullmatch(r"[$€£]?\d+(?:[.,:]\d+)*[a-z%$€£]*", word, AI) is not None


_PHRASE = re.compile(r"[\"']?(?P<v>(?:[A-Za-z]{3,14}[ \-]){3,9}[A-Za-z]{3,14})", re.ASCII)
_PHRASE_WORD = re.compile(r"[A-Za-z]+")


def passphrase_at(text: str, start: int, *, sentence: bool = False) -> tuple[int, int] | None:
    """Four words or more that no sentence holds together: `correct horse battery staple`.

    `sentence`: any words will do, as long as the first one isn't talk.
    """
    match = _PHRASE.match(text, start)
    if match is None:
        return None
    end, count, talk = match.start("v"), 0, 0
    for word in _PHRASE_WORD.finditer(match["v"]):
        plain = word.group().lower()
        if plain in FUNCTION_WORDS and not (sentence and count):
            break
        talk += plain in NOT_A_VALUE
        count += 1
        end = match.start("v") + word.end()
    return (match.start("v"), end) if count >= 4 and (talk <= 1 or sentence) else None
