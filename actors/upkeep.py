"""Upkeep: what a store owes its files besides appending, as a plan in the store actor's thread.

The work itself is done by the generation writer; here it is ordered, and its end is answered.

A deletion is: SessionDeleted durable -> text zeroed, quarantine emptied -> ContentErased durable
-> receipt. A flush is: synced -> pending text zeroed -> a generation if anything changed -> the
log trimmed.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final

import attrs

from turnfold.actors.erasing import Erasing
from turnfold.actors.generation_plan import GenerationPlan
from turnfold.actors.generation_writer import Job
from turnfold.actors.ledger import Ledger
from turnfold.actors.messages import Flushed
from turnfold.actors.reply import Outcome, Slot
from turnfold.events.commands import Instant
from turnfold.events.errors import NotErased, OutcomeUnknown, StoreUnavailable, TurnfoldError
from turnfold.events.event import Event
from turnfold.events.evolve import NO_KEY
from turnfold.events.keys import ConversationKey
from turnfold.events.log.backend import Erasure
from turnfold.events.reasons import Reason
from turnfold.events.receipts import DeletionReceipt, ErasedSession
from turnfold.events.session import KeyTag
from turnfold.events.session_state.reports import SessionStateDeleteReport

_log = logging.getLogger(__name__)

PENDING_MAX: Final = 1024  # pending erasures beyond this are carried out at once
NS_PER_S: Final = 1_000_000_000


@attrs.define(eq=False)
class FlushRun:
    """A flush under way, for all who asked while the one before it ran; None stands for nobody."""

    slots: list[Slot | None]
    erased: int = 0
    error: TurnfoldError | None = None


class Upkeep:
    """All methods in the store actor's thread.

    `order` tells the generation writer, `record` appends bookkeeping events and syncs them (it
    raises StoreUnavailable), `answer` settles one slot, `now` reads the clock. Without `by_itself`
    a backlog of erasures waits for a flush.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        erase_after_s: float,
        generation_interval_s: float,
        order: Callable[[Job], None],
        record: Callable[[Sequence[Event]], None],
        answer: Callable[[Slot, Outcome], None],
        now: Callable[[], Instant],
        by_itself: bool = True,
    ) -> None:
        self._ledger = ledger
        self._by_itself = by_itself
        self._erase_after_ns = int(erase_after_s * NS_PER_S)
        self._interval_ns = int(generation_interval_s * NS_PER_S)
        self._order = order
        self._record = record
        self._answer = answer
        self._erasing = Erasing(ledger, order=order, recorded=self._recorded, now=now)
        self._generations = GenerationPlan(ledger, order=order, recorded=self._recorded, now=now)
        self._tried_age = now().age  # when the interval was up last
        self._pending_age: int | None = None  # since when something is to be erased
        self._quarantine_age: int | None = self._tried_age  # since this opening
        self._flush: FlushRun | None = None
        self._flush_next: list[Slot | None] = []
        self._waiting: list[Slot] = []  # of deletions under way
        self._base = 0  # of the segment in which the log's size was looked at
        self._idle: list[Callable[[], None]] = []

    @property
    def generation(self) -> int:
        """Position of the newest generation that this opening wrote, or 0."""
        return self._generations.newest

    # --- when something happened -----------------------------------------------------------

    def committed(self, events: Sequence[Event], age: int) -> None:
        """A batch was committed."""
        self._generations.committed(events)
        if not self._ledger.state.pending:
            self._pending_age = None
        elif self._pending_age is None:
            self._pending_age = age
        if self._by_itself and self._erasing.waiting > PENDING_MAX:
            self.erase_pending()
        if self._ledger.log.base != self._base:
            self._base = self._ledger.log.base
            self._bound_log()

    def tick(self, now: Instant) -> None:
        """Carry out what has become due. Raises OutcomeUnknown."""
        since = self._pending_age
        if since is not None and now.age - since >= self._erase_after_ns:
            self._pending_age = now.age  # tried again after as long, should it fail
            self.erase_pending()
        since = self._quarantine_age
        if since is not None and now.age - since >= self._erase_after_ns:
            self._quarantine_age = None
            self._empty_quarantine()
        since = max(self._tried_age, self._generations.newest_age)
        if now.age - since >= self._interval_ns:
            self._tried_age = now.age
            if self._generations.is_due and self._flush is None:
                run = self._flush = FlushRun([])
                self._write_generation(run, Reason.WRITTEN_INTERVAL)

    def erase_pending(self) -> None:
        """Erase whatever must be erased, also what an earlier opening left undone."""
        self._erasing.erase_waiting(lambda _erased, _emptied, _error: self._check_idle())

    def _bound_log(self) -> None:
        """A segment was begun: if the log nears its limit, the next generation is due now."""

        def then(is_full: bool, error: TurnfoldError | None) -> None:
            if error is not None:
                _log.warning("the size of the log could not be told: %s", error)
            elif is_full and self._flush is None and self._generations.is_due:
                run = self._flush = FlushRun([])
                self._write_generation(run, Reason.WRITTEN_INTERVAL)

        self._order(Job(lambda archive, _pause: archive.is_log_full(), then))

    def _empty_quarantine(self) -> None:
        """What an opening set aside has lain there for its time. A failure waits for a deletion."""

        def then(_emptied: object, error: TurnfoldError | None) -> None:
            if error is not None:
                _log.warning("the quarantine was not emptied: %s", error)

        self._order(Job(lambda archive, _pause: archive.empty_quarantine(), then))

    # --- what is asked for -------------------------------------------------------------------

    def flush(self, slot: Slot | None) -> None:
        """Begin a flush, or join the next one if one is running. The log is synced."""
        if self._flush is not None:
            self._flush_next.append(slot)
            return
        run = self._flush = FlushRun([slot])

        def erased(done: Sequence[Erasure], _emptied: int, error: TurnfoldError | None) -> None:
            run.erased = len(done)
            run.error = error

        self._erasing.erase_waiting(erased)
        self._write_generation(run, Reason.WRITTEN_FLUSH)

    def delete(self, key: ConversationKey, receipt: DeletionReceipt, slot: Slot) -> None:
        """Erase what was ever said under a key. Its SessionDeleted is durable.

        Session-state records have no key; those that were deleted are erased with it.
        """

        def receipt_of(erased: Sequence[Erasure], quarantined: int) -> Outcome:
            sessions = tuple(
                ErasedSession(e.pending.session, e.pending.reason, e.payloads, e.erased_bytes)
                for e in erased
                if e.pending.tag != NO_KEY
            )
            return attrs.evolve(receipt, erased=sessions, quarantined_files=quarantined)

        self._erase_now((self._ledger.names(key), NO_KEY), receipt_of, slot)

    def erase_records(self, report: SessionStateDeleteReport, slot: Slot) -> None:
        """Erase session-state records that are gone. Their SessionStateDeleted is durable."""
        self._erase_now((NO_KEY,), lambda _erased, _emptied: report, slot)

    def _erase_now(
        self,
        tags: tuple[KeyTag, ...],
        answer_of: Callable[[Sequence[Erasure], int], Outcome],
        slot: Slot,
    ) -> None:
        """Erase what is pending for these tags, record it, and only then answer."""
        self._waiting.append(slot)

        def then(erased: Sequence[Erasure], emptied: int, error: TurnfoldError | None) -> None:
            if slot in self._waiting:  # else it was abandoned and has its answer
                self._waiting.remove(slot)
                self._answer(slot, answer_of(erased, emptied) if error is None else _late(error))
            self._check_idle()

        self._erasing.erase_of(tags, then)

    # --- ends ----------------------------------------------------------------------------------

    def when_idle(self, then: Callable[[], None]) -> None:
        """Call `then` once nothing is under way any more."""
        self._idle.append(then)
        self._check_idle()

    def abandon(self) -> list[Slot]:
        """The slots of everything under way, which will never be answered here."""
        flushing = [*(self._flush.slots if self._flush else []), *self._flush_next]
        slots = [*self._waiting, *(slot for slot in flushing if slot is not None)]
        self._waiting, self._flush, self._flush_next = [], None, []
        self._erasing.forget()
        self._check_idle()
        return slots

    def _write_generation(self, run: FlushRun, reason: Reason) -> None:
        def then(trimmed: int, error: TurnfoldError | None) -> None:
            if run is self._flush:  # else it was abandoned: those who waited have their answer
                self._end_flush(run, trimmed, run.error or error)

        self._generations.write(reason, then)

    def _end_flush(self, run: FlushRun, trimmed: int, error: TurnfoldError | None) -> None:
        """Answer, and begin the next flush if somebody waits for one."""
        self._flush = None
        flushed = Flushed(self._ledger.log.durable, self.generation, run.erased, trimmed)
        for slot in run.slots:
            if slot is not None:
                self._answer(slot, flushed if error is None else error)
            elif error is not None:
                _log.warning("the last flush before closing was not whole: %s", error)
        waiting, self._flush_next = self._flush_next, []
        for slot in waiting:
            self.flush(slot)
        self._check_idle()

    def _check_idle(self) -> None:
        if self._flush is None and not self._erasing.is_busy and not self._waiting:
            waiting, self._idle = self._idle, []
            for then in waiting:
                then()

    def _recorded(self, events: Sequence[Event]) -> TurnfoldError | None:
        if not events:
            return None
        try:
            self._record(events)
        except OutcomeUnknown:
            raise  # the store actor gives up, and everything under way with it
        except StoreUnavailable as error:
            return error
        return None


def _late(error: TurnfoldError) -> NotErased:
    """What a deletion is told whose text could not be zeroed, or not recorded as zeroed."""
    return NotErased(
        "the deletion is recorded and nobody can read the text, but it is not erased from every"
        f" file yet ({type(error).__name__}: {error}); make room or repair the disk, then delete"
        " again; the store also tries by itself"
    )
