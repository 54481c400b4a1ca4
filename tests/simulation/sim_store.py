"""A store without threads: the real store actor, ledger, upkeep and generation writer, called by
hand, on the real log, archive and recovery, over a simulated disk and clock.

Every request runs to its end before the next, background jobs included, unless `between` is set:
that is called in the pauses of background work. After a power cut nothing that the code still does
counts, as nobody would see it.
"""

from collections import deque
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final

import attrs
from simulation.sim_clock import SimClock
from simulation.sim_disk import SimDisk
from simulation.sim_faults import PowerCut

from turnfold.actors.admission import Admission
from turnfold.actors.clock import AgeClock
from turnfold.actors.door import bounded
from turnfold.actors.generation_writer import GenerationWriter, Job, JobDone
from turnfold.actors.ledger import Ledger
from turnfold.actors.messages import Flush, Open, Shut, Submit, Sync, Tick
from turnfold.actors.names import KeyNames
from turnfold.actors.published import Published
from turnfold.actors.reply import NO_REPLY, Outcome, Slot
from turnfold.actors.store_actor import StoreActor, Wiring
from turnfold.events.commands import (
    AddTurns,
    DeleteKey,
    DeleteState,
    Entropy,
    ExpireSession,
    Instant,
    RecordState,
    TurnToAdd,
)
from turnfold.events.context import Context, project
from turnfold.events.event import Event
from turnfold.events.keys import ConversationKey
from turnfold.events.limits import Limits
from turnfold.events.log.opening import opening_events
from turnfold.events.log.recovery import OnDamage, Recovered, open_store
from turnfold.events.reasons import Reason
from turnfold.events.redaction import RULESET_VERSION
from turnfold.events.session import EndedSession
from turnfold.events.snapshot import capture, state_digest

Request = AddTurns | ExpireSession | DeleteKey | RecordState | DeleteState | Sync | Flush

BOUNDARY_KEY: Final = bytes(range(32))


class SimOwner:
    """Ownership of a simulated disk, which nobody else wants."""

    def check(self) -> None:
        """Always the owner."""

    def release(self) -> None:
        """Nothing to give up."""


class SimEntropy:
    """Bytes that look random and follow from a seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._count = 0

    def __call__(self, size: int) -> bytes:
        """The next bytes."""
        blocks: list[bytes] = []
        while len(blocks) * 64 < size:
            self._count += 1
            blocks.append(blake2b(b"%d %d" % (self._seed, self._count)).digest())
        return b"".join(blocks)[:size]


class SimSlot:
    """Keeps one outcome, unless the power went before it came."""

    def __init__(self, disk: SimDisk) -> None:
        self._disk = disk
        self.outcome: Outcome = None
        self.is_settled = False

    def settle(self, outcome: Outcome) -> bool:
        """See Slot."""
        assert not self.is_settled, "a slot was settled twice"
        if not self._disk.is_off:
            self.outcome, self.is_settled = outcome, True
        return True


class SteppedWriter(GenerationWriter):
    """The generation writer, whose pauses are the test's."""

    between: Callable[[], None] | None = None

    def _pause(self) -> None:
        if self.between is not None:
            self.between()


@attrs.frozen(kw_only=True)
class Settings:
    """What a store is configured with."""

    limits: Limits
    sync_each_batch: bool = True
    on_damage: OnDamage = "recover"
    erase_after_s: float = 3600
    generation_interval_s: float = 1e9


class SimStore:
    """One opening of the store on a disk. Raises what `open_store` raises, and PowerCut.

    `events` are those of this opening, in order, as published; `opened` is how opening ended,
    `recovered_digest` the digest of the state before it.
    """

    def __init__(
        self, disk: SimDisk, clock: SimClock, settings: Settings, entropy: Callable[[int], bytes]
    ) -> None:
        self.disk = disk
        self.clock = clock
        self.settings = settings
        self.recovered: Recovered = open_store(
            disk,
            SimOwner,
            limits=settings.limits,
            on_damage=settings.on_damage,
            entropy=entropy,
        )
        self.log = self.recovered.log
        self.state = self.recovered.state
        self.report = self.recovered.report
        self.recovered_digest = self.digest()
        self.events: list[Event] = []
        self._jobs: deque[Job] = deque()
        self._is_working = False
        self._names = KeyNames(self.log.secret)
        self._ages = AgeClock(clock, self.recovered.last)
        self._published = Published(self.state)
        self._admission = Admission(65_536)
        self.writer = SteppedWriter(self.recovered.archive, self._done)
        ledger = Ledger(self.log, self.state, self._names, Entropy(entropy), self._published)
        self.actor = StoreActor(ledger, self._wiring())
        self.actor.batch.door = self
        self.opened: Outcome = self._open()

    def _wiring(self) -> Wiring:
        return Wiring(
            clock=self._ages,
            admission=self._admission,
            order=self._jobs.append,
            publish=lambda events, _durable: self.events.extend(events),
            arm=lambda: None,
            sync_each_batch=self.settings.sync_each_batch,
            erase_after_s=self.settings.erase_after_s,
            generation_interval_s=self.settings.generation_interval_s,
            read_only=self.recovered.read_only,
        )

    def _open(self) -> Outcome:
        if self.recovered.read_only is not None:
            return self.recovered.read_only
        slot = SimSlot(self.disk)
        self._receive(Open(self._opening_events, slot))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # any slot will do
        assert slot.is_settled
        return slot.outcome

    def _opening_events(self, _position: int, now: Instant) -> Sequence[Event]:
        return opening_events(
            self.report,
            self.state,
            now=now,
            epoch=self.log.epoch,
            ruleset=RULESET_VERSION,
            limits=self.settings.limits,
            recorded_clock=False,
        )

    # --- requests ----------------------------------------------------------------------------

    def ask(self, *requests: Request) -> list[Outcome]:
        """The outcomes of requests that come in one batch. Raises PowerCut."""
        slots = [SimSlot(self.disk) for _ in requests]
        messages = [self.submit(*pair) for pair in zip(requests, slots, strict=True)]
        for message in messages[1:]:
            self.actor.actor_ref.tell(message)
        self._receive(messages[0])
        for slot in slots:
            assert slot.is_settled, "a request was never answered"
        return [slot.outcome for slot in slots]

    def submit(self, request: Request, slot: Slot = NO_REPLY) -> Submit:
        """A request that has passed the door."""
        self._admission.enter(0)
        return Submit(self._bounded(request), slot, False, self)

    def tick(self) -> None:
        """What the ticker does. Raises PowerCut."""
        self._receive(Tick())

    def close(self) -> Outcome:
        """Flush, mark the end, close; None or what went wrong. Raises PowerCut."""
        slot = SimSlot(self.disk)
        self._receive(Shut(slot))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # any slot will do
        self.log.close()
        self._check_power()
        return slot.outcome

    # --- reads ---------------------------------------------------------------------------------

    def context(self, key: ConversationKey) -> Context:
        """What a language model would see."""
        session, ended = self._published.find(self._names(key))
        if session is not None and session.is_overdue(self._ages.age()):
            reason = Reason.EXPIRED_INACTIVITY
            ended = EndedSession(reason, session.last, session.session_id, session.start)
            session = None
        return project(session, None if session else ended, secret=BOUNDARY_KEY)

    def turn_count(self, key: ConversationKey) -> int:
        """How many turns the key's live session has, compacted ones included."""
        session, _ended = self._published.find(self._names(key))
        if session is None or session.is_overdue(self._ages.age()):
            return 0
        return session.turn_count

    @property
    def age(self) -> int:
        """The store's age now (ns)."""
        return self._ages.age()

    @property
    def failed(self) -> bool:
        """Whether it takes no more commands."""
        return self.actor.failed

    def digest(self) -> bytes:
        """The state digest."""
        return state_digest(capture(self.state))

    # --- inside -----------------------------------------------------------------------------------

    def _bounded(self, request: Request) -> Request:
        if not isinstance(request, AddTurns):
            return request
        limits = self.settings.limits
        turns = tuple(TurnToAdd(bounded(x.turn, limits), x.turn_id) for x in request.turns)
        return AddTurns(request.key, turns, request.session)

    def _receive(self, message: object) -> None:
        """Have the store actor take a message, then do the jobs that it ordered.

        In a pause of a job the next ones wait until it has ended.
        """
        self.actor.on_receive(message)
        self._check_power()
        if self._is_working:
            return
        self._is_working = True
        try:
            while self._jobs:
                self.writer.on_receive(self._jobs.popleft())
                self._check_power()
        finally:
            self._is_working = False

    def _done(self, done: JobDone) -> None:
        self._check_power()
        self.actor.on_receive(done)

    def _check_power(self) -> None:
        if self.disk.is_off:
            raise PowerCut
