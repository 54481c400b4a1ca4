"""The session-state record: what a runtime needs to resume a session, without its transcript.

A record holds ids, digests, counts and, where policy allows, short redacted previews. Its flags
are constants: no argument, no stored byte and no approval changes them, and a record never grants
the right to write.
"""

from collections.abc import Iterable
from typing import ClassVar, Final, Literal, TypeVar, cast

import attrs

from turnfold.events import cbor
from turnfold.events.keys import ConversationKey
from turnfold.events.session_state.anchor import (
    ANCHORS_MAX,
    SLOT_KINDS,
    SessionStateAnchor,
    slot_problems,
)
from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.checks import Problems, count_problem, hidden
from turnfold.events.session_state.conversation import (
    ConversationTurn,
    derived_from,
    derived_from_any,
    state_id_of,
    turn_digests,
)
from turnfold.events.session_state.digest import (
    DigestKey,
    DigestKeyring,
    keyed_digest_problem,
    plain_digest,
)
from turnfold.events.session_state.profile import SessionRuntimeProfile
from turnfold.events.session_state.scope import SessionStateKey, TenantScope, id_problem
from turnfold.events.session_state.turn_digest import SessionTurnDigest

Item = TypeVar("Item")

FORMAT: Final = "turnfold.session_state"
SCHEMA: Final = 1
TURNS_MAX: Final = 4096  # a live session keeps no more turns verbatim
SOURCE_TRACES_MAX: Final = 256
POSITION_MAX: Final = (1 << 64) - 1
RECORD_BYTES_MAX: Final = 1024 * 1024  # encoded; TURNS_MAX digests of a conversation fit

FLAGS: Final = (
    ("raw_messages_stored", False),
    ("read_only", True),
    ("report_only", True),
    ("preview_only", True),
    ("write_allowed", False),
)


@attrs.frozen(kw_only=True, repr=False)
class SessionStateRecord:
    """One session's state, digests only. Make it with `build` or `from_conversation`.

    `encoded` is its one encoding (see codec) and `state_digest` the plain digest of that.
    `derived_from` is the keyed digest of the conversation it was built from. `source` is that
    conversation's key and `source_position` the newest position that the record was built from or
    read at: known to whoever built or read it, and not part of what is stored.
    Raises InvalidStateRecord naming everything that is wrong.
    """

    raw_messages_stored: ClassVar[Literal[False]] = False
    read_only: ClassVar[Literal[True]] = True
    report_only: ClassVar[Literal[True]] = True
    preview_only: ClassVar[Literal[True]] = True
    write_allowed: ClassVar[Literal[False]] = False

    state_id: str
    scope: TenantScope
    profile: SessionRuntimeProfile
    memory_anchors: tuple[SessionStateAnchor, ...] = ()
    gene_anchors: tuple[SessionStateAnchor, ...] = ()
    retrieval_evidence: tuple[SessionStateAnchor, ...] = ()
    routing_evidence: tuple[SessionStateAnchor, ...] = ()
    turns: tuple[SessionTurnDigest, ...] = ()
    source_trace_ids: tuple[str, ...] = ()
    derived_from: str | None = None
    source: ConversationKey | None = attrs.field(default=None, eq=False)
    source_position: int | None = attrs.field(default=None, eq=False)
    encoded: bytes = attrs.field(init=False, eq=False)
    state_digest: str = attrs.field(init=False, eq=False)

    def __attrs_post_init__(self) -> None:
        problems = Problems("the session-state record")
        _check_heads(self, problems)
        _check_lists(self, problems)
        problems.raise_if_any()
        encoded = cbor.encode(_values(self))
        if len(encoded) > RECORD_BYTES_MAX:
            problems.add("record", Blocker.TOO_LARGE)
        problems.raise_if_any()
        object.__setattr__(self, "encoded", encoded)
        object.__setattr__(self, "state_digest", plain_digest(encoded))

    def __repr__(self) -> str:
        anchors = sum(len(getattr(self, slot)) for slot in SLOT_KINDS)
        return (
            f"SessionStateRecord(state_id={hidden(self.state_id)}, {anchors} anchors,"
            f" {len(self.turns)} turns, {len(self.encoded)} bytes)"
        )

    @property
    def key(self) -> SessionStateKey:
        """Where the record is stored."""
        return SessionStateKey(self.scope, self.state_id)

    @classmethod
    def build(
        cls,
        *,
        state_id: str,
        scope: TenantScope,
        profile: SessionRuntimeProfile,
        memory_anchors: Iterable[SessionStateAnchor] = (),
        gene_anchors: Iterable[SessionStateAnchor] = (),
        retrieval_evidence: Iterable[SessionStateAnchor] = (),
        routing_evidence: Iterable[SessionStateAnchor] = (),
        turns: Iterable[SessionTurnDigest] = (),
        source_trace_ids: Iterable[str] = (),
    ) -> "SessionStateRecord":
        """A record from its parts, each list in the caller's order of importance.

        Limits: 256 anchors a list, 4,096 turns, 256 trace ids, 1 MiB encoded; no duplicates.
        A record without a memory-chain and a gene-chain anchor can be built and previewed, but
        not written (`write_problems`). Raises InvalidStateRecord.
        """
        return cls(
            state_id=state_id,
            scope=scope,
            profile=profile,
            memory_anchors=_listed(memory_anchors),
            gene_anchors=_listed(gene_anchors),
            retrieval_evidence=_listed(retrieval_evidence),
            routing_evidence=_listed(routing_evidence),
            turns=_listed(turns),
            source_trace_ids=_listed(source_trace_ids),
        )

    @classmethod
    def from_conversation(
        cls,
        events: Iterable[ConversationTurn],
        key: ConversationKey,
        *,
        scope: TenantScope,
        profile: SessionRuntimeProfile,
        memory_anchors: Iterable[SessionStateAnchor],
        gene_anchors: Iterable[SessionStateAnchor],
        digest_key: DigestKey,
        state_id: str | None = None,
        retrieval_evidence: Iterable[SessionStateAnchor] = (),
        routing_evidence: Iterable[SessionStateAnchor] = (),
        source_trace_ids: Iterable[str] = (),
    ) -> "SessionStateRecord":
        """A record of a live conversation, tied to it: deleting `key` deletes the record.

        Without a `state_id` each conversation has one of its own, so that a later record replaces
        the earlier one. No preview is filled. Raises InvalidStateRecord.
        """
        turns = tuple(events)
        return cls(
            state_id=state_id_of(key, digest_key) if state_id is None else state_id,
            scope=scope,
            profile=profile,
            memory_anchors=_listed(memory_anchors),
            gene_anchors=_listed(gene_anchors),
            retrieval_evidence=_listed(retrieval_evidence),
            routing_evidence=_listed(routing_evidence),
            turns=turn_digests(turns, scope=scope, key=digest_key),
            source_trace_ids=_listed(source_trace_ids),
            derived_from=derived_from(key, digest_key),
            source=key,
            source_position=max((turn.position for turn in turns), default=0),
        )

    def with_source(self, key: ConversationKey, keys: DigestKeyring) -> "SessionStateRecord":
        """This record with `source` set, as a record that was read needs to be written again.

        Raises InvalidStateRecord if `derived_from` is not a digest of `key`.
        """
        problems = Problems("the record's source")
        fits = self.derived_from in derived_from_any(key, keys)
        problems.add("key", None if fits else Blocker.SOURCE_UNKNOWN)
        problems.raise_if_any()
        return attrs.evolve(self, source=key)


def _listed(items: Iterable[Item]) -> tuple[Item, ...]:
    # What is no list at all stays as it is, to be refused with everything else that is wrong.
    return tuple(items) if hasattr(items, "__iter__") else cast("tuple[Item, ...]", items)


def _check_heads(record: SessionStateRecord, problems: Problems) -> None:
    problems.add("state_id", id_problem(record.state_id))
    problems.add("scope", None if type(record.scope) is TenantScope else Blocker.BAD_TYPE)
    profile_fits = type(record.profile) is SessionRuntimeProfile
    problems.add("profile", None if profile_fits else Blocker.BAD_TYPE)
    if record.derived_from is not None:
        problems.add("derived_from", keyed_digest_problem(record.derived_from))
    if record.source is not None:
        source_fits = type(record.source) is ConversationKey and record.derived_from is not None
        problems.add("source", None if source_fits else Blocker.BAD_TYPE)
    if record.source_position is not None:
        problems.add("source_position", count_problem(record.source_position, 0, POSITION_MAX))


def _check_lists(record: SessionStateRecord, problems: Problems) -> None:
    maxima = dict.fromkeys(SLOT_KINDS, ANCHORS_MAX)
    maxima |= {"turns": TURNS_MAX, "source_trace_ids": SOURCE_TRACES_MAX}
    fitting: list[str] = []
    for name, most in maxima.items():
        value = getattr(record, name)
        if type(value) is not tuple:
            problems.add(name, Blocker.BAD_TYPE)
        elif len(value) > most:  # pyright: ignore[reportUnknownArgumentType]  # items are checked below
            problems.add(name, Blocker.TOO_MANY)
        else:
            fitting.append(name)
    for slot in SLOT_KINDS:
        if slot in fitting:
            slot_problems(problems, slot, getattr(record, slot))
    if "turns" in fitting:
        _check_turns(record.turns, problems)
    if "source_trace_ids" in fitting:
        _check_traces(record.source_trace_ids, problems)


def _check_turns(turns: tuple[SessionTurnDigest, ...], problems: Problems) -> None:
    seen: set[str] = set()
    for number, turn in enumerate(turns):
        if type(turn) is not SessionTurnDigest:
            problems.add(f"turns[{number}]", Blocker.BAD_TYPE)
            continue
        if turn.turn_id in seen:
            problems.add(f"turns[{number}]", Blocker.DUPLICATE)
        seen.add(turn.turn_id)


def _check_traces(traces: tuple[str, ...], problems: Problems) -> None:
    seen: set[str] = set()
    for number, trace in enumerate(traces):
        problem = id_problem(trace)
        if problem is None and trace in seen:
            problem = Blocker.DUPLICATE
        problems.add(f"source_trace_ids[{number}]", problem)
        if problem is None:
            seen.add(trace)


def _values(record: SessionStateRecord) -> list[object]:
    """What is encoded, in order. docs/reference/session-state.md shows it as a table."""
    anchors = [
        [[anchor.kind.value, anchor.anchor_id, anchor.evidence_digest] for anchor in slot]
        for slot in (
            record.memory_anchors,
            record.gene_anchors,
            record.retrieval_evidence,
            record.routing_evidence,
        )
    ]
    return [
        FORMAT,
        SCHEMA,
        FLAGS,
        record.state_id,
        record.scope.parts,
        record.profile.values(),
        *anchors,
        [turn.values() for turn in record.turns],
        record.source_trace_ids,
        record.derived_from,
    ]
