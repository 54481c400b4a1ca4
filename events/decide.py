"""decide: what a command means, as events. Pure: state, command, time and random bytes come in.

    decide(state, command, now, entropy, names) -> Decision(events, answer)

Nothing is changed; the caller appends the events as one frame and evolves the state with them.
A refusal raises a CommandRefused and stores nothing. Order inside one AddTurns: the key's own
overdue session expires; a new one starts; then for each turn the session is compacted and others
are evicted *before* the turn is added, so limits hold after every event.
"""

from collections.abc import Callable
from functools import singledispatch
from hashlib import blake2b
from typing import Any

import attrs

from turnfold.events import event as e
from turnfold.events.adding import add_turns
from turnfold.events.commands import (
    AddTurns,
    Command,
    Conform,
    DeleteKey,
    Entropy,
    ExpireSession,
    Instant,
    Sweep,
)
from turnfold.events.compaction import conform
from turnfold.events.draft import Draft
from turnfold.events.keys import ConversationKey
from turnfold.events.limits import SWEEP_EVENTS_MAX
from turnfold.events.reasons import Reason
from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt, Receipt
from turnfold.events.session import KeyTag, Session
from turnfold.events.state import StoreState

Answer = tuple[Receipt, ...] | ExpiryReceipt | DeletionReceipt | int
Names = Callable[[ConversationKey], KeyTag]
"""What a key is called inside the state: its keyed pseudonym and channel code."""


@attrs.frozen
class Decision:
    """One command's events (one frame; may be none) and the answer once they are durable.

    Answers: AddTurns -> a Receipt per turn; ExpireSession -> ExpiryReceipt; DeleteKey ->
    DeletionReceipt (without what was erased; that is known after the erasure); Sweep and
    Conform -> the number of events.
    """

    events: tuple[e.Event, ...]
    answer: Any


def decide(
    state: StoreState, command: Command, now: Instant, entropy: Entropy, names: Names
) -> Decision:
    """See the module. Raises SessionEnded or TurnIdConflict; then nothing is to be stored."""
    if isinstance(command, AddTurns):  # the hot path first
        draft = Draft(state, now)
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
    sources = [r for r in state.records.values() if r.source == source_tag(tag)]
    draft = Draft(state, now)
    receipt = DeletionReceipt(
        avatar=command.key.avatar,
        channel=command.key.channel,
        position=state.position,
        session_states=len(sources),
        pseudonym=tag[0].hex(),
    )
    known = session is not None or (ended is not None and ended.reason != Reason.DELETED_OPERATOR)
    if known or any(pending.tag == tag for pending in state.pending.values()):
        draft.delete(session, tag, command.key.channel)
        receipt = attrs.evolve(receipt, position=draft.events[-1].position)
    for record in sources:
        draft.add(
            e.SessionStateDeleted(
                **draft.common(Reason.STATE_SOURCE_DELETED),
                record=record.record,
                recorded=record.position,
            )
        )
    return Decision(tuple(draft.events), receipt)


def source_tag(tag: KeyTag) -> bytes:
    """How a session-state record names the conversation that it was derived from: 16 bytes."""
    named = tag[0] + bytes([tag[1]])
    return blake2b(named, digest_size=len(tag[0]), person=b"tf-state-source").digest()


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
