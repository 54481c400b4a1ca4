"""Plain words that a message tells because a topic announces them: «the magic word, …».

A plain word has no form of its own. So the topic must be one that announces words («magic word»,
«Losungswort»), or a password that the word is called, and the word must end its clause or be
quoted.
"""

import re
from collections.abc import Iterator

from turnfold.events.redaction_guess import PROSE_ENDING
from turnfold.events.redaction_links import ADVERBS, SAYING
from turnfold.events.redaction_message import Message
from turnfold.events.redaction_rule import NOT_MASK
from turnfold.events.redaction_told_plain import ALOUD, Range, ends_clause, is_plain, phrase_from
from turnfold.events.redaction_topics import (
    ACCESS,
    ENTRY,
    FOREIGN,
    NETWORK,
    PHRASE,
    SECRET,
    SECRETS,
    SPELL,
    WORD,
)
from turnfold.events.redaction_words import NOT_A_VALUE

_AS = frozenset("as de como come comme als jako как olarak".split())
_POINTERS = _AS | {"thats", "its", "is", "was"}
_COPULAS = frozenset(
    "is are was be ist lautet es est cest é è e to jest je это är er on olan".split()
)
_SHORT_COPULAS = frozenset("to e je on er".split())
_DETERMINERS = frozenset(
    "the a my your our his her their ur this that das dein der die le la el il de het o a sa ton "
    "mon tu mi su nostra nuestra tonights todays new old secret master".split()
)
_PHRASE_STARTS = frozenset("my the a two three four five six seven eight nine ten".split())
_AGREED = SAYING | frozenset(
    "on chose choose picked pick made make set pones mis metto metti pongo coloco ponho gesetzt "
    "pon usa mets metti põe wpisz вводи введи gib "
    "nimm gebruik vul".split()
)
_TYPING = SAYING | {"text", "send", "message", "speak"}
_CHANGING = frozenset("set put made changed picked chose".split())
_WITHS = frozenset("with mit avec con".split())
_SO = frozenset("so aka its ie hence thus meaning now".split())
_SIGN = re.compile(r"[:(){}\[\]<>=/\\;_.]")
_TELLING = frozenset("tell tells telling".split())
_SPEAKING = frozenset("saying whisper whispers whispering shout shouting speak type typing".split())
_QUOTED = re.compile(
    rf"[\"“«「『](?P<v>[^\"”»」』\n{NOT_MASK}]{{3,48}})[\"”»」』]"
    rf"|(?<!\w)'(?P<w>[^'\n{NOT_MASK}]{{3,48}})'(?!\w)"
)


def told_words(message: Message) -> Iterator[Range]:
    """The plain words and phrases that topics announce."""
    topics = message.topics
    if topics & (SECRETS | ENTRY | SPELL):
        yield from _quoted(message)
    if topics & (SECRETS | ENTRY):
        yield from _named(message)
    if topics & SECRETS:
        yield from _pointed_at(message)
    if topics & (SECRETS | ENTRY):
        yield from _confirmed(message)
    if topics & WORD:
        yield from _announced(message)
    if topics & PHRASE:
        yield from _runs(message)


# «say "the geese fly at midnight", it's tonight's password»


def _quoted(message: Message) -> Iterator[Range]:
    tokens, marks = message.tokens, message.marks
    first = tokens[0].start - len(tokens[0].before.lstrip("\n"))
    for match in _QUOTED.finditer(message.text, first, tokens[-1].end + 8):
        start, end = match.span("v" if match["v"] else "w")
        inside = [place for place, token in enumerate(tokens) if start <= token.start < end]
        if not inside or any(marks[place] & SECRETS for place in inside):
            continue
        if all(tokens[place].low in NOT_A_VALUE for place in inside):
            continue
        if _is_quoted_secret(message, inside[0], inside[-1] + 1):
            yield start, end


def _is_quoted_secret(message: Message, first: int, behind: int) -> bool:
    tokens, marks, topics = message.tokens, message.marks, message.topics
    verb = tokens[first - 1].low if first else ""
    if verb in ("it", "him", "her", "them") and first > 1:
        verb = tokens[first - 2].low
    spelled = any(mark & SPELL for mark in marks[behind : behind + 2])
    telling = any(token.low in _TELLING for token in tokens[max(0, first - 4) : first])
    if (telling or verb in _SPEAKING) and topics & (ENTRY | WORD):
        return True
    if any(_SIGN.search(message.word(place)) for place in range(first, behind)):
        return False
    typed = verb in ("type", "say", "shout", "enter", "answer", "words") and topics & (ENTRY | WORD)
    if typed or (topics & NETWORK and verb in ("is", "its") and behind - first == 1):
        return True
    if spelled and topics & (ACCESS | SECRETS | ENTRY):
        return True
    if topics & ENTRY and (verb in ALOUD or verb in _WITHS):
        return True
    for place in range(behind, min(behind + 8, len(tokens))):
        if tokens[place].low in _POINTERS or tokens[place].owner:
            near = marks[place : place + 4]
            if any(mark & (SECRETS if verb in SAYING else WORD) for mark in near):
                return True
    asked = tokens[0].low in ("what", "whats", "how")
    if verb in _SO and behind == len(tokens) and not asked and behind - first <= 3:
        return any(mark & SECRETS for mark in marks[max(0, first - 12) : first])
    announced = any(mark & WORD for mark in marks[max(0, first - 6) : first])
    return announced and not asked and message.link_before(first) >= 2


# «u answer mellon thats the password», «we agreed on swordfish as the code word»


def _pointed_at(message: Message) -> Iterator[Range]:
    tokens, marks = message.tokens, message.marks
    for place in range(len(tokens) - 2):
        pointer = tokens[place + 1].low
        if pointer not in _POINTERS or not is_plain(message, place):
            continue
        topic = place + 2
        while topic < min(place + 5, len(tokens)) and tokens[topic].low in _DETERMINERS:
            topic += 1
        if topic == len(tokens) or not marks[topic] & SECRETS or marks[place + 1] & SECRETS:
            continue
        asked = place > 0 and tokens[place - 1].low in _AGREED
        if asked or (pointer in _AS and marks[topic] & WORD):
            yield tokens[place].start, tokens[place].end


# «set the password as steve», «changed it to steve», «the password is the word steve»


def _named(message: Message) -> Iterator[Range]:
    tokens, marks = message.tokens, message.marks
    for place in range(1, len(tokens)):
        how = tokens[place - 1]
        if how.after or how.low not in ("word", "to", "as"):
            continue
        before = [token.low for token in tokens[max(0, place - 7) : place - 1]]
        if how.low == "word":
            low = tokens[place].low
            near = any(mark & SECRET for mark in marks[max(0, place - 9) : place])
            spoken = before[-2:-1] != [] and before[-2] in _TYPING and message.topics & ENTRY
            spoken = (
                spoken
                and is_plain(message, place, 5)
                and (
                    ends_clause(message, place)
                    or tokens[place + 1].low in ("to", "on", "and", "at")
                )
            )
            told = before[-1:] == ["the"] and (near or spoken) and low.isalpha() and len(low) >= 4
        elif not is_plain(message, place, 4 if how.low == "as" else 5):
            continue
        elif how.low == "to":
            changed = before[-1:] in (["it"], ["them"], ["that"]) and before[-2:-1] != []
            told = changed and before[-2] in _CHANGING and message.topics & SECRET > 0
        else:
            beside = place > 1 and marks[place - 2] & SECRET
            told = bool(beside) and not _CHANGING.isdisjoint(before)
        if told:
            yield tokens[place].start, tokens[place].end


# «the password? yeah its still marshmallow», «It's snickerdoodle. Happy? That's my password»


def _confirmed(message: Message) -> Iterator[Range]:
    tokens, marks = message.tokens, message.marks
    for place in range(1, len(tokens)):
        at = place - 1
        if tokens[at].low in ADVERBS:
            at -= 1
        if at < 0 or tokens[at].low not in ("its", "is", "ist", "es", "cest"):
            continue
        if not is_plain(message, place, 5) or PROSE_ENDING.fullmatch(tokens[place].low):
            continue
        if tokens[place].before or not ends_clause(message, place):
            continue
        asked = any(
            marks[back] & SECRETS and "?" in tokens[back].after
            for back in range(max(0, at - 3), at)
        )
        renewed = [token.low for token in tokens[max(0, at - 3) : at]] == ["from", "now", "on"]
        if asked or renewed or _owned_later(message, place):
            yield tokens[place].start, tokens[place].end


def _owned_later(message: Message, place: int) -> bool:
    tokens, marks = message.tokens, message.marks
    for at in range(place + 1, min(place + 10, len(tokens) - 1)):
        if tokens[at].low in ("thats", "this", "is") and tokens[at + 1].low in _DETERMINERS:
            return any(mark & SECRETS for mark in marks[at + 1 : at + 5])
    return False


# «the magic word, aubergine», «Losungswort heute Abend lautet …»


def _announced(message: Message) -> Iterator[Range]:
    marks = message.marks
    for topic, mark in enumerate(marks):
        if not mark & WORD or (topic + 1 < len(marks) and marks[topic + 1] & WORD):
            continue
        for place in range(topic + 1, min(topic + 12, len(marks))):
            span = _announced_at(message, topic, place)
            if span is not None:
                yield span
                break


def _announced_at(message: Message, topic: int, place: int) -> Range | None:
    tokens, mark = message.tokens, message.marks[topic]
    between, at = message.joint(place)
    if not tokens[place].low or at < topic:
        return None
    most = 12 if mark & PHRASE else 3
    if any(sign in between for sign in (":", "…", "—", "–", "-", "→", "=")):
        phrase = _sentence_from(message, place) if mark & PHRASE else None
        return phrase or phrase_from(message, place, most)
    if at == topic:
        if "," in between or "?" in between:
            return phrase_from(message, place, 1)
        return phrase_from(message, place, 3) if mark & FOREIGN and not between else None
    previous = tokens[at].low
    if between or previous not in _COPULAS:
        return None
    polish = tokens[topic].low == "do"  # «hasło do wifi to …»
    if previous in _SHORT_COPULAS and not (mark & FOREIGN or polish):
        return None
    return phrase_from(message, place, most)


def _sentence_from(message: Message, place: int) -> Range | None:
    """Three to eight words up to the end of the sentence; the first one is no talk."""
    tokens = message.tokens
    if tokens[place].low in NOT_A_VALUE and tokens[place].low not in _PHRASE_STARTS:
        return None
    for at in range(place, min(place + 8, len(tokens))):
        if message.marks[at] & SECRETS or not tokens[at].low:
            return None
        if at + 1 == len(tokens) or tokens[at].after:
            return (tokens[place].start, tokens[at].end) if at - place >= 2 else None
    return None


def _runs(message: Message) -> Iterator[Range]:
    """Six words or more in a row that no sentence holds together."""
    first = 0
    for place, token in enumerate(message.tokens):
        if not is_plain(message, place, 3):
            first = place + 1
        elif token.after or place + 1 == len(message.tokens):
            if place - first >= 5:
                yield message.tokens[first].start, token.end
            first = place + 1
