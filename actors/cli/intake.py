"""Sending many turns into a store without waiting for each: the disk's syncs then cover many.

The order of lines is the order of commands, so it is kept for every key and for all of them
together. What became of a line is known when the sync that covers it has returned.
"""

from collections import deque

from turnfold.actors.cli.ingest_lines import ChatLine
from turnfold.actors.messages import Sync
from turnfold.actors.reply import BlockingSlot
from turnfold.actors.supervisor import Supervisor
from turnfold.events.commands import TurnToAdd
from turnfold.events.errors import CommandRefused, InvalidInput, TurnfoldError
from turnfold.events.receipts import Receipt


class Intake:
    """Puts lines into one open store. One thread calls it; answers come in the store's thread.

    `stored` counts turns that are in the store now, `duplicates` those that were there before
    under their turn id; `refused` are the places of lines that the store said no to, and why.
    """

    def __init__(self, store: Supervisor, *, recorded: bool) -> None:
        self._door = store.door
        self._recorded = recorded
        self._failure: TurnfoldError | None = None
        self._failed_at = ""
        self.stored = 0
        self.duplicates = 0
        self.refused: deque[tuple[str, TurnfoldError]] = deque()

    def send(self, line: ChatLine, place: str) -> None:
        """Send a line; waits while too many are under way. `place` names it in reports.

        Raises InvalidInput if the line can't be a command, and what a line before failed with.
        """
        if self._failure is not None:
            raise self.failure()
        request = self._door.add_turns(line.key, (TurnToAdd(line.turn, line.turn_id),), None)
        self._door.admission.enter(None)
        self._door.send(request, _LineSlot(self, place), True, line.at if self._recorded else None)

    def finish(self) -> None:
        """Wait until every line is answered. Raises what one of them failed with."""
        try:
            self._door.call(Sync(), False, None)
        finally:
            if self._failure is not None:
                raise self.failure()

    def failure(self) -> TurnfoldError:
        """The first failure, which says from which line on nothing may be stored."""
        error = self._failure
        assert error is not None
        return type(error)(
            f"from {self._failed_at} on nothing, or not everything, was stored: {error}"
        )

    def settled(self, place: str, outcome: object) -> None:
        """The store's answer to a line, in the store's thread."""
        if isinstance(outcome, Receipt):
            if outcome.duplicate:
                self.duplicates += 1
            else:
                self.stored += 1
        elif isinstance(outcome, CommandRefused | InvalidInput):
            self.refused.append((place, outcome))
        elif isinstance(outcome, TurnfoldError) and self._failure is None:
            self._failed_at, self._failure = place, outcome


class _LineSlot:
    """Where the answer to one line goes."""

    __slots__ = ("_intake", "_place")

    def __init__(self, intake: Intake, place: str) -> None:
        self._intake = intake
        self._place = place

    def settle(self, outcome: object) -> bool:
        """Tell the intake."""
        self._intake.settled(self._place, outcome)
        return True


def add_and_wait(store: Supervisor, line: ChatLine) -> Receipt:
    """Send one line, at its recorded time, and wait until it is durable. Raises as the store."""
    request = store.door.add_turns(line.key, (TurnToAdd(line.turn, line.turn_id),), None)
    store.door.admission.enter(None)
    slot = BlockingSlot()
    store.door.send(request, slot, True, line.at)
    receipt: Receipt = slot.wait(None)
    return receipt
