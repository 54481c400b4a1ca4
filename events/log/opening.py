"""What an opening found and did, and the events of its first frame."""

from collections.abc import Iterable
from typing import Any, Final

import attrs

from turnfold.events.commands import Instant
from turnfold.events.event import (
    Event,
    LogTrimmed,
    PermissionsNotVerified,
    PermissionsTightened,
    Quarantined,
    SessionLost,
    SessionStateDeleted,
    StoreOpened,
)
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.log.quarantine import Finding
from turnfold.events.reasons import Reason
from turnfold.events.session import EndedSession
from turnfold.events.state import StoreState

LOST_MAX: Final = 65_000  # sessions and records lost in one frame, which holds 65,535 events
FINDINGS_MAX: Final = 500


@attrs.frozen
class OpeningReport:
    """How a store was found. `lost_first`..`lost_last` were durable and are gone (0, 0 if none).

    `sessions_lost`: no generation reaches past them, so no recovered session may stay live.
    `highest_seen` is the highest position named by an intact header. `tightened` counts files and
    directories that were open to others. `first_kept`: the log's start is missing, it begins here
    now, with chain head `head_before` before it (0 if nothing is missing).
    """

    reason: Reason
    lost_first: int = 0
    lost_last: int = 0
    sessions_lost: bool = False
    highest_seen: int = 0
    findings: tuple[Finding, ...] = ()
    tightened: int = 0
    modes_verified: bool = True
    first_kept: int = 0
    head_before: bytes = attrs.field(default=b"", repr=False)


def opening_events(
    report: OpeningReport,
    state: StoreState,
    *,
    now: Instant,
    epoch: int,
    ruleset: int,
    limits: Limits,
    recorded_clock: bool,
    seen_at: int = 0,
) -> tuple[Event, ...]:
    """The events of an opening's first frame, from the position behind the state's.

    Sessions that can't stay live are ended in it, and session-state records with them, so that no
    crash brings them back.
    """
    events: list[Event] = []

    def common(reason: Reason) -> dict[str, Any]:
        position = state.position + 1 + len(events)
        return {"position": position, "at": now.at, "age": now.age, "reason": reason}

    events.append(
        StoreOpened(
            **common(report.reason),
            epoch=epoch,
            ruleset=ruleset,
            limits=tuple(getattr(limits, name) for name in BOUNDS),
            recorded_clock=recorded_clock,
            highest_seen=report.highest_seen,
            lost_first=report.lost_first,
            lost_last=report.lost_last,
            seen_at=max(0, seen_at),
        )
    )
    if report.first_kept:
        trimmed = common(Reason.TRIMMED_STORAGE_LIMIT)
        events.append(LogTrimmed(**trimmed, first_kept=report.first_kept, head=report.head_before))
    lost = list(state.where)[:LOST_MAX] if report.sessions_lost else []
    for start in lost:
        events.append(SessionLost(**common(Reason.LOST_DAMAGE), session=start))  # noqa: PERF401  # positions count events
    records = list(state.records.values()) if report.sessions_lost else []
    for record in records[: LOST_MAX - len(lost)]:
        deleted = SessionStateDeleted(
            **common(Reason.LOST_DAMAGE), record=record.record, recorded=record.position
        )
        events.append(deleted)
    for finding in report.findings[:FINDINGS_MAX]:
        quarantined = Quarantined(
            **common(finding.reason),
            what=finding.what,
            around=finding.around,
            size=finding.size,
            digest=finding.digest,
            kept=finding.kept,
        )
        events.append(quarantined)
    if report.tightened:
        events.append(
            PermissionsTightened(**common(Reason.PERMISSIONS_TIGHTENED), paths=report.tightened)
        )
    if not report.modes_verified:
        events.append(PermissionsNotVerified(**common(Reason.PERMISSIONS_UNSUPPORTED_PLATFORM)))
    return tuple(events)


def lose_sessions(state: StoreState, starts: Iterable[int]) -> None:
    """End sessions as lost, and drop all session-state records, in a state that is only read."""
    for name in list(state.records):
        state.drop_record(name)
    state.record_bytes = 0
    for start in list(starts):
        session = state.session_at(start)
        if session is not None:
            state.total_bytes -= session.size
            state.remove_session(session)
            ended = EndedSession(Reason.LOST_DAMAGE, state.position, session.session_id, start)
            state.put_ended(session.tag, ended)
    state.commit()
