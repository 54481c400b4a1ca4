"""What a store needs to keep its events: a log for the tail, and an archive for all the rest.

`Log` is owned by the store actor's thread, `Archive` by the generation writer's; only `Log.read`
may be called from anywhere. Files (file_log, with recovery and generations), memory (memory_log)
and a database implement the same two; tests/contract holds what every one must do.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import attrs

from turnfold.events.commands import Instant
from turnfold.events.event import Gap
from turnfold.events.log.frame import FrameHeader, check_parts, frame_bytes
from turnfold.events.session import PendingErasure
from turnfold.events.snapshot import Capture


# Not frozen: one for each command (0.4 instead of 1.4 us). Never changed.
@attrs.define(repr=False)
class FrameParts:
    """One command's events as the codec made them: one frame, whole on disk or absent.

    `count` events from position `first` on; `chained` and `payload` are the codec's two parts.
    """

    first: int
    count: int
    chained: bytes
    payload: bytes

    def __repr__(self) -> str:
        return f"FrameParts(first={self.first}, count={self.count})"


def check_batch(frames: Sequence[FrameParts], first: int) -> int:
    """The bytes of a batch that begins at position `first`.

    Raises ValueError if it is empty, its frames don't follow each other or one passes a cap.
    """
    if not frames:
        raise ValueError("a batch has at least one frame")
    size = 0
    for parts in frames:
        if parts.first != first:
            raise ValueError(f"a frame begins at {parts.first} where {first} was due")
        check_parts(first, parts.count, parts.chained, parts.payload)
        first += parts.count
        size += frame_bytes(len(parts.chained), len(parts.payload))
    return size


# Not frozen: one for each frame read (0.4 instead of 1.4 us). Never changed.
@attrs.define(repr=False)
class ReadFrame:
    """A durable frame with events whose header and chained part are intact.

    `payload` is None if content wasn't asked for or isn't kept. If `payload_intact` is false, its
    checksum failed: erased in part or damaged, which the commitments tell.
    """

    header: FrameHeader
    chained: bytes
    payload: bytes | None
    payload_intact: bool

    @property
    def first(self) -> int:
        """The position of the first event."""
        return self.header.first

    @property
    def last(self) -> int:
        """The position of the last event."""
        return self.header.last

    def __repr__(self) -> str:
        return f"ReadFrame(first={self.first}, count={self.header.count})"


@attrs.frozen
class GenerationFile:
    """A generation that was verified after it was written; `digest` is its state digest."""

    name: str
    position: int
    digest: bytes
    size: int


@attrs.frozen
class Erasure:
    """A pending erasure that was carried out: `payloads` payloads, `erased_bytes` bytes."""

    pending: PendingErasure
    payloads: int
    erased_bytes: int


@attrs.frozen
class Trimmed:
    """Whole segments before `first_kept` (`size` bytes); `head` is the chain head before it."""

    first_kept: int
    head: bytes
    segments: int
    size: int


@attrs.frozen
class QuarantinedFile:
    """Bytes set aside, waiting for an operator or for their time to be up."""

    name: str
    size: int


class Log(Protocol):
    """The tail of the events. One thread owns it; `read` is for any thread.

    `position` is that of the last event appended, `durable` of the last one known durable, `head`
    the chain head at `position`, `base` the first position of the newest segment. `secret` keys
    pseudonyms and never changes.
    """

    @property
    def store_id(self) -> bytes: ...
    @property
    def epoch(self) -> int: ...
    @property
    def secret(self) -> bytes: ...
    @property
    def position(self) -> int: ...
    @property
    def durable(self) -> int: ...
    @property
    def head(self) -> bytes: ...
    @property
    def base(self) -> int: ...

    def append(
        self, frames: Sequence[FrameParts], *, expected: int, bookkeeping: bool = False
    ) -> None:
        """Append all frames with one write, or none; `expected` is the position before them.

        With `bookkeeping` (deletions, expiry, erasures and the store's own events) a reserve pays
        on a full disk. Raises NotWritten if certainly nothing of it is there, OutcomeUnknown if
        that can't be told: then nothing is appended any more.
        """
        ...

    def sync(self) -> None:
        """Make everything appended durable. Raises OutcomeUnknown, after which nothing works."""
        ...

    def watermark(self, now: Instant) -> None:
        """Tell readers that everything appended is durable. Raises like append and sync."""
        ...

    def read(
        self, after: int, *, through: int | None = None, content: bool = True
    ) -> Iterator[ReadFrame | Gap]:
        """Durable frames with a position in `after` < position <= `through`, in order.

        Frames come whole: the first may begin at or before `after`, the last may go on past
        `through`. What isn't there is a Gap. It ends where nothing more is durable.
        """
        ...

    def close(self) -> None:
        """Sync, and give up ownership. Twice is harmless. Raises OutcomeUnknown."""
        ...


class Archive(Protocol):
    """Everything that isn't the log's tail. One thread owns it.

    `pause` is called between slices of at most half a millisecond of work.
    """

    def write_generation(
        self, captured: Capture, head: bytes, pause: Callable[[], None]
    ) -> GenerationFile:
        """Write and verify a generation; the log must be durable through its position."""
        ...

    def retire(self) -> Sequence[GenerationFile]:
        """Remove the oldest generations to stay below the limit; two verified ones stay."""
        ...

    def erase(
        self, pending: Sequence[PendingErasure], pause: Callable[[], None]
    ) -> Sequence[Erasure]:
        """Put zeros in place of the payloads, in the log and every generation, durably.

        The events that made them due must be durable.
        """
        ...

    def quarantined(self) -> Sequence[QuarantinedFile]:
        """What lies in quarantine."""
        ...

    def empty_quarantine(self) -> int:
        """Remove everything from quarantine; how many files it was."""
        ...

    def is_log_full(self) -> bool:
        """Whether the log has grown so far that its start must soon be dropped."""
        ...

    def trimmable(self) -> Trimmed | None:
        """The oldest segments to drop to stay below the limit, if verified generations allow."""
        ...

    def trim(self, trimmed: Trimmed, pause: Callable[[], None]) -> None:
        """Drop them, oldest first. Its LogTrimmed must be durable."""
        ...

    def load_checkpoint(self, name_tag: bytes) -> int | None:
        """The position up to which the named subscriber has handled events."""
        ...

    def save_checkpoint(self, name_tag: bytes, position: int) -> None:
        """Keep it durably. It must not pass the durable position."""
        ...
