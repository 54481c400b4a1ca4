"""The archive on files: generations, erasure, quarantine, trimming and checkpoints of one store.

Owned by the generation writer's thread. The log's newest segment is the log's own; here only its
payloads are zeroed, through another descriptor.
"""

from collections.abc import Callable, Sequence
from typing import Final

from turnfold.events.errors import CorruptData
from turnfold.events.log.backend import (
    Erasure,
    GenerationFile,
    QuarantinedFile,
    Trimmed,
)
from turnfold.events.log.checkpoint import load_checkpoint, save_checkpoint
from turnfold.events.log.disk import Disk
from turnfold.events.log.erasure import erase
from turnfold.events.log.generation_file import generation_position
from turnfold.events.log.generations import KEPT_MIN, Generations
from turnfold.events.log.quarantine import Quarantine
from turnfold.events.log.segment import (
    LOG_DIRECTORY,
    list_segments,
    read_segment_header,
    segment_path,
)
from turnfold.events.session import PendingErasure
from turnfold.events.snapshot import Capture

Pause = Callable[[], None]

_KEPT_SEGMENTS: Final = 1  # the newest is being written


class FileArchive:
    """`Archive` on a disk."""

    def __init__(
        self,
        disk: Disk,
        generations: Generations,
        quarantine: Quarantine,
        *,
        log_bytes_max: int,
        durable: Callable[[], int],
    ) -> None:
        """`durable` gives the log's durable position, from any thread."""
        self._disk = disk
        self._generations = generations
        self._quarantine = quarantine
        self._log_bytes_max = log_bytes_max
        self._durable = durable

    def write_generation(self, captured: Capture, head: bytes, pause: Pause) -> GenerationFile:
        """See Archive. Raises DiskFull, StorageError, or ValueError if it isn't durable yet."""
        if captured.position > self._durable():
            raise ValueError(f"the log isn't durable through position {captured.position}")
        return self._generations.write(captured, head, pause)

    def retire(self) -> Sequence[GenerationFile]:
        """See Archive."""
        return self._generations.retire()

    def erase(self, pending: Sequence[PendingErasure], pause: Pause) -> Sequence[Erasure]:
        """See Archive, and erasure.erase."""
        return erase(self._disk, pending, pause)

    def quarantined(self) -> Sequence[QuarantinedFile]:
        """See Archive."""
        return self._quarantine.files()

    def empty_quarantine(self) -> int:
        """See Archive."""
        return self._quarantine.empty()

    # --- trimming ------------------------------------------------------------------------

    def is_log_full(self) -> bool:
        """See Archive."""
        bases = list_segments(self._disk)
        sizes = [self._disk.status(segment_path(base)).size for base in bases]
        return sum(sizes) > self._log_bytes_max

    def trimmable(self) -> Trimmed | None:
        """See Archive: as few of the oldest segments as bring the log below its limit.

        Every segment dropped ends before the older of the two newest verified generations, so
        that replay from it reaches everything that is left.
        """
        bases = list_segments(self._disk)
        verified = self._generations.newest_verified(KEPT_MIN)
        if len(verified) < KEPT_MIN or len(bases) <= _KEPT_SEGMENTS:
            return None
        reach = generation_position(verified[-1]) or 0
        sizes = [self._disk.status(segment_path(base)).size for base in bases]
        excess = sum(sizes) - self._log_bytes_max
        count = size = 0
        while excess > size and count < len(bases) - _KEPT_SEGMENTS:
            if bases[count + 1] - 1 > reach:
                break
            size += sizes[count]
            count += 1
        if not count:
            return None
        head = self._head_before(bases[count])
        return None if head is None else Trimmed(bases[count], head, count, size)

    def trim(self, trimmed: Trimmed, pause: Pause) -> None:
        """See Archive. May be repeated: what is gone is passed over. Raises StorageError."""
        for base in list_segments(self._disk):
            if base < trimmed.first_kept:
                self._disk.unlink(segment_path(base))
                self._disk.sync_directory(LOG_DIRECTORY)
                pause()

    def _head_before(self, base: int) -> bytes | None:
        """The chain head that a segment begins with, its gap included; None if it is damaged."""
        file = self._disk.open(segment_path(base))
        try:
            return read_segment_header(file, base).head
        except CorruptData:
            return None
        finally:
            file.close()

    # --- checkpoints ---------------------------------------------------------------------

    def load_checkpoint(self, name_tag: bytes) -> int | None:
        """See Archive."""
        return load_checkpoint(self._disk, name_tag)

    def save_checkpoint(self, name_tag: bytes, position: int) -> None:
        """See Archive. Raises ValueError beyond the durable position, else StorageError."""
        if position > self._durable():
            raise ValueError(f"position {position} isn't durable yet")
        save_checkpoint(self._disk, name_tag, position)
