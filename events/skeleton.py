"""The skeleton of a state: its layout on disk, and reading it without believing it.

A skeleton is a row of blocks, each a 4-byte little-endian length and that many bytes of CBOR: an
array of BLOCK_ITEMS items, fewer only in the last block. The items are arrays of fixed order: the
header, then per live session its item, its turns and its remembered turn ids, then ended
sessions, pending erasures and session-state records, in the order and numbers that the header and
the session items say. A sealed part is represented by its length and commitment alone, so the
skeleton, and with it the state digest, is the same before and after erasure.

Skeletons are never upcast: another FOLD_VERSION is another fold, rebuilt from events.
"""

from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Any, Final

import attrs

from turnfold.events import cbor
from turnfold.events.codec import REASONS
from turnfold.events.errors import CorruptData, InvalidConfig, UnsupportedFormat
from turnfold.events.keys import CHANNELS, Pseudonym
from turnfold.events.limits import BOUNDS, ENDED_KEYS_MAX, TURN_IDS_MAX, Limits
from turnfold.events.reasons import Reason
from turnfold.events.sealed import NONCE_BYTES, Erased, Sealed, Unreadable, Withheld, commit
from turnfold.events.session import KeyTag

FOLD_VERSION: Final = 1
BLOCK_ITEMS: Final = 64  # about 0.2 ms of encoding
BLOCK_BYTES_MAX: Final = 1024 * 1024
INTEGER_MAX: Final = 2**63 - 1
ID_BYTES: Final = 16  # session ids, pseudonyms, tags, commitments
STARTED_SEALED_BYTES: Final = NONCE_BYTES + 32
KIND_CHARACTERS_MAX: Final = 64
PENDING_MAX: Final = 1_000_000
CEILING: Final = {name: bound[2] for name, bound in BOUNDS.items()}
TEXT_BYTES_MAX: Final = max(CEILING["turn_bytes"], CEILING["tool_turn_bytes"])

HEADER_FIELDS: Final = 18
SESSION_FIELDS: Final = 17
SUMMARY_FIELDS: Final = 6
TURN_FIELDS: Final = 13
TURN_ID_FIELDS: Final = 3
ENDED_FIELDS: Final = 6
PENDING_FIELDS: Final = 8
RECORD_FIELDS: Final = 7

_BLOCK_HEAD: Final = Struct("<I")

_END: Final = object()

Take = Callable[[int], bytes]
"""Gives the next n bytes of the sealed parts."""


@attrs.frozen
class Counts:
    """How many items of each kind follow the header."""

    sessions: int
    ended: int
    pending: int
    records: int


@attrs.frozen
class StoredPart:
    """Where a sealed part lies among all of them. `session` is 0 for session-state records."""

    session: int
    position: int
    offset: int
    length: int
    commitment: bytes
    summary: bool = False


def pack_block(items: Sequence[tuple[Any, ...]]) -> bytes:
    """One block of a skeleton."""
    encoded = cbor.encode(items)
    return _BLOCK_HEAD.pack(len(encoded)) + encoded


# --- one field -----------------------------------------------------------------------------------


def integer(value: Any, high: int = INTEGER_MAX, low: int = 0) -> int:
    """A number between `low` and `high`, both included. Raises CorruptData."""
    if type(value) is not int or not low <= value <= high:
        raise CorruptData("a number of the skeleton is missing or out of bounds")
    return value


def wall_time(value: Any) -> int:
    """A wall-clock time in ns; negative on a clock that is wrong."""
    return integer(value, low=-INTEGER_MAX)  # before 1970 on a clock that is wrong


def byte_string(value: Any, *lengths: int) -> bytes:
    """A byte string of one of these lengths. Raises CorruptData."""
    if type(value) is not bytes or len(value) not in lengths:
        raise CorruptData("a byte string of the skeleton is missing or has the wrong length")
    return value


def optional_tag(value: Any) -> bytes | None:
    """A tag of ID_BYTES, or None. Raises CorruptData."""
    return None if value is None else byte_string(value, ID_BYTES)


def reason_in(value: Any, allowed: frozenset[Reason]) -> Reason:
    """The reason with this code, if it is one of those allowed. Raises CorruptData."""
    reason = REASONS[integer(value, len(REASONS) - 1)]
    if reason not in allowed:
        raise CorruptData(f"the reason {reason} doesn't fit its place in the skeleton")
    return reason


def key_tag(pseudonym: Any, channel: Any, *, or_none: bool = False) -> KeyTag:
    """The tag of a key; with `or_none`, also evolve.NO_KEY. Raises CorruptData."""
    highest = len(CHANNELS) if or_none else len(CHANNELS) - 1
    return Pseudonym(byte_string(pseudonym, ID_BYTES)), integer(channel, highest)


def array(value: Any, length: int | None = None) -> list[Any]:
    """An array, of this length if one is given. Raises CorruptData."""
    items: list[Any] = value
    if type(value) is not list or length not in (None, len(items)):
        raise CorruptData("an array of the skeleton is missing or has the wrong length")
    return items


def redaction_counts(value: Any) -> tuple[tuple[str, int], ...]:
    """(kind, count) pairs. Raises CorruptData."""
    pairs = [array(pair, 2) for pair in array(value)]
    if any(type(kind) is not str or len(kind) > KIND_CHARACTERS_MAX for kind, _count in pairs):
        raise CorruptData("a kind of redaction in the skeleton is malformed")
    return tuple((kind, integer(count)) for kind, count in pairs)


def limits_in(value: Any) -> Limits:
    """The limits whose values are `value`, in the order of BOUNDS. Raises CorruptData."""
    try:
        return Limits(**dict(zip(BOUNDS, array(value, len(BOUNDS)), strict=True)))
    except InvalidConfig as error:
        raise CorruptData(f"the limits of the skeleton are out of bounds: {error}") from None


# --- items ---------------------------------------------------------------------------------------


def items_of(skeleton: bytes) -> Iterator[Any]:
    """The items of all blocks. Raises CorruptData."""
    offset = 0
    while offset < len(skeleton):
        if len(skeleton) - offset < _BLOCK_HEAD.size:
            raise CorruptData("the skeleton ends inside a block")
        (size,) = _BLOCK_HEAD.unpack_from(skeleton, offset)
        offset += _BLOCK_HEAD.size
        if size > min(BLOCK_BYTES_MAX, len(skeleton) - offset):
            raise CorruptData("a block of the skeleton is longer than what is left")
        block = array(cbor.decode(skeleton[offset : offset + size]))
        offset += size
        if offset < len(skeleton) and len(block) != BLOCK_ITEMS:
            raise CorruptData("a block of the skeleton has the wrong number of items")
        yield from block


class Items:
    """Hands out the items of a skeleton, each as a list of the length that its place demands."""

    def __init__(self, skeleton: bytes) -> None:
        self._iterator = items_of(skeleton)

    def next(self, fields: int) -> list[Any]:
        """The next item. Raises CorruptData unless it is an array of so many fields."""
        return array(next(self._iterator, None), fields)

    def close(self) -> None:
        """Raises CorruptData if items are left."""
        if next(self._iterator, _END) is not _END:
            raise CorruptData("the skeleton has more items than it says")


class Content:
    """Takes sealed parts one after the other; without a source all are withheld."""

    def __init__(self, take: Take | None) -> None:
        self._take = take

    def next(self, length: int, commitment: bytes) -> Sealed:
        """The next part: itself, Erased if it is all zeros, or Unreadable. Raises CorruptData."""
        if self._take is None:
            return Withheld(length)
        part = self._take(length)
        if len(part) != length:
            raise CorruptData("the sealed parts are shorter than the skeleton says")
        if commit(part) == commitment:
            return part
        return Erased(length) if part.count(0) == length else Unreadable(length)


def header_counts(header: list[Any]) -> Counts:
    """What a skeleton's first item says about the others.

    Raises UnsupportedFormat for another fold version, CorruptData for numbers out of bounds.
    """
    version = header[0]
    if version != FOLD_VERSION or type(version) is not int:
        raise UnsupportedFormat(
            f"the state was folded by version {version if type(version) is int else 'unknown'}"
            f" of the fold; this Turnfold reads version {FOLD_VERSION}"
        )
    return Counts(
        sessions=integer(header[13], CEILING["active_sessions"]),
        ended=integer(header[14], ENDED_KEYS_MAX),
        pending=integer(header[15], PENDING_MAX),
        records=integer(header[16], CEILING["state_records"]),
    )


def stored_parts(skeleton: bytes) -> Iterator[StoredPart]:
    """Where each sealed part lies, in order. Raises CorruptData or UnsupportedFormat.

    Checks what it uses; the whole is checked by the skeleton's digest and by `restore`.
    """
    items = Items(skeleton)
    counts = header_counts(items.next(HEADER_FIELDS))
    offset = 0

    def part(
        session: int, position: Any, length: int, commitment: Any, *, summary: bool = False
    ) -> StoredPart:
        nonlocal offset
        digest = byte_string(commitment, ID_BYTES)
        found = StoredPart(session, integer(position), offset, length, digest, summary)
        offset += length
        return found

    for _ in range(counts.sessions):
        fields = items.next(SESSION_FIELDS)
        start = integer(fields[0])
        yield part(start, start, STARTED_SEALED_BYTES, fields[7])
        if fields[8] is not None:
            summary = array(fields[8], SUMMARY_FIELDS)
            yield part(start, summary[0], integer(summary[5]), summary[4], summary=True)
        for _ in range(integer(fields[9], CEILING["turns_per_session"])):
            turn = items.next(TURN_FIELDS)
            length = NONCE_BYTES + integer(turn[4]) + integer(turn[5])
            yield part(start, turn[0], length, turn[6])
        for _ in range(integer(fields[10], TURN_IDS_MAX)):
            items.next(TURN_ID_FIELDS)
    for _ in range(counts.ended):
        items.next(ENDED_FIELDS)
    for _ in range(counts.pending):
        items.next(PENDING_FIELDS)
    for _ in range(counts.records):
        fields = items.next(RECORD_FIELDS)
        yield part(0, fields[0], integer(fields[6]), fields[5])
    items.close()
