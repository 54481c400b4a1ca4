"""Checkpoints as text: a log's head at a position, in forms that other people's tools read.

A checkpoint is a signed note (c2sp.org/signed-note) whose text is laid out as c2sp.org/
tlog-checkpoint says: origin, size, root hash, extension lines. Here size is the position and the
root hash is the head of the hash chain, which is no Merkle root: signatures can be checked by any
tool, consistency only against the log itself.

    turnfold/6f0c4c0e9a490c6a52bd5f0a00112233
    4711
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
    store-id 6f0c4c0e9a490c6a52bd5f0a00112233
    first-kept 1

    (em dash) <key name> <base64 of key id and signature>

Keys are written as in Go's sumdb/note: `name+id+base64(01 | public key)`.
"""

import re
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Final

import attrs

from turnfold.events.errors import InvalidInput

ED25519: Final = b"\x01"
KEY_BYTES: Final = 32  # a public key, a seed
SIGNATURE_BYTES: Final = 64
STORE_ID_BYTES: Final = 16
NOTE_BYTES_MAX: Final = 1 << 20  # 16 signatures at least, post-quantum ones too
_SIGNATURES_MAX: Final = 64
_KEY_ID_BYTES: Final = 4
_DASH: Final = "\u2014 "
_PRIVATE: Final = "PRIVATE+KEY+"
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_STORE_LINE: Final = re.compile(r"store-id ([0-9a-f]{32})", re.ASCII)
_KEPT_LINE: Final = re.compile(r"first-kept ([1-9][0-9]{0,18})", re.ASCII)


# --- notes -------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class NoteSignature:
    """One signature line: who signed (a name and 4 bytes of key id), and the signature."""

    name: str
    key_id: bytes
    signature: bytes

    def __repr__(self) -> str:
        return f"NoteSignature({len(self.signature)} bytes)"


@attrs.frozen(repr=False)
class SignedNote:
    """A text that ends in a newline, and its signatures (none: it is not signed yet)."""

    text: str
    signatures: tuple[NoteSignature, ...] = ()

    @classmethod
    def decode(cls, data: bytes) -> "SignedNote":
        """Raises InvalidInput for anything but a note; a text alone has no signatures."""
        text = _note_text(data)
        body, blank, lines = text.rpartition("\n\n")
        if not blank or not lines.startswith(_DASH):
            return cls(text)
        signatures = tuple(_parse_signature(line) for line in lines[:-1].split("\n"))
        if len(signatures) > _SIGNATURES_MAX:
            raise InvalidInput(f"a note has at most {_SIGNATURES_MAX} signatures here")
        return cls(body + "\n", signatures)

    def encode(self) -> bytes:
        """The note as it is kept and sent."""
        lines = [
            f"{_DASH}{one.name} {b64encode(one.key_id + one.signature).decode()}\n"
            for one in self.signatures
        ]
        return "".join([self.text, *(["\n"] if lines else []), *lines]).encode()

    def __repr__(self) -> str:
        return f"SignedNote({len(self.text)} characters, {len(self.signatures)} signatures)"


def _note_text(data: bytes) -> str:
    if len(data) > NOTE_BYTES_MAX:
        raise InvalidInput(f"a note has at most {NOTE_BYTES_MAX} bytes, not {len(data)}")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidInput("a note is UTF-8 text; this is not") from None
    if not text.endswith("\n") or any(c < " " and c != "\n" for c in text):
        raise InvalidInput("a note ends in a newline and has no other control character")
    return text


def _parse_signature(line: str) -> NoteSignature:
    name, space, encoded = line.removeprefix(_DASH).rpartition(" ")
    if not line.startswith(_DASH) or not space:
        raise InvalidInput("a line behind the note's text is no signature")
    data = _decode_base64(encoded, "a note's signature")
    if len(data) <= _KEY_ID_BYTES:
        raise InvalidInput("a note's signature is too short")
    return NoteSignature(check_key_name(name), data[:_KEY_ID_BYTES], data[_KEY_ID_BYTES:])


def _decode_base64(text: str, what: str) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        raise InvalidInput(f"{what} is not base64") from None
    if b64encode(data).decode() != text:
        raise InvalidInput(f"{what} is not in the one form that base64 has for it")
    return data


# --- keys --------------------------------------------------------------------------------------


def check_key_name(name: str) -> str:
    """The name, if a key can have it. Raises InvalidInput."""
    if not name or "+" in name or any(c.isspace() or not c.isprintable() for c in name):
        raise InvalidInput("a key's name is not empty and has no space, plus or control character")
    return name


def key_id(name: str, public_key: bytes) -> bytes:
    """4 bytes by which a signature says which key made it."""
    return sha256(name.encode() + b"\n" + ED25519 + public_key).digest()[:_KEY_ID_BYTES]


@attrs.frozen
class VerifierKey:
    """A public key and its name: what somebody needs who checks signatures."""

    name: str
    public_key: bytes = attrs.field(repr=False)

    @property
    def id(self) -> bytes:
        """4 bytes; see key_id."""
        return key_id(self.name, self.public_key)

    @classmethod
    def parse(cls, text: str) -> "VerifierKey":
        """Raises InvalidInput unless `text` is `name+id+key`, with the id that belongs to it."""
        text = text.strip()
        if text.startswith(_PRIVATE):
            raise InvalidInput("this is a private key; give the public one, beside it in FILE.pub")
        name, given_id, public_key = _parse_key(text)
        key = cls(name, public_key)
        if key.id.hex() != given_id:
            raise InvalidInput("the key's id doesn't belong to its name and bytes: it was changed")
        return key

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{b64encode(ED25519 + self.public_key).decode()}"


@attrs.frozen(repr=False)
class SigningKey:
    """A private key (32 bytes of seed) with its name and id."""

    name: str
    id: bytes
    seed: bytes

    @classmethod
    def parse(cls, text: str) -> "SigningKey":
        """Raises InvalidInput unless `text` is `PRIVATE+KEY+name+id+seed`."""
        text = text.strip()
        if not text.startswith(_PRIVATE):
            raise InvalidInput("this is no private key; make one with `turnfold audit keygen FILE`")
        name, given_id, seed = _parse_key(text.removeprefix(_PRIVATE))
        return cls(name, bytes.fromhex(given_id), seed)

    def encode(self) -> str:
        """The key as it is kept: whoever has this text can sign."""
        return f"{_PRIVATE}{self.name}+{self.id.hex()}+{b64encode(ED25519 + self.seed).decode()}"

    def __repr__(self) -> str:
        return f"SigningKey({self.id.hex()})"


def _parse_key(text: str) -> tuple[str, str, bytes]:
    name, _plus, rest = text.partition("+")
    given_id, plus, encoded = rest.partition("+")
    if not plus or not re.fullmatch(r"[0-9a-f]{8}", given_id, re.ASCII):
        raise InvalidInput("a key is name+id+base64, with 8 hexadecimal digits of id")
    data = _decode_base64(encoded, "the key")
    if data[:1] != ED25519 or len(data) != 1 + KEY_BYTES:
        raise InvalidInput("the key is not an Ed25519 key; no other kind is used here")
    return check_key_name(name), given_id, data[1:]


# --- checkpoints -------------------------------------------------------------------------------


@attrs.frozen
class Checkpoint:
    """The head of a store's chain at a position.

    `origin` names the log for readers of many logs; `first_kept` is where it began when this was
    written.
    """

    origin: str
    position: int
    head: bytes = attrs.field(repr=False)
    store_id: bytes = attrs.field(repr=False)
    first_kept: int = 1

    def encode(self) -> str:
        """The text of a note."""
        return (
            f"{self.origin}\n{self.position}\n{b64encode(self.head).decode()}\n"
            f"store-id {self.store_id.hex()}\nfirst-kept {self.first_kept}\n"
        )

    @classmethod
    def decode(cls, text: str) -> "Checkpoint":
        """Raises InvalidInput unless `text` is a checkpoint of a Turnfold log.

        Extension lines that are not known are passed over.
        """
        lines = text.removesuffix("\n").split("\n")
        if len(lines) < 3 or not all(lines):
            raise InvalidInput("a checkpoint is origin, size, hash and further lines, none empty")
        origin, size, encoded, *further = lines
        if not _NUMBER.fullmatch(size):
            raise InvalidInput("a checkpoint's second line is a number without leading zeros")
        head = _decode_base64(encoded, "a checkpoint's hash")
        stores = [match[1] for line in further if (match := _STORE_LINE.fullmatch(line))]
        kept = [int(match[1]) for line in further if (match := _KEPT_LINE.fullmatch(line))]
        if len(head) != 32 or len(stores) != 1 or len(kept) != 1:
            raise InvalidInput(
                "the checkpoint is of no Turnfold log: it has a hash of 32 bytes and one line each"
                " with store-id and first-kept"
            )
        return cls(origin, int(size), head, bytes.fromhex(stores[0]), kept[0])
