"""The form of a redaction rule, and the closed set of kinds.

A rule is anchored at a *cue*, a literal in lower case: it is tried only where the cue stands, with
a pattern whose gaps are bounded and whose runs are possessive, so that one attempt has a fixed
cost. A rule without cues searches the whole text; its pattern starts at a boundary and takes runs
possessively, so that the search is linear.
"""

import re
from collections.abc import Callable

import attrs

from turnfold.events.redaction_views import MASK

KINDS: tuple[str, ...] = (
    "cap",
    "session",
    "pem",
    "jwt",
    "auth",
    "cookie",
    "url",
    "card",
    "seed",
    "token",
    "credential",
    "code",
    "blob",
    "text",
)
"""Every kind a placeholder can have, strongest first: where spans overlap, the first one names."""

PRIORITY = {kind: rank for rank, kind in enumerate(KINDS)}

PLACEHOLDER = re.compile(rf"\[redacted:(?:{'|'.join(KINDS)}|blob:[0-9]{{1,6}})\]")
"""An exact placeholder; `blob` may carry the size in bytes of what it stands for."""

Span = tuple[int, int, str]
"""Start, end and kind of a finding."""

Accept = Callable[[re.Match[str]], bool]


class Lazy:
    """A regular expression that is compiled when it is first used, so that start-up stays short."""

    __slots__ = ("_compiled", "_flags", "source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def compiled(self) -> re.Pattern[str]:
        """The pattern."""
        if self._compiled is None:
            self._compiled = re.compile(self.source, self._flags)
        return self._compiled


@attrs.frozen(slots=True)
class Rule:
    """One rule. What is replaced is the group `v` of its pattern, or the whole match.

    Attributes:
        cues: literals in lower case; empty for a rule that searches the whole text.
        word: a match holds a run of at least so many token letters (see `redaction_screen`);
            where no run is that long, the rule isn't tried.
        digits: the same for the number of ASCII digits in the text.
        needs: a literal without which a rule that searches the whole text isn't tried.
        wrapped: the rule also sees the view of joined lines.
        attached: the cue is the start of that run, not merely somewhere in the text.
        before: how many characters before its cue the pattern begins.
    """

    kind: str
    source: str
    cues: tuple[str, ...]
    pattern: Lazy
    accept: Accept | None = None
    word: int = 0
    digits: int = 0
    needs: str = ""
    wrapped: bool = False
    attached: bool = False
    before: int = 0
    group: str | int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "group", "v" if "(?P<v>" in self.pattern.source else 0)


def value_is(judge: Callable[[str], bool]) -> Accept:
    """Accept a match by its value alone."""

    def accept(match: re.Match[str]) -> bool:
        return judge(match["v"] if "v" in match.re.groupindex else match.group())

    return accept


def before(match: re.Match[str], size: int) -> str:
    """Up to `size` characters before the match."""
    return match.string[max(0, match.start() - size) : match.start()]


NOT_MASK = re.escape(MASK)
