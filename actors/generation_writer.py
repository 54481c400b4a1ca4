"""The generation writer: work on files that must not hold up the store, in a thread of its own.

It alone touches the archive: it writes and retires generations, zeroes text that must be erased,
empties the quarantine and trims the log's start. Jobs run one after the other in the order they
were told, so a generation captured before a deletion is written before that deletion's erasure.
Each job works in slices of at most half a millisecond and sleeps in between, longer while the
store is busy, since whoever holds the interpreter lock holds up the store's syncs.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any, Final

import attrs

from turnfold.actors.unregistered import UnregisteredActor
from turnfold.events.errors import NotWritten, StoreFailed, TurnfoldError
from turnfold.events.log.backend import Archive

_log = logging.getLogger(__name__)

PAUSE_BUSY_S: Final = 0.001  # several commits get between two slices
PAUSE_IDLE_S: Final = 0.00005  # whoever waits for the interpreter lock gets it

Pause = Callable[[], None]
Work = Callable[[Archive, Pause], Any]


@attrs.frozen(eq=False)
class Job:
    """Work on the archive. `then` gets its result in the store actor's thread, or its error."""

    work: Work
    then: Callable[[Any, TurnfoldError | None], None]


@attrs.frozen(eq=False)
class JobDone:
    """Told to the store actor when a job has ended."""

    job: Job
    result: Any
    error: TurnfoldError | None


class GenerationWriter(UnregisteredActor):
    """`report` tells the store actor. Owned by the supervisor, which stops it after the store."""

    def __init__(
        self,
        archive: Archive,
        report: Callable[[JobDone], None],
        activity: Callable[[], int] = lambda: 0,
    ) -> None:
        """`activity` counts what the store did so far; while it stands still, sleeps are short."""
        super().__init__()
        self._archive = archive
        self._report = report
        self._activity = activity
        self._seen = 0
        self._hurry = threading.Event()

    def hurry(self) -> None:
        """Sleep no more between slices: the store is closing. Any thread."""
        self._hurry.set()

    def on_receive(self, message: Any) -> Any:
        """Run a job and report. Actor thread; nothing is raised."""
        if not isinstance(message, Job):
            return None
        result, error = None, None
        try:
            result = message.work(self._archive, self._pause)
        except TurnfoldError as refused:
            error = refused
        except OSError as failed:
            reason = failed.strerror or type(failed).__name__
            error = NotWritten(f"background work on the store's files failed: {reason}")
        except BaseException as failed:  # noqa: BLE001 - reported: the store fails with it
            _log.error("background work failed with %s", type(failed).__name__)
            error = StoreFailed(
                f"background work failed with {type(failed).__name__}; close the store, open it"
                " again and report this"
            )
        self._report(JobDone(message, result, error))
        return None

    def on_stop(self) -> None:
        """Report what is left undone, so that nobody waits for it. Actor thread."""
        for message in self.undelivered():
            if isinstance(message, Job):
                closed = StoreFailed("the store was closed before this background work was done")
                self._report(JobDone(message, None, closed))

    def _pause(self) -> None:
        """Sleep between two slices: shortly if the store did nothing since the last one."""
        activity = self._activity()
        busy, self._seen = activity != self._seen, activity
        self._hurry.wait(PAUSE_BUSY_S if busy else PAUSE_IDLE_S)
