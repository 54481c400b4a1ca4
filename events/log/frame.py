"""One frame: a header, the chained part and the payload part, each with a CRC32C of its own.

    header (32 bytes) | chained | CRC32C(chained) | payload | CRC32C(payload)

Everything is little-endian; the header is laid out in docs/reference/log-format.md. The payload's
checksum is a fast path only: after a partial erasure it is stale, and the commitments in the
chained part decide.

A frame without events (count 0) is a watermark: its position is the next one and it says that
everything before is durable. Not done here: reading files (scan), hashing (chain), events (codec).
"""

from struct import Struct
from typing import Final

import attrs

from turnfold.events.log.checksum import CRC_BYTES, crc32c

# No UTF-8 text holds these bytes, and the top byte of the chained length is always zero, which no
# stored text holds either: what a person typed can't pass for a header.
MAGIC: Final = b"\xfd\xff"

HEADER_BYTES: Final = 32
FRAME_OVERHEAD_BYTES: Final = HEADER_BYTES + 2 * CRC_BYTES

CHAINED_BYTES_MAX: Final = (1 << 24) - 1
PAYLOAD_BYTES_MAX: Final = 128 << 20  # 1,024 turns, each compacting into a summary of 64 KiB, twice
EVENTS_MAX: Final = (1 << 16) - 1  # of one frame
POSITION_MAX: Final = (1 << 63) - 1  # what a database's bigint holds

_PREFIX: Final = Struct("<2sIIQHII")  # all of the header but its checksum
_HEADER: Final = Struct("<2sIIQHIII")
_CRC: Final = Struct("<I")
_LAG_MAX: Final = (1 << 32) - 1
assert _HEADER.size == HEADER_BYTES == _PREFIX.size + CRC_BYTES


# Not frozen: one for each frame read (0.5 instead of 2.4 us). Never changed.
@attrs.define
class FrameHeader:
    """A header whose checksum and bounds hold, in the order of its fields on disk."""

    magic: bytes
    chained_bytes: int
    payload_bytes: int
    first: int
    count: int
    lag: int  # first - synced_through
    epoch: int
    crc: int

    @property
    def last(self) -> int:
        """The position of the last event; of a watermark, the position before `first`."""
        return self.first + self.count - 1

    @property
    def synced_through(self) -> int:
        """The highest position that was durable when the frame was built."""
        return self.first - self.lag

    @property
    def frame_bytes(self) -> int:
        """The whole frame's size."""
        return FRAME_OVERHEAD_BYTES + self.chained_bytes + self.payload_bytes


def frame_bytes(chained_bytes: int, payload_bytes: int) -> int:
    """The size of a frame with parts of these sizes."""
    return FRAME_OVERHEAD_BYTES + chained_bytes + payload_bytes


def check_parts(first: int, count: int, chained: bytes, payload: bytes) -> None:
    """Raise ValueError if a frame with events can't be written: a mistake of the caller's."""
    if not 1 <= count <= EVENTS_MAX:
        raise ValueError(f"a frame holds 1 to {EVENTS_MAX} events, not {count}")
    if not 1 <= first <= POSITION_MAX - count:
        raise ValueError(f"a frame can't begin at position {first}")
    if not 1 <= len(chained) <= CHAINED_BYTES_MAX:
        raise ValueError(f"a chained part has 1 to {CHAINED_BYTES_MAX} bytes, not {len(chained)}")
    if len(payload) > PAYLOAD_BYTES_MAX:
        raise ValueError(f"a payload part has at most {PAYLOAD_BYTES_MAX} bytes")


def frame_pieces(
    first: int, count: int, chained: bytes, payload: bytes, *, synced_through: int, epoch: int
) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes]:
    """A frame's bytes in six pieces, so that a batch of frames is joined once."""
    lag = min(first - synced_through, _LAG_MAX)  # capped, it claims less than was durable: true
    prefix = _PREFIX.pack(MAGIC, len(chained), len(payload), first, count, lag, epoch)
    pack = _CRC.pack
    return (
        prefix,
        pack(crc32c(prefix)),
        chained,
        pack(crc32c(chained)),
        payload,
        pack(crc32c(payload)),
    )


def encode_frame(
    first: int, count: int, chained: bytes, payload: bytes, *, synced_through: int, epoch: int
) -> bytes:
    """One frame's bytes. Raises ValueError if a part is out of bounds."""
    check_parts(first, count, chained, payload)
    pieces = frame_pieces(
        first, count, chained, payload, synced_through=synced_through, epoch=epoch
    )
    return b"".join(pieces)


def encode_watermark(position: int, chained: bytes, epoch: int) -> bytes:
    """A frame without events that says: everything up to `position` is durable."""
    pieces = frame_pieces(position + 1, 0, chained, b"", synced_through=position, epoch=epoch)
    return b"".join(pieces)


def decode_header(data: bytes, offset: int = 0) -> FrameHeader | None:
    """The header at `offset`, or None unless its magic, checksum and bounds all hold.

    Nothing is allocated by the lengths it names. Less than 32 bytes give None too.
    """
    if len(data) - offset < HEADER_BYTES:
        return None
    header = FrameHeader(*_HEADER.unpack_from(data, offset))
    if header.magic != MAGIC:
        return None
    if header.crc != crc32c(data[offset : offset + _PREFIX.size]):
        return None
    return header if _is_bounded(header) else None


def _is_bounded(header: FrameHeader) -> bool:
    first, count = header.first, header.count
    if not 1 <= header.chained_bytes <= CHAINED_BYTES_MAX:
        return False
    if not 1 <= first <= POSITION_MAX - count or not 1 <= header.lag <= first:
        return False
    if count == 0:
        return header.payload_bytes == 0 and header.lag == 1
    return header.payload_bytes <= PAYLOAD_BYTES_MAX


def checksum_at(data: bytes, offset: int) -> int:
    """The stored checksum at `offset`; the four bytes must be there."""
    stored: int = _CRC.unpack_from(data, offset)[0]
    return stored
