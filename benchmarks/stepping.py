"""The steps of one turn, timed one by one, and the whole of it beside their sum.

One turn to a batch: redact, admit, decide, encode, evolve, chain, frame, write, sync, publish, and
the way to another thread and back. The steps run in one thread on a store of its own; the whole is
`add_turn` on a running store, measured by turns with the steps. What the sum lacks is what waking
up costs: a thread that slept through a sync finds its caches cold and another thread at work.
"""

import os
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import pykka
from job import Figures, Line, key_of, percentile, turn_of
from writing import Listener, config

from turnfold.actors.admission import Admission
from turnfold.actors.bootstrap import file_parts
from turnfold.actors.clock import SystemClock
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.door import Door
from turnfold.actors.reply import BlockingSlot
from turnfold.actors.supervisor import Parts
from turnfold.events.codec import encode_events
from turnfold.events.commands import AddTurns, Entropy, Instant, TurnToAdd
from turnfold.events.decide import decide
from turnfold.events.event import Event
from turnfold.events.evolve import fold
from turnfold.events.log.backend import FrameParts
from turnfold.events.log.chain import advance
from turnfold.events.log.frame import frame_pieces
from turnfold.events.turns import Turn

T = TypeVar("T")

BLOCK = 100
STEPS = (
    "redact",
    "admit",
    "hand over and reply",
    "decide",
    "encode",
    "evolve",
    "chain",
    "frame",
    "write",
    "sync",
    "publish",
)


class _Path:
    """The way of one turn without threads, with a stamp after each step."""

    def __init__(self, parts: Parts) -> None:
        self.taken: dict[str, list[float]] = {step: [] for step in STEPS}
        self._parts = parts
        self._admission = Admission(64)
        nobody = cast("pykka.ActorRef[Any]", None)  # nothing is sent
        self._door = Door(parts.config, self._admission, nobody)
        self._entropy = Entropy(os.urandom)
        self._inbox: queue.SimpleQueue[BlockingSlot | None] = queue.SimpleQueue()
        self._echo = threading.Thread(target=self._settle, daemon=True)
        self._echo.start()
        now = parts.clock.now()
        assert parts.opening is not None
        parts.ledger.take(parts.opening(parts.ledger.state.position + 1, now))
        parts.ledger.commit(sync=True, bookkeeping=True)

    def _settle(self) -> None:
        while (slot := self._inbox.get()) is not None:
            slot.settle(None)

    def close(self) -> None:
        """End the thread and close the files."""
        self._inbox.put(None)
        self._echo.join()
        self._parts.files()

    def walk(self, line: Line) -> None:
        """One turn."""
        turn = self._timed("redact", lambda: turn_of(line))
        command = self._timed("admit", lambda: self._admitted(line, turn))
        self._timed("hand over and reply", self._there_and_back)
        now = self._parts.clock.now()
        self._store(command, now)

    def _admitted(self, line: Line, turn: Turn) -> AddTurns:
        items = (TurnToAdd(turn, f"line-{line[1]}"),)
        command = self._door.add_turns(key_of(line), items, None)
        self._admission.enter()
        self._admission.leave(1)
        return command

    def _there_and_back(self) -> None:
        slot = BlockingSlot()
        self._inbox.put(slot)
        slot.wait(None)

    def _store(self, command: AddTurns, now: Instant) -> None:
        ledger = self._parts.ledger
        log, state = ledger.log, ledger.state
        before = state.position
        decision = self._timed(
            "decide", lambda: decide(state, command, now, self._entropy, ledger.names)
        )
        events: tuple[Event, ...] = decision.events
        first = events[0].position
        chained, payload = self._timed("encode", lambda: encode_events(events))
        self._timed("evolve", lambda: fold(events, state))
        self._timed("chain", lambda: advance(log.head, first, log.epoch, chained))
        self._timed(
            "frame",
            lambda: b"".join(
                frame_pieces(
                    first, len(events), chained, payload, synced_through=before, epoch=log.epoch
                )
            ),
        )
        frame = FrameParts(first, len(events), chained, payload)
        self._timed("write", lambda: log.append([frame], expected=before))
        self._timed("sync", log.sync)
        self._timed("publish", lambda: self._publish(events))
        # `append` has hashed and framed once more.
        self.taken["write"][-1] -= self.taken["chain"][-1] + self.taken["frame"][-1]

    def _publish(self, events: tuple[Event, ...]) -> None:
        self._parts.ledger.state.commit()
        self._parts.published.apply(self._parts.ledger.state, events)

    def _timed(self, step: str, work: Callable[[], T]) -> T:
        begin = time.perf_counter()
        result = work()
        self.taken[step].append(time.perf_counter() - begin)
        return result


def steps(lines: Sequence[Line], directory: Path) -> Figures:
    """Median microseconds of each step, their sum, and the whole."""
    path = _Path(file_parts(config(directory), SystemClock(), os.urandom))
    whole: list[float] = []
    with ConversationStore(config(Path(tempfile.mkdtemp(dir=directory)))) as store:
        store.subscribe(Listener)
        for start in range(0, len(lines) - 2 * BLOCK, 2 * BLOCK):
            for line in lines[start : start + BLOCK]:
                path.walk(line)
            for line in lines[start + BLOCK : start + 2 * BLOCK]:
                begin = time.perf_counter()
                store.add_turn(key_of(line), turn_of(line), f"line-{line[1]}")
                whole.append(time.perf_counter() - begin)
    path.close()
    figures = {f"{step}_us": percentile(taken, 0.5) * 1e6 for step, taken in path.taken.items()}
    return {
        **figures,
        "sum_us": sum(figures.values()),
        "whole_us": percentile(whole, 0.5) * 1e6,
    }
