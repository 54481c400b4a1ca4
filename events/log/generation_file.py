"""The file of a generation: the state at one position. Its layout, and reading it with distrust.

    generations/generation-<position>-<first 16 hex digits of the digest>.cbor

    header (128 bytes) | skeleton | sealed parts

The header carries the state digest, which is the checksum of the skeleton; the sealed parts have
no checksum of their own: their commitments in the skeleton cover them, so that zeros can take
their place later. The layout stands in docs/reference/generation-format.md.
"""

import re
from struct import Struct
from typing import Final

import attrs

from turnfold.events.errors import CorruptData, StorePathError, UnsupportedFormat
from turnfold.events.limits import BOUNDS, ENDED_KEYS_MAX, MIB
from turnfold.events.log.backend import GenerationFile
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.frame import POSITION_MAX
from turnfold.events.reasons import Reason
from turnfold.events.restore import restore
from turnfold.events.skeleton import FOLD_VERSION
from turnfold.events.snapshot import skeleton_digest
from turnfold.events.state import StoreState

GENERATION_DIRECTORY: Final = "generations"
GENERATION_MAGIC: Final = b"TURNGENR"
GENERATION_VERSION: Final = 1
GENERATION_HEADER_BYTES: Final = 128
GENERATION_FILE_BYTES_MAX: Final = (
    BOUNDS["aggregate_bytes"][2] + BOUNDS["state_bytes"][2] + 64 * ENDED_KEYS_MAX + 64 * MIB
)

_HEADER: Final = Struct("<8sHHI16sQ32s32sQQ4xI")
_CRC_OFFSET: Final = GENERATION_HEADER_BYTES - 4
_NAME: Final = re.compile(r"generation-([0-9]{20})-([0-9a-f]{16})\.cbor", re.ASCII)
assert _HEADER.size == GENERATION_HEADER_BYTES


@attrs.frozen
class GenerationHeader:
    """What a generation says about itself; `head` is the chain head at its position."""

    store_id: bytes
    position: int
    head: bytes = attrs.field(repr=False)
    digest: bytes = attrs.field(repr=False)
    skeleton_bytes: int
    payload_bytes: int

    @property
    def file_bytes(self) -> int:
        """The whole file's size."""
        return GENERATION_HEADER_BYTES + self.skeleton_bytes + self.payload_bytes


@attrs.frozen
class Rejected:
    """A generation that can't be used, the reason to quarantine it for, and in words.

    `gone`: it isn't there any more; a writer may have retired it since it was listed.
    """

    name: str
    reason: Reason
    message: str
    gone: bool = False


@attrs.frozen(repr=False)
class LoadedGeneration:
    """A generation whose header and skeleton hold."""

    name: str
    header: GenerationHeader
    skeleton: bytes

    @property
    def payload_offset(self) -> int:
        """Where the sealed parts begin in the file."""
        return GENERATION_HEADER_BYTES + self.header.skeleton_bytes

    @property
    def file(self) -> GenerationFile:
        """Its entry in a list of files."""
        header = self.header
        return GenerationFile(self.name, header.position, header.digest, header.file_bytes)

    def __repr__(self) -> str:
        return f"LoadedGeneration({self.name})"


# --- names -----------------------------------------------------------------------------------


def generation_name(position: int, digest: bytes) -> str:
    """The file name of the generation at `position`."""
    return f"generation-{position:020}-{digest[:8].hex()}.cbor"


def generation_path(name: str) -> str:
    """Where the file lies, relative to the store."""
    return f"{GENERATION_DIRECTORY}/{name}"


def generation_position(name: str) -> int | None:
    """The position that a file name in the directory names, or None for other files."""
    match = _NAME.fullmatch(name)
    return None if match is None or int(match[1]) > POSITION_MAX else int(match[1])


def list_generations(disk: Disk) -> list[str]:
    """The names of all generations, newest first; other files are passed over."""
    try:
        names = disk.list(GENERATION_DIRECTORY)
    except FileNotFoundError:
        return []
    return sorted((name for name in names if generation_position(name) is not None), reverse=True)


def is_directory(disk: Disk, name: str) -> bool:
    """Whether somebody put a directory in a generation's place: then it holds nothing of ours."""
    try:
        return disk.status(generation_path(name)).is_directory
    except StorePathError:
        return False  # a link: whoever opens it says so


# --- the header --------------------------------------------------------------------------------


def encode_header(header: GenerationHeader) -> bytes:
    """The header's 128 bytes."""
    body = _HEADER.pack(
        GENERATION_MAGIC,
        GENERATION_VERSION,
        0,
        FOLD_VERSION,
        header.store_id,
        header.position,
        header.head,
        header.digest,
        header.skeleton_bytes,
        header.payload_bytes,
        0,
    )[:_CRC_OFFSET]
    return body + crc32c(body).to_bytes(4, "little")


def decode_header(data: bytes) -> GenerationHeader:
    """The header that begins with `data`. Raises CorruptData or UnsupportedFormat."""
    if len(data) < GENERATION_HEADER_BYTES:
        raise CorruptData("a generation ends within its header")
    data = data[:GENERATION_HEADER_BYTES]
    magic, version, flags, fold_version, *fields, crc = _HEADER.unpack(data)
    if magic != GENERATION_MAGIC or crc != crc32c(data[:_CRC_OFFSET]):
        raise CorruptData("a generation's header doesn't hold")
    if version != GENERATION_VERSION or flags or fold_version != FOLD_VERSION:
        raise UnsupportedFormat(
            f"a generation has format {version} and fold {fold_version}; this Turnfold reads"
            f" {GENERATION_VERSION} and {FOLD_VERSION}"
        )
    header = GenerationHeader(*fields)
    if encode_header(header) != data or not 1 <= header.position <= POSITION_MAX:
        raise CorruptData("a generation's header has bytes out of bounds")
    return header


# --- reading -------------------------------------------------------------------------------------


def header_position(disk: Disk, name: str) -> int:
    """The position that a generation's name and header agree on; POSITION_MAX if they don't.

    A file that was renamed, swapped or copied may hold text of any age. Raises StorageError.
    """
    file = _opened(disk, name)
    if isinstance(file, Rejected):
        return POSITION_MAX
    try:
        header = decode_header(file.read(0, GENERATION_HEADER_BYTES))
        whole = file.status().size == header.file_bytes
    except (CorruptData, UnsupportedFormat):
        return POSITION_MAX
    finally:
        file.close()
    is_named = name == generation_name(header.position, header.digest)
    return header.position if is_named and whole else POSITION_MAX


def load_generation(disk: Disk, name: str, store_id: bytes | None) -> LoadedGeneration | Rejected:
    """The generation with this file name, if its header and its skeleton's digest hold.

    `store_id` None accepts any store's. Never raises for what the file holds; StorageError if the
    device fails.
    """
    file = _opened(disk, name)
    if isinstance(file, Rejected):
        return file
    try:
        return _load(file, name, store_id)
    finally:
        file.close()


def _opened(disk: Disk, name: str) -> File | Rejected:
    try:
        return disk.open(generation_path(name))
    except FileNotFoundError:
        return Rejected(name, Reason.QUARANTINED_INVALID, "it isn't there any more", gone=True)
    except StorePathError as error:
        return Rejected(name, Reason.QUARANTINED_INVALID, f"it can't be opened: {error}")


def _load(file: File, name: str, store_id: bytes | None) -> LoadedGeneration | Rejected:
    size = file.status().size
    if size > GENERATION_FILE_BYTES_MAX:
        return Rejected(name, Reason.QUARANTINED_OVERSIZED, f"it has {size} bytes")
    try:
        header = decode_header(file.read(0, GENERATION_HEADER_BYTES))
    except UnsupportedFormat as error:
        return Rejected(name, Reason.QUARANTINED_UNSUPPORTED, str(error))
    except CorruptData as error:
        short = size < GENERATION_HEADER_BYTES
        reason = Reason.QUARANTINED_TRUNCATED if short else Reason.QUARANTINED_CORRUPT
        return Rejected(name, reason, str(error))
    if size < header.file_bytes:
        missing = header.file_bytes - size
        return Rejected(name, Reason.QUARANTINED_TRUNCATED, f"{missing} bytes are missing")
    if size > header.file_bytes:
        extra = size - header.file_bytes
        return Rejected(name, Reason.QUARANTINED_CORRUPT, f"{extra} bytes too many follow")
    if name != generation_name(header.position, header.digest):
        return Rejected(name, Reason.QUARANTINED_INVALID, "its name and its header differ")
    if store_id is not None and header.store_id != store_id:
        return Rejected(name, Reason.QUARANTINED_INVALID, "it belongs to another store")
    skeleton = file.read(GENERATION_HEADER_BYTES, header.skeleton_bytes)
    digest = skeleton_digest()
    digest.update(skeleton)
    if digest.digest() != header.digest:
        return Rejected(name, Reason.QUARANTINED_CORRUPT, "its skeleton's digest doesn't hold")
    return LoadedGeneration(name, header, skeleton)


def restore_generation(
    disk: Disk, loaded: LoadedGeneration, *, content: bool = True
) -> StoreState | Rejected:
    """The state that a generation holds; without `content` its texts are withheld."""
    file = _opened(disk, loaded.name)
    if isinstance(file, Rejected):
        return file
    try:
        reader = PartReader(file, loaded.payload_offset)
        state = restore(loaded.skeleton, reader.take if content else None)
    except CorruptData as error:
        return Rejected(loaded.name, Reason.QUARANTINED_INVALID, str(error))
    except UnsupportedFormat as error:
        return Rejected(loaded.name, Reason.QUARANTINED_UNSUPPORTED, str(error))
    finally:
        file.close()
    if state.position != loaded.header.position:
        return Rejected(
            loaded.name, Reason.QUARANTINED_INVALID, "its header names another position"
        )
    if content and reader.offset != loaded.header.file_bytes:
        return Rejected(loaded.name, Reason.QUARANTINED_INVALID, "its parts don't fill it")
    return state


def state_in(disk: Disk, name: str, *, content: bool = True) -> StoreState | Rejected:
    """The state in the generation with this file name, of whichever store."""
    loaded = load_generation(disk, name, None)
    if isinstance(loaded, Rejected):
        return loaded
    return restore_generation(disk, loaded, content=content)


def restore_newest(
    disk: Disk, first: int, last: int, *, content: bool = True
) -> tuple[str, StoreState] | None:
    """The newest generation that holds among those at positions `first` to `last`; its state."""
    for name in list_generations(disk):
        if first <= (generation_position(name) or 0) <= last:
            state = state_in(disk, name, content=content)
            if isinstance(state, StoreState):
                return name, state
    return None


class PartReader:
    """Takes sealed parts off a file one after the other, through a buffer of 1 MiB."""

    def __init__(self, file: File, offset: int) -> None:
        self._file = file
        self._buffer = b""
        self._index = 0
        self.offset = offset  # behind what was taken

    def take(self, size: int) -> bytes:
        """The next `size` bytes; fewer only where the file ends."""
        end = self._index + size
        if end > len(self._buffer):
            self._buffer = self._file.read(self.offset, max(size, MIB))
            self._index, end = 0, size
        part = self._buffer[self._index : end]
        self._index = end
        self.offset += len(part)
        return part
