"""The codec: deterministic bytes, exact decoding, erasure without touching a chained byte."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events import cbor
from turnfold.events.codec import (
    REASON_CODES,
    decode_events,
    decode_times,
    encode_events,
    encode_times,
    payload_parts,
)
from turnfold.events.errors import CorruptData, UnsupportedFormat
from turnfold.events.event import Event, SessionCompacted, SessionExpired, StoreOpened, TurnAdded
from turnfold.events.limits import Limits
from turnfold.events.reasons import Reason
from turnfold.events.sealed import Erased, Unreadable, Withheld, commit, seal
from turnfold.events.turns import Outcome

GOLDEN = Path(__file__).parent.parent / "golden"
NONCE = bytes(range(1, 17))


def turn(position: int = 5, text: bytes = b"hello", **changes: object) -> TurnAdded:
    """A turn of 21 sealed bytes."""
    sealed = seal(NONCE, text)
    fields: dict[str, object] = {
        "position": position,
        "at": 1_764_547_200_000_000_000,
        "age": 12,
        "reason": Reason.ADDED_AVATAR,
        "session": 4,
        "text_bytes": len(text),
        "extras_bytes": 0,
        "commitment": commit(sealed),
        "sealed": sealed,
    }
    return TurnAdded(**(fields | changes))  # type: ignore[arg-type]  # typed above


def opened() -> StoreOpened:
    """A StoreOpened with default limits."""
    return StoreOpened(
        position=1,
        at=1,
        age=0,
        reason=Reason.OPENED_NEW,
        epoch=1,
        ruleset=1,
        limits=tuple(getattr(Limits(), name) for name in Limits.__slots__ if name[0] != "_"),
    )


def compaction() -> SessionCompacted:
    """A compaction of three turns."""
    sealed = seal(NONCE, b"summary")
    return SessionCompacted(
        position=6,
        at=1,
        age=0,
        reason=Reason.COMPACTED_TURNS,
        session=4,
        covers=(5, 9, 300),
        summary_bytes=7,
        commitment=commit(sealed),
        sealed=sealed,
    )


EVENTS: list[Event] = [
    opened(),
    turn(),
    turn(truncated_from=90, replaced=2, redactions=(("jwt", 1),)),
    turn(turn_tag=b"t" * 16, content_tag=b"c" * 16),
    turn(reason=Reason.ADDED_ACTION, outcome=Outcome.FAILED),
    compaction(),
    SessionExpired(position=7, at=1, age=0, reason=Reason.EXPIRED_INACTIVITY, session=4),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_the_round_trip(event: Event) -> None:
    """Decoding what was encoded gives an equal event."""
    chained, payload = encode_events([event])

    assert decode_events(chained, event.position, payload, exact=True) == (event,)


def test_positions_are_not_in_the_chained_part() -> None:
    """They follow from the frame's first position."""
    chained, payload = encode_events([turn(position=5), turn(position=6)])

    events = decode_events(chained, 900, payload)

    assert [event.position for event in events] == [900, 901]


def test_a_turn_costs_at_most_120_bytes_beside_its_text() -> None:
    """Chained part, nonce and the 40 bytes of a frame."""
    text = b"x" * 300
    chained, payload = encode_events([turn(2**20, text, session=2**19, age=2**50)])

    assert len(chained) + len(payload) - len(text) + 40 <= 120


def test_zeros_decode_as_erased_and_change_no_chained_byte() -> None:
    """The chained part doesn't depend on whether the payload is still there."""
    chained, payload = encode_events([turn()])

    (event,) = decode_events(chained, 5, bytes(len(payload)))

    assert isinstance(event, TurnAdded)
    assert (event.sealed, event.text) == (Erased(21), None)
    assert encode_events([event])[0] == chained


@given(st.integers(0, 20), st.integers(0, 7))
def test_a_flipped_payload_bit_is_unreadable(byte: int, bit: int) -> None:
    """Never returned as text."""
    chained, payload = encode_events([turn()])
    damaged = bytearray(payload)
    damaged[byte] ^= 1 << bit

    (event,) = decode_events(chained, 5, bytes(damaged))

    assert isinstance(event, TurnAdded)
    assert event.sealed == Unreadable(21)


def test_content_can_be_withheld() -> None:
    """Auditors read events without reading a payload byte."""
    chained, _payload = encode_events([turn()])

    (event,) = decode_events(chained, 5, None)

    assert isinstance(event, TurnAdded)
    assert event.sealed == Withheld(21)


def test_the_parts_of_a_payload_are_found_from_the_chained_part_alone() -> None:
    """Offsets and lengths for erasure."""
    chained, payload = encode_events([turn(5), turn(6, b"hi"), compaction()])

    parts = list(payload_parts(chained, 5))

    assert [(part.event, part.offset, part.length) for part in parts] == [
        (0, 0, 21),
        (1, 21, 18),
        (2, 39, 23),
    ]
    assert sum(part.length for part in parts) == len(payload)


@pytest.mark.parametrize(("start", "end"), [(0, 20), (1, 21), (0, 22)])
def test_payloads_of_the_wrong_length_are_corrupt(start: int, end: int) -> None:
    """Exact slices, no trailing bytes."""
    chained, payload = encode_events([turn()])

    with pytest.raises(CorruptData):
        decode_events(chained, 5, (payload + b"\0")[start:end])


def test_trailing_chained_bytes_are_corrupt() -> None:
    """The chained part is exactly one value."""
    chained, payload = encode_events([turn()])

    with pytest.raises(CorruptData):
        decode_events(chained + b"\0", 5, payload, exact=True)


@pytest.mark.parametrize("code", [31, 3 + 2 * 32, 0, 32 + 30])
def test_unknown_types_and_newer_schemas_are_refused_by_name(code: int) -> None:
    """Never skipped."""
    chained = cbor.encode([1, 1, [[code, 0]]])

    with pytest.raises((UnsupportedFormat, CorruptData), match="position 9"):
        decode_events(chained, 9, b"")


@pytest.mark.parametrize(
    "data",
    [
        bytes.fromhex("c249010000000000000000"),  # bignum tag
        bytes.fromhex("d8236161"),  # regular expression
        bytes.fromhex("d81c81d81d00"),  # shared reference to itself
        bytes.fromhex("9f01ff"),  # indefinite length
        bytes.fromhex("a201020103"),  # duplicate key
        bytes.fromhex("1801"),  # an integer longer than needed
        b"\x81" * 10_000 + b"\x01",
        b"\x9b" + b"\xff" * 8,
        b"\x5b" + b"\xff" * 8,
        b"",
    ],
    ids=range(10),
)
def test_hostile_cbor_builds_no_object(data: bytes) -> None:
    """Bounded, and refused with one error."""
    with pytest.raises(CorruptData):
        cbor.decode(data)


@given(st.binary(max_size=80))
def test_garbage_is_corrupt_or_unsupported_and_nothing_else(data: bytes) -> None:
    """No other exception escapes the decoder."""
    try:
        decode_events(data, 1, b"", exact=True)
    except (CorruptData, UnsupportedFormat):
        return
    assert decode_times(data) is not None


def test_a_watermark_carries_times_and_no_event() -> None:
    """at and age."""
    assert decode_times(encode_times(7, 8)) == (7, 8)
    assert decode_events(encode_times(7, 8), 1, b"") == ()


def test_published_reason_codes_never_change() -> None:
    """The strings and their codes on disk are pinned; new ones go to the end."""
    pinned = json.loads((GOLDEN / "reason_codes.json").read_text())

    assert {reason.value: code for reason, code in REASON_CODES.items()} == pinned
