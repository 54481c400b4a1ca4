"""Quarantine: bytes that can't be trusted, set aside for an operator for a short while.

They may hold text that must be erased, so they live no longer than `erase_after_s`, every
deletion empties the quarantine, and what doesn't fit is never copied: size and digest are
reported, and that report (a Quarantined event) stays. A file's name is
`<reason>-<around>-<first 16 hex digits of the digest>`.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

import attrs

from turnfold.events.errors import DiskFull, StorageError, StorePathError
from turnfold.events.log.backend import QuarantinedFile
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.generations import discard
from turnfold.events.reasons import Reason

QUARANTINE_DIRECTORY: Final = "quarantine"
DIGEST_BYTES: Final = 32

_SLICE_BYTES: Final = 1 << 18


@attrs.frozen
class Finding:
    """What is reported of bytes that were set aside; `message` says what was wrong with them.

    `what` and `around` are those of event.Quarantined.
    """

    reason: Reason
    what: str
    around: int
    size: int
    digest: bytes = attrs.field(repr=False)
    kept: bool
    message: str = ""


class Quarantine:
    """The quarantine directory of one store, never larger than `bytes_max`."""

    def __init__(self, disk: Disk, bytes_max: int) -> None:
        self._disk = disk
        self._bytes_max = bytes_max

    def files(self) -> list[QuarantinedFile]:
        """What lies there."""
        found: list[QuarantinedFile] = []
        for path in self._paths():
            try:
                size = self._disk.status(path).size
            except StorePathError:  # a link somebody put there: it is listed, and can be removed
                size = 0
            found.append(QuarantinedFile(path.partition("/")[2], size))
        return found

    def move(self, path: str, reason: Reason, *, what: str, around: int, message: str) -> Finding:
        """Take a whole file out of use: renamed into the quarantine, or zeroed and removed.

        Raises StorageError if it can be neither.
        """
        try:
            size, digest = self._measure(path)
        except StorePathError:  # a link, a FIFO, a directory: there are no bytes to keep
            size, digest = 0, bytes(DIGEST_BYTES)
        finding = Finding(reason, what, around, size, digest, 0 < size <= self._room(), message)
        if finding.kept or self._is_directory(path):
            self._disk.rename(path, self._path(finding))
            self._disk.sync_directory(QUARANTINE_DIRECTORY)
        else:
            self._remove(path)
        self._disk.sync_directory(path.rpartition("/")[0])
        return finding

    def copy(self, file: File, offset: int, end: int, *, around: int, message: str) -> Finding:
        """Keep a copy of bytes of a segment, if it fits and the disk has room.

        The file is left as it is.
        """
        hashed = blake2b(digest_size=DIGEST_BYTES)
        size = 0
        for data in _slices(file, offset, end):
            hashed.update(data)
            size += len(data)
        reason = Reason.QUARANTINED_CORRUPT
        fits = 0 < size <= self._room()
        finding = Finding(reason, "segment", around, size, hashed.digest(), fits, message)
        if fits and not self._write_copy(self._path(finding), file, offset, end):
            finding = attrs.evolve(finding, kept=False)
        return finding

    def empty(self) -> int:
        """Remove everything, durably; how many files it was. Raises StorageError.

        A directory that somebody put among the store's files stays: what is in it isn't the
        store's, and `verify --erased` looks into it.
        """
        paths = [path for path in self._paths() if not self._is_directory(path)]
        for path in paths:
            self._remove(path)
        if paths:
            self._disk.sync_directory(QUARANTINE_DIRECTORY)
        return len(paths)

    def _write_copy(self, path: str, file: File, offset: int, end: int) -> bool:
        discard(self._disk, path)
        try:
            copy = self._disk.create(path)
            try:
                written = 0
                for data in _slices(file, offset, end):
                    copy.write(written, data)
                    written += len(data)
                copy.sync()
            finally:
                copy.close()
            self._disk.sync_directory(QUARANTINE_DIRECTORY)
        except DiskFull:
            discard(self._disk, path)
            return False
        return True

    def _measure(self, path: str) -> tuple[int, bytes]:
        hashed = blake2b(digest_size=DIGEST_BYTES)
        size = 0
        file = self._disk.open(path)
        try:
            for data in _slices(file, 0, file.status().size):
                hashed.update(data)
                size += len(data)
        finally:
            file.close()
        return size, hashed.digest()

    def _remove(self, path: str) -> None:
        """Zero and unlink a file, or unlink what can't be opened as one."""
        try:
            discard(self._disk, path)
        except StorageError:
            self._disk.unlink(path)

    def _is_directory(self, path: str) -> bool:
        try:
            return self._disk.status(path).is_directory
        except StorageError:
            return False

    def _room(self) -> int:
        return self._bytes_max - sum(file.size for file in self.files())

    def _path(self, finding: Finding) -> str:
        why = finding.reason.value.partition(".")[2]
        name = f"{why}-{finding.around:020}-{finding.digest[:8].hex()}"
        return f"{QUARANTINE_DIRECTORY}/{name}"

    def _paths(self) -> list[str]:
        try:
            names = self._disk.list(QUARANTINE_DIRECTORY)
        except FileNotFoundError:
            return []
        return [f"{QUARANTINE_DIRECTORY}/{name}" for name in names]


def _slices(file: File, offset: int, end: int) -> Iterator[bytes]:
    while offset < end and (data := file.read(offset, min(_SLICE_BYTES, end - offset))):
        yield data
        offset += len(data)
