"""Opening a store: the newest state that can be proven, and a log to go on from there.

Everything is looked at before anything is changed, so a store of a newer format, or one that is
damaged and may not be repaired, is left as it is. What is chosen: the newest generation whose
digest, schema, bounds and chain head hold, and the log's frames behind it.

Where the frames break off, evidence decides. Nothing says that the missing ones were durable: a
torn tail, which is cut. Otherwise it is damage: the range is lost, the log goes on behind every
position that anything names, and unless a generation reaches past the range, no session that was
recovered from before it may stay live, for what was deleted in between would come back.
"""

from collections.abc import Callable
from typing import Final, Literal

import attrs

from turnfold.events.commands import Instant
from turnfold.events.errors import (
    DamagedStore,
    DiskFull,
    StoreReadOnly,
    TurnfoldError,
)
from turnfold.events.event import Gap
from turnfold.events.evolve import evolve
from turnfold.events.keys import key_check
from turnfold.events.limits import Limits
from turnfold.events.log.archive import FileArchive
from turnfold.events.log.backend import Log
from turnfold.events.log.chain import genesis
from turnfold.events.log.disk import Disk
from turnfold.events.log.file_log import FileLog, segment_bytes_for, trim_above
from turnfold.events.log.generations import Generations
from turnfold.events.log.inspection import Inspection, drop_caches, inspect, report_on
from turnfold.events.log.layout import (
    KEY_PATH,
    SECRET_BYTES,
    check_directory,
    make_directories,
    read_key,
    remove_temporary,
    tighten,
    write_key,
)
from turnfold.events.log.opening import OpeningReport, lose_sessions
from turnfold.events.log.ownership import Ownership
from turnfold.events.log.quarantine import Quarantine
from turnfold.events.log.read_only_log import ReadOnlyLog
from turnfold.events.log.repair import Repair
from turnfold.events.log.survey import (
    raw_frames,
)
from turnfold.events.log.verdict import Verdict, judge
from turnfold.events.reasons import Reason
from turnfold.events.state import StoreState

STORE_ID_BYTES: Final = 16

OnDamage = Literal["recover", "refuse"]


@attrs.frozen(eq=False, repr=False)
class Recovered:
    """An open store's files. `last` is the newest instant that the log knows, None if it is new.

    With `read_only` nothing may be written, for the reason that it gives; `opening_events` are
    then not to be recorded.
    """

    log: Log
    archive: FileArchive
    state: StoreState
    last: Instant | None
    report: OpeningReport
    read_only: TurnfoldError | None = None


def open_store(
    disk: Disk,
    acquire: Callable[[], Ownership],
    *,
    limits: Limits,
    on_damage: OnDamage = "recover",
    entropy: Callable[[int], bytes],
) -> Recovered:
    """Open the store below `disk`, or make one there. `acquire` gets the right to write.

    Raises StorePathError if it is no store, UnsupportedFormat if a newer Turnfold wrote it
    (nothing was touched then), StoreLocked, DiskFull for a new store, and StorageError. Closing
    the log gives up the ownership.
    """
    check_directory(disk)
    ownership = acquire()
    try:
        return _Recovery(disk, ownership, limits, on_damage, entropy).run()
    except BaseException:
        ownership.release()
        raise


class _Recovery:
    def __init__(
        self,
        disk: Disk,
        ownership: Ownership,
        limits: Limits,
        on_damage: OnDamage,
        entropy: Callable[[int], bytes],
    ) -> None:
        self._disk = disk
        self._ownership = ownership
        self._limits = limits
        self._on_damage = on_damage
        self._entropy = entropy

    def run(self) -> Recovered:
        found = inspect(self._disk)
        if found.survey.undurable or found.survey.breaks:
            drop_caches(self._disk, found.entries)
            found = inspect(self._disk)
        new = found.is_new
        verdict = judge(found.survey, found.fold, found.entries, new=new)
        report = report_on(found, verdict)
        secret = read_key(self._disk)
        refusal = self._refusal(found, report, secret, new=new)
        if refusal is None:
            try:
                return self._repair(found, verdict, report, secret)
            except DiskFull as error:
                if new:
                    raise
                refusal = StoreReadOnly(f"the store needs room to be opened for writing: {error}")
        return self._read_only(found, report, secret, refusal)

    def _refusal(
        self, found: Inspection, report: OpeningReport, secret: bytes | None, *, new: bool
    ) -> TurnfoldError | None:
        """Why the store may only be read, if so."""
        if not new:
            headers = [entry.header for entry in found.entries if entry.header is not None]
            checks = [h.key_check for h in headers if h.store_id == found.store_id]
            if secret is None or (checks and key_check(secret) != checks[-1]):
                return StoreReadOnly(
                    f"{KEY_PATH} is missing or not this store's; put the right one back to write"
                )
        if report.reason is Reason.OPENED_DAMAGED and self._on_damage == "refuse":
            return DamagedStore(
                f"positions {report.lost_first} to {report.lost_last} are damaged; restore a"
                ' backup, or open with on_damage = "recover" to go on without them'
            )
        return None

    # --- acting ------------------------------------------------------------------------------

    def _repair(
        self, found: Inspection, verdict: Verdict, report: OpeningReport, secret: bytes | None
    ) -> Recovered:
        disk, limits = self._disk, self._limits
        modes = tighten(disk)
        make_directories(disk)
        remove_temporary(disk)
        if secret is None:
            secret = self._entropy(SECRET_BYTES)
            write_key(disk, secret)
        store_id = found.store_id or self._entropy(STORE_ID_BYTES)
        quarantine = Quarantine(disk, limits.quarantine_bytes)
        repair = Repair(disk, quarantine)
        repair.set_aside(verdict, found.survey.unusable, found.rejected)
        log = FileLog.resume(
            disk,
            self._ownership,
            store_id=store_id,
            secret=secret,
            epoch=found.survey.epoch + 1,
            position=verdict.position,
            head=verdict.head or genesis(store_id),
            gap=verdict.gap,
            carried=list(raw_frames(disk, verdict.carried)),
            replace_tail=verdict.replace_tail,
            segment_bytes=segment_bytes_for(limits.log_bytes),
        )
        repair.clear_away(verdict)
        state = found.fold.state
        _go_to(state, log.position)
        names = [] if found.generation is None else [found.generation.name]
        generations = Generations(disk, store_id, limits.generation_bytes, verified=names)
        archive = FileArchive(
            disk,
            generations,
            quarantine,
            log_bytes_max=trim_above(limits.log_bytes),
            durable=lambda: log.durable,
        )
        report = attrs.evolve(
            report,
            tightened=modes.tightened,
            modes_verified=modes.verified,
            findings=(*report.findings, *repair.findings),
        )
        last = None if verdict.reason is Reason.OPENED_NEW else found.last
        return Recovered(log, archive, state, last, report)

    def _read_only(
        self,
        found: Inspection,
        report: OpeningReport,
        secret: bytes | None,
        refusal: TurnfoldError,
    ) -> Recovered:
        state = found.fold.state
        if report.sessions_lost:
            lose_sessions(state, state.where)
        store_id = found.store_id or bytes(STORE_ID_BYTES)
        log = ReadOnlyLog(
            self._disk,
            self._ownership,
            store_id=store_id,
            secret=secret or bytes(SECRET_BYTES),
            epoch=found.survey.epoch,
            position=state.position,
            head=found.survey.head,
            why=str(refusal),
        )
        limits = self._limits
        archive = FileArchive(
            self._disk,
            Generations(self._disk, store_id, limits.generation_bytes),
            Quarantine(self._disk, limits.quarantine_bytes),
            log_bytes_max=trim_above(limits.log_bytes),
            durable=lambda: 0,
        )
        return Recovered(log, archive, state, found.last, report, refusal)


def _go_to(state: StoreState, position: int) -> None:
    """Move a state on to where the log goes on, over positions that were lost."""
    if position > state.position:
        evolve(state, Gap(state.position + 1, position, Reason.OPENED_DAMAGED))
        state.commit()
