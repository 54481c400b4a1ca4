"""Small files beside a store: keys and checkpoints, read whole and never written over."""

import os
from pathlib import Path


def public_path(file: Path) -> Path:
    """Where the public half of a private key lies."""
    return file.with_name(file.name + ".pub")


def write_new(file: Path, text: str, *, mode: int) -> None:
    """A new file with this mode from its creation. Raises InvalidInput if there is one."""
    from turnfold.events.errors import InvalidInput, StorageError

    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise InvalidInput(f"{file} is there already; it is not replaced") from None
    except OSError as error:
        raise StorageError(f"{file} can't be made: {error.strerror}") from error
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(text.encode())


def read_text(file: Path) -> str:
    """A small text file. Raises InvalidInput."""
    from turnfold.events.errors import InvalidInput

    try:
        return read_bytes(file).decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is not UTF-8 text") from None


def read_bytes(file: Path) -> bytes:
    """A small file, cut behind what a note may have. Raises InvalidInput."""
    from turnfold.events.audit_note import NOTE_BYTES_MAX
    from turnfold.events.errors import InvalidInput

    try:
        with file.open("rb") as opened:
            return opened.read(NOTE_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidInput(f"{file} can't be read: {error.strerror}") from error
