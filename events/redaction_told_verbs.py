"""Plain words that a message tells by what one does with them: «whisper … to the guard».

Also words that are spelled aloud («two words, lower case»), that stand alone behind the last colon
of a message about a password, and the answers to security questions.
"""

from collections.abc import Iterator

from turnfold.events.redaction_guess import PROSE_ENDING
from turnfold.events.redaction_links import ADVERBS, LINKS, MEANS, SAYING, TALKED_OF
from turnfold.events.redaction_message import Message
from turnfold.events.redaction_told_plain import ALOUD, BIDDING, Range, ends_clause, is_plain
from turnfold.events.redaction_topics import (
    ACCESS,
    ANSWER,
    ENTRY,
    HUSH,
    NETWORK,
    OPENED,
    PLACE,
    SECRET,
    SECRETS,
    SPELL,
)

_BIDDEN = frozenset("u you just then and to gotta please ya must should".split())
_USING = frozenset("with w using mit avec con com try tried use used".split())
_MINE = frozenset(
    "thatswhati thatswhative thatswhatwe itswhati itswhatwe thatsmyusual thatsmyold "
    "thatstheone".split()
)
_GIVING = frozenset("give answer reply".split())
_ASKED = _GIVING | frozenset("type enter say put write input whisper respond shout".split())
_GOING_ON = frozenset("and to when at then if so".split())
_NAMING = frozenset("user username name nick nickname called file channel host hostname".split())
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_ABOUT = frozenset(
    "manager managers reset resets policy policies generator app tool tools list field type error "
    "errors problem issue question topic subject title status hint called name user username login "
    "forgot lost wrong help".split()
)
_ANSWERING = frozenset(
    "is was put its always say said answer answered type enter write used use ist est es".split()
)


def told_by_verbs(message: Message) -> Iterator[Range]:
    """The plain words that a message says what to do with."""
    topics = message.topics
    if topics & (ENTRY | SECRETS):
        yield from _said(message)
    if topics & ENTRY:
        yield from _asked_for(message)
    if topics & (ENTRY | ACCESS):
        yield from _used(message)
    if topics & HUSH and topics & OPENED:
        yield from _opening(message)
    if topics & ENTRY:
        yield from _reused(message)
    if topics & SPELL:
        yield from _spelled(message)
        yield from _counted(message)
    if topics & SECRETS:
        yield from _at_the_end(message)
    if topics & ANSWER:
        yield from _answers(message)


# «whisper nightingale to the guard», «I typed marmalade and it let me in»


def _said(message: Message) -> Iterator[Range]:
    tokens = message.tokens
    for place in range(1, len(tokens)):
        token, verb = tokens[place], tokens[place - 1].low
        if verb == "me" and place > 1:
            verb = tokens[place - 2].low
        if verb not in SAYING and verb not in ALOUD:
            continue
        if token.before or not is_plain(message, place, 5) or PROSE_ENDING.fullmatch(token.low):
            continue
        following = tokens[place + 1].low if place + 1 < len(tokens) else ""
        if following not in _GOING_ON and not ends_clause(message, place):
            continue
        if _opens(message, place, verb):
            yield token.start, token.end


# «log in as guest with sparklefish», «did u try fuzzybunny? thats what i use»


def _used(message: Message) -> Iterator[Range]:
    tokens, marks = message.tokens, message.marks
    lows = [token.low for token in tokens]
    for place in range(2, len(tokens)):
        if lows[place - 1] not in _USING or not is_plain(message, place, 6):
            continue
        if lows[place] in MEANS or lows[place] in TALKED_OF:
            continue
        if PROSE_ENDING.fullmatch(lows[place]) or tokens[place].before:
            continue
        before, behind = lows[place - 1], lows[place + 1 : place + 4]
        if before not in ("try", "tried", "use", "used"):
            named = "as" in lows[max(0, place - 4) : place - 1]
            told = named and any(
                mark & (ACCESS | ENTRY) for mark in marks[max(0, place - 7) : place]
            )
            told = told and (ends_clause(message, place) or behind[:1] in (["and"], ["then"]))
        else:
            told = "".join(behind[:3]) in _MINE
        if told:
            yield tokens[place].start, tokens[place].end


# «if it asks, type cucumber», «when they ask say nightjar, …», «prompts for sudo give it squidink»


def _asked_for(message: Message) -> Iterator[Range]:
    tokens, marks = message.tokens, message.marks
    for place in range(2, len(tokens)):
        verb = place - 1
        if tokens[verb].low in ("it", "them", "him", "her", "with") and verb > 1:
            verb -= 1
        low, before = tokens[verb].low, tokens[verb - 1]
        if low not in _ASKED or tokens[verb].after not in ("", ":") or tokens[place].before:
            continue
        if low not in _GIVING and verb != place - 1:
            continue
        bidden = before.after or before.low in _BIDDEN or marks[verb - 1] & ENTRY or low in _GIVING
        if not bidden or not any(mark & ENTRY for mark in marks[max(0, verb - 7) : verb]):
            continue
        if not is_plain(message, place, 5) or PROSE_ENDING.fullmatch(tokens[place].low):
            continue
        if tokens[place].low not in MEANS and ends_clause(message, place):
            yield tokens[place].start, tokens[place].end


def _opens(message: Message, place: int, verb: str) -> bool:
    """Whether the word that is said or typed is what lets somebody in."""
    topics = message.topics
    if verb in ALOUD:
        if message.marks[place - 1] & ENTRY or (topics & SECRETS and _bids(message, place - 2)):
            return True
        if topics & OPENED:
            return True
        you = place > 1 and message.tokens[place - 2].low in ("u", "you", "ya")
        if topics & ENTRY and (you or verb in BIDDING):
            return True
    if not topics & OPENED or verb not in SAYING:
        return False
    last = place + 1 == len(message.tokens)
    return topics & SECRETS > 0 or (topics & PLACE > 0 and last)


def _bids(message: Message, place: int) -> bool:
    """«u say …», «just say …»: whoever is spoken to is to say it."""
    return place < 0 or message.tokens[place].low in _BIDDEN or message.tokens[place].after != ""


def _opening(message: Message) -> Iterator[Range]:
    """«between us: ilovejustin gets you in»."""
    tokens = message.tokens
    for place in range(len(tokens) - 1):
        opens = place == 0 or tokens[place - 1].after
        if opens and message.marks[place + 1] & OPENED and is_plain(message, place, 8):
            yield tokens[place].start, tokens[place].end


def _reused(message: Message) -> Iterator[Range]:
    """«boss uses … for everything», «one pw for everything, …»."""
    tokens = message.tokens
    lows = [token.low for token in tokens]
    for place in range(1, len(lows)):
        if not is_plain(message, place, 5):
            continue
        before, behind = lows[place - 1], lows[place + 1 : place + 3]
        owned = lows[max(0, place - 3) : place]
        if before in ("is", "its") and (owned[:-1][-1:] in (["everywhere"], ["everything"])):
            yield tokens[place].start, tokens[place].end
            continue
        if not message.topics & (HUSH | SECRET):
            continue
        everything = before in ("everything", "everywhere") and tokens[place - 1].after
        used = before in ("uses", "use", "used")
        used &= behind == ["for", "everything"] or behind[:1] == ["everywhere"]
        if used or (everything and ends_clause(message, place)):
            yield tokens[place].start, tokens[place].end


# «it's four words, no spaces: …», «"what do i type" tangerine dream. two words.»


def _spelled(message: Message) -> Iterator[Range]:
    tokens, marks, topics = message.tokens, message.marks, message.topics
    if not _NAMING.isdisjoint(token.low for token in tokens):
        return
    for place in range(1, len(tokens)):
        before = tokens[place - 1]
        if marks[place - 1] & SPELL and ":" in before.after:
            told = is_plain(message, place, 6) and ends_clause(message, place)
        elif place + 1 < len(tokens) and marks[place + 1] & SPELL:
            if before.low in ADVERBS and place > 1:
                before = tokens[place - 2]
            told = before.low in SAYING and not before.after
            if before.low in ("its", "is", "was"):
                told = topics & (SECRETS | ACCESS | ENTRY) > 0
            aside = before.after[-1:] in (",", ":", "…") or before.low in ("try", "type", "enter")
            told = told or (aside and _is_close(message, place))
            told = told and is_plain(message, place, 5)
        else:
            continue
        if told:
            yield tokens[place].start, tokens[place].end


def _is_close(message: Message, place: int) -> bool:
    """«…, sunflower (all lowercase)»: nothing but the spelling stands behind."""
    token, behind = message.tokens[place], message.tokens[place + 1]
    known = message.topics & (SECRETS | ACCESS | ENTRY | NETWORK) > 0
    return (known or not token.after) and ("(" in behind.before or token.after in ("", ","))


def _counted(message: Message) -> Iterator[Range]:
    """As many words as are counted behind them."""
    tokens = message.tokens
    if not message.topics & (SECRETS | ENTRY):
        return
    for place in range(1, len(tokens) - 1):
        first = place - _COUNTS.get(tokens[place].low, 0)
        if first in (place, -1) or first < 0 or tokens[place + 1].low not in ("word", "words"):
            continue
        if not tokens[place - 1].after or any(token.after for token in tokens[first : place - 1]):
            continue
        opens = first == 0 or tokens[first - 1].after or tokens[first - 1].low in LINKS
        if opens and all(is_plain(message, at, 3) for at in range(first, place)):
            yield tokens[first].start, tokens[place - 1].end


# «pass for the zip is the project + bang: Nightjar!»


def _at_the_end(message: Message) -> Iterator[Range]:
    tokens = message.tokens
    last = len(tokens) - 1
    if last < 2 or not is_plain(message, last, 5) or "?" in tokens[last].after:
        return
    between, at = message.joint(last)
    if at < 1 or ":" not in between or message.marks[at] & SECRETS:
        return
    near = any(mark & SECRETS for mark in message.marks[max(0, at - 14) : at])
    if near and _ABOUT.isdisjoint(token.low for token in tokens):
        yield tokens[last].start, tokens[last].end


# «security question "first car" -> I put Lada Niva»


def _answers(message: Message) -> Iterator[Range]:
    tokens = message.tokens
    for place in range(1, len(tokens)):
        if not message.word(place)[:1].isupper() or message.marks[place] & ANSWER:
            continue
        between, at = message.joint(place)
        linked = at >= 0 and tokens[at].low in _ANSWERING and not between
        if not linked and not any(sign in between for sign in (":", "—", "->", "=", "(", "?")):
            continue
        last = place
        while last + 1 < len(tokens) and _goes_on_as_name(message, last):
            last += 1
        ends = ends_clause(message, last) or tokens[last + 1].low in ("for", "on")
        if last - place < 3 and ends:
            yield tokens[place].start, tokens[last].end


def _goes_on_as_name(message: Message, place: int) -> bool:
    return not message.tokens[place].after and message.word(place + 1)[:1].isupper()
