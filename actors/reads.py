"""Reads: contexts and metadata from published values, in the reader's thread.

No read waits for the store actor or for a sync. A reader sees every acknowledged turn, and never a
session whose age has passed its time, whether or not the sweep has come to it.
"""

from collections.abc import Callable, Iterator
from typing import Final

from turnfold.actors.clock import AgeClock
from turnfold.actors.door import check_key
from turnfold.actors.messages import METADATA_PAGE, GetContext, ListMetadata
from turnfold.actors.published import Published
from turnfold.actors.recheck import Recheck
from turnfold.events.context import Context, project
from turnfold.events.context_messages import Drawings
from turnfold.events.decide import Names
from turnfold.events.keys import ConversationKey
from turnfold.events.metadata import MetadataPage, list_page
from turnfold.events.reasons import Reason
from turnfold.events.session import EndedSession, Session

QUICK_BYTES_MAX: Final = 512 * 1024
QUICK_SESSIONS_MAX: Final = 4096


class Reads:
    """`boundary_key` makes the delimiters of untrusted blocks unforgeable. Any thread."""

    __slots__ = ("_boundary_key", "_clock", "_names", "_published", "_recheck")

    def __init__(
        self,
        published: Published,
        clock: AgeClock,
        names: Names,
        recheck: Recheck,
        boundary_key: bytes,
    ) -> None:
        self._recheck = recheck
        self._published = published
        self._clock = clock
        self._names = names
        self._boundary_key = boundary_key

    def context(
        self,
        key: ConversationKey,
        *,
        budget_bytes: int | None = None,
        budget_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> Context:
        """What a language model would see of this key, and of no other.

        A budget in bytes, or in tokens as `count_tokens` counts them, drops whole exchanges,
        oldest first. Raises InvalidKey, InvalidInput, and CorruptData if a recovered summary is
        malformed.
        """
        check_key(key)
        session, ended = self._published.find(self._names(key))
        if session is not None and session.is_overdue(self._clock.age()):
            ended, session = _expired(session), None
        drawings: Drawings | None = None
        if session is not None:
            if self._recheck.is_due(session):
                session = self._recheck.checked(session)
            else:
                drawings = self._published.drawings(session.start)
        return project(
            session,
            ended if session is None else None,
            secret=self._boundary_key,
            drawings=drawings,
            budget_bytes=budget_bytes,
            budget_tokens=budget_tokens,
            count_tokens=count_tokens,
        )

    def list_metadata(self, *, after: int = 0, size: int = METADATA_PAGE) -> MetadataPage:
        """`size` live sessions (1 to 1,024) in order of their start, beginning after `after`.

        `next_after` of the page asks for the next one. Raises InvalidInput.
        """
        # list_page keeps a heap of one page: sorting everything would keep the interpreter lock.
        return list_page(self._live(), after=after, size=size)

    def _live(self) -> Iterator[Session]:
        age = self._clock.age()
        for session in self._published.sessions():
            if not session.is_overdue(age):
                yield session

    def is_quick(self, message: GetContext | ListMetadata) -> bool:
        """Whether it takes a few milliseconds at most: not much is read, and all of it is checked.

        Raises InvalidKey.
        """
        if isinstance(message, ListMetadata):
            return self._published.active <= QUICK_SESSIONS_MAX
        check_key(message.key)
        session, _ended = self._published.find(self._names(message.key))
        return session is None or (
            session.size <= QUICK_BYTES_MAX and not self._recheck.is_due(session)
        )


def _expired(session: Session) -> EndedSession:
    """How an overdue session will have ended once the sweep has come to it."""
    return EndedSession(Reason.EXPIRED_INACTIVITY, session.last, session.session_id, session.start)
