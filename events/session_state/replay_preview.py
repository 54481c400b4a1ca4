"""What a session could be resumed from: the inputs of retrieval, routing and gene replay.

Nothing is replayed here. A preview names inputs by id and digest; fetching what they refer to,
and every change to memory or genes, is the runtime's own.
"""

from enum import StrEnum
from typing import ClassVar, Final, Literal

import attrs

from turnfold.events.session_state.anchor import SessionStateAnchor
from turnfold.events.session_state.blockers import Blocker, reasons_of
from turnfold.events.session_state.checks import Problems, count_problem, hidden
from turnfold.events.session_state.gate import scope_blockers
from turnfold.events.session_state.profile import SessionRuntimeProfile
from turnfold.events.session_state.record import SessionStateRecord
from turnfold.events.session_state.scope import TenantScope

INPUTS_DEFAULT: Final = 64
INPUTS_MAX: Final = 1024  # of each kind; more than a record can hold


class ReplaySource(StrEnum):
    """What an input comes from: a kind of anchor, or the runtime profile."""

    MEMORY_CHAIN = "memory_chain"
    GENE_CHAIN = "gene_chain"
    RUNTIME_KV = "runtime_kv"
    EXPERIENCE = "experience"
    RETRIEVAL = "retrieval"
    ROUTING = "routing"
    PROFILE = "profile"


@attrs.frozen
class ReplayInput:
    """One input: where it comes from, the id to fetch it by, the digest to check it with.

    For the profile the id is the task profile and the digest is that of the whole profile.
    """

    source: ReplaySource
    reference_id: str = attrs.field(repr=hidden)
    evidence_digest: str = attrs.field(repr=hidden)


@attrs.frozen
class SessionReplayPreview:
    """The inputs of one record, or the blockers and nothing else.

    `omitted` counts the inputs that did not fit into `max_inputs`.
    """

    read_only: ClassVar[Literal[True]] = True
    report_only: ClassVar[Literal[True]] = True
    preview_only: ClassVar[Literal[True]] = True
    write_allowed: ClassVar[Literal[False]] = False

    blockers: tuple[Blocker, ...] = ()
    state_digest: str | None = None
    scope: TenantScope | None = None
    profile: SessionRuntimeProfile | None = None
    retrieval_inputs: tuple[ReplayInput, ...] = ()
    routing_inputs: tuple[ReplayInput, ...] = ()
    gene_inputs: tuple[ReplayInput, ...] = ()
    omitted: int = 0

    @property
    def rejected(self) -> bool:
        """Whether the replay is not allowed, or there is nothing to replay."""
        return bool(self.blockers)

    @property
    def blocked_reasons(self) -> tuple[str, ...]:
        """The published codes of `blockers`, each once."""
        return reasons_of(self.blockers)


class SessionReplayPlanner:
    """Turns a record into a preview. Holds nothing and changes nothing."""

    __slots__ = ()

    def preview(
        self,
        actor_scope: TenantScope,
        record: SessionStateRecord | None,
        max_inputs: int = INPUTS_DEFAULT,
    ) -> SessionReplayPreview:
        """The replay inputs of `record` for `actor_scope`, at most `max_inputs` of each kind.

        Retrieval inputs: memory-chain anchors, then retrieval evidence. Routing inputs: the
        profile, then routing evidence. Gene inputs: gene-chain anchors. Each in the record's
        order. `record` is None where a read gave none. Another scope's record is rejected before
        anything of it is looked at but its scope. Raises InvalidStateRecord for a `max_inputs`
        outside 0 to 1,024.
        """
        problems = Problems("the replay preview")
        problems.add("max_inputs", count_problem(max_inputs, 0, INPUTS_MAX))
        problems.raise_if_any()
        if record is None:
            return SessionReplayPreview(blockers=(Blocker.UNAVAILABLE,))
        foreign = scope_blockers(actor_scope, record.scope)
        if foreign:
            return SessionReplayPreview(blockers=foreign)
        retrieval = _inputs(record.memory_anchors + record.retrieval_evidence)
        routing = (_profile_input(record.profile), *_inputs(record.routing_evidence))
        gene = _inputs(record.gene_anchors)
        return SessionReplayPreview(
            state_digest=record.state_digest,
            scope=record.scope,
            profile=record.profile,
            retrieval_inputs=retrieval[:max_inputs],
            routing_inputs=routing[:max_inputs],
            gene_inputs=gene[:max_inputs],
            omitted=sum(max(0, len(inputs) - max_inputs) for inputs in (retrieval, routing, gene)),
        )


def _inputs(anchors: tuple[SessionStateAnchor, ...]) -> tuple[ReplayInput, ...]:
    return tuple(
        ReplayInput(ReplaySource(anchor.kind.value), anchor.anchor_id, anchor.evidence_digest)
        for anchor in anchors
    )


def _profile_input(profile: SessionRuntimeProfile) -> ReplayInput:
    return ReplayInput(ReplaySource.PROFILE, profile.task_profile.value, profile.digest)
