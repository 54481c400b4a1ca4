"""The isolation gate: who may touch whose state. A scope sees itself and nothing else.

A decision follows from the two scopes alone, never from what is stored, so it can't tell whether
anything is.
"""

from enum import StrEnum

import attrs

from turnfold.events.session_state.blockers import Blocker, GateReason, reasons_of
from turnfold.events.session_state.digest import DigestKey, DigestPurpose
from turnfold.events.session_state.scope import TenantScope


class GateAction(StrEnum):
    """What an actor asks to do."""

    READ = "read"
    WRITE = "write"
    LIST = "list"
    REPLAY = "replay"
    DELETE = "delete"


@attrs.frozen
class GateDecision:
    """The answer to one request, with every blocker. Allowed if there is none."""

    action: GateAction
    blockers: tuple[Blocker, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether nothing blocks the action."""
        return not self.blockers

    @property
    def reasons(self) -> tuple[str, ...]:
        """The published codes: `state.allowed`, or those of the blockers."""
        return reasons_of(self.blockers) or (GateReason.ALLOWED.value,)


@attrs.frozen
class GateNotice:
    """What an operator's notice and counter say of one decision: keyed digests, never ids."""

    action: GateAction
    reasons: tuple[str, ...]
    actor_digest: str
    target_digest: str


def scope_blockers(actor: TenantScope, target: TenantScope) -> tuple[Blocker, ...]:
    """The parts in which the actor's scope is not the target's, compared exactly."""
    blockers: list[Blocker] = []
    if actor.tenant_id != target.tenant_id:
        blockers.append(Blocker.CROSS_TENANT)
    if actor.workspace_id != target.workspace_id:
        blockers.append(Blocker.CROSS_WORKSPACE)
    if actor.session_id != target.session_id:
        blockers.append(Blocker.CROSS_SESSION)
    return tuple(blockers)


def decide_access(actor: TenantScope, target: TenantScope, action: GateAction) -> GateDecision:
    """Whether the isolation gate lets `actor` do `action` to `target`'s state.

    For a write this is one condition of several: see `decide_write`.
    """
    return GateDecision(action, scope_blockers(actor, target))


def gate_notice(
    decision: GateDecision, actor: TenantScope, target: TenantScope, key: DigestKey
) -> GateNotice:
    """The notice of a decision. Equal scopes have equal digests under one key."""
    return GateNotice(
        decision.action,
        decision.reasons,
        key.digest(DigestPurpose.NOTICE, *actor.parts),
        key.digest(DigestPurpose.NOTICE, *target.parts),
    )
