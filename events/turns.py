"""The four kinds of turn, as a caller builds them and as the store keeps them.

No other kind can be constructed, stored or decoded: no system message, scratchpad, hidden
reasoning, credential, capability URL or binary asset. Trust follows from the kind alone and is
never read from data.

Text is redacted when a turn is constructed, so no unredacted text is ever inside a message.
"""

import re
from collections.abc import Sequence
from enum import Enum, StrEnum
from typing import ClassVar, cast

import attrs

from turnfold.events.errors import InvalidTurn
from turnfold.events.limits import CALL_IDS_MAX, NAME_BYTES_MAX
from turnfold.events.redaction import RedactedText, clip, redact


class Role(StrEnum):
    """Who a turn comes from, before it is projected for a provider."""

    AVATAR = "avatar"
    AGENT = "agent"
    TOOL = "tool"


class Outcome(Enum):
    """What became of an action. The value is the code on disk."""

    OK = 0
    FAILED = 1
    REFUSED = 2

    @property
    def label(self) -> str:
        """`ok`, `failed` or `refused`."""
        return self.name.lower()


def parse_outcome(value: object) -> Outcome:
    """Raises InvalidTurn unless value is an Outcome or one of the three labels."""
    if isinstance(value, Outcome):
        return value
    for outcome in Outcome:
        if value == outcome.label:
            return outcome
    raise InvalidTurn("unknown action outcome; use ok, failed or refused")


class Kind(Enum):
    """The kind of a turn. The value is the code on disk."""

    AVATAR = 0
    AGENT = 1
    TOOL = 2
    ACTION = 3

    role: Role
    trusted: bool
    is_tool: bool  # whether the turn counts as a tool turn


Kind.AVATAR.role, Kind.AVATAR.trusted = Role.AVATAR, False
Kind.AGENT.role, Kind.AGENT.trusted = Role.AGENT, True
Kind.TOOL.role, Kind.TOOL.trusted = Role.TOOL, False
Kind.ACTION.role, Kind.ACTION.trusted = Role.TOOL, False  # its text; the outcome is trusted
KINDS = (Kind.AVATAR, Kind.AGENT, Kind.TOOL, Kind.ACTION)  # index == code
for _kind in KINDS:
    _kind.is_tool = _kind.role is Role.TOOL


def _text(value: object) -> RedactedText:
    if not isinstance(value, str):
        raise InvalidTurn("the text of a turn must be a str")
    return redact(value)


def _empty() -> RedactedText:
    return redact("")


def _name(value: object) -> RedactedText:
    if not isinstance(value, str) or not value:
        raise InvalidTurn("a tool or action name must be a non-empty str")
    return clip(redact(value), NAME_BYTES_MAX)


_ID = re.compile(r"[!-~]{1,128}")


def check_id(value: object, what: str) -> str:
    """A caller's id: 1 to 128 printable ASCII characters without blanks. Raises InvalidTurn."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise InvalidTurn(
            f"a {what} must be 1 to {NAME_BYTES_MAX} printable ASCII characters without blanks"
        )
    return value


def _call_id(value: object) -> RedactedText | None:
    return None if value is None else clip(redact(check_id(value, "call_id")), NAME_BYTES_MAX)


def _call_ids(value: object) -> tuple[RedactedText, ...]:
    if not isinstance(value, (tuple, list)):
        raise InvalidTurn("call_ids must be a tuple of ids")
    items = cast("Sequence[object]", value)
    if len(items) > CALL_IDS_MAX:
        raise InvalidTurn(f"an agent turn opens at most {CALL_IDS_MAX} calls")
    ids = [_call_id(item) for item in items]
    return tuple(item for item in ids if item is not None)


class _Sized:
    """`repr` shows sizes, never text."""

    __slots__ = ()
    text: RedactedText

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text.byte_count} bytes)"


@attrs.frozen(repr=False)
class AvatarText(_Sized):
    """What the avatar said. Untrusted."""

    kind: ClassVar[Kind] = Kind.AVATAR
    text: RedactedText = attrs.field(converter=_text)


@attrs.frozen(repr=False)
class AgentResponse(_Sized):
    """What the agent visibly said; it may open calls and then have an empty text."""

    kind: ClassVar[Kind] = Kind.AGENT
    text: RedactedText = attrs.field(converter=_text)
    call_ids: tuple[RedactedText, ...] = attrs.field(default=(), converter=_call_ids, kw_only=True)


@attrs.frozen(repr=False)
class ToolSummary(_Sized):
    """A tool's name and a bounded summary of what it returned. Untrusted."""

    kind: ClassVar[Kind] = Kind.TOOL
    tool: RedactedText = attrs.field(converter=_name)
    text: RedactedText = attrs.field(converter=_text)
    call_id: RedactedText | None = attrs.field(default=None, converter=_call_id, kw_only=True)


@attrs.frozen(repr=False)
class ActionResult(_Sized):
    """An action's name, its trusted outcome and a bounded, untrusted detail."""

    kind: ClassVar[Kind] = Kind.ACTION
    action: RedactedText = attrs.field(converter=_name)
    outcome: Outcome = attrs.field(converter=parse_outcome)
    text: RedactedText = attrs.field(factory=_empty, converter=_text)
    call_id: RedactedText | None = attrs.field(default=None, converter=_call_id, kw_only=True)


Turn = AvatarText | AgentResponse | ToolSummary | ActionResult
TURN_TYPES = (AvatarText, AgentResponse, ToolSummary, ActionResult)
