"""Checkpoints: how far each named subscriber has got, one small file each.

    checkpoints/<32 hex digits of the name's tag>    magic 8s | position u64 | CRC32C u32

Replaced by rename, so a reader finds the old one or the new one.
"""

import contextlib
import re
from collections.abc import Iterator
from struct import Struct
from typing import Final

from turnfold.events.errors import StorageError
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.disk import Disk, read_whole
from turnfold.events.log.frame import POSITION_MAX

CHECKPOINT_DIRECTORY: Final = "checkpoints"
_MAGIC: Final = b"TURNCHKP"
_BODY: Final = Struct("<8sQ")
_CRC: Final = Struct("<I")
_BYTES: Final = _BODY.size + _CRC.size
_NAME: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)


def _path(name_tag: bytes) -> str:
    if len(name_tag) != 16:
        raise ValueError(f"a name's tag has 16 bytes, not {len(name_tag)}")
    return f"{CHECKPOINT_DIRECTORY}/{name_tag.hex()}"


def load_checkpoint(disk: Disk, name_tag: bytes) -> int | None:
    """The position kept under this tag; None if there is none or its checksum doesn't hold."""
    return _load(disk, _path(name_tag))


def _load(disk: Disk, path: str) -> int | None:
    try:
        data = read_whole(disk, path, _BYTES)
    except (FileNotFoundError, StorageError):
        return None
    if len(data) != _BYTES:
        return None
    magic, position = _BODY.unpack_from(data)
    (crc,) = _CRC.unpack_from(data, _BODY.size)
    intact = magic == _MAGIC and crc == crc32c(data[: _BODY.size])
    return position if intact and position <= POSITION_MAX else None


def save_checkpoint(disk: Disk, name_tag: bytes, position: int) -> None:
    """Keep a position durably. Raises DiskFull or StorageError; the old one stays then."""
    path = _path(name_tag)
    temporary = f"{path}.tmp"
    with contextlib.suppress(FileNotFoundError):  # the last one was renamed into place
        disk.unlink(temporary)
    body = _BODY.pack(_MAGIC, position)
    file = disk.create(temporary)
    try:
        file.write(0, body + _CRC.pack(crc32c(body)))
        file.sync()
    finally:
        file.close()
    disk.rename(temporary, path)
    disk.sync_directory(CHECKPOINT_DIRECTORY)


def all_checkpoints(disk: Disk) -> Iterator[int]:
    """Every position that a checkpoint names: evidence that it was durable."""
    try:
        names = disk.list(CHECKPOINT_DIRECTORY)
    except FileNotFoundError:
        return
    for name in names:
        if _NAME.fullmatch(name):
            position = _load(disk, f"{CHECKPOINT_DIRECTORY}/{name}")
            if position is not None:
                yield position
