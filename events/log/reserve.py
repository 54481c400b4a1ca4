"""Room set aside for bookkeeping: deletions, expiry and erasures must be recorded on a full disk.

A preallocated file that gives its blocks back a piece at a time; it is filled up again when there
is room. On a copy-on-write file system giving back may free nothing (docs/reference/log-format.md).
"""

from typing import Final

from turnfold.events.errors import StorageError
from turnfold.events.log.disk import Disk

RESERVE_PATH: Final = "reserve"
RESERVE_BYTES: Final = 1 << 20  # about 4,000 deletions
PIECE_BYTES: Final = 1 << 16


class Reserve:
    """The reserve of one store; owned by the log's thread. No method raises."""

    __slots__ = ("_disk", "_size")

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._size = 0
        try:
            self._size = disk.status(RESERVE_PATH).size
        except (FileNotFoundError, StorageError):
            self._size = 0
        self.refill()

    @property
    def size(self) -> int:
        """Bytes still set aside."""
        return self._size

    def spend(self) -> bool:
        """Give a piece back to the file system; false if nothing is left or it can't be done."""
        if self._size == 0:
            return False
        size = max(0, self._size - PIECE_BYTES)
        try:
            file = self._disk.open(RESERVE_PATH, write=True)
            try:
                file.truncate(size)
                file.sync()  # some file systems free blocks only then
            finally:
                file.close()
        except (FileNotFoundError, StorageError):
            self._size = 0
            return False
        self._size = size
        return True

    def refill(self) -> None:
        """Set the whole reserve aside again, if there is room."""
        if self._size >= RESERVE_BYTES:
            return
        try:
            try:
                file = self._disk.open(RESERVE_PATH, write=True)
            except FileNotFoundError:
                file = self._disk.create(RESERVE_PATH)
            try:
                file.allocate(RESERVE_BYTES)
                self._size = file.status().size
                file.sync()
                self._disk.sync_directory("")
            finally:
                file.close()
        except StorageError:
            return  # no room: what was set aside before still is
