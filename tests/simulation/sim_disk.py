"""A simulated disk behind events.log.disk's protocols: it forgets, tears, fails, fills up and lies.

Nothing is durable before a sync: bytes (see sim_inode), and names, each on its own. Every call can
be made to fail or to be the last before the power goes, by its number. All choices come from one
seeded generator, so a seed and a call number replay a failure.
"""

import re
from collections.abc import Callable, Sequence
from random import Random

from simulation.sim_faults import TAKES_SPACE, Fault, Interrupt, Plan, PowerCut, no_faults
from simulation.sim_inode import BLOCK_BYTES, SimInode, blocks_of
from simulation.sim_names import NameChange, parent_of

from turnfold.events.errors import DiskFull, StorageError, StorePathError
from turnfold.events.log.disk import FileStatus


class SimDisk:
    """See the module. `names` is the tree as processes see it; `calls` counts calls.

    `trace` holds the newest calls as text, for messages of failed tests.
    """

    name = "the simulated disk"

    def __init__(self, seed: int = 0) -> None:
        self.random = Random(seed)
        self.names: dict[str, SimInode] = {"": SimInode(is_directory=True, mode=0o700)}
        self._durable = dict(self.names)
        self._changes: list[NameChange] = []
        self._unlinked: list[SimInode] = []  # still open, so still taking space
        self.plan: Plan = no_faults
        self.watch: Callable[[], None] | None = None  # called before every call
        self.calls = 0
        self.trace: list[tuple[str, str]] | None = None
        self.is_off = False
        self.era = 0  # handles of an earlier one are dead
        self.capacity: int | None = None  # bytes
        self.had_faults = False  # since the last kill or crash

    # --- the protocol ------------------------------------------------------------------------

    def open(self, path: str, *, write: bool = False) -> "SimFile":
        """See Disk."""
        self._perform("open", path)
        inode = self._plain(path)
        return SimFile(self, inode, path, write=write)

    def create(self, path: str) -> "SimFile":
        """See Disk."""
        inode = SimInode()

        def create() -> None:
            if path in self.names:
                raise FileExistsError(path)
            self._check_parent(path)
            self._take_space("create", path, BLOCK_BYTES)
            self._change(NameChange(path, inode))

        self._perform("create", path, create)
        return SimFile(self, inode, path, write=True)

    def make_directory(self, path: str) -> None:
        """See Disk."""

        def make() -> None:
            found = self.names.get(path)
            if found is not None:
                if not found.is_directory:
                    raise StorePathError(f"{path} is no directory; move it away")
                return
            self._check_parent(path)
            self._take_space("make_directory", path, BLOCK_BYTES)
            self._change(NameChange(path, SimInode(is_directory=True, mode=0o700)))

        self._perform("make_directory", path, make)

    def rename(self, source: str, target: str) -> None:
        """See Disk."""

        def rename() -> None:
            inode = self._found(source)
            self._check_parent(target)
            old = self.names.get(target)
            if old is not None and old.is_directory:
                raise StorePathError(f"renaming {source} failed: the target is a directory")
            if parent_of(source) == parent_of(target):
                self._change(NameChange(target, inode, source=source))
            else:
                link = NameChange(target, inode)
                self._change(link)
                self._change(NameChange(source, None, needs=link))
            self._forget(old)

        self._perform("rename", source, rename)

    def unlink(self, path: str) -> None:
        """See Disk."""

        def unlink() -> None:
            inode = self._found(path)
            if inode.is_directory:
                raise StorePathError(f"removing {path} failed: it is a directory")
            self._change(NameChange(path, None))
            self._forget(inode)

        self._perform("unlink", path, unlink)

    def list(self, directory: str) -> list[str]:
        """See Disk."""
        self._perform("list", directory)
        self._check_directory(directory)
        return sorted(self.names_in(directory))

    def status(self, path: str) -> FileStatus:
        """See Disk."""
        self._perform("status", path)
        inode = self._found(path)
        if inode.is_link:
            raise StorePathError(f"{path} is a symbolic link; move it out of the store")
        return self.status_of(inode)

    def set_mode(self, path: str, mode: int) -> None:
        """See Disk."""

        def change() -> None:
            inode = self._found(path)
            if inode.is_link:
                raise StorePathError(f"{path} is a symbolic link")
            inode.mode = mode

        self._perform("set_mode", path, change)

    def sync_directory(self, directory: str) -> None:
        """See Disk."""

        def sync() -> None:
            self._check_directory(directory)
            for change in [change for change in self._changes if change.touches(directory)]:
                self._make_durable(change)

        self._perform("sync_directory", directory, sync)

    # --- what happens to it --------------------------------------------------------------------

    def kill(self) -> None:
        """The process ends and the machine goes on: the page cache survives."""
        self.is_off = self.had_faults = False
        self.era += 1
        self.plan = no_faults
        for inode in self.names.values():
            inode.opens = 0
        self._unlinked.clear()

    def crash(self, seed: int | None = None) -> None:
        """The power goes and comes back: only what was durable, and some of the rest, is left."""
        if seed is not None:
            self.random = Random(seed)
        random = self.random
        self.names = dict(self._durable)
        for change in self._kept_changes(random):
            change.apply(self.names)
        gone = [path for path in self.names if path and parent_of(path) not in self.names]
        for path in gone:
            del self.names[path]
        for inode in {id(inode): inode for inode in self.names.values()}.values():
            inode.crash(random)
        self._durable = dict(self.names)
        self._changes.clear()
        self.kill()

    def _kept_changes(self, random: Random) -> Sequence[NameChange]:
        changes, fate = self._changes, random.random()
        if fate < 0.3:
            return changes
        if fate < 0.6:
            return changes[: random.randint(0, len(changes))]
        kept: list[NameChange] = []
        for change in changes:
            if random.random() < 0.5:
                if change.needs is not None and change.needs not in kept:
                    kept.append(change.needs)
                kept.append(change)
        return kept

    def fill(self, room: int = 0) -> None:
        """Leave space for `room` bytes and no more."""
        self.capacity = self.used + room

    def empty(self) -> None:
        """There is space again."""
        self.capacity = None

    @property
    def used(self) -> int:
        """Bytes that files take, those included that are unlinked and still open."""
        self._unlinked = [inode for inode in self._unlinked if inode.opens]
        inodes = {id(inode): inode for inode in (*self.names.values(), *self._unlinked)}
        return sum((len(inode.blocks) + 1) * BLOCK_BYTES for inode in inodes.values())

    def clone(self, seed: int) -> "SimDisk":
        """An equal disk that nobody has open, with a random generator of its own."""
        copies = {id(inode): inode.clone() for inode in self._all_inodes()}
        other = SimDisk(seed)
        other.names = {path: copies[id(inode)] for path, inode in self.names.items()}
        other._durable = {path: copies[id(inode)] for path, inode in self._durable.items()}
        twins: dict[int, NameChange] = {}
        for change in self._changes:
            twin = NameChange(
                change.path,
                None if change.inode is None else copies[id(change.inode)],
                change.source,
                None if change.needs is None else twins.get(id(change.needs)),
            )
            twins[id(change)] = twin
            other._changes.append(twin)
        other.capacity = self.capacity
        return other

    # --- looking and meddling from outside -------------------------------------------------------

    def paths(self) -> Sequence[str]:
        """All files (and links), sorted."""
        return sorted(path for path, inode in self.names.items() if not inode.is_directory)

    def content(self, path: str) -> bytes:
        """A file's bytes as processes see them."""
        return bytes(self.names[path].cache)

    def put(self, path: str, data: bytes) -> None:
        """Somebody else writes a file, durably."""
        if parent_of(path) not in self.names:
            self._put_name(parent_of(path), SimInode(is_directory=True, mode=0o700))
        inode = SimInode()
        inode.put(data)
        self._put_name(path, inode)

    def put_link(self, path: str) -> None:
        """Somebody plants a symbolic link."""
        self._put_name(path, SimInode(is_link=True))

    def put_directory(self, path: str) -> None:
        """Somebody makes a directory."""
        self._put_name(path, SimInode(is_directory=True, mode=0o700))

    def remove(self, path: str) -> None:
        """Somebody removes a file, durably."""
        del self.names[path]
        self._durable.pop(path, None)

    def swap(self, one: str, other: str) -> None:
        """Two files change names."""
        first, second = self.names[one], self.names[other]
        self._put_name(one, second)
        self._put_name(other, first)

    def damage(self, path: str, offset: int, data: bytes) -> None:
        """Synced bytes become others."""
        self.names[path].damage(offset, data)

    def flip(self, path: str, bit: int) -> None:
        """One bit of a file flips, counted from its first byte's lowest."""
        offset = bit // 8
        self.damage(path, offset, bytes([self.names[path].device[offset] ^ 1 << bit % 8]))

    def holds(self, needle: bytes) -> Sequence[str]:
        """The files in which these bytes stand, on the device or in the cache."""
        return [
            path
            for path in self.paths()
            if needle in self.names[path].cache or needle in self.names[path].device
        ]

    def find_all(self, pattern: re.Pattern[bytes]) -> dict[bytes, set[str]]:
        """What a pattern matches in any file, on the device or in the cache, and in which files."""
        found: dict[bytes, set[str]] = {}
        for path in self.paths():
            inode = self.names[path]
            for content in (inode.cache,) if inode.is_settled else (inode.cache, inode.device):
                for match in pattern.findall(content):
                    found.setdefault(match, set()).add(path)
        return found

    # --- inside -----------------------------------------------------------------------------------

    def status_of(self, inode: SimInode) -> FileStatus:
        """What is known of an inode."""
        links = sum(inode is other for other in self.names.values())
        return FileStatus(len(inode.cache), inode.mode, links, inode.is_directory)

    def names_in(self, directory: str) -> Sequence[str]:
        """The names in a directory."""
        return [
            path.rpartition("/")[2] for path in self.names if path and parent_of(path) == directory
        ]

    def begin(self, operation: str, path: str) -> Fault | None:
        """Count a call; the fault it meets. The power may go here."""
        if self.is_off:
            raise PowerCut
        self.calls += 1
        if self.watch is not None:
            self.watch()
        if self.trace is not None:
            self.trace.append((operation, path))
        fault = self.plan(self.calls, operation, path)
        if fault is Fault.ENOSPC and operation not in TAKES_SPACE:
            fault = None
        if fault is Fault.CUT_BEFORE:
            self.cut()
        return fault

    def cut(self) -> None:
        """Nothing works from now on. Raises PowerCut."""
        self.is_off = True
        raise PowerCut

    def fail(self, fault: Fault, operation: str, path: str) -> None:
        """Raise what the fault means."""
        self.had_faults = True
        if fault is Fault.CUT_AFTER:
            self.cut()
        if fault is Fault.INTERRUPT:
            raise Interrupt
        if fault is Fault.ENOSPC:
            raise DiskFull(f"{operation} {path} failed: no space left; free space and try again")
        raise StorageError(f"{operation} {path} failed: input/output error; check the device")

    def take_blocks(self, inode: SimInode, offset: int, size: int) -> int:
        """How many of these bytes find space; their blocks are taken by writing."""
        if self.capacity is None:
            return size
        free = (self.capacity - self.used) // BLOCK_BYTES
        for block in sorted(blocks_of(offset, size)):
            if block not in inode.blocks:
                free -= 1
                if free < 0:
                    return max(0, block * BLOCK_BYTES - offset)
        return size

    def _perform(self, operation: str, path: str, work: Callable[[], None] | None = None) -> None:
        """One call on names: done, failed before, or failed although it was done."""
        fault = self.begin(operation, path)
        failed_but_done = (
            fault is Fault.CUT_AFTER
            or (fault is Fault.INTERRUPT and self.random.random() < 0.5)
            or (fault is Fault.EIO and operation != "create" and self.random.random() < 0.3)
        )
        if work is not None and (fault is None or failed_but_done):
            work()
        if fault is not None:
            self.fail(fault, operation, path)

    def _take_space(self, operation: str, path: str, size: int) -> None:
        if self.capacity is not None and self.used + size > self.capacity:
            self.fail(Fault.ENOSPC, operation, path)

    def _change(self, change: NameChange) -> None:
        change.apply(self.names)
        self._changes.append(change)

    def _make_durable(self, change: NameChange) -> None:
        if change.needs is not None and change.needs in self._changes:
            self._make_durable(change.needs)
        change.apply(self._durable)
        self._changes.remove(change)

    def _forget(self, inode: SimInode | None) -> None:
        if inode is not None and inode.opens:
            self._unlinked.append(inode)

    def _put_name(self, path: str, inode: SimInode) -> None:
        self.names[path] = self._durable[path] = inode

    def _found(self, path: str) -> SimInode:
        inode = self.names.get(path)
        if inode is None:
            parent = self.names.get(parent_of(path))
            if parent is not None and not parent.is_directory:
                raise StorePathError(f"the parent of {path} is no directory")
            raise FileNotFoundError(path)
        return inode

    def _plain(self, path: str) -> SimInode:
        inode = self._found(path)
        if inode.is_directory or inode.is_link:
            raise StorePathError(f"{path} is no plain file; move it out of the store")
        return inode

    def _check_directory(self, path: str) -> None:
        if not self._found(path).is_directory:
            raise StorePathError(f"{path} is no directory; move it out of the store")

    def _check_parent(self, path: str) -> None:
        self._check_directory(parent_of(path))

    def _all_inodes(self) -> Sequence[SimInode]:
        changed = [change.inode for change in self._changes if change.inode is not None]
        return [*self.names.values(), *self._durable.values(), *changed]


class SimFile:
    """An open file of a SimDisk."""

    def __init__(self, disk: SimDisk, inode: SimInode, path: str, *, write: bool) -> None:
        self._disk = disk
        self._inode = inode
        self._path = path
        self._write = write
        self._era = disk.era
        self._closed = False
        inode.opens += 1

    def read(self, offset: int, size: int) -> bytes:
        """See File."""
        self._begin_harmless("read")
        return bytes(self._inode.cache[offset : offset + size])

    def write(self, offset: int, data: bytes) -> None:
        """See File."""
        disk, inode = self._disk, self._inode
        fault = self._begin("write", writes=True)
        room = disk.take_blocks(inode, offset, len(data))
        if fault is None and room == len(data):
            inode.write(offset, data)
            return
        if fault is Fault.CUT_AFTER:
            inode.write(offset, data[:room])
        else:  # some of it is there, or all
            inode.write(offset, data[: min(room, disk.random.randint(0, len(data)))])
        disk.fail(fault or Fault.ENOSPC, "write", self._path)

    def status(self) -> FileStatus:
        """See File."""
        self._begin_harmless("status")
        return self._disk.status_of(self._inode)

    def truncate(self, size: int) -> None:
        """See File."""
        fault = self._begin("truncate", writes=True)
        done = fault is Fault.CUT_AFTER or self._disk.random.random() < 0.5
        if fault is None or done:
            self._inode.resize(size)
        if fault is not None:
            self._disk.fail(fault, "truncate", self._path)

    def allocate(self, size: int) -> None:
        """See File."""
        disk, inode = self._disk, self._inode
        fault = self._begin("allocate", writes=True)
        if fault is None and disk.take_blocks(inode, 0, size) < size:
            fault = Fault.ENOSPC
        if fault in (None, Fault.CUT_AFTER):
            inode.resize(max(size, len(inode.cache)))
            inode.blocks |= blocks_of(0, size)
        if fault is not None:
            disk.fail(fault, "allocate", self._path)

    def sync(self) -> None:
        """See File."""
        fault = self._begin("sync")
        if fault in (None, Fault.CUT_AFTER):
            self._inode.sync()
        elif fault is not Fault.INTERRUPT:
            self._inode.fail_sync(self._disk.random)
        if fault is not None:
            self._disk.fail(fault, "sync", self._path)

    def drop_cache(self) -> None:
        """See File."""
        self._begin_harmless("drop_cache")
        self._inode.drop_cache()

    def close(self) -> None:
        """See File."""
        if not self._closed:
            self._closed = True
            self._inode.opens -= 1

    def _begin(self, operation: str, *, writes: bool = False) -> Fault | None:
        assert not self._closed, f"{operation} on a closed file"
        if self._era != self._disk.era:  # left over from before a crash
            raise PowerCut
        if writes and not self._write:
            raise StorageError(f"{operation} {self._path} failed: it is open for reading")
        return self._disk.begin(operation, self._path)

    def _begin_harmless(self, operation: str) -> None:
        fault = self._begin(operation)
        if fault is not None:
            self._disk.fail(fault, operation, self._path)
