"""Adding turns: idempotency, a session to add to, room for each turn, the turns themselves."""

from collections.abc import Sequence
from hashlib import blake2b

import attrs

from turnfold.events import event as e
from turnfold.events.commands import AddTurns, Entropy, TurnToAdd
from turnfold.events.compaction import compact
from turnfold.events.draft import Draft
from turnfold.events.errors import SessionEnded, TurnIdConflict
from turnfold.events.extras import encode_extras, with_ordinals
from turnfold.events.keys import ConversationKey, SessionId
from turnfold.events.limits import SESSION_OVERHEAD_BYTES, TAG_BYTES, TURN_OVERHEAD_BYTES
from turnfold.events.reasons import START_AFTER, Reason
from turnfold.events.receipts import Receipt
from turnfold.events.redaction import clip
from turnfold.events.redaction_split import EDGE_CHARS
from turnfold.events.sealed import NONCE_BYTES, commit, seal
from turnfold.events.session import KeyTag, Session, apply_turn, start_session
from turnfold.events.split_guard import find_split, redacted_again
from turnfold.events.state import StoreState
from turnfold.events.turns import ActionResult

TAG_DIGEST_BYTES = 16
NOT_COMPARED = bytes(TAG_DIGEST_BYTES)
"""The content tag of a turn that was redacted as part of a split secret.

A tag of what the caller sent would let whoever has the file try passwords against it, and a tag of
what is stored would make a retry a conflict. So the turn id alone tells a retry.
"""


def add_turns(
    draft: Draft, command: AddTurns, tag: KeyTag, entropy: Entropy
) -> tuple[Receipt, ...]:
    """Decide AddTurns into the draft; one receipt per turn, duplicates included.

    Raises SessionEnded if `command.session` is not the key's live session, TurnIdConflict if a
    turn id was used with other content (then no turn of the command is added).
    """
    session = draft.state.session(tag)
    overdue = session is not None and session.is_overdue(draft.now.age)
    live = None if overdue else session
    if command.session is not None and (live is None or live.session_id != command.session):
        raise SessionEnded(_why_ended(draft.state, tag, session if overdue else None, command))
    candidates = [_Candidate(item) for item in command.turns]
    _refuse_conflicts_within(candidates)
    earlier = [_earlier(candidate, live, draft.state) for candidate in candidates]
    if live is not None and all(earlier):
        return tuple(Receipt(place, live.session_id, duplicate=True) for place in earlier)
    if live is None:
        live = _start(draft, tag, command.key, session, entropy)
    return _append(draft, list(zip(candidates, earlier, strict=True)), live, entropy)


class _Candidate:
    """A turn to add and its payload as it will be sealed: extras, then text.

    `is_split`: its text was redacted because it goes on with a secret of an earlier turn.
    """

    __slots__ = ("extras", "is_split", "text", "turn", "turn_id")

    def __init__(self, item: TurnToAdd) -> None:
        self.turn = item.turn
        self.turn_id = item.turn_id
        self.extras = encode_extras(item.turn)
        self.text = item.turn.text.encode()
        self.is_split = False


# --- idempotency -----------------------------------------------------------------------


def turn_tag(salt: bytes, turn_id: str) -> bytes:
    """What stands for a turn id in the log: keyed by the session's salt, gone with it."""
    return blake2b(
        turn_id.encode(), digest_size=TAG_DIGEST_BYTES, key=salt, person=b"tf-turn-id"
    ).digest()


def content_tag(salt: bytes, candidate: _Candidate) -> bytes:
    """What stands for a turn's kind, names, outcome and text, to tell a retry from a conflict."""
    turn = candidate.turn
    outcome = turn.outcome.value if isinstance(turn, ActionResult) else 0
    head = bytes([turn.kind.value, outcome]) + len(candidate.extras).to_bytes(4, "little")
    return blake2b(
        head + candidate.extras + candidate.text,
        digest_size=TAG_DIGEST_BYTES,
        key=salt,
        person=b"tf-content",
    ).digest()


def _stored_tag(salt: bytes, candidate: _Candidate) -> bytes:
    return NOT_COMPARED if candidate.is_split else content_tag(salt, candidate)


def _earlier(candidate: _Candidate, live: Session | None, state: StoreState) -> int:
    """The position that the turn already has in the live session, or 0. Raises TurnIdConflict."""
    if candidate.turn_id is None or live is None or live.salt is None:
        return 0
    entry = state.index.get(live.start, {}).get(turn_tag(live.salt, candidate.turn_id))
    if entry is None:
        return 0
    # Tags made under another rule set or limit may differ for the same input.
    comparable = entry[1] >= state.opening.basis_since
    if comparable and entry[0] not in (NOT_COMPARED, content_tag(live.salt, candidate)):
        raise TurnIdConflict(
            f"a turn id of this session was used at position {entry[1]} with other content;"
            " use a fresh turn id for a new turn"
        )
    return entry[1]


def _refuse_conflicts_within(candidates: Sequence[_Candidate]) -> None:
    seen: dict[str, _Candidate] = {}
    for candidate in candidates:
        if candidate.turn_id is None:
            continue
        first = seen.setdefault(candidate.turn_id, candidate)
        if first is not candidate and content_tag(b"-", first) != content_tag(b"-", candidate):
            raise TurnIdConflict(
                "a turn id stands twice in one command with different content;"
                " use one turn id per turn"
            )


# --- the session --------------------------------------------------------------------------


def _why_ended(state: StoreState, tag: KeyTag, overdue: Session | None, command: AddTurns) -> str:
    what = "the session that the command names is not live"
    live, ended = state.session(tag), state.ended.get(tag)
    if overdue is not None and overdue.session_id == command.session:
        what += f" ({Reason.EXPIRED_INACTIVITY})"
    elif ended is not None and ended.session_id == command.session:
        what += f" ({ended.reason})"
    elif live is not None and overdue is None:
        what += f"; another one is ({live.started.reason})"
        return what + ": add the turn without `session` to speak in that"
    return what + "; add the turn without `session` to start a new one"


def _start(
    draft: Draft,
    tag: KeyTag,
    key: ConversationKey,
    overdue: Session | None,
    entropy: Entropy,
) -> Session:
    """Start the key's next session, after its overdue one has expired."""
    if overdue is not None:
        draft.expire(overdue, Reason.EXPIRED_INACTIVITY)
        reason = Reason.STARTED_AFTER_EXPIRY
    else:
        reason = _start_reason(draft.state, tag)
    draft.make_room(tag, sessions=1, size=SESSION_OVERHEAD_BYTES)
    session_id = SessionId(entropy.take(16).hex())
    sealed = seal(entropy.take(NONCE_BYTES), key.avatar.bytes + entropy.take(16))
    started = e.SessionStarted(
        **draft.common(reason),
        session_id=session_id,
        pseudonym=tag[0],
        channel=key.channel,
        commitment=commit(sealed),
        sealed=sealed,
    )
    draft.add(started)
    session = start_session(started)
    draft.active += 1
    draft.replace(None, session)
    return session


def _start_reason(state: StoreState, tag: KeyTag) -> Reason:
    ended = state.ended.get(tag)
    if ended is not None:
        return START_AFTER[ended.reason]
    if state.forgotten:
        return Reason.STARTED_PREDECESSOR_UNKNOWN
    return Reason.STARTED_FIRST_TURN


# --- the turns -----------------------------------------------------------------------------


def _append(
    draft: Draft,
    candidates: Sequence[tuple[_Candidate, int]],
    session: Session,
    entropy: Entropy,
) -> tuple[Receipt, ...]:
    """Add each candidate that has no earlier position (0)."""
    receipts: list[Receipt] = []
    in_command: dict[str, int] = {}
    for candidate, position in candidates:
        turn_id = candidate.turn_id
        earlier = position or (in_command.get(turn_id, 0) if turn_id is not None else 0)
        if earlier:
            receipts.append(Receipt(earlier, session.session_id, duplicate=True))
            continue
        if session.turns and len(candidate.turn.text) <= EDGE_CHARS:
            session = _guard(draft, candidate, session, entropy)
        session = _append_turn(draft, candidate, session, entropy)
        receipts.append(Receipt(session.last, session.session_id))
        if turn_id is not None:
            in_command[turn_id] = session.last
    return tuple(receipts)


def _guard(draft: Draft, candidate: _Candidate, session: Session, entropy: Entropy) -> Session:
    """Redact a secret that the turn completes, in it and in the turn that began it."""
    turn = candidate.turn
    split = find_split(session.turns, turn.kind, turn.text)
    if split is None:
        return session
    bytes_max = draft.limits.tool_turn_bytes if turn.kind.is_tool else draft.limits.turn_bytes
    candidate.turn = attrs.evolve(turn, text=clip(split.after, bytes_max))
    candidate.text = candidate.turn.text.encode()
    candidate.is_split = True
    if split.before is None:
        return session
    part = redacted_again(split.earlier, split.before, entropy)
    return draft.redact(session, part, Reason.REDACTED_SPLIT_SECRET)


def _append_turn(
    draft: Draft, candidate: _Candidate, session: Session, entropy: Entropy
) -> Session:
    turn, extras, text = candidate.turn, candidate.extras, candidate.text
    if turn.text.marks and draft.secrets is not None:
        ordinals = draft.secrets.number(session.start, session.turns, turn.text.marks)
        extras = with_ordinals(extras, ordinals)
    cost = len(extras) + len(text) + TURN_OVERHEAD_BYTES
    if candidate.turn_id is not None:
        cost += TAG_BYTES
    compaction = compact(session, turn.kind, cost, draft.limits)
    if compaction is not None:
        session = draft.compact(session, compaction, entropy)
    draft.make_room(session.tag, sessions=0, size=cost)
    sealed = seal(entropy.take(NONCE_BYTES), extras + text)
    salt = session.salt if candidate.turn_id is not None else None
    event = e.TurnAdded(
        position=draft.next_position,
        at=draft.now.at,
        age=draft.now.age,
        reason=e.ADDED[turn.kind],
        session=session.start,
        text_bytes=len(text),
        extras_bytes=len(extras),
        commitment=commit(sealed),
        sealed=sealed,
        outcome=turn.outcome if isinstance(turn, ActionResult) else None,
        truncated_from=turn.text.truncated_from or 0,
        replaced=turn.text.replaced,
        redactions=turn.text.redactions,
        turn_tag=turn_tag(salt, candidate.turn_id) if salt and candidate.turn_id else None,
        content_tag=_stored_tag(salt, candidate) if salt else None,
    )
    draft.add(event)
    after = apply_turn(session, event, draft.limits)
    draft.replace(session, after)
    return after
