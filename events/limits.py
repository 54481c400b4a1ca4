"""What may be kept: configured limits, their minima and hard ceilings, and what a turn costs.

Bytes are UTF-8 bytes of stored text and names plus fixed overheads, so that empty turns and
empty sessions have a cost too.
"""

from collections.abc import Callable
from typing import Final

import attrs

from turnfold.events.errors import InvalidConfig, LimitTooHigh

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB

TURN_OVERHEAD_BYTES: Final = 256  # one stored turn beside its text and names
SESSION_OVERHEAD_BYTES: Final = 512  # one session beside its turns
TAG_BYTES: Final = 32  # one remembered turn id: two tags of 16 bytes
EXTRAS_BYTES_MAX: Final = 2 * KIB  # names and call ids of one turn, encoded
NAME_BYTES_MAX: Final = 128  # one tool name, action name, turn id or call id
CALL_IDS_MAX: Final = 32  # call ids that one agent turn may open
TURN_IDS_MAX: Final = 4096  # remembered per session
ENDED_KEYS_MAX: Final = 65_536  # keys whose last ending is remembered
ADD_TURNS_MAX: Final = 1024  # turns in one add_turns
ADD_TURNS_BYTES_MAX: Final = MIB
SWEEP_EVENTS_MAX: Final = 256  # events in one frame of a sweep

# name: (minimum, default, hard ceiling)
BOUNDS: Final[dict[str, tuple[int, int, int]]] = {
    "active_sessions": (1, 1024, 65_536),
    "turns_per_session": (4, 256, 4096),
    "bytes_per_session": (4 * KIB, 256 * KIB, 4 * MIB),
    "aggregate_bytes": (8 * KIB, 64 * MIB, GIB),
    "turn_bytes": (64, 8 * KIB, 64 * KIB),
    "tool_turns_per_session": (1, 64, 1024),
    "tool_turn_bytes": (64, 4 * KIB, 64 * KIB),
    "summary_bytes": (512, 4 * KIB, 64 * KIB),
    "generation_bytes": (MIB, 256 * MIB, 8 * GIB),
    "log_bytes": (MIB, GIB, 64 * GIB),
    "quarantine_bytes": (0, 64 * MIB, GIB),
    "commands_in_flight": (1, 4096, 65_536),
    "notices_waiting": (1, 1024, 65_536),
    "state_records": (0, 4096, 32_768),  # one frame can delete all
    "state_bytes": (0, 16 * MIB, GIB),  # default: less if generation_bytes is small
}

# What a generation holds beside the sessions and the state records, in bytes.
_GENERATION_FIXED_BYTES: Final = 48 * KIB
_ENDED_KEY_BYTES: Final = 48  # pseudonym, channel, session id, reason, position
GENERATIONS_MIN: Final = 3  # that must fit: two verified ones and one being written


def _check(name: str) -> Callable[[object, object, object], None]:
    def check(_instance: object, _attribute: object, value: object) -> None:
        low, _default, high = BOUNDS[name]
        if type(value) is not int:
            raise InvalidConfig(f"conversation.limits.{name} must be an integer")
        if value < low:
            raise InvalidConfig(f"conversation.limits.{name} is {value}; the minimum is {low}")
        if value > high:
            raise LimitTooHigh(f"conversation.limits.{name} is {value}; the hard ceiling is {high}")

    return check


def _field(name: str) -> int:
    return attrs.field(default=BOUNDS[name][1], validator=_check(name))


def _default_state_bytes(limits: "Limits") -> int:
    return min(BOUNDS["state_bytes"][1], limits.generation_bytes // 8)


@attrs.frozen(slots=True, kw_only=True)
class Limits:
    """One validated set of limits. Counts, or bytes where the name says so.

    Raises LimitTooHigh (value and ceiling named) or InvalidConfig.
    """

    active_sessions: int = _field("active_sessions")
    turns_per_session: int = _field("turns_per_session")
    bytes_per_session: int = _field("bytes_per_session")
    aggregate_bytes: int = _field("aggregate_bytes")
    turn_bytes: int = _field("turn_bytes")
    tool_turns_per_session: int = _field("tool_turns_per_session")
    tool_turn_bytes: int = _field("tool_turn_bytes")
    summary_bytes: int = _field("summary_bytes")
    generation_bytes: int = _field("generation_bytes")
    log_bytes: int = _field("log_bytes")
    quarantine_bytes: int = _field("quarantine_bytes")
    commands_in_flight: int = _field("commands_in_flight")
    notices_waiting: int = _field("notices_waiting")
    state_records: int = _field("state_records")
    # A factory and not @state_bytes.default, which pyright takes for "no default".
    state_bytes: int = attrs.field(
        default=attrs.Factory(_default_state_bytes, takes_self=True),
        validator=_check("state_bytes"),
    )

    def __attrs_post_init__(self) -> None:
        floor = self.largest_turn_bytes + self.summary_bytes
        if floor + SESSION_OVERHEAD_BYTES > self.bytes_per_session:
            raise InvalidConfig(
                f"conversation.limits.bytes_per_session is {self.bytes_per_session}; one turn and"
                f" one summary need {floor + SESSION_OVERHEAD_BYTES}: raise it, or lower"
                " turn_bytes or summary_bytes"
            )
        if self.bytes_per_session > self.aggregate_bytes:
            raise InvalidConfig(
                f"conversation.limits.aggregate_bytes is {self.aggregate_bytes}, less than"
                f" bytes_per_session ({self.bytes_per_session})"
            )
        need = GENERATIONS_MIN * self.largest_generation_bytes
        if need > self.generation_bytes:
            raise InvalidConfig(
                f"conversation.limits.generation_bytes is {self.generation_bytes}; the other limits"
                f" need {need} (three of the largest generation): raise it, or lower"
                " aggregate_bytes or state_bytes"
            )

    @property
    def largest_turn_bytes(self) -> int:
        """What one turn can cost at most: text, names, turn id and overhead."""
        text = max(self.turn_bytes, self.tool_turn_bytes)
        return text + EXTRAS_BYTES_MAX + TURN_OVERHEAD_BYTES + TAG_BYTES

    @property
    def ended_keys(self) -> int:
        """Keys whose last ending is remembered: 65,536, or fewer if generations must be small."""
        return min(ENDED_KEYS_MAX, self.generation_bytes // 320)

    @property
    def largest_generation_bytes(self) -> int:
        """An upper bound of one generation under these limits."""
        ended = self.ended_keys * _ENDED_KEY_BYTES
        return _GENERATION_FIXED_BYTES + self.aggregate_bytes + ended + self.state_bytes

    @property
    def turn_ids_per_session(self) -> int:
        """Turn ids remembered: 4,096, or as many as always fit beside one turn and a summary."""
        room = self.bytes_per_session - SESSION_OVERHEAD_BYTES
        room -= self.largest_turn_bytes + self.summary_bytes
        return max(
            0, min(TURN_IDS_MAX, room // TAG_BYTES, self.bytes_per_session // 2 // TAG_BYTES)
        )
