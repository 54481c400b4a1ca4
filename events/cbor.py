"""Deterministic CBOR, and a decoder that builds nothing but plain values.

Turnfold writes arrays whose order is fixed by schema: integers, byte strings, text, booleans,
null and arrays. The decoder refuses tags (cbor2 would build dates, patterns or shared references
for them), indefinite lengths, duplicate keys and deep nesting before it builds an object.
Source: RFC 8949, 4.2 (core deterministic encoding) and 5.3 (validity).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Never

import cbor2

from turnfold.events.errors import CorruptData

DEPTH_MAX: Final = 16

encode: Final[Callable[[object], bytes]] = cbor2.dumps
"""The deterministic encoding of a value that holds arrays and scalars only."""
_loads: Final[Callable[..., Any]] = cbor2.loads


def _refuse(*_arguments: object) -> Never:
    raise ValueError("tags are not part of the format")


class _EveryTag(dict[int, Any]):
    """Answers for all tags, known to cbor2 or not."""

    def __missing__(self, tag: int) -> Any:
        return _refuse

    def __contains__(self, tag: object) -> bool:
        return True


_TAGS: Final[Mapping[int, Any]] = _EveryTag()


def decode(data: bytes, *, exact: bool = True) -> Any:
    """The value that `data` encodes.

    `exact` also demands that `data` is the deterministic encoding of that value, which excludes
    trailing bytes, longer-than-needed integers, floats and simple values in disguise. Hot paths
    that have a checksum over the same bytes pass False. Raises CorruptData.
    """
    try:
        value = _loads(
            data,
            max_depth=DEPTH_MAX,
            allow_indefinite=False,
            allow_duplicate_keys=False,
            tag_hook=_refuse,
            semantic_decoders=_TAGS,
        )
        if exact and encode(value) != data:
            raise CorruptData("the bytes are not the deterministic encoding of a value")
    except (cbor2.CBORError, ValueError, OverflowError, MemoryError) as error:
        raise CorruptData(
            f"{len(data)} bytes are not valid CBOR ({type(error).__name__})"
        ) from None
    return value
