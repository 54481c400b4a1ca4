"""evolve: how each event changes the folded state. fold: all events, one after the other.

Pure: no clock, no randomness, no redaction, nothing recomputed. The same events give the same
state whether texts are there, withheld or erased, because the state depends on lengths,
commitments and tags alone. `state` is changed in place; it has one owner.
"""

from collections.abc import Iterable
from typing import Any

from turnfold.events import event as e
from turnfold.events.errors import CorruptData
from turnfold.events.keys import CHANNELS, Pseudonym
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.reasons import ERASED_AFTER, Reason
from turnfold.events.sealed import sealed_length
from turnfold.events.session import (
    EndedSession,
    KeyTag,
    Opening,
    PendingErasure,
    Session,
    StateRecord,
    apply_turn,
    compacted,
    redacted,
    start_session,
)
from turnfold.events.state import StoreState


def fold(events: Iterable[e.Event | e.Gap], state: StoreState | None = None) -> StoreState:
    """The state after these events, which continue `state` (default: from position 1).

    Raises CorruptData if positions don't continue or an event doesn't fit the state.
    """
    folded = StoreState() if state is None else state
    for event in events:
        evolve(folded, event)
    folded.commit()
    return folded


def evolve(state: StoreState, event: e.Event | e.Gap) -> None:
    """Apply one event. Raises CorruptData if it doesn't continue the state or doesn't fit it."""
    if isinstance(event, e.Gap):
        _skip(state, event)
        return
    if event.position != state.position + 1:
        raise CorruptData(f"position {event.position} follows {state.position}: events are missing")
    _APPLY[type(event)](state, event)
    state.position = event.position
    state.at = event.at
    state.highest_at = max(state.highest_at, event.at)
    state.age = max(state.age, event.age)


def _skip(state: StoreState, gap: e.Gap) -> None:
    if gap.first != state.position + 1 or gap.last < gap.first:
        raise CorruptData(f"a gap {gap.first}..{gap.last} doesn't follow position {state.position}")
    state.position = gap.last


# --- one function per event ---------------------------------------------------------------------


def _live(state: StoreState, start: int, position: int) -> Session:
    session = state.session_at(start)
    if session is None:
        raise CorruptData(f"the event at position {position} names no live session ({start})")
    return session


def _store_opened(state: StoreState, event: e.StoreOpened) -> None:
    state.highest_at = max(state.highest_at, event.seen_at)
    names = tuple(BOUNDS)[: len(event.limits)]
    limits = Limits(**dict(zip(names, event.limits, strict=True)))
    before = state.opening
    same = before.ruleset == event.ruleset and (
        (before.limits.turn_bytes, before.limits.tool_turn_bytes)
        == (limits.turn_bytes, limits.tool_turn_bytes)
    )
    state.opening = Opening(
        epoch=event.epoch,
        ruleset=event.ruleset,
        limits=limits,
        recorded_clock=event.recorded_clock,
        basis_since=before.basis_since if same else event.position,
    )


def _session_started(state: StoreState, event: e.SessionStarted) -> None:
    session = start_session(event)
    if state.session(session.tag) is not None:
        raise CorruptData(f"the session at position {event.position} has a key that is live")
    state.drop_ended(session.tag)
    state.put_session(session)
    state.total_bytes += session.size


def _turn_added(state: StoreState, event: e.TurnAdded) -> None:
    old = _live(state, event.session, event.position)
    new = apply_turn(old, event, state.opening.limits)
    state.put_session(new)
    state.total_bytes += new.size - old.size
    if event.turn_tag is not None:
        _forget_turn_ids(state, old, new)
        entry = (event.content_tag or b"", event.position)
        state.index_turn_id(new.start, event.turn_tag, entry)


def _session_compacted(state: StoreState, event: e.SessionCompacted) -> None:
    old = _live(state, event.session, event.position)
    new = compacted(old, event, state.opening.limits.turn_ids_per_session)
    state.replace_session(new)
    state.total_bytes += new.size - old.size
    _forget_turn_ids(state, old, new)
    due = state.pending.get((old.start, Reason.ERASED_COMPACTED))
    covered = max(*event.covers, due.covered if due else 0)
    state.put_pending(
        PendingErasure(
            session=old.start,
            tag=old.tag,
            reason=Reason.ERASED_COMPACTED,
            through=event.position,
            covered=covered,
            kept=tuple(turn.position for turn in new.turns if turn.position < covered),
        )
    )


def _forget_turn_ids(state: StoreState, old: Session, new: Session) -> None:
    """Unindex the ids that were among the compacted turns' and no longer are."""
    if len(old.turn_ids) > 0:
        kept = {turn_id.tag for turn_id in new.turn_ids}
        for turn_id in old.turn_ids:
            if turn_id.tag in kept:
                break  # the rest is newer
            state.index_turn_id(new.start, turn_id.tag, None)


def _end(state: StoreState, session: Session, position: int, reason: Reason) -> None:
    """The session is over: its text must go, and why it ended is remembered."""
    state.remove_session(session)
    state.total_bytes -= session.size
    start, tag = session.start, session.tag
    for name in (Reason.ERASED_COMPACTED, Reason.ERASED_REDACTED):
        if (start, name) in state.pending:
            state.drop_pending((start, name))
    through = max(session.last, session.summary.position if session.summary else 0, position)
    state.put_pending(PendingErasure(start, tag, ERASED_AFTER[reason], through))
    state.put_ended(tag, EndedSession(reason, position, session.session_id, start))


def _session_ended(state: StoreState, event: e.SessionExpired | e.SessionEvicted) -> None:
    _end(state, _live(state, event.session, event.position), event.position, event.reason)


def _session_lost(state: StoreState, event: e.SessionLost) -> None:
    # A recovery may have known the session from a generation among positions that are lost. Where
    # that generation is gone too, there is nothing to end, and what follows is whole.
    session = state.session_at(event.session)
    if session is not None:
        _end(state, session, event.position, event.reason)


def _session_deleted(state: StoreState, event: e.SessionDeleted) -> None:
    tag: KeyTag = (event.pseudonym, event.channel.code)
    if event.session:
        session = _live(state, event.session, event.position)
        if session.tag != tag:
            raise CorruptData(f"the deletion at position {event.position} names another key")
        _end(state, session, event.position, event.reason)
    else:
        if state.session(tag) is not None:
            raise CorruptData(f"the deletion at position {event.position} ignores a live session")
        last = state.ended.get(tag)
        ids = (last.session_id, last.start) if last else (None, 0)
        state.put_ended(tag, EndedSession(event.reason, event.position, *ids))


def _content_erased(state: StoreState, event: e.ContentErased) -> None:
    name = (event.session, event.reason)
    pending = state.pending.get(name)
    if pending is not None and pending.through <= event.through:
        state.drop_pending(name)


def _log_trimmed(state: StoreState, event: e.LogTrimmed) -> None:
    state.first_kept = event.first_kept
    state.head_before_kept = event.head


def _turn_redacted(state: StoreState, event: e.TurnRedacted) -> None:
    session = _live(state, event.session, event.position)
    after = redacted(session, event)
    state.replace_session(after)
    state.total_bytes += after.size - session.size
    name = (session.start, Reason.ERASED_REDACTED)
    before = state.pending.get(name)
    positions = (before.positions if before else ()) + tuple(p.position for p in event.parts)
    state.put_pending(
        PendingErasure(
            session=session.start,
            tag=session.tag,
            reason=Reason.ERASED_REDACTED,
            through=event.position,
            positions=positions,
        )
    )


def _state_recorded(state: StoreState, event: e.SessionStateRecorded) -> None:
    old = state.records.get(event.record)
    if old is not None:
        _erase_record(state, old)
    size = sealed_length(event.sealed)
    state.put_record(
        StateRecord(
            position=event.position,
            at=event.at,
            record=event.record,
            scope=event.scope,
            source=event.source,
            commitment=event.commitment,
            sealed=event.sealed,
        )
    )
    state.record_bytes += size


def _state_deleted(state: StoreState, event: e.SessionStateDeleted) -> None:
    record = state.records.get(event.record)
    if record is None or record.position != event.recorded:
        raise CorruptData(f"the event at position {event.position} names no session-state record")
    state.drop_record(event.record)
    _erase_record(state, record)


def _erase_record(state: StoreState, record: StateRecord) -> None:
    """A record's payload is named by its own position, as if it were a session of one event."""
    state.record_bytes -= sealed_length(record.sealed)
    state.put_pending(
        PendingErasure(
            session=record.position,
            tag=NO_KEY,
            reason=Reason.ERASED_DELETED,
            through=record.position,
            positions=(record.position,),
        )
    )


def _nothing(_state: StoreState, _event: e.Event) -> None:
    """Facts about files and subscribers; they change no state beyond position and times."""


NO_KEY: KeyTag = (Pseudonym(bytes(16)), len(CHANNELS))

_APPLY: dict[type[e.Event], Any] = {
    e.StoreOpened: _store_opened,
    e.SessionStarted: _session_started,
    e.TurnAdded: _turn_added,
    e.SessionCompacted: _session_compacted,
    e.SessionExpired: _session_ended,
    e.SessionEvicted: _session_ended,
    e.SessionDeleted: _session_deleted,
    e.SessionLost: _session_lost,
    e.GenerationWritten: _nothing,
    e.GenerationRetired: _nothing,
    e.Quarantined: _nothing,
    e.ContentErased: _content_erased,
    e.LogTrimmed: _log_trimmed,
    e.PermissionsNotVerified: _nothing,
    e.PermissionsTightened: _nothing,
    e.TurnRedacted: _turn_redacted,
    e.SubscriberParked: _nothing,
    e.SessionStateRecorded: _state_recorded,
    e.SessionStateDeleted: _state_deleted,
    e.DamageFound: _nothing,
}
