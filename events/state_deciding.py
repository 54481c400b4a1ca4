"""Deciding about session-state records: what a write, a deletion or the end of a source means.

Whoever sends a write has decided it already, with every condition (`session_state.decide_write`).
Here, in the order of commands, is asked again what may have changed since: the approval, the room
that is left, and whether the conversation that the record was built from has been deleted.
"""

from hashlib import blake2b

from turnfold.events.commands import DeleteState, Entropy, RecordState
from turnfold.events.draft import Draft
from turnfold.events.event import SessionStateDeleted, SessionStateRecorded
from turnfold.events.limits import Limits
from turnfold.events.reasons import Reason
from turnfold.events.sealed import NONCE_BYTES, commit, seal, sealed_length
from turnfold.events.session import EndedSession, KeyTag, Session, StateRecord
from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.codec import stored_form
from turnfold.events.session_state.policy import (
    RECORD_OVERHEAD_BYTES,
    Room,
    approval_blockers,
    room_blockers,
)
from turnfold.events.session_state.reports import (
    SessionStateDeleteReport,
    SessionStateWriteReport,
)

SOURCE_TAG_BYTES = 16


def record_state(
    draft: Draft, command: RecordState, source: KeyTag | None, entropy: Entropy
) -> SessionStateWriteReport:
    """Store the record in place of the one under its tag, or name what blocks it now.

    `source` is the tag of the record's own source, None if it has none.
    """
    state, record = draft.state, command.record
    old = state.records.get(command.tag)
    blockers = approval_blockers(
        command.approval,
        now_ns=draft.now.at,
        highest_seen_ns=max(command.seen_ns, state.highest_at),
    )
    if source is not None:
        last = state.session(source) or state.ended.get(source)
        blockers += source_blockers(source, record.source_position, last, old)
    left = room_left(draft.limits, len(state.records), state.record_bytes, old)
    blockers += room_blockers(record, left)
    if not blockers:
        sealed = seal(entropy.take(NONCE_BYTES), stored_form(record))
        draft.add(
            SessionStateRecorded(
                **draft.common(Reason.STATE_RECORDED),
                record=command.tag,
                scope=command.scope_tag,
                source=None if source is None else source_tag(source),
                commitment=commit(sealed),
                sealed=sealed,
            )
        )
    return SessionStateWriteReport.of(record, blockers, applied=not blockers)


def delete_state(draft: Draft, command: DeleteState) -> SessionStateDeleteReport:
    """Delete the record under the tag, if there is one."""
    record = draft.state.records.get(command.tag)
    if record is not None:
        forget_record(draft, record, Reason.STATE_DELETED)
    return SessionStateDeleteReport.of(deleted=record is not None)


def forget_source(draft: Draft, source: KeyTag) -> int:
    """Delete every record that was derived from a conversation; how many there were."""
    named = source_tag(source)
    derived = [record for record in draft.state.records.values() if record.source == named]
    for record in derived:
        forget_record(draft, record, Reason.STATE_SOURCE_DELETED)
    return len(derived)


def forget_record(draft: Draft, record: StateRecord, reason: Reason) -> None:
    """The record is gone; its payload will be erased."""
    draft.add(
        SessionStateDeleted(**draft.common(reason), record=record.record, recorded=record.position)
    )


def source_tag(tag: KeyTag) -> bytes:
    """How a record names, in its event, the conversation that it was derived from: 16 bytes."""
    named = tag[0] + bytes([tag[1]])
    return blake2b(named, digest_size=SOURCE_TAG_BYTES, person=b"tf-state-source").digest()


def source_blockers(
    source: KeyTag,
    built: int | None,
    last: Session | EndedSession | None,
    old: StateRecord | None,
) -> tuple[Blocker, ...]:
    """Whether the conversation may have been deleted since the record was built; empty if not.

    `built` is the record's `source_position`; `last` the conversation's live session or how its
    last one ended; `old` the record that would be replaced. Two things prove that there was no
    deletion since: the session of that time is still the conversation's last one and wasn't
    deleted; or a record derived before is still there, which a deletion would have removed.
    """
    if built is not None:
        if last is not None and last.start <= built and not _is_deleted(last):
            return ()
        if old is not None and old.position <= built and old.source == source_tag(source):
            return ()
    return (Blocker.SOURCE_GONE,)


def _is_deleted(last: Session | EndedSession) -> bool:
    return isinstance(last, EndedSession) and last.reason is Reason.DELETED_OPERATOR


def room_left(limits: Limits, records: int, record_bytes: int, old: StateRecord | None) -> Room:
    """What `state_records` and `state_bytes` leave for one write that replaces `old`.

    `record_bytes` are the sealed bytes of all `records`; each counts a fixed overhead more.
    """
    used = record_bytes + records * RECORD_OVERHEAD_BYTES
    if old is not None:
        records -= 1
        used -= sealed_length(old.sealed) + RECORD_OVERHEAD_BYTES
    return Room(records=limits.state_records - records, bytes=limits.state_bytes - used)
