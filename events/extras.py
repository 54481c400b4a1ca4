"""Names and call ids of a turn as bytes: what a payload holds before its text.

CBOR, an array: agent [call id, ...]; tool and action [name, call id?]; avatar []. Where secrets of
the text have ordinals, one more item follows: an array of their offsets in the text (characters)
and ordinals, [offset, ordinal, offset, ordinal, ...]. An empty array isn't written.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, cast

import attrs

from turnfold.events import cbor
from turnfold.events.errors import CorruptData, InvalidTurn
from turnfold.events.limits import CALL_IDS_MAX, EXTRAS_BYTES_MAX, NAME_BYTES_MAX
from turnfold.events.turns import AgentResponse, AvatarText, Kind, ToolSummary, Turn

Ordinals = tuple[tuple[int, int], ...]
"""(offset, ordinal) of placeholders, in the order of the text. See ordinals."""

ORDINALS_MAX: Final = 32
"""Placeholders of one text that have an ordinal; those after them have none."""

OFFSET_MAX: Final = 0xFDFE
"""Farther into a text there are no ordinals: 0xfdff would write the magic of a frame's header."""


@attrs.frozen(repr=False)
class Extras:
    """A tool's or action's name, the calls a turn opens (agent) or answers (tool), ordinals."""

    name: str | None = None
    call_ids: tuple[str, ...] = ()
    ordinals: Ordinals = ()

    def __repr__(self) -> str:
        return f"Extras({len(self.call_ids)} call ids, {len(self.ordinals)} ordinals)"


_NONE = Extras()


def encode_extras(turn: Turn) -> bytes:
    """Bytes of the turn's names and call ids, b"" if it has none.

    Raises InvalidTurn above EXTRAS_BYTES_MAX.
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


def with_ordinals(extras: bytes, ordinals: Ordinals) -> bytes:
    """Encoded extras, which have no ordinals yet, with these if there is room for them."""
    if not ordinals:
        return extras
    names = _array(extras) if extras else []
    encoded = cbor.encode([*names, [number for pair in ordinals for number in pair]])
    return encoded if len(encoded) <= EXTRAS_BYTES_MAX else extras


def ordinals_before(extras: bytes, offset: int) -> bytes:
    """Encoded extras of a text that changes from this offset on. Raises CorruptData."""
    items = _array(extras) if extras else []
    if not items or type(items[-1]) is not list:
        return extras
    kept = tuple(pair for pair in _ordinals(items.pop()) if pair[0] < offset)
    return with_ordinals(cbor.encode(items) if items else b"", kept)


def decode_extras(kind: Kind, encoded: bytes | None) -> Extras:
    """What these functions encoded; nothing for None (erased). Raises CorruptData."""
    if not encoded:
        if kind.is_tool and encoded is not None:
            raise CorruptData("a tool turn without a name")
        return _NONE
    texts = _array(encoded)
    ordinals = _ordinals(texts.pop()) if texts and type(texts[-1]) is list else ()
    if any(type(text) is not str or not 0 < len(text.encode()) <= NAME_BYTES_MAX for text in texts):
        raise CorruptData("names or call ids of a turn have the wrong form")
    if kind is Kind.AGENT and len(texts) <= CALL_IDS_MAX:
        return Extras(call_ids=tuple(texts), ordinals=ordinals)
    if kind.is_tool and 1 <= len(texts) <= 2:
        return Extras(name=texts[0], call_ids=tuple(texts[1:]), ordinals=ordinals)
    if kind is Kind.AVATAR and not texts and ordinals:
        return Extras(ordinals=ordinals)
    raise CorruptData("names or call ids don't fit the kind of turn")


def _array(encoded: bytes) -> list[Any]:
    items = cast("list[Any]", cbor.decode(encoded))
    if type(items) is not list:
        raise CorruptData("names or call ids of a turn have the wrong form")
    return items


def _ordinals(numbers: Sequence[Any]) -> Ordinals:
    offsets, ordinals = numbers[::2], numbers[1::2]
    if (
        not 0 < len(ordinals) <= ORDINALS_MAX
        or len(offsets) != len(ordinals)
        or any(type(number) is not int or not 0 <= number <= OFFSET_MAX for number in numbers)
        or any(a >= b for a, b in pairwise(offsets))
        or 0 in ordinals
    ):
        raise CorruptData("the ordinals of a turn's placeholders have the wrong form")
    return tuple(zip(offsets, ordinals, strict=True))
