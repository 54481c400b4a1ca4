"""Events as bytes and back: the chained part and the payload part of a frame.

Chained part: CBOR [at, age, [event, ...]] with event = [schema << 5 | TYPE, reason code, field,
...] in the order of `event_fields.FIELDS`; trailing nulls are dropped. Positions are not in it:
they are the frame's first position plus the index. Payload part: the events' sealed payloads one
after the other; their lengths and commitments stand in the chained part, so that payloads can be
erased without touching a chained byte.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeGuard

import attrs

from turnfold.events import cbor
from turnfold.events.errors import CorruptData, UnsupportedFormat
from turnfold.events.event import (
    ADDED,
    EVENT_TYPES,
    Event,
    SessionCompacted,
    SessionStarted,
    SessionStateRecorded,
    TurnAdded,
    TurnRedacted,
)
from turnfold.events.event_fields import (
    FIELDS,
    decode_counts,
    integer,
    optional_bytes,
)
from turnfold.events.reasons import Reason
from turnfold.events.sealed import (
    COMMITMENT_BYTES,
    NONCE_BYTES,
    Erased,
    Sealed,
    Unreadable,
    Withheld,
    commit,
    sealed_length,
)
from turnfold.events.turns import Outcome

SCHEMA: Final = 1  # of every event type so far
OUTCOMES: Final = (Outcome.OK, Outcome.FAILED, Outcome.REFUSED)  # index == code

_ADDED: Final = frozenset(ADDED.values())
_NO_NONCE: Final = bytes(NONCE_BYTES)

# Codes on disk; pinned by tests/golden/reason_codes.json. New ones go to the end.
REASONS: Final[tuple[Reason, ...]] = tuple(Reason)
REASON_CODES: Final = {reason: code for code, reason in enumerate(REASONS)}


@attrs.frozen
class PayloadPart:
    """Where one sealed payload lies in a frame's payload part."""

    event: int  # index in the frame
    offset: int
    length: int
    commitment: bytes
    position: int = 0  # of the turn or summary that it replaces (TurnRedacted only)


# --- encoding --------------------------------------------------------------------------


def encode_events(events: Sequence[Event]) -> tuple[bytes, bytes]:
    """The chained part and the payload part of one command's events (at least one)."""
    first = events[0]
    payload: list[bytes] = []
    fields: list[list[Any]] = [_encode_event(event, payload) for event in events]
    return cbor.encode([first.at, first.age, fields]), b"".join(payload)


def encode_times(at: int, age: int) -> bytes:
    """The chained part of a watermark: times and no events."""
    no_events: list[Any] = []
    return cbor.encode([at, age, no_events])


def _encode_event(event: Event, payload: list[bytes]) -> list[Any]:
    code = REASON_CODES[event.reason]
    if type(event) is TurnAdded:
        payload.append(_bytes(event.sealed))
        fields: list[Any] = [
            SCHEMA << 5 | 3,
            code,
            event.session,
            event.text_bytes,
            event.extras_bytes,
            event.commitment,
            event.outcome.value if event.outcome else None,
            event.truncated_from or None,
            event.replaced or None,
            [[kind, count] for kind, count in event.redactions] if event.redactions else None,
            event.turn_tag,
            event.content_tag,
        ]
    else:
        fields = [SCHEMA << 5 | event.TYPE, code]
        for name, encode, _decode in FIELDS[type(event)]:
            fields.append(encode(getattr(event, name)))
        if isinstance(event, (SessionStarted, SessionCompacted, SessionStateRecorded)):
            payload.append(_bytes(event.sealed))
        elif isinstance(event, TurnRedacted):
            payload.extend(_bytes(part.sealed) for part in event.parts)
    while fields[-1] is None:
        fields.pop()
    return fields


def _bytes(sealed: Sealed) -> bytes:
    return sealed if isinstance(sealed, bytes) else bytes(sealed.bytes)


# --- decoding ----------------------------------------------------------------------------


def decode_events(
    chained: bytes,
    first: int,
    payload: bytes | memoryview | None,
    *,
    trusted: bool = False,
    exact: bool = False,
) -> tuple[Event, ...]:
    """The events of a frame whose first position is `first`.

    `payload` None withholds content. A payload of zeros is Erased, one that doesn't match its
    commitment Unreadable; `trusted` (the payload's checksum held) skips that comparison. `exact`
    demands the deterministic encoding. Raises CorruptData, or UnsupportedFormat for an unknown
    type or a newer schema, which is named.
    """
    at, age, items = _outer(chained, exact)
    reader = _PayloadReader(payload, trusted)
    events: list[Event] = []
    for index, fields in enumerate(items):
        position = first + index
        try:
            events.append(_decode_event(fields, (position, at, age), reader))
        except (IndexError, TypeError, ValueError, KeyError, AttributeError) as error:
            if isinstance(error, CorruptData):
                raise
            raise CorruptData(
                f"the event at position {position} is malformed ({type(error).__name__})"
            ) from None
    reader.close(first)
    return tuple(events)


def decode_times(chained: bytes) -> tuple[int, int]:
    """`at` and `age` of a frame or watermark. Raises CorruptData."""
    at, age, _items = _outer(chained, exact=False)
    return at, age


def event_count(chained: bytes) -> int:
    """How many events a chained part holds. Raises CorruptData."""
    return len(_outer(chained, exact=False)[2])


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return type(value) is list


def _outer(chained: bytes, exact: bool) -> tuple[int, int, list[Any]]:
    value: object = cbor.decode(chained, exact=exact)
    if _is_list(value) and len(value) == 3:
        at, age, items = value
        if type(at) is int and type(age) is int and age >= 0 and _is_list(items):
            return at, age, items
    raise CorruptData("a chained part is not [at, age, events]")


class _PayloadReader:
    """Cuts a payload part into sealed payloads, in order."""

    __slots__ = ("offset", "payload", "trusted")

    def __init__(self, payload: bytes | memoryview | None, trusted: bool) -> None:
        self.payload = payload
        self.trusted = trusted
        self.offset = 0

    def take(self, length: int, commitment: bytes) -> Sealed:
        if type(length) is not int or length < NONCE_BYTES or len(commitment) != COMMITMENT_BYTES:
            raise CorruptData("a payload's length or commitment is malformed")
        if self.payload is None:
            return Withheld(length)
        end = self.offset + length
        sealed = bytes(self.payload[self.offset : end])
        self.offset = end
        if len(sealed) != length:
            raise CorruptData("a payload part is shorter than its chained part says")
        if sealed.startswith(_NO_NONCE) and not any(sealed):
            return Erased(length)
        if self.trusted or commit(sealed) == commitment:
            return sealed
        return Unreadable(length)

    def close(self, first: int) -> None:
        if self.payload is not None and self.offset != len(self.payload):
            raise CorruptData(f"the payload part of the frame at {first} has trailing bytes")


def _decode_event(fields: Any, common: tuple[int, int, int], reader: _PayloadReader) -> Event:
    """`common` is (position, at, age)."""
    code, reason = fields[0], REASONS[integer(fields[1])]
    if code == SCHEMA << 5 | 3:
        return _decode_turn(fields, reason, common, reader)
    return _decode_other(fields, reason, common, reader)


def _decode_turn(
    fields: Any, reason: Reason, common: tuple[int, int, int], reader: _PayloadReader
) -> TurnAdded:
    position, at, age = common
    present = len(fields)
    if present > 12 or fields[-1] is None:
        raise CorruptData(f"the event at position {position} has too many fields")
    text_bytes, extras_bytes, commitment = fields[3], fields[4], fields[5]
    rare = fields[6:] + [None] * (12 - present)
    outcome = rare[0]
    if reason not in _ADDED:
        raise CorruptData(f"the turn at position {position} has a reason that doesn't fit it")
    if (reason is Reason.ADDED_ACTION) != (outcome is not None):
        raise CorruptData(f"the turn at position {position} has an outcome that doesn't fit it")
    return TurnAdded(
        position=position,
        at=at,
        age=age,
        reason=reason,
        session=integer(fields[2]),
        text_bytes=integer(text_bytes),
        extras_bytes=integer(extras_bytes),
        commitment=commitment,
        sealed=reader.take(NONCE_BYTES + text_bytes + extras_bytes, commitment),
        outcome=None if outcome is None else OUTCOMES[integer(outcome)],
        truncated_from=0 if rare[1] is None else integer(rare[1]),
        replaced=0 if rare[2] is None else integer(rare[2]),
        redactions=() if rare[3] is None else decode_counts(rare[3]),
        turn_tag=optional_bytes(rare[4]),
        content_tag=optional_bytes(rare[5]),
    )


def _decode_other(
    fields: Any, reason: Reason, common: tuple[int, int, int], reader: _PayloadReader
) -> Event:
    position, at, age = common
    code = integer(fields[0])
    kind, schema = code & 31, code >> 5
    if not 1 <= kind <= len(EVENT_TYPES) or schema != SCHEMA:
        raise UnsupportedFormat(
            f"the event at position {position} has type {kind}, schema {schema};"
            " this version can't read it: use a newer Turnfold"
        )
    cls = EVENT_TYPES[kind - 1]
    specification = FIELDS[cls]
    if len(fields) > 2 + len(specification) or fields[-1] is None:
        raise CorruptData(f"the event at position {position} has too many fields")
    values = fields[2:] + [None] * (2 + len(specification) - len(fields))
    arguments: dict[str, Any] = {
        name: decode(value)
        for (name, _encode, decode), value in zip(specification, values, strict=True)
    }
    if cls is TurnRedacted:
        arguments["parts"] = tuple(
            attrs.evolve(
                part,
                sealed=reader.take(
                    NONCE_BYTES + part.text_bytes + part.extras_bytes, part.commitment
                ),
            )
            for part in arguments["parts"]
        )
    elif "sealed" in arguments:
        arguments["sealed"] = reader.take(arguments["sealed"], arguments["commitment"])
    return cls(position=position, at=at, age=age, reason=reason, **arguments)


def payload_parts(chained: bytes, first: int) -> Iterator[PayloadPart]:
    """Where each sealed payload of a frame lies. Raises CorruptData, UnsupportedFormat."""
    offset = 0
    for index, event in enumerate(decode_events(chained, first, None)):
        parts: tuple[tuple[int, bytes, int], ...] = ()
        if isinstance(event, TurnRedacted):
            parts = tuple(
                (sealed_length(part.sealed), part.commitment, part.position) for part in event.parts
            )
        elif isinstance(event, (TurnAdded, SessionStarted, SessionCompacted, SessionStateRecorded)):
            parts = ((sealed_length(event.sealed), event.commitment, 0),)
        for length, commitment, position in parts:
            yield PayloadPart(index, offset, length, commitment, position)
            offset += length
