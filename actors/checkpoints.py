"""Durable named checkpoints: how far each named subscriber has come.

A checkpoint is written only after everything up to it was handled, so that a subscriber sees each
position at least once, also across restarts. It never passes the durable position. The name
itself is nowhere on disk: a checkpoint is kept under the name's tag, a digest keyed with the
store's secret.
"""

import threading
from hashlib import blake2b
from typing import Final, Protocol

from turnfold.events.errors import CorruptData, InvalidInput
from turnfold.events.limits import NAME_BYTES_MAX

NAME_TAG_BYTES: Final = 16
NO_NAME: Final = b""  # what the tag of a subscriber without a name is made from


class CheckpointStorage(Protocol):
    """Where checkpoints lie. Called from the subscriptions' threads, by one at a time."""

    def load_checkpoint(self, name_tag: bytes) -> int | None:
        """The position saved under the tag, or None."""
        ...

    def save_checkpoint(self, name_tag: bytes, position: int) -> None:
        """Replace the position saved under the tag, whole or not at all.

        Raises StorageError or OSError if it can't be written; the old one is still there then.
        """
        ...


class MemoryCheckpoints:
    """Checkpoints that last as long as the process: for a store in memory."""

    __slots__ = ("_positions",)

    def __init__(self) -> None:
        self._positions: dict[bytes, int] = {}

    def load_checkpoint(self, name_tag: bytes) -> int | None:
        """The position saved under the tag, or None."""
        return self._positions.get(name_tag)

    def save_checkpoint(self, name_tag: bytes, position: int) -> None:
        """Replace the position saved under the tag."""
        self._positions[name_tag] = position


class Checkpoints:
    """Checkpoints by name tag, one access at a time. Any thread."""

    __slots__ = ("_lock", "_secret", "_storage")

    def __init__(self, storage: CheckpointStorage, secret: bytes) -> None:
        self._storage = storage
        self._secret = secret
        self._lock = threading.Lock()

    def tag(self, name: str | None) -> bytes:
        """The name's tag, 16 bytes; all subscribers without a name share one.

        Raises InvalidInput if the name is not a text of 1 to 128 UTF-8 bytes.
        """
        raw = NO_NAME if name is None else _name_bytes(name)
        return blake2b(
            raw, digest_size=NAME_TAG_BYTES, key=self._secret, person=b"tf-subscriber"
        ).digest()

    def load(self, name_tag: bytes, *, durable: int) -> int | None:
        """The checkpoint, or None. Raises CorruptData if it is beyond `durable`."""
        with self._lock:
            position = self._storage.load_checkpoint(name_tag)
        if position is not None and not 0 <= position <= durable:
            raise CorruptData(
                f"the subscriber's checkpoint is at position {position}, but the store ends at"
                f" {durable}: it belongs to another log; remove checkpoints/{name_tag.hex()} or"
                " subscribe under another name"
            )
        return position

    def save(self, name_tag: bytes, position: int) -> None:
        """Write the checkpoint. Raises StorageError or OSError if that fails."""
        with self._lock:
            self._storage.save_checkpoint(name_tag, position)


def _name_bytes(name: object) -> bytes:
    if isinstance(name, str):
        raw = name.encode("utf-8", "surrogatepass")
        if 0 < len(raw) <= NAME_BYTES_MAX:
            return raw
    raise InvalidInput(
        f"a subscriber's name must be a text of 1 to {NAME_BYTES_MAX} bytes; it names its"
        " checkpoint"
    )
