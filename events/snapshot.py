"""The state at one position as bytes: a skeleton without any text, and the sealed parts beside it.

The layout is described in `skeleton`; `restore` reads it back.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Final

import attrs

from turnfold.events.codec import REASON_CODES
from turnfold.events.event import TurnAdded
from turnfold.events.limits import BOUNDS
from turnfold.events.sealed import Sealed, Unreadable, Withheld, sealed_length
from turnfold.events.session import (
    EndedSession,
    KeyTag,
    Opening,
    PendingErasure,
    Session,
    StateRecord,
    Summary,
)
from turnfold.events.skeleton import BLOCK_ITEMS, FOLD_VERSION, pack_block
from turnfold.events.state import StoreState

DIGEST_BYTES: Final = 32

Item = tuple[Any, ...]


@attrs.frozen(eq=False, repr=False)
class Capture:
    """An immutable picture of a state; making one copies references only.

    `sessions` are in the order of each channel, least recently active first.
    """

    position: int
    at: int
    highest_at: int
    age: int
    total_bytes: int
    record_bytes: int
    first_kept: int
    head_before_kept: bytes
    opening: Opening
    sessions: tuple[Session, ...]
    ended: tuple[tuple[KeyTag, EndedSession], ...]
    pending: tuple[PendingErasure, ...]
    records: tuple[StateRecord, ...]

    def __repr__(self) -> str:
        return f"Capture(position={self.position}, {len(self.sessions)} sessions)"


def capture(state: StoreState) -> Capture:
    """The state as it is now, changes since the last commit included.

    To be called by the state's owner; the result may be handed to any thread.
    """
    return Capture(
        position=state.position,
        at=state.at,
        highest_at=state.highest_at,
        age=state.age,
        total_bytes=state.total_bytes,
        record_bytes=state.record_bytes,
        first_kept=state.first_kept,
        head_before_kept=state.head_before_kept,
        opening=state.opening,
        sessions=tuple(state.sessions()),
        ended=tuple(state.ended.items()),
        # A rollback may have reordered these two, which have no order of their own.
        pending=tuple(sorted(state.pending.values(), key=_pending_order)),
        records=tuple(sorted(state.records.values(), key=_record_order)),
    )


def _pending_order(pending: PendingErasure) -> tuple[int, str]:
    return pending.session, pending.reason.value


def _record_order(record: StateRecord) -> int:
    return record.position


# --- the skeleton --------------------------------------------------------------------------------


def skeleton_blocks(captured: Capture) -> Iterator[bytes]:
    """The skeleton, a block (about 0.2 ms of work) at a time."""
    items: list[Item] = []
    for item in _items(captured):
        items.append(item)
        if len(items) == BLOCK_ITEMS:
            yield pack_block(items)
            items.clear()
    if items:
        yield pack_block(items)


def skeleton(captured: Capture) -> bytes:
    """The canonical bytes of the state, without any text."""
    return b"".join(skeleton_blocks(captured))


def skeleton_digest() -> blake2b:
    """The hash that makes a state digest of a skeleton's bytes."""
    return blake2b(digest_size=DIGEST_BYTES, person=b"tf-state")


def state_digest(captured: Capture) -> bytes:
    """32 bytes that are equal for equal states, whether or not text was erased in between."""
    digest = skeleton_digest()
    for block in skeleton_blocks(captured):
        digest.update(block)
    return digest.digest()


def _items(captured: Capture) -> Iterator[Item]:
    yield _header_item(captured)
    for session in captured.sessions:
        yield _session_item(session)
        for turn in session.turns:
            yield _turn_item(turn)
        for turn_id in session.turn_ids:
            yield turn_id.tag, turn_id.content_tag, turn_id.position
    for tag, ended in captured.ended:
        yield _ended_item(tag, ended)
    for pending in captured.pending:
        yield _pending_item(pending)
    for record in captured.records:
        yield _record_item(record)


def _header_item(captured: Capture) -> Item:
    opening = captured.opening
    return (
        FOLD_VERSION,
        captured.position,
        captured.at,
        captured.age,
        captured.total_bytes,
        captured.record_bytes,
        captured.first_kept,
        captured.head_before_kept,
        opening.epoch,
        opening.ruleset,
        tuple(getattr(opening.limits, name) for name in BOUNDS),
        opening.recorded_clock,
        opening.basis_since,
        len(captured.sessions),
        len(captured.ended),
        len(captured.pending),
        len(captured.records),
        captured.highest_at,
    )


def _session_item(session: Session) -> Item:
    started = session.started
    return (
        started.position,
        started.at,
        started.age,
        REASON_CODES[started.reason],
        bytes.fromhex(started.session_id),
        started.pseudonym,
        started.channel.code,
        started.commitment,
        None if session.summary is None else _summary_item(session.summary),
        len(session.turns),
        len(session.turn_ids),
        session.turn_id_count,
        session.tool_turns,
        session.size,
        session.last,
        session.last_at,
        session.last_age,
    )


def _summary_item(summary: Summary) -> Item:
    return (
        summary.position,
        summary.at,
        summary.size,
        summary.covered,
        summary.commitment,
        sealed_length(summary.sealed),
    )


def _turn_item(turn: TurnAdded) -> Item:
    return (
        turn.position,
        turn.at,
        turn.age,
        REASON_CODES[turn.reason],
        turn.text_bytes,
        turn.extras_bytes,
        turn.commitment,
        None if turn.outcome is None else turn.outcome.value,
        turn.truncated_from,
        turn.replaced,
        turn.redactions,
        turn.turn_tag,
        turn.content_tag,
    )


def _ended_item(tag: KeyTag, ended: EndedSession) -> Item:
    return (
        tag[0],
        tag[1],
        REASON_CODES[ended.reason],
        ended.position,
        None if ended.session_id is None else bytes.fromhex(ended.session_id),
        ended.start,
    )


def _pending_item(pending: PendingErasure) -> Item:
    return (
        pending.session,
        pending.tag[0],
        pending.tag[1],
        REASON_CODES[pending.reason],
        pending.through,
        pending.covered,
        pending.positions,
        pending.kept,
    )


def _record_item(record: StateRecord) -> Item:
    return (
        record.position,
        record.at,
        record.record,
        record.scope,
        record.source,
        record.commitment,
        sealed_length(record.sealed),
    )


# --- sealed parts --------------------------------------------------------------------------------


def sealed_parts(captured: Capture) -> Iterator[tuple[int, int, bytes]]:
    """(session, position, bytes) of each sealed part, in the order of the skeleton's items.

    The session of a session-state record is 0. Erased parts are zeros of their length, so that
    every part has its place whatever was erased. Raises ValueError if content was withheld.
    """
    for session in captured.sessions:
        start = session.start
        yield start, start, _bytes_of(session.started.sealed)
        if session.summary is not None:
            yield start, session.summary.position, _bytes_of(session.summary.sealed)
        for turn in session.turns:
            yield start, turn.position, _bytes_of(turn.sealed)
    for record in captured.records:
        yield 0, record.position, _bytes_of(record.sealed)


def _bytes_of(sealed: Sealed) -> bytes:
    if isinstance(sealed, bytes):
        return sealed
    if isinstance(sealed, Withheld):
        raise ValueError("content was withheld from this state: it has no sealed parts")
    if isinstance(sealed, Unreadable):
        return b"\xff" * sealed.bytes  # must not pass for erased; matches no commitment
    return bytes(sealed.bytes)
