"""The hash chain: one running BLAKE2b-256 over everything chained, payloads never.

    head(0)  = H(store id)                                        person "tf-genesis"
    head'    = H(head | first u64 | epoch u32 | length u32 | chained part)     "tf-chain"
    head'    = H(head | gap first u64 | gap last u64 | reason u8)              "tf-gap"

Integers are little-endian. The person strings keep the three kinds of input apart. Watermarks are
not chained.
"""

from hashlib import blake2b
from struct import Struct
from typing import Final

from turnfold.events.codec import REASON_CODES
from turnfold.events.event import Gap

HEAD_BYTES: Final = 32

_FRAME: Final = Struct("<QII")
_GAP: Final = Struct("<QQB")


def genesis(store_id: bytes) -> bytes:
    """The head before position 1."""
    return blake2b(store_id, digest_size=HEAD_BYTES, person=b"tf-genesis").digest()


def advance(head: bytes, first: int, epoch: int, chained: bytes) -> bytes:
    """The head after a frame with events."""
    data = head + _FRAME.pack(first, epoch, len(chained)) + chained
    return blake2b(data, digest_size=HEAD_BYTES, person=b"tf-chain").digest()


def skip(head: bytes, gap: Gap) -> bytes:
    """The head after a declared gap."""
    data = head + _GAP.pack(gap.first, gap.last, REASON_CODES[gap.reason])
    return blake2b(data, digest_size=HEAD_BYTES, person=b"tf-gap").digest()
