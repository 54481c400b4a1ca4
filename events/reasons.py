"""Reason codes: why an event happened. Stable strings, pinned by a golden file.

A published code is never renamed and never reused for something else.
"""

from enum import StrEnum


class Reason(StrEnum):
    """One code per way in which an event can come about."""

    STARTED_FIRST_TURN = "started.first_turn"
    STARTED_AFTER_EXPIRY = "started.after_expiry"
    STARTED_AFTER_EVICTION = "started.after_eviction"
    STARTED_AFTER_DELETION = "started.after_deletion"
    STARTED_AFTER_LOSS = "started.after_loss"
    STARTED_PREDECESSOR_UNKNOWN = "started.predecessor_unknown"

    ADDED_AVATAR = "added.avatar"
    ADDED_AGENT = "added.agent"
    ADDED_TOOL = "added.tool"
    ADDED_ACTION = "added.action"

    COMPACTED_TURNS = "compacted.turns"
    COMPACTED_TOOL_TURNS = "compacted.tool_turns"
    COMPACTED_SESSION_BYTES = "compacted.session_bytes"

    EXPIRED_INACTIVITY = "expired.inactivity"
    EXPIRED_OPERATOR = "expired.operator"
    EXPIRED_RECOVERED_AGE = "expired.recovered_age"

    EVICTED_SESSIONS = "evicted.sessions"
    EVICTED_AGGREGATE_BYTES = "evicted.aggregate_bytes"

    DELETED_OPERATOR = "deleted.operator"
    LOST_DAMAGE = "lost.damage"

    OPENED_NEW = "opened.new"
    OPENED_CLEAN = "opened.clean"
    OPENED_TORN_TAIL = "opened.torn_tail"
    OPENED_DAMAGED = "opened.damaged"

    WRITTEN_FLUSH = "written.flush"
    WRITTEN_INTERVAL = "written.interval"
    RETIRED_STORAGE_LIMIT = "retired.storage_limit"

    QUARANTINED_TRUNCATED = "quarantined.truncated"
    QUARANTINED_CORRUPT = "quarantined.corrupt"
    QUARANTINED_OVERSIZED = "quarantined.oversized"
    QUARANTINED_UNSUPPORTED = "quarantined.unsupported"
    QUARANTINED_INVALID = "quarantined.invalid"
    QUARANTINED_UNREDACTED = "quarantined.unredacted"

    ERASED_DELETED = "erased.deleted"
    ERASED_EXPIRED = "erased.expired"
    ERASED_EVICTED = "erased.evicted"
    ERASED_COMPACTED = "erased.compacted"
    ERASED_REDACTED = "erased.redacted"
    ERASED_LOST = "erased.lost"

    TRIMMED_STORAGE_LIMIT = "trimmed.storage_limit"

    PERMISSIONS_UNSUPPORTED_PLATFORM = "permissions.unsupported_platform"
    PERMISSIONS_TIGHTENED = "permissions.tightened"

    REDACTED_RULESET = "redacted.ruleset"
    REDACTED_SPLIT_SECRET = "redacted.split_secret"

    SUBSCRIBER_FAILING = "subscriber.failing"

    DAMAGE_FOUND = "damaged.found"
    DAMAGE_UNDECLARED = "damaged.undeclared"

    STATE_RECORDED = "state.recorded"
    STATE_DELETED = "state.deleted"
    STATE_SOURCE_DELETED = "state.source_deleted"


# How a session ended -> why the next one of its key starts.
START_AFTER = {
    Reason.EXPIRED_INACTIVITY: Reason.STARTED_AFTER_EXPIRY,
    Reason.EXPIRED_OPERATOR: Reason.STARTED_AFTER_EXPIRY,
    Reason.EXPIRED_RECOVERED_AGE: Reason.STARTED_AFTER_EXPIRY,
    Reason.EVICTED_SESSIONS: Reason.STARTED_AFTER_EVICTION,
    Reason.EVICTED_AGGREGATE_BYTES: Reason.STARTED_AFTER_EVICTION,
    Reason.DELETED_OPERATOR: Reason.STARTED_AFTER_DELETION,
    Reason.LOST_DAMAGE: Reason.STARTED_AFTER_LOSS,
}

# How a session ended -> why its text is erased.
ERASED_AFTER = {
    Reason.EXPIRED_INACTIVITY: Reason.ERASED_EXPIRED,
    Reason.EXPIRED_OPERATOR: Reason.ERASED_EXPIRED,
    Reason.EXPIRED_RECOVERED_AGE: Reason.ERASED_EXPIRED,
    Reason.EVICTED_SESSIONS: Reason.ERASED_EVICTED,
    Reason.EVICTED_AGGREGATE_BYTES: Reason.ERASED_EVICTED,
    Reason.DELETED_OPERATOR: Reason.ERASED_DELETED,
    Reason.LOST_DAMAGE: Reason.ERASED_LOST,
}
