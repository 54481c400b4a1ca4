"""The store actor: the one writer. It alone decides, appends and publishes.

    told Submit -> decide -> frame -> (inbox empty or batch full) one write, one sync
                -> publish -> settle every slot of the batch -> feed

NotWritten takes a batch back and the store goes on. OutcomeUnknown poisons it: what was decided
may or may not be there, nothing is tried again, later commands are refused, reads go on. Anything
else that goes wrong answers StoreFailed to everything pending and closes the store to commands.
No exception leaves `on_receive`: it would end the actor and leave its inbox unanswered.
"""

import logging
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from turnfold.actors.admission import Admission, closed_error
from turnfold.actors.batch import GroupCommit, Publish, again
from turnfold.actors.clock import AgeClock
from turnfold.actors.generation_writer import Job, JobDone
from turnfold.actors.ledger import Ledger
from turnfold.actors.messages import CommandFailed, Open, Record, Shut, Submit, Tick
from turnfold.actors.reply import BlockingSlot
from turnfold.actors.unregistered import UnregisteredActor
from turnfold.actors.upkeep import Upkeep
from turnfold.events.commands import Conform, DeleteKey, Instant, Sweep
from turnfold.events.errors import (
    InvalidInput,
    NotWritten,
    OutcomeUnknown,
    StoreFailed,
    StoreUnavailable,
    TurnfoldError,
)
from turnfold.events.event import Event
from turnfold.events.receipts import DeletionReceipt
from turnfold.events.session_state.reports import SessionStateDeleteReport

_log = logging.getLogger(__name__)

_UNFINISHED = (
    "the store was closed before this work was finished; it goes on when the store is opened again"
)


@attrs.frozen(eq=False)
class Wiring:
    """What a store actor needs beside its ledger. `publish` tells the feed, `order` the
    generation writer, `arm` wakes the ticker; none of them blocks. `read_only` refuses all."""

    clock: AgeClock
    admission: Admission
    order: Callable[[Job], None]
    publish: Publish
    arm: Callable[[], None]
    sync_each_batch: bool
    erase_after_s: float
    generation_interval_s: float
    read_only: TurnfoldError | None = None


class StoreActor(UnregisteredActor):
    """Constructed, run and stopped by the supervisor. All methods but `failed`: actor thread."""

    def __init__(self, ledger: Ledger, wiring: Wiring) -> None:
        super().__init__()
        self._ledger = ledger
        self._clock = wiring.clock
        self._publish = wiring.publish
        self._arm = wiring.arm
        self.batch = GroupCommit(ledger, wiring.admission, sync_each_batch=wiring.sync_each_batch)
        self.batch.refusal = wiring.read_only
        self._upkeep = Upkeep(
            ledger,
            erase_after_s=wiring.erase_after_s,
            generation_interval_s=wiring.generation_interval_s,
            order=wiring.order,
            record=self._record,
            answer=self.batch.answer,
            now=wiring.clock.now,
            by_itself=not wiring.clock.clock.recorded,
        )
        # Recorded time passes with commands only: nothing happens between them, so that the same
        # input gives the same bytes.
        self._time_passes = not wiring.clock.clock.recorded
        self._marked = True  # a watermark follows the last batch
        self._batches_at_tick = 0
        self._shutting: BlockingSlot | None = None

    @property
    def failed(self) -> bool:
        """Whether commands are refused. Any thread."""
        return self.batch.refusal is not None

    @property
    def generation(self) -> int:
        """Position of the newest generation that this opening wrote. Any thread."""
        return self._upkeep.generation

    # --- pykka's hooks -------------------------------------------------------------------

    def on_receive(self, message: Any) -> Any:
        """Nothing is raised."""
        try:
            if message.__class__ is Submit:
                self._run_batch(message)
                return None
            return self._receive(message)
        except OutcomeUnknown as error:
            self._ledger.drop()
            self.batch.fail(error)
            poisoned = "a sync failed and the store takes no more commands; open it again"
            self._give_up(StoreFailed(poisoned), error)
        except BaseException as error:  # noqa: BLE001 - an exception would end the actor
            failure = self._failure(error)
            self._ledger.drop()  # nobody may write what its senders were told has failed
            self.batch.fail(failure)
            self._give_up(failure, failure)
        if isinstance(message, Open):
            message.slot.settle(self.batch.refusal)
        return None

    def on_stop(self) -> None:
        """Answer everything that waits: nobody will after this."""
        self._give_up(closed_error(), StoreFailed(_UNFINISHED))
        self.answer_undelivered()

    def answer_undelivered(self) -> None:
        """Answer StoreClosed to what is left in the inbox; also after the thread has ended."""
        for message in self.undelivered():
            if isinstance(message, Submit):
                self.batch.answer(message.slot, closed_error())
            elif isinstance(message, Open | Shut):
                message.slot.settle(closed_error())

    # --- commands ----------------------------------------------------------------------------

    def _run_batch(self, submit: Submit) -> None:
        batch, inbox, clock = self.batch, self.actor_inbox, self._clock
        now = clock.now() if submit.at is None else clock.advance_to(submit.at)
        held: list[Any] = []
        batch.take(submit, now)
        while not (inbox.empty() or batch.is_full):
            envelope = inbox.get()
            submit = envelope.message
            if submit.__class__ is not Submit:
                held.append(envelope)
                continue
            if submit.at is not None:
                now = clock.advance_to(submit.at)
            batch.take(submit, now)
        if self._ledger.frames and self._ledger.has_overdue(now.age):
            self._ledger.decide(Sweep(), now)
        self._commit(now)
        for envelope in held:
            if isinstance(envelope.message, Tick | JobDone | Record):
                self.on_receive(envelope.message)
            else:  # pykka's own, or a foreign one with a future to answer: its loop does that
                inbox.put(envelope)

    def _commit(self, now: Instant) -> bool:
        """Whether the batch was written. Raises OutcomeUnknown."""
        committed = self.batch.commit(now)
        if committed is None:
            return False
        self._spread(committed.events, now)
        for submit, outcome in committed.later:
            if isinstance(outcome, DeletionReceipt):
                assert isinstance(submit.request, DeleteKey)
                self._upkeep.delete(submit.request.key, outcome, submit.slot)
            elif isinstance(outcome, SessionStateDeleteReport):
                self._upkeep.erase_records(outcome, submit.slot)
            else:
                self._upkeep.flush(submit.slot)
        return True

    def _spread(self, events: tuple[Event, ...], now: Instant) -> None:
        """What follows every commit."""
        if events:
            self._marked = False
            self._arm()
            self._upkeep.committed(events, now.age)
        self._publish(events, self._ledger.log.durable)

    # --- other messages ----------------------------------------------------------------------

    def _receive(self, message: Any) -> Any:
        if isinstance(message, Tick):
            self._tick()
        elif isinstance(message, JobDone):
            if isinstance(message.error, StoreFailed):
                self._give_up(message.error, message.error)
            message.job.then(message.result, message.error)
        elif isinstance(message, Record):
            self._record_from(message)
        elif isinstance(message, Open):
            self._open(message)
        elif isinstance(message, Shut):
            self._shut(message)
        else:
            name = type(message).__name__
            return CommandFailed(InvalidInput(f"send {name} through store.ref, not to the actor"))
        return None

    def _open(self, message: Open) -> None:
        """The opening's own frames: one of its events, then sweeps and what limits demand."""
        if self.batch.refusal is not None:  # read-only
            message.slot.settle(None)
            return
        ledger = self._ledger
        now = self._clock.now()
        try:
            ledger.take(message.build(ledger.state.position + 1, now))
            while ledger.decide(Sweep(recovered=True), now):
                pass
            while ledger.decide(Conform(), now):
                pass
            events = ledger.commit(sync=True, bookkeeping=True)
        except StoreUnavailable as error:
            self.batch.refusal = error
            message.slot.settle(error)
            return
        self._spread(events, now)
        self._mark(now)  # so that readers beside this store see its opening at once
        if self._time_passes:
            self._upkeep.erase_pending()
        message.slot.settle(None)

    def _tick(self) -> None:
        if self.batch.refusal is not None or not self._time_passes:
            return
        ledger, now = self._ledger, self._clock.now()
        if ledger.has_overdue(now.age):
            ledger.decide(Sweep(), now)  # a batch without commands: bookkeeping
            if self._commit(now) and ledger.has_overdue(now.age):
                self._arm()  # there are more than one frame of them
        if not self._marked:
            self._mark_when_idle(now)
        self._upkeep.tick(now)

    def _mark_when_idle(self, now: Instant) -> None:
        """A tick without a batch since the last one: mark; else come back with the next tick."""
        batches = self.batch.counts.batches
        if self._batches_at_tick == batches:
            self._mark(now)
        else:
            self._batches_at_tick = batches
            self._arm()

    def _mark(self, now: Instant) -> None:
        """Say in the log that its last batch is durable: a watermark, for readers and recovery."""
        log = self._ledger.log
        try:
            if log.durable < log.position:
                log.sync()
                self._publish((), log.durable)
            log.watermark(now)
        except NotWritten:  # a full disk: evidence comes with the next frame that fits
            self.batch.counts.not_written += 1
        self._marked = True

    def _record_from(self, message: Record) -> None:
        if self.batch.refusal is not None:
            return
        events = message.build(self._ledger.state.position + 1, self._clock.now())
        if not events:
            return
        try:
            self._record(events)
        except NotWritten:  # whoever told it tells it again, or it is seen again at open
            self.batch.counts.not_written += 1

    def _record(self, events: Sequence[Event]) -> None:
        """Append bookkeeping events and sync. Raises NotWritten, OutcomeUnknown, StoreFailed."""
        if self.batch.refusal is not None:
            raise StoreFailed("the store takes no more events; open it again")
        self._ledger.take(events)
        committed = self._ledger.commit(sync=True, bookkeeping=True)
        self.batch.counts.events += len(committed)
        self._spread(committed, self._clock.now())

    def _shut(self, message: Shut) -> None:
        """Flush, then mark the log's end and take no more commands."""
        self._shutting = message.slot
        if self.batch.refusal is not None:
            self._finish()
            return
        self._ledger.commit(sync=True)
        self._upkeep.flush(None)
        self._upkeep.when_idle(self._finish)

    def _finish(self, error: TurnfoldError | None = None) -> None:
        """Settle the one who shuts the store, once."""
        slot, self._shutting = self._shutting, None
        if slot is None:
            return
        if self.batch.refusal is None:
            self.batch.refusal = closed_error()
            try:
                self._ledger.log.watermark(self._clock.now())
            except StoreUnavailable:  # a full disk, say: the next opening finds an unclean end
                self.batch.counts.not_written += 1
        slot.settle(error)

    # --- when it goes wrong ------------------------------------------------------------------

    def _failure(self, error: BaseException) -> StoreFailed:
        """What to tell about an error that should not happen; never its text: may be content."""
        name = type(error).__name__
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "?"
        _log.error("the store failed with %s at %s", name, place)
        return StoreFailed(
            f"the store failed with {name} at {place}: whether pending commands were stored is"
            " unknown; open the store again, see what is there, and report this"
        )

    def _give_up(self, refusal: TurnfoldError, error: TurnfoldError) -> None:
        """Refuse commands from now on; what is under way gets `error`."""
        if self.batch.refusal is None:
            self.batch.refusal = refusal
        for slot in self._upkeep.abandon():
            self.batch.answer(slot, again(error))
        self._finish(error)
