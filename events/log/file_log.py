"""The log on files: one writer appends frames to the newest segment.

A batch is one write and one sync. What can go wrong has two outcomes and no third: *certainly not
written* (the tail is cut back and the cut synced before the error is raised) or *unknown* (a sync
failed, or somebody else touched the file), after which the log is poisoned: nothing is retried,
nothing is appended, reading goes on. Each opening starts a segment of its own, so a file that an
earlier process wrote is never appended to.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NoReturn

from turnfold.events.codec import encode_times
from turnfold.events.commands import Instant
from turnfold.events.errors import DiskFull, NotWritten, OutcomeUnknown, StorageError
from turnfold.events.event import Gap
from turnfold.events.keys import key_check
from turnfold.events.log.backend import FrameParts, ReadFrame, check_batch
from turnfold.events.log.chain import advance
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.frame import encode_watermark, frame_pieces
from turnfold.events.log.ownership import Ownership
from turnfold.events.log.reader import LogReader
from turnfold.events.log.reserve import Reserve
from turnfold.events.log.resume import Resumed, resume
from turnfold.events.log.segment import (
    LOG_DIRECTORY,
    SEGMENT_HEADER_BYTES,
    SegmentHeader,
    discard_segment,
    install_segment,
    prepare_segment,
)

SEGMENT_BYTES: Final = 64 << 20
SEGMENT_BYTES_MIN: Final = 64 << 10


def segment_bytes_for(log_bytes: int) -> int:
    """How large a segment gets: 64 MiB, or an eighth of the log's limit if that is less."""
    return max(SEGMENT_BYTES_MIN, min(SEGMENT_BYTES, log_bytes // 8))


def trim_above(log_bytes: int) -> int:
    """Bytes of the log above which its start is dropped, so that it stays below its limit.

    Two generations have to be written before it can be, each while a segment fills up.
    """
    return log_bytes - 3 * segment_bytes_for(log_bytes)


class FileLog:
    """`Log` on a disk. All methods but `read` belong to one thread."""

    __slots__ = (
        "_base",
        "_closed",
        "_disk",
        "_durable",
        "_epoch",
        "_file",
        "_head",
        "_ownership",
        "_poison",
        "_position",
        "_reserve",
        "_secret",
        "_segment_bytes",
        "_size",
        "_store_id",
    )

    def __init__(
        self,
        disk: Disk,
        ownership: Ownership,
        *,
        secret: bytes,
        segment_bytes: int,
        reserve: Reserve,
        resumed: Resumed,
    ) -> None:
        """Go on behind `resumed`; `FileLog.resume` is the way to make one."""
        self._disk = disk
        self._ownership = ownership
        self._secret = secret
        self._segment_bytes = segment_bytes
        self._reserve = reserve
        self._file: File = resumed.file
        self._base: int = resumed.header.base
        self._store_id = resumed.header.store_id
        self._epoch = resumed.header.epoch
        self._size = resumed.size
        self._position = self._durable = resumed.position
        self._head = resumed.head
        self._poison: str | None = None
        self._closed = False

    @classmethod
    def resume(
        cls,
        disk: Disk,
        ownership: Ownership,
        *,
        store_id: bytes,
        secret: bytes,
        epoch: int,
        position: int,
        head: bytes,
        gap: Gap | None = None,
        carried: Sequence[bytes] = (),
        replace_tail: bool = False,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> "FileLog":
        """Start a segment behind `position` and append to it. The caller owns the store.

        `head` is the chain head at `position`; with a `gap`, which must end at `position`, it is
        the head before the gap. `carried` are the bytes of whole frames found behind `position`,
        which become the segment's first as they are. A segment that begins at the same place is
        replaced in one step; if it holds events, only with `replace_tail`.

        Raises DiskFull, CorruptData (events would be overwritten, or `carried` isn't whole) and
        StorageError; what was on the disk is unchanged then.
        """
        header = SegmentHeader(position + 1, epoch, store_id, head, key_check(secret), gap)
        reserve = Reserve(disk)
        resumed = resume(disk, header, carried, replace_tail=replace_tail, reserve=reserve)
        return cls(
            disk,
            ownership,
            secret=secret,
            segment_bytes=segment_bytes,
            reserve=reserve,
            resumed=resumed,
        )

    @property
    def store_id(self) -> bytes:
        """16 bytes that name this store."""
        return self._store_id

    @property
    def epoch(self) -> int:
        """The number of this opening."""
        return self._epoch

    @property
    def secret(self) -> bytes:
        """Keys the pseudonyms."""
        return self._secret

    @property
    def position(self) -> int:
        """Of the last event appended."""
        return self._position

    @property
    def durable(self) -> int:
        """Of the last event known durable; may be read from any thread."""
        return self._durable

    @property
    def head(self) -> bytes:
        """The chain head at `position`."""
        return self._head

    @property
    def base(self) -> int:
        """The first position of the newest segment."""
        return self._base

    @property
    def reserve_bytes(self) -> int:
        """What is left to pay for bookkeeping on a full disk."""
        return self._reserve.size

    # --- writing -----------------------------------------------------------------------------

    def append(
        self, frames: Sequence[FrameParts], *, expected: int, bookkeeping: bool = False
    ) -> None:
        """See Log. ValueError for frames that don't follow each other or pass a cap."""
        self._check_usable()
        if expected != self._position:
            raise NotWritten(
                f"the log stands at position {self._position}, not at {expected}; open the store"
                " again"
            )
        size = check_batch(frames, expected + 1)
        if self._size + size > self._segment_bytes and self._size > SEGMENT_HEADER_BYTES:
            self.rotate()
        durable, epoch, head = self._durable, self._epoch, self._head
        pieces: list[bytes] = []
        for parts in frames:
            first, chained = parts.first, parts.chained
            pieces += frame_pieces(
                first, parts.count, chained, parts.payload, synced_through=durable, epoch=epoch
            )
            head = advance(head, first, epoch, chained)
        self._write(b"".join(pieces), bookkeeping=bookkeeping)
        self._position = frames[-1].first + frames[-1].count - 1
        self._head = head

    def sync(self) -> None:
        """See Log. Nothing to do, nothing done."""
        self._check_usable()
        if self._durable == self._position:
            return
        try:
            self._file.sync()
        except StorageError as error:
            self._fail(f"a sync failed: {error}", error)
        self._durable = self._position

    def watermark(self, now: Instant) -> None:
        """See Log: syncs, writes a frame that says so, and syncs that."""
        self.sync()
        chained = encode_times(now.at, now.age)
        self._write(encode_watermark(self._position, chained, self._epoch), bookkeeping=True)
        try:
            self._file.sync()
        except StorageError as error:
            self._fail(f"a sync failed: {error}", error)
        self._reserve.refill()

    def rotate(self) -> bool:
        """Sync, and go on in a new segment. False if there was no reason or no room to.

        Without room the old segment grows beyond its size, should there be room for that.
        Raises OutcomeUnknown.
        """
        self.sync()
        base = self._position + 1
        if base == self._base:
            return False
        check = key_check(self._secret)
        header = SegmentHeader(base, self._epoch, self._store_id, self._head, check)
        file: File | None = None
        try:
            file = prepare_segment(self._disk, header)
            install_segment(self._disk, base)
        except DiskFull:
            if file is not None:
                file.close()
                discard_segment(self._disk, base)
            return False
        except StorageError as error:
            self._fail(f"a new segment failed: {error}", error)
        try:
            self._disk.sync_directory(LOG_DIRECTORY)
        except StorageError as error:
            self._fail(f"a new segment failed: {error}", error)
        self._file.close()
        self._file, self._base, self._size = file, base, SEGMENT_HEADER_BYTES
        self._reserve.refill()
        return True

    def close(self) -> None:
        """See Log. A poisoned log only gives up ownership."""
        if self._closed:
            return
        try:
            if self._poison is None:
                self.sync()
        finally:
            self._closed = True
            self._file.close()
            self._ownership.release()

    def _check_usable(self) -> None:
        if self._poison is not None:
            raise OutcomeUnknown(f"nothing more can be written: {self._poison}; reopen the store")
        if self._closed:
            raise NotWritten("the log is closed; open the store again")

    def _write(self, data: bytes, *, bookkeeping: bool) -> None:
        """Write at the end, whole or not at all."""
        self._check_unshared()
        while True:
            try:
                self._file.write(self._size, data)
                break
            except StorageError as error:
                self._cut_back(error)
                if bookkeeping and isinstance(error, DiskFull) and self._reserve.spend():
                    continue
                raise NotWritten(f"nothing was written: {error}") from error
            except BaseException:  # an interrupt from a signal: how much is there is unknown
                self._poison = "a write was interrupted"
                raise
        self._size += len(data)

    def _cut_back(self, error: StorageError) -> None:
        """Make the file end where it did before a failed write, durably."""
        try:
            self._file.truncate(self._size)
            self._file.sync()
        except StorageError:
            self._fail(f"a failed write couldn't be taken back: {error}", error)
        self._durable = self._position  # that sync covered all that was appended before

    def _check_unshared(self) -> None:
        """Nobody else may have written, cut, removed or locked anything."""
        try:
            self._ownership.check()
            status = self._file.status()
        except StorageError as error:
            self._fail(str(error), error)
        if status.size != self._size or status.links == 0:
            self._fail("somebody else changed the newest segment", None)

    def _fail(self, why: str, error: StorageError | None) -> NoReturn:
        self._poison = why
        raise OutcomeUnknown(
            f"{why}; whether the last commands are durable is unknown: reopen the store and look"
        ) from error

    # --- reading -------------------------------------------------------------------------------

    def read(
        self, after: int, *, through: int | None = None, content: bool = True
    ) -> Iterator[ReadFrame | Gap]:
        """See Log. Needs no watermark to see what this log knows to be durable. Any thread."""
        reader = LogReader(self._disk, after, content=content, durable=lambda: self._durable)
        try:
            yield from reader.read(through)
        finally:
            reader.close()
