"""What a plain word must be to be told as a password: no talk, no topic, the end of its clause."""

from turnfold.events.redaction_links import AFTERWORDS, LINKS, NO_WORD
from turnfold.events.redaction_message import Message
from turnfold.events.redaction_topics import ENTRY, PLACE
from turnfold.events.redaction_words import FUNCTION_WORDS, NOT_A_VALUE

Range = tuple[int, int]

ALOUD = frozenset(
    "say says said whisper whispers mutter shout told answer answered go goes reply respond "
    "di dis sag sagst zeg zegt powiedz mówisz скажи говоришь говори söyle diga dici dicono "
    "säg".split()
)
"""Verbs for what is told to somebody, and not typed."""

BIDDING = frozenset("di dis sag sagst zeg powiedz скажи говори söyle diga dici säg".split())
"""Those of them that ask somebody to say it, in other languages than English."""

_LEET = str.maketrans("013457@$!", "oleastasi")


def is_plain(message: Message, place: int, least: int = 4) -> bool:
    """Whether a word is no talk and no topic, and has at least so many letters."""
    low = message.tokens[place].low
    if len(low) < least or not low.replace("-", "").replace("_", "").isalpha():
        return False
    if low in NOT_A_VALUE or low in FUNCTION_WORDS or low in NO_WORD or low in AFTERWORDS:
        return False
    return not message.marks[place] & ~(ENTRY | PLACE) and low not in LINKS


def ends_clause(message: Message, place: int) -> bool:
    """Whether punctuation, a line break or the end stands behind a word."""
    after = message.tokens[place].after[:1]
    if place + 1 == len(message.tokens):
        return after not in ("?", ":")
    following = message.tokens[place + 1]
    if not following.low or (after and after in ",.;!)…—"):
        return True
    return following.before != "" and following.before[0] in "—–-\n(…"


def phrase_from(message: Message, place: int, most: int) -> Range | None:
    """Up to `most` words from one on to the end of the clause, none of which is talk."""
    for at in range(place, min(place + most, len(message.tokens))):
        if not is_plain(message, at, 3):
            return None
        if ends_clause(message, at):
            return message.tokens[place].start, message.tokens[at].end
        if message.tokens[at].after:
            return None
    return None


def siblings(message: Message, found: list[Range]) -> list[Range]:
    """Words that found ones are made of: «sunflower» beside `sunfl0wer`, «peaches», `peaches1`."""
    stems = {_stem(message.text[start:end]) for start, end in found}
    taken = {start for start, _ in found}
    return [
        (token.start, token.end)
        for token in message.tokens
        if len(token.low) >= 5 and token.start not in taken and _stem(token.low) in stems
    ]


def _stem(word: str) -> str:
    bare = word.lower().rstrip("0123456789!$?#*.")
    return "".join(filter(str.isalpha, bare.translate(_LEET)))
