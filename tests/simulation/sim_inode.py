"""The bytes of one simulated file: what the page cache shows, what the device holds, what lies
between.

A write or truncate changes the cache at once and waits in `pending` until a sync. A power cut keeps
some of what waits: each 512-byte sector is, on its own, as new as some prefix of the waiting writes
made it, torn in its middle, or garbled, and the size is one of those that the file had since the
sync. Bytes of a sector that nobody wrote to since then never change (a device that loses those
loses any log's durable tail).
"""

from random import Random
from typing import Final

import attrs

SECTOR_BYTES: Final = 512
BLOCK_BYTES: Final = 4096  # what a file system allocates at once


@attrs.frozen
class Write:
    """Bytes on their way to the device."""

    offset: int
    data: bytes

    @property
    def end(self) -> int:
        """The offset behind them."""
        return self.offset + len(self.data)


@attrs.frozen
class Resize:
    """The file was cut or extended with zeros to `size`."""

    size: int


@attrs.define(eq=False)
class SimInode:
    """A file, a directory (without bytes of its own) or a symbolic link."""

    is_directory: bool = False
    is_link: bool = False
    mode: int = 0o600
    cache: bytearray = attrs.field(factory=bytearray, repr=False)
    device: bytearray = attrs.field(factory=bytearray, repr=False)
    pending: list[Write | Resize] = attrs.field(factory=list["Write | Resize"], repr=False)
    blocks: set[int] = attrs.field(factory=set[int], repr=False)
    opens: int = 0
    stale: bool = False  # a sync failed: the cache may show what never gets to the device
    shared: bool = False  # a clone has the same bytes until one of the two changes them

    def clone(self) -> "SimInode":
        """A copy that nobody has open."""
        self.shared = True
        return attrs.evolve(self, pending=list(self.pending), blocks=set(self.blocks), opens=0)

    def _own(self) -> None:
        if self.shared:
            self.cache, self.device = bytearray(self.cache), bytearray(self.device)
            self.shared = False

    @property
    def is_settled(self) -> bool:
        """Whether cache and device hold the same."""
        return not self.pending and not self.stale

    # --- what a process does -----------------------------------------------------------------

    def write(self, offset: int, data: bytes) -> None:
        """Into the cache."""
        if data:
            self._own()
            change = Write(offset, bytes(data))
            _apply(self.cache, change)
            self.pending.append(change)
            self.blocks.update(blocks_of(offset, len(data)))

    def resize(self, size: int) -> None:
        """Cut, giving blocks back, or extend with a hole."""
        if size != len(self.cache):
            self._own()
            change = Resize(size)
            _apply(self.cache, change)
            self.pending.append(change)
            whole = -(-size // BLOCK_BYTES)
            self.blocks = {block for block in self.blocks if block < whole}

    def sync(self) -> None:
        """Everything that waits reaches the device."""
        if self.pending:
            self._own()
        for change in self.pending:
            _apply(self.device, change)
        self.pending.clear()

    def fail_sync(self, random: Random) -> None:
        """A failed fsync: the kernel may mark pages clean that never reached the device."""
        if random.random() < 0.75:
            self._own()
            self.device = self._cut(random)
            self.pending.clear()
            self.stale = True

    def drop_cache(self) -> None:
        """Clean pages are read from the device again; what waits stays."""
        if self.stale:
            self._own()
            self.cache = bytearray(self.device)
            for change in self.pending:
                _apply(self.cache, change)
            self.stale = False

    # --- what happens to it ------------------------------------------------------------------

    def crash(self, random: Random) -> None:
        """The power goes; afterwards the cache shows what the device kept."""
        if self.pending or self.stale:
            self._own()
            self.device = self._cut(random)
            self.pending.clear()
            self.cache = bytearray(self.device)
            self.stale = False
        self.opens = 0

    def damage(self, offset: int, data: bytes) -> None:
        """The device itself changes: bytes that were synced are others now."""
        self._own()
        for copy in (self.device, self.cache):
            end = min(len(copy), offset + len(data))
            copy[offset:end] = data[: max(0, end - offset)]

    def put(self, data: bytes) -> None:
        """Other bytes altogether, durable at once: somebody else's doing."""
        self.device, self.cache = bytearray(data), bytearray(data)
        self.pending.clear()
        self.stale = self.shared = False
        self.blocks = blocks_of(0, len(data))

    def _cut(self, random: Random) -> bytearray:
        """What the device holds after the power went while `pending` was on its way."""
        fate = random.random()
        if not self.pending or fate < 0.1:
            return bytearray(self.device)
        kept = len(self.pending) if fate < 0.5 else random.randint(0, len(self.pending))
        left = bytearray(self.device)
        for change in self.pending[:kept]:
            size = change.size if isinstance(change, Resize) else max(len(left), change.end)
            _apply(left, Resize(size))
        for sector in self._touched():
            start = sector * SECTOR_BYTES
            content = self._sector(sector, random, whole=fate < 0.25)
            end = min(len(left), start + SECTOR_BYTES)
            if start < end:
                left[start:end] = content[: end - start]
        return left

    def _touched(self) -> list[int]:
        sectors: set[int] = set()
        for change in self.pending:
            if isinstance(change, Write):
                first = change.offset // SECTOR_BYTES
                sectors.update(range(first, -(-change.end // SECTOR_BYTES)))
        return sorted(sectors)

    def _sector(self, sector: int, random: Random, *, whole: bool) -> bytes:
        """One sector: kept, dropped, torn or garbled."""
        count = len(self.pending)
        fate = random.random()
        if whole or fate < 0.3:
            return self._version(sector, count)
        if fate < 0.6:
            return self._version(sector, random.randrange(count))
        older = self._version(sector, random.randrange(count))
        newer = self._version(sector, count)
        if fate < 0.8:
            cut = random.randrange(SECTOR_BYTES)
            return newer[:cut] + older[cut:] if fate < 0.7 else older[:cut] + newer[cut:]
        garbled = bytearray(newer)
        start = sector * SECTOR_BYTES
        zeros = fate < 0.87
        for change in self.pending:
            if isinstance(change, Write):
                low = max(change.offset - start, 0)
                high = min(change.end - start, SECTOR_BYTES)
                if low < high:
                    size = high - low
                    garbled[low:high] = bytes(size) if zeros else random.randbytes(size)
        return bytes(garbled)

    def _version(self, sector: int, changes: int) -> bytes:
        """The sector after that many of the waiting changes."""
        start = sector * SECTOR_BYTES
        content = bytearray(self.device[start : start + SECTOR_BYTES])
        content.extend(bytes(SECTOR_BYTES - len(content)))
        for change in self.pending[:changes]:
            if isinstance(change, Resize):
                low = min(max(change.size - start, 0), SECTOR_BYTES)
                content[low:] = bytes(SECTOR_BYTES - low)
                continue
            low = max(change.offset - start, 0)
            high = min(change.end - start, SECTOR_BYTES)
            if low < high:
                skipped = start + low - change.offset
                content[low:high] = change.data[skipped : skipped + high - low]
        return bytes(content)


def blocks_of(offset: int, size: int) -> set[int]:
    """The blocks that hold these bytes."""
    return set(range(offset // BLOCK_BYTES, -(-(offset + size) // BLOCK_BYTES)))


def _apply(content: bytearray, change: Write | Resize) -> None:
    size = change.size if isinstance(change, Resize) else change.end
    if len(content) < size:
        content.extend(bytes(size - len(content)))
    if isinstance(change, Resize):
        del content[size:]
    else:
        content[change.offset : change.end] = change.data
