"""What may be left of an avatar in a store's files, whatever their structure."""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from turnfold.events.errors import StorageError
from turnfold.events.log.disk import Disk
from turnfold.events.log.quarantine import QUARANTINE_DIRECTORY

_SLICE_BYTES: Final = 1 << 20


def traces_of(disk: Disk, avatar: UUID) -> Iterator[tuple[str, str]]:
    """(path, what) for each file that names the avatar, and for each one in quarantine."""
    names = [str(avatar).encode(), avatar.hex.encode()]
    if avatar.int:  # of the grid's null key they are what an erasure leaves
        names.append(avatar.bytes)
    for path in _all_files(disk):
        if _holds(disk, path, names):
            yield path, "the avatar's UUID stands in a file"
        if path.startswith(f"{QUARANTINE_DIRECTORY}/"):
            yield path, "a file in quarantine may hold anything"


def _all_files(disk: Disk) -> Iterator[str]:
    for name in disk.list(""):
        try:
            if not disk.status(name).is_directory:
                yield name
                continue
            yield from (f"{name}/{inner}" for inner in disk.list(name))
        except (FileNotFoundError, StorageError):
            continue  # gone meanwhile, or a socket: nothing is stored in it


def _holds(disk: Disk, path: str, needles: Sequence[bytes]) -> bool:
    """Whether one of these byte strings stands in a file."""
    try:
        file = disk.open(path)
    except (FileNotFoundError, StorageError):
        return False
    overlap = max(len(needle) for needle in needles) - 1
    try:
        offset = 0
        while data := file.read(offset, _SLICE_BYTES + overlap):
            if any(needle in data for needle in needles):
                return True
            offset += _SLICE_BYTES
    finally:
        file.close()
    return False
