"""Does today's log extend a saved checkpoint? And the checkpoint of today's log.

A checkpoint has the head of the hash chain at a position. If the chain, computed again from where
the log begins, has that head there, every chained byte up to it is what it was, whatever was
erased since. What begins behind the checkpoint, because the log was trimmed, can't be proven.

A head alone doesn't say where a log with another head went its own way. What else does, in this
order: frames and segments that are missing or broken; a frame whose payload is whole and doesn't
fit its commitment, or that doesn't decode; the header of the next segment; an earlier checkpoint
that still holds.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path

import attrs

from turnfold.events.audit_note import Checkpoint
from turnfold.events.codec import decode_events
from turnfold.events.erasure_plan import sealed_of
from turnfold.events.errors import CorruptData, ReplayError
from turnfold.events.event import Event, Gap, LogTrimmed
from turnfold.events.log.disk import Disk
from turnfold.events.log.losses import lost_range
from turnfold.events.log.replay import store_disk
from turnfold.events.log.scan import ScannedFrame
from turnfold.events.log.survey import Anchor, Break, Place, list_entries, store_id_of
from turnfold.events.log.walk import Walk
from turnfold.events.reasons import Reason
from turnfold.events.sealed import Unreadable


class Verdict(StrEnum):
    """Whether a log extends a checkpoint."""

    EXTENDS = "extends"
    DIFFERS = "differs"
    UNPROVABLE = "unprovable"


@attrs.frozen
class CheckpointProof:
    """What came of one checkpoint.

    If the log differs, `first`..`last` is the narrowest range of positions that is known to hold
    the first one that is not as it was (0, 0 otherwise).
    """

    position: int
    verdict: Verdict
    message: str
    first: int = 0
    last: int = 0


@attrs.frozen
class _Hole:
    """Positions whose bytes are known not to be what was written."""

    first: int
    last: int
    why: str


def checkpoint_of(storage_path: str | Path, origin: str = "") -> Checkpoint:
    """The checkpoint at the last durable position; without `origin` the log is named by its store.

    Raises ReplayError if the chain up to there is broken or nothing is durable yet,
    UnsupportedFormat, StorageError.
    """
    disk = store_disk(storage_path)
    try:
        chain = _Chain(disk)
        return chain.checkpoint(origin)
    finally:
        disk.close()


def prove(storage_path: str | Path, checkpoints: Sequence[Checkpoint]) -> list[CheckpointProof]:
    """One proof for each checkpoint, in their order. Raises UnsupportedFormat, StorageError."""
    disk = store_disk(storage_path)
    try:
        chain = _Chain(disk, [one.position for one in checkpoints])
        held = [
            one.position
            for one in checkpoints
            if one.store_id == chain.store_id and chain.heads.get(one.position) == one.head
        ]
        return [chain.prove(one, held) for one in checkpoints]
    finally:
        disk.close()


class _Chain:
    """One walk over the whole log, and what was seen on it."""

    def __init__(self, disk: Disk, wanted: Iterable[int] = ()) -> None:
        self._wanted = frozenset(wanted)
        self.heads: dict[int, bytes] = {}
        self._last_head = 0, b""  # position and head of the last frame that is durable
        self._undurable: deque[tuple[int, bytes]] = deque()
        self._suspects: list[_Hole] = []
        self._declared: list[tuple[int, Gap]] = []  # position that says so, and the gap
        self._kept = 1  # the log may begin here at the latest
        self._bases: list[int] = []
        entries = list_entries(disk)
        self._exported = any(
            entry.header is not None and entry.header.exported for entry in entries
        )
        first = next((entry for entry in entries if entry.header is not None), None)
        self.store_id = store_id_of(entries) or bytes(16)
        self.begins = 1 if first is None else first.begins
        anchor = Anchor(0, b"")
        if first is not None and first.header is not None and self.begins > 1:
            anchor = Anchor(self.begins - 1, first.header.previous_head)
            self.heads[anchor.position] = anchor.head
        walk = Walk(
            disk, entries, self.store_id, anchor=anchor, visit=self._visit, declare=self._declare
        )
        self._survey = walk.run()
        self._durable()

    # --- the walk --------------------------------------------------------------------------

    def _visit(self, place: Place, frame: ScannedFrame, head: bytes) -> None:
        header = frame.header
        if not self._bases or self._bases[-1] != place.base:
            self._bases.append(place.base)
        if header.last in self._wanted:
            self.heads[header.last] = head
        self._undurable.append((header.last, head))
        self._durable(header.synced_through)
        try:
            payload = None if self._exported else frame.payload
            events = decode_events(frame.chained, header.first, payload, exact=True)
        except CorruptData as error:
            self._suspects.append(_Hole(header.first, header.last, str(error)))
            return
        for event in events:
            self._see(event)
            intact = frame.payload_ok and any(
                isinstance(part, Unreadable) for part in sealed_of(event)
            )
            if intact:
                why = "the payload is whole and doesn't fit its commitment"
                self._suspects.append(_Hole(event.position, event.position, why))

    def _see(self, event: Event) -> None:
        lost = lost_range(event)
        if lost is not None:
            self._declared.append((event.position, lost))
        elif isinstance(event, LogTrimmed):
            self._kept = max(self._kept, event.first_kept)

    def _declare(self, gap: Gap) -> None:
        self._declared.append((gap.last + 1, gap))

    def _durable(self, through: int | None = None) -> None:
        """Move the last durable head on; without `through` by all evidence of the walk."""
        limit = self._survey.evidence if through is None else through
        while self._undurable and self._undurable[0][0] <= limit:
            self._last_head = self._undurable.popleft()

    # --- what it says ------------------------------------------------------------------------

    def checkpoint(self, origin: str) -> Checkpoint:
        """See checkpoint_of."""
        position, head = self._last_head
        hole = next(iter(self._holes(position, signed=position)), None)
        if hole is not None:
            raise ReplayError(
                f"positions {hole.first} to {hole.last}: {hole.why}; run `turnfold verify`: no"
                " checkpoint is made of a broken log"
            )
        if not position or not head:
            raise ReplayError("nothing in the log is durable yet, or its chain is broken")
        name = origin or f"turnfold/{self.store_id.hex()}"
        return Checkpoint(name, position, head, self.store_id, self.begins)

    def prove(self, saved: Checkpoint, held: Sequence[int]) -> CheckpointProof:
        """See CheckpointProof; `held` are positions of checkpoints whose heads are the chain's."""
        position = saved.position
        if saved.store_id != self.store_id:
            return _differs(saved, _Hole(1, position, "this is the log of another store"))
        end = self._survey.position
        if position < self.begins - 1:
            lost = next((gap for gap in self._lost_since(position)), None)
            if lost is not None:
                return _differs(saved, _Hole(lost.first, lost.last, f"lost: {lost.reason}"))
            if self.begins <= self._kept:
                message = f"unprovable: trimmed (the log begins at {self.begins})"
                return CheckpointProof(position, Verdict.UNPROVABLE, message)
            why = "the beginning of the log is missing, and no trimming says so"
            return _differs(saved, _Hole(self._kept, self.begins - 1, why))
        holes = self._holes(position, signed=position)
        if self.heads.get(position) == saved.head:
            if holes:
                return _differs(saved, holes[0])
            later = self._holes(self._survey.evidence, signed=end)
            if later:
                return _differs(saved, later[0])
            return CheckpointProof(position, Verdict.EXTENDS, "the log extends the checkpoint")
        if end < position:
            holes.append(_Hole(end + 1, position, "the log ends before the checkpoint"))
        holes += [one for one in self._suspects if one.first <= position]
        if holes:
            return _differs(saved, min(holes, key=lambda hole: hole.first))
        before = max((one for one in held if one < position), default=self.begins - 1)
        why = "the chain has another head: what was signed is not what is there"
        return _differs(saved, _Hole(before + 1, position, why))

    def _lost_since(self, position: int) -> Iterable[Gap]:
        """Gaps by damage up to a position that were declared behind it."""
        for said, gap in self._declared:
            trimmed = gap.reason is Reason.TRIMMED_STORAGE_LIMIT
            if said > position >= gap.first and not trimmed:
                yield gap

    def _holes(self, through: int, *, signed: int) -> list[_Hole]:
        """What is missing or broken up to a position, unless an event up to `signed` says so."""
        holes: list[_Hole] = []
        if self.begins > self._kept:
            why = "the beginning of the log is missing, and no trimming says so"
            holes.append(_Hole(self._kept, self.begins - 1, why))
        known = [gap for said, gap in self._declared if said <= signed]
        for one in self._survey.breaks:
            if one.position > through:
                continue
            hole = self._hole(one)
            if not any(gap.holds(hole.first, hole.last) for gap in known):
                holes.append(hole)
        return sorted(holes, key=lambda hole: hole.first)

    def _hole(self, one: Break) -> _Hole:
        resumed = one.resumed or one.position + 1
        if one.resumed == one.position:  # nothing is missing: the next segment has another head
            before = max((base for base in self._bases if base < one.position), default=1)
            return _Hole(before, one.position - 1, "the next segment's header has another head")
        return _Hole(one.position, resumed - 1, one.why)


def _differs(saved: Checkpoint, hole: _Hole) -> CheckpointProof:
    place = f"position {hole.first}"
    if hole.last > hole.first:
        place = f"positions {hole.first} to {hole.last}"
    message = f"{place}: {hole.why}"
    return CheckpointProof(saved.position, Verdict.DIFFERS, message, hole.first, hole.last)
