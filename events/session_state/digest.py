"""Digests that name their algorithm and key, and the keys they are made with.

Two forms, both plain text:

    blake2b-256-keyed:KEYID:64 hex digits      made here, under a key of the store's own
    ALGORITHM:hex digits                       made here or by the caller; see `ALGORITHMS`

A short text ("yes") is found from its plain digest by trying; without the key it can't be found
from its keyed one. Keys are arguments: where they are kept is not decided here.
"""

import re
from enum import StrEnum
from hashlib import blake2b
from hmac import compare_digest
from typing import Final

import attrs

from turnfold.events import cbor
from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.checks import Problems

KEYED_ALGORITHM: Final = "blake2b-256-keyed"
SECRET_BYTES_MIN: Final = 32
SECRET_BYTES_MAX: Final = 64  # BLAKE2b takes no longer key
_DIGEST_BYTES: Final = 32

# name: hexadecimal digits. What a caller's evidence may be digested with.
ALGORITHMS: Final = {
    "blake2b-256": 64,
    "blake2b-512": 128,
    "blake3": 64,
    "sha256": 64,
    "sha384": 96,
    "sha512": 128,
    "sha3-256": 64,
    "sha3-512": 128,
}

_KEY_ID = re.compile(r"[A-Za-z0-9._-]{1,32}")
_KEYED = re.compile(KEYED_ALGORITHM + r":([A-Za-z0-9._-]{1,32}):[0-9a-f]{64}")
_PLAIN = re.compile(r"([a-z0-9-]{1,16}):([0-9a-f]{64,128})")


class DigestPurpose(StrEnum):
    """What a keyed digest stands for; one purpose's digest is never valid for another."""

    TURN = "turn"
    CONVERSATION = "conversation"
    STATE_ID = "state_id"
    NOTICE = "notice"
    ERROR = "error"
    EVIDENCE = "evidence"


@attrs.frozen
class DigestKey:
    """One secret of the store's own and the public id that its digests name.

    `key_id` is 1 to 32 of A-Z a-z 0-9 . _ -; `secret` is 32 to 64 bytes.
    Raises InvalidStateRecord.
    """

    key_id: str
    secret: bytes = attrs.field(repr=False)

    def __attrs_post_init__(self) -> None:
        problems = Problems("the digest key")
        if type(self.key_id) is not str or not _KEY_ID.fullmatch(self.key_id):
            problems.add("key_id", Blocker.BAD_ID)
        if type(self.secret) is not bytes:
            problems.add("secret", Blocker.BAD_TYPE)
        elif not SECRET_BYTES_MIN <= len(self.secret) <= SECRET_BYTES_MAX:
            problems.add("secret", Blocker.OUT_OF_RANGE)
        problems.raise_if_any()

    def digest(self, purpose: DigestPurpose, *parts: str | bytes) -> str:
        """The keyed digest of `parts` for `purpose`: `blake2b-256-keyed:KEYID:hex`.

        Parts are length-prefixed, so ("ab", "c") and ("a", "bc") differ; "a" and b"a" differ too.
        """
        message = cbor.encode((purpose.value, *parts))
        made = blake2b(message, digest_size=_DIGEST_BYTES, key=self.secret, person=b"tf-state")
        return f"{KEYED_ALGORITHM}:{self.key_id}:{made.hexdigest()}"


@attrs.frozen
class DigestKeyring:
    """The key that new digests are made with, and retired keys that old ones were made with.

    Raises InvalidStateRecord if two keys have one id.
    """

    current: DigestKey
    retired: tuple[DigestKey, ...] = ()

    def __attrs_post_init__(self) -> None:
        problems = Problems("the digest keyring")
        ids = [key.key_id for key in self.keys]
        problems.add("retired", Blocker.DUPLICATE if len(set(ids)) < len(ids) else None)
        problems.raise_if_any()

    @property
    def keys(self) -> tuple[DigestKey, ...]:
        """The current key first, then the retired ones."""
        return (self.current, *self.retired)

    def digests(self, purpose: DigestPurpose, *parts: str | bytes) -> frozenset[str]:
        """The digest of `parts` under every key: what to look for among stored digests."""
        return frozenset(key.digest(purpose, *parts) for key in self.keys)

    def verify(self, digest: str, purpose: DigestPurpose, *parts: str | bytes) -> bool:
        """Whether `digest` is of `parts`, under the key it names. False if that key is unknown."""
        match = _KEYED.fullmatch(digest)
        if match is None:
            return False
        named = [key for key in self.keys if key.key_id == match[1]]
        return any(compare_digest(key.digest(purpose, *parts), digest) for key in named)


def plain_digest(data: bytes) -> str:
    """`blake2b-256:hex` of `data`: for what can't be guessed, or is not secret."""
    return f"blake2b-256:{blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()}"


def text_bytes(text: str) -> bytes:
    """`text` as bytes for a digest: UTF-8, total and one-to-one, lone surrogates included.

    Nothing is normalised: two Unicode forms of one word are two texts.
    """
    return text.encode("utf-8", "surrogatepass")


def digest_problem(value: object) -> Blocker | None:
    """Whether `value` is a digest in one of the two forms, with its algorithm named."""
    if type(value) is not str:
        return Blocker.BAD_TYPE
    if _KEYED.fullmatch(value):
        return None
    match = _PLAIN.fullmatch(value)
    known = match is not None and ALGORITHMS.get(match[1]) == len(match[2])
    return None if known else Blocker.BAD_DIGEST


def keyed_digest_problem(value: object) -> Blocker | None:
    """As `digest_problem`, and the digest must be a keyed one."""
    if type(value) is str and _KEYED.fullmatch(value):
        return None
    return digest_problem(value) or Blocker.DIGEST_NOT_KEYED
