"""The real disk: plain files below a directory, through its descriptor."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from turnfold.events.errors import DiskFull, StorageError, StorePathError
from turnfold.events.log.disk import DIRECTORY_MODE, FILE_MODE, FileStatus

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Never O_APPEND: with it pwrite writes at the end, whatever the offset.
_OPEN: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a planted FIFO must not block us
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def disk_error(operation: str, path: str, error: OSError) -> Exception:
    """The error to raise in place of the system's; the two that callers expect stay as they are."""
    if isinstance(error, (FileNotFoundError, FileExistsError)):
        return error
    what = f"{operation} {path or 'the store directory'} failed: {os.strerror(error.errno or 0)}"
    if error.errno in _FULL:
        return DiskFull(f"{what}; free space and try again")
    if error.errno in (errno.EACCES, errno.EPERM):  # it may be whole: nothing to set aside
        return StorageError(f"{what}; give it back to the store's owner")
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR):
        return StorePathError(f"{what}; it must be a plain file or directory of the store's owner")
    return StorageError(f"{what}; check the device")


@contextmanager
def _named(operation: str, path: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise disk_error(operation, path, error) from error


# What a store on files stands on and not every platform has.
_NEEDED: Final = ("fdatasync", "posix_fadvise", "posix_fallocate", "pwrite")


def check_platform() -> None:
    """Raises StorePathError where a store can't be kept on files: on anything but Linux."""
    missing = [name for name in _NEEDED if not hasattr(os, name)]
    if missing:
        raise StorePathError(
            f"this platform has no os.{missing[0]}: a store on files needs Linux;"
            " set persistence_enabled = false to keep conversations in memory"
        )


class PosixFile:
    """A file by its descriptor. Interrupted calls are repeated by Python itself (PEP 475)."""

    __slots__ = ("_fd", "_path")

    def __init__(self, fd: int, path: str) -> None:
        self._fd = fd
        self._path = path

    def read(self, offset: int, size: int) -> bytes:
        """See File."""
        with _named("reading", self._path):
            data = os.pread(self._fd, size, offset)
            if len(data) == size or not data:
                return data
            parts = [data]
            got = len(data)
            while got < size and (data := os.pread(self._fd, size - got, offset + got)):
                parts.append(data)
                got += len(data)
            return b"".join(parts)

    def write(self, offset: int, data: bytes) -> None:
        """See File."""
        try:
            written = os.pwrite(self._fd, data, offset)
            while written < len(data):
                count = os.pwrite(self._fd, memoryview(data)[written:], offset + written)
                if count == 0:
                    raise OSError(errno.EIO, "nothing was written")
                written += count
        except OSError as error:
            raise disk_error("writing", self._path, error) from error

    def status(self) -> FileStatus:
        """See File."""
        try:
            return _status(os.fstat(self._fd))
        except OSError as error:
            raise disk_error("inspecting", self._path, error) from error

    def truncate(self, size: int) -> None:
        """See File."""
        with _named("truncating", self._path):
            os.ftruncate(self._fd, size)

    def allocate(self, size: int) -> None:
        """See File."""
        with _named("allocating", self._path):
            os.posix_fallocate(self._fd, 0, size)

    def sync(self) -> None:
        """See File."""
        try:
            os.fdatasync(self._fd)
        except OSError as error:
            raise disk_error("syncing", self._path, error) from error

    def drop_cache(self) -> None:
        """See File."""
        with _named("dropping cached pages of", self._path):
            os.posix_fadvise(self._fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        """See File."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def __del__(self) -> None:
        self.close()


def _status(result: os.stat_result) -> FileStatus:
    mode = result.st_mode
    return FileStatus(result.st_size, stat.S_IMODE(mode), result.st_nlink, stat.S_ISDIR(mode))


class PosixDisk:
    """The directory `root`, which is made (0700, missing parents too) if `create` is true.

    Every path is walked from the root's descriptor one name at a time, so neither a renamed
    parent nor a planted link leads elsewhere. Usable from any thread. Raises StorePathError if the
    root is missing, a link or no directory.
    """

    def __init__(self, root: str | Path, *, create: bool = False) -> None:
        self._root = Path(root)
        self._fd = -1
        try:
            if create:
                _make_directories(self._root)
            self._fd = os.open(self._root, _DIRECTORY)
        except OSError as error:
            raise StorePathError(
                f"{self._root} can't be used as a store: {os.strerror(error.errno or 0)}; it must"
                " be a directory of the store's owner, and no link"
            ) from error

    @property
    def name(self) -> str:
        """The root's path."""
        return str(self._root)

    @property
    def descriptor(self) -> int:
        """The root's descriptor, for what has no place in `Disk`: the lock and the socket."""
        return self._fd

    def open(self, path: str, *, write: bool = False) -> PosixFile:
        """See Disk."""
        with _named("opening", path), self._parent(path) as (parent, name):
            fd = os.open(name, (os.O_RDWR if write else os.O_RDONLY) | _OPEN, dir_fd=parent)
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                raise StorePathError(f"{path} is no plain file; move it out of the store")
            return PosixFile(fd, path)

    def create(self, path: str) -> PosixFile:
        """See Disk."""
        with _named("creating", path), self._parent(path) as (parent, name):
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPEN
            fd = os.open(name, flags, FILE_MODE, dir_fd=parent)
            os.fchmod(fd, FILE_MODE)  # the umask may have taken bits away, and never adds any
            return PosixFile(fd, path)

    def make_directory(self, path: str) -> None:
        """See Disk."""
        with _named("creating", path), self._parent(path) as (parent, name):
            try:
                os.mkdir(name, DIRECTORY_MODE, dir_fd=parent)
            except FileExistsError:
                if not self.status(path).is_directory:
                    raise StorePathError(f"{path} is no directory; move it away") from None
            else:
                os.chmod(name, DIRECTORY_MODE, dir_fd=parent)

    def rename(self, source: str, target: str) -> None:
        """See Disk."""
        with (
            _named("renaming", source),
            self._parent(source) as (source_parent, source_name),
            self._parent(target) as (target_parent, target_name),
        ):
            os.rename(source_name, target_name, src_dir_fd=source_parent, dst_dir_fd=target_parent)

    def unlink(self, path: str) -> None:
        """See Disk."""
        with _named("removing", path), self._parent(path) as (parent, name):
            os.unlink(name, dir_fd=parent)

    def list(self, directory: str) -> list[str]:
        """See Disk."""
        with _named("listing", directory), self._directory(directory) as fd:
            return sorted(os.listdir(fd))

    def status(self, path: str) -> FileStatus:
        """See Disk."""
        if not path:
            return _status(os.fstat(self._fd))
        with _named("inspecting", path), self._parent(path) as (parent, name):
            result = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISLNK(result.st_mode):
                raise StorePathError(f"{path} is a symbolic link; move it out of the store")
            return _status(result)

    def set_mode(self, path: str, mode: int) -> None:
        """See Disk."""
        if not path:
            with _named("changing the mode of", path):
                os.fchmod(self._fd, mode)
            return
        with _named("changing the mode of", path), self._parent(path) as (parent, name):
            fd = os.open(name, os.O_RDONLY | _OPEN, dir_fd=parent)
            try:
                os.fchmod(fd, mode)
            finally:
                os.close(fd)

    def sync_directory(self, directory: str) -> None:
        """See Disk."""
        with _named("syncing", directory), self._directory(directory) as fd:
            os.fsync(fd)

    def close(self) -> None:
        """Close the root's descriptor; files that are open stay open. Twice is harmless."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def __del__(self) -> None:
        self.close()

    @contextmanager
    def _directory(self, path: str) -> Generator[int]:
        """A descriptor of the directory; each name on the way is opened without following links."""
        fd = os.open(".", _DIRECTORY, dir_fd=self._fd)
        try:
            for name in path.split("/") if path else ():
                if name in ("", ".", ".."):
                    raise StorePathError("a path inside the store has empty or dotted names")
                inner = os.open(name, _DIRECTORY, dir_fd=fd)
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def _parent(self, path: str) -> Generator[tuple[int, str]]:
        directory, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            raise StorePathError("a path inside the store has empty or dotted names")
        with self._directory(directory) as fd:
            yield fd, name


def _make_directories(root: Path) -> None:
    """Make `root` and its missing parents, each durable in its parent."""
    missing = [path for path in (root, *root.parents) if not os.path.lexists(path)]
    for path in reversed(missing):
        try:
            path.mkdir(mode=DIRECTORY_MODE)
        except FileExistsError:  # made by another process meanwhile
            continue
        path.chmod(DIRECTORY_MODE)
        fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
