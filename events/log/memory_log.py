"""A log in memory, for stores without persistence: the same behaviour, nothing on any disk.

It keeps the chained parts of the newest events, in bounded bytes, so that subscribers can catch
up; what fell off is a Gap. Payloads are dropped when they are appended: no text outlives its
session here, and reading gives events without content.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from turnfold.events.commands import Instant
from turnfold.events.errors import NotWritten
from turnfold.events.event import Gap
from turnfold.events.log.backend import (
    Erasure,
    FrameParts,
    GenerationFile,
    QuarantinedFile,
    ReadFrame,
    Trimmed,
    check_batch,
)
from turnfold.events.log.chain import advance, genesis
from turnfold.events.log.frame import FRAME_OVERHEAD_BYTES, MAGIC, FrameHeader
from turnfold.events.reasons import Reason
from turnfold.events.session import PendingErasure
from turnfold.events.snapshot import Capture, skeleton_blocks, skeleton_digest

TAIL_BYTES: Final = 4 << 20
_NO_CHECKSUM: Final = 0


class MemoryLog:
    """`Log` without files. All methods but `read` belong to one thread.

    `tail_bytes` bounds the events kept; the newest frame is kept whatever its size.
    """

    __slots__ = (
        "_bytes",
        "_closed",
        "_durable",
        "_frames",
        "_head",
        "_position",
        "_secret",
        "_store_id",
        "_tail_bytes",
    )

    def __init__(self, store_id: bytes, secret: bytes, *, tail_bytes: int = TAIL_BYTES) -> None:
        self._store_id = store_id
        self._secret = secret
        self._tail_bytes = tail_bytes
        self._frames: deque[ReadFrame] = deque()
        self._bytes = 0
        self._position = self._durable = 0
        self._head = genesis(store_id)
        self._closed = False

    @property
    def store_id(self) -> bytes:
        """16 bytes that name this store."""
        return self._store_id

    @property
    def epoch(self) -> int:
        """1: it is opened once."""
        return 1

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
        """Of the last event synced; may be read from any thread."""
        return self._durable

    @property
    def head(self) -> bytes:
        """The chain head at `position`."""
        return self._head

    @property
    def base(self) -> int:
        """1: there is but one segment."""
        return 1

    def append(
        self, frames: Sequence[FrameParts], *, expected: int, bookkeeping: bool = False
    ) -> None:
        """See Log; there is no disk to fill up. ValueError for frames that don't fit together."""
        del bookkeeping
        if self._closed:
            raise NotWritten("the log is closed; open the store again")
        if expected != self._position:
            raise NotWritten(f"the log stands at position {self._position}, not at {expected}")
        check_batch(frames, expected + 1)
        for parts in frames:
            self._keep(parts)
        self._position = frames[-1].first + frames[-1].count - 1

    def sync(self) -> None:
        """See Log."""
        self._durable = self._position

    def watermark(self, now: Instant) -> None:
        """See Log: readers need none here."""
        del now
        self.sync()

    def close(self) -> None:
        """See Log. What was kept can still be read."""
        self.sync()
        self._closed = True

    def read(
        self, after: int, *, through: int | None = None, content: bool = True
    ) -> Iterator[ReadFrame | Gap]:
        """See Log; payloads are never kept, so `content` makes no difference. Any thread."""
        del content
        durable = self._durable  # before the copy: what is durable by now is in it, or fell off
        frames = self._frames.copy()  # one step under the interpreter lock
        limit = durable if through is None else min(through, durable)
        for frame in frames:
            if frame.first > limit:
                return
            if frame.first > after + 1:
                yield Gap(after + 1, frame.first - 1, Reason.TRIMMED_STORAGE_LIMIT)
            if frame.last > after:
                yield frame
            after = max(after, frame.last)

    def _keep(self, parts: FrameParts) -> None:
        chained = parts.chained
        header = FrameHeader(
            MAGIC,
            len(chained),
            len(parts.payload),
            parts.first,
            parts.count,
            parts.first - self._durable,
            self.epoch,
            _NO_CHECKSUM,
        )
        self._frames.append(ReadFrame(header, chained, None, payload_intact=True))
        self._bytes += FRAME_OVERHEAD_BYTES + len(chained)
        self._head = advance(self._head, parts.first, self.epoch, chained)
        while self._bytes > self._tail_bytes and len(self._frames) > 1:
            self._bytes -= FRAME_OVERHEAD_BYTES + len(self._frames.popleft().chained)


class MemoryArchive:
    """`Archive` for a MemoryLog: there are no files, so there is nothing to erase or to retire."""

    __slots__ = ("_checkpoints", "_log")

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self._checkpoints: dict[bytes, int] = {}

    def write_generation(
        self, captured: Capture, head: bytes, pause: Callable[[], None]
    ) -> GenerationFile:
        """The state's digest under no name: nothing is kept, so it has no size."""
        del head
        digest = skeleton_digest()
        for block in skeleton_blocks(captured):
            digest.update(block)
            pause()
        return GenerationFile("", captured.position, digest.digest(), 0)

    def retire(self) -> Sequence[GenerationFile]:
        """Nothing."""
        return ()

    def erase(
        self, pending: Sequence[PendingErasure], pause: Callable[[], None]
    ) -> Sequence[Erasure]:
        """Nothing is left to erase: texts went with the live state, and the log kept none."""
        pause()
        return [Erasure(one, 0, 0) for one in pending]

    def quarantined(self) -> Sequence[QuarantinedFile]:
        """Nothing."""
        return ()

    def empty_quarantine(self) -> int:
        """0."""
        return 0

    def is_log_full(self) -> bool:
        """Never: the tail bounds itself."""
        return False

    def trimmable(self) -> Trimmed | None:
        """None: the tail bounds itself."""
        return None

    def trim(self, trimmed: Trimmed, pause: Callable[[], None]) -> None:
        """Nothing."""

    def load_checkpoint(self, name_tag: bytes) -> int | None:
        """See Archive; it lasts as long as the process."""
        return self._checkpoints.get(name_tag)

    def save_checkpoint(self, name_tag: bytes, position: int) -> None:
        """See Archive. Raises ValueError beyond the durable position."""
        if position > self._log.durable:
            raise ValueError(f"position {position} isn't durable yet")
        self._checkpoints[name_tag] = position
