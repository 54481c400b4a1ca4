"""Ordinals: which placeholders of one session stand for the same secret.

`[redacted:token:1]`, `[redacted:token:2]`: one number for one secret, counted for each kind within
one session and never across sessions. The stored text has no numbers, so that it stays a fixed
point of `redact`; they lie beside it, sealed, and a context shows them. See decision 17.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final

from turnfold.events.event import ENDED_TYPES, Event, TurnAdded
from turnfold.events.extras import OFFSET_MAX, ORDINALS_MAX, Ordinals, decode_extras
from turnfold.events.redaction_marks import Marks
from turnfold.events.redaction_rule import PLACEHOLDER

SESSIONS_MAX: Final = 4096
SECRETS_MAX: Final = 256
"""Secrets of one session that are told apart; those after them have no ordinal."""


class _Known:
    """One session's secrets: the ordinal of each, and the highest of each kind."""

    __slots__ = ("highest", "ordinals")

    def __init__(self, highest: dict[str, int]) -> None:
        self.highest = highest
        self.ordinals: dict[tuple[str, int], int] = {}

    def ordinal(self, kind: str, fingerprint: int) -> int:
        """0 if the secret is new and there is no room for one more."""
        name = (kind, fingerprint)
        known = self.ordinals.get(name, 0)
        if not known and len(self.ordinals) < SECRETS_MAX:
            known = self.ordinals[name] = self.highest[kind] = self.highest.get(kind, 0) + 1
        return known


class SecretNumbers:
    """The secrets of live sessions by fingerprint. In memory only; one owner.

    What isn't known any more (another process, the session used longest ago of SESSIONS_MAX) is
    counted on above the ordinals of the session's turns: then equality is forgotten, but within
    one context no two secrets have the same number. A number that was given and not written stays
    with its secret.
    """

    __slots__ = ("_sessions",)

    def __init__(self) -> None:
        self._sessions: OrderedDict[int, _Known] = OrderedDict()

    def number(self, session: int, turns: Sequence[TurnAdded], marks: Marks) -> Ordinals:
        """The ordinals of the marks of a text that is about to follow `turns`."""
        known = self._sessions.pop(session, None) or _Known(_highest(turns))
        self._sessions[session] = known
        if len(self._sessions) > SESSIONS_MAX:
            self._sessions.popitem(last=False)
        return tuple(
            (mark.at, ordinal)
            for mark in marks[:ORDINALS_MAX]
            if mark.at <= OFFSET_MAX and (ordinal := known.ordinal(mark.kind, mark.fingerprint))
        )

    def forget(self, events: Iterable[Event]) -> None:
        """Forget the sessions that end with these events."""
        if not self._sessions:
            return
        for event in events:
            if isinstance(event, ENDED_TYPES):
                self._sessions.pop(event.session, None)


def numbered(text: str, ordinals: Ordinals) -> str:
    """A turn's text as a context shows it: its own placeholders with their ordinals."""
    if not ordinals:  # almost every text
        return text
    parts: list[str] = []
    done = 0
    for at, ordinal in ordinals:
        match = PLACEHOLDER.match(text, at)
        if match is not None:  # else not what was stored: damage shows as a text without numbers
            end = match.end() - 1
            parts.append(f"{text[done:end]}:{ordinal}")
            done = end
    return "".join((*parts, text[done:]))


def _highest(turns: Sequence[TurnAdded]) -> dict[str, int]:
    """The highest ordinal of each kind that these turns show."""
    highest: dict[str, int] = {}
    for turn in turns:
        text = turn.text if turn.redactions else None
        if text is None:
            continue
        for at, ordinal in decode_extras(turn.kind, turn.extras).ordinals:
            match = PLACEHOLDER.match(text, at)
            if match is not None:
                kind = match.group()[len("[redacted:") : -1].partition(":")[0]
                highest[kind] = max(highest.get(kind, 0), ordinal)
    return highest
