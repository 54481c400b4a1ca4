"""Session state: digest-only records of one tenant's session, for runtimes without transcripts.

Everything here is a pure value or function; `turnfold.actors` reads and writes. See
docs/reference/session-state.md.
"""

from turnfold.events.session_state.anchor import SessionAnchorKind, SessionStateAnchor
from turnfold.events.session_state.blockers import Blocker, GateReason
from turnfold.events.session_state.codec import CorruptLabel, decode_record, encode_record
from turnfold.events.session_state.digest import DigestKey, DigestKeyring
from turnfold.events.session_state.gate import GateAction, GateDecision, GateNotice, decide_access
from turnfold.events.session_state.policy import OperatorApproval, WritePolicy, decide_write
from turnfold.events.session_state.profile import SessionRuntimeProfile, TaskProfile
from turnfold.events.session_state.record import SessionStateRecord
from turnfold.events.session_state.replay_preview import (
    ReplayInput,
    ReplaySource,
    SessionReplayPlanner,
    SessionReplayPreview,
)
from turnfold.events.session_state.reports import (
    SessionStateDeleteReport,
    SessionStateEntry,
    SessionStateErrorReport,
    SessionStateListReport,
    SessionStateReadReport,
    SessionStateWriteReport,
)
from turnfold.events.session_state.runtime_request import RuntimeRequest
from turnfold.events.session_state.scope import SessionStateKey, TenantScope
from turnfold.events.session_state.tags import lookup_tag, record_tag, scope_tag
from turnfold.events.session_state.turn_digest import SessionTurnDigest

__all__ = [
    "Blocker",
    "CorruptLabel",
    "DigestKey",
    "DigestKeyring",
    "GateAction",
    "GateDecision",
    "GateNotice",
    "GateReason",
    "OperatorApproval",
    "ReplayInput",
    "ReplaySource",
    "RuntimeRequest",
    "SessionAnchorKind",
    "SessionReplayPlanner",
    "SessionReplayPreview",
    "SessionRuntimeProfile",
    "SessionStateAnchor",
    "SessionStateDeleteReport",
    "SessionStateEntry",
    "SessionStateErrorReport",
    "SessionStateKey",
    "SessionStateListReport",
    "SessionStateReadReport",
    "SessionStateRecord",
    "SessionStateWriteReport",
    "SessionTurnDigest",
    "TaskProfile",
    "TenantScope",
    "WritePolicy",
    "decide_access",
    "decide_write",
    "decode_record",
    "encode_record",
    "lookup_tag",
    "record_tag",
    "scope_tag",
]
