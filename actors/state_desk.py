"""The desk of session state: gate, policy, reads and digests of one open store. Any thread.

`SessionStateStore` and its asynchronous twin are thin layers over it. Reads go by published
records and wait for nobody. A write is decided here, in its sender's thread, with every condition;
the store actor asks again only what may have changed by then. Nothing that is refused here reaches
the store actor, so no file changes.
"""

from collections.abc import Callable, Iterable

import attrs

from turnfold.actors.clock import AgeClock
from turnfold.actors.config import Config
from turnfold.actors.digest_keys import DigestKeys
from turnfold.actors.door import Door, check_key
from turnfold.actors.gate_notices import GateNotices
from turnfold.actors.published_records import PublishedRecords
from turnfold.events.commands import DeleteState, RecordState
from turnfold.events.decide import Names
from turnfold.events.errors import InvalidStateRecord
from turnfold.events.keys import ConversationKey
from turnfold.events.live_turns import live_turns
from turnfold.events.session import EndedSession, KeyTag, Session
from turnfold.events.session_state.anchor import SessionStateAnchor
from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.checks import Problems
from turnfold.events.session_state.conversation import derived_from_any, state_id_of
from turnfold.events.session_state.digest import DigestKeyring
from turnfold.events.session_state.gate import (
    GateAction,
    GateDecision,
    decide_access,
    gate_notice,
    scope_blockers,
)
from turnfold.events.session_state.policy import OperatorApproval, WritePolicy, decide_write
from turnfold.events.session_state.profile import SessionRuntimeProfile
from turnfold.events.session_state.record import SessionStateRecord
from turnfold.events.session_state.replay_preview import (
    SessionReplayPlanner,
    SessionReplayPreview,
)
from turnfold.events.session_state.reports import (
    SessionStateErrorReport,
    SessionStateListReport,
    SessionStateReadReport,
    SessionStateWriteReport,
)
from turnfold.events.session_state.scope import SessionStateKey, TenantScope
from turnfold.events.session_state.stored import find_error, list_stored, read_stored
from turnfold.events.session_state.tags import lookup_tag, record_tag, scope_tag
from turnfold.events.state_deciding import room_left, source_blockers


@attrs.frozen(eq=False)
class StateAccess:
    """What a session-state store works with: the desk of an open store and its door."""

    desk: "StateDesk"
    door: Door


Find = Callable[[KeyTag], tuple[Session | None, EndedSession | None]]


class StateDesk:
    """`find` gives a key's live session and how the last one ended; the rest is the store's own.

    Over the records of files alone it reads and decides, and writes nothing.
    """

    def __init__(
        self,
        config: Config,
        *,
        records: PublishedRecords,
        find: Find,
        clock: AgeClock,
        names: Names,
        secret: bytes,
        keys: DigestKeys,
    ) -> None:
        self._limits = config.limits
        self._policy = WritePolicy(config.durable_writes_enabled, config.previews_allowed)
        self._records = records
        self._find = find
        self._clock = clock
        self._names = names
        self._secret = secret
        self.keys = keys
        self.notices = GateNotices()

    @property
    def ring(self) -> DigestKeyring:
        """The digest keys. Raises StorageError if their file can't be used."""
        return self.keys.ring

    # --- writing -------------------------------------------------------------------------

    def decide_write(
        self, actor: TenantScope, record: SessionStateRecord, approval: OperatorApproval | None
    ) -> tuple[tuple[Blocker, ...], RecordState | None]:
        """Every blocker, or the command to send. Raises InvalidStateRecord for other types."""
        _check_types(
            actor_scope=(actor, TenantScope),
            record=(record, SessionStateRecord),
            approval=(approval, OperatorApproval, type(None)),
        )
        seen_ns = max(self._clock.highest_at, self._records.highest_at)
        now_ns = self._clock.now().at
        old = self._records.get(lookup_tag(self._secret, actor, record.scope, record.state_id))
        blockers = decide_write(
            actor,
            record,
            self._policy,
            approval,
            now_ns=now_ns,
            highest_seen_ns=seen_ns,
            room=room_left(self._limits, len(self._records), self._records.sealed_bytes, old),
        )
        if record.source is not None and not scope_blockers(actor, record.scope):
            blockers += self._source_blockers(record, record.source)
        if blockers or approval is None:
            return blockers, None
        return (), RecordState(
            record=record,
            tag=record_tag(self._secret, record.key),
            scope_tag=scope_tag(self._secret, record.scope),
            approval=approval,
            seen_ns=max(seen_ns, now_ns),
        )

    def _source_blockers(
        self, record: SessionStateRecord, source: ConversationKey
    ) -> tuple[Blocker, ...]:
        """Whether `source` is what the record was derived from, and wasn't deleted since."""
        if record.derived_from not in derived_from_any(source, self.ring):
            return (Blocker.SOURCE_UNKNOWN,)
        tag = self._names(source)
        live, ended = self._find(tag)
        old = self._records.get(record_tag(self._secret, record.key))
        return source_blockers(tag, record.source_position, live or ended, old)

    def reported(
        self, actor: TenantScope, record: SessionStateRecord, report: SessionStateWriteReport
    ) -> SessionStateWriteReport:
        """The report on a write; its decision is noted."""
        self._note(GateDecision(GateAction.WRITE, report.blockers), actor, record.scope)
        return report

    def delete_command(self, actor: TenantScope, key: SessionStateKey) -> DeleteState:
        """The command that deletes what `actor` may look for under `key`; the gate is noted.

        For another scope's key it names a tag that nothing is stored under.
        """
        return DeleteState(self._lookup(actor, key, GateAction.DELETE))

    # --- reading -------------------------------------------------------------------------

    def read(self, actor: TenantScope, key: SessionStateKey) -> SessionStateReadReport:
        """One lookup, whatever there is and whoever asks."""
        stored = self._records.get(self._lookup(actor, key, GateAction.READ))
        return read_stored(stored, key, self.ring.current)

    def list(self, actor: TenantScope) -> SessionStateListReport:
        """The actor's own records."""
        _check_types(actor_scope=(actor, TenantScope))
        self._note(decide_access(actor, actor, GateAction.LIST), actor, actor)
        stored = self._records.of_scope(scope_tag(self._secret, actor))
        return list_stored(stored, actor, self._secret, self.ring.current)

    def preview(
        self, actor: TenantScope, record: SessionStateRecord | None, max_inputs: int
    ) -> SessionReplayPreview:
        """See SessionReplayPlanner; the decision is noted."""
        _check_types(
            actor_scope=(actor, TenantScope), record=(record, SessionStateRecord, type(None))
        )
        preview = SessionReplayPlanner().preview(actor, record, max_inputs)
        target = actor if record is None else record.scope
        self._note(GateDecision(GateAction.REPLAY, preview.blockers), actor, target)
        return preview

    def find_error(self, error_digest: str) -> SessionStateErrorReport | None:
        """Where the record is that an error digest is about."""
        for stored in self._records.every():
            found = find_error(stored, error_digest, self._secret, self.ring)
            if found is not None:
                return found
        return None

    # --- building ------------------------------------------------------------------------

    def from_conversation(
        self,
        conversation: ConversationKey,
        *,
        scope: TenantScope,
        profile: SessionRuntimeProfile,
        memory_anchors: Iterable[SessionStateAnchor],
        gene_anchors: Iterable[SessionStateAnchor],
        state_id: str | None,
        retrieval_evidence: Iterable[SessionStateAnchor],
        routing_evidence: Iterable[SessionStateAnchor],
        source_trace_ids: Iterable[str],
    ) -> SessionStateRecord:
        """See SessionStateStore.from_conversation."""
        check_key(conversation)
        session, _ended = self._find(self._names(conversation))
        if session is None or session.is_overdue(self._clock.age()):
            raise InvalidStateRecord(
                "the conversation is not live; build a record from one that is",
                (Blocker.SOURCE_GONE.value,),
            )
        if state_id is None and type(scope) is TenantScope:
            state_id = self._state_id_of(conversation, scope)
        return SessionStateRecord.from_conversation(
            live_turns(session),
            conversation,
            scope=scope,
            profile=profile,
            memory_anchors=memory_anchors,
            gene_anchors=gene_anchors,
            digest_key=self.ring.current,
            state_id=state_id,
            retrieval_evidence=retrieval_evidence,
            routing_evidence=routing_evidence,
            source_trace_ids=source_trace_ids,
        )

    def _state_id_of(self, conversation: ConversationKey, scope: TenantScope) -> str | None:
        """The id of the conversation's record in this scope, also if it was made before the keys
        were rotated; None if there is none."""
        for key in self.ring.keys:
            state_id = state_id_of(conversation, key)
            tag = record_tag(self._secret, SessionStateKey(scope, state_id))
            if self._records.get(tag) is not None:
                return state_id
        return None

    # --- the gate ------------------------------------------------------------------------

    def _lookup(self, actor: TenantScope, key: SessionStateKey, action: GateAction) -> bytes:
        _check_types(actor_scope=(actor, TenantScope), key=(key, SessionStateKey))
        self._note(decide_access(actor, key.scope, action), actor, key.scope)
        return lookup_tag(self._secret, actor, key.scope, key.state_id)

    def _note(self, decision: GateDecision, actor: TenantScope, target: TenantScope) -> None:
        self.notices.take(gate_notice(decision, actor, target, self.ring.current))


def _check_types(**values: tuple[object, *tuple[type, ...]]) -> None:
    """Raises InvalidStateRecord naming every argument that is of none of its types.

    A derived class doesn't do: it could compare equal to another scope.
    """
    problems = Problems("the request")
    for name, (value, *kinds) in values.items():
        problems.add(name, None if type(value) in kinds else Blocker.BAD_TYPE)
    problems.raise_if_any()
