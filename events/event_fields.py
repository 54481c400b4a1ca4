"""The fields of each event on disk: their order, and how each becomes CBOR and back.

Leaves are checked as they are decoded; a field of the wrong type raises CorruptData.
"""

from collections.abc import Callable
from typing import Any, Final

from turnfold.events import event as e
from turnfold.events.errors import CorruptData
from turnfold.events.event import Event, RedactedPart
from turnfold.events.keys import CHANNELS, SessionId
from turnfold.events.sealed import Withheld, sealed_length

Field = tuple[str, Callable[[Any], Any], Callable[[Any], Any]]
"""Attribute name, to CBOR, from CBOR."""


def integer(value: Any) -> int:
    """The value, if it is a non-negative integer."""
    if type(value) is not int or value < 0:
        raise CorruptData("a field is not a non-negative integer")
    return value


def _zero(value: Any) -> int:
    return 0 if value is None else integer(value)


def _or_none(value: Any) -> Any:
    return value or None


def _same(value: Any) -> Any:
    return value


def byte_string(value: Any) -> bytes:
    """The value, if it is a byte string."""
    if type(value) is not bytes:
        raise CorruptData("a field is not a byte string")
    return value


def optional_bytes(value: Any) -> bytes | None:
    """The value, if it is a byte string or null."""
    return None if value is None else byte_string(value)


def _bool(value: Any) -> bool:
    if value is not None and type(value) is not bool:
        raise CorruptData("a field is not a boolean")
    return bool(value)


def _ints(value: Any) -> tuple[int, ...]:
    return tuple(integer(item) for item in value)


def _what(value: Any) -> str:
    if value not in ("segment", "generation", "payload", "file"):
        raise CorruptData("a quarantined item of unknown kind")
    return str(value)


def _decode_session_id(value: Any) -> SessionId:
    if len(byte_string(value)) != 16:
        raise CorruptData("a session id is not 16 bytes")
    return SessionId(value.hex())


def _decode_tag(value: Any) -> bytes:
    if len(byte_string(value)) != 16:
        raise CorruptData("a tag is not 16 bytes")
    return bytes(value)


def decode_counts(value: Any) -> tuple[tuple[str, int], ...]:
    """(kind, count) pairs."""
    if any(type(kind) is not str for kind, _count in value):
        raise CorruptData("a redaction kind is not text")
    return tuple((kind, integer(count)) for kind, count in value)


def _encode_covers(covers: tuple[int, ...]) -> list[int]:
    """The first position, then the steps to the next: one or two bytes each."""
    return [b - a for a, b in zip((0, *covers), covers, strict=False)]


def _decode_covers(value: Any) -> tuple[int, ...]:
    covers: list[int] = []
    position = 0
    for step in value:
        position += integer(step)
        covers.append(position)
    if not covers or 0 in value:
        raise CorruptData("a compaction doesn't name the positions it covers")
    return tuple(covers)


def _encode_parts(parts: tuple[RedactedPart, ...]) -> list[Any]:
    return [
        [
            part.position,
            part.text_bytes,
            part.extras_bytes,
            [[kind, count] for kind, count in part.redactions],
            part.commitment,
        ]
        for part in parts
    ]


def _decode_parts(value: Any) -> tuple[RedactedPart, ...]:
    return tuple(
        RedactedPart(
            position=integer(position),
            text_bytes=integer(text_bytes),
            extras_bytes=integer(extras_bytes),
            redactions=decode_counts(counts),
            commitment=byte_string(commitment),
            sealed=Withheld(0),
        )
        for position, text_bytes, extras_bytes, counts, commitment in value
    )


_SESSION: Final[Field] = ("session", _same, integer)
_COMMITMENT: Final[Field] = ("commitment", _same, byte_string)
_SEALED: Final[Field] = ("sealed", sealed_length, integer)  # its length; the bytes are payload
_PSEUDONYM: Final[Field] = ("pseudonym", _same, _decode_tag)
_CHANNEL: Final[Field] = ("channel", lambda c: c.code, lambda code: CHANNELS[integer(code)])
_FILE: Final[tuple[Field, ...]] = (
    ("generation", _same, integer),
    ("digest", _same, byte_string),
    ("size", _same, integer),
)


# TurnAdded is written out in codec, for speed.
FIELDS: Final[dict[type[Event], tuple[Field, ...]]] = {
    e.StoreOpened: (
        ("epoch", _same, integer),
        ("ruleset", _same, integer),
        ("limits", list, _ints),
        ("recorded_clock", _or_none, _bool),
        ("highest_seen", _or_none, _zero),
        ("lost_first", _or_none, _zero),
        ("lost_last", _or_none, _zero),
        ("seen_at", _or_none, _zero),
    ),
    e.SessionStarted: (
        ("session_id", bytes.fromhex, _decode_session_id),
        _PSEUDONYM,
        _CHANNEL,
        _COMMITMENT,
        _SEALED,
    ),
    e.SessionCompacted: (
        _SESSION,
        ("covers", _encode_covers, _decode_covers),
        ("summary_bytes", _same, integer),
        _COMMITMENT,
        _SEALED,
    ),
    e.SessionExpired: (_SESSION,),
    e.SessionEvicted: (_SESSION,),
    e.SessionDeleted: (_SESSION, _PSEUDONYM, _CHANNEL),
    e.SessionLost: (_SESSION,),
    e.GenerationWritten: _FILE,
    e.GenerationRetired: _FILE,
    e.Quarantined: (
        ("what", _same, _what),
        ("around", _same, integer),
        ("size", _same, integer),
        ("digest", _same, byte_string),
        ("kept", _same, _bool),
    ),
    e.ContentErased: (
        _SESSION,
        ("through", _same, integer),
        ("payloads", _same, integer),
        ("erased_bytes", _same, integer),
    ),
    e.LogTrimmed: (("first_kept", _same, integer), ("head", _same, byte_string)),
    e.PermissionsNotVerified: (),
    e.PermissionsTightened: (("paths", _same, integer),),
    e.TurnRedacted: (_SESSION, ("parts", _encode_parts, _decode_parts)),
    e.SubscriberParked: (("name_tag", _same, byte_string), ("at_position", _same, integer)),
    e.SessionStateRecorded: (
        ("record", _same, _decode_tag),
        ("scope", _same, _decode_tag),
        ("source", _same, optional_bytes),
        _COMMITMENT,
        _SEALED,
    ),
    e.SessionStateDeleted: (("record", _same, _decode_tag), ("recorded", _same, integer)),
    e.DamageFound: (("first", _same, integer), ("last", _same, integer)),
}
