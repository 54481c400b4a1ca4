"""The store's directory: what belongs there, its modes, its key, and whether it is a store at all.

Below `storage_path/conversations`: LOCK, pseudonym.key, digest.keys, log/, generations/,
quarantine/, checkpoints/, control.sock, reserve. Other files are left alone.
"""

from typing import Final

import attrs

from turnfold.events.errors import StorageError, StorePathError
from turnfold.events.log.checkpoint import CHECKPOINT_DIRECTORY
from turnfold.events.log.disk import DIRECTORY_MODE, FILE_MODE, Disk, read_whole
from turnfold.events.log.generation_file import GENERATION_DIRECTORY
from turnfold.events.log.generations import discard
from turnfold.events.log.quarantine import QUARANTINE_DIRECTORY
from turnfold.events.log.reserve import RESERVE_PATH
from turnfold.events.log.segment import LOG_DIRECTORY
from turnfold.events.log.survey import list_entries

KEY_PATH: Final = "pseudonym.key"
DIGEST_KEYS_PATH: Final = "digest.keys"  # of session-state digests; see actors/digest_keys.py
SECRET_BYTES: Final = 32
DIRECTORIES: Final = (
    CHECKPOINT_DIRECTORY,
    GENERATION_DIRECTORY,
    LOG_DIRECTORY,
    QUARANTINE_DIRECTORY,
)
FILES: Final = ("LOCK", KEY_PATH, DIGEST_KEYS_PATH, RESERVE_PATH)
OTHERS: Final = 0o077  # what group and others must not have
TEMPORARY: Final = ".tmp"


@attrs.frozen
class Modes:
    """How many paths were open to others and are no more; `verified`: none is still."""

    tightened: int
    verified: bool


def check_directory(disk: Disk) -> None:
    """Refuse a directory that is no store, or a store of a newer format. Touches nothing.

    An empty directory may become a store; an export may not. Raises StorePathError,
    UnsupportedFormat.
    """
    names = disk.list("")
    ours = {*DIRECTORIES, *FILES}
    if names and not ours & set(names):
        raise StorePathError(
            f"{disk.name} holds other files and no store; choose an empty directory"
        )
    if any(entry.header is not None and entry.header.exported for entry in list_entries(disk)):
        raise StorePathError(
            f"{disk.name} is an export: it can be verified and read, and is no store to write to"
        )


def read_key(disk: Disk) -> bytes | None:
    """The pseudonym key, or None if it is missing or has the wrong size."""
    try:
        key = read_whole(disk, KEY_PATH, SECRET_BYTES)
    except (FileNotFoundError, StorageError):
        return None
    return key if len(key) == SECRET_BYTES else None


def write_key(disk: Disk, secret: bytes) -> None:
    """Keep a new store's key durably. Raises DiskFull, StorageError."""
    temporary = f"{KEY_PATH}{TEMPORARY}"
    discard(disk, temporary)
    file = disk.create(temporary)
    try:
        file.write(0, secret)
        file.sync()
    finally:
        file.close()
    disk.rename(temporary, KEY_PATH)
    disk.sync_directory("")


def make_directories(disk: Disk) -> None:
    """Make what is missing, durably. Raises DiskFull, StorageError."""
    for directory in DIRECTORIES:
        disk.make_directory(directory)
    disk.sync_directory("")


def remove_temporary(disk: Disk) -> None:
    """Zero and remove what an interrupted generation or checkpoint left."""
    for directory in ("", CHECKPOINT_DIRECTORY, GENERATION_DIRECTORY):
        for name in _names(disk, directory):
            if name.endswith(TEMPORARY):
                discard(disk, f"{directory}/{name}" if directory else name)


def own_paths(disk: Disk) -> list[str]:
    """Everything of ours that is there, "" for the directory itself first."""
    names = _names(disk, "")
    paths = ["", *(name for name in (*FILES, *DIRECTORIES) if name in names)]
    return paths + [f"{inner}/{name}" for inner in DIRECTORIES for name in _names(disk, inner)]


def tighten(disk: Disk) -> Modes:
    """Take from group and others what they may do with our files.

    Raises StorageError if a mode can't be changed: somebody else owns it.
    """
    tightened, verified = 0, True
    for path in own_paths(disk):
        try:
            status = disk.status(path)
        except (FileNotFoundError, StorageError):  # a link is nothing to tighten
            continue
        if not status.mode & OTHERS:
            continue
        disk.set_mode(path, DIRECTORY_MODE if status.is_directory else FILE_MODE)
        if disk.status(path).mode & OTHERS:  # a file system without modes takes the call
            verified = False
        else:
            tightened += 1
    return Modes(tightened, verified)


def _names(disk: Disk, directory: str) -> list[str]:
    try:
        return disk.list(directory)
    except (FileNotFoundError, StorageError):
        return []
