"""When a record may be written: the switches, the operator's approval, and every blocker."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import attrs

from turnfold.events.redaction import is_clean
from turnfold.events.sealed import NONCE_BYTES
from turnfold.events.session_state.anchor import SLOT_KINDS
from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.checks import Problems, count_problem, flag_problem, hidden
from turnfold.events.session_state.codec import stored_form
from turnfold.events.session_state.gate import scope_blockers
from turnfold.events.session_state.record import SessionStateRecord
from turnfold.events.session_state.scope import TenantScope, id_problem

TIME_NS_MAX: Final = (1 << 63) - 1
# What a stored record costs beside its sealed bytes: tags, times, commitment, its event.
RECORD_OVERHEAD_BYTES: Final = 512
# A hash behind a separator ("memory:9f86…") is an ordinary id, unless a word in it says otherwise.
_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{32,128}(?![0-9A-Za-z])")
_TELLING = re.compile(r"key|token|secret|pass|auth|cred|api|hook", re.IGNORECASE)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def _time_ns(value: datetime | int) -> int:
    """UTC ns of an aware datetime; a number is taken as UTC ns. A naive datetime stays as it is."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return (value - _EPOCH) // _MICROSECOND * 1000
    return value  # type: ignore[return-value]  # refused by OperatorApproval


@attrs.frozen
class WritePolicy:
    """The switches of `[session_state]`. Both are off by default; only True itself is on.

    Raises InvalidStateRecord.
    """

    durable_writes_enabled: bool = False
    previews_allowed: bool = False

    def __attrs_post_init__(self) -> None:
        problems = Problems("the session-state policy")
        problems.add("durable_writes_enabled", flag_problem(self.durable_writes_enabled))
        problems.add("previews_allowed", flag_problem(self.previews_allowed))
        problems.raise_if_any()


@attrs.frozen
class OperatorApproval:
    """Who approved durable writes, from when (included) until when (excluded).

    `by` is an id; `at` and `until` are UTC nanoseconds or datetimes with a time zone.
    Raises InvalidStateRecord, also when `until` is not after `at`.
    """

    by: str = attrs.field(repr=hidden)
    at_ns: int = attrs.field(converter=_time_ns, alias="at")
    until_ns: int = attrs.field(converter=_time_ns, alias="until")

    def __attrs_post_init__(self) -> None:
        problems = Problems("the operator's approval")
        problems.add("by", id_problem(self.by))
        problems.add("at", count_problem(self.at_ns, 0, TIME_NS_MAX))
        problems.add("until", count_problem(self.until_ns, 0, TIME_NS_MAX))
        problems.raise_if_any()
        problems.add("until", None if self.at_ns < self.until_ns else Blocker.OUT_OF_RANGE)
        problems.raise_if_any()


@attrs.frozen
class Room:
    """What is left of the limits `state_records` and `state_bytes` for one write.

    A record that the write would replace counts as gone. May be negative.
    """

    records: int
    bytes: int


def approval_blockers(
    approval: OperatorApproval | None, *, now_ns: int, highest_seen_ns: int
) -> tuple[Blocker, ...]:
    """Why the approval is not in force; empty if it is.

    The time that counts is the later of the wall clock and the latest wall time the store has
    ever seen, so an approval that has expired once stays so when the clock is moved back.
    """
    if approval is None:
        return (Blocker.NOT_APPROVED,)
    now_ns = max(now_ns, highest_seen_ns)
    if now_ns < approval.at_ns:
        return (Blocker.APPROVAL_NOT_STARTED,)
    return () if now_ns < approval.until_ns else (Blocker.APPROVAL_EXPIRED,)


def record_blockers(record: SessionStateRecord, policy: WritePolicy) -> tuple[Blocker, ...]:
    """Why the record itself may not be written; empty if it may.

    It needs a memory-chain and a gene-chain anchor; it may hold previews only if policy allows
    them; one that was derived from a conversation needs its `source`, or deleting that would not
    find it; and no id may look like a credential to today's redaction rules.
    """
    found: list[Blocker] = []
    if not record.memory_anchors:
        found.append(Blocker.NO_MEMORY_ANCHOR)
    if not record.gene_anchors:
        found.append(Blocker.NO_GENE_ANCHOR)
    previews = any(turn.summary_preview is not None for turn in record.turns)
    if previews and not policy.previews_allowed:
        found.append(Blocker.PREVIEW_NOT_ALLOWED)
    if record.derived_from is not None and record.source is None:
        found.append(Blocker.SOURCE_UNKNOWN)
    if any(like_credential(name) for name in set(_ids(record))):
        found.append(Blocker.ID_LIKE_CREDENTIAL)
    return tuple(found)


def like_credential(name: str) -> bool:
    """Whether an id looks like a credential to today's redaction rules, plain hashes excepted."""
    if is_clean(name):
        return False
    return bool(_TELLING.search(name)) or not is_clean(_HASH.sub("hash", name))


def decide_write(
    actor: TenantScope,
    record: SessionStateRecord,
    policy: WritePolicy,
    approval: OperatorApproval | None,
    *,
    now_ns: int,
    highest_seen_ns: int,
    room: Room | None = None,
) -> tuple[Blocker, ...]:
    """Every reason why `actor` may not write `record` now; empty means that it may.

    `now_ns` is the wall clock, `highest_seen_ns` the latest wall time the store has ever seen
    (durable events included). `room` is what the store has left; it is not looked at for an actor
    of another scope, which must not learn whether there is a record to replace.

    Ids of a large record take 0.2 s to check, so decide in the caller's thread. Whoever appends
    then asks `approval_blockers` and `room_blockers` again: only they can have changed.
    """
    blockers: list[Blocker] = []
    if not policy.durable_writes_enabled:
        blockers.append(Blocker.WRITES_DISABLED)
    blockers += approval_blockers(approval, now_ns=now_ns, highest_seen_ns=highest_seen_ns)
    foreign = scope_blockers(actor, record.scope)
    blockers += foreign
    blockers += record_blockers(record, policy)
    if room is not None and not foreign:
        blockers += room_blockers(record, room)
    return tuple(blockers)


def room_blockers(record: SessionStateRecord, room: Room) -> tuple[Blocker, ...]:
    """Which of the limits `state_records` and `state_bytes` has no room for `record`."""
    blockers: list[Blocker] = []
    if room.records < 1:
        blockers.append(Blocker.RECORDS_FULL)
    if room.bytes < stored_bytes(record):
        blockers.append(Blocker.BYTES_FULL)
    return tuple(blockers)


def stored_bytes(record: SessionStateRecord) -> int:
    """What a record counts against `state_bytes`: its sealed bytes and a fixed overhead."""
    return NONCE_BYTES + len(stored_form(record)) + RECORD_OVERHEAD_BYTES


def _ids(record: SessionStateRecord) -> Iterator[str]:
    """Everything in a record that a caller typed, digests aside."""
    yield record.state_id
    yield from record.scope.parts
    for name in (record.profile.model_id, record.profile.tokenizer):
        if name is not None:
            yield name
    for slot in SLOT_KINDS:
        for anchor in getattr(record, slot):
            yield anchor.anchor_id
    for turn in record.turns:
        yield turn.turn_id
    yield from record.source_trace_ids
