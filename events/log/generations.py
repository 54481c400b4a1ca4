"""Generations as a set of files: writing one in slices, keeping as many as fit, zeroing in them.

A generation is written under a temporary name, synced, read back, renamed, and only then counts.
Not done here: what is inside (generation_file, skeleton) and which text must go (erasure).
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Final

from turnfold.events.errors import CorruptData, StorageError
from turnfold.events.log.backend import GenerationFile
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.generation_file import (
    GENERATION_DIRECTORY,
    GENERATION_HEADER_BYTES,
    GenerationHeader,
    LoadedGeneration,
    encode_header,
    generation_name,
    generation_path,
    generation_position,
    is_directory,
    list_generations,
    load_generation,
)
from turnfold.events.snapshot import (
    DIGEST_BYTES,
    Capture,
    sealed_parts,
    skeleton_blocks,
    skeleton_digest,
)

KEPT_MIN: Final = 2  # verified generations that are never retired
KEPT_MAX: Final = 64  # files, however small: an erasure looks into each of them

_TEMPORARY: Final = ".tmp"
_SLICE_BYTES: Final = 128 * 1024  # written or hashed between two pauses: about 0.2 ms
_PARTS: Final = 64  # sealed parts taken between two pauses: less than 0.1 ms

Pause = Callable[[], None]


def write_generation(
    disk: Disk, store_id: bytes, captured: Capture, head: bytes, pause: Pause
) -> GenerationFile:
    """Write, sync, read back and name a generation. The log must be durable through it.

    `pause` is called between slices of about 0.2 ms. After an error (DiskFull, StorageError, or
    CorruptData if what comes back from the device differs) nothing of it is left.
    """
    temporary = f"{GENERATION_DIRECTORY}/{captured.position:020}{_TEMPORARY}"
    discard(disk, temporary)
    file = disk.create(temporary)
    try:
        header, payload_digest = _write_body(file, store_id, captured, head, pause)
        file.write(0, encode_header(header))
        file.sync()
        file.drop_cache()
        _check_body(file, temporary, header, payload_digest, pause)
        name = generation_name(header.position, header.digest)
        disk.rename(temporary, generation_path(name))
    except BaseException:
        file.close()
        discard(disk, temporary)
        raise
    file.close()
    disk.sync_directory(GENERATION_DIRECTORY)
    return GenerationFile(name, header.position, header.digest, header.file_bytes)


def _write_body(
    file: File, store_id: bytes, captured: Capture, head: bytes, pause: Pause
) -> tuple[GenerationHeader, bytes]:
    """Write skeleton and sealed parts; the header to be, and a digest of the sealed parts."""
    digest, payload_digest = skeleton_digest(), blake2b()
    blocks = _paced(skeleton_blocks(captured), 1, pause)
    middle = _write_slices(file, GENERATION_HEADER_BYTES, blocks, digest.update)
    parts = (part for _session, _position, part in sealed_parts(captured))
    end = _write_slices(file, middle, _paced(parts, _PARTS, pause), payload_digest.update)
    header = GenerationHeader(
        store_id=store_id,
        position=captured.position,
        head=head,
        digest=digest.digest(),
        skeleton_bytes=middle - GENERATION_HEADER_BYTES,
        payload_bytes=end - middle,
    )
    return header, payload_digest.digest()


def _paced(pieces: Iterable[bytes], every: int, pause: Pause) -> Iterator[bytes]:
    for count, piece in enumerate(pieces, 1):
        yield piece
        if count % every == 0:
            pause()


def _write_slices(
    file: File, offset: int, pieces: Iterable[bytes], update: Callable[[bytes], None]
) -> int:
    """Write the pieces one after the other, a slice at a time; the offset behind them."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _SLICE_BYTES:
            offset = _write_slice(file, offset, waiting, update)
            size = 0
    return _write_slice(file, offset, waiting, update)


def _write_slice(
    file: File, offset: int, waiting: list[bytes], update: Callable[[bytes], None]
) -> int:
    data = b"".join(waiting)
    waiting.clear()
    if data:
        file.write(offset, data)
        update(data)
    return offset + len(data)


def _check_body(
    file: File, path: str, header: GenerationHeader, payload_digest: bytes, pause: Pause
) -> None:
    digest, again = skeleton_digest(), blake2b()
    middle = GENERATION_HEADER_BYTES + header.skeleton_bytes
    for data in _slices(file, GENERATION_HEADER_BYTES, middle):
        digest.update(data)
        pause()
    for data in _slices(file, middle, header.file_bytes):
        again.update(data)
        pause()
    if (digest.digest(), again.digest()) != (header.digest, payload_digest):
        raise CorruptData(f"{path}: the device gave back other bytes than were written")


def _slices(file: File, offset: int, end: int) -> Iterator[bytes]:
    while offset < end:
        data = file.read(offset, min(_SLICE_BYTES, end - offset))
        if not data:
            return
        yield data
        offset += len(data)


def discard(disk: Disk, path: str) -> None:
    """Remove a temporary file, if there is one; its bytes are zeroed first."""
    try:
        file = disk.open(path, write=True)
    except FileNotFoundError:
        return
    try:
        zero(file, 0, file.status().size)
        file.sync()
    except StorageError:
        pass  # unlinking is what counts: nothing below the store's directory holds it then
    finally:
        file.close()
    disk.unlink(path)


def discard_unfinished(disk: Disk) -> None:
    """Remove generations that were never finished and couldn't be removed then. None is under way.

    Raises StorageError.
    """
    try:
        names = disk.list(GENERATION_DIRECTORY)
    except FileNotFoundError:
        return
    for name in names:
        if name.endswith(_TEMPORARY):
            discard(disk, f"{GENERATION_DIRECTORY}/{name}")
            disk.sync_directory(GENERATION_DIRECTORY)


def zero(file: File, offset: int, size: int) -> None:
    """Put zeros in place of `size` bytes at `offset`, which exist."""
    while size > 0:
        step = min(size, _SLICE_BYTES)
        file.write(offset, bytes(step))
        offset += step
        size -= step


# --- keeping -------------------------------------------------------------------------------------


class Generations:
    """The generations of one store, and which of them are known to hold.

    One that this process wrote or opened from is verified; others are when it matters.
    """

    def __init__(
        self, disk: Disk, store_id: bytes, bytes_max: int, verified: Iterable[str] = ()
    ) -> None:
        self._disk = disk
        self._store_id = store_id
        self._bytes_max = bytes_max
        self._verified = set(verified)

    def write(self, captured: Capture, head: bytes, pause: Pause) -> GenerationFile:
        """See write_generation. A file of the same position and digest is replaced."""
        written = write_generation(self._disk, self._store_id, captured, head, pause)
        self._verified.add(written.name)
        return written

    def newest_verified(self, count: int) -> list[str]:
        """The names of the newest `count` generations that hold, or fewer."""
        names: list[str] = []
        for name in list_generations(self._disk):
            if len(names) == count:
                break
            if name in self._verified or self._verify(name):
                names.append(name)
        return names

    def retire(self) -> list[GenerationFile]:
        """Remove the oldest until the rest is within the limit and no more than KEPT_MAX.

        KEPT_MIN verified ones stay.

        Raises StorageError.
        """
        kept = set(self.newest_verified(KEPT_MIN))
        names = [
            name for name in list_generations(self._disk) if not is_directory(self._disk, name)
        ]
        sizes = {name: self._disk.status(generation_path(name)).size for name in names}
        total, count = sum(sizes.values()), len(sizes)
        retired: list[GenerationFile] = []
        for name in reversed(names):
            if total <= self._bytes_max and count <= KEPT_MAX:
                break
            if name in kept:
                continue
            retired.append(self._describe(name, sizes[name]))
            self._disk.unlink(generation_path(name))
            self._disk.sync_directory(GENERATION_DIRECTORY)
            self._verified.discard(name)
            total -= sizes[name]
            count -= 1
        return retired

    def _verify(self, name: str) -> bool:
        loaded = load_generation(self._disk, name, self._store_id)
        if isinstance(loaded, LoadedGeneration):
            self._verified.add(name)
            return True
        return False

    def _describe(self, name: str, size: int) -> GenerationFile:
        loaded = load_generation(self._disk, name, self._store_id)
        if isinstance(loaded, LoadedGeneration):
            return loaded.file
        position = generation_position(name) or 0
        return GenerationFile(name, position, bytes(DIGEST_BYTES), size)
