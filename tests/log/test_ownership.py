import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnfold.events.errors import StoreLocked, StorePathError
from turnfold.events.log.ownership import LOCK_NAME, StoreLock, refuse_network
from turnfold.events.log.posix_disk import PosixDisk

OWN = """
import sys
from turnfold.events.log.ownership import StoreLock
from turnfold.events.log.posix_disk import PosixDisk
lock = StoreLock.acquire(PosixDisk(sys.argv[1]))
print("owned", flush=True)
sys.stdin.read()
"""

FORK = """
import os, sys
from turnfold.events.errors import StoreLocked
from turnfold.events.log.ownership import StoreLock
from turnfold.events.log.posix_disk import PosixDisk

def owner(call):
    try:
        call()
    except StoreLocked:
        return "nobody"
    return "owner"

disk = PosixDisk(sys.argv[1])
lock = StoreLock.acquire(disk)
ready, told = os.pipe()
wait, go = os.pipe()
if os.fork() == 0:
    os.write(told, owner(lock.check).encode())
    os.close(told)
    os.close(go)
    os.read(wait, 1)
    os._exit(0)
os.close(told)
print("child:" + os.read(ready, 16).decode())
print("parent:" + owner(lock.check))  # the child's closing took nothing from its parent
print("second:" + owner(lambda: StoreLock.acquire(disk)).replace("nobody", "locked"))
lock.release()
print("third:" + owner(lambda: StoreLock.acquire(disk)))  # the child lives and keeps no copy
os.close(go)
os.wait()
"""


@pytest.fixture
def disk(tmp_path: Path) -> PosixDisk:
    return PosixDisk(tmp_path / "store", create=True)


@pytest.fixture
def other_process(disk: PosixDisk) -> Iterator[subprocess.Popen[str]]:
    """A process that owns the store until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWN, disk.name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "owned\n"
        yield process
        process.kill()


def test_second_opening_in_the_same_process_fails(disk: PosixDisk) -> None:
    lock = StoreLock.acquire(disk)

    with pytest.raises(StoreLocked, match=f"process {os.getpid()}"):
        StoreLock.acquire(PosixDisk(disk.name))

    lock.release()
    StoreLock.acquire(disk).release()


def test_another_process_is_named(disk: PosixDisk, other_process: subprocess.Popen[str]) -> None:
    with pytest.raises(StoreLocked, match=f"process {other_process.pid}"):
        StoreLock.acquire(disk)


def test_ownership_ends_with_the_process_however_it_ends(
    disk: PosixDisk, other_process: subprocess.Popen[str]
) -> None:
    other_process.kill()
    other_process.wait()

    lock = StoreLock.acquire(disk)

    lock.check()
    lock.release()


def test_waiting_ends_when_the_owner_releases(disk: PosixDisk) -> None:
    owner = StoreLock.acquire(disk)
    asked: list[int] = []

    def again() -> bool:
        asked.append(1)
        if len(asked) == 3:
            owner.release()
        return True

    lock = StoreLock.acquire(disk, again=again)

    assert len(asked) == 3
    lock.release()


def test_waiting_ends_when_there_is_no_more_time(disk: PosixDisk) -> None:
    owner = StoreLock.acquire(disk)
    answers = [True, True, False]

    with pytest.raises(StoreLocked):
        StoreLock.acquire(disk, again=lambda: answers.pop(0))

    assert answers == []
    owner.release()


def test_lock_file_is_private_and_stays(disk: PosixDisk) -> None:
    StoreLock.acquire(disk).release()

    path = Path(disk.name) / LOCK_NAME
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("change", ["removed", "replaced", "renamed"])
def test_ownership_is_lost_with_its_file(disk: PosixDisk, change: str) -> None:
    lock = StoreLock.acquire(disk)
    lock.check()
    path = Path(disk.name) / LOCK_NAME
    if change == "renamed":
        path.rename(path.with_name("other"))
    else:
        path.unlink()
    if change == "replaced":
        path.write_text("1\n")

    with pytest.raises(StoreLocked, match="no longer owns"):
        lock.check()
    lock.release()


def test_lock_replaced_while_it_was_being_taken_is_taken_anew(
    disk: PosixDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(disk.name) / LOCK_NAME
    system_flock = fcntl.flock
    replaced: list[int] = []

    def replacing_flock(fd: int, operation: int) -> None:
        if not replaced:
            replaced.append(path.stat().st_ino)
            path.rename(path.with_name("old"))
            path.touch()
        system_flock(fd, operation)

    monkeypatch.setattr(fcntl, "flock", replacing_flock)
    lock = StoreLock.acquire(disk)

    lock.check()
    with pytest.raises(StoreLocked):
        StoreLock.acquire(disk)
    lock.release()


def test_forked_child_owns_nothing_and_keeps_nothing(disk: PosixDisk) -> None:
    """In a process of its own: forking one with threads is a warning from Python 3.12 on."""
    done = subprocess.run(
        [sys.executable, "-c", FORK, disk.name],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.stderr == ""
    assert done.stdout.split() == ["child:nobody", "parent:owner", "second:locked", "third:owner"]


def test_link_in_place_of_the_lock_is_refused(disk: PosixDisk, tmp_path: Path) -> None:
    (tmp_path / "target").write_text("untouched")
    (Path(disk.name) / LOCK_NAME).symlink_to(tmp_path / "target")

    with pytest.raises(StorePathError, match=LOCK_NAME):
        StoreLock.acquire(disk)
    assert (tmp_path / "target").read_text() == "untouched"


def mounts(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "mountinfo"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "fuse.sshfs", "ceph", "9p"])
def test_network_file_system_is_refused_by_device(
    disk: PosixDisk, tmp_path: Path, kind: str
) -> None:
    device = os.stat(disk.name).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    table = mounts(
        tmp_path,
        "1 0 0:1 / / rw - ext4 /dev/vda rw",
        f"2 1 {number} / /somewhere rw,noatime shared:1 - {kind} server:/export rw",
    )

    with pytest.raises(StorePathError, match=kind):
        refuse_network(disk, table)


def test_network_file_system_is_refused_by_the_longest_mount_point(
    disk: PosixDisk, tmp_path: Path
) -> None:
    """Some file systems give files another device number than their mount."""
    above = str(tmp_path).replace(" ", "\\040")
    local = "1 0 0:991 / / rw - ext4 /dev/vda rw"
    network = f"2 1 0:992 / {above} rw - nfs4 server:/export rw"
    below = f"3 2 0:993 / {above}/store rw - btrfs /dev/vdb rw"
    beside = f"3 2 0:994 / {above}/sto rw - cifs //server/share rw"

    refuse_network(disk, mounts(tmp_path, local, network, below))
    refuse_network(disk, mounts(tmp_path, local, beside))
    with pytest.raises(StorePathError, match="nfs4"):
        refuse_network(disk, mounts(tmp_path, local, network))


def test_local_file_system_is_accepted(disk: PosixDisk, tmp_path: Path) -> None:
    refuse_network(disk)
    refuse_network(disk, str(tmp_path / "no such file"))
    refuse_network(disk, mounts(tmp_path, "nonsense", ""))
