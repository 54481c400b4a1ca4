"""Sessions built turn by turn, with the accounting of the limits done in the plainest way."""

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from turnfold.events.compaction import Compaction, compact
from turnfold.events.event import ADDED, SessionStarted, TurnAdded
from turnfold.events.extras import encode_extras
from turnfold.events.keys import Channel, ConversationKey, Pseudonym, SessionId
from turnfold.events.limits import (
    SESSION_OVERHEAD_BYTES,
    TAG_BYTES,
    TURN_OVERHEAD_BYTES,
    Limits,
)
from turnfold.events.reasons import Reason
from turnfold.events.sealed import Erased, commit, seal
from turnfold.events.session import Session, Summary, TurnId
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary, Turn

NONCE = b"n" * 16
SECRET = b"s" * 32
AVATAR = uuid.UUID("a1b2c3d4-0000-4000-8000-000000000001")
AT = 1_760_000_000_000_000_000

SMALLEST = Limits(
    turns_per_session=4,
    tool_turns_per_session=1,
    bytes_per_session=4096,
    turn_bytes=64,
    tool_turn_bytes=64,
    summary_bytes=512,
)


def turn_added(
    turn: Turn, position: int, *, at: int | None = None, tagged: bool = False
) -> TurnAdded:
    """The stored form of a turn."""
    extras = encode_extras(turn)
    sealed = seal(NONCE, extras + turn.text.encode())
    return TurnAdded(
        position=position,
        at=AT + position * 10**9 if at is None else at,
        age=position,
        reason=ADDED[turn.kind],
        session=1,
        text_bytes=turn.text.byte_count,
        extras_bytes=len(extras),
        commitment=commit(sealed),
        sealed=sealed,
        outcome=turn.outcome if isinstance(turn, ActionResult) else None,
        redactions=turn.text.redactions,
        turn_tag=position.to_bytes(16, "big") if tagged else None,
        content_tag=b"c" * 16 if tagged else None,
    )


def stored(turns: Iterable[Turn], *, first: int = 2) -> tuple[TurnAdded, ...]:
    """Stored turns at consecutive positions."""
    return tuple(turn_added(turn, first + index) for index, turn in enumerate(turns))


def erased(turn: TurnAdded) -> TurnAdded:
    """The same turn after its text went."""
    assert isinstance(turn.sealed, bytes)
    return attrs.evolve(turn, sealed=Erased(len(turn.sealed)))


def cost(turn: TurnAdded) -> int:
    """What a turn counts in `bytes_per_session`."""
    tag = TAG_BYTES if turn.turn_tag else 0
    return TURN_OVERHEAD_BYTES + turn.text_bytes + turn.extras_bytes + tag


def session_of(
    turns: Sequence[TurnAdded] = (),
    *,
    start: int = 1,
    channel: Channel = Channel.DIRECT_IM,
    reason: Reason = Reason.STARTED_FIRST_TURN,
    summary: Summary | None = None,
    turn_ids: tuple[TurnId, ...] = (),
) -> Session:
    """A live session that holds these turns."""
    key = ConversationKey(AVATAR, channel)
    started = SessionStarted(
        position=start,
        at=AT,
        age=0,
        reason=reason,
        session_id=SessionId(f"{start:032x}"),
        pseudonym=Pseudonym(b"p" * 16),
        channel=channel,
        commitment=b"",
        sealed=seal(NONCE, AVATAR.bytes + b"t" * 16),
    )
    size = SESSION_OVERHEAD_BYTES + sum(map(cost, turns)) + TAG_BYTES * len(turn_ids)
    last = turns[-1] if turns else started
    return Session(
        started=started,
        key=key,
        salt=b"t" * 16,
        turns=tuple(turns),
        summary=summary,
        turn_ids=turn_ids,
        turn_id_count=len(turn_ids) + sum(turn.turn_tag is not None for turn in turns),
        tool_turns=sum(turn.kind.is_tool for turn in turns),
        size=size + (summary.size if summary else 0),
        last=last.position,
        last_at=last.at,
        last_age=last.age,
    )


def summary_of(data: bytes, *, covered: int, position: int) -> Summary:
    """A stored summary."""
    sealed = seal(NONCE, data)
    return Summary(
        position=position,
        at=AT,
        size=len(data),
        covered=covered,
        commitment=commit(sealed),
        sealed=sealed,
    )


def compacted(session: Session, compaction: Compaction, position: int) -> Session:
    """The session after a compaction."""
    gone = [turn for turn in session.turns if turn.position in compaction.covers]
    assert [turn.position for turn in gone] == list(compaction.covers)
    covered = len(gone) + (session.summary.covered if session.summary else 0)
    ids = [
        TurnId(turn.turn_tag, turn.content_tag or b"", turn.position)
        for turn in gone
        if turn.turn_tag
    ]
    return session_of(
        [turn for turn in session.turns if turn not in gone],
        summary=summary_of(compaction.summary, covered=covered, position=position),
        turn_ids=(*session.turn_ids, *ids),
    )


def add(session: Session, turn: TurnAdded, limits: Limits) -> tuple[Session, Compaction | None]:
    """The session with one turn more, compacted before if it must be."""
    compaction = compact(session, turn.kind, cost(turn), limits)
    if compaction is not None:
        session = compacted(session, compaction, turn.position - 1)
    return (
        session_of([*session.turns, turn], summary=session.summary, turn_ids=session.turn_ids),
        compaction,
    )


# --- strategies ---------------------------------------------------------------------------------

_WORDS = st.lists(
    st.sampled_from(
        [
            "hello",
            "we meet at 8",
            "the plaza",
            "L$500",
            "tomorrow?",
            "好，明天见。",
            "ok.",
            "\n",
            "é",
        ]
    ),
    max_size=10,
).map(" ".join)
_IDS = st.sampled_from(["c1", "c2", "c3"])
_NAMES = st.sampled_from(["sit", "move", "look_around", "web.search", "名前"])


def turn_strategy(text: st.SearchStrategy[str] = _WORDS) -> st.SearchStrategy[Turn]:
    """Any turn; call ids repeat, so that calls and results meet."""
    outcomes = st.sampled_from(["ok", "failed", "refused"])
    call_id: Any = st.none() | _IDS
    return st.one_of(
        st.builds(AvatarText, text),
        st.builds(AgentResponse, text, call_ids=st.lists(_IDS, max_size=3).map(tuple)),
        st.builds(ToolSummary, _NAMES, text, call_id=call_id),
        st.builds(ActionResult, _NAMES, outcomes, text, call_id=call_id),
    )
