"""The keys that session-state digests are made with: one file in the store's directory.

`digest.keys` (0600) is created once, when the store is first opened for writing. Rotation puts a
new key in front and keeps the retired ones with their ids, so that old digests can be verified.
It holds CBOR: [[format, schema, [[key id, secret], ... the current one first]], checksum].

A file that can't be read is never overwritten, and a missing one is not replaced in silence while
there are records made under it: conversations go on, and session state is refused until an
operator has restored the file or asked for a new key.
"""

import threading
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, Final

from turnfold.events import cbor
from turnfold.events.errors import CorruptData, InvalidStateRecord, StorageError, UnsupportedFormat
from turnfold.events.log.disk import Disk, read_whole
from turnfold.events.log.generations import discard
from turnfold.events.log.layout import DIGEST_KEYS_PATH
from turnfold.events.session_state.digest import DigestKey, DigestKeyring

SECRET_BYTES: Final = 32
KEYS_MAX: Final = 256  # the current one and retired ones
FILE_BYTES_MAX: Final = 64 * 1024
FORMAT: Final = "turnfold.digest_keys"
SCHEMA: Final = 1
_TEMPORARY: Final = f"{DIGEST_KEYS_PATH}.tmp"
_NOWHERE: Final = "restore it from a backup; or give old digests up: "

EntropySource = Callable[[int], bytes]


class DigestKeys:
    """The digest keys of one open store. Any thread.

    `problem` is why there are none; `save` keeps a ring durably.
    """

    __slots__ = ("_entropy", "_lock", "_problem", "_ring", "_save")

    def __init__(
        self,
        ring: DigestKeyring | None,
        problem: StorageError | None,
        *,
        save: Callable[[DigestKeyring], None],
        entropy: EntropySource,
    ) -> None:
        self._ring = ring
        self._problem = problem
        self._save = save
        self._entropy = entropy
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raises StorageError if there are no keys, because of their file."""
        if self._ring is None:
            problem = self._problem or StorageError(f"{DIGEST_KEYS_PATH} is missing")
            raise type(problem)(*problem.args)

    @property
    def ring(self) -> DigestKeyring:
        """All keys. Raises as `check`."""
        self.check()
        assert self._ring is not None
        return self._ring

    def rotate(self) -> str:
        """Make a new current key, keep the others; its id. Also begins anew after a lost file.

        Raises CorruptData for a file that is there and can't be read, StorageError if it can't be
        written or holds 256 keys.
        """
        with self._lock:
            if isinstance(self._problem, CorruptData | UnsupportedFormat):
                raise type(self._problem)(*self._problem.args)
            retired = () if self._ring is None else self._ring.keys
            if len(retired) >= KEYS_MAX:
                raise StorageError(
                    f"{DIGEST_KEYS_PATH} holds {KEYS_MAX} keys, the most there may be"
                )
            ring = DigestKeyring(new_key(self._entropy, len(retired) + 1), retired)
            self._save(ring)
            self._ring, self._problem = ring, None
            return ring.current.key_id


def memory_keys(entropy: EntropySource) -> DigestKeys:
    """A new key that lasts as long as the process."""
    ring = DigestKeyring(new_key(entropy, 1))
    return DigestKeys(ring, None, save=lambda _ring: None, entropy=entropy)


def file_keys(
    disk: Disk, entropy: EntropySource, *, in_use: bool, read_only: bool = False
) -> DigestKeys:
    """The keys in the store's directory; the file is created if there is none.

    `in_use`: there are records made under the keys, so a missing file is a problem. A store that
    is only read gets a key of the moment instead.
    """

    def save(ring: DigestKeyring) -> None:
        if read_only:
            raise StorageError(
                "the store is open for reading only: its digest keys stay as they are"
            )
        write_ring(disk, ring)

    ring: DigestKeyring | None = None
    problem: StorageError | None = None
    try:
        ring = read_ring(disk)
        if ring is None and in_use and not read_only:
            problem = StorageError(
                f"{DIGEST_KEYS_PATH} is missing in {disk.name}, and session-state records were made"
                f" under its keys: {_NOWHERE}`turnfold state rotate-key`"
            )
        elif ring is None:
            ring = DigestKeyring(new_key(entropy, 1))
            if not read_only:
                save(ring)
    except StorageError as error:  # conversations go on without
        ring, problem = None, error
    return DigestKeys(ring, problem, save=save, entropy=entropy)


def new_key(entropy: EntropySource, number: int) -> DigestKey:
    """A random key. Its id counts, and tells the keys of two stores apart."""
    return DigestKey(f"k{number}-{entropy(4).hex()}", entropy(SECRET_BYTES))


def read_ring(disk: Disk) -> DigestKeyring | None:
    """The keys in the file, None if there is none. Touches nothing.

    Raises CorruptData, UnsupportedFormat, or StorageError if it can't be read.
    """
    try:
        data = read_whole(disk, DIGEST_KEYS_PATH, FILE_BYTES_MAX)
    except FileNotFoundError:
        return None
    try:
        body, checksum = cbor.decode(data)
        if checksum != _checksum(body):
            raise CorruptData("the checksum is wrong")
        name, schema, pairs = body
        if (name, schema) != (FORMAT, SCHEMA):
            raise UnsupportedFormat(
                f"{DIGEST_KEYS_PATH} in {disk.name} was written by another version of Turnfold; use"
                " that version"
            )
        keys = [DigestKey(key_id, secret) for key_id, secret in pairs]
        return DigestKeyring(keys[0], tuple(keys[1:]))
    except (CorruptData, InvalidStateRecord, TypeError, ValueError, IndexError):
        raise CorruptData(
            f"{DIGEST_KEYS_PATH} in {disk.name} is damaged, and nothing was changed: {_NOWHERE}"
            "remove it, then `turnfold state rotate-key`"
        ) from None


def write_ring(disk: Disk, ring: DigestKeyring) -> None:
    """Replace the file in one step, durably. Raises DiskFull, StorageError."""
    body: list[Any] = [FORMAT, SCHEMA, [[key.key_id, key.secret] for key in ring.keys]]
    discard(disk, _TEMPORARY)
    file = disk.create(_TEMPORARY)
    try:
        file.write(0, cbor.encode([body, _checksum(body)]))
        file.sync()
    finally:
        file.close()
    disk.rename(_TEMPORARY, DIGEST_KEYS_PATH)
    disk.sync_directory("")


def _checksum(body: object) -> bytes:
    return blake2b(cbor.encode(body), digest_size=32, person=b"tf-digest-keys").digest()
