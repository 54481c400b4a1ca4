"""Replay: the state at any position or time, folded again from the files, beside a running store.

From position 1, or from the oldest generation that reaches past what was trimmed or lost. Events
are read one frame at a time, without content unless it is asked for, so memory is bounded by the
state. Nothing is recomputed: no clock, no randomness, no model, no redaction.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from turnfold.events.codec import decode_events, decode_times
from turnfold.events.errors import CorruptData, ReplayError
from turnfold.events.event import Event, Gap
from turnfold.events.evolve import evolve
from turnfold.events.log.disk import Disk
from turnfold.events.log.generation_file import (
    Rejected,
    generation_position,
    list_generations,
    load_generation,
    restore_newest,
    state_in,
)
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.reader import LogReader
from turnfold.events.log.segment import list_segments
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture, state_digest
from turnfold.events.state import StoreState

STORE_DIRECTORY: Final = "conversations"


@attrs.frozen(eq=False, repr=False)
class Replayed:
    """The state at `position`. `digest` is its state digest (32 bytes)."""

    state: StoreState
    position: int

    @property
    def digest(self) -> bytes:
        """Equal for equal states, whether or not text was erased in between."""
        return state_digest(capture(self.state))

    def __repr__(self) -> str:
        return f"Replayed(position={self.position})"


@attrs.frozen
class GenerationCheck:
    """A generation compared with the fold of the log up to its position.

    `matches` is None if the log doesn't reach it: the fold had to start there, or the positions
    were trimmed or are lost.
    """

    name: str
    position: int
    matches: bool | None
    message: str = ""


def store_disk(storage_path: str | Path) -> PosixDisk:
    """The files of the store below a storage path. Raises StorePathError if there is none."""
    return PosixDisk(Path(storage_path) / STORE_DIRECTORY)


def replay(
    storage_path: str | Path,
    until: int | None = None,
    at: int | None = None,
    *,
    content: bool = False,
) -> Replayed:
    """The state at position `until`, or at the highest position with a time `at` (UTC ns) or less.

    Without either, at the last durable position. Raises ReplayError if the position was trimmed,
    is lost or isn't there yet, UnsupportedFormat and StorageError.
    """
    disk = store_disk(storage_path)
    try:
        return replay_disk(disk, until=until, at=at, content=content)
    finally:
        disk.close()


def replay_disk(
    disk: Disk, until: int | None = None, at: int | None = None, *, content: bool = False
) -> Replayed:
    """`replay` for a disk that is open."""
    if at is not None:
        until = min(position_at(disk, at), until if until is not None else 1 << 63)
    replaying = Replaying(disk, until=until, content=content)
    state = replaying.state
    for state in replaying:  # noqa: B007  # the last one counts
        pass
    if until is not None and state.position != until:
        raise ReplayError(f"the log ends at position {state.position}, before {until}")
    return Replayed(state, state.position)


def position_at(disk: Disk, at: int) -> int:
    """The highest position whose wall time is `at` (UTC ns) or less. Raises ReplayError."""
    found = 0
    reader = LogReader(disk, content=False)
    try:
        for item in reader.read():
            if not isinstance(item, Gap) and decode_times(item.chained)[0] <= at:
                found = item.last
    finally:
        reader.close()
    if not found:
        raise ReplayError("nothing in the log is that old")
    return found


def durable_position(disk: Disk) -> int:
    """The last position that the log itself shows to be durable; 0 if there is none."""
    bases = list_segments(disk)
    if not bases:
        return 0
    reader = LogReader(disk, bases[-1] - 1, content=False)
    try:
        return max((item.last for item in reader.read()), default=bases[-1] - 1)
    finally:
        reader.close()


class Replaying:
    """Folds a log; iterating gives the same state again after each frame.

    With `until` it ends there, in the middle of a frame if need be. `events` are those folded in
    last, none where a generation's state was taken. `started` names the generations that the fold
    had to start from, `gaps` are the positions that it had to pass over.
    """

    def __init__(self, disk: Disk, *, until: int | None = None, content: bool = False) -> None:
        self._disk = disk
        self._until = until
        self._content = content
        self._generations = sorted(list_generations(disk))
        self.state = StoreState()
        self.events: Sequence[Event] = ()
        self.started: list[str] = []
        self.gaps: list[Gap] = []

    def __iter__(self) -> Iterator[StoreState]:
        until = self._until
        reader = LogReader(self._disk, content=self._content)
        try:
            for item in reader.read(until):
                self.events = ()
                if isinstance(item, Gap):
                    if self._pass(item):
                        yield self.state
                    continue
                if item.last <= self.state.position:
                    continue
                self._fold(
                    decode_events(
                        item.chained, item.first, item.payload, trusted=item.payload_intact
                    )
                )
                yield self.state
                if until is not None and self.state.position >= until:
                    return
            self.events = ()
            self._reach(until)
            yield self.state
        finally:
            reader.close()

    def _fold(self, events: Sequence[Event]) -> None:
        state, until = self.state, self._until
        if until is not None and events[-1].position > until:
            events = [event for event in events if event.position <= until]
        try:
            for event in events:
                evolve(state, event)
        except CorruptData as error:
            raise ReplayError(
                f"position {events[0].position} doesn't continue the state: {error}; what came"
                " before it is lost, replay from a later generation by a later position"
            ) from error
        state.commit()
        self.events = events

    def _pass(self, gap: Gap) -> bool:
        """Get over positions that aren't there; whether a generation's state was taken for it."""
        state = self.state
        if gap.last <= state.position:
            return False
        self.gaps.append(gap)
        if self._until is not None and gap.last > self._until:
            if not self._start_from(self._until, self._until):
                raise ReplayError(f"position {self._until} is gone: {gap.reason}")
            return True
        if self._start_from(gap.last, self._until):
            return True
        among = restore_newest(self._disk, state.position + 1, gap.last, content=self._content)
        if among is not None:  # the generation that the opening went on from
            name, self.state = among
            self.started.append(name)
            state = self.state
        elif gap.reason is Reason.TRIMMED_STORAGE_LIMIT or gap.first == 1:
            raise ReplayError(
                f"positions {gap.first} to {gap.last} were trimmed and no generation from then on"
                " is left"
            )
        if state.position < gap.last:
            evolve(state, Gap(state.position + 1, gap.last, gap.reason))
            state.commit()
        return False

    def _reach(self, until: int | None) -> None:
        """The log has ended: a generation may reach further."""
        if until is not None and self.state.position < until:
            self._start_from(self.state.position + 1, until)

    def _start_from(self, low: int, high: int | None) -> bool:
        """Take the state of the oldest generation between two positions, if there is one."""
        for name in self._generations:
            position = generation_position(name) or 0
            if position < max(low, self.state.position + 1):
                continue
            if high is not None and position > high:
                return False
            state = state_in(self._disk, name, content=self._content)
            if isinstance(state, StoreState):
                self.state = state
                self.started.append(name)
                return True
        return False


def check(storage_path: str | Path) -> list[GenerationCheck]:
    """Compare every generation with a replay of the log, oldest first. Raises like `replay`."""
    disk = store_disk(storage_path)
    try:
        return check_disk(disk)
    finally:
        disk.close()


def check_disk(disk: Disk) -> list[GenerationCheck]:
    """`check` for a disk that is open."""
    names = sorted(list_generations(disk))
    waiting = {generation_position(name) or 0: name for name in names}
    checks: list[GenerationCheck] = []
    replaying = Replaying(disk)
    for state in replaying:
        name = waiting.pop(state.position, None)
        if name is None:
            continue
        if name in replaying.started:
            checks.append(GenerationCheck(name, state.position, None, "the replay starts here"))
            continue
        loaded = load_generation(disk, name, None)
        if isinstance(loaded, Rejected):
            if not loaded.gone:
                checks.append(GenerationCheck(name, state.position, False, loaded.message))
            continue
        same = state_digest(capture(state)) == loaded.header.digest
        message = "" if same else "the log folds to another state"
        checks.append(GenerationCheck(name, state.position, same, message))
    for position, name in waiting.items():
        gap = next((gap for gap in replaying.gaps if gap.first <= position <= gap.last), None)
        if gap is None:
            matches, why = False, "the log has no frame that ends there"
        else:
            matches, why = None, f"the log has no events there: {gap.reason}"
        checks.append(GenerationCheck(name, position, matches, why))
    return sorted(checks, key=_position_of)


def _position_of(one: GenerationCheck) -> int:
    return one.position
