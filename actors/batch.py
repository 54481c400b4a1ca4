"""Group commit: commands decided one by one, made durable together, answered together.

Every answer of a batch, refusals and duplicates included, waits for the commit of the batch it
was decided on and fails with it.
"""

from collections.abc import Callable
from typing import Any, Final, cast

import attrs

from turnfold.actors.admission import Admission
from turnfold.actors.ledger import Ledger
from turnfold.actors.messages import Flush, Submit, Sync, Synced
from turnfold.actors.reply import Outcome, ReplyCounts, Slot, settle_all
from turnfold.actors.stats import Counts
from turnfold.events.commands import AddTurns, DeleteKey, DeleteState, ExpireSession, Instant
from turnfold.events.errors import InvalidInput, NotWritten, TurnfoldError
from turnfold.events.event import Event
from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt, Receipt
from turnfold.events.session_state.reports import (
    SessionStateDeleteReport,
    SessionStateWriteReport,
)

BATCH_COMMANDS_MAX: Final = 512
BATCH_BYTES_MAX: Final = 4 * 1024 * 1024
# Requests that free space or write none: on a full disk they are tried again without the others.
_FRUGAL: Final = (ExpireSession, DeleteKey, DeleteState, Sync, Flush)


@attrs.define(eq=False)
class Committed:
    """A batch that was committed. `later` are requests whose work only begins now."""

    events: tuple[Event, ...]
    later: list[tuple[Submit, Outcome]]


class GroupCommit:
    """All methods in the store actor's thread. `door` is the only one whose requests count."""

    __slots__ = (
        "_admission",
        "_ledger",
        "_needs_space",
        "_sync_each_batch",
        "_taken",
        "_wants_sync",
        "counts",
        "door",
        "refusal",
        "replies",
    )

    def __init__(self, ledger: Ledger, admission: Admission, *, sync_each_batch: bool) -> None:
        self._ledger = ledger
        self._admission = admission
        self._sync_each_batch = sync_each_batch
        self._taken: list[tuple[Submit, Outcome]] = []
        self._wants_sync = False
        self._needs_space = False
        self.door: object = None
        self.refusal: TurnfoldError | None = None  # what every command gets, if anything
        self.counts = Counts()
        self.replies = ReplyCounts()

    @property
    def is_full(self) -> bool:
        """Whether the batch should be committed before more is taken."""
        return len(self._taken) >= BATCH_COMMANDS_MAX or self._ledger.size >= BATCH_BYTES_MAX

    def take(self, submit: Submit, now: Instant) -> None:
        """Decide one command; its outcome waits for the commit. Only bugs are raised."""
        request: Any = submit.request
        outcome: Outcome
        try:
            if submit.door is not self.door:
                raise InvalidInput("this command did not pass the store's door; use store.ref")
            if self.refusal is not None:
                raise again(self.refusal)
            if request.__class__ is AddTurns:
                answer: Any = self._ledger.decide(request, now)
                outcome = answer[0] if submit.single else answer
                self._needs_space = True
            elif isinstance(request, (Sync, Flush)):
                self._wants_sync = True
                outcome = None
            else:
                outcome = self._ledger.decide(request, now)
                self._needs_space = self._needs_space or not isinstance(request, _FRUGAL)
                self._wants_sync = self._wants_sync or _promises_durability(outcome)
        except TurnfoldError as error:
            self.counts.refused += 1
            outcome = error
        except BaseException:
            self._taken.append((submit, None))  # so that it is answered with the others
            raise
        self._taken.append((submit, outcome))

    def commit(self, now: Instant) -> Committed | None:
        """Make the batch durable, publish it, answer everybody; None if it was not written.

        Raises OutcomeUnknown; the batch is unanswered then, see `fail`.
        """
        try:
            events = self._ledger.commit(
                # A poisoned log is never synced again; what is refused waits for nothing.
                sync=self.refusal is None and (self._sync_each_batch or self._wants_sync),
                bookkeeping=not self._needs_space,
            )
        except NotWritten as error:
            if not self._save_frugal(error, now):
                return None
            try:
                events = self._ledger.commit(sync=True, bookkeeping=True)
            except NotWritten as still:
                self.fail(still)
                return None
        taken = self._cleared()
        counts = self.counts
        counts.batches += 1
        counts.commands += len(taken)
        counts.events += len(events)
        return Committed(events, self._settle(taken))

    def fail(self, error: TurnfoldError) -> None:
        """Answer everything that was taken with this error."""
        taken = self._cleared()
        # Permits first: who has its answer finds its place free.
        self._admission.leave(len(taken))
        settle_all([(submit.slot, again(error)) for submit, _ in taken], self.replies)

    def answer(self, slot: Slot, outcome: Outcome) -> None:
        """Answer one admitted request outside a batch."""
        self._admission.leave(1)
        settle_all([(slot, outcome)], self.replies)

    def _cleared(self) -> list[tuple[Submit, Outcome]]:
        """Begin a new batch; what was taken for this one."""
        taken, self._taken = self._taken, []
        self._wants_sync = self._needs_space = False
        return taken

    def _settle(self, taken: list[tuple[Submit, Outcome]]) -> list[tuple[Submit, Outcome]]:
        """Answer what is done; what goes on in the background is given back."""
        later: list[tuple[Submit, Outcome]] = []
        done: list[tuple[Slot, Outcome]] = []
        durable = self._ledger.log.durable
        for submit, outcome in taken:
            if outcome is None:  # Sync or Flush
                if isinstance(submit.request, Flush):
                    later.append((submit, None))
                else:
                    done.append((submit.slot, Synced(durable)))
            elif _is_erasing(outcome):
                later.append((submit, outcome))
            elif self._sync_each_batch:
                done.append((submit.slot, outcome))
            else:
                done.append((submit.slot, _with_durability(outcome, durable)))
        self._admission.leave(len(done))
        settle_all(done, self.replies)
        return later

    def _save_frugal(self, error: NotWritten, now: Instant) -> bool:
        """After NotWritten: fail what needs space, take again what doesn't, if both are there."""
        self.counts.not_written += 1
        frugal: list[Submit] = []
        if self._needs_space:
            frugal = [submit for submit, _ in self._taken if isinstance(submit.request, _FRUGAL)]
            self._taken = [x for x in self._taken if not isinstance(x[0].request, _FRUGAL)]
        self.fail(error)
        for submit in frugal:
            self.take(submit, now)
        return bool(frugal)


def _is_erasing(outcome: Outcome) -> bool:
    """Whether it is a deletion that is answered after the erasure."""
    if isinstance(outcome, SessionStateDeleteReport):
        return outcome.applied
    return outcome.__class__ is DeletionReceipt


def _promises_durability(outcome: Outcome) -> bool:
    """Whether the answer says that something is stored or gone for good, in either durability."""
    if isinstance(outcome, SessionStateWriteReport):
        return outcome.applied
    return _is_erasing(outcome)


def _with_durability(outcome: Outcome, durable: int) -> Outcome:
    """In durability "flush", a receipt says whether a sync has covered what it answers."""
    if isinstance(outcome, tuple):
        receipts = cast("tuple[Receipt, ...]", outcome)
        return tuple(_with_durability(receipt, durable) for receipt in receipts)
    if isinstance(outcome, Receipt | ExpiryReceipt) and outcome.position > durable:
        return attrs.evolve(outcome, durable=False)
    return outcome


def again(error: TurnfoldError) -> TurnfoldError:
    """An error of its own for each waiter: a raised exception collects its raiser's traceback."""
    return type(error)(*error.args)


Publish = Callable[[tuple[Event, ...], int], None]
"""How the feed gets a batch's events and the highest durable position."""
