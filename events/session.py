"""The values inside the folded state: sessions, endings, pending erasures.

They are replaced, never changed, so a reader that has one may keep it.
"""

from typing import Any

import attrs

from turnfold.events.errors import CorruptData
from turnfold.events.event import SessionCompacted, SessionStarted, TurnAdded, TurnRedacted
from turnfold.events.keys import Channel, ConversationKey, Pseudonym, SessionId
from turnfold.events.limits import (
    SESSION_OVERHEAD_BYTES,
    TAG_BYTES,
    TURN_OVERHEAD_BYTES,
    Limits,
)
from turnfold.events.reasons import Reason
from turnfold.events.sealed import Sealed

KeyTag = tuple[Pseudonym, int]
"""A pseudonym and a channel code: what a key is called inside the state."""


@attrs.frozen
class TurnId:
    """A remembered idempotency key of a compacted turn."""

    tag: bytes
    content_tag: bytes
    position: int


@attrs.frozen(repr=False)
class Summary:
    """The live summary of a session: what its compacted turns became.

    `position` is its SessionCompacted; `covered` counts the turns it stands for, all told.
    """

    position: int
    at: int
    size: int
    covered: int
    commitment: bytes
    sealed: Sealed  # the encoded summary

    def __repr__(self) -> str:
        return f"Summary(position={self.position}, {self.size} bytes)"


# Not frozen, for speed (one is made per turn); replaced, never changed.
@attrs.define(eq=False, repr=False)
class Session:
    """One live session. `size` is in accounted bytes (see limits), tags and summary included.

    `last` is the position of the newest turn (or of the start), `last_at` and `last_age` its
    times: activity is an accepted turn and nothing else.
    """

    started: SessionStarted
    key: ConversationKey | None
    salt: bytes | None
    turns: tuple[TurnAdded, ...]
    summary: Summary | None
    turn_ids: tuple[TurnId, ...]  # of compacted turns, oldest first
    turn_id_count: int  # of compacted and verbatim turns
    tool_turns: int
    size: int
    last: int
    last_at: int
    last_age: int

    @property
    def start(self) -> int:
        """The position that names the session in events."""
        return self.started.position

    @property
    def session_id(self) -> SessionId:
        """The session's public id."""
        return self.started.session_id

    @property
    def channel(self) -> Channel:
        """The channel of the session's key."""
        return self.started.channel

    @property
    def tag(self) -> KeyTag:
        """What the session's key is called inside the state."""
        return self.started.pseudonym, self.started.channel.code

    @property
    def turn_count(self) -> int:
        """Turns of the session, compacted ones included."""
        return len(self.turns) + (self.summary.covered if self.summary else 0)

    def is_overdue(self, age: int) -> bool:
        """Whether the session has expired at this store age (age >= TTL is expired)."""
        return age - self.last_age >= self.started.channel.ttl_ns

    def __repr__(self) -> str:
        return f"Session(start={self.start}, {len(self.turns)} turns, {self.size} bytes)"


@attrs.frozen
class EndedSession:
    """How a key's last session ended."""

    reason: Reason
    position: int
    session_id: SessionId | None
    start: int


@attrs.frozen
class PendingErasure:
    """Text of a session that must be erased; `through` is the position that made it due.

    With an ended session everything goes, start and summaries included. With compaction the turns
    up to `covered` go, except those `kept`, and the summaries before `through`. With `positions`,
    exactly those payloads go (redacted again: all but the newest form of each).
    """

    session: int
    tag: KeyTag
    reason: Reason  # an ERASED_* reason
    through: int
    covered: int = 0
    positions: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()


@attrs.frozen(repr=False)
class StateRecord:
    """A session-state record as the fold keeps it."""

    position: int
    at: int
    record: bytes
    scope: bytes
    source: bytes | None
    commitment: bytes
    sealed: Sealed


@attrs.frozen
class Opening:
    """What the last StoreOpened put in force.

    `basis_since` is the position since when ruleset and limits are what they are: turn ids are
    only compared by content within one basis.
    """

    epoch: int = 0
    ruleset: int = 0
    limits: Limits = attrs.field(factory=Limits)
    recorded_clock: bool = False
    basis_since: int = 0


# --- steps of one session: what evolve does to it, and decide looks ahead with -----------------


def turn_cost(turn: TurnAdded) -> int:
    """Accounted bytes of a turn: text, names, overhead and, with a turn id, its tags."""
    tags = TAG_BYTES if turn.turn_tag is not None else 0
    return turn.text_bytes + turn.extras_bytes + TURN_OVERHEAD_BYTES + tags


def start_session(started: SessionStarted) -> Session:
    """A session without turns."""
    return Session(
        started=started,
        key=started.key,
        salt=started.salt,
        turns=(),
        summary=None,
        turn_ids=(),
        turn_id_count=0,
        tool_turns=0,
        size=SESSION_OVERHEAD_BYTES,
        last=started.position,
        last_at=started.at,
        last_age=started.age,
    )


def apply_turn(session: Session, turn: TurnAdded, limits: Limits) -> Session:
    """The session with one more turn; the oldest ids of compacted turns give way to new ones."""
    turn_ids, count, size = session.turn_ids, session.turn_id_count, session.size
    if turn.turn_tag is not None:
        count += 1
        excess = min(len(turn_ids), count - limits.turn_ids_per_session) if turn_ids else 0
        if excess > 0:
            turn_ids = turn_ids[excess:]
            count -= excess
            size -= excess * TAG_BYTES
    return Session(
        session.started,
        session.key,
        session.salt,
        (*session.turns, turn),
        session.summary,
        turn_ids,
        count,
        session.tool_turns + turn.kind.is_tool,
        size + turn_cost(turn),
        turn.position,
        turn.at,
        turn.age if turn.age > session.last_age else session.last_age,
    )


def compacted(session: Session, event: SessionCompacted, turn_ids_max: int) -> Session:
    """The session with the covered turns replaced by the summary. Raises CorruptData."""
    covers = frozenset(event.covers)
    gone = [turn for turn in session.turns if turn.position in covers]
    if len(gone) != len(event.covers):
        raise CorruptData(f"the compaction at {event.position} covers turns that are not there")
    kept = tuple(turn for turn in session.turns if turn.position not in covers)
    old = session.summary
    turn_ids = session.turn_ids + tuple(
        TurnId(turn.turn_tag, turn.content_tag or b"", turn.position)
        for turn in gone
        if turn.turn_tag is not None
    )
    excess = min(len(turn_ids), max(0, session.turn_id_count - turn_ids_max))
    freed = sum(turn.text_bytes + turn.extras_bytes + TURN_OVERHEAD_BYTES for turn in gone)
    freed += (old.size if old else 0) + excess * TAG_BYTES
    return attrs.evolve(
        session,
        turns=kept,
        summary=Summary(
            position=event.position,
            at=event.at,
            size=event.summary_bytes,
            covered=len(gone) + (old.covered if old else 0),
            commitment=event.commitment,
            sealed=event.sealed,
        ),
        turn_ids=turn_ids[excess:],
        turn_id_count=session.turn_id_count - excess,
        tool_turns=session.tool_turns - sum(turn.kind.is_tool for turn in gone),
        size=session.size - freed + event.summary_bytes,
    )


def redacted(session: Session, event: TurnRedacted) -> Session:
    """The session with some of its texts redacted again. Raises CorruptData."""
    parts = {part.position: part for part in event.parts}
    turns: list[TurnAdded] = []
    change = 0
    for turn in session.turns:
        part = parts.pop(turn.position, None)
        if part is None:
            turns.append(turn)
            continue
        change += part.text_bytes + part.extras_bytes - turn.text_bytes - turn.extras_bytes
        fields: dict[str, Any] = {
            "text_bytes": part.text_bytes,
            "extras_bytes": part.extras_bytes,
            "commitment": part.commitment,
            "sealed": part.sealed,
            "redactions": part.redactions,
        }
        turns.append(attrs.evolve(turn, **fields))
    summary = session.summary
    if summary is not None and summary.position in parts:
        part = parts.pop(summary.position)
        change += part.text_bytes - summary.size
        summary = attrs.evolve(
            summary, size=part.text_bytes, commitment=part.commitment, sealed=part.sealed
        )
    if parts:
        raise CorruptData(f"the redaction at position {event.position} names no stored text")
    size = session.size + change
    return attrs.evolve(session, turns=tuple(turns), summary=summary, size=size)
