"""Generations as the store actor sees them: when the state changed, what was written, what is next.

A generation is captured here, which costs references only, and written in the background. Then the
oldest that no longer fit were retired, and the log's start is trimmed below what is left: first its
event, durably, then the files.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from turnfold.actors.erasing import Recorded
from turnfold.actors.generation_writer import Job, Pause
from turnfold.actors.ledger import Ledger
from turnfold.events.commands import Instant
from turnfold.events.errors import TurnfoldError
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
from turnfold.events.log.backend import Archive, GenerationFile, Trimmed
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture

# Events that say what became of files; alone they are no reason for a generation.
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
Ended = Callable[[int, TurnfoldError | None], None]
"""Gets how many segments were trimmed, and what went wrong."""


class GenerationPlan:
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
        self.newest = 0  # position of the newest that this opening wrote
        self.newest_age = now().age  # when that was, or the opening
        self.is_due = False  # the state changed since then, bookkeeping aside

    def committed(self, events: Sequence[Event]) -> None:
        """A batch was committed."""
        if not self.is_due:
            self.is_due = any(not isinstance(event, BOOKKEEPING) for event in events)

    def write(self, reason: Reason, then: Ended) -> None:
        """Capture now and write in the background, if anything changed. Raises OutcomeUnknown.

        `then` is called in any case, behind everything that was ordered before.
        """
        if not self.is_due:
            self._order(Job(lambda _archive, _pause: None, lambda _none, error: then(0, error)))
            return
        log = self._ledger.log
        if log.durable < log.position:
            log.sync()
        captured, head = capture(self._ledger.state), log.head
        self.is_due = False

        def work(archive: Archive, pause: Pause) -> _Written:
            written = archive.write_generation(captured, head, pause)
            return written, archive.retire(), archive.trimmable()

        def done(result: Any, error: TurnfoldError | None) -> None:
            if error is not None:
                self.is_due = True
                then(0, error)
                return
            written, retired, trimmed = result
            error = self._recorded(self._written(written, retired, reason))
            if trimmed is None or error is not None:
                then(0, error)
            else:
                self._trim(trimmed, then)

        self._order(Job(work, done))

    def _written(
        self, written: GenerationFile, retired: Sequence[GenerationFile], reason: Reason
    ) -> list[Event]:
        now, position = self._now(), self._ledger.state.position
        self.newest, self.newest_age = written.position, now.age
        files = [
            (GenerationWritten, reason, written),
            *((GenerationRetired, Reason.RETIRED_STORAGE_LIMIT, old) for old in retired),
        ]
        return [
            kind(
                position=position + index,
                at=now.at,
                age=now.age,
                reason=why,
                generation=file.position,
                digest=file.digest,
                size=file.size,
            )
            for index, (kind, why, file) in enumerate(files, 1)
        ]

    def _trim(self, trimmed: Trimmed, then: Ended) -> None:
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
            then(0, error)
            return
        self._order(
            Job(
                lambda archive, pause: archive.trim(trimmed, pause),
                lambda _none, error: then(trimmed.segments, error),
            )
        )
