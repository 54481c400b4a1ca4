"""Files of a simulated store, and what can happen to one of them while the store is closed."""

from collections.abc import Callable
from typing import Final

from simulation.rig import Rig

Change = Callable[[Rig, str], None]

CHANGES: Final[dict[str, Change]] = {
    "missing": lambda rig, path: rig.disk.remove(path),
    "empty": lambda rig, path: rig.disk.put(path, b""),
    "zeroed": lambda rig, path: rig.disk.put(path, bytes(len(rig.disk.content(path)))),
    "text": lambda rig, path: rig.disk.put(path, b"something else altogether\n" * 100),
    "link": lambda rig, path: rig.disk.put_link(path),
}


def in_directory(rig: Rig, directory: str) -> list[str]:
    """Paths, oldest first."""
    return [path for path in rig.disk.paths() if path.startswith(directory + "/")]


def segments(rig: Rig) -> list[str]:
    """Oldest first."""
    return in_directory(rig, "log")
