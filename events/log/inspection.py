"""Looking at a store's files without touching them: what recovery starts from, and doctor too."""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from turnfold.events.codec import decode_events
from turnfold.events.commands import Instant
from turnfold.events.erasure_plan import is_torn
from turnfold.events.event import Gap
from turnfold.events.log.chain import genesis
from turnfold.events.log.checkpoint import all_checkpoints
from turnfold.events.log.checksum import CRC_BYTES
from turnfold.events.log.disk import Disk
from turnfold.events.log.frame import HEADER_BYTES, decode_header
from turnfold.events.log.generation_file import (
    LoadedGeneration,
    Rejected,
    list_generations,
    load_generation,
    restore_generation,
)
from turnfold.events.log.losses import declared_losses, missing_between
from turnfold.events.log.opening import OpeningReport
from turnfold.events.log.quarantine import DIGEST_BYTES, Finding
from turnfold.events.log.survey import (
    UNKNOWN,
    Anchor,
    SegmentEntry,
    Survey,
    list_entries,
    raw_frames,
    store_id_of,
)
from turnfold.events.log.tail_fold import OtherChain, TailFold
from turnfold.events.log.verdict import Verdict
from turnfold.events.log.walk import Walk
from turnfold.events.reasons import Reason
from turnfold.events.sealed import Unreadable, sealed_length
from turnfold.events.state import StoreState

OTHER_HISTORY: Final = "its chain head is not the log's: it is of another history"


@attrs.frozen(eq=False, repr=False)
class Inspection:
    """What lies in a store: its segments, the generation that the state is from, the state."""

    entries: list[SegmentEntry]
    store_id: bytes | None
    fold: TailFold
    survey: Survey
    generation: LoadedGeneration | None
    rejected: list[Rejected]
    missing: list[Gap]  # before the generation, and told by no opening

    @property
    def is_new(self) -> bool:
        """Whether there is nothing of a store yet."""
        return not self.entries and self.generation is None and not self.rejected

    @property
    def last(self) -> Instant | None:
        """The newest time that anything in the log tells, with its age; None if nothing does."""
        state, mark = self.fold.state, self.survey.watermark
        if not state.position and mark is None:
            return None
        if mark is None or state.age > mark.age:
            return Instant(state.at, state.age)
        return mark


def inspect(disk: Disk) -> Inspection:
    """Find the newest generation that holds, and fold the log behind it.

    Raises UnsupportedFormat if a newer Turnfold wrote the log, and StorageError.
    """
    entries = list_entries(disk)
    store_id = store_id_of(entries)
    rejected: list[Rejected] = []
    named = max(all_checkpoints(disk), default=0)
    for name in list_generations(disk):
        loaded = load_generation(disk, name, store_id)
        if isinstance(loaded, Rejected):
            rejected.append(loaded)
            continue
        found = _look_from(disk, entries, loaded, max(named, loaded.header.position))
        if isinstance(found, Inspection):
            return _completed(disk, found, rejected)
        rejected.append(found)
        if found.message != OTHER_HISTORY:
            named = max(named, loaded.header.position)
    found = _walk(disk, entries, None, StoreState(), named=named)
    while torn_at := _torn_at(disk, found):
        found = _walk(disk, entries, None, StoreState(), named=named, torn_at=torn_at)
    return _completed(disk, found, rejected)


def _completed(disk: Disk, found: Inspection, rejected: list[Rejected]) -> Inspection:
    """With what is missing before the walk's first segment and no opening has told."""
    begin = max(1, found.generation.header.position if found.generation else 0)
    before = [
        entry
        for entry in found.entries
        if entry.base <= begin
        and entry.is_of(found.store_id)
        and entry not in found.survey.obsolete
    ]
    missing = list(missing_between(disk, before))
    if missing:
        declared = declared_losses(disk, found.entries)
        missing = [
            gap for gap in missing if not any(one.holds(gap.first, gap.last) for one in declared)
        ]
    return attrs.evolve(found, rejected=rejected, missing=missing)


def _look_from(
    disk: Disk, entries: list[SegmentEntry], loaded: LoadedGeneration, named: int
) -> Inspection | Rejected:
    """What there is if one starts from this generation."""
    identity = loaded.header.position, loaded.header.digest
    torn_at, seek = 0, True
    while True:
        state = restore_generation(disk, loaded)
        if isinstance(state, Rejected):
            return state
        try:
            found = _walk(disk, entries, loaded, state, named=named, torn_at=torn_at, seek=seek)
        except OtherChain:
            return Rejected(loaded.name, Reason.QUARANTINED_INVALID, OTHER_HISTORY)
        if seek and identity not in found.fold.written:
            # The log behind it doesn't say that it was written: its head has to be compared.
            seek = False
            continue
        # Without what came behind a torn frame, another may turn out to be torn before it.
        torn_at = _torn_at(disk, found)
        if not torn_at:
            return found


def _torn_at(disk: Disk, found: Inspection) -> int:
    """The first frame behind the evidence whose payload is torn; 0 if there is none.

    A payload whose checksum fails may also be one that an erasure, still pending, has begun on.
    """
    suspects = [place for place in found.survey.undurable if not place.is_whole]
    for place, data in zip(suspects, raw_frames(disk, suspects), strict=True):
        header = decode_header(data)
        assert header is not None, "it was walked over"
        begin = HEADER_BYTES + header.chained_bytes + CRC_BYTES
        chained = data[HEADER_BYTES : begin - CRC_BYTES]
        payload = data[begin : begin + header.payload_bytes]
        for event in decode_events(chained, header.first, payload):
            if is_torn(found.fold.state, event):
                return place.first
    return 0


def _walk(
    disk: Disk,
    entries: list[SegmentEntry],
    generation: LoadedGeneration | None,
    state: StoreState,
    *,
    named: int,
    torn_at: int = 0,
    seek: bool = False,
) -> Inspection:
    store_id = store_id_of(entries)
    if generation is not None:
        store_id = store_id or generation.header.store_id
        anchor = Anchor(generation.header.position, generation.header.head)
    else:
        anchor = Anchor(0, genesis(store_id) if store_id else UNKNOWN)
    fold = TailFold(state, anchor)
    walk = Walk(
        disk,
        entries,
        store_id or bytes(16),
        anchor=anchor,
        visit=fold.visit,
        declare=fold.declare,
        torn_at=torn_at,
        seek=seek,
    )
    survey = walk.run()
    survey.epoch = max(survey.epoch, state.opening.epoch)
    survey.raise_evidence(named)
    return Inspection(entries, store_id, fold, survey, generation, [], [])


def drop_caches(disk: Disk, entries: list[SegmentEntry]) -> None:
    """Have the newest segment read from the device: the cache may show what never got there."""
    for entry in entries[-1:]:
        if entry.header is not None:
            file = disk.open(entry.path)
            try:
                file.drop_cache()
            finally:
                file.close()


def report_on(found: Inspection, verdict: Verdict) -> OpeningReport:
    """What is to be said, before anything is set aside."""
    report = OpeningReport(
        verdict.reason,
        lost_first=verdict.lost_first,
        lost_last=verdict.lost_last,
        sessions_lost=verdict.sessions_lost,
        highest_seen=max(found.survey.highest_seen, found.survey.position),
        findings=tuple(unreadable_payloads(found.fold.state)),
    )
    return _with_missing_start(_with_missing(report, found.missing), found, verdict)


def _with_missing(report: OpeningReport, missing: Sequence[Gap]) -> OpeningReport:
    """Say so if segments are missing before the generation: history is lost, and nothing else."""
    if not missing:
        return report
    first = missing[0].first
    return attrs.evolve(
        report,
        reason=Reason.OPENED_DAMAGED,
        lost_first=min(first, report.lost_first or first),
        lost_last=max(missing[-1].last, report.lost_last),
    )


def _with_missing_start(
    report: OpeningReport, found: Inspection, verdict: Verdict
) -> OpeningReport:
    """Say so if segments are missing from the log's start that no trimming took."""
    state = found.fold.state
    entry = next((entry for entry in found.entries if entry.is_of(found.store_id)), None)
    if entry is None:
        begins, head = verdict.position + 1, verdict.head
        if verdict.gap is not None:
            begins = verdict.gap.first
    else:
        assert entry.header is not None
        begins, head = entry.begins, entry.header.previous_head
    if begins <= state.first_kept or verdict.reason is Reason.OPENED_NEW:
        return report
    first = min(report.lost_first or state.first_kept, state.first_kept)
    return attrs.evolve(
        report,
        reason=Reason.OPENED_DAMAGED,
        lost_first=first,
        lost_last=max(report.lost_last, begins - 1),
        first_kept=begins,
        head_before=head,
    )


def unreadable_payloads(state: StoreState) -> Iterator[Finding]:
    """One finding for all texts and records of a state that aren't what was written, nor zeros."""
    parts = [
        (position, sealed)
        for session in state.sessions()
        for position, sealed in (
            (session.start, session.started.sealed),
            *((turn.position, turn.sealed) for turn in session.turns),
            *([(session.summary.position, session.summary.sealed)] if session.summary else []),
        )
    ]
    parts += [(record.position, record.sealed) for record in state.records.values()]
    parts = [(position, sealed) for position, sealed in parts if type(sealed) is Unreadable]
    if parts:
        yield Finding(
            Reason.QUARANTINED_CORRUPT,
            "payload",
            min(position for position, _sealed in parts),
            sum(sealed_length(sealed) for _position, sealed in parts),
            bytes(DIGEST_BYTES),
            kept=False,
            message=f"{len(parts)} texts are damaged",
        )
