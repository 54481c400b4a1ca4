"""The cheap screen: what a text can't hold, from a few passes of C-speed string operations.

Most chat holds no secret, and most of it can be told so in a few microseconds: no cue word, no
long run, no digits. What the screen can't rule out is searched.
"""

import re
from collections.abc import Iterable, Iterator

from ahocorasick_rs import BytesAhoCorasick, Implementation

from turnfold.events.redaction_rule import Rule
from turnfold.events.redaction_views import outside_ascii

WORD_PROBED = 10
"""Runs shorter than this aren't measured."""

LONG_WORD = 12
"""Rules that need a run of this length have their cues in tables of their own."""

TOKEN_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.~%"

_RUN = re.compile(rf"[A-Za-z0-9_\-+/=.~%]{{{WORD_PROBED},}}+", re.ASCII)
_BLANK = re.compile(r"\s|\Z")
_LONG_RUN = re.compile(rf"[A-Za-z0-9_\-+/=.~%]{{{LONG_WORD},}}+", re.ASCII)
_RUNS = bytes(ord("a") if byte in TOKEN_LETTERS else ord(" ") for byte in range(256))
_PROBE = b"a" * WORD_PROBED
_BLANKS = bytes(ord(" ") if chr(byte).isspace() else ord("a") for byte in range(128)) + b"a" * 128
_SPACED = b" a a a a a a"
_NO_DIGITS = bytes(byte for byte in range(256) if not ord("0") <= byte <= ord("9"))
_NOTHING: frozenset[str] = frozenset()
_SMALL = 512
_BEFORE_RUN = 24
_AROUND_LITERAL = 100
_AFTER = 100
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def lowered(text: str) -> str:
    """The text in lower case, position by position."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(_ASCII_LOWER)


class Screen:
    """Measurements of one text.

    Attributes:
        low: the text in lower case, position by position.
        plain: the same with `?` for what isn't ASCII, in which searches are several times faster.
        odd: the different characters of `low` outside ASCII.
        longest: length of the longest run of token letters (0 if below `WORD_PROBED`).
        digits: number of ASCII digits.
    """

    __slots__ = ("_raw", "_runs", "digits", "longest", "low", "odd", "plain")

    def __init__(self, text: str) -> None:
        self.low = lowered(text)
        if text.isascii():
            self.plain, self.odd = self.low, _NOTHING
        else:
            self.plain = self.low.encode("ascii", "replace").decode("ascii")
            self.odd = frozenset(outside_ascii(self.low))
        self._raw = raw = text.encode("ascii", "replace")
        runs = raw.translate(_RUNS)
        self.longest = max(map(len, runs.split())) if _PROBE in runs else 0
        self.digits = len(raw.translate(None, _NO_DIGITS))
        self._runs: list[tuple[int, int]] | None = None

    def long_runs(self) -> str:
        """The different long runs of the text, in lower case."""
        return " ".join(dict.fromkeys(_LONG_RUN.findall(self.plain)))

    def windows(self, rule: Rule) -> Iterator[tuple[int, int]]:
        """The parts of the text in which a rule without cues can match; none overlaps another."""
        if len(self.low) <= _SMALL or not (rule.word or rule.needs):
            return iter(((0, len(self.low)),))
        if rule.word:
            if self._runs is None:
                self._runs = [match.span() for match in _RUN.finditer(self.plain)]
            spots = (run for run in self._runs if run[1] - run[0] >= rule.word)
            return self._around(spots, _BEFORE_RUN)
        found = re.finditer(re.escape(rule.needs), self.low)
        return self._around((match.span() for match in found), _AROUND_LITERAL)

    def _around(self, spots: Iterable[tuple[int, int]], before: int) -> Iterator[tuple[int, int]]:
        """Parts from `before` characters before each spot to the blank after what follows it."""
        low, high = 0, -1
        for start, end in spots:
            if start - before > high:
                if high >= 0:
                    yield low, high
                low = max(0, start - before)
            if end + _AFTER > high:
                blank = _BLANK.search(self.plain, min(len(self.plain), max(high, end + _AFTER)))
                high = blank.start() if blank is not None else len(self.plain)
        if high >= 0:
            yield low, high

    def may_be_spaced(self) -> bool:
        """Whether six single characters in a row stand apart."""
        return _SPACED in b" " + self._raw.translate(_BLANKS)

    def allows(self, rule: Rule) -> bool:
        """Whether the text can hold a match of `rule` by its lengths."""
        return rule.word <= self.longest and rule.digits <= self.digits


class Literals:
    """Words to look for, all in one pass over a text (Aho and Corasick, CACM 18(6), 1975).

    On bytes, for which the library keeps the interpreter lock. On strings it gives it up for the
    microsecond that the search takes, and gets it back only when another thread lets go of it.
    """

    __slots__ = ("_automaton", "_words")

    def __init__(self, words: Iterable[str]) -> None:
        # Sorted, so that the automaton and the order of what it finds are the same in each run.
        self._words = sorted(set(words))
        self._automaton = BytesAhoCorasick(
            [word.encode() for word in self._words], implementation=Implementation.DFA
        )

    def present(self, low: str) -> tuple[str, ...]:
        """The different words that stand in `low`, also inside one another, as they occur."""
        data = low.encode("utf-8", "surrogatepass")
        found = self._automaton.find_matches_as_indexes(data, overlapping=True)
        words = self._words
        return tuple(dict.fromkeys([words[number] for number, _begin, _end in found]))


class CueTable:
    """Rules by cue."""

    __slots__ = ("_rules",)

    def __init__(self, rules: Iterable[Rule]) -> None:
        table: dict[str, list[Rule]] = {}
        for rule in rules:
            for cue in rule.cues:
                table.setdefault(cue, []).append(rule)
        self._rules = {cue: tuple(found) for cue, found in table.items()}

    @property
    def cues(self) -> Iterable[str]:
        """Every cue of the table."""
        return self._rules.keys()

    def of(self, present: Iterable[str]) -> list[tuple[str, tuple[Rule, ...]]]:
        """Those of the cues `present` that are in the table, with their rules."""
        rules = self._rules
        return [(cue, rules[cue]) for cue in present if cue in rules]


class PrefixTable:
    """Rules by prefix, where the prefix starts a run and holds a separator: `ghp_`, `sk-`.

    The piece before the separator is looked up, so that the number of prefixes costs nothing.
    """

    __slots__ = ("_by_head", "_heads")

    _PIECE = re.compile(r"[a-z0-9]+")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_head: dict[str, list[tuple[str, tuple[Rule, ...]]]] = {}
        for rule in rules:
            for cue in rule.cues:
                self._by_head.setdefault(self.head(cue), []).append((cue, (rule,)))
        self._heads = frozenset(self._by_head)

    @classmethod
    def head(cls, cue: str) -> str:
        """The piece of `cue` before its first separator; "" where none comes after a piece."""
        piece = cls._PIECE.match(cue)
        return piece.group() if piece is not None and piece.end() < len(cue) else ""

    def present_in(self, runs: str) -> Iterator[tuple[str, tuple[Rule, ...]]]:
        """The prefixes that stand in `runs`, which is in lower case, with their rules."""
        for head in sorted(self._heads.intersection(self._PIECE.findall(runs))):
            yield from ((cue, rules) for cue, rules in self._by_head[head] if cue in runs)
