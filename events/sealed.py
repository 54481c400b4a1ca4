"""Sealed payloads: what a caller typed, with the nonce that hides it once it is erased.

Sealed bytes are 16 bytes of nonce, then the payload. An event carries only their length and the
commitment BLAKE2b-128(nonce || payload), so a chain over events verifies before and after the
payloads are zeroed, and a digest of "yes" can't be guessed once its nonce is gone.
"""

from hashlib import blake2b
from typing import Final

import attrs

NONCE_BYTES: Final = 16
COMMITMENT_BYTES: Final = 16  # second preimages cost 2^128; the nonce is drawn after the text


@attrs.frozen
class Erased:
    """Stands where sealed bytes were; `bytes` is how many there were, nonce included."""

    bytes: int


@attrs.frozen
class Withheld(Erased):
    """The reader was asked not to read content."""


@attrs.frozen
class Unreadable(Erased):
    """The payload is damaged: it neither matches its commitment nor is erased."""


Sealed = bytes | Erased


def seal(nonce: bytes, payload: bytes) -> bytes:
    """The payload as it lies in the log. The nonce must be NONCE_BYTES fresh random bytes."""
    return nonce + payload


def commit(sealed: bytes) -> bytes:
    """The commitment to sealed bytes."""
    return blake2b(sealed, digest_size=COMMITMENT_BYTES, person=b"tf-commit").digest()


def sealed_length(sealed: Sealed) -> int:
    """Bytes that the sealed payload takes in the log, erased or not."""
    return len(sealed) if isinstance(sealed, bytes) else sealed.bytes
