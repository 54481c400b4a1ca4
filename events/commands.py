"""Commands: what a caller, an operator or the store itself asks for. `decide` answers them.

Texts inside are redacted already (see turns). Times and random bytes are not part of a command:
`decide` gets them as `Instant` and `Entropy`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
from attrs.setters import frozen

from turnfold.events.errors import InvalidTurn
from turnfold.events.keys import ConversationKey, SessionId
from turnfold.events.limits import ADD_TURNS_MAX
from turnfold.events.turns import TURN_TYPES, Turn, check_id

if TYPE_CHECKING:  # for readers, who need an Instant and no records: 40 ms of imports
    from turnfold.events.session_state.policy import OperatorApproval
    from turnfold.events.session_state.record import SessionStateRecord


# Like events, the values that every turn makes refuse assignment through `on_setattr`, which
# leaves `__init__` as fast as plain assignment (0.35 instead of 0.75 us for an Instant).
@attrs.define(on_setattr=frozen, unsafe_hash=True)
class Instant:
    """Now: `at` is the wall clock (UTC ns), `age` the store's never-falling age (ns)."""

    at: int
    age: int


class Entropy:
    """Random bytes as an input. `source(n)` gives n bytes (os.urandom, or a test's own)."""

    __slots__ = ("_block", "_offset", "_source")

    BLOCK_BYTES = 4096

    def __init__(self, source: Callable[[int], bytes]) -> None:
        self._source = source
        self._block = b""
        self._offset = 0

    def take(self, size: int) -> bytes:
        """The next `size` bytes (at most BLOCK_BYTES); no byte is given twice."""
        end = self._offset + size
        if end > len(self._block):
            self._block, self._offset, end = self._source(self.BLOCK_BYTES), 0, size
        taken = self._block[self._offset : end]
        self._offset = end
        return taken


@attrs.define(on_setattr=frozen, unsafe_hash=True)
class TurnToAdd:
    """A bounded turn and its idempotency key."""

    turn: Turn
    turn_id: str | None = attrs.field(default=None, repr=False)


def check_turn(turn: object) -> None:
    """Raises InvalidTurn unless it is one of the four kinds."""
    if not isinstance(turn, TURN_TYPES):
        raise InvalidTurn("a turn is AvatarText, AgentResponse, ToolSummary or ActionResult")


def _turns(value: Sequence[TurnToAdd]) -> tuple[TurnToAdd, ...]:
    turns = tuple(value)
    if not 0 < len(turns) <= ADD_TURNS_MAX:
        raise InvalidTurn(f"add 1 to {ADD_TURNS_MAX} turns at a time, not {len(turns)}")
    for item in turns:
        check_turn(item.turn)
        if item.turn_id is not None:
            check_id(item.turn_id, "turn_id")
    return turns


@attrs.define(on_setattr=frozen, unsafe_hash=True)
class AddTurns:
    """Add turns to the key's session, all or none; `session` refuses any other live session."""

    key: ConversationKey
    turns: tuple[TurnToAdd, ...] = attrs.field(converter=_turns)
    session: SessionId | None = None


@attrs.frozen
class ExpireSession:
    """End the key's live session now, as if its time were up."""

    key: ConversationKey


@attrs.frozen
class DeleteKey:
    """Delete everything ever said under the key, ended sessions included."""

    key: ConversationKey


@attrs.frozen
class Sweep:
    """Expire overdue sessions, at most SWEEP_EVENTS_MAX in one frame."""

    recovered: bool = False


@attrs.frozen
class Conform:
    """Compact and evict until lowered limits hold, at most SWEEP_EVENTS_MAX events in a frame."""


@attrs.frozen
class RecordState:
    """Store a session-state record that the session-state store has decided may be written.

    `tag` and `scope_tag` are the record's and its scope's (session_state.tags). `seen_ns` is the
    latest wall time (UTC ns) that the store had seen when it decided.
    """

    record: "SessionStateRecord"
    tag: bytes = attrs.field(repr=False)
    scope_tag: bytes = attrs.field(repr=False)
    approval: "OperatorApproval"
    seen_ns: int


@attrs.frozen
class DeleteState:
    """Delete the session-state record under a tag; nothing if there is none."""

    tag: bytes = attrs.field(repr=False)


Command = AddTurns | ExpireSession | DeleteKey | Sweep | Conform | RecordState | DeleteState
