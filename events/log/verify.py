"""Verify: is a store what it says it is? Read-only, beside a running store.

Frames and their checksums, the hash chain, every payload against its commitment, zeros only where
an erasure says so, every generation against the fold of the log, redaction of what is live; and,
if asked, a chain head that was saved earlier, and that nothing of an avatar is left.
"""

from pathlib import Path
from uuid import UUID

import attrs

from turnfold.events.codec import decode_events
from turnfold.events.erasure_plan import sealed_of
from turnfold.events.errors import CorruptData
from turnfold.events.event import Event, Gap
from turnfold.events.evolve import evolve
from turnfold.events.keys import Pseudonym, pseudonym
from turnfold.events.log.copies_check import check_copies
from turnfold.events.log.directory_check import foreign_paths
from turnfold.events.log.disk import Disk
from turnfold.events.log.generation_file import (
    Rejected,
    generation_position,
    list_generations,
    load_generation,
    restore_newest,
    state_in,
)
from turnfold.events.log.layout import KEY_PATH, TEMPORARY, read_key
from turnfold.events.log.losses import lost_range
from turnfold.events.log.payload_audit import DAMAGED, PayloadAudit
from turnfold.events.log.replay import store_disk
from turnfold.events.log.scan import ScannedFrame
from turnfold.events.log.session_texts import has_text, unclean_texts
from turnfold.events.log.survey import (
    Anchor,
    Place,
    SegmentEntry,
    Survey,
    list_entries,
    store_id_of,
)
from turnfold.events.log.traces import traces_of
from turnfold.events.log.verify_report import SavedHead, VerifyFinding, VerifyReport
from turnfold.events.log.walk import Walk
from turnfold.events.redaction import RULESET_VERSION
from turnfold.events.redaction_operator import builtin_version
from turnfold.events.snapshot import capture, state_digest
from turnfold.events.state import StoreState


def verify(
    storage_path: str | Path, *, head: SavedHead | str | None = None, erased: UUID | None = None
) -> VerifyReport:
    """Look at everything below a storage path. See VerifyReport.

    `head` must still be the chain's head at its position. Of the avatar `erased` nothing may be
    left. Raises UnsupportedFormat for a newer format, StorageError, InvalidInput.
    """
    saved = SavedHead.parse(head) if isinstance(head, str) else head
    disk = store_disk(storage_path)
    try:
        return verify_disk(disk, head=saved, erased=erased)
    finally:
        disk.close()


def verify_disk(
    disk: Disk, *, head: SavedHead | None = None, erased: UUID | None = None
) -> VerifyReport:
    """`verify` for a disk that is open."""
    report = _Verification(disk, head, erased).run()
    if report.findings:
        # Beside a running store, what was read first may have been erased before the rest was
        # read. What is wrong is still wrong when one looks again.
        again = _Verification(disk, head, erased).run()
        still = tuple(found for found in again.findings if found in report.findings)
        report = attrs.evolve(again, findings=still)
    return report


class _Verification:
    def __init__(self, disk: Disk, head: SavedHead | None, erased: UUID | None) -> None:
        self._disk = disk
        self._saved = head
        self._head_seen = head is None
        self._avatar = erased
        self._findings: list[VerifyFinding] = []
        self._watched = self._pseudonym(erased)
        self._audit = PayloadAudit(self._watched)
        self._generations = {
            generation_position(name) or 0: name for name in list_generations(disk)
        }
        self._state: StoreState | None = StoreState()
        self._declared: list[Gap] = []
        self._gaps: list[Gap] = []
        self._frames = self._events = 0
        self._last = 0  # position of the frame before
        self._exported = False

    def _pseudonym(self, avatar: UUID | None) -> Pseudonym | None:
        if avatar is None:
            return None
        secret = read_key(self._disk)
        if secret is None:
            self._found("erased", f"{KEY_PATH} is lost: what is of the avatar can't be told")
            return None
        return pseudonym(secret, avatar)

    def _found(self, check: str, message: str, position: int = 0, path: str = "") -> None:
        self._findings.append(VerifyFinding(check, message, position, path))

    def run(self) -> VerifyReport:
        entries = list_entries(self._disk)
        self._see_exported(entries)
        first = next((entry for entry in entries if entry.header is not None), None)
        begins = 1 if first is None else first.begins
        self._last = begins - 1
        anchor = Anchor(0, b"")
        if first is not None and first.header is not None and begins > 1:
            anchor = Anchor(begins - 1, first.header.previous_head)
            self._start_from(begins - 1)
            self._compare_saved(begins - 1, first.header.previous_head)
        walk = Walk(
            self._disk,
            entries,
            store_id_of(entries) or bytes(16),
            anchor=anchor,
            visit=self._visit,
            declare=self._declare,
        )
        survey = walk.run()
        self._breaks(survey)
        for entry in survey.unusable:
            self._found("frames", entry.message, entry.base, entry.path)
        self._audit.close(self._state)
        for position, what in self._audit.problems:
            check = "payloads" if what == DAMAGED else "erasure"
            self._found(check, what, position)
        self._check_live()
        count = self._check_generations()
        if not self._head_seen and self._saved is not None:
            known, message = self._saved.position, "no frame ends at the saved position"
            if known < begins:
                message = f"unprovable: trimmed; the log begins at position {begins}"
            self._found("head", message, known)
        self._check_erased()
        return VerifyReport(
            findings=tuple(self._findings),
            from_position=begins,
            head=SavedHead(survey.position, survey.head),
            frames=self._frames,
            events=self._events,
            payloads=self._audit.payloads,
            erased_payloads=self._audit.erased,
            generations=count,
            gaps=tuple(self._gaps),
            exported=self._exported,
        )

    # --- the log -----------------------------------------------------------------------------

    def _see_exported(self, entries: list[SegmentEntry]) -> None:
        """Whether this is an export: all of it, or something was put in its place."""
        headers = [entry.header for entry in entries if entry.header is not None]
        self._exported = any(header.exported for header in headers)
        for header in headers:
            if header.exported != self._exported:
                self._found(
                    "payloads", "segments with payloads lie among exported ones", header.base
                )

    def _start_from(self, position: int) -> None:
        """The log was trimmed: the state comes from the oldest generation that reaches it."""
        self._state = None
        for generation, name in sorted(self._generations.items()):
            if generation >= position:
                state = state_in(self._disk, name)
                if isinstance(state, StoreState):
                    self._state = state
                    return

    def _visit(self, _place: Place, frame: ScannedFrame, head: bytes) -> None:
        header = frame.header
        self._frames += 1
        try:
            payload = None if self._exported else frame.payload
            events = decode_events(frame.chained, header.first, payload, exact=True)
        except CorruptData as error:
            self._found("frames", str(error), header.first)
            return
        sealed = [part for event in events for part in sealed_of(event)]
        if frame.payload_ok is False and all(isinstance(part, bytes) for part in sealed):
            self._found("payloads", "a payload's checksum is damaged", header.first)
        if header.first != self._last + 1:
            self._skip(header.first)
        self._last = header.last
        for event in events:
            self._events += 1
            if not self._exported:
                self._audit.see(event, self._state_before(event))
            self._evolve(event)
        self._compare_saved(header.last, head)
        name = self._generations.get(header.last)
        if name is not None:
            self._compare(name, header.last, head)

    def _compare_saved(self, position: int, head: bytes) -> None:
        """The chain's head at a position, if it was saved there."""
        if self._saved is not None and position == self._saved.position:
            self._head_seen = True
            if head != self._saved.head:
                self._found("head", "the chain is not the one whose head was saved", position)

    def _skip(self, position: int) -> None:
        """Positions before this one are missing, as `_breaks` or a segment's header tells."""
        self._audit.skip()
        if self._state is not None and self._state.position < position - 1:
            self._start_from(position - 1)  # no such generation: the state isn't known any more

    def _state_before(self, event: Event) -> StoreState | None:
        state = self._state
        return state if state is not None and state.position == event.position - 1 else None

    def _evolve(self, event: Event) -> None:
        lost = lost_range(event)
        if lost is not None:
            self._declared.append(lost)
        state = self._state
        if state is None or state.position >= event.position:
            return
        try:
            evolve(state, event)
        except CorruptData as error:
            self._found("state", f"the log doesn't fold: {error}", event.position)
            self._state = None
            return
        state.commit()

    def _declare(self, gap: Gap) -> None:
        self._gaps.append(gap)
        state = self._state
        if state is not None and gap.first <= state.position + 1 and gap.last > state.position:
            self._pass(gap)

    def _pass(self, gap: Gap) -> None:
        """Go on behind positions that are lost, from the generation that the opening went on from.

        One that reaches behind them, or the newest among them.
        """
        state = self._state
        assert state is not None
        self._start_from(gap.last)
        if self._state is None or self._state.position > gap.last:
            among = restore_newest(self._disk, state.position + 1, gap.last)
            self._state = state = state if among is None else among[1]
            if state.position < gap.last:
                evolve(state, Gap(state.position + 1, gap.last, gap.reason))
                state.commit()

    def _breaks(self, survey: Survey) -> None:
        for one in survey.breaks:
            if one.position > survey.evidence:
                continue  # being written, or torn: the next opening sees to it
            last = max(one.position, (one.resumed or one.position + 1) - 1)
            known = [gap for gap in self._declared if gap.holds(one.position, one.position)]
            if known:
                self._gaps.append(Gap(one.position, last, known[0].reason))
                continue
            check = "chain" if one.offset == 0 else "frames"
            message = f"positions {one.position} to {last}: {one.why}"
            self._found(check, message, one.position, f"log/{one.base:020}.log")

    # --- generations -------------------------------------------------------------------------

    def _compare(self, name: str, position: int, head: bytes) -> None:
        """A generation against the chain and the fold, where the log stands at its position."""
        loaded = load_generation(self._disk, name, None)
        if isinstance(loaded, Rejected):
            return  # it is told about with all generations
        if head and loaded.header.head != head:
            self._found("generations", f"{name} is of another history", position)
        state = self._state
        if state is None or state.position != position:
            return
        if state_digest(capture(state)) != loaded.header.digest:
            self._found("generations", f"{name} is not what the log folds to", position)

    def _check_generations(self) -> int:
        """Their files, and that what is gone from the log is gone from them and nothing else."""
        for position, name in sorted(self._generations.items()):
            state = state_in(self._disk, name)
            if isinstance(state, Rejected):
                if not state.gone:
                    self._found("generations", f"{name}: {state.message}", position)
                continue
            if self._state is not None:
                self._findings += check_copies(name, state, self._state)
            for session in state.sessions():
                if session.started.pseudonym == self._watched and has_text(session):
                    self._found("erased", f"{name} holds text of the avatar", session.start)
        return len(self._generations)

    # --- what is live --------------------------------------------------------------------------

    def _check_live(self) -> None:
        """Every live text is a fixed point of the redaction in force."""
        state = self._state
        if state is None or builtin_version(state.opening.ruleset) != RULESET_VERSION:
            return  # an older ruleset's texts are redacted again by the next opening
        for session in state.sessions():
            for position in unclean_texts(session):
                self._found("redaction", "a text is not what redaction leaves", position)

    def _check_erased(self) -> None:
        """Nothing of the avatar is left in the log, in any file, or in quarantine."""
        if self._avatar is None:
            return
        for position in self._audit.watched_left:
            self._found("erased", "a payload of the avatar is left", position)
        for path, message in traces_of(self._disk, self._avatar):
            self._found("erased", message, path=path)
        for path in foreign_paths(self._disk):
            if not path.endswith(TEMPORARY):
                unknown = "it is no file of the store, so nothing in it was erased: look yourself"
                self._found("erased", unknown, path=path)
