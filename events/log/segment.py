"""Segments: files of frames, each named by its first position, with a header that says whose.

The header's 128 bytes are laid out in docs/reference/log-format.md. It is written and synced,
together with the file's name, before any frame goes in, and only when everything before its base
is durable: so it is evidence for base - 1. A gap can lie only here, between two segments.
"""

import re
from collections.abc import Sequence
from struct import Struct
from typing import Final

import attrs

from turnfold.events.codec import REASON_CODES
from turnfold.events.errors import CorruptData, StorageError, UnsupportedFormat
from turnfold.events.event import Gap
from turnfold.events.log.chain import skip
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.frame import POSITION_MAX
from turnfold.events.reasons import Reason

LOG_DIRECTORY: Final = "log"
SEGMENT_MAGIC: Final = b"TURNFOLD"
SEGMENT_VERSION: Final = 1
SEGMENT_HEADER_BYTES: Final = 128
EXPORTED: Final = 1  # flag: an export, whose frames have no payload parts

GAP_REASONS: Final = (
    Reason.OPENED_DAMAGED,
    Reason.TRIMMED_STORAGE_LIMIT,
    Reason.DAMAGE_FOUND,
    Reason.DAMAGE_UNDECLARED,
)
_REASON_OF: Final = {REASON_CODES[reason]: reason for reason in GAP_REASONS}

_HEADER: Final = Struct("<8sHHI16sQ32s8sQQB27xI")
_CRC: Final = Struct("<I")
_CRC_OFFSET: Final = SEGMENT_HEADER_BYTES - _CRC.size
_NAME: Final = re.compile(r"([0-9]{20})\.log", re.ASCII)
assert _HEADER.size == SEGMENT_HEADER_BYTES


@attrs.frozen
class SegmentHeader:
    """Whose segment it is and where it stands in the chain.

    `previous_head` is the chain head before the gap, if there is one, else before `base`.
    `exported`: the payload parts were left out of its frames. Raises ValueError if the gap doesn't
    end right before `base`.
    """

    base: int
    epoch: int
    store_id: bytes
    previous_head: bytes = attrs.field(repr=False)
    key_check: bytes = attrs.field(repr=False)
    gap: Gap | None = None
    exported: bool = False

    def __attrs_post_init__(self) -> None:
        if not 1 <= self.base <= POSITION_MAX:
            raise ValueError(f"a segment can't begin at position {self.base}")
        gap = self.gap
        if gap is not None and not 1 <= gap.first <= gap.last == self.base - 1:
            raise ValueError(f"a gap {gap.first}-{gap.last} can't lie before {self.base}")

    @property
    def head(self) -> bytes:
        """The chain head at base - 1, the gap included."""
        return self.previous_head if self.gap is None else skip(self.previous_head, self.gap)


def segment_path(base: int) -> str:
    """Where the segment that begins at `base` lies, relative to the store."""
    return f"{LOG_DIRECTORY}/{base:020}.log"


def segment_base(name: str) -> int | None:
    """The first position that a file name in the log directory names, or None for other files."""
    match = _NAME.fullmatch(name)
    base = int(match[1]) if match else 0
    return base if 1 <= base <= POSITION_MAX else None


def list_segments(disk: Disk) -> list[int]:
    """The bases of the segments that are there, rising; other files are passed over."""
    try:
        names = disk.list(LOG_DIRECTORY)
    except FileNotFoundError:
        return []
    return [base for name in names if (base := segment_base(name)) is not None]


def encode_segment_header(header: SegmentHeader) -> bytes:
    """The header's 128 bytes."""
    gap = header.gap
    data = _HEADER.pack(
        SEGMENT_MAGIC,
        SEGMENT_VERSION,
        EXPORTED if header.exported else 0,
        header.epoch,
        header.store_id,
        header.base,
        header.previous_head,
        header.key_check,
        gap.first if gap else 0,
        gap.last if gap else 0,
        REASON_CODES[gap.reason] if gap else 0,
        0,
    )
    body = data[:_CRC_OFFSET]
    return body + _CRC.pack(crc32c(body))


def parse_segment_header(data: bytes, base: int) -> SegmentHeader:
    """The header of the segment named `base`.

    Raises UnsupportedFormat for a newer version, whose first 128 bytes carry magic, version and
    checksum in the same places, and CorruptData for anything else that doesn't hold.
    """
    path = segment_path(base)
    if len(data) < SEGMENT_HEADER_BYTES:
        raise CorruptData(f"{path} ends within its header, at byte {len(data)}")
    data = data[:SEGMENT_HEADER_BYTES]
    magic, version, flags, epoch, store_id, inner, head, check, *gap, crc = _HEADER.unpack(data)
    if magic != SEGMENT_MAGIC:
        raise CorruptData(f"{path} doesn't begin like a segment")
    if crc != crc32c(data[:_CRC_OFFSET]):
        raise CorruptData(f"{path}: the header's checksum doesn't hold")
    if version != SEGMENT_VERSION or flags & ~EXPORTED:
        raise UnsupportedFormat(
            f"{path} has format {version} with flags {flags}; this Turnfold reads"
            f" {SEGMENT_VERSION} with no flag but {EXPORTED}: use the one that wrote it, or a newer"
        )
    if inner != base:
        raise CorruptData(f"{path} says it begins at {inner}: it was renamed or copied")
    try:
        header = SegmentHeader(base, epoch, store_id, head, check, _gap(*gap), bool(flags))
    except ValueError as error:
        raise CorruptData(f"{path}: {error}") from error
    if encode_segment_header(header) != data:
        raise CorruptData(f"{path}: unused bytes of the header are not zero")
    return header


def _gap(first: int, last: int, code: int) -> Gap | None:
    if not first and not last and not code:
        return None
    reason = _REASON_OF.get(code)
    if reason is None:
        raise ValueError(f"code {code} is no reason for a gap")
    return Gap(first, last, reason)


def read_segment_header(file: File, base: int) -> SegmentHeader:
    """The header of the open segment file named `base`. Raises like parse_segment_header."""
    return parse_segment_header(file.read(0, SEGMENT_HEADER_BYTES), base)


def prepare_segment(disk: Disk, header: SegmentHeader, frames: Sequence[bytes] = ()) -> File:
    """A synced segment under a temporary name, open for writing; `install_segment` follows.

    `frames` are the bytes that follow the header, in pieces of any size.

    After an error (DiskFull, StorageError) nothing of it is left.
    """
    temporary = _temporary(header.base)
    discard_segment(disk, header.base)
    file = disk.create(temporary)
    try:
        offset = 0
        for piece in (encode_segment_header(header), *frames):
            file.write(offset, piece)
            offset += len(piece)
        file.sync()
    except BaseException:
        file.close()
        discard_segment(disk, header.base)
        raise
    return file


def install_segment(disk: Disk, base: int) -> None:
    """Give a prepared segment its name, in place of one that holds no more. Not yet durable."""
    disk.rename(_temporary(base), segment_path(base))


def discard_segment(disk: Disk, base: int) -> None:
    """Remove a prepared segment, if there is one; one that can't be removed is harmless."""
    try:
        disk.unlink(_temporary(base))
    except (FileNotFoundError, StorageError):
        return  # readers pass it over, and the next open removes it


def _temporary(base: int) -> str:
    return segment_path(base) + ".tmp"
