"""Signing checkpoints with Ed25519 (RFC 8032). Needs the extra `audit`, for its cryptography.

Pure: a key comes from a seed that the caller drew, and Ed25519 signs without randomness.
"""

from typing import TYPE_CHECKING

from turnfold.events.audit_note import (
    KEY_BYTES,
    SIGNATURE_BYTES,
    NoteSignature,
    SignedNote,
    SigningKey,
    VerifierKey,
    check_key_name,
    key_id,
)
from turnfold.events.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ed25519


def _ed25519() -> "type[ed25519.Ed25519PrivateKey]":
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise MissingExtra("audit", "signatures of checkpoints") from error
    return Ed25519PrivateKey


def signing_key(name: str, seed: bytes) -> SigningKey:
    """The key with this name and seed (32 random bytes). Raises InvalidInput, MissingExtra."""
    if len(seed) != KEY_BYTES:
        raise InvalidInput(f"a seed has {KEY_BYTES} bytes")
    return SigningKey(check_key_name(name), key_id(name, _public_key(seed)), seed)


def verifier_key(key: SigningKey) -> VerifierKey:
    """The public half. Raises InvalidInput if the key's id is not its own; MissingExtra."""
    public = VerifierKey(key.name, _public_key(key.seed))
    if public.id != key.id:
        raise InvalidInput("the private key's id doesn't belong to its name and bytes")
    return public


def _public_key(seed: bytes) -> bytes:
    return _ed25519().from_private_bytes(seed).public_key().public_bytes_raw()


def sign(note: SignedNote, key: SigningKey) -> SignedNote:
    """The note with one more signature. Raises MissingExtra."""
    signature = _ed25519().from_private_bytes(key.seed).sign(note.text.encode())
    return SignedNote(note.text, (*note.signatures, NoteSignature(key.name, key.id, signature)))


def is_signed(note: SignedNote, key: VerifierKey) -> bool:
    """Whether this key signed the note; of its signatures every one has to hold.

    Those of other keys are passed over. Raises MissingExtra.
    """
    _ed25519()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    public = Ed25519PublicKey.from_public_bytes(key.public_key)
    own = [one for one in note.signatures if (one.name, one.key_id) == (key.name, key.id)]
    for one in own:
        if len(one.signature) != SIGNATURE_BYTES:
            return False
        try:
            public.verify(one.signature, note.text.encode())
        except InvalidSignature:
            return False
    return bool(own)
