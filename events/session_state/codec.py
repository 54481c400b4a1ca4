"""Records as bytes and back. Decoding fails closed and gives nothing of the bytes away."""

from collections.abc import Callable
from enum import StrEnum
from hmac import compare_digest
from typing import TypeVar, cast

from turnfold.events import cbor
from turnfold.events.errors import CorruptData, CorruptStateRecord, InvalidStateRecord, TextTooLarge
from turnfold.events.session_state.anchor import SessionStateAnchor
from turnfold.events.session_state.digest import plain_digest
from turnfold.events.session_state.profile import SessionRuntimeProfile
from turnfold.events.session_state.record import (
    FORMAT,
    RECORD_BYTES_MAX,
    SCHEMA,
    SessionStateRecord,
)
from turnfold.events.session_state.scope import TenantScope
from turnfold.events.session_state.turn_digest import SessionTurnDigest

Built = TypeVar("Built")
Fields = list[object]

_STORED_OVERHEAD_BYTES = 128  # the state digest and three heads


class CorruptLabel(StrEnum):
    """In what way stored bytes are not the record that was written. All there is to show."""

    TOO_LARGE = "too_large"
    DIGEST_MISMATCH = "digest_mismatch"
    MALFORMED = "malformed"
    SCHEMA_MISMATCH = "schema_mismatch"
    KEY_MISMATCH = "key_mismatch"
    UNREDACTED = "unredacted"
    UNREADABLE = "unreadable"


def encode_record(record: SessionStateRecord) -> bytes:
    """The one encoding of `record`: the same bytes on every Python and in every process."""
    return record.encoded


def decode_record(data: bytes, digest: str) -> SessionStateRecord:
    """The record that `data` encodes, if `digest` is its state digest.

    Raises CorruptStateRecord with a `label` and without a byte of `data`.
    """
    decoded = inspect_record(data, digest)
    if isinstance(decoded, CorruptLabel):
        raise CorruptStateRecord(
            f"a stored session-state record can't be used ({decoded.value}); find it by its error"
            " digest, then delete or rewrite it",
            label=decoded.value,
        )
    return decoded


def stored_form(record: SessionStateRecord) -> bytes:
    """What the store keeps of `record` as one payload: its state digest and its encoding."""
    return cbor.encode((record.state_digest, record.encoded))


def inspect_stored(stored: bytes) -> SessionStateRecord | CorruptLabel:
    """The record in a stored form, or why it can't be used. The caller compares its key."""
    if len(stored) > RECORD_BYTES_MAX + _STORED_OVERHEAD_BYTES:
        return CorruptLabel.TOO_LARGE
    pair = _decode(stored)
    if len(pair) != 2:
        return CorruptLabel.MALFORMED
    digest, data = pair
    if not isinstance(digest, str) or not isinstance(data, bytes):
        return CorruptLabel.MALFORMED
    return inspect_record(data, digest)


def inspect_record(data: bytes, digest: str) -> SessionStateRecord | CorruptLabel:
    """As `decode_record`, with the label as a result instead of an error.

    The digest is checked before anything is decoded. Then the bytes must be the encoding of the
    record that they decode to, so no second form of a record is ever accepted.
    """
    if len(data) > RECORD_BYTES_MAX:
        return CorruptLabel.TOO_LARGE
    if not compare_digest(plain_digest(data).encode(), digest.encode("utf-8", "replace")):
        return CorruptLabel.DIGEST_MISMATCH
    values = _decode(data)
    if len(values) < 2 or values[0] != FORMAT:
        return CorruptLabel.MALFORMED
    if values[1] != SCHEMA:
        return CorruptLabel.SCHEMA_MISMATCH
    try:
        record = _record(values)
    except (InvalidStateRecord, TextTooLarge):
        return CorruptLabel.MALFORMED
    if record.encoded == data:
        return record
    # Flags other than the constants end here, and previews that today's rules would redact.
    changed = _previews(record) != _stored_previews(values)
    return CorruptLabel.UNREDACTED if changed else CorruptLabel.MALFORMED


def _decode(data: bytes) -> Fields:
    """The array that `data` encodes; an empty one for anything else, which no form allows."""
    try:
        value: object = cbor.decode(data)
    except CorruptData:
        return []
    return cast("Fields", value) if isinstance(value, list) else []


def _record(values: Fields) -> SessionStateRecord:
    """Raises InvalidStateRecord: every constructor checks the types and bounds of what it gets."""
    _format, _schema, _flags, state_id, scope, profile, *lists = _fields(values, 13)
    memory, gene, retrieval, routing, turns, traces, source = lists
    return SessionStateRecord(
        state_id=cast("str", state_id),
        scope=_build(TenantScope, scope, 3),
        profile=_build(SessionRuntimeProfile, profile, 7),
        memory_anchors=_build_each(SessionStateAnchor, memory, 3),
        gene_anchors=_build_each(SessionStateAnchor, gene, 3),
        retrieval_evidence=_build_each(SessionStateAnchor, retrieval, 3),
        routing_evidence=_build_each(SessionStateAnchor, routing, 3),
        turns=_build_each(SessionTurnDigest, turns, 5),
        source_trace_ids=tuple(cast("list[str]", _fields(traces))),
        derived_from=cast("str | None", source),
    )


def _fields(value: object, count: int | None = None) -> Fields:
    if not isinstance(value, list) or count not in (None, len(cast("Fields", value))):
        raise InvalidStateRecord("an array of the encoding has the wrong length")
    return cast("Fields", value)


def _build(kind: Callable[..., Built], value: object, count: int) -> Built:
    return kind(*_fields(value, count))


def _build_each(kind: Callable[..., Built], value: object, count: int) -> tuple[Built, ...]:
    return tuple(_build(kind, item, count) for item in _fields(value))


def _previews(record: SessionStateRecord) -> list[object]:
    return [turn.values()[3] for turn in record.turns]


def _stored_previews(values: Fields) -> list[object]:
    return [_fields(turn)[3] for turn in _fields(values[10])]
