"""The values inside the folded state: sessions, endings, pending erasures.

They are replaced, never changed, so a reader that has one may keep it.
"""

import attrs

from turnfold.events.event import SessionStarted, TurnAdded
from turnfold.events.keys import Channel, ConversationKey, Pseudonym, SessionId
from turnfold.events.limits import Limits
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
    """Text of a session that must be erased: its payloads up to position `through`.

    With an ended session everything goes, start and summaries included. With compaction the
    covered turns and older summaries go (`before`: the live summary's position). With
    `positions`, exactly those payloads go (redacted again).
    """

    session: int
    tag: KeyTag
    reason: Reason  # an ERASED_* reason
    through: int
    before: int = 0
    positions: tuple[int, ...] = ()


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
