"""Lines of recorded chat (JSON Lines) as keys and turns. Pure: bytes in, values or a reason out.

A line is an object with `avatar` and `text`, and optionally `at`, `channel`, `kind`, `tool`,
`call_id`, `turn_id` and `outcome`; null is the same as leaving a key out. Messages say what is
wrong and never repeat anything of the line.
"""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from json.decoder import JSONDecodeError
from typing import Final, NoReturn

import attrs

from turnfold.events.errors import InvalidInput
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.redaction import INPUT_BYTES_MAX
from turnfold.events.turns import (
    ActionResult,
    AgentResponse,
    AvatarText,
    Outcome,
    ToolSummary,
    Turn,
    check_id,
    parse_outcome,
)

LINE_BYTES_MAX: Final = 8 * INPUT_BYTES_MAX  # the largest text, every character escaped, and more

KEYS: Final = frozenset(
    {"at", "avatar", "channel", "kind", "tool", "call_id", "turn_id", "outcome", "text"}
)
_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
    r"(?:([Zz])|([+-])(\d\d):?(\d\d))",
    re.ASCII,
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)
_AT_MAX: Final = 1 << 63  # ns: the year 2262
_BOM: Final = b"\xef\xbb\xbf"


@attrs.frozen(repr=False)
class ChatLine:
    """One line: where it goes, what was said, and when (wall-clock ns, or None)."""

    at: int | None
    key: ConversationKey
    turn: Turn
    turn_id: str | None

    def __repr__(self) -> str:
        return f"ChatLine({self.key.channel.value}, {self.turn!r})"


def parse_line(line: bytes, default_channel: Channel) -> ChatLine:
    """The line's key and turn; `default_channel` is for lines that name none.

    Raises InvalidInput (or InvalidKey, InvalidTurn, TextTooLarge) with the reason.
    """
    if len(line) > LINE_BYTES_MAX:
        raise InvalidInput(f"the line has more than {LINE_BYTES_MAX} bytes")
    fields = _object(line)
    unknown = len(fields.keys() - KEYS)
    if unknown:
        known = ", ".join(sorted(KEYS))
        raise InvalidInput(f"{unknown} of its keys are unknown; a line may have {known}")
    text = fields.get("text")
    if not isinstance(text, str):
        raise InvalidInput('"text" must be a text')
    if "\0" in text:
        raise InvalidInput('"text" has a NUL in it')
    if fields.get("avatar") is None:
        raise InvalidInput('"avatar" is missing')
    channel = fields.get("channel")
    at = fields.get("at")
    turn_id = fields.get("turn_id")
    return ChatLine(
        None if at is None else parse_time(at),
        ConversationKey(
            fields["avatar"],  # pyright: ignore[reportArgumentType]  # its converter refuses what is no UUID
            default_channel if channel is None else channel,  # pyright: ignore[reportArgumentType]  # likewise
        ),
        _turn(fields, text),
        None if turn_id is None else check_id(turn_id, "turn_id"),
    )


def parse_time(value: object) -> int:
    """Wall-clock ns of an ISO 8601 time with a zone, to the nanosecond. Raises InvalidInput."""
    match = _TIME.fullmatch(value) if isinstance(value, str) and len(value) <= 64 else None
    if match is None:
        raise InvalidInput('a time must look like 2026-05-01T18:30:00Z, with "Z" or an offset')
    year, month, day, hour, minute, second, fraction, _utc, sign, off_hours, off_minutes = (
        match.groups()
    )
    try:
        zone: timezone = UTC
        if sign:
            offset = timedelta(hours=int(off_hours), minutes=int(off_minutes))
            zone = timezone(-offset if sign == "-" else offset)
        moment = datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=zone
        )
        at = (moment - _EPOCH) // _SECOND * 1_000_000_000 + int((fraction or "0").ljust(9, "0"))
    except (ValueError, OverflowError):
        raise InvalidInput("a time names a day, hour or zone that doesn't exist") from None
    if not 0 <= at < _AT_MAX:
        raise InvalidInput("a time lies before 1970 or after 2261")
    return at


# --- JSON ------------------------------------------------------------------------------------


def _object(line: bytes) -> dict[str, object]:
    """The object on the line. Raises InvalidInput."""
    try:
        text = line.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"it is not UTF-8 (at byte {error.start + 1})") from None
    try:
        value: object = json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant)
    except InvalidInput:
        raise  # it is a ValueError too
    except JSONDecodeError as error:
        raise InvalidInput(f"it is not JSON (at character {error.pos + 1})") from None
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        raise InvalidInput("it is not JSON that can be read") from None
    if not isinstance(value, _Fields):
        raise InvalidInput("it is JSON but not an object")
    return value


class _Fields(dict[str, object]):
    """A JSON object whose keys are distinct."""


def _pairs(pairs: list[tuple[str, object]]) -> _Fields:
    fields = _Fields(pairs)
    if len(fields) != len(pairs):
        raise InvalidInput("a key stands twice in it")
    return fields


def _no_constant(_name: str) -> NoReturn:
    raise InvalidInput("it has NaN or Infinity in it, which JSON has not")


# --- turns -----------------------------------------------------------------------------------


def _turn(fields: dict[str, object], text: str) -> Turn:
    kind = fields.get("kind")
    if kind is None:
        kind = "avatar_text"
    make = _MAKERS.get(kind) if isinstance(kind, str) else None
    if make is None:
        raise InvalidInput(f'"kind" must be one of {", ".join(_MAKERS)}')
    return make(fields, text)


def _without(fields: dict[str, object], *names: str) -> None:
    for name in names:
        if fields.get(name) is not None:
            raise InvalidInput(f'this kind of turn has no "{name}"')


def _named(fields: dict[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidInput(f'this kind of turn needs a "{name}", a non-empty text')
    return value


def _call_id(fields: dict[str, object]) -> str | None:
    value = fields.get("call_id")
    return None if value is None else check_id(value, "call_id")


def _avatar(fields: dict[str, object], text: str) -> Turn:
    _without(fields, "tool", "call_id", "outcome")
    return AvatarText(text)


def _agent(fields: dict[str, object], text: str) -> Turn:
    _without(fields, "tool", "outcome")
    call_id = _call_id(fields)
    return AgentResponse(text, call_ids=() if call_id is None else (call_id,))


def _tool(fields: dict[str, object], text: str) -> Turn:
    _without(fields, "outcome")
    return ToolSummary(_named(fields, "tool"), text, call_id=_call_id(fields))


def _action(fields: dict[str, object], text: str) -> Turn:
    outcome = fields.get("outcome")
    if outcome is None:
        outcome = Outcome.FAILED if text.startswith("Error") else Outcome.OK
    return ActionResult(
        _named(fields, "tool"), parse_outcome(outcome), text, call_id=_call_id(fields)
    )


_MAKERS: Final[dict[str, Callable[[dict[str, object], str], Turn]]] = {
    "avatar_text": _avatar,
    "agent_response": _agent,
    "tool_summary": _tool,
    "tool_result": _tool,
    "action_result": _action,
}
