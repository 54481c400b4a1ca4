"""decide: what a command means, as events. Pure: state, command, time and random bytes come in.

    decide(state, command, now, entropy, names) -> Decision(events, answer)

Nothing is changed; the caller appends the events as one frame and evolves the state with them.
A refusal raises a CommandRefused and stores nothing. Order inside one AddTurns: the key's own
overdue session expires; a new one starts; then for each turn the session is compacted and others
are evicted *before* the turn is added, so limits hold after every event.
"""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import attrs

from turnfold.events import event as e
from turnfold.events.adding import add_turns
from turnfold.events.commands import (
    AddTurns,
    Command,
    Conform,
    DeleteKey,
    DeleteState,
    Entropy,
    ExpireSession,
    Instant,
    RecordState,
    Sweep,
)
from turnfold.events.compaction import conform
from turnfold.events.draft import Draft
from turnfold.events.keys import ConversationKey
from turnfold.events.limits import SWEEP_EVENTS_MAX
from turnfold.events.ordinals import SecretNumbers
from turnfold.events.reasons import Reason
from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt, Receipt
from turnfold.events.session import KeyTag, Session
from turnfold.events.session_state.reports import (
    SessionStateDeleteReport,
    SessionStateWriteReport,
)
from turnfold.events.state import StoreState
from turnfold.events.state_deciding import delete_state, forget_source, record_state

Answer = (
    tuple[Receipt, ...]
    | ExpiryReceipt
    | DeletionReceipt
    | SessionStateWriteReport
    | SessionStateDeleteReport
    | int
)
Names = Callable[[ConversationKey], KeyTag]
"""What a key is called inside the state: its keyed pseudonym and channel code."""


# Not frozen: one for each command (0.3 instead of 0.7 us). Never changed.
@attrs.define
class Decision:
    """One command's events (one frame; may be none) and the answer once they are durable.

    Answers: AddTurns -> a Receipt per turn; ExpireSession -> ExpiryReceipt; DeleteKey ->
    DeletionReceipt (without what was erased; that is known after the erasure); RecordState and
    DeleteState -> a report, which says if it was not done; Sweep and Conform -> the number of
    events.
    """

    events: tuple[e.Event, ...]
    answer: Any


def decide(
    state: StoreState,
    command: Command,
    now: Instant,
    entropy: Entropy,
    names: Names,
    *,
    secrets: SecretNumbers | None = None,
) -> Decision:
    """See the module. Raises SessionEnded or TurnIdConflict; then nothing is to be stored.

    `secrets` numbers what redaction replaced in added turns; without it they get no ordinals.
    """
    if isinstance(command, AddTurns):  # the hot path first
        draft = Draft(state, now, secrets)
        receipts = add_turns(draft, command, names(command.key), entropy)
        return Decision(tuple(draft.events), receipts)
    return _decide(command, state, now, entropy, names)


@singledispatch
def _decide(
    command: object, state: StoreState, now: Instant, entropy: Entropy, names: Names
) -> Decision:
    del state, now, entropy, names
    raise TypeError(f"not a command: {type(command).__name__}")


@_decide.register
def _expire(
    command: ExpireSession, state: StoreState, now: Instant, entropy: Entropy, names: Names
) -> Decision:
    del entropy
    session = state.session(names(command.key))
    if session is None:
        return Decision((), ExpiryReceipt(expired=False))
    overdue = session.is_overdue(now.age)
    reason = Reason.EXPIRED_INACTIVITY if overdue else Reason.EXPIRED_OPERATOR
    draft = Draft(state, now)
    draft.expire(session, reason)
    position = draft.events[-1].position
    return Decision(tuple(draft.events), ExpiryReceipt(True, position, session.session_id, reason))


@_decide.register
def _delete(
    command: DeleteKey, state: StoreState, now: Instant, entropy: Entropy, names: Names
) -> Decision:
    del entropy
    tag = names(command.key)
    session = state.session(tag)
    ended = state.ended.get(tag)
    draft = Draft(state, now)
    receipt = DeletionReceipt(
        avatar=command.key.avatar,
        channel=command.key.channel,
        position=state.position,
        pseudonym=tag[0].hex(),
    )
    known = session is not None or (ended is not None and ended.reason != Reason.DELETED_OPERATOR)
    if known or any(pending.tag == tag for pending in state.pending.values()):
        draft.delete(session, tag, command.key.channel)
        receipt = attrs.evolve(receipt, position=draft.events[-1].position)
    receipt = attrs.evolve(receipt, session_states=forget_source(draft, tag))
    return Decision(tuple(draft.events), receipt)


@_decide.register
def _record_state(
    command: RecordState, state: StoreState, now: Instant, entropy: Entropy, names: Names
) -> Decision:
    source = command.record.source
    draft = Draft(state, now)
    report = record_state(draft, command, None if source is None else names(source), entropy)
    return Decision(tuple(draft.events), report)


@_decide.register
def _delete_state(
    command: DeleteState, state: StoreState, now: Instant, entropy: Entropy, names: Names
) -> Decision:
    del entropy, names
    draft = Draft(state, now)
    report = delete_state(draft, command)
    return Decision(tuple(draft.events), report)


@_decide.register
def _sweep(
    command: Sweep, state: StoreState, now: Instant, entropy: Entropy, names: Names
) -> Decision:
    del entropy, names
    reason = Reason.EXPIRED_RECOVERED_AGE if command.recovered else Reason.EXPIRED_INACTIVITY
    draft = Draft(state, now)
    for session in overdue_sessions(state, now.age, SWEEP_EVENTS_MAX):
        draft.expire(session, reason)
    return Decision(tuple(draft.events), len(draft.events))


def overdue_sessions(state: StoreState, age: int, count_max: int) -> list[Session]:
    """At most `count_max` live sessions whose time is up, each channel's oldest first."""
    overdue: list[Session] = []
    for channel in state.channels:
        for session in channel.values():
            if len(overdue) >= count_max or not session.is_overdue(age):
                break
            overdue.append(session)
    return overdue


def has_overdue(state: StoreState, age: int) -> bool:
    """Whether a sweep would expire anything; looks at one session per channel."""
    return bool(overdue_sessions(state, age, 1))


@_decide.register
def _conform(
    command: Conform, state: StoreState, now: Instant, entropy: Entropy, names: Names
) -> Decision:
    """Lowered limits: compact each session that is over them, then evict down to them."""
    del command, names
    draft = Draft(state, now)
    limits = state.opening.limits
    for session in list(state.sessions()):
        if len(draft.events) >= SWEEP_EVENTS_MAX:
            break
        compaction = conform(session, limits)
        if compaction is not None:
            draft.compact(session, compaction, entropy)
    draft.evict_down(own=None, sessions=0, size=0, events_max=SWEEP_EVENTS_MAX)
    return Decision(tuple(draft.events), len(draft.events))
