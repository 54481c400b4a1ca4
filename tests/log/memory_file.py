"""A file in memory, for tests that need bytes at offsets and no disk."""

from turnfold.events.log.disk import FileStatus


class MemoryFile:
    """`File` over a bytearray, which tests may change directly."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)
        self.read_bytes = 0

    def read(self, offset: int, size: int) -> bytes:
        found = bytes(self.data[offset : offset + size])
        self.read_bytes += len(found)
        return found

    def write(self, offset: int, data: bytes) -> None:
        self.data[offset : offset + len(data)] = data

    def status(self) -> FileStatus:
        return FileStatus(len(self.data), 0o600, 1, is_directory=False)

    def truncate(self, size: int) -> None:
        del self.data[size:]
        self.data.extend(bytes(size - len(self.data)))

    def allocate(self, size: int) -> None:
        self.truncate(max(size, len(self.data)))

    def sync(self) -> None:
        return

    def drop_cache(self) -> None:
        return

    def close(self) -> None:
        return
