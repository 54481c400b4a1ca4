"""A skeleton and its sealed parts back into a state; nothing in them is believed.

Every field is checked for its type, length and range, counts and sizes against the hard ceilings
(configured limits are reached afterwards, by compaction and eviction), positions for being unique
and not beyond the state's own, and every sealed part against its commitment.
"""

from collections.abc import Iterator
from typing import Any, Final

from turnfold.events.codec import OUTCOMES
from turnfold.events.errors import CorruptData
from turnfold.events.event import ADDED, SessionStarted, TurnAdded
from turnfold.events.keys import CHANNELS, SessionId
from turnfold.events.limits import EXTRAS_BYTES_MAX, TURN_IDS_MAX
from turnfold.events.reasons import ERASED_AFTER, START_AFTER, Reason
from turnfold.events.sealed import COMMITMENT_BYTES, NONCE_BYTES
from turnfold.events.session import (
    EndedSession,
    Opening,
    PendingErasure,
    Session,
    StateRecord,
    Summary,
    TurnId,
)
from turnfold.events.skeleton import (
    CEILING,
    ENDED_FIELDS,
    HEADER_FIELDS,
    ID_BYTES,
    PENDING_FIELDS,
    RECORD_FIELDS,
    SESSION_FIELDS,
    STARTED_SEALED_BYTES,
    SUMMARY_FIELDS,
    TEXT_BYTES_MAX,
    TURN_FIELDS,
    TURN_ID_FIELDS,
    Content,
    Counts,
    Items,
    Take,
    array,
    byte_string,
    header_counts,
    integer,
    key_tag,
    limits_in,
    optional_tag,
    reason_in,
    redaction_counts,
    wall_time,
)
from turnfold.events.state import StoreState

_STARTED: Final = frozenset(
    {Reason.STARTED_FIRST_TURN, Reason.STARTED_PREDECESSOR_UNKNOWN, *START_AFTER.values()}
)
_ADDED: Final = frozenset(ADDED.values())
_ENDED: Final = frozenset(START_AFTER)
_ERASED: Final = frozenset(
    {Reason.ERASED_COMPACTED, Reason.ERASED_REDACTED, *ERASED_AFTER.values()}
)


def restore(skeleton: bytes, take: Take | None) -> StoreState:
    """The state that `skeleton` describes.

    `take(n)` gives the next n bytes of the sealed parts; None withholds content. Zeroed parts
    are Erased, damaged ones Unreadable. Raises CorruptData, or UnsupportedFormat for another
    fold version.
    """
    return _Restoration(skeleton, take).state()


def restore_from(skeleton: bytes, payload: bytes | None) -> StoreState:
    """`restore` with all sealed parts in one byte string, which must have no rest."""
    offset = 0

    def take(length: int) -> bytes:
        nonlocal offset
        part = (payload or b"")[offset : offset + length]
        offset += length
        return part

    state = restore(skeleton, None if payload is None else take)
    if payload is not None and offset != len(payload):
        raise CorruptData("the sealed parts are longer than the skeleton says")
    return state


class _Restoration:
    def __init__(self, skeleton: bytes, take: Take | None) -> None:
        self._items = Items(skeleton)
        self._content = Content(take)
        self._state = StoreState()
        self._seen: set[int] = set()

    def state(self) -> StoreState:
        state = self._state
        counts = self._read_header()
        total = sum(self._read_session() for _ in range(counts.sessions))
        if total != state.total_bytes:
            raise CorruptData("the sizes of the skeleton's sessions don't add up")
        _rising(self._read_ended() for _ in range(counts.ended))
        _rising(self._read_pending() for _ in range(counts.pending))
        _rising(self._read_record() for _ in range(counts.records))
        self._items.close()
        state.commit()
        return state

    def _position(self, value: Any, *, low: int = 1) -> int:
        return integer(value, self._state.position, low)

    def _own_position(self, value: Any, *, low: int = 1) -> int:
        """A position that nothing else in the state may have."""
        position = self._position(value, low=low)
        if position in self._seen:
            raise CorruptData(f"position {position} stands in the skeleton twice")
        self._seen.add(position)
        return position

    def _age(self, value: Any) -> int:
        return integer(value, self._state.age)

    def _read_header(self) -> Counts:
        fields = self._items.next(HEADER_FIELDS)
        counts = header_counts(fields)
        state = self._state
        state.position = integer(fields[1])
        state.at = wall_time(fields[2])
        state.highest_at = integer(fields[17], low=max(0, state.at))
        state.age = integer(fields[3])
        state.total_bytes = integer(fields[4], CEILING["aggregate_bytes"])
        state.record_bytes = integer(fields[5], CEILING["state_bytes"])
        state.first_kept = integer(fields[6], state.position + 1, 1)
        state.head_before_kept = byte_string(fields[7], 0, 32)
        if type(fields[11]) is not bool:
            raise CorruptData("a flag of the skeleton is malformed")
        state.opening = Opening(
            epoch=integer(fields[8]),
            ruleset=integer(fields[9]),
            limits=limits_in(fields[10]),
            recorded_clock=fields[11],
            basis_since=self._position(fields[12], low=0),
        )
        return counts

    def _read_session(self) -> int:
        """Reads a session with its turns and returns its size in accounted bytes."""
        fields = self._items.next(SESSION_FIELDS)
        start = self._own_position(fields[0])
        tag = key_tag(fields[5], fields[6])
        commitment = byte_string(fields[7], COMMITMENT_BYTES)
        started = SessionStarted(
            position=start,
            at=wall_time(fields[1]),
            age=self._age(fields[2]),
            reason=reason_in(fields[3], _STARTED),
            session_id=SessionId(byte_string(fields[4], ID_BYTES).hex()),
            pseudonym=tag[0],
            channel=CHANNELS[tag[1]],
            commitment=commitment,
            sealed=self._content.next(STARTED_SEALED_BYTES, commitment),
        )
        summary = None if fields[8] is None else self._read_summary(fields[8], start)
        turns = self._read_turns(integer(fields[9], CEILING["turns_per_session"]), start)
        turn_ids = tuple(
            self._read_turn_id(start) for _ in range(integer(fields[10], TURN_IDS_MAX))
        )
        session = Session(
            started=started,
            key=started.key,
            salt=started.salt,
            turns=turns,
            summary=summary,
            turn_ids=turn_ids,
            turn_id_count=integer(fields[11], TURN_IDS_MAX + CEILING["turns_per_session"]),
            tool_turns=integer(fields[12], len(turns)),
            size=integer(fields[13], CEILING["bytes_per_session"]),
            last=self._position(fields[14], low=turns[-1].position if turns else start),
            last_at=wall_time(fields[15]),
            last_age=self._age(fields[16]),
        )
        self._add_session(session)
        return session.size

    def _add_session(self, session: Session) -> None:
        state = self._state
        before = state.channels[session.tag[1]]
        if before and next(reversed(before.values())).last > session.last:
            raise CorruptData("the sessions of the skeleton are out of order")
        if state.session(session.tag) is not None:
            raise CorruptData("a key has two live sessions in the skeleton")
        if session.tool_turns != sum(turn.kind.is_tool for turn in session.turns):
            raise CorruptData("the tool turns of a session don't add up")
        state.put_session(session)
        for turn_id in session.turn_ids:
            entry = turn_id.content_tag, turn_id.position
            state.index_turn_id(session.start, turn_id.tag, entry)
        for turn in session.turns:
            if turn.turn_tag is not None and turn.content_tag is not None:
                entry = turn.content_tag, turn.position
                state.index_turn_id(session.start, turn.turn_tag, entry)

    def _read_summary(self, value: Any, start: int) -> Summary:
        values = array(value, SUMMARY_FIELDS)
        commitment = byte_string(values[4], COMMITMENT_BYTES)
        length = integer(values[5], NONCE_BYTES + CEILING["summary_bytes"], NONCE_BYTES)
        return Summary(
            position=self._own_position(values[0], low=start + 1),
            at=wall_time(values[1]),
            size=integer(values[2], CEILING["bytes_per_session"]),
            covered=integer(values[3], low=1),
            commitment=commitment,
            sealed=self._content.next(length, commitment),
        )

    def _read_turns(self, count: int, start: int) -> tuple[TurnAdded, ...]:
        turns: list[TurnAdded] = []
        low = start + 1
        for _ in range(count):
            turn = self._read_turn(start, low)
            low = turn.position + 1
            turns.append(turn)
        return tuple(turns)

    def _read_turn(self, start: int, low: int) -> TurnAdded:
        fields = self._items.next(TURN_FIELDS)
        text_bytes = integer(fields[4], TEXT_BYTES_MAX)
        extras_bytes = integer(fields[5], EXTRAS_BYTES_MAX)
        commitment = byte_string(fields[6], COMMITMENT_BYTES)
        outcome = fields[7]
        turn = TurnAdded(
            position=self._own_position(fields[0], low=low),
            at=wall_time(fields[1]),
            age=self._age(fields[2]),
            reason=reason_in(fields[3], _ADDED),
            session=start,
            text_bytes=text_bytes,
            extras_bytes=extras_bytes,
            commitment=commitment,
            sealed=self._content.next(NONCE_BYTES + text_bytes + extras_bytes, commitment),
            outcome=None if outcome is None else OUTCOMES[integer(outcome, len(OUTCOMES) - 1)],
            truncated_from=integer(fields[8]),
            replaced=integer(fields[9]),
            redactions=redaction_counts(fields[10]),
            turn_tag=optional_tag(fields[11]),
            content_tag=optional_tag(fields[12]),
        )
        if (turn.reason is Reason.ADDED_ACTION) != (turn.outcome is not None):
            raise CorruptData(f"the turn at position {turn.position} has an outcome unfit for it")
        return turn

    def _read_turn_id(self, start: int) -> TurnId:
        fields = self._items.next(TURN_ID_FIELDS)
        return TurnId(
            tag=byte_string(fields[0], ID_BYTES),
            content_tag=byte_string(fields[1], ID_BYTES),
            position=self._position(fields[2], low=start + 1),
        )

    def _read_ended(self) -> int:
        """Reads how a key's session ended, and returns the position at which it did."""
        fields = self._items.next(ENDED_FIELDS)
        tag = key_tag(fields[0], fields[1])
        session_id = optional_tag(fields[4])
        ended = EndedSession(
            reason=reason_in(fields[2], _ENDED),
            position=self._position(fields[3]),
            session_id=None if session_id is None else SessionId(session_id.hex()),
            start=self._position(fields[5], low=0),
        )
        if tag in self._state.ended:
            raise CorruptData("the skeleton names the end of a key's session twice")
        self._state.ended[tag] = ended
        return ended.position

    def _read_pending(self) -> tuple[int, str]:
        """Reads a pending erasure, and returns what orders them."""
        fields = self._items.next(PENDING_FIELDS)
        pending = PendingErasure(
            session=self._position(fields[0], low=0),
            tag=key_tag(fields[1], fields[2], or_none=True),
            reason=reason_in(fields[3], _ERASED),
            through=self._position(fields[4], low=0),
            covered=self._position(fields[5], low=0),
            positions=tuple(self._position(position) for position in array(fields[6])),
            kept=tuple(self._position(position) for position in array(fields[7])),
        )
        self._state.put_pending(pending)
        return pending.session, pending.reason.value

    def _read_record(self) -> int:
        """Reads a session-state record, and returns its position."""
        fields = self._items.next(RECORD_FIELDS)
        commitment = byte_string(fields[5], COMMITMENT_BYTES)
        length = integer(fields[6], CEILING["state_bytes"], NONCE_BYTES)
        record = StateRecord(
            position=self._own_position(fields[0]),
            at=wall_time(fields[1]),
            record=byte_string(fields[2], ID_BYTES),
            scope=byte_string(fields[3], ID_BYTES),
            source=optional_tag(fields[4]),
            commitment=commitment,
            sealed=self._content.next(length, commitment),
        )
        if record.record in self._state.records:
            raise CorruptData("the skeleton names a session-state record twice")
        self._state.put_record(record)
        return record.position


def _rising(orders: Iterator[Any]) -> None:
    """Takes all; raises CorruptData unless each is greater than the one before."""
    last: Any = None
    for order in orders:
        if last is not None and order <= last:
            raise CorruptData("the items of the skeleton are out of order")
        last = order
