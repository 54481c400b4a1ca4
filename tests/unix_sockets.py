"""Addresses of Unix sockets, which have room for 107 bytes, in directories with longer names."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def address_of(path: Path) -> Generator[str]:
    """The socket's path by way of its open directory."""
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{path.name}"
    finally:
        os.close(descriptor)
