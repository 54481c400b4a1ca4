import errno
import fcntl
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from unix_sockets import address_of

from turnfold.events.errors import DiskFull, StorageError, StorePathError
from turnfold.events.log.disk import read_whole
from turnfold.events.log.posix_disk import PosixDisk, PosixFile


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "storage" / "conversations"


@pytest.fixture
def disk(root: Path) -> PosixDisk:
    disk = PosixDisk(root, create=True)
    disk.make_directory("log")
    return disk


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# --- modes and creation --------------------------------------------------------------------------


@pytest.mark.usefixtures("umask")
def test_modes_are_right_from_creation_whatever_the_umask(root: Path) -> None:
    disk = PosixDisk(root, create=True)
    disk.make_directory("log")
    disk.create("log/file")

    assert [mode(p) for p in (root.parent, root, root / "log")] == [0o700] * 3
    assert mode(root / "log" / "file") == 0o600


def test_existing_directory_keeps_its_mode(root: Path) -> None:
    root.mkdir(parents=True, mode=0o755)
    root.chmod(0o755)

    PosixDisk(root, create=True)

    assert mode(root) == 0o755


def test_mode_is_told_and_set(disk: PosixDisk, root: Path) -> None:
    disk.create("file").close()
    (root / "file").chmod(0o644)
    wide = disk.status("file").mode

    disk.set_mode("file", 0o600)
    disk.set_mode("log", 0o700)

    assert (wide, disk.status("file").mode, disk.status("log").mode) == (0o644, 0o600, 0o700)


def test_creating_never_opens_what_is_there(disk: PosixDisk) -> None:
    disk.create("file").close()

    with pytest.raises(FileExistsError):
        disk.create("file")


def test_files_are_never_opened_for_appending(
    disk: PosixDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With O_APPEND, Linux writes at the end whatever offset pwrite is given."""
    flags: list[int] = []
    system_open = os.open

    def recording_open(
        path: str, wanted: int, mode: int = 0o777, *, dir_fd: int | None = None
    ) -> int:
        fd = system_open(path, wanted, mode, dir_fd=dir_fd)
        flags.append(fcntl.fcntl(fd, fcntl.F_GETFL))
        return fd

    monkeypatch.setattr(os, "open", recording_open)
    disk.create("log/file")
    disk.open("log/file", write=True)

    assert flags
    assert not any(value & os.O_APPEND for value in flags)


def test_descriptors_are_not_inherited(disk: PosixDisk) -> None:
    before = set(os.listdir("/proc/self/fd"))
    file = disk.create("log/file")
    opened = {int(fd) for fd in set(os.listdir("/proc/self/fd")) - before}

    inheritable = [fd for fd in opened if _is_open(fd) and os.get_inheritable(fd)]
    file.close()

    assert opened
    assert inheritable == []


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


# --- bytes ---------------------------------------------------------------------------------------


def test_reads_and_writes_are_at_offsets(disk: PosixDisk) -> None:
    file = disk.create("file")
    file.write(0, b"abcdef")
    file.write(2, b"XY")

    assert file.read(1, 4) == b"bXYe"
    assert file.read(4, 100) == b"ef"
    assert file.read(6, 10) == b""
    assert file.status().size == 6


def test_write_that_the_system_cuts_short_is_finished(
    disk: PosixDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = disk.create("file")
    system_write = os.pwrite

    def short_write(fd: int, data: bytes, offset: int) -> int:
        return system_write(fd, data[:3], offset)

    monkeypatch.setattr(os, "pwrite", short_write)

    file.write(0, b"0123456789")

    assert file.read(0, 20) == b"0123456789"


def test_read_that_the_system_cuts_short_is_finished(
    disk: PosixDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = disk.create("file")
    file.write(0, b"0123456789")
    system_read = os.pread

    def short_read(fd: int, size: int, offset: int) -> bytes:
        return system_read(fd, min(size, 3), offset)

    monkeypatch.setattr(os, "pread", short_read)

    assert file.read(0, 10) == b"0123456789"


def test_write_of_nothing_at_all_is_an_error(
    disk: PosixDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = disk.create("file")

    def write_nothing(*_: object) -> int:
        return 0

    monkeypatch.setattr(os, "pwrite", write_nothing)

    with pytest.raises(StorageError, match="writing file"):
        file.write(0, b"data")


def test_truncate_cuts_and_extends_with_zeros(disk: PosixDisk) -> None:
    file = disk.create("file")
    file.write(0, b"abcdef")
    file.truncate(2)
    file.truncate(4)

    assert file.read(0, 10) == b"ab\0\0"


def test_allocated_space_is_really_taken(disk: PosixDisk, root: Path) -> None:
    disk.create("file").allocate(1 << 16)

    assert (root / "file").stat().st_size == 1 << 16
    assert (root / "file").stat().st_blocks * 512 >= 1 << 16


def test_bytes_are_still_there_after_the_cache_was_dropped(disk: PosixDisk) -> None:
    file = disk.create("file")
    file.write(0, b"data")
    file.sync()
    file.drop_cache()

    assert file.read(0, 4) == b"data"


def test_closed_file_fails_as_an_error_of_ours(disk: PosixDisk) -> None:
    file = disk.create("file")
    file.close()
    file.close()

    with pytest.raises(StorageError, match="reading file"):
        file.read(0, 1)


def test_whole_file_is_read_up_to_a_cap(disk: PosixDisk) -> None:
    disk.create("file").write(0, b"12345")

    assert read_whole(disk, "file", 5) == b"12345"
    with pytest.raises(StorageError, match="at most 4"):
        read_whole(disk, "file", 4)


# --- names ---------------------------------------------------------------------------------------


def test_names_are_listed_sorted(disk: PosixDisk) -> None:
    for name in ("log/b", "log/a", "c"):
        disk.create(name)

    assert disk.list("log") == ["a", "b"]
    assert disk.list("") == ["c", "log"]


def test_rename_replaces_and_unlink_removes(disk: PosixDisk) -> None:
    disk.create("a").write(0, b"new")
    disk.create("log/b").write(0, b"old")

    disk.rename("a", "log/b")
    renamed = read_whole(disk, "log/b", 10)
    disk.unlink("log/b")

    assert renamed == b"new"
    assert disk.list("") == ["log"]
    assert disk.list("log") == []


def test_links_tell_a_removed_file(disk: PosixDisk) -> None:
    file = disk.create("a")
    named = file.status().links
    disk.unlink("a")

    assert (named, file.status().links) == (1, 0)


def test_directories_are_synced(disk: PosixDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []

    def record(fd: int) -> None:
        synced.append(os.fstat(fd).st_ino)

    monkeypatch.setattr(os, "fsync", record)

    disk.sync_directory("log")
    disk.sync_directory("")

    assert synced == [os.stat(disk.name + "/log").st_ino, os.stat(disk.name).st_ino]


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "log/../x", "./x", "log//x", "log/."])
def test_paths_stay_below_the_root(disk: PosixDisk, path: str) -> None:
    with pytest.raises(StorePathError):
        disk.open(path)


@pytest.mark.parametrize("operation", ["open", "create", "unlink", "status"])
def test_missing_and_existing_are_told_by_their_own_errors(disk: PosixDisk, operation: str) -> None:
    with pytest.raises(FileNotFoundError):
        getattr(disk, operation)("nowhere/file")


# --- links and other things that are no files ----------------------------------------------------


def test_link_to_a_file_is_refused(disk: PosixDisk, root: Path, tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"untouched")
    (root / "link").symlink_to(tmp_path / "target")

    with pytest.raises(StorePathError):
        disk.open("link")
    with pytest.raises(StorePathError):
        disk.status("link")
    with pytest.raises(StorePathError):
        disk.set_mode("link", 0o600)
    with pytest.raises(FileExistsError):
        disk.create("link")
    assert (tmp_path / "target").read_bytes() == b"untouched"


def test_link_to_a_directory_is_refused(disk: PosixDisk, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StorePathError):
        disk.create("link/file")
    with pytest.raises(StorePathError):
        disk.make_directory("link")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_root_that_is_a_link_or_a_file_or_missing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_bytes(b"")

    for name in ("link", "file", "missing"):
        with pytest.raises(StorePathError, match=name):
            PosixDisk(tmp_path / name)


def test_pipe_or_socket_in_place_of_a_file_neither_blocks_nor_opens(
    disk: PosixDisk, root: Path
) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener, address_of(root / "socket") as address:
        listener.bind(address)
        for name in ("pipe", "socket", "log"):
            with pytest.raises(StorageError, match=name):
                disk.open(name)


def test_store_goes_on_when_its_directory_is_renamed(disk: PosixDisk, root: Path) -> None:
    root.rename(root.parent / "moved")

    disk.create("log/file").write(0, b"data")

    assert (root.parent / "moved" / "log" / "file").read_bytes() == b"data"


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize("call", ["pwrite", "fdatasync", "posix_fallocate"])
def test_full_disk_is_told_as_such(
    disk: PosixDisk, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    file = disk.create("file")

    def fail(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fail)
    actions: dict[str, Callable[[], None]] = {
        "pwrite": lambda: file.write(0, b"x"),
        "fdatasync": file.sync,
        "posix_fallocate": lambda: file.allocate(1),
    }

    with pytest.raises(DiskFull, match="free space"):
        actions[call]()


def test_other_failures_name_operation_and_path(
    disk: PosixDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    file: PosixFile = disk.create("log/file")

    def fail(*_: object) -> int:
        raise OSError(errno.EIO, "whatever")

    monkeypatch.setattr(os, "fdatasync", fail)

    with pytest.raises(StorageError, match="syncing log/file failed: Input/output error") as raised:
        file.sync()
    assert not isinstance(raised.value, DiskFull)
