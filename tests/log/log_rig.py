"""A log on a real directory whose disk can be made to fail, and frames to put into it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import attrs

from turnfold.events.commands import Instant
from turnfold.events.errors import DiskFull, StorageError
from turnfold.events.event import Gap
from turnfold.events.log.backend import FrameParts, ReadFrame
from turnfold.events.log.chain import genesis
from turnfold.events.log.disk import File, FileStatus
from turnfold.events.log.file_log import SEGMENT_BYTES, FileLog
from turnfold.events.log.frame import encode_frame
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.reader import LogReader

STORE_ID = b"S" * 16
SECRET = b"k" * 32
GENESIS = genesis(STORE_ID)
NOW = Instant(1_700_000_000_000_000_000, 5)


def parts(first: int, count: int = 1, payload_bytes: int = 40) -> FrameParts:
    """A frame whose bytes follow from its position, so that a mix-up shows."""
    chained = b"chained part of position %d" % first
    return FrameParts(
        first, count, chained, (b"payload of %d;" % first * payload_bytes)[:payload_bytes]
    )


def batch(first: int, frames: int, payload_bytes: int = 40) -> list[FrameParts]:
    """Frames with one event each."""
    return [parts(first + index, payload_bytes=payload_bytes) for index in range(frames)]


CHANGES = frozenset({"write", "truncate", "sync", "create", "rename", "sync_directory"})


def append(log: FileLog, frames: int = 1, *, bookkeeping: bool = False) -> None:
    """Append and sync frames of one event each."""
    log.append(batch(log.position + 1, frames), expected=log.position, bookkeeping=bookkeeping)
    log.sync()


def raw(first: int, synced_through: int, epoch: int = 1) -> bytes:
    """A frame's bytes as an earlier epoch left them."""
    p = parts(first)
    return encode_frame(
        first, p.count, p.chained, p.payload, synced_through=synced_through, epoch=epoch
    )


class Owner:
    """Ownership that a test can take away."""

    def __init__(self) -> None:
        self.lost = False
        self.released = False

    def check(self) -> None:
        if self.lost:
            raise StorageError("no longer the owner")

    def release(self) -> None:
        self.released = True


@attrs.define
class Faults:
    """What a FaultyDisk does. `fail_at` fails the n-th call (from 1) of those counted.

    `room_bytes` is what the file system can still take; a write that doesn't fit is cut short.
    `keep_bytes` of a failing write reach the file.
    """

    room_bytes: int | None = None
    fail_at: int | None = None
    keep_bytes: int = 0
    counted: frozenset[str] = CHANGES
    calls: list[str] = attrs.Factory(list[str])
    before_truncate: Callable[[], None] = lambda: None

    def count(self, call: str) -> None:
        if call not in self.counted:
            return
        self.calls.append(call)
        if len(self.calls) == self.fail_at:
            raise StorageError(f"{call} failed as told")


class FaultyFile:
    """A file of a FaultyDisk."""

    def __init__(self, file: File, faults: Faults) -> None:
        self._file = file
        self._faults = faults

    def read(self, offset: int, size: int) -> bytes:
        return self._file.read(offset, size)

    def write(self, offset: int, data: bytes) -> None:
        faults = self._faults
        try:
            faults.count("write")
        except StorageError:
            self._file.write(offset, data[: faults.keep_bytes])
            raise
        growth = offset + len(data) - self._file.status().size
        if faults.room_bytes is not None:
            if growth > faults.room_bytes:
                fits = len(data) - growth + faults.room_bytes
                faults.room_bytes = 0
                self._file.write(offset, data[:fits])
                raise DiskFull("no space left, as told")
            faults.room_bytes -= growth
        self._file.write(offset, data)

    def status(self) -> FileStatus:
        return self._file.status()

    def truncate(self, size: int) -> None:
        self._faults.before_truncate()
        self._faults.count("truncate")
        if self._faults.room_bytes is not None:
            self._faults.room_bytes += max(0, self._file.status().size - size)
        self._file.truncate(size)

    def allocate(self, size: int) -> None:
        growth = size - self._file.status().size
        if self._faults.room_bytes is not None:
            if growth > self._faults.room_bytes:
                raise DiskFull("no space left, as told")
            self._faults.room_bytes -= growth
        self._file.allocate(size)

    def sync(self) -> None:
        self._faults.count("sync")
        self._file.sync()

    def drop_cache(self) -> None:
        self._file.drop_cache()

    def close(self) -> None:
        self._file.close()


class FaultyDisk:
    """A PosixDisk below a test's folder that fails as `faults` says."""

    def __init__(self, root: Path) -> None:
        self.disk = PosixDisk(root, create=True)
        self.faults = Faults()

    @property
    def name(self) -> str:
        return self.disk.name

    def open(self, path: str, *, write: bool = False) -> FaultyFile:
        return FaultyFile(self.disk.open(path, write=write), self.faults)

    def create(self, path: str) -> FaultyFile:
        self.faults.count("create")
        if self.faults.room_bytes == 0:
            raise DiskFull("no space left, as told")
        return FaultyFile(self.disk.create(path), self.faults)

    def make_directory(self, path: str) -> None:
        self.disk.make_directory(path)

    def rename(self, source: str, target: str) -> None:
        self.faults.count("rename")
        self.disk.rename(source, target)

    def unlink(self, path: str) -> None:
        self.disk.unlink(path)

    def list(self, directory: str) -> list[str]:
        return self.disk.list(directory)

    def status(self, path: str) -> FileStatus:
        return self.disk.status(path)

    def set_mode(self, path: str, mode: int) -> None:
        self.disk.set_mode(path, mode)

    def sync_directory(self, directory: str) -> None:
        self.faults.count("sync_directory")
        self.disk.sync_directory(directory)


class LogRig:
    """A store's directory. `open` starts a log behind what was read there before."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.disk = FaultyDisk(root)
        self.faults = self.disk.faults
        self.owner = Owner()

    def open(
        self,
        position: int = 0,
        head: bytes = GENESIS,
        *,
        epoch: int = 1,
        gap: Gap | None = None,
        carried: tuple[bytes, ...] = (),
        replace_tail: bool = False,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> FileLog:
        return FileLog.resume(
            self.disk,
            self.owner,
            store_id=STORE_ID,
            secret=SECRET,
            epoch=epoch,
            position=position,
            head=head,
            gap=gap,
            carried=carried,
            replace_tail=replace_tail,
            segment_bytes=segment_bytes,
        )

    def file(self, base: int = 1) -> Path:
        return self.root / "log" / f"{base:020}.log"

    def reader(self, after: int = 0, *, content: bool = True) -> LogReader:
        return LogReader(self.disk, after, content=content)

    def seen(self, after: int = 0) -> list[tuple[int, int] | Gap]:
        """What a reader beside the writer gets: (first, last) of frames, and gaps."""
        return outline(self.reader(after).read())


def outline(items: Iterator[ReadFrame | Gap]) -> list[tuple[int, int] | Gap]:
    """Frames as (first, last), each compared with what was appended there; gaps as they are."""
    found: list[tuple[int, int] | Gap] = []
    for item in items:
        if isinstance(item, Gap):
            found.append(item)
            continue
        assert item.payload is not None
        expected = parts(item.first, item.header.count, len(item.payload))
        assert item.chained == expected.chained
        assert item.payload == expected.payload
        found.append((item.first, item.last))
    return found


def frames_seen(first: int, last: int) -> list[tuple[int, int] | Gap]:
    """What `outline` gives for frames of one event each."""
    return [(position, position) for position in range(first, last + 1)]
