"""Names and call ids of a turn as bytes: what a payload holds before its text."""

from typing import cast

import attrs

from turnfold.events import cbor
from turnfold.events.errors import CorruptData, InvalidTurn
from turnfold.events.limits import CALL_IDS_MAX, EXTRAS_BYTES_MAX, NAME_BYTES_MAX
from turnfold.events.turns import AgentResponse, AvatarText, Kind, ToolSummary, Turn


@attrs.frozen(repr=False)
class Extras:
    """A tool's or action's name, and the calls a turn opens (agent) or answers (tool)."""

    name: str | None = None
    call_ids: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Extras({len(self.call_ids)} call ids)"


_NONE = Extras()


def encode_extras(turn: Turn) -> bytes:
    """Bytes of the turn's names and call ids, b"" if it has none.

    Agent: [call id, ...]. Tool and action: [name, call id?]. Raises InvalidTurn above
    EXTRAS_BYTES_MAX.
    """
    if isinstance(turn, AvatarText):
        return b""
    if isinstance(turn, AgentResponse):
        if not turn.call_ids:
            return b""
        fields = [str(call_id) for call_id in turn.call_ids]
    else:
        fields = [str(turn.tool if isinstance(turn, ToolSummary) else turn.action)]
        if turn.call_id is not None:
            fields.append(str(turn.call_id))
    encoded = cbor.encode(fields)
    if len(encoded) > EXTRAS_BYTES_MAX:
        raise InvalidTurn(f"names and call ids of a turn take more than {EXTRAS_BYTES_MAX} bytes")
    return encoded


def decode_extras(kind: Kind, encoded: bytes | None) -> Extras:
    """What encode_extras encoded; nothing for None (erased). Raises CorruptData."""
    if not encoded:
        if kind.is_tool and encoded is not None:
            raise CorruptData("a tool turn without a name")
        return _NONE
    texts = cast("list[str]", cbor.decode(encoded))
    if type(texts) is not list or any(
        type(text) is not str or not 0 < len(text.encode()) <= NAME_BYTES_MAX for text in texts
    ):
        raise CorruptData("names or call ids of a turn have the wrong form")
    if kind is Kind.AGENT and len(texts) <= CALL_IDS_MAX:
        return Extras(call_ids=tuple(texts))
    if kind.is_tool and 1 <= len(texts) <= 2:
        return Extras(name=texts[0], call_ids=tuple(texts[1:]))
    raise CorruptData("names or call ids don't fit the kind of turn")
