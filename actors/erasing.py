"""Erasure as the store actor sees it: what is pending, what is under way, what was done.

The zeroing is the generation writer's work. Once it is done, `ContentErased` says so in the log;
what can't be recorded stays pending and is done again, which harms nothing.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from turnfold.actors.generation_writer import Job, Pause
from turnfold.actors.ledger import Ledger
from turnfold.events.commands import Instant
from turnfold.events.errors import TurnfoldError
from turnfold.events.event import ContentErased, Event
from turnfold.events.log.backend import Archive, Erasure
from turnfold.events.reasons import Reason
from turnfold.events.session import KeyTag, PendingErasure

FRAME_EVENTS_MAX: Final = 256

Recorded = Callable[[Sequence[Event]], TurnfoldError | None]
"""Appends bookkeeping events durably (none: nothing to do); what kept it from that."""
Erased = Callable[[Sequence[Erasure], int, TurnfoldError | None], None]
"""Gets what was erased, how many files left the quarantine, and what went wrong."""


class Erasing:
    """All methods in the store actor's thread. `order` tells the generation writer."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        order: Callable[[Job], None],
        recorded: Recorded,
        now: Callable[[], Instant],
    ) -> None:
        self._ledger = ledger
        self._order = order
        self._recorded = recorded
        self._now = now
        self._under_way: set[tuple[int, Reason]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether an erasure is under way."""
        return bool(self._under_way)

    @property
    def waiting(self) -> int:
        """How many erasures are pending and not under way."""
        return len(self._ledger.state.pending) - len(self._under_way)

    def erase_waiting(self, then: Erased) -> None:
        """Erase what is pending and not under way; nothing is ordered if that is nothing.

        If a deletion is among it, which was cut short, its quarantine was perhaps not emptied.
        """
        pending = [
            item for name, item in self._ledger.state.pending.items() if name not in self._under_way
        ]
        if pending:
            deleted = any(item.reason is Reason.ERASED_DELETED for item in pending)
            self._erase(pending, then, quarantine=deleted)

    def erase_of(self, tags: Sequence[KeyTag], then: Erased) -> None:
        """Erase everything that is pending for these tags, and empty the quarantine.

        What is under way already is done again: when this is done, all of it is.
        """
        pending = [item for item in self._ledger.state.pending.values() if item.tag in tags]
        self._erase(pending, then, quarantine=True)

    def forget(self) -> None:
        """The store has failed: nothing is waited for any more."""
        self._under_way.clear()

    def _erase(self, pending: Sequence[PendingErasure], then: Erased, *, quarantine: bool) -> None:
        log = self._ledger.log
        if log.durable < log.position:
            log.sync()  # no text may go before its ending is durable; a failure poisons the store
        names = {(item.session, item.reason) for item in pending}
        self._under_way |= names

        def work(archive: Archive, pause: Pause) -> tuple[Sequence[Erasure], int]:
            erased = archive.erase(pending, pause)
            return erased, archive.empty_quarantine() if quarantine else 0

        def done(result: Any, error: TurnfoldError | None) -> None:
            self._under_way -= names
            erased, emptied = result if error is None else ((), 0)
            then(erased, emptied, error or self._record(erased))

        self._order(Job(work, done))

    def _record(self, erased: Sequence[Erasure]) -> TurnfoldError | None:
        """Append ContentErased for each that is still pending, some at a time."""
        pending = self._ledger.state.pending
        known = [e for e in erased if (e.pending.session, e.pending.reason) in pending]
        for start in range(0, len(known), FRAME_EVENTS_MAX):
            error = self._recorded(self._events(known[start : start + FRAME_EVENTS_MAX]))
            if error is not None:
                return error
        return None

    def _events(self, erased: Sequence[Erasure]) -> list[Event]:
        now, position = self._now(), self._ledger.state.position
        return [
            ContentErased(
                position=position + index,
                at=now.at,
                age=now.age,
                reason=item.pending.reason,
                session=item.pending.session,
                through=item.pending.through,
                payloads=item.payloads,
                erased_bytes=item.erased_bytes,
            )
            for index, item in enumerate(erased, 1)
        ]
