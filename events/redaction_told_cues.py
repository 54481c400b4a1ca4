"""Plain words that a message ties to a password cue: «pw 4 the club door is …», «password (…)».

A plain word has no form of its own, so the tie must be close: a copula in the cue's own clause, an
arrow or an emoji, quotes or parentheses right behind the cue, or a name before it. The word must
end its clause, or be followed by what only goes on behind a told word: «lol», «dont tell».
"""

from collections.abc import Iterator

from turnfold.events.redaction_guess import PROSE_ENDING
from turnfold.events.redaction_links import ADVERBS, MEANS, TALKED_OF, TRAILING
from turnfold.events.redaction_message import Message
from turnfold.events.redaction_told_plain import Range, ends_clause, is_plain
from turnfold.events.redaction_topics import (
    ACCESS,
    ENTRY,
    HUSH,
    NETWORK,
    SECRET,
    SECRETS,
    SPELL,
)

_REACH = 10
_WORDS_MAX = 3
_COPULAS = frozenset(
    "is was are be its being it's ist lautet war es era est cest était é è était je jest to er är "
    "is on oli это был equals remains stays says reads = becomes".split()
)
_WITHS = frozenset("and with w using plus & und et y e i en mit avec con com og och и".split())
_NO_HEADS = frozenset(
    "the my your ur our his her their a an no any this that these some what which whose forgot "
    "forgotten "
    "need needs want reset change changed lost enter type use get got set give send know have has "
    "had wrong correct right good bad strong weak for on of to in is was as or by from about "
    "without per via new old same one time plain text master hashed encrypted invalid".split()
)
_CURRENT = frozenset("todays tonights tomorrows weeks months mine ours".split())
_ITS = frozenset("its thats it's is cest es é è это ist".split())
_CHANGES = frozenset(
    "changed set reset updated switched changing cambiada cambiado geändert changé mudou cambiata "
    "zmienione изменили".split()
)
_TIES = frozenset(
    "for to of on in at 4 2 from u you i we they he she that this the my your our his her "
    "für fürs ans aufs till vom zu zum vom von im del de du da do di della pour para per van "
    "voor od do w na для от на "
    "à al el la now today tonight again there here".split()
)
"""Words that a cue is told more of with: «password for …», «the pw u wanted …»."""

_PASS_OWNERS = frozenset(
    "group join guest member members room club vip login user acct account server sim land vent "
    "ts teamspeak raid guild clan my your ur his her our their".split()
)
_ARROWS = ("->", "→", "=>", "=", ">", ":", "»", "⇒", "—", "–", "…")
_ASKING = frozenset("what whats how why who where when which is does do did can could".split())
_PRESENTING = frozenset("its thats same put set made gave".split())
_NAMES = frozenset(
    "user username usuario login account acct acc name benutzer identifiant utente usuário логин "
    "gebruiker nick id email mail".split()
)


def told_by_cues(message: Message) -> Iterator[Range]:
    """The plain words that stand in a message as the value of a password cue."""
    tokens, marks = message.tokens, message.marks
    yield from _of_the_day(message)
    for cue, mark in enumerate(marks):
        if mark & NETWORK:
            yield from _on_label(message, cue)
        if not _is_cue(message, cue):
            continue
        if cue + 1 < len(marks) and marks[cue + 1] & SECRETS & mark:
            continue
        for place in range(cue + 1, min(cue + 1 + _REACH, len(tokens))):
            if not tokens[place].low:
                continue
            span = _value_at(message, cue, place)
            if span is not None:
                yield span
                break
            if tokens[place].after[:1] in (".", ";", "!", "?") or "\n" in tokens[place].before:
                break


def _on_label(message: Message, network: int) -> Iterator[Range]:
    """«wifi: Attic / sweetpotato», and the twenty digits on the back of a router."""
    tokens = message.tokens
    for place in range(network + 2, min(network + 7, len(tokens))):
        between, at = message.joint(place)
        if "/" in between and at > network and " " not in between:
            named = tokens[network].after[:1] == ":" or any(
                sign in tokens[at].after + tokens[at].before for sign in "\"'"
            )
            span = _words(message, place, 1) if named else None
            if span is not None:
                yield span
    for token in tokens[network + 1 : network + 9]:
        if len(token.low) >= 16 and token.low.isdigit():
            yield token.start, token.end


def _of_the_day(message: Message) -> Iterator[Range]:
    """«ask for it, today's is cinnamonbun»."""
    tokens = message.tokens
    for place in range(2, len(tokens)):
        if tokens[place - 1].low in ("is", "ist") and tokens[place - 2].low in _CURRENT:
            span = _words(message, place, 1)
            if span is not None:
                yield span


def _is_cue(message: Message, cue: int) -> bool:
    mark, low = message.marks[cue], message.tokens[cue].low
    if mark & SECRET:
        if low in ("pass", "пас", "clave", "шифр", "parola"):
            owned = cue > 0 and message.tokens[cue - 1].low in _PASS_OWNERS
            return owned or message.topics & (ACCESS | NETWORK | ENTRY) > 0
        return True
    return low in ("passcode", "ww") or (
        low in ("key", "code", "schlüssel", "clé") and message.topics & NETWORK > 0
    )


def _value_at(message: Message, cue: int, place: int) -> Range | None:
    """The words from one on, if they are the value of the cue."""
    tokens = message.tokens
    between, at = message.joint(place)
    pointed = place - 1 != at  # a dash, an arrow or an emoji stands alone
    if at == cue:
        if "(" in between or any(sign in between for sign in "\"'“«`"):
            return _enclosed(message, place)
        if pointed or any(sign in between for sign in _ARROWS):
            return _words(message, place)
        if between in ("?", ".", "? ", ",") and _is_shouted(message, place):
            return _words(message, place)
        if between == "?" and cue <= 3 and cue + 2 == len(tokens) and tokens[0].low not in _ASKING:
            return _words(message, place, 1)
        if between == "," and place + 1 == len(tokens) and _is_presented(message, cue):
            return _words(message, place, 1)
        return _words(message, place, 1) if _is_behind_name(message, cue) else None
    if at < cue or not _is_tied(message, cue, at):
        return None
    if pointed or any(sign in between for sign in _ARROWS):
        return _words(message, place)
    last = "," in between and place + 1 == len(tokens)
    if last and at < cue + 9 and _is_described(message, cue):
        return _words(message, place, 1)
    if last and cue + 1 < at < cue + 5 and _is_presented(message, cue):
        return _words(message, place, 1)
    return _words(message, place) if _links(message, cue, at, between) else None


def _links(message: Message, cue: int, at: int, between: str) -> bool:
    """Whether the word at `at` introduces the value of the cue."""
    if between.strip("\"'“«`*(") or (message.tokens[cue + 1].low in _ASKING and cue == 0):
        return False
    lows = [token.low for token in message.tokens[cue + 1 : at + 1]]
    while len(lows) > 1 and lows[-1] in ADVERBS:
        lows.pop()
    if lows[-1] == "to":
        changed = message.tokens[max(0, cue - 4) : cue]
        polish = message.tokens[cue].low.startswith(("has", "hes"))
        return (len(lows) > 1 and (lows[-2] in _CHANGES or polish)) or any(
            token.low in _CHANGES for token in changed
        )
    return lows[-1] in _COPULAS


def _is_tied(message: Message, cue: int, at: int) -> bool:
    """Whether all between the cue and the value belongs to the cue."""
    tokens = message.tokens
    opens, own = tokens[cue].after, tokens[cue + 1].low
    if opens:
        return opens[:1] in ",.?…-" and own in _ITS | ADVERBS
    if any(token.after for token in tokens[cue + 1 : at]) and tokens[at].low not in _ITS:
        return False
    return own in _TIES or own in _COPULAS or own in _CHANGES or own in ("has", "was", "got")


def _is_presented(message: Message, cue: int) -> bool:
    """«its the same wifi pw, …», «I put a password on it, …»."""
    lows = [token.low for token in message.tokens[:cue]]
    return not _PRESENTING.isdisjoint(lows) and _ASKING.isdisjoint(lows)


def _is_described(message: Message, cue: int) -> bool:
    """«the password is just the dog, …»."""
    lows = [token.low for token in message.tokens[cue + 1 : cue + 4]]
    named = any(low in _TIES or low in ("first", "last", "name") for low in lows[1:])
    return lows[0] in ("is", "its", "first") and named and message.tokens[0].low not in _ASKING


def _is_shouted(message: Message, place: int) -> bool:
    """«… passcode. FOXGLOVE all caps»: upper-case, or spelled behind it."""
    spelled = any(mark & SPELL for mark in message.marks[place + 1 : place + 3])
    return spelled or (message.word(place).isupper() and ends_clause(message, place))


def _is_behind_name(message: Message, cue: int) -> bool:
    """«user ada password …», «…, password …» in a message about an account."""
    tokens, marks = message.tokens, message.marks
    after, last = tokens[cue].after, cue + 2 == len(tokens)
    while cue and marks[cue - 1] & marks[cue] & SECRET and not tokens[cue - 1].after:
        cue -= 1  # to the first word of «mot de passe»
    if not cue or after or tokens[0].low in _ASKING:
        return False
    head = tokens[cue - 1].low
    if head in _WITHS or (last and head not in _NO_HEADS):
        return True
    if not message.topics & (ACCESS | NETWORK | ENTRY):
        return False
    if tokens[cue].low == "key":
        return "," in tokens[cue - 1].after
    if "@" in tokens[cue - 1].low:
        return True
    if any(token.low in _NAMES for token in tokens[max(0, cue - 3) : cue - 1]):
        return True
    return "," in tokens[cue - 1].after and any(
        tokens[at].low in _COPULAS for at in range(max(0, cue - 5), cue - 1)
    )


def _enclosed(message: Message, place: int) -> Range | None:
    """One to three words in quotes or parentheses."""
    tokens = message.tokens
    for at in range(place, min(place + _WORDS_MAX, len(tokens))):
        if not is_plain(message, at, 3 if at > place else 4) or tokens[at].low in TALKED_OF:
            return None
        after = tokens[at].after
        if any(sign in after for sign in ")\"'”»`"):
            if PROSE_ENDING.fullmatch(tokens[place].low):
                return None
            return tokens[place].start, tokens[at].end
        if after:
            return None
    return None


def _words(message: Message, place: int, most: int = _WORDS_MAX) -> Range | None:
    """Up to `most` plain words from one on, up to the end of the clause."""
    tokens = message.tokens
    low = tokens[place].low
    if PROSE_ENDING.fullmatch(low) and (len(low) < 12 or "-" in low):
        return None
    for at in range(place, min(place + most, len(tokens))):
        low = tokens[at].low
        if (
            low in TALKED_OF
            or low in MEANS
            or not (is_plain(message, at, 4 if at == place else 3) or _is_mixed(low))
        ):
            return None
        if "?" in tokens[at].after or ":" in tokens[at].after:
            return None
        if _ends(message, at):
            if at == place and len(low) < 5:
                return None
            return tokens[place].start, tokens[at].end
        if tokens[at].after:
            return None
    return None


def _is_mixed(low: str) -> bool:
    """Letters outside ASCII and digits; other mixed words are found by their form."""
    return not low.isascii() and low.isalnum() and len(low) >= 5 and low[0].isalpha()


def _ends(message: Message, place: int) -> bool:
    """Whether a told word or phrase can end here."""
    if ends_clause(message, place):
        return True
    behind = message.tokens[place + 1 : place + 2]
    if not behind:
        return False
    if message.tokens[place].after:
        return any(sign in message.tokens[place].after for sign in "\"'”»`)")
    return behind[0].low in TRAILING or message.marks[place + 1] & (SPELL | HUSH) > 0
