"""The ledger: the working state, the log it goes to, and the frames of the batch in the making.

One command becomes one frame. The frames of a batch are appended with one write and made durable
with one sync; only then are the changes of the state kept and published. A batch that certainly
did not reach the disk leaves the state as it was.
"""

from collections.abc import Sequence

from turnfold.actors.published import Published
from turnfold.events.codec import encode_events
from turnfold.events.commands import Command, Entropy, Instant
from turnfold.events.decide import Answer, Names, decide, has_overdue
from turnfold.events.errors import StoreUnavailable
from turnfold.events.event import Event
from turnfold.events.evolve import evolve
from turnfold.events.log.backend import FrameParts, Log
from turnfold.events.ordinals import SecretNumbers
from turnfold.events.state import StoreState


class Ledger:
    """The single owner of state and log. All methods in the store actor's thread.

    `events` and `frames` are those of the batch in the making; `size` is its bytes.
    """

    __slots__ = (
        "_entropy",
        "_published",
        "_secrets",
        "_settled",
        "events",
        "frames",
        "log",
        "names",
        "size",
        "state",
    )

    def __init__(
        self,
        log: Log,
        state: StoreState,
        names: Names,
        entropy: Entropy,
        published: Published,
    ) -> None:
        self.log = log
        self.state = state
        self.names = names
        self._entropy = entropy
        self._published = published
        self._secrets = SecretNumbers()
        self._settled = state.position  # of the last event before this batch
        self.frames: list[FrameParts] = []
        self.events: list[Event] = []
        self.size = 0

    def decide(self, command: Command, now: Instant) -> Answer:
        """Answer a command; its events join the batch.

        Raises CommandRefused or InvalidInput; then nothing has changed.
        """
        decision = decide(
            self.state, command, now, self._entropy, self.names, secrets=self._secrets
        )
        if decision.events:
            self._secrets.forget(decision.events)
            self.take(decision.events)
        answer: Answer = decision.answer
        return answer

    def take(self, events: Sequence[Event]) -> None:
        """Events that are decided join the batch as one frame. Raises InvalidInput unchanged."""
        chained, payload = encode_events(events)
        self.frames.append(FrameParts(events[0].position, len(events), chained, payload))
        self.size += len(chained) + len(payload)
        state = self.state
        for event in events:
            evolve(state, event)
        self.events.extend(events)

    def has_overdue(self, age: int) -> bool:
        """Whether a session has expired and was not swept yet; looks at one per channel."""
        return has_overdue(self.state, age)

    def commit(self, *, sync: bool, bookkeeping: bool = False) -> tuple[Event, ...]:
        """One write and, with `sync`, one sync; then keep and publish. The batch's events.

        `bookkeeping`: nothing in it but the store's own events, deletions and expiry.
        Raises NotWritten or OutcomeUnknown; the state is as it was before the batch then.
        """
        log = self.log
        try:
            if self.frames:
                log.append(self.frames, expected=self._settled, bookkeeping=bookkeeping)
            if sync and log.durable < log.position:
                log.sync()
        except StoreUnavailable:
            self.drop()
            raise
        if not self.frames:
            return ()
        events = tuple(self.events)
        self._clear()
        self.state.commit()
        self._settled = self.state.position
        self._published.apply(self.state, events)
        return events

    def drop(self) -> None:
        """Forget the batch in the making and take its changes back."""
        self._clear()
        self.state.rollback()

    def _clear(self) -> None:
        self.frames = []
        self.events = []
        self.size = 0
