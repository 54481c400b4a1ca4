"""Doctor's look at the directory: what is foreign, missing, a link, or open to others."""

from typing import Final

from turnfold.events.errors import StorageError
from turnfold.events.keys import key_check
from turnfold.events.log.advice import Advice
from turnfold.events.log.checkpoint import CHECKPOINT_DIRECTORY, all_checkpoints
from turnfold.events.log.disk import Disk
from turnfold.events.log.generation_file import GENERATION_DIRECTORY, generation_position
from turnfold.events.log.inspection import Inspection
from turnfold.events.log.layout import (
    DIGEST_KEYS_PATH,
    DIRECTORIES,
    FILES,
    KEY_PATH,
    OTHERS,
    TEMPORARY,
    own_paths,
    read_key,
)
from turnfold.events.log.reserve import RESERVE_BYTES, RESERVE_PATH
from turnfold.events.log.segment import LOG_DIRECTORY, segment_base

SOCKET_NAME: Final = "control.sock"
_PUT_BACK: Final = "put the right one back from a backup; until then the store is only read"


def check_files(disk: Disk, *, is_owned: bool) -> list[Advice]:
    """What is wrong with names, kinds and modes. Raises StorageError, FileNotFoundError."""
    advice = _foreign(disk, is_owned=is_owned)
    names = disk.list("")
    if RESERVE_PATH not in names or disk.status(RESERVE_PATH).size < RESERVE_BYTES:
        what = "the room set aside for deletions on a full disk is not all there"
        advice.append(Advice("file", what, "free space: the store fills it up", RESERVE_PATH))
    missing = [name for name in DIRECTORIES if name not in names]
    advice += [Advice("file", "it is missing", "nothing: the opening makes it", n) for n in missing]
    for path in own_paths(disk):
        try:
            status = disk.status(path)
        except FileNotFoundError:
            continue
        except StorageError as error:
            todo = "find out who put it there, and remove it"
            advice.append(Advice("file", str(error), todo, path, urgent=True))
            continue
        shown = path or "."
        if status.mode & OTHERS:
            what = f"others may use it (mode {status.mode:04o})"
            todo = "open the store: it takes that away, or says that the file system can't"
            advice.append(Advice("mode", what, todo, shown, urgent=True))
        if status.links > 1 and not status.is_directory:
            what = f"it has {status.links} names: what is erased here is erased there, damage too"
            advice.append(Advice("file", what, "make copies with cp, not with links", shown))
    return advice


def foreign_paths(disk: Disk) -> list[str]:
    """What lies in the store's directories and isn't the store's, unfinished writes included."""
    known = {*DIRECTORIES, *FILES, SOCKET_NAME}
    top = disk.list("")
    return [name for name in top if name not in known] + [
        f"{directory}/{name}"
        for directory in (LOG_DIRECTORY, GENERATION_DIRECTORY)
        if directory in top
        for name in disk.list(directory)
        if segment_base(name) is None and generation_position(name) is None
    ]


def _foreign(disk: Disk, *, is_owned: bool) -> list[Advice]:
    advice: list[Advice] = []
    for path in foreign_paths(disk):
        if not path.endswith(TEMPORARY):
            what, todo = "it is no file of the store", "nothing: it is left alone; move it away"
            advice.append(Advice("file", what, todo, path))
        elif not is_owned:
            what, todo = "a write ended before it was done", "nothing: the opening removes it"
            advice.append(Advice("file", what, todo, path))
    if CHECKPOINT_DIRECTORY in disk.list(""):
        named = [n for n in disk.list(CHECKPOINT_DIRECTORY) if not n.endswith(TEMPORARY)]
        lost = len(named) - sum(1 for _ in all_checkpoints(disk))
        if lost > 0:
            what = f"{lost} of {len(named)} don't hold: their subscribers read from the start"
            todo = "nothing: the next position is kept in a new one; check the disk"
            advice.append(Advice("file", what, todo, CHECKPOINT_DIRECTORY, urgent=True))
    return advice


def check_key(disk: Disk, found: Inspection) -> list[Advice]:
    """Whether the store's keys are there and its own."""
    advice: list[Advice] = []
    secret = read_key(disk)
    checks = [
        entry.header.key_check
        for entry in found.entries
        if entry.header is not None and entry.is_of(found.store_id)
    ]
    if secret is None:
        what = "it is missing or has the wrong size: no avatar can be recognised"
        advice.append(Advice("key", what, _PUT_BACK, KEY_PATH, urgent=True))
    elif checks and key_check(secret) != checks[-1]:
        advice.append(Advice("key", "it is another store's", _PUT_BACK, KEY_PATH, urgent=True))
    if found.fold.state.records and DIGEST_KEYS_PATH not in disk.list(""):
        what = "it is missing: digests of session-state records can't be verified"
        todo = "put it back from a backup, or give old digests up: `turnfold state rotate-key`"
        advice.append(Advice("key", what, todo, DIGEST_KEYS_PATH, urgent=True))
    return advice
