"""Doctor: what is the matter with a store, and what to do about it. Read-only.

What an opening would find is found as an opening finds it; what lies in the directory is looked at
file by file; everything that `verify` checks is checked. Beside a running store files come and go
while they are read, so only what is still so at a second look is told.
"""

from typing import Final

import attrs

from turnfold.events.codec import decode_times
from turnfold.events.errors import CorruptData, StorageError, UnsupportedFormat
from turnfold.events.event import Gap
from turnfold.events.limits import Limits
from turnfold.events.log.advice import Advice
from turnfold.events.log.backend import QuarantinedFile
from turnfold.events.log.directory_check import check_files, check_key
from turnfold.events.log.disk import Disk
from turnfold.events.log.generation_file import (
    generation_path,
    generation_position,
)
from turnfold.events.log.inspection import Inspection, drop_caches, inspect, report_on
from turnfold.events.log.layout import read_key
from turnfold.events.log.opening import OpeningReport
from turnfold.events.log.quarantine import Quarantine
from turnfold.events.log.reader import LogReader
from turnfold.events.log.segment import (
    LOG_DIRECTORY,
    list_segments,
    read_segment_header,
    segment_path,
)
from turnfold.events.log.usage import Usage, over_limits, usage_of
from turnfold.events.log.verdict import Verdict, judge
from turnfold.events.log.verify import verify_disk
from turnfold.events.reasons import Reason
from turnfold.events.state import StoreState

LOOKS: Final = 3  # beside a running store, whose files come and go


@attrs.frozen
class PendingText:
    """Text that must still be erased: since when (UTC ns; None: the log can't say)."""

    session: int
    reason: Reason
    since: int | None


@attrs.frozen(kw_only=True)
class Diagnosis:
    """What was found. `advice` is empty for a store in which there is nothing to say.

    `opening` is what an opening would say now (None: it would fail), `torn_bytes` what it would
    cut, `lost_first`..`lost_last` what it would give up. `generation` is the one it would start
    from. `sessions` are live now, `sessions_lost` says that an opening would have to end them all.
    `newest_at` is the newest time in the log (UTC ns), `recorded_clock` whether it is the store's
    only one.
    """

    advice: tuple[Advice, ...]
    opening: Reason | None = None
    torn_bytes: int = 0
    lost_first: int = 0
    lost_last: int = 0
    generation: str = ""
    position: int = 0
    sessions: int = 0
    sessions_lost: bool = False
    newest_at: int = 0
    recorded_clock: bool = False
    usage: tuple[Usage, ...] = ()
    pending: tuple[PendingText, ...] = ()
    quarantined: tuple[QuarantinedFile, ...] = ()

    @property
    def ok(self) -> bool:
        """Nothing needs anybody's attention."""
        return not any(item.urgent for item in self.advice)


def diagnose(disk: Disk, *, is_owned: bool, limits: Limits | None = None) -> Diagnosis:
    """Look at everything below a store's directory. `limits`: those that it is to be opened under.

    Without them they are those of its last opening. Raises nothing that a store's files can cause.
    """
    found = _look(disk, is_owned, limits)
    for _ in range(LOOKS - 1):
        if not is_owned or not found.advice:
            break
        again = _look(disk, is_owned, limits)
        still = tuple(item for item in again.advice if item in found.advice)
        found = attrs.evolve(again, advice=still)
    return found


def _look(disk: Disk, is_owned: bool, limits: Limits | None) -> Diagnosis:
    quarantined: tuple[QuarantinedFile, ...] = ()
    try:
        quarantined = tuple(Quarantine(disk, 0).files())
        files = check_files(disk, is_owned=is_owned)
        return _looked(disk, files, quarantined, is_owned, limits)
    except UnsupportedFormat as error:
        advice = _newer_segments(disk) or [_newer(str(error))]
    except FileNotFoundError:
        advice = [Advice("file", "files went while they were read", "run doctor again")]
    except StorageError as error:
        advice = [Advice("file", str(error), "see to it, then run doctor again", urgent=True)]
    return Diagnosis(advice=tuple(advice), quarantined=quarantined)


def _looked(
    disk: Disk,
    advice: list[Advice],
    quarantined: tuple[QuarantinedFile, ...],
    is_owned: bool,
    limits: Limits | None,
) -> Diagnosis:
    found = inspect(disk)
    if not is_owned and (found.survey.undurable or found.survey.breaks):
        drop_caches(disk, found.entries)
        found = inspect(disk)
    if any(entry.header is not None and entry.header.exported for entry in found.entries):
        export = "this is an export: it can be verified and read, and not opened"
        return Diagnosis(advice=(Advice("file", export, ""), *_verified(disk)))
    verdict = judge(found.survey, found.fold, found.entries, new=found.is_new)
    report = report_on(found, verdict)
    state = found.fold.state
    torn_bytes = _torn_bytes(disk, found)
    if not found.is_new:
        advice += check_key(disk, found)
    elif read_key(disk) is not None:
        what = "there is a key and no log: whatever was stored is gone"
        advice.append(Advice("file", what, "restore a backup", LOG_DIRECTORY, urgent=True))
    advice += _of_opening(found, verdict, report, torn_bytes, is_owned=is_owned)
    rejected = _rejected(found)
    advice += rejected
    told = {item.path for item in rejected}
    advice += [item for item in _verified(disk) if item.path not in told]
    usage = usage_of(disk, state, quarantined, limits or state.opening.limits)
    advice += over_limits(usage)
    return Diagnosis(
        advice=tuple(advice),
        opening=report.reason,
        torn_bytes=torn_bytes,
        lost_first=report.lost_first,
        lost_last=report.lost_last,
        generation=found.generation.name if found.generation else "",
        position=found.survey.position,
        sessions=state.active,
        sessions_lost=report.sessions_lost,
        newest_at=found.last.at if found.last else 0,
        recorded_clock=state.opening.recorded_clock,
        usage=usage,
        pending=_pending(disk, state),
        quarantined=quarantined,
    )


# --- what an opening would do ------------------------------------------------------------------


def _torn_bytes(disk: Disk, found: Inspection) -> int:
    """Bytes behind the last whole frame that nothing says were durable."""
    torn = [one for one in found.survey.breaks if one.position > found.survey.evidence]
    if not torn:
        return 0
    return max(0, disk.status(segment_path(torn[0].base)).size - torn[0].offset)


def _of_opening(
    found: Inspection, verdict: Verdict, report: OpeningReport, torn_bytes: int, *, is_owned: bool
) -> list[Advice]:
    if report.reason is Reason.OPENED_DAMAGED:
        what = f"positions {report.lost_first} to {report.lost_last} were durable and are gone"
        sessions = found.fold.state.active
        if verdict.sessions_lost:
            what += "; no generation reaches past them, so no session stays live"
        else:
            what += f"; the {sessions} live sessions are not affected"
        todo = (
            "copy the directory, then restore a backup, or open the store with on_damage ="
            ' "recover" to go on without'
        )
        if is_owned:
            todo = "flush the running store: a generation reaches past it then; check the disk"
        return [Advice("opening", what, todo, position=report.lost_first, urgent=True)]
    if report.reason is Reason.OPENED_TORN_TAIL:
        what = f"{torn_bytes} bytes behind position {found.survey.position} are no whole frame"
        if is_owned:
            return [Advice("opening", what, "nothing: the owner may be writing it")]
        return [Advice("opening", what, "nothing: a crash cut a write, the opening takes it away")]
    return []


def _rejected(found: Inspection) -> list[Advice]:
    return [
        Advice(
            "generation",
            f"it can't be used ({one.reason}): {one.message}",
            "use the Turnfold that wrote it, or let the opening set it aside"
            if one.reason is Reason.QUARANTINED_UNSUPPORTED
            else "check the disk; the opening sets it aside and uses another",
            path=generation_path(one.name),
            urgent=True,
        )
        for one in found.rejected
    ]


def _newer_segments(disk: Disk) -> list[Advice]:
    found: list[Advice] = []
    for base in list_segments(disk):
        try:
            file = disk.open(segment_path(base))
        except (FileNotFoundError, StorageError):
            continue
        try:
            read_segment_header(file, base)
        except UnsupportedFormat as error:
            found.append(_newer(str(error), segment_path(base)))
        except CorruptData:
            continue
        finally:
            file.close()
    return found


def _newer(message: str, path: str = "") -> Advice:
    return Advice(
        "format", message, "open it with the Turnfold that wrote it, or a newer", path, urgent=True
    )


# --- everything else -----------------------------------------------------------------------------

_NEXT: Final = {
    "erasure": "delete the avatar's key again; if it stays, restore a backup",
    "redaction": "open the store: it is redacted before anybody sees it",
    "payloads": "nothing brings the text back but a backup; the rest of the session holds",
}


def _verified(disk: Disk) -> list[Advice]:
    """What `verify` finds. Generations that can't be used are told by the opening."""
    try:
        findings = verify_disk(disk).findings
    except CorruptData as error:
        return [Advice("verify", str(error), "restore a backup", urgent=True)]
    return [
        Advice(
            one.check,
            one.message,
            _NEXT.get(one.check, "check the disk; the opening says what can be saved"),
            path=one.path or _path_in(one.message),
            position=one.position,
            urgent=True,
        )
        for one in findings
    ]


def _path_in(message: str) -> str:
    """The generation that a finding's message begins with."""
    name = message.partition(":")[0].partition(" ")[0]
    return "" if generation_position(name) is None else generation_path(name)


def _pending(disk: Disk, state: StoreState) -> tuple[PendingText, ...]:
    pending = list(state.pending.values())
    times = _times_of(disk, {one.through for one in pending})
    return tuple(PendingText(one.session, one.reason, times.get(one.through)) for one in pending)


def _times_of(disk: Disk, positions: set[int]) -> dict[int, int]:
    """The wall times (ns) of the events at these positions, as far as the log has them."""
    times: dict[int, int] = {}
    if not positions:
        return times
    waiting = sorted(positions, reverse=True)
    reader = LogReader(disk, waiting[-1] - 1, content=False)
    try:
        for item in reader.read(waiting[0]):
            while waiting and waiting[-1] <= item.last:
                position = waiting.pop()
                if not isinstance(item, Gap):
                    times[position] = decode_times(item.chained)[0]
    finally:
        reader.close()
    return times
