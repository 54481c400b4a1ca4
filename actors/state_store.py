"""SessionStateStore: digest-only session state in an open store, for threads and for asyncio.

Records, scopes and reports are values of `turnfold.events.session_state`; what a write needs and
what reads tell is in docs/reference/session-state.md.
"""

import asyncio
from collections.abc import Iterable
from typing import TypeVar

from turnfold.actors.async_store import AsyncConversationStore
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.reply import LoopSlot
from turnfold.actors.state_desk import StateAccess
from turnfold.events.keys import ConversationKey
from turnfold.events.session_state.anchor import SessionStateAnchor
from turnfold.events.session_state.gate import GateNotice
from turnfold.events.session_state.policy import OperatorApproval
from turnfold.events.session_state.profile import SessionRuntimeProfile
from turnfold.events.session_state.record import SessionStateRecord
from turnfold.events.session_state.replay_preview import INPUTS_DEFAULT, SessionReplayPreview
from turnfold.events.session_state.reports import (
    SessionStateDeleteReport,
    SessionStateErrorReport,
    SessionStateListReport,
    SessionStateReadReport,
    SessionStateWriteReport,
)
from turnfold.events.session_state.scope import SessionStateKey, TenantScope
from turnfold.events.session_state.turn_digest import SessionTurnDigest
from turnfold.events.turns import Role

T = TypeVar("T")


class _Desk:
    """What both have in common: what only computes, and what an operator looks at."""

    __slots__ = ("_desk", "_door")

    def __init__(self, access: StateAccess) -> None:
        access.desk.keys.check()
        self._desk = access.desk
        self._door = access.door

    def turn_digest(
        self,
        payload: str | bytes,
        *,
        turn_id: str,
        role: Role | str,
        scope: TenantScope,
        token_estimate: int | None = None,
        summary_preview: str | None = None,
    ) -> SessionTurnDigest:
        """What was said as a digest under the store's current key; `payload` is not kept.

        `summary_preview` is redacted and cut to 96 characters; a record that holds one is written
        only where policy allows previews. Raises InvalidStateRecord, TextTooLarge.
        """
        return SessionTurnDigest.of(
            payload,
            turn_id=turn_id,
            role=role,
            scope=scope,
            key=self._desk.ring.current,
            token_estimate=token_estimate,
            summary_preview=summary_preview,
        )

    def matches(self, turn: SessionTurnDigest, payload: str | bytes, scope: TenantScope) -> bool:
        """Whether `turn` is the digest of `payload` in `scope`, under any key of the store."""
        return turn.matches(payload, scope, self._desk.ring)

    def with_source(
        self, record: SessionStateRecord, conversation: ConversationKey
    ) -> SessionStateRecord:
        """A record that was read, with the conversation it was derived from, to write it again.

        Raises InvalidStateRecord if it was derived from another one.
        """
        return record.with_source(conversation, self._desk.ring)

    def gate_notices(self, after: int = 0) -> tuple[int, tuple[GateNotice, ...]]:
        """How many decisions the gate made, and the notices of those after the `after`th.

        The newest 1,024 are kept, in memory. Ask again with the number that was answered.
        """
        return self._desk.notices.since(after)

    def decisions(self) -> dict[str, int]:
        """How often each action had each outcome: `{"write state.not_approved": 3}`."""
        return self._desk.notices.counts()


class SessionStateStore(_Desk):
    """Session state in an open ConversationStore. Any thread.

    An actor sees the records of its own scope and nothing else: what isn't there and what isn't
    its own look the same. `timeout` is in seconds, None for as long as it takes; when it is over,
    StoreBusy is raised and the command may still be carried out.
    """

    __slots__ = ()

    def __init__(self, store: ConversationStore) -> None:
        """Raises StorageError if the store's digest keys are lost or damaged."""
        super().__init__(store.state_access)

    def write(
        self,
        actor_scope: TenantScope,
        record: SessionStateRecord,
        approval: OperatorApproval | None = None,
        timeout: float | None = None,
    ) -> SessionStateWriteReport:
        """Store `record` durably, or report everything that blocks it; by default that.

        Raises InvalidStateRecord for arguments of another type, and what the store raises.
        """
        desk = self._desk
        blockers, command = desk.decide_write(actor_scope, record, approval)
        if command is None:
            report = SessionStateWriteReport.of(record, blockers, applied=False)
        else:
            report = self._door.call(command, False, timeout)
        return desk.reported(actor_scope, record, report)

    def read(self, actor_scope: TenantScope, key: SessionStateKey) -> SessionStateReadReport:
        """The record under `key` (a record's own `key`), or why there is none to give."""
        return self._desk.read(actor_scope, key)

    def list(self, actor_scope: TenantScope) -> SessionStateListReport:
        """The actor's own records by state id."""
        return self._desk.list(actor_scope)

    def delete(
        self, actor_scope: TenantScope, key: SessionStateKey, timeout: float | None = None
    ) -> SessionStateDeleteReport:
        """Delete the record under `key`, approval or not; when it returns, its bytes are erased."""
        desk = self._desk
        report: SessionStateDeleteReport = self._door.call(
            desk.delete_command(actor_scope, key), False, timeout
        )
        return report

    def preview(
        self,
        actor_scope: TenantScope,
        record: SessionStateRecord | None,
        max_inputs: int = INPUTS_DEFAULT,
    ) -> SessionReplayPreview:
        """What `record` could be resumed from, as SessionReplayPlanner says. Writes nothing.

        `record` may come from `read`, None included. Raises InvalidStateRecord.
        """
        return self._desk.preview(actor_scope, record, max_inputs)

    def from_conversation(
        self,
        conversation: ConversationKey,
        *,
        scope: TenantScope,
        profile: SessionRuntimeProfile,
        memory_anchors: Iterable[SessionStateAnchor],
        gene_anchors: Iterable[SessionStateAnchor],
        state_id: str | None = None,
        retrieval_evidence: Iterable[SessionStateAnchor] = (),
        routing_evidence: Iterable[SessionStateAnchor] = (),
        source_trace_ids: Iterable[str] = (),
    ) -> SessionStateRecord:
        """A record of a live conversation of this store: its turns as digests, no text.

        Deleting the conversation deletes the record. Without a `state_id` a later record replaces
        the earlier one. Raises InvalidKey, and InvalidStateRecord also if it isn't live.
        """
        return self._desk.from_conversation(
            conversation,
            scope=scope,
            profile=profile,
            memory_anchors=memory_anchors,
            gene_anchors=gene_anchors,
            state_id=state_id,
            retrieval_evidence=retrieval_evidence,
            routing_evidence=routing_evidence,
            source_trace_ids=source_trace_ids,
        )

    def find_error(self, error_digest: str) -> SessionStateErrorReport | None:
        """Where the record is that a report's error digest is about. For operators."""
        return self._desk.find_error(error_digest)

    def rotate_key(self) -> str:
        """Make a new digest key, keep the old ones for verifying; the new key's id.

        Raises StorageError if the key file can't be written.
        """
        return self._desk.keys.rotate()


class AsyncSessionStateStore(_Desk):
    """The same in an open AsyncConversationStore. No method blocks the loop.

    Cancelling a task that writes leaves the record whole or absent.
    """

    __slots__ = ()

    def __init__(self, store: AsyncConversationStore) -> None:
        """Raises StoreClosed before the store was opened; otherwise as SessionStateStore."""
        super().__init__(store.state_access)

    async def write(
        self,
        actor_scope: TenantScope,
        record: SessionStateRecord,
        approval: OperatorApproval | None = None,
    ) -> SessionStateWriteReport:
        """See SessionStateStore.write. The ids of a large record are checked in a thread."""
        desk = self._desk
        blockers, command = await asyncio.to_thread(
            lambda: desk.decide_write(actor_scope, record, approval)
        )
        if command is None:
            report = SessionStateWriteReport.of(record, blockers, applied=False)
        else:
            report = await self._door.call_async(command, False, self._slot())
        return desk.reported(actor_scope, record, report)

    async def read(self, actor_scope: TenantScope, key: SessionStateKey) -> SessionStateReadReport:
        """See SessionStateStore.read."""
        return await asyncio.to_thread(lambda: self._desk.read(actor_scope, key))

    async def list(self, actor_scope: TenantScope) -> SessionStateListReport:
        """See SessionStateStore.list."""
        return await asyncio.to_thread(lambda: self._desk.list(actor_scope))

    async def delete(
        self, actor_scope: TenantScope, key: SessionStateKey
    ) -> SessionStateDeleteReport:
        """See SessionStateStore.delete."""
        command = self._desk.delete_command(actor_scope, key)
        report: SessionStateDeleteReport = await self._door.call_async(command, False, self._slot())
        return report

    async def preview(
        self,
        actor_scope: TenantScope,
        record: SessionStateRecord | None,
        max_inputs: int = INPUTS_DEFAULT,
    ) -> SessionReplayPreview:
        """See SessionStateStore.preview."""
        return self._desk.preview(actor_scope, record, max_inputs)

    async def from_conversation(
        self,
        conversation: ConversationKey,
        *,
        scope: TenantScope,
        profile: SessionRuntimeProfile,
        memory_anchors: Iterable[SessionStateAnchor],
        gene_anchors: Iterable[SessionStateAnchor],
        state_id: str | None = None,
        retrieval_evidence: Iterable[SessionStateAnchor] = (),
        routing_evidence: Iterable[SessionStateAnchor] = (),
        source_trace_ids: Iterable[str] = (),
    ) -> SessionStateRecord:
        """See SessionStateStore.from_conversation."""
        return await asyncio.to_thread(
            lambda: self._desk.from_conversation(
                conversation,
                scope=scope,
                profile=profile,
                memory_anchors=memory_anchors,
                gene_anchors=gene_anchors,
                state_id=state_id,
                retrieval_evidence=retrieval_evidence,
                routing_evidence=routing_evidence,
                source_trace_ids=source_trace_ids,
            )
        )

    async def find_error(self, error_digest: str) -> SessionStateErrorReport | None:
        """See SessionStateStore.find_error."""
        return await asyncio.to_thread(lambda: self._desk.find_error(error_digest))

    async def rotate_key(self) -> str:
        """See SessionStateStore.rotate_key."""
        return await asyncio.to_thread(self._desk.keys.rotate)

    def _slot(self) -> LoopSlot:
        return LoopSlot(asyncio.get_running_loop())
