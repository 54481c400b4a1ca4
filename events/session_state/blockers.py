"""Why a session-state value, write, read or replay is refused: every reason, by stable name.

A `Blocker` is the exact cause; its `reason` is the short published code it belongs to. Neither
ever carries anything a caller typed.
"""

from collections.abc import Iterable
from enum import StrEnum


class GateReason(StrEnum):
    """The published codes of gate decisions. They name notices and counters, never log events."""

    ALLOWED = "state.allowed"
    WRITES_DISABLED = "state.writes_disabled"
    NOT_APPROVED = "state.not_approved"
    CROSS_TENANT = "state.cross_tenant"
    INVALID = "state.invalid"
    FULL = "state.full"
    UNAVAILABLE = "state.unavailable"
    CORRUPT = "state.corrupt"


class Blocker(StrEnum):
    """One exact cause of a refusal. The first two words of the value are its reason code."""

    WRITES_DISABLED = "state.writes_disabled"

    NOT_APPROVED = "state.not_approved"
    APPROVAL_NOT_STARTED = "state.not_approved.not_started"
    APPROVAL_EXPIRED = "state.not_approved.expired"

    CROSS_TENANT = "state.cross_tenant"
    CROSS_WORKSPACE = "state.cross_tenant.workspace"
    CROSS_SESSION = "state.cross_tenant.session"

    NO_MEMORY_ANCHOR = "state.invalid.no_memory_anchor"
    NO_GENE_ANCHOR = "state.invalid.no_gene_anchor"
    PREVIEW_NOT_ALLOWED = "state.invalid.preview_not_allowed"
    SOURCE_UNKNOWN = "state.invalid.source_unknown"
    SOURCE_GONE = "state.invalid.source_gone"
    ID_LIKE_CREDENTIAL = "state.invalid.id_like_credential"
    BAD_ID = "state.invalid.id"
    BAD_DIGEST = "state.invalid.digest"
    DIGEST_NOT_KEYED = "state.invalid.digest_not_keyed"
    BAD_TYPE = "state.invalid.type"
    BAD_CHOICE = "state.invalid.choice"
    OUT_OF_RANGE = "state.invalid.range"
    WRONG_ANCHOR_KIND = "state.invalid.anchor_kind"
    DUPLICATE = "state.invalid.duplicate"
    TOO_MANY = "state.invalid.too_many"
    TOO_LARGE = "state.invalid.too_large"

    RECORDS_FULL = "state.full.records"
    BYTES_FULL = "state.full.bytes"

    UNAVAILABLE = "state.unavailable"
    CORRUPT = "state.corrupt"

    @property
    def reason(self) -> GateReason:
        """The published code this cause belongs to."""
        return GateReason(".".join(self.value.split(".")[:2]))


def reasons_of(blockers: Iterable[Blocker]) -> tuple[str, ...]:
    """The published codes behind `blockers`: each once, in order of first appearance."""
    return tuple(dict.fromkeys(blocker.reason.value for blocker in blockers))
