"""Looking for what somebody said in the raw bytes of every file below a directory."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

PIECE_BYTES: Final = 12


def pieces(texts: Iterable[str]) -> set[bytes]:
    """Every run of 12 bytes in these texts."""
    found: set[bytes] = set()
    for text in texts:
        data = text.encode()
        found.update(data[at : at + PIECE_BYTES] for at in range(len(data) - PIECE_BYTES + 1))
    return found


def files_below(directory: Path) -> Iterator[Path]:
    """Every plain file."""
    return (path for path in sorted(directory.rglob("*")) if path.is_file())


def scan(directory: Path, wanted: set[bytes]) -> dict[str, int]:
    """How many of the wanted pieces each file has, by its path below the directory."""
    found: dict[str, int] = {}
    for path in files_below(directory):
        data = path.read_bytes()
        here = {data[at : at + PIECE_BYTES] for at in range(len(data) - PIECE_BYTES + 1)} & wanted
        if here:
            found[path.relative_to(directory).as_posix()] = len(here)
    return found
