"""Session-state records as JSON documents: what `turnfold state record` reads and `show` prints.

    {"state_id": "latest",
     "scope": {"tenant_id": "acme", "workspace_id": "helpdesk", "session_id": "chat-42"},
     "profile": {"task_profile": "coding", "model_id": "local/model-7b"},
     "memory_anchors": [{"anchor_id": "memory:17", "evidence_digest": "sha256:..."}],
     "gene_anchors": [...], "retrieval_evidence": [{"kind": "retrieval", ...}],
     "routing_evidence": [{"kind": "routing", ...}],
     "turns": [{"turn_id": "turn-1", "role": "avatar", "payload": "..."}],
     "source_trace_ids": ["trace:1"]}

A turn has a `payload_digest`, or a `payload` of text, which is digested under the store's key and
kept nowhere. In place of `turns` a `conversation` of the store may be named: {"avatar": ...,
"channel": ...}. Messages name fields and never show what stands in them.
"""

import json
from typing import Any, Final, cast

from turnfold.actors.state_desk import StateDesk
from turnfold.events.errors import InvalidStateRecord
from turnfold.events.keys import ConversationKey
from turnfold.events.session_state.anchor import SessionStateAnchor
from turnfold.events.session_state.profile import SessionRuntimeProfile
from turnfold.events.session_state.record import FLAGS, SessionStateRecord
from turnfold.events.session_state.replay_preview import ReplayInput, SessionReplayPreview
from turnfold.events.session_state.scope import TenantScope
from turnfold.events.session_state.turn_digest import SessionTurnDigest

DOCUMENT_BYTES_MAX: Final = 16 * 1024 * 1024
# The lists of anchors, and the kind that one has where the document names none.
_ANCHORS: Final = {
    "memory_anchors": "memory_chain",
    "gene_anchors": "gene_chain",
    "retrieval_evidence": "retrieval",
    "routing_evidence": "routing",
}
_SCOPE: Final = ("tenant_id", "workspace_id", "session_id")
_PROFILE: Final = (
    "task_profile",
    "model_id",
    "tokenizer",
    "context_window",
    "max_tokens",
    "streaming",
    "cancellation_anchor_digest",
)
_TURN: Final = ("turn_id", "role", "payload_digest", "summary_preview", "token_estimate")
_REQUIRED: Final = ("scope", "profile")
_OPTIONAL: Final = ("state_id", *_ANCHORS, "turns", "source_trace_ids", "conversation")

Table = dict[str, Any]


def read_document(data: bytes, desk: StateDesk) -> SessionStateRecord:
    """The record that a document describes.

    Raises InvalidStateRecord for what is no such document, and what the record's parts raise.
    """
    if len(data) > DOCUMENT_BYTES_MAX:
        raise InvalidStateRecord(f"the document is larger than {DOCUMENT_BYTES_MAX} bytes")
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):  # the parser's message may quote the document
        raise InvalidStateRecord("the document is not valid JSON") from None
    table = _table(value, "the document", required=_REQUIRED, optional=_OPTIONAL)
    scope = TenantScope(**_table(table["scope"], "scope", required=_SCOPE))
    named = _table(table["profile"], "profile", required=_PROFILE[:1], optional=_PROFILE[1:])
    parts: Table = {
        "scope": scope,
        "profile": SessionRuntimeProfile(**named),
        "state_id": table.get("state_id"),
        "source_trace_ids": _list(table.get("source_trace_ids", []), "source_trace_ids"),
        **{name: _anchors(table.get(name, []), name) for name in _ANCHORS},
    }
    if "conversation" not in table:
        listed = _list(table.get("turns", []), "turns")
        turns = [_turn(turn, number, scope, desk) for number, turn in enumerate(listed)]
        return SessionStateRecord.build(**parts, turns=turns)
    if "turns" in table:
        raise InvalidStateRecord("the document names both turns and a conversation; name one")
    fields = ("avatar", "channel")
    key = ConversationKey(**_table(table["conversation"], "conversation", required=fields))
    return desk.from_conversation(key, **parts)


def record_document(record: SessionStateRecord) -> Table:
    """The record as a document that `read_document` takes, with its digest and its flags."""
    return {
        "state_id": record.state_id,
        "scope": dict(zip(_SCOPE, record.scope.parts, strict=True)),
        "profile": _present(zip(_PROFILE, record.profile.values(), strict=True)),
        **{
            name: [_anchor_document(anchor) for anchor in getattr(record, name)]
            for name in _ANCHORS
        },
        "turns": [_present(zip(_TURN, turn.values(), strict=True)) for turn in record.turns],
        "source_trace_ids": list(record.source_trace_ids),
    }


def facts(record: SessionStateRecord) -> Table:
    """What a record is beside its document."""
    return {
        "state_digest": record.state_digest,
        "record_bytes": len(record.encoded),
        "derived_from": record.derived_from,
        "flags": dict(FLAGS),
    }


def preview_document(preview: SessionReplayPreview) -> Table:
    """A replay preview as JSON."""
    return {
        "rejected": preview.rejected,
        "blocked_reasons": list(preview.blocked_reasons),
        "blockers": [blocker.value for blocker in preview.blockers],
        "state_digest": preview.state_digest,
        "retrieval_inputs": [_input(one) for one in preview.retrieval_inputs],
        "routing_inputs": [_input(one) for one in preview.routing_inputs],
        "gene_inputs": [_input(one) for one in preview.gene_inputs],
        "omitted": preview.omitted,
    }


def _input(one: ReplayInput) -> Table:
    return {
        "source": one.source.value,
        "reference_id": one.reference_id,
        "evidence_digest": one.evidence_digest,
    }


def _anchor_document(anchor: SessionStateAnchor) -> Table:
    return {
        "kind": anchor.kind.value,
        "anchor_id": anchor.anchor_id,
        "evidence_digest": anchor.evidence_digest,
    }


def _present(pairs: Any) -> Table:
    return {name: value for name, value in pairs if value is not None}


def _anchors(value: object, name: str) -> list[SessionStateAnchor]:
    anchors: list[SessionStateAnchor] = []
    for number, item in enumerate(_list(value, name)):
        where = f"{name}[{number}]"
        table = _table(item, where, required=("anchor_id", "evidence_digest"), optional=("kind",))
        anchors.append(SessionStateAnchor(**{"kind": _ANCHORS[name], **table}))
    return anchors


def _turn(value: object, number: int, scope: TenantScope, desk: StateDesk) -> SessionTurnDigest:
    table = _table(value, f"turns[{number}]", required=_TURN[:2], optional=(*_TURN[2:], "payload"))
    if ("payload" in table) == ("payload_digest" in table):
        raise InvalidStateRecord(f"turns[{number}] needs a payload or its payload_digest, not both")
    if "payload_digest" in table:
        return SessionTurnDigest(**table)
    payload = table.pop("payload")
    if not isinstance(payload, str):
        raise InvalidStateRecord(f"turns[{number}].payload must be a text")
    return SessionTurnDigest.of(payload, **table, scope=scope, key=desk.ring.current)


def _list(value: Any, name: str) -> list[Any]:
    items: list[Any] = value
    if type(value) is not list:
        raise InvalidStateRecord(f"{name} must be an array")
    return items


def _table(
    value: object, name: str, *, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Table:
    """A JSON object with these keys and no others."""
    if not isinstance(value, dict):
        raise InvalidStateRecord(f"{name} must be an object")
    table = cast("Table", value)
    missing = [key for key in required if key not in table]
    if missing:
        raise InvalidStateRecord(f"{name} lacks {', '.join(missing)}")
    if not table.keys() <= {*required, *optional}:
        known = ", ".join((*required, *optional))
        raise InvalidStateRecord(f"{name} has a key that is none of: {known}")
    return table
