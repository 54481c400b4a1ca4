"""The search: which ranges of a text are secret.

First a screen: only rules whose cue stands in the text and whose run length occurs are tried.
Then the same on each folded view. Ranges of all views are mapped back and united where they
overlap or touch.

Work is counted. One attempt of a rule has a bounded cost, and a text may cost at most
`work_limit(len(text))` attempts; beyond that it isn't chat, and the whole of it is a finding. So
the search is linear in the text whatever the rules are, and a test can count it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from turnfold.events import redaction_prose as prose
from turnfold.events.redaction_access import (
    BLOB_RULES,
    CAPABILITY_RULES,
    HEADER_RULES,
    PEM_RULES,
)
from turnfold.events.redaction_codes import CODE_RULES
from turnfold.events.redaction_containers import OPENED, container_spans
from turnfold.events.redaction_json import JSON_RULES, bare_end, is_of_next_member
from turnfold.events.redaction_logins import LOGIN_RULES
from turnfold.events.redaction_message import FAMILIES, families, pieces
from turnfold.events.redaction_money import MONEY_RULES
from turnfold.events.redaction_names import NAME_RULES
from turnfold.events.redaction_prefixes import PREFIX_RULES, SPACED_PREFIX
from turnfold.events.redaction_rule import NOT_MASK, PLACEHOLDER, PRIORITY, Rule, Span
from turnfold.events.redaction_screen import (
    LONG_WORD,
    CueTable,
    Literals,
    PrefixTable,
    Screen,
)
from turnfold.events.redaction_tokens import RUN_RULES, continues_token
from turnfold.events.redaction_told import may_tell, told
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
    *LOGIN_RULES,
    *CODE_RULES,
    *JSON_RULES,
    *BLOB_RULES,
    *MONEY_RULES,
)

# Quotes around a value in prose, escaped ones too, with what a sentence or JSON has behind them.
_OPENING = re.compile(r"(?:\\{0,4}[\"'`“]){1,3}")
_CLOSING = re.compile(r"\\{0,4}[\"'`”](?:\\{0,4}[\"'`”]|[,;:.!?)\]}])*\Z")
_CLOSING_REACH = 16

_URL_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~:/[]@%-")
_RUN = re.compile(rf"[^\s{NOT_MASK}\"'`,;<>(){{}}]*+")

_SHORT = [rule for rule in RULES if rule.word < LONG_WORD and not rule.attached]
_SHORT_CUES = CueTable(rule for rule in _SHORT if not rule.digits)
_DIGIT_CUES = CueTable(rule for rule in _SHORT if rule.digits)
_LEAST_DIGITS = min(rule.digits for rule in _SHORT if rule.digits)
_LONG_CUES = CueTable(rule for rule in RULES if rule.word >= LONG_WORD and not rule.attached)
_WRAPPED_CUES = CueTable(rule for rule in RULES if rule.wrapped and not rule.attached)
_ATTACHED = [rule for rule in RULES if rule.attached]
_HEADED_CUES = PrefixTable(rule for rule in _ATTACHED if PrefixTable.head(rule.cues[0]))
_ATTACHED_CUES = CueTable(rule for rule in _ATTACHED if not PrefixTable.head(rule.cues[0]))
_ATTACHED_LITERALS = Literals(_ATTACHED_CUES.cues)
_PASSWORD_CUES = frozenset(prose.PROSE_CUES)
_TOPICS = frozenset(FAMILIES)
_TABLES = (_SHORT_CUES, _DIGIT_CUES, _LONG_CUES, _WRAPPED_CUES)
_LITERALS = Literals(
    (*_PASSWORD_CUES, *FAMILIES, *(cue for table in _TABLES for cue in table.cues))
)
_WHOLE = tuple(rule for rule in RULES if not rule.cues)
_WRAPPED_WHOLE = tuple(rule for rule in _WHOLE if rule.wrapped)


class TooMuchWork(Exception):
    """The text costs more work than any chat does."""


class Work:
    """Counts the work on one text against its limit. One unit is about one attempt of a rule."""

    __slots__ = ("limit", "spent")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0

    def add(self, units: int = 1) -> None:
        """Count work; raise `TooMuchWork` beyond the limit."""
        self.spent += units
        if self.spent > self.limit:
            raise TooMuchWork


def work_limit(size: int) -> int:
    """How much work a text of `size` characters may cost, in units, all passes together."""
    return 500 + size // 4


_CUE_WORK = 5
"""Units for all that is looked at around one password cue."""

_PIECE_WORK = 20
"""Units for one message in which topics are looked up."""


class _Scan:
    """One search of one view's text."""

    __slots__ = ("_low", "_present", "_screen", "_text", "_work")

    def __init__(self, text: str, screen: Screen, work: Work) -> None:
        self._text = text
        self._screen = screen
        self._low = screen.low
        self._present = _LITERALS.present(screen.low)
        self._work = work

    def spans(self) -> Iterator[Span]:
        """Everything that is found in the text."""
        if "://" in self._low:
            yield from url_spans(self._text)
        yield from self._at_cues(_SHORT_CUES.of(self._present))
        if self._screen.digits >= _LEAST_DIGITS:
            yield from self._at_cues(_DIGIT_CUES.of(self._present))
        yield from self._passwords()
        if not _TOPICS.isdisjoint(self._present):
            yield from self._told_otherwise()
        if self._screen.longest >= LONG_WORD:
            yield from self._at_cues(_LONG_CUES.of(self._present))
            yield from self._at_prefixes()
        if "[" in self._low or "{" in self._low:
            yield from self._containers()
        yield from self._whole(_WHOLE)

    def wrapped_spans(self) -> Iterator[Span]:
        """What is found of tokens that were wrapped, in a view of joined lines."""
        yield from self._at_cues(_WRAPPED_CUES.of(self._present))
        yield from self._at_prefixes()
        yield from self._whole(_WRAPPED_WHOLE)

    def _at_prefixes(self) -> Iterator[Span]:
        runs = self._screen.long_runs()
        if runs:
            yield from self._at_cues(_HEADED_CUES.present_in(runs))
            yield from self._at_cues(_ATTACHED_CUES.of(_ATTACHED_LITERALS.present(runs)))

    def _at_cues(self, present: Iterable[tuple[str, Sequence[Rule]]]) -> Iterator[Span]:
        for cue, listed in present:
            rules = [rule for rule in listed if self._screen.allows(rule)]
            at = self._low.find(cue) if rules else -1
            while at >= 0:
                self._work.add(len(rules))
                behind = at + 1
                for rule in rules:
                    start = self._line_start(at, rule.before) if rule.before else at
                    match = rule.pattern.compiled().match(self._text, start)
                    span = self._accepted(rule, match) if match is not None else None
                    if span is not None:
                        yield span
                        behind = max(behind, span[1])
                at = self._low.find(cue, behind)

    def _line_start(self, at: int, reach: int) -> int:
        """Where a pattern begins that looks `reach` characters back, within the line."""
        first = max(0, at - reach)
        return max(first, self._text.rfind("\n", first, at) + 1)

    def _whole(self, rules: Iterable[Rule]) -> Iterator[Span]:
        longest, digits, low = self._screen.longest, self._screen.digits, self._low
        # Not `allows`: no call for the dozen rules that hardly any text allows.
        for rule in [rule for rule in rules if rule.word <= longest and rule.digits <= digits]:
            if rule.needs not in low:
                continue
            for low_end, high_end in self._screen.windows(rule):
                for match in rule.pattern.compiled().finditer(self._text, low_end, high_end):
                    self._work.add()
                    span = self._accepted(rule, match)
                    if span is not None:
                        yield span

    def _passwords(self) -> Iterator[Span]:
        low = self._low
        cues = [cue for cue in self._present if cue in _PASSWORD_CUES]
        if not cues:
            return
        search = prose.PasswordSearch(self._text)
        for cue in cues:
            search.restart()
            at = low.find(cue)
            while at >= 0:
                self._work.add(_CUE_WORK)
                behind = at + len(cue)
                for start, end in search.near(at, cue):
                    told = self._told(start, self._run_end(start, end))
                    behind = max(behind, told[1])  # in JSON the next cue may stand right behind
                    yield *told, "credential"
                at = low.find(cue, behind)

    def _containers(self) -> Iterator[Span]:
        for opened in OPENED.finditer(self._text):
            self._work.add()
            yield from container_spans(self._text, opened)

    def _told_otherwise(self) -> Iterator[Span]:
        if may_tell(self._text, families(self._low, self._present), self._screen.digits):
            for piece in pieces(self._text):
                self._work.add(_PIECE_WORK)
                yield from told(self._text, piece)

    def _accepted(self, rule: Rule, match: re.Match[str]) -> Span | None:
        if rule.accept is not None and not rule.accept(match):
            return None
        start, end = match.span(rule.group)
        if rule.kind == "code" and is_of_next_member(self._text, match.start(), start):
            return None
        if rule.kind == "cap":
            start, end = self._whole_address(start, end)
        elif end == match.end():
            end = self._run_end(start, end)
        if rule.kind == "credential":
            start, end = self._told(start, end)
        return (start, end, rule.kind) if end > start else None

    def _run_end(self, start: int, end: int) -> int:
        """A value as long as the cap goes on to the end of its run."""
        if end - start < 250:
            return end
        match = _RUN.match(self._text, end)
        return match.end() if match is not None else end

    def _told(self, start: int, end: int) -> tuple[int, int]:
        """A told value without what JSON has around it, so that JSON that tells it stays JSON."""
        opening = _OPENING.match(self._text, start, end)
        closing = _CLOSING.search(self._text, max(start, end - _CLOSING_REACH), end)
        first = start if opening is None else opening.end()
        last = end if closing is None else closing.start()
        if first < last:
            start, end = first, last
        return start, bare_end(self._text, start, end)

    def _whole_address(self, start: int, end: int) -> tuple[int, int]:
        """A capability path with the host before it, without the sentence's punctuation."""
        first = max(0, start - 300)
        text = self._text
        while start > first and text[start - 1] in _URL_LETTERS:
            start -= 1
        while end > start + 1 and text[end - 1] in ".,;:!?":
            end -= 1
        return start, end


def find(text: str, work: Work) -> list[Span]:
    """The secret ranges of a sanitised text, in order, none touching another."""
    if "[redacted:" in text:
        text = PLACEHOLDER.sub(lambda match: MASK * len(match.group()), text)
    base = folded(text)
    screen = Screen(base.text)
    found = _mapped(base, _Scan(base.text, screen, work).spans())
    last, last_screen = base, screen
    for _ in range(UNESCAPE_ROUNDS):
        decoded = unescaped(last)
        if decoded is None:
            break
        last, last_screen = decoded, Screen(decoded.text)
        found += _mapped(last, _Scan(last.text, last_screen, work).spans())
    _search_gaps(base, screen, work, found)
    if last is not base:
        _search_gaps(last, last_screen, work, found)
    return [_before_escape(text, span) for span in _united(found)] if found else found


def _before_escape(text: str, span: Span) -> Span:
    """The same range without the backslashes that escape the quote behind it."""
    start, end, kind = span
    if text[end : end + 1] in ('"', "'"):
        while end > start + 1 and text[end - 1] == "\\":
            end -= 1
    return start, end, kind


def _search_gaps(view: View, screen: Screen, work: Work, found: list[Span]) -> None:
    """Search the views in which gaps and disguises of `view` are undone."""
    wrapped = joined(view, continues_token)
    if wrapped is not None:
        scan = _Scan(wrapped.text, Screen(wrapped.text), work)
        found += _mapped(wrapped, scan.wrapped_spans())
    closed = closed_up(view) if screen.may_be_spaced() else None
    if closed is not None:
        starts = (match.span() for match in SPACED_PREFIX.finditer(closed.text))
        found += _mapped(closed, ((start, end, "token") for start, end in starts))
    for other in (squeezed(view), latinised(view, screen.odd), closed):
        if other is not None:
            found += _mapped(other, _Scan(other.text, Screen(other.text), work).spans())


def _mapped(view: View, spans: Iterable[Span]) -> list[Span]:
    return [(*view.span(start, end), kind) for start, end, kind in spans if start < end]


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
