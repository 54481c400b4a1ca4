"""One message as words with the topics that it speaks of.

A text is cut into pieces of at most `PIECE_MAX` characters, a piece into words. Phrases of
`redaction_topics` are looked up word by word, so reading a piece has a bounded cost.
"""

from collections.abc import Iterable, Iterator, Sequence

from turnfold.events.redaction_links import (
    ADVERBS,
    ADVERBS_BEHIND,
    LINKS,
    POINTING,
    PUTTING,
    TIMES,
    WARY,
)
from turnfold.events.redaction_message_words import Token, without_apostrophes, words_of
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
    TOPICS,
    WORD,
)

PIECE_MAX = 300
"""Characters of one message; a longer text is cut at line breaks and blanks."""

FAMILIES: dict[str, int] = {}
"""The literals that must stand in a text, and the families of topics that they announce."""

_PHRASES: dict[str, list[tuple[tuple[str, ...], int]]] = {}  # by first word, longest first


for _phrase, _family in TOPICS:
    FAMILIES[_phrase] = FAMILIES.get(_phrase, 0) | _family
for _phrase, _family in FAMILIES.items():
    _first, *_rest = without_apostrophes(_phrase).split()
    _PHRASES.setdefault(_first, []).append((tuple(_rest), _family))
for _listed in _PHRASES.values():
    _listed.sort(key=lambda entry: -len(entry[0]))

_STRONG_MARKS = ("=", ":", "->", "→", ">")
_ASIDE_MARKS = frozenset(",?…—–.;!(-\n|/")
_QUOTES = frozenset("\"'“”‘’«»「」`")


def families(low: str, present: Iterable[str]) -> int:
    """The families of topics that the literals in a lower-case text announce, as words."""
    found = 0
    for literal in present:
        family = FAMILIES.get(literal)
        if family is not None and family & ~found and _stands(low, literal):
            found |= family
    return found


def _stands(low: str, literal: str) -> bool:
    """Whether a literal is a word of the text; after three that are parts of words, it may be."""
    at = -1
    for _ in range(3):
        at = low.find(literal, at + 1)
        if at < 0:
            return False
        end = at + len(literal)
        if not (low[at - 1 : at].isalpha() or low[end : end + 1].isalpha()):
            return True
    return low.find(literal, at + 1) >= 0


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of the messages in a text."""
    start, size = 0, len(text)
    while size - start > PIECE_MAX:
        last = start + PIECE_MAX
        cut = max(text.rfind("\n", start + 1, last), start)
        if cut == start:
            cut = max(text.rfind(" ", start + 1, last), start)
        if cut == start:
            cut = last
        yield start, cut
        start = cut
    yield start, size


def _phrases_at(token: Token) -> Iterable[tuple[tuple[str, ...], int]]:
    found = _PHRASES.get(token.low)
    if found is None and token.owner:
        found = _PHRASES.get(token.low[:-1])
    return found or ()


class Message:
    """The words of one piece of a text.

    Attributes:
        text: the whole text.
        tokens: the words of the piece.
        marks: the families of the topics that each word is part of.
        topics: all of them together.
    """

    __slots__ = ("marks", "text", "tokens", "topics")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.tokens = words_of(text, start, end)
        self.marks = self._marked()
        self.topics = 0
        for mark in self.marks:
            self.topics |= mark

    def _marked(self) -> list[int]:
        lows = [token.low for token in self.tokens]
        marks = [0] * len(lows)
        for place, token in enumerate(self.tokens):
            for rest, family in _phrases_at(token):
                behind = place + 1 + len(rest)
                if not rest or tuple(lows[place + 1 : behind]) == rest:
                    for inside in range(place, behind):
                        marks[inside] |= family
                    break
        if WARY.isdisjoint(lows):
            return marks
        return [
            mark & ~(CODE | OTP | (PIN if _is_wary(lows, place) else 0))
            for place, mark in enumerate(marks)
        ]

    def word(self, place: int) -> str:
        """The characters of a word, without the punctuation around it."""
        token = self.tokens[place]
        return self.text[token.start : token.end]

    def joint(self, place: int) -> tuple[str, int]:
        """The punctuation between a word and the one before it, and where that one is (or -1).

        A dash or an emoji that stands alone is punctuation.
        """
        tokens = self.tokens
        between, at = tokens[place].before, place - 1
        while at >= 0 and not tokens[at].low:
            between = tokens[at].before + tokens[at].after + between
            at -= 1
        return (tokens[at].after + between if at >= 0 else between), at

    def goes_on(self, place: int) -> bool:
        """Whether a word goes on with a list: «X and Y», «X, Y»."""
        between, at = self.joint(place)
        return between == "," or (at >= 0 and self.tokens[at].low in _ANDS)

    def link_before(self, place: int, *, number: bool = False) -> int:
        """How strongly the words before one announce it, from 0 (not at all) to 3."""
        tokens = self.tokens
        between, at = self.joint(place)
        if any(mark in between for mark in _STRONG_MARKS):
            return 3
        if at < 0:
            return 2
        if not _ASIDE_MARKS.isdisjoint(between):
            asked = "?" in between and (self.topics & (PIN | CODE | OTP | SECRET) or self.marks[at])
            return 3 if asked or self._is_behind_name(at, between) else 2
        if self._links(at, number=number):
            return 3
        if number and self._is_at_lock(place, at):
            return 2
        if self.marks[at] & (PIN | CODE | OTP | SECRET | WORD):
            return 3 if number and self.marks[at] & (PIN | SECRET) else 2
        if number and self._is_near_pin(at):
            return 2
        quoted = not _QUOTES.isdisjoint(tokens[place].before)
        return 2 if quoted or tokens[at].low in ADVERBS else 0

    def _is_at_lock(self, place: int, at: int) -> bool:
        """«main gate 443210, …»: five digits or more right behind a thing with a lock."""
        word = self.word(place)
        odd = len(word) in (5, 6) and word.isdigit() and word[-1] != "0"
        return self.marks[at] & PLACE > 0 and (odd or self.topics & (DIAL | HUSH | PIN) > 0)

    def _is_near_pin(self, at: int) -> bool:
        """«pin for dad's phone 4471»: no more than three words between."""
        first = max(0, at - 3)
        if any(token.after for token in self.tokens[first : at + 1]):
            return False
        return any(mark & (PIN | SECRET) for mark in self.marks[first : at + 1]) or (
            self.marks[at] & PLACE > 0 and any(mark & CODE for mark in self.marks[first:at])
        )

    def _is_behind_name(self, at: int, between: str) -> bool:
        """«login: ada, X», «ada / X», «ada@mail.example // X»."""
        if "/" in between or "|" in between:
            return self.topics & ACCESS > 0 or "@" in self.tokens[at].low
        return "," in between and self.topics & ACCESS > 0 and ":" in self.joint(at)[0]

    def _links(self, at: int, *, number: bool) -> bool:
        """Whether the word at `at` introduces a value, or the one before it does."""
        previous, mark = self.tokens[at], self.marks[at]
        if previous.low in LINKS or previous.owner:
            return True
        if number and mark & DIAL:
            return True
        if previous.low == "in" and at:
            before = self.tokens[at - 1].low
            if self.marks[at - 1] & DIAL or before in PUTTING:
                return True
        if number and previous.low == "me" and at and self.tokens[at - 1].low in _SENDING:
            return True
        if number and previous.low == "hit" and self.topics & (PIN | PLACE | DIAL):
            return True
        if previous.low == "plus" and not number and self.topics & ACCESS:
            return True
        if number and previous.low in _INTO and self.topics & (PIN | CODE):
            return True
        if number and previous.low in TIMES and self.topics & (PIN | CODE):
            return True
        if number and any(token.low in _TELLING for token in self.tokens[max(0, at - 2) : at]):
            return True
        if "or" in (previous.low, self.tokens[at - 1].low if at else "") and self.topics & SECRET:
            return previous.low == "or" or previous.low in ADVERBS
        if previous.low in _WITHS:
            return not number or self.topics & (ENTRY | PIN | PLACE) > 0
        if previous.low == "on" and at and self.tokens[at - 1].low.startswith("open"):
            return True
        if previous.low in ADVERBS and at and not self.tokens[at - 1].after:
            return self.tokens[at - 1].low in LINKS
        return False

    def link_behind(self, place: int) -> int:
        """How strongly the words behind one point back to it: 0 or 3."""
        first = place + 1
        while first < len(self.tokens) and self.tokens[first].low in ADVERBS_BEHIND:
            first += 1
        lows = [token.low for token in self.tokens[first : first + 4]]
        if not lows:
            return 0
        second = lows[1] if len(lows) > 1 else ""
        if lows[0] in POINTING:
            return 3
        if lows[0] in ("then", "and") and any(
            self.marks[first + n] & DIAL for n in range(len(lows))
        ):
            return 2  # «then press star»
        if lows[0] == "to" and not self.tokens[place].after and second in _ENTERING:
            return 3
        if lows[0] in ("is", "was", "s", "è", "ist", "es", "est", "é", "это"):
            if second == "what":
                return 3
            near = self.marks[first + 1 : first + 6]
            return 3 if any(mark & (_NAMEABLE | CODE) for mark in near) else 0
        if lows[0] in _AS_AND_FOR:
            near = self.marks[first + 1 : first + 4]
            if any(mark & (SECRET | WORD | PIN | OTP) for mark in near):
                return 3
            return 2 if any(mark & _NAMEABLE for mark in near) else 0
        return 0


_NAMEABLE = SECRET | WORD | PIN | OTP | ACCESS | PLACE | HUSH
_ANDS = frozenset("and or und y e et en oder ou o of и".split())
_WITHS = frozenset("with w w/ mit met avec con com med z с ile".split())
_SENDING = frozenset("sent texted gave messaged emailed send text".split())
_INTO = frozenset("pra para auf naar na en in a su to".split())
_TELLING = frozenset(
    "tell told give gave text send sag sags gib dis dites di dile diga zeg".split()
)
_ENTERING = frozenset(
    "turn disarm disable silence shut stop arm get log sign unlock open join connect enter "
    "access decrypt view".split()
)
_AS_AND_FOR = frozenset(
    "as for comme de als como come jako как fürs für pour para voor dla для".split()
)


def _is_wary(lows: Sequence[str], place: int) -> bool:
    return not WARY.isdisjoint(lows[max(0, place - 4) : place + 5])
