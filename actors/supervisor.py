"""The supervisor: starts a store's threads in order, and ends them in order.

Start: feed, generation writer, store actor (its opening frames are durable before anybody gets
in), ticker, control socket. Close: door, control socket, ticker, a last flush, store actor,
generation writer, feed, files. Whatever goes wrong in between, every pending reply is settled and
every thread is joined; a second close does nothing.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Final

import attrs
import pykka

from turnfold.actors.admission import Admission
from turnfold.actors.bookkeeping import Build, damage_found, parked
from turnfold.actors.clock import AgeClock
from turnfold.actors.config import Config
from turnfold.actors.control import ControlServer
from turnfold.actors.digest_keys import DigestKeys
from turnfold.actors.door import Door
from turnfold.actors.feed import Feed
from turnfold.actors.generation_writer import GenerationWriter, Job
from turnfold.actors.ledger import Ledger
from turnfold.actors.messages import Open, Record, Shut, Tick
from turnfold.actors.published import Published
from turnfold.actors.reads import Reads
from turnfold.actors.recheck import Recheck
from turnfold.actors.reply import BlockingSlot
from turnfold.actors.state_desk import StateAccess, StateDesk
from turnfold.actors.stats import Stats
from turnfold.actors.store_actor import StoreActor, Wiring
from turnfold.actors.ticker import Ticker
from turnfold.events.decide import Names
from turnfold.events.errors import TurnfoldError
from turnfold.events.event import Gap
from turnfold.events.log.backend import Archive, Log

SHUT_S: Final = 300.0  # for the last flush, which may write a generation of the largest state
JOIN_S: Final = 30.0  # for one thread at close; a disk that hangs longer leaves its thread behind
DRAIN_S: Final = 1.0  # for subscribers to handle what is durable; their checkpoints hold the rest
FEED_S: Final = 2.0  # for subscribers to return from the notice in hand
STRAGGLERS_S: Final = 5.0  # for senders that were admitted and have not told their command yet


Parked = Callable[[bytes, int], None]
Damaged = Callable[[Gap], None]
Tell = Callable[[object], None]


@attrs.frozen(eq=False)
class Parts:
    """What a store is made of before its threads run; the composition root picks them.

    `feed` makes the feed, given whom to tell of a parked subscriber and of damage; `recheck` and
    `reads` are made alike.
    `opening` builds the events of this opening; None if the store is read-only, for the reason in
    `read_only`. `files` closes what recovery opened, the owner's lock last.
    """

    config: Config
    log: Log
    archive: Archive
    ledger: Ledger
    published: Published
    clock: AgeClock
    reads: Callable[[Recheck], Reads]
    recheck: Callable[[Tell], Recheck]
    feed: Callable[[Parked, Damaged], Feed]
    opening: Build | None
    read_only: TurnfoldError | None
    names: Names
    keys: DigestKeys
    files: Callable[[], None]


class Supervisor:
    """One running store. `close` from any thread but the store's own."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._log = parts.log
        self._recheck = parts.recheck(self._tell)
        self.reads = parts.reads(self._recheck)
        self._damaged: set[tuple[int, int]] = set()
        self.feed = parts.feed(self.parked, self.damaged)
        self._admission = Admission(parts.config.limits.commands_in_flight)
        self._writer = GenerationWriter(parts.archive, self._tell, self._activity)
        self._ticker = Ticker(self._tick)
        self._closing = threading.Lock()
        self._closed = False
        self._actor = StoreActor(parts.ledger, self._wiring())
        self.door = Door(parts.config, self._admission, self._actor.actor_ref)
        self._actor.batch.door = self.door
        self._control: ControlServer | None = None
        desk = StateDesk(
            parts.config,
            records=parts.published.records,
            find=parts.published.find,
            clock=parts.clock,
            names=parts.names,
            secret=parts.log.secret,
            keys=parts.keys,
        )
        self.state_access = StateAccess(desk, self.door)

    def _wiring(self) -> Wiring:
        config = self._parts.config
        return Wiring(
            clock=self._parts.clock,
            admission=self._admission,
            order=self._order,
            publish=self.feed.publish,
            arm=self._ticker.arm,
            sync_each_batch=config.durability == "commit",
            erase_after_s=config.erase_after_s,
            generation_interval_s=config.generation_interval_s,
            read_only=self._parts.read_only,
        )

    # --- starting ------------------------------------------------------------------------

    def start(self) -> None:
        """Start everything; raises what keeps the store from opening, with nothing left behind."""
        with contextlib.ExitStack() as undo:
            undo.callback(self.close)
            self.feed.start()
            self._writer.run()
            self._actor.run()
            for actor in (self._actor, self._writer):
                if actor.thread is not None and actor.thread.ident is not None:
                    self.door.own_threads.add(actor.thread.ident)
            if self._parts.opening is not None:
                slot = BlockingSlot()
                self._actor.actor_ref.tell(Open(self._parts.opening, slot))
                slot.wait(None)
            self._ticker.start()
            self._recheck_next()
            self._control = self._start_control()
            undo.pop_all()

    def _start_control(self) -> ControlServer | None:
        config = self._parts.config
        wanted = config.persistence_enabled and config.control_socket and not self._actor.failed
        if not wanted or config.storage_path is None:
            return None
        control = ControlServer(config.storage_path, self.door, self.stats)
        control.start()
        return control

    def _recheck_next(self) -> None:
        """Check recovered texts in the background, one session a job: others get in between."""

        def work(_archive: Archive, pause: Callable[[], None]) -> bool:
            return self._recheck.check_next(self._parts.published.session_at, pause)

        def then(more: object, error: TurnfoldError | None) -> None:
            if more or error is not None:
                self._recheck_next()

        if not self._closed:
            self._order(Job(work, then))

    def _order(self, job: Job) -> None:
        with contextlib.suppress(pykka.ActorDeadError):  # closing: what is undone is due again
            self._writer.actor_ref.tell(job)

    def parked(self, name_tag: bytes, position: int) -> None:
        """A subscriber failed too often: record it. Any thread; never waits."""
        self._tell(Record(parked(name_tag, position)))

    def damaged(self, gap: Gap) -> None:
        """A reader found positions missing that nothing declares: record it, once. Any thread."""
        if (gap.first, gap.last) not in self._damaged:
            self._damaged.add((gap.first, gap.last))
            self._tell(Record(damage_found(gap)))

    def _activity(self) -> int:
        """Counts batches, for the background work to give way to them. Any thread."""
        return self._actor.batch.counts.batches

    def _tell(self, message: object) -> None:
        """Tell the store actor; nothing if it has ended already."""
        with contextlib.suppress(pykka.ActorDeadError):
            self._actor.actor_ref.tell(message)

    def _tick(self) -> bool:
        ref = self._actor.actor_ref
        alive = ref.is_alive()
        if alive:
            self._tell(Tick())
        return alive

    # --- looking ---------------------------------------------------------------------------

    def stats(self) -> Stats:
        """Counters and sizes. Any thread."""
        parts, actor = self._parts, self._actor
        counts = actor.batch.counts
        return Stats(
            position=parts.published.position,
            durable=self._log.durable,
            epoch=self._log.epoch,
            active_sessions=parts.published.active,
            aggregate_bytes=parts.published.total_bytes,
            commands_in_flight=self._admission.in_flight,
            commands=counts.commands,
            batches=counts.batches,
            events=counts.events,
            refused=counts.refused,
            not_written=counts.not_written,
            undeliverable=actor.batch.replies.undeliverable,
            erasures_pending=parts.published.pending,
            generation=actor.generation,
            failed=actor.failed,
        )

    # --- closing ---------------------------------------------------------------------------

    def close(self) -> None:
        """See the module. Raises what kept the last flush from being durable, after closing."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._close()

    def _close(self) -> None:
        failure: TurnfoldError | None = None
        self._admission.close()
        if self._control is not None:
            self._control.stop()
        self._ticker.stop()
        self._writer.hurry()
        if self._actor.is_running:
            failure = self._shut()
            self._actor.actor_ref.stop(block=False)
            self._actor.join(JOIN_S)
        self._answer_stragglers()
        if self._writer.is_running:
            self._writer.actor_ref.stop(block=False)
            self._writer.join(JOIN_S)
        self.feed.drain(DRAIN_S)
        self.feed.close(FEED_S)
        self._parts.files()
        if failure is not None:
            raise failure

    def _shut(self) -> TurnfoldError | None:
        """Have the store actor flush and mark the log's end; the error that kept it from that."""
        slot = BlockingSlot()
        self._tell(Shut(slot))
        try:
            slot.wait(SHUT_S)
        except TurnfoldError as error:
            return error
        return None

    def _answer_stragglers(self) -> None:
        """A sender may be between its permit and its tell: its command is answered here."""
        deadline = time.monotonic() + STRAGGLERS_S
        pause = threading.Event()
        self._actor.answer_undelivered()
        while self._admission.in_flight and time.monotonic() < deadline:
            pause.wait(0.001)
            self._actor.answer_undelivered()
