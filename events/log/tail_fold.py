"""Folding the log's tail onto a generation's state, as far as it can be proven.

The fold stops at the first frame that doesn't continue the state. A declared gap is passed over;
whether sessions survive it is decided by whoever opened the store after the damage, in the frame
behind the gap: until that frame is there, the damage is still to be dealt with.
"""

from turnfold.events.codec import decode_events
from turnfold.events.errors import CorruptData, InvalidConfig
from turnfold.events.event import Gap, GenerationWritten, StoreOpened
from turnfold.events.evolve import evolve
from turnfold.events.log.losses import lost_range
from turnfold.events.log.scan import ScannedFrame
from turnfold.events.log.survey import Anchor, Break, Place
from turnfold.events.reasons import Reason
from turnfold.events.state import StoreState


class OtherChain(Exception):
    """The generation's chain head isn't the log's at its position: it is of another history."""


class TailFold:
    """Gets whole frames in order (`visit`) and declared gaps (`declare`); changes `state`.

    `stuck` is the position of the first frame that couldn't be folded although it is whole; 0 if
    there was none; `misfit` says where it is if the state refuses it. `undealt` is a gap by damage
    whose opening never got to say what it means, `declared` are ranges that openings said are lost.
    `written` are the generations that the log says were written: (position, digest). `bridged` is
    a declared gap that this fold passed over and `orphans` are sessions from before it that its
    opening left live: it knew better, by a generation that isn't there any more.
    """

    def __init__(self, state: StoreState, anchor: Anchor) -> None:
        self.state = state
        self._anchor = anchor
        self.stuck = 0
        self.misfit: Break | None = None
        self.undealt: Gap | None = None
        self.declared: list[Gap] = []
        self.written: set[tuple[int, bytes]] = set()
        self.skipped: Gap | None = None  # passed over, and its opening isn't folded yet
        self.bridged: Gap | None = None
        self.orphans: set[int] = set()

    @property
    def has_unproven(self) -> bool:
        """Whether sessions are live that may have ended in a gap."""
        return self.skipped is not None or not self.orphans.isdisjoint(self.state.where)

    def visit(self, place: Place, frame: ScannedFrame, head: bytes) -> None:
        """One frame. Raises OtherChain, or UnsupportedFormat for events of a newer format."""
        header, anchor = frame.header, self._anchor
        if header.last <= anchor.position:
            if header.last == anchor.position and head and head != anchor.head:
                raise OtherChain
            return
        if header.first <= anchor.position:
            raise OtherChain
        if self.stuck:
            return
        if header.first != self.state.position + 1:
            self.stuck = header.first
            return
        try:
            self._fold(frame)
        except (CorruptData, InvalidConfig) as error:
            self.state.rollback()
            self.stuck = header.first
            why = f"it doesn't fit: {error}"
            self.misfit = Break(
                place.base, place.first, place.offset, frame.end, None, why, place.head_before
            )
        self.state.commit()

    def _fold(self, frame: ScannedFrame) -> None:
        events = decode_events(
            frame.chained, frame.header.first, frame.payload, trusted=bool(frame.payload_ok)
        )
        if len(events) != frame.header.count:
            raise CorruptData("a frame's header counts other events than it holds")
        dealt_with: Gap | None = None
        for event in events:
            evolve(self.state, event)
            if isinstance(event, GenerationWritten):
                self.written.add((event.generation, event.digest))
            if isinstance(event, StoreOpened) and event.reason is Reason.OPENED_DAMAGED:
                dealt_with, self.undealt, self.skipped = self.skipped, None, None
                lost = lost_range(event)
                if lost is not None:
                    self.declared.append(lost)
        if dealt_with is not None and self.state.where:
            self.bridged = dealt_with
            self.orphans.update(self.state.where)

    def declare(self, gap: Gap) -> None:
        """A gap that a segment's header declares."""
        state = self.state
        if gap.reason is Reason.OPENED_DAMAGED and gap.last >= self._anchor.position:
            self.undealt = gap
        if self.stuck or gap.last <= state.position:
            return
        if gap.first > state.position + 1:
            self.stuck = gap.first
            return
        evolve(state, Gap(state.position + 1, gap.last, gap.reason))
        state.commit()
        self.skipped = gap
