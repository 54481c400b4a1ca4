"""Recovered sessions whose texts were not checked yet: before their first context, and meanwhile.

An opening believes no text. Each recovered session is checked when its first context is asked for,
in the reader's thread, and otherwise in the background, one session at a time. What isn't clean is
shown as it will be and recorded: `TurnRedacted`, and `Quarantined` if the rules are those that it
was stored under, which means that somebody changed it.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Final

from turnfold.actors.messages import Record
from turnfold.events.commands import Entropy, Instant
from turnfold.events.event import Event, Quarantined, TurnRedacted
from turnfold.events.evolve import evolve
from turnfold.events.reasons import Reason
from turnfold.events.recheck import Unclean, redacted_part, unclean_texts
from turnfold.events.redaction_operator import OperatorRules
from turnfold.events.sealed import sealed_length
from turnfold.events.session import Session
from turnfold.events.state import StoreState

_BUILT_IN: Final = OperatorRules()
_RESTS_EVERY: Final = 4  # texts between two rests: about 0.3 ms


class Recheck:
    """`state` is the store actor's: only what runs in its thread touches it.

    `rules` are those in force beside the built-in ones; `same_rules`: the texts were stored under
    them all. `tell` sends the store actor a message. Any thread, where nothing else is said.
    """

    __slots__ = ("_due", "_entropy", "_gate", "_queue", "_rules", "_same_rules", "_state", "_tell")

    def __init__(
        self,
        state: StoreState,
        *,
        rules: OperatorRules,
        same_rules: bool,
        entropy: Callable[[int], bytes],
        tell: Callable[[object], None],
    ) -> None:
        self._state = state
        self._rules = rules
        self._same_rules = same_rules
        self._entropy = entropy
        self._tell = tell
        # One reader checks at a time: many at once would only share the interpreter lock.
        self._gate = threading.Lock()
        self._due = {session.start for session in state.sessions()}
        self._queue = deque(self._due)

    def is_due(self, session: Session) -> bool:
        """Whether nobody has looked at its texts yet."""
        return session.start in self._due

    def checked(self, session: Session) -> Session:
        """The session as it may be shown. If texts had to be redacted, the store is told."""
        with self._gate:
            if session.start not in self._due:
                return session
            unclean = [text for text in unclean_texts(session, self._rules) if text is not None]
            if not unclean:
                self._due.discard(session.start)
                return session
        self._tell(self._record_of(session.start))
        return redacted_session(session, unclean, Entropy(self._entropy), self._rules)

    def check_next(self, find: Callable[[int], Session | None], rest: Callable[[], None]) -> bool:
        """Check one session in slices; False if none is left. The generation writer's thread."""
        while self._queue:
            start = self._queue.popleft()
            session = find(start) if start in self._due else None
            if session is None:
                continue
            clean = True
            for count, text in enumerate(unclean_texts(session, self._rules)):
                clean = clean and text is None
                if count % _RESTS_EVERY == 0:
                    rest()
            if clean:
                self._due.discard(start)
            else:
                self._tell(self._record_of(start))
            return True
        return False

    def _record_of(self, start: int) -> Record:
        return Record(lambda position, now: self._events(start, position, now))

    def _events(self, start: int, position: int, now: Instant) -> Sequence[Event]:
        """The events of one session's unclean texts, as it is now. The store actor's thread."""
        session = self._state.session_at(start)
        if session is None:
            return ()
        unclean = [text for text in unclean_texts(session, self._rules) if text is not None]
        if not unclean:
            return ()
        entropy = Entropy(self._entropy)
        events: list[Event] = []
        if self._same_rules:
            events += (
                Quarantined(
                    position=position + index,
                    at=now.at,
                    age=now.age,
                    reason=Reason.QUARANTINED_UNREDACTED,
                    what="payload",
                    around=text.position,
                    size=sealed_length(text.sealed),
                    digest=_digest(text),
                    kept=False,
                )
                for index, text in enumerate(unclean)
            )
        common = (position + len(events), now.at, now.age)
        events.append(_event(start, unclean, entropy, self._rules, common))
        return events


def _event(
    start: int,
    unclean: Iterable[Unclean],
    entropy: Entropy,
    rules: OperatorRules,
    common: tuple[int, int, int],
) -> TurnRedacted:
    """`common` is (position, at, age)."""
    position, at, age = common
    return TurnRedacted(
        position=position,
        at=at,
        age=age,
        reason=Reason.REDACTED_RULESET,
        session=start,
        parts=tuple(redacted_part(text, entropy, rules) for text in unclean),
    )


def _digest(unclean: Unclean) -> bytes:
    """Of the sealed bytes, nonce included: no use for guessing once they are erased."""
    sealed = unclean.sealed
    return blake2b(sealed if isinstance(sealed, bytes) else b"", digest_size=32).digest()


def redacted_session(
    session: Session,
    unclean: Iterable[Unclean],
    entropy: Entropy,
    rules: OperatorRules = _BUILT_IN,
) -> Session:
    """What the session will be once its TurnRedacted is there: by the same fold, on the side."""
    aside = StoreState()
    aside.put_session(session)
    evolve(aside, _event(session.start, unclean, entropy, rules, (1, 0, 0)))
    after = aside.session(session.tag)
    assert after is not None
    return after
