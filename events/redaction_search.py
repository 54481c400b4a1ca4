"""The search: which ranges of a text are secret.

First a screen: only rules whose cue stands in the text and whose run length occurs are tried.
Then the same on each folded view. Ranges of all views are mapped back and united where they
overlap or touch.

Work is counted. One attempt of a rule has a bounded cost, and a text may cost at most
`work_limit(len(text))` attempts; beyond that it isn't chat, and the whole of it is a finding. So
the search is linear in the text whatever the rules are, and a test can count it.
"""

import re
from collections.abc import Iterable, Iterator

from turnfold.events import redaction_prose as prose
from turnfold.events.redaction_access import (
    BLOB_RULES,
    CAPABILITY_RULES,
    HEADER_RULES,
    PEM_RULES,
)
from turnfold.events.redaction_prefixes import PREFIX_RULES
from turnfold.events.redaction_rule import NOT_MASK, PLACEHOLDER, PRIORITY, Rule, Span
from turnfold.events.redaction_tokens import NAME_RULES, RUN_RULES, continues_token
from turnfold.events.redaction_urls import url_spans
from turnfold.events.redaction_views import (
    MASK,
    UNESCAPE_ROUNDS,
    View,
    closed_up,
    folded,
    joined,
    latinised,
    squeezed,
    unescaped,
)

RULES: tuple[Rule, ...] = (
    *CAPABILITY_RULES,
    *PEM_RULES,
    *HEADER_RULES,
    *PREFIX_RULES,
    *RUN_RULES,
    *NAME_RULES,
    *prose.LOGIN_RULES,
    *prose.CODE_RULES,
    *BLOB_RULES,
)

_LONG_WORD = 16
"""Rules that need a run of this length or more are left out where no such run is."""

_PROBE = b"a" * _LONG_WORD
_SPACED_PROBE = b" a a a a a a"
_BLANKS = bytes(b" "[0] if chr(byte).isspace() else b"a"[0] for byte in range(256))

_URL_LETTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~:/[]@%-"
)
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}

_RUN = re.compile(rf"[^\s{NOT_MASK}\"'`,;<>(){{}}]*+")

CueTable = dict[str, tuple[Rule, ...]]


def _cue_table(rules: Iterable[Rule]) -> CueTable:
    table: dict[str, list[Rule]] = {}
    for rule in rules:
        for cue in rule.cues:
            table.setdefault(cue, []).append(rule)
    return {cue: tuple(found) for cue, found in table.items()}


_SHORT_CUES = _cue_table(rule for rule in RULES if rule.word < _LONG_WORD)
_LONG_CUES = _cue_table(rule for rule in RULES if rule.word >= _LONG_WORD)
_WRAPPED_CUES = _cue_table(rule for rule in RULES if rule.wrapped)
_WHOLE = tuple(rule for rule in RULES if not rule.cues)
_WHOLE_SHORT = tuple(rule for rule in _WHOLE if rule.word < _LONG_WORD and not rule.needs)


class TooMuchWork(Exception):
    """The text costs more attempts than any chat does."""


class Work:
    """Counts attempts against the limit of one text."""

    __slots__ = ("limit", "spent")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0

    def add(self, attempts: int = 1) -> None:
        """Count attempts; raise `TooMuchWork` beyond the limit."""
        self.spent += attempts
        if self.spent > self.limit:
            raise TooMuchWork


def work_limit(size: int) -> int:
    """How many attempts a text of `size` characters may cost."""
    return 400 + size // 2


class _Scan:
    """One search of one view's text."""

    __slots__ = ("_longest", "_low", "_text", "_work", "_wrapped")

    def __init__(self, text: str, work: Work, *, wrapped: bool) -> None:
        low = text.lower()
        self._text = text
        self._low = low if len(low) == len(text) else text.translate(_ASCII_LOWER)
        self._work = work
        self._wrapped = wrapped
        self._longest = max(map(len, text.split()), default=0)

    def spans(self) -> Iterator[Span]:
        if self._wrapped:
            yield from self._at_cues(_WRAPPED_CUES)
            yield from self._whole(rule for rule in _WHOLE if rule.wrapped)
            return
        if "://" in self._low:
            yield from url_spans(self._text)
        yield from self._at_cues(_SHORT_CUES)
        yield from self._passwords()
        if self._longest >= _LONG_WORD:
            yield from self._at_cues(_LONG_CUES)
        yield from self._whole(_WHOLE)

    def _at_cues(self, table: CueTable) -> Iterator[Span]:
        low = self._low
        for cue in [cue for cue in table if cue in low]:
            rules = [rule for rule in table[cue] if rule.word <= self._longest]
            at = low.find(cue) if rules else -1
            while at >= 0:
                self._work.add(len(rules))
                behind = at + 1
                for rule in rules:
                    match = rule.pattern.match(self._text, max(0, at - rule.before))
                    span = self._accepted(rule, match) if match is not None else None
                    if span is not None:
                        yield span
                        behind = max(behind, span[1])
                at = low.find(cue, behind)

    def _whole(self, rules: Iterable[Rule]) -> Iterator[Span]:
        for rule in rules:
            if rule.word > self._longest or rule.needs not in self._low:
                continue
            for match in rule.pattern.finditer(self._text):
                self._work.add()
                span = self._accepted(rule, match)
                if span is not None:
                    yield span

    def _passwords(self) -> Iterator[Span]:
        low = self._low
        for cue in [cue for cue in prose.PROSE_CUES if cue in low]:
            at = low.find(cue)
            while at >= 0:
                self._work.add(2)
                behind = at + len(cue)
                for start, end in prose.password_after(self._text, at, cue):
                    behind = max(behind, end)
                    yield start, self._run_end(start, end), "credential"
                for start, end in prose.password_before(self._text, at):
                    yield start, end, "credential"
                at = low.find(cue, behind)

    def _accepted(self, rule: Rule, match: re.Match[str]) -> Span | None:
        if rule.accept is not None and not rule.accept(match):
            return None
        start, end = match.span(rule.group)
        if rule.kind == "cap":
            start, end = self._whole_address(start, end)
        elif end == match.end():
            end = self._run_end(start, end)
        return (start, end, rule.kind) if end > start else None

    def _run_end(self, start: int, end: int) -> int:
        """A value as long as the cap goes on to the end of its run."""
        if end - start < 250:
            return end
        match = _RUN.match(self._text, end)
        return match.end() if match is not None else end

    def _whole_address(self, start: int, end: int) -> tuple[int, int]:
        """A capability path with the host before it, without the sentence's punctuation."""
        first = max(0, start - 300)
        text = self._text
        while start > first and text[start - 1] in _URL_LETTERS:
            start -= 1
        while end > start + 1 and text[end - 1] in ".,;:!?":
            end -= 1
        return start, end


def _views(base: View) -> Iterator[tuple[View, bool]]:
    """Every view of the text worth a search, and whether it is one of joined lines."""
    yield base, False
    decoded: View | None = base
    last = base
    for _ in range(UNESCAPE_ROUNDS):
        decoded = unescaped(last)
        if decoded is None:
            break
        last = decoded
        yield decoded, False
    for view in (base,) if last is base else (base, last):
        wrapped = joined(view, continues_token)
        if wrapped is not None:
            yield wrapped, True
        for other in (squeezed(view), latinised(view), closed_up(view)):
            if other is not None:
                yield other, False


def find(text: str, work: Work) -> list[Span]:
    """The secret ranges of a sanitised text, in order, none touching another."""
    if "[redacted:" in text:
        text = PLACEHOLDER.sub(lambda match: MASK * len(match.group()), text)
    found: list[Span] = []
    for view, wrapped in _views(folded(text)):
        work.add()
        for start, end, kind in _Scan(view.text, work, wrapped=wrapped).spans():
            found.append((*view.span(start, end), kind))
    return _united(found)


def _united(found: list[Span]) -> list[Span]:
    found.sort()
    united: list[Span] = []
    for start, end, kind in found:
        if united and start <= united[-1][1]:
            first, last, strongest = united[-1]
            united[-1] = first, max(last, end), min(strongest, kind, key=PRIORITY.__getitem__)
        else:
            united.append((start, end, kind))
    return united
