"""Upkeep: what a store owes its files besides appending, as a plan in the store actor's thread.

Erasure of text that must go, generations, retiring old ones and trimming the log. The work itself
is done by the generation writer; here it is ordered, and what was done is recorded as events.

A deletion is: SessionDeleted durable -> text zeroed, quarantine emptied -> ContentErased durable
-> receipt. A flush is: synced -> due text zeroed -> a generation if anything changed -> trimmed.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

from turnfold.actors.generation_writer import Job, Pause
from turnfold.actors.ledger import Ledger
from turnfold.actors.messages import Flushed
from turnfold.actors.reply import Outcome, Slot
from turnfold.events.commands import Instant
from turnfold.events.errors import StoreUnavailable, TurnfoldError
from turnfold.events.event import (
    ContentErased,
    DamageFound,
    Event,
    GenerationRetired,
    GenerationWritten,
    LogTrimmed,
    PermissionsNotVerified,
    PermissionsTightened,
    Quarantined,
    StoreOpened,
    SubscriberParked,
)
from turnfold.events.evolve import NO_KEY
from turnfold.events.keys import ConversationKey
from turnfold.events.log.backend import Archive, Erasure, GenerationFile, Trimmed
from turnfold.events.reasons import Reason
from turnfold.events.receipts import DeletionReceipt, ErasedSession
from turnfold.events.session import KeyTag
from turnfold.events.session_state.reports import SessionStateDeleteReport
from turnfold.events.snapshot import capture

_log = logging.getLogger(__name__)

PENDING_MAX: Final = 1024  # pending erasures beyond this are carried out at once
NS_PER_S: Final = 1_000_000_000

BOOKKEEPING: Final = (
    StoreOpened,
    GenerationWritten,
    GenerationRetired,
    Quarantined,
    ContentErased,
    LogTrimmed,
    PermissionsNotVerified,
    PermissionsTightened,
    SubscriberParked,
    DamageFound,
)


_Written = tuple[GenerationFile, Sequence[GenerationFile], Trimmed | None]


@attrs.define(eq=False)
class FlushRun:
    """A flush in the making, for all who asked while the one before it ran."""

    slots: list[Slot | None]
    reason: Reason
    erased: int = 0
    trimmed: int = 0


class Upkeep:
    """All methods in the store actor's thread.

    `order` tells the generation writer, `record` appends bookkeeping events and syncs them (it
    raises StoreUnavailable), `answer` settles one slot, `now` reads the clock.
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
    ) -> None:
        self._ledger = ledger
        self._erase_after_ns = int(erase_after_s * NS_PER_S)
        self._interval_ns = int(generation_interval_s * NS_PER_S)
        self._order = order
        self._record = record
        self._answer = answer
        self._now = now
        self.generation = 0  # position of the newest
        self._changed = False  # since that generation, bookkeeping aside
        self._generation_age = now().age
        self._pending_age: int | None = None  # since when something is to be erased
        self._quarantine_age: int | None = self._generation_age  # since this opening
        self._erasing: set[tuple[int, Reason]] = set()
        self._flush: FlushRun | None = None
        self._flush_next: list[Slot | None] = []
        self._waiting: list[Slot] = []  # of deletions under way
        self._idle: list[Callable[[], None]] = []

    # --- what the store actor tells it ---------------------------------------------------

    def committed(self, events: Sequence[Event], age: int) -> None:
        """A batch was committed."""
        if not self._changed:
            self._changed = any(not isinstance(event, BOOKKEEPING) for event in events)
        pending = len(self._ledger.state.pending)
        if not pending:
            self._pending_age = None
        elif self._pending_age is None:
            self._pending_age = age
        if pending - len(self._erasing) > PENDING_MAX:  # what is under way doesn't count again
            self._erase_due()

    def tick(self, now: Instant) -> None:
        """Carry out what has become due."""
        due = self._pending_age
        if due is not None and now.age - due >= self._erase_after_ns:
            self._pending_age = now.age  # tried again after as long, should it fail
            self._erase_due()
        since = self._quarantine_age
        if since is not None and now.age - since >= self._erase_after_ns:
            self._quarantine_age = None
            self._empty_quarantine()
        if now.age - self._generation_age >= self._interval_ns:
            self._generation_age = now.age
            if self._changed and self._flush is None:
                self._flush = FlushRun([], Reason.WRITTEN_INTERVAL)
                self._write_generation(self._flush)

    def _empty_quarantine(self) -> None:
        """What an opening set aside has lain there for its time. A failure waits for a deletion."""

        def then(_emptied: object, error: TurnfoldError | None) -> None:
            if error is not None:
                _log.warning("the quarantine was not emptied: %s", error)

        self._order(Job(lambda archive, _pause: archive.empty_quarantine(), then))

    def resume(self) -> None:
        """Carry out erasures that an earlier opening left undone."""
        self._erase_due()

    def flush(self, slot: Slot | None) -> None:
        """Begin a flush, or join the next one if one is running. The log is synced."""
        if self._flush is not None:
            self._flush_next.append(slot)
            return
        run = self._flush = FlushRun([slot], Reason.WRITTEN_FLUSH)
        self._erase_due(run)
        self._write_generation(run)

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
        self._erase_now((NO_KEY,), lambda _erased, _quarantined: report, slot)

    def _erase_now(
        self,
        tags: tuple[KeyTag, ...],
        answer_of: Callable[[Sequence[Erasure], int], Outcome],
        slot: Slot,
    ) -> None:
        """Erase what is pending for these tags, record it, and only then answer."""
        pending = tuple(p for p in self._ledger.state.pending.values() if p.tag in tags)
        self._waiting.append(slot)
        self._erasing.update((p.session, p.reason) for p in pending)

        def work(archive: Archive, pause: Pause) -> tuple[Sequence[Erasure], int]:
            erased = archive.erase(pending, pause)
            return erased, archive.empty_quarantine()

        def then(result: Any, error: TurnfoldError | None) -> None:
            self._erasing.difference_update((p.session, p.reason) for p in pending)
            outcome: Outcome = error
            if error is None:
                erased, quarantined = result
                outcome = self._record_erased(erased) or answer_of(erased, quarantined)
            if slot in self._waiting:  # else it was abandoned and has its answer
                self._waiting.remove(slot)
                self._answer(slot, outcome)
            self._check_idle()

        self._order(Job(work, then))

    def when_idle(self, then: Callable[[], None]) -> None:
        """Call `then` once nothing is under way any more."""
        self._idle.append(then)
        self._check_idle()

    def abandon(self) -> list[Slot]:
        """The slots of everything under way, which will never be answered here."""
        flushing = [*(self._flush.slots if self._flush else []), *self._flush_next]
        slots = [*self._waiting, *(slot for slot in flushing if slot is not None)]
        self._waiting, self._flush, self._flush_next = [], None, []
        self._erasing.clear()
        self._check_idle()
        return slots

    # --- erasure ---------------------------------------------------------------------------

    def _erase_due(self, run: FlushRun | None = None) -> None:
        pending = tuple(
            p for name, p in self._ledger.state.pending.items() if name not in self._erasing
        )
        if not pending:
            return
        names = {(p.session, p.reason) for p in pending}
        self._erasing |= names

        def then(result: Any, error: TurnfoldError | None) -> None:
            self._erasing -= names
            if error is None:
                error = self._record_erased(result)
            if run is not None and error is None:
                run.erased += len(result)
            self._check_idle()

        self._order(Job(lambda archive, pause: archive.erase(pending, pause), then))

    def _record_erased(self, erased: Sequence[Erasure]) -> TurnfoldError | None:
        """Append ContentErased for each; what is not recorded stays pending and is done again."""
        state = self._ledger.state
        now = self._now()
        known = [e for e in erased if (e.pending.session, e.pending.reason) in state.pending]
        events = [
            ContentErased(
                position=state.position + index,
                at=now.at,
                age=now.age,
                reason=e.pending.reason,
                session=e.pending.session,
                through=e.pending.through,
                payloads=e.payloads,
                erased_bytes=e.erased_bytes,
            )
            for index, e in enumerate(known, 1)
        ]
        return self._recorded(events)

    def _recorded(self, events: Sequence[Event]) -> TurnfoldError | None:
        if not events:
            return None
        try:
            self._record(events)
        except StoreUnavailable as error:
            return error
        return None

    # --- generations -----------------------------------------------------------------------

    def _write_generation(self, run: FlushRun) -> None:
        """Capture now, write in the background; the log is made durable through it first."""
        ledger = self._ledger
        if not self._changed:
            self._order(Job(lambda _archive, _pause: None, lambda _r, error: self._end(run, error)))
            return
        if ledger.log.durable < ledger.log.position:
            ledger.log.sync()
        captured = capture(ledger.state)
        head = ledger.log.head
        self._changed = False

        def work(archive: Archive, pause: Pause) -> _Written:
            written = archive.write_generation(captured, head, pause)
            return written, archive.retire(), archive.trimmable()

        def then(result: Any, error: TurnfoldError | None) -> None:
            trimmed: Trimmed | None = None
            if error is None:
                written, retired, trimmed = result
                error = self._record_generation(written, retired, run.reason)
            else:
                self._changed = True
            if trimmed is None or error is not None:
                self._end(run, error)
            else:
                self._trim(run, trimmed)

        self._order(Job(work, then))

    def _record_generation(
        self, written: GenerationFile, retired: Sequence[GenerationFile], reason: Reason
    ) -> TurnfoldError | None:
        self.generation = written.position
        now = self._now()
        self._generation_age = now.age
        first = self._ledger.state.position + 1
        events: list[Event] = [
            GenerationWritten(
                position=first,
                at=now.at,
                age=now.age,
                reason=reason,
                generation=written.position,
                digest=written.digest,
                size=written.size,
            )
        ]
        events += (
            GenerationRetired(
                position=first + index,
                at=now.at,
                age=now.age,
                reason=Reason.RETIRED_STORAGE_LIMIT,
                generation=old.position,
                digest=old.digest,
                size=old.size,
            )
            for index, old in enumerate(retired, 1)
        )
        return self._recorded(events)

    def _trim(self, run: FlushRun, trimmed: Trimmed) -> None:
        """Record where the log will start, durably; only then drop what is before it."""
        now = self._now()
        event = LogTrimmed(
            position=self._ledger.state.position + 1,
            at=now.at,
            age=now.age,
            reason=Reason.TRIMMED_STORAGE_LIMIT,
            first_kept=trimmed.first_kept,
            head=trimmed.head,
        )
        error = self._recorded([event])
        if error is not None:
            self._end(run, error)
            return
        run.trimmed = trimmed.segments
        self._order(
            Job(
                lambda archive, pause: archive.trim(trimmed, pause),
                lambda _result, error: self._end(run, error),
            )
        )

    def _end(self, run: FlushRun, error: TurnfoldError | None) -> None:
        """A flush has ended: answer, and begin the next if somebody waits for one."""
        if run is not self._flush:
            return  # abandoned: those who waited have their answer
        self._flush = None
        flushed = Flushed(self._ledger.log.durable, self.generation, run.erased, run.trimmed)
        for slot in run.slots:
            if slot is not None:
                self._answer(slot, flushed if error is None else error)
            elif error is not None:
                _log.warning("no generation was written at close: %s", error)
        waiting, self._flush_next = self._flush_next, []
        for slot in waiting:
            self.flush(slot)
        self._check_idle()

    def _check_idle(self) -> None:
        if self._flush is None and not self._erasing and not self._waiting:
            waiting, self._idle = self._idle, []
            for then in waiting:
                then()
