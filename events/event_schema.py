"""The form in which events are given to people outside: fields, types, meanings, JSON Schema.

One table for three things: `event_document` makes documents by it, `json_schema` publishes it
(docs/reference/schemas/event.schema.json), and docs/reference/events.md lists it.
"""

from typing import Any, Final

import attrs

from turnfold.events import event as e
from turnfold.events.codec import SCHEMA
from turnfold.events.event import Event
from turnfold.events.keys import CHANNELS
from turnfold.events.limits import BOUNDS
from turnfold.events.reasons import Reason
from turnfold.events.turns import Outcome

Schema = dict[str, Any]

SCHEMA_URI: Final = "https://json-schema.org/draft/2020-12/schema"


@attrs.frozen
class Field:
    """A field of a document: its name, its JSON Schema, what it means.

    `attribute` is the event's own name for it. A field that is not `required` is left out where it
    would be null.
    """

    name: str
    schema: Schema
    meaning: str
    attribute: str
    required: bool = True


def _field(
    name: str, schema: Schema, meaning: str, *, of: str = "", required: bool = True
) -> Field:
    return Field(name, schema, meaning, of or name, required)


def _hex(size: int) -> Schema:
    return {"type": "string", "pattern": f"^[0-9a-f]{{{2 * size}}}$"}


_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_POSITION: Final[Schema] = {"type": "integer", "minimum": 1}
_REDACTIONS: Final[Schema] = {"type": "object", "additionalProperties": _POSITION}
_SESSION: Final = _field("session", _POSITION, "Position at which the session started.")
_SEALED: Final = (
    _field("commitment", _hex(16), "Commitment to the sealed payload."),
    _field("sealed_bytes", _COUNT, "Bytes of the sealed payload, 16 of them nonce.", of="sealed"),
)
_PSEUDONYM: Final = _field("pseudonym", _hex(16), "Stands for the avatar in this store.")
_CHANNEL: Final = _field(
    "channel", {"enum": [channel.value for channel in CHANNELS]}, "Where the key talks."
)
_FILE: Final = (
    _field("generation", _COUNT, "Position of the state in the file."),
    _field("digest", _hex(32), "State digest."),
    _field("size", _COUNT, "Bytes of the file."),
)
_PART: Final[Schema] = {
    "type": "object",
    "properties": {
        "position": _POSITION,
        "text_bytes": _COUNT,
        "extras_bytes": _COUNT,
        "redactions": _REDACTIONS,
        "commitment": _hex(16),
        "sealed_bytes": _COUNT,
    },
    "required": [
        "position",
        "text_bytes",
        "extras_bytes",
        "redactions",
        "commitment",
        "sealed_bytes",
    ],
    "additionalProperties": False,
}

COMMON: Final = (
    _field("position", _POSITION, "Place in the log: 1, 2, 3 and so on."),
    _field("at", {"type": "string", "format": "date-time"}, "Wall clock, UTC."),
    _field("age_ns", _COUNT, "The store's own age, ns, which never falls.", of="age"),
    _field("type", {"type": "string"}, "Name of the event."),
    _field("schema", {"const": SCHEMA}, "Version of the event's schema."),
    _field("reason", {"type": "string"}, "Why it happened: a reason code."),
)

FIELDS: Final[dict[type[Event], tuple[Field, ...]]] = {
    e.StoreOpened: (
        _field("epoch", _POSITION, "Number of the opening."),
        _field("ruleset", _COUNT, "Version of the redaction rules."),
        _field(
            "limits",
            {"type": "object", "additionalProperties": _COUNT},
            f"Configured limits by name: {', '.join(BOUNDS)}.",
        ),
        _field("recorded_clock", {"type": "boolean"}, "Times come from the input."),
        _field("highest_seen", _COUNT, "Highest position that any intact header names."),
        _field("lost_first", _COUNT, "First position that is lost to damage; 0: none."),
        _field("lost_last", _COUNT, "Last position that is lost to damage; 0: none."),
        _field("seen_at_ns", _COUNT, "Newest time found in the log, UTC ns.", of="seen_at"),
    ),
    e.SessionStarted: (
        _field("session_id", _hex(16), "Random id of the session."),
        _PSEUDONYM,
        _CHANNEL,
        *_SEALED,
    ),
    e.TurnAdded: (
        _SESSION,
        _field("text_bytes", _COUNT, "Bytes of the text."),
        _field("extras_bytes", _COUNT, "Bytes of names, call ids and ordinals of placeholders."),
        *_SEALED,
        _field(
            "outcome",
            {"enum": [outcome.label for outcome in Outcome]},
            "Of an action.",
            required=False,
        ),
        _field("truncated_from", _COUNT, "Bytes before clipping; 0: not clipped."),
        _field("replaced", _COUNT, "Invalid characters that were replaced."),
        _field("redactions", _REDACTIONS, "What was redacted: kinds and counts."),
        _field("turn_tag", _hex(16), "Keyed tag of the turn id.", required=False),
        _field("content_tag", _hex(16), "Keyed tag of the content.", required=False),
    ),
    e.SessionCompacted: (
        _SESSION,
        _field("covers", {"type": "array", "items": _POSITION}, "Positions of the turns covered."),
        _field("summary_bytes", _COUNT, "Bytes of the summary."),
        *_SEALED,
    ),
    e.SessionExpired: (_SESSION,),
    e.SessionEvicted: (_SESSION,),
    e.SessionDeleted: (
        _field("session", _COUNT, "Position at which the session started; 0: none was live."),
        _PSEUDONYM,
        _CHANNEL,
    ),
    e.SessionLost: (_SESSION,),
    e.GenerationWritten: _FILE,
    e.GenerationRetired: _FILE,
    e.Quarantined: (
        _field("what", {"enum": ["segment", "generation", "payload", "file"]}, "What it was."),
        _field("around", _COUNT, "Position next to it; 0: none."),
        _field("size", _COUNT, "Bytes set aside."),
        _field("digest", {"type": "string", "pattern": "^([0-9a-f]{2})*$"}, "Digest of them."),
        _field("kept", {"type": "boolean"}, "Whether a copy is in quarantine."),
    ),
    e.ContentErased: (
        _field("session", _POSITION, "Position at which the session (or record) started."),
        _field("through", _POSITION, "Position that made the erasure due."),
        _field("payloads", _COUNT, "Payloads that are zeros now."),
        _field("erased_bytes", _COUNT, "Bytes that are zeros now."),
    ),
    e.LogTrimmed: (
        _field("first_kept", _POSITION, "Where the log begins now."),
        _field("head", _hex(32), "Chain head before it."),
    ),
    e.PermissionsNotVerified: (),
    e.PermissionsTightened: (_field("paths", _POSITION, "How many were open to others."),),
    e.TurnRedacted: (
        _SESSION,
        _field("parts", {"type": "array", "items": _PART}, "Each text that was redacted again."),
    ),
    e.SubscriberParked: (
        _field("name_tag", _hex(16), "Keyed tag of its name."),
        _field("at_position", _COUNT, "Position that it had handled."),
    ),
    e.SessionStateRecorded: (
        _field("record", _hex(16), "Keyed tag of scope and state id."),
        _field("scope", _hex(16), "Keyed tag of the scope."),
        _field("source", _hex(16), "Keyed tag of the conversation it came from.", required=False),
        *_SEALED,
    ),
    e.SessionStateDeleted: (
        _field("record", _hex(16), "Keyed tag of scope and state id."),
        _field("recorded", _POSITION, "Position at which the record was written."),
    ),
    e.DamageFound: (
        _field("first", _POSITION, "First damaged position."),
        _field("last", _POSITION, "Last damaged position."),
    ),
}

_GROUPS: Final[dict[type[Event], tuple[str, ...]]] = {
    e.StoreOpened: ("opened.",),
    e.SessionStarted: ("started.",),
    e.TurnAdded: ("added.",),
    e.SessionCompacted: ("compacted.",),
    e.SessionExpired: ("expired.",),
    e.SessionEvicted: ("evicted.",),
    e.SessionDeleted: ("deleted.",),
    e.SessionLost: ("lost.",),
    e.GenerationWritten: ("written.",),
    e.GenerationRetired: ("retired.",),
    e.Quarantined: ("quarantined.",),
    e.ContentErased: ("erased.",),
    e.LogTrimmed: ("trimmed.",),
    e.PermissionsNotVerified: ("permissions.unsupported_platform",),
    e.PermissionsTightened: ("permissions.tightened",),
    e.TurnRedacted: ("redacted.",),
    e.SubscriberParked: ("subscriber.",),
    e.SessionStateRecorded: ("state.recorded",),
    e.SessionStateDeleted: ("state.deleted", "state.source_deleted", "lost."),
    e.DamageFound: ("damaged.found",),
}


def reasons_of(kind: type[Event]) -> list[str]:
    """The codes that an event of this type can have."""
    return [reason.value for reason in Reason if reason.value.startswith(_GROUPS[kind])]


def json_schema() -> Schema:
    """The schema of one line of `turnfold events --format jsonl`."""
    names = sorted(kind.__name__ for kind in FIELDS)
    return {
        "$schema": SCHEMA_URI,
        "title": "One event of a Turnfold log, or a gap in it",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in (*names, "Gap")],
        "$defs": {kind.__name__: _schema_of(kind) for kind in sorted(FIELDS, key=_name)}
        | {"Gap": _gap_schema()},
    }


def _name(kind: type[Event]) -> str:
    return kind.__name__


def _schema_of(kind: type[Event]) -> Schema:
    properties = {field.name: field.schema for field in (*COMMON, *FIELDS[kind])}
    properties["type"] = {"const": kind.__name__}
    properties["reason"] = {"enum": reasons_of(kind)}
    return {
        "type": "object",
        "description": (kind.__doc__ or "").partition("\n")[0],
        "properties": properties,
        "required": [field.name for field in (*COMMON, *FIELDS[kind]) if field.required],
        "additionalProperties": False,
    }


def _gap_schema() -> Schema:
    gap: Schema = {
        "type": "object",
        "properties": {
            "first": _POSITION,
            "last": _POSITION,
            "reason": {"enum": [reason.value for reason in Reason]},
        },
        "required": ["first", "last", "reason"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "description": "Positions that are not there, and why.",
        "properties": {"gap": gap},
        "required": ["gap"],
        "additionalProperties": False,
    }
