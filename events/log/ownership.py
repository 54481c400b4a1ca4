"""Who may write: an exclusive flock on a LOCK file that is never removed.

The lock dies with the process, so none is ever stale; the process id inside is for messages only.
A forked child closes its copy and owns nothing. Network file systems are refused: their locks
don't bind everybody. LOCK is opened once per owner, so a second opening in the same process fails
like one in another.
"""

import contextlib
import errno
import fcntl
import os
import re
from collections.abc import Callable
from typing import Final, Protocol
from weakref import WeakSet

from turnfold.events.errors import StoreLocked, StorePathError
from turnfold.events.log.disk import FILE_MODE
from turnfold.events.log.posix_disk import PosixDisk

LOCK_NAME: Final = "LOCK"

_MOUNTS: Final = "/proc/self/mountinfo"
_NETWORK: Final = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4",
    "ocfs2", "orangefs", "smb3", "smbfs",
})  # fmt: skip
_NETWORK_FUSE: Final = frozenset({
    "ceph", "davfs", "davfs2", "gcsfuse", "glusterfs", "goofys", "juicefs", "rclone", "s3fs",
    "sshfs",
})  # fmt: skip


class Ownership(Protocol):
    """The right to write to a store."""

    def check(self) -> None:
        """Raise StoreLocked if the right is gone. Called before each batch."""
        ...

    def release(self) -> None:
        """Give it up; twice is harmless."""
        ...


class StoreLock:
    """Ownership of the store in one directory; see `acquire`."""

    __slots__ = ("__weakref__", "_directory", "_fd", "_identity")

    def __init__(self, fd: int, directory: int) -> None:
        self._fd = fd
        self._directory = directory
        status = os.fstat(fd)
        self._identity = (status.st_dev, status.st_ino)

    @classmethod
    def acquire(cls, disk: PosixDisk, *, again: Callable[[], bool] = lambda: False) -> "StoreLock":
        """Own the store below `disk`, which must stay open as long as the lock is held.

        While somebody else owns it, `again` is called: it waits a little and says whether to try
        once more. Raises StoreLocked with the owner's process id, and StorePathError on a network
        file system or where LOCK is no plain file.
        """
        refuse_network(disk)
        while True:
            fd = _open(disk)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                owner = _owner(fd)
                os.close(fd)
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EINTR):
                    raise StorePathError(
                        f"{disk.name} can't be locked: {os.strerror(error.errno or 0)}"
                    ) from error
                if not again():
                    raise StoreLocked(
                        f"{disk.name} is owned by process {owner}; close that store first"
                    ) from None
                continue
            lock = cls(fd, disk.descriptor)
            if lock._is_current():
                _held.add(lock)
                lock._sign()
                return lock
            lock.release()  # LOCK was replaced between opening and locking it

    def check(self) -> None:
        """See Ownership: also if LOCK was removed or replaced, or in a forked child."""
        if not self._is_current():
            raise StoreLocked("this store no longer owns its directory; open it again")

    def release(self) -> None:
        """Close LOCK, which unlocks it unless a forked child still holds a copy of it."""
        _held.discard(self)
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def _is_current(self) -> bool:
        if self._fd < 0:
            return False
        try:
            status = os.stat(LOCK_NAME, dir_fd=self._directory, follow_symlinks=False)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def _sign(self) -> None:
        # A full disk doesn't matter: the process id is information, the lock is the flock.
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, b"%d\n" % os.getpid(), 0)


def owner_of(disk: PosixDisk) -> str | None:
    """The process id of the store's owner ("?" if LOCK doesn't say), None if nobody owns it.

    Nothing is written. Where nobody owns it, LOCK is held for the length of one system call.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(LOCK_NAME, flags, dir_fd=disk.descriptor)
    except OSError:  # missing, a link, another user's: the opening says what it makes of it
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _owner(fd)
    finally:
        os.close(fd)
    return None


_held: Final[WeakSet[StoreLock]] = WeakSet()


def _disown_in_child() -> None:
    """A forked child must neither write nor keep the lock alive. Closing unlocks nothing here."""
    for lock in list(_held):
        lock.release()


os.register_at_fork(after_in_child=_disown_in_child)


def _open(disk: PosixDisk) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(LOCK_NAME, flags, FILE_MODE, dir_fd=disk.descriptor)
        os.fchmod(fd, FILE_MODE)
    except OSError as error:
        raise StorePathError(
            f"{disk.name}/{LOCK_NAME} can't be opened: {os.strerror(error.errno or 0)}"
        ) from error
    return fd


def _owner(fd: int) -> str:
    """The process id in LOCK, or "?" where there is none yet."""
    with contextlib.suppress(OSError):
        match = re.match(rb"[0-9]{1,10}", os.pread(fd, 16, 0))
        if match:
            return match[0].decode()
    return "?"


def refuse_network(disk: PosixDisk, mounts: str = _MOUNTS) -> None:
    """Raise StorePathError if the store lies on a network file system.

    Where the platform has no list of mounts, nothing is refused.
    """
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as lines:
            kind = _file_system(lines.read(), disk)
    except OSError:
        return
    if kind in _NETWORK or kind.removeprefix("fuse.") in _NETWORK_FUSE:
        raise StorePathError(
            f"{disk.name} lies on a network file system ({kind}), where locks and syncs can't be"
            " relied on; use a local directory"
        )


def _file_system(mounts: str, disk: PosixDisk) -> str:
    """The file system's type: by device number, else by the longest mount point above."""
    device = os.fstat(disk.descriptor).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    path = os.path.realpath(disk.name)
    longest, by_path = -1, ""
    for line in mounts.splitlines():
        fields, _, after = line.partition(" - ")
        parts = fields.split(" ")
        kind = after.split(" ", 1)[0]
        if len(parts) < 5 or not kind:
            continue
        if parts[2] == number:
            return kind
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), parts[4])
        inside = point in ("/", path) or path.startswith(point + "/")
        if inside and len(point) >= longest:  # of two on one point, the later covers the earlier
            longest, by_path = len(point), kind
    return by_path
