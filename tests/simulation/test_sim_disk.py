"""The simulated disk behaves like the real one until something fails, and forgets as it says."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulation.sim_disk import SimDisk
from simulation.sim_faults import Fault, PowerCut, fail_call
from simulation.sim_inode import BLOCK_BYTES, SECTOR_BYTES

from turnfold.events.errors import DiskFull, StorageError
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.posix_disk import PosixDisk

SEEDS = range(300)


def written(disk: SimDisk, path: str, data: bytes) -> None:
    """A durable file."""
    file = disk.create(path)
    file.write(0, data)
    file.sync()
    file.close()
    disk.sync_directory(path.rpartition("/")[0])


# --- as the real disk ------------------------------------------------------------------------


@attrs.frozen
class Step:
    """One call on a disk, or on a file that is opened for it."""

    call: str
    path: str
    target: str
    offset: int
    size: int
    data: bytes


CALLS = (
    "create open unlink status list make_directory rename write write read truncate allocate sync"
    " drop_cache sync_directory"
).split()
NAMES = st.sampled_from(["a", "b", "d", "d/a", "d/b", "e/a"])
STEPS = st.builds(
    Step,
    st.sampled_from(CALLS),
    NAMES,
    NAMES,
    st.integers(0, 3000),
    st.integers(1, 9000),
    st.binary(max_size=1500),
)


def on_file(file: File, step: Step) -> object:
    calls: dict[str, Callable[[], object]] = {
        "open": file.status,
        "write": lambda: file.write(step.offset, step.data),
        "read": lambda: file.read(step.offset, step.size),
        "truncate": lambda: file.truncate(step.size),
        "allocate": lambda: file.allocate(step.size),
        "sync": file.sync,
        "drop_cache": file.drop_cache,
    }
    return calls[step.call]()


def on_disk(disk: Disk, step: Step) -> object:
    path = step.path
    calls: dict[str, Callable[[], object]] = {
        "create": lambda: disk.create(path).close(),
        "unlink": lambda: disk.unlink(path),
        "status": lambda: (disk.status(path).is_directory, disk.status(path).mode),
        "list": lambda: disk.list(path),
        "make_directory": lambda: disk.make_directory(path),
        "rename": lambda: disk.rename(path, step.target),
        "sync_directory": lambda: disk.sync_directory(path),
    }
    if step.call in calls:
        return calls[step.call]()
    file = disk.open(path, write=True)
    try:
        return on_file(file, step)
    finally:
        file.close()


def result(disk: Disk, step: Step) -> object:
    """What the step gives, or the kind of its error."""
    try:
        return on_disk(disk, step)
    except FileNotFoundError:
        return FileNotFoundError
    except FileExistsError:
        return FileExistsError
    except StorageError:
        return StorageError


@given(steps=st.lists(STEPS, max_size=30))
def test_without_faults_it_behaves_like_the_real_disk(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    root: Path = tmp_path_factory.mktemp("disk")
    real, simulated = PosixDisk(root), SimDisk()
    try:
        for step in steps:
            named = simulated.names.get(step.path), simulated.names.get(step.target)
            if step.call == "rename" and any(inode and inode.is_directory for inode in named):
                continue  # the store renames no directories
            assert result(real, step) == result(simulated, step), step
        for path in simulated.paths():
            assert (root / path).read_bytes() == simulated.content(path)
    finally:
        real.close()


# --- what it forgets -----------------------------------------------------------------------------


def test_synced_bytes_survive_and_each_unsynced_sector_is_on_its_own() -> None:
    old, new = b"o" * 2000, b"n" * 3000
    outcomes: set[bytes] = set()
    for seed in SEEDS:
        disk = SimDisk(seed)
        written(disk, "a", old)
        file = disk.open("a", write=True)
        file.write(1000, new)
        disk.crash()
        left = disk.content("a")
        assert left[:1000] == old[:1000]
        assert 2000 <= len(left) <= 4000
        outcomes.add(left)
    sectors = {left[1024 : 1024 + SECTOR_BYTES] for left in outcomes}
    assert {b"o" * SECTOR_BYTES, b"n" * SECTOR_BYTES, bytes(SECTOR_BYTES)} <= sectors
    assert any(set(sector) == {ord("o"), ord("n")} for sector in sectors), "none was torn"
    assert any(len(set(sector)) > 50 for sector in sectors), "none was garbled"


def test_a_cut_that_was_not_synced_may_be_undone_by_a_crash() -> None:
    sizes: set[int] = set()
    for seed in SEEDS:
        disk = SimDisk(seed)
        written(disk, "a", bytes(1000))
        file = disk.open("a", write=True)
        file.truncate(10)
        file.write(10, bytes(40))
        disk.crash()
        sizes.add(len(disk.content("a")))
    assert sizes == {1000, 10, 50}


def test_names_are_forgotten_unless_their_directory_was_synced() -> None:
    seen: set[tuple[str, ...]] = set()
    for seed in SEEDS:
        disk = SimDisk(seed)
        written(disk, "kept", b"1")
        disk.create("new").close()
        disk.rename("kept", "renamed")
        disk.crash()
        seen.add(tuple(disk.paths()))
    assert seen == {("kept",), ("renamed",), ("kept", "new"), ("new", "renamed")}


def test_a_file_renamed_to_another_directory_is_never_in_neither() -> None:
    seen: set[tuple[str, ...]] = set()
    for seed in SEEDS:
        disk = SimDisk(seed)
        disk.make_directory("d")
        disk.sync_directory("")
        written(disk, "a", b"1")
        disk.rename("a", "d/a")
        disk.crash()
        seen.add(tuple(disk.paths()))
    assert seen == {("a",), ("a", "d/a"), ("d/a",)}


def test_a_directory_that_was_not_synced_takes_its_files_along() -> None:
    seen: set[tuple[str, ...]] = set()
    for seed in SEEDS:
        disk = SimDisk(seed)
        disk.make_directory("d")
        written(disk, "d/a", b"1")
        disk.crash()
        seen.add(tuple(disk.paths()))
    assert seen == {(), ("d/a",)}


def test_after_a_failed_sync_later_syncs_succeed_and_the_bytes_may_be_gone() -> None:
    lost = cached = 0
    for seed in SEEDS:
        disk = SimDisk(seed)
        written(disk, "a", b"old")
        file = disk.open("a", write=True)
        file.write(0, b"new")
        disk.plan = fail_call(disk.calls + 1, Fault.EIO)
        with pytest.raises(StorageError):
            file.sync()
        file.sync()
        cached += file.read(0, 3) == b"new"
        file.drop_cache()
        lost += file.read(0, 3) == b"old"
    assert cached == len(SEEDS), "the cache must go on showing what was written"
    assert 0 < lost < len(SEEDS)


def test_a_killed_process_leaves_the_cache_and_a_power_cut_does_not() -> None:
    disk = SimDisk(1)
    written(disk, "a", b"old")
    disk.open("a", write=True).write(0, b"new")
    twin = disk.clone(1)
    disk.kill()
    assert disk.content("a") == b"new"
    assert any(crashed(twin, seed).content("a") == b"old" for seed in SEEDS)


def crashed(disk: SimDisk, seed: int) -> SimDisk:
    left = disk.clone(seed)
    left.crash()
    return left


def test_a_seed_replays_a_crash_byte_by_byte() -> None:
    disk = SimDisk()
    written(disk, "a", b"old" * 1000)
    file = disk.open("a", write=True)
    file.write(500, b"new" * 3000)
    for seed in range(50):
        assert crashed(disk, seed).content("a") == crashed(disk, seed).content("a")
    assert disk.content("a") == b"old" * 166 + b"ol" + b"new" * 3000, "a clone changed its origin"


# --- full, failing, off ---------------------------------------------------------------------


def test_a_full_disk_takes_a_part_and_cutting_back_gives_the_space_again() -> None:
    disk = SimDisk(3)
    written(disk, "a", bytes(BLOCK_BYTES))
    disk.fill(room=BLOCK_BYTES)
    file = disk.open("a", write=True)
    for _ in range(5):
        with pytest.raises(DiskFull):
            file.write(BLOCK_BYTES, b"x" * (2 * BLOCK_BYTES))
        assert file.status().size <= 2 * BLOCK_BYTES
        file.truncate(BLOCK_BYTES)
    file.write(0, b"y" * BLOCK_BYTES)  # in place
    file.write(BLOCK_BYTES, b"z" * BLOCK_BYTES)
    with pytest.raises(DiskFull):
        disk.create("b")
    disk.unlink("a")
    with pytest.raises(DiskFull):  # it is still open
        disk.create("b")
    file.close()
    disk.create("b").close()


@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_AFTER])
def test_nothing_works_after_the_power_went(fault: Fault) -> None:
    disk = SimDisk()
    written(disk, "a", b"1")
    file = disk.open("a", write=True)
    disk.plan = fail_call(disk.calls + 1, fault)
    for _ in range(2):
        with pytest.raises(PowerCut):
            file.write(0, b"2")
    with pytest.raises(PowerCut):
        disk.list("")
    disk.crash()
    with pytest.raises(PowerCut):
        file.read(0, 1)
    assert disk.list("") == ["a"]


def test_a_failed_call_on_names_leaves_either_the_old_or_the_new() -> None:
    seen: set[tuple[str, ...]] = set()
    for seed in SEEDS:
        disk = SimDisk(seed)
        written(disk, "a", b"1")
        disk.plan = fail_call(disk.calls + 1, Fault.EIO)
        with pytest.raises(StorageError):
            disk.rename("a", "b")
        seen.add(tuple(disk.paths()))
    assert seen == {("a",), ("b",)}


def test_a_flipped_bit_is_one_bit_on_the_device_and_in_the_cache() -> None:
    disk = SimDisk()
    data = Random(1).randbytes(100)
    written(disk, "a", data)
    disk.flip("a", 42)
    left = disk.content("a")
    assert left == data[:5] + bytes([data[5] ^ 4]) + data[6:]
    assert disk.holds(left) == ["a"]
