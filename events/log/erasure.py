"""Erasure: zeros in place of payloads, in segments and in every generation.

Nothing is renamed or rewritten, so it works on a full disk, readers that have a file open see it
too, and the chain, which covers no payload, still verifies. Every step may be repeated: what is
zero becomes zero again. A crash in between leaves the erasure pending.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs

from turnfold.events.codec import decode_events, payload_parts
from turnfold.events.erasure_plan import ErasurePlan, SealedAt, sealed_targets
from turnfold.events.errors import CorruptData, UnsupportedFormat
from turnfold.events.log.backend import Erasure
from turnfold.events.log.disk import Disk, File
from turnfold.events.log.generation_file import (
    GENERATION_HEADER_BYTES,
    LoadedGeneration,
    generation_path,
    header_position,
    is_directory,
    list_generations,
    load_generation,
)
from turnfold.events.log.generations import discard_unfinished, zero
from turnfold.events.log.scan import FrameScan, ScannedFrame, find_headers
from turnfold.events.log.segment import list_segments, segment_path
from turnfold.events.session import PendingErasure
from turnfold.events.skeleton import stored_parts

_FRAMES: Final = 32  # frames decoded between two pauses: less than 0.5 ms
_PARTS: Final = 64  # parts of a generation looked at between two pauses

Pause = Callable[[], None]


@attrs.frozen
class Span:
    """Bytes of a segment."""

    base: int
    offset: int
    length: int


def erase(disk: Disk, pending: Sequence[PendingErasure], pause: Pause) -> list[Erasure]:
    """Zero everything that these erasures mean, durably; what each of them meant in the log.

    Raises StorageError if a file can't be written or synced: then nothing may be recorded as
    erased, and all of it is to be repeated.
    """
    if not pending:
        return []
    plan = ErasurePlan[Span](pending)
    spans: dict[PendingErasure, set[Span]] = {item: set() for item in pending}
    damaged: set[Span] = set()
    for base, following in _segments_between(disk, plan.first, plan.last):
        for item, span in _in_segment(disk, base, following, plan, pause):
            (damaged if item is None else spans[item]).add(span)
    by_segment: dict[int, set[Span]] = {}
    for chosen in (*spans.values(), damaged):
        for span in chosen:
            by_segment.setdefault(span.base, set()).add(span)
    for base, chosen in by_segment.items():
        _zero_spans(disk, segment_path(base), sorted(chosen, key=_offset_of), pause)
    for name in list_generations(disk):
        _in_generation(disk, name, plan, pause)
    discard_unfinished(disk)
    return [
        Erasure(item, len(chosen), sum(span.length for span in chosen))
        for item, chosen in spans.items()
    ]


def _offset_of(span: Span) -> int:
    return span.offset


# --- segments --------------------------------------------------------------------------------


def _segments_between(disk: Disk, first: int, last: int) -> list[tuple[int, int | None]]:
    """Segments that may hold positions `first` to `last`, each with the base of the next."""
    bases = list_segments(disk)
    following = [*bases[1:], None]
    return [
        (base, after)
        for base, after in zip(bases, following, strict=True)
        if base <= last and (after is None or after > first)
    ]


def _in_segment(
    disk: Disk, base: int, following: int | None, plan: ErasurePlan[Span], pause: Pause
) -> Iterator[tuple[PendingErasure | None, Span]]:
    """What is to be zeroed in a segment: None stands for damage that may hold any text."""
    try:
        file = disk.open(segment_path(base))
    except FileNotFoundError:
        return  # trimmed meanwhile
    try:
        scan = FrameScan(file, content=False)
        while True:
            for count, frame in enumerate(scan, 1):
                if count % _FRAMES == 0:
                    pause()
                if frame.header.first > plan.last:
                    return
                if frame.header.count and frame.header.last >= plan.first:
                    yield from _in_frame(base, frame, plan)
            damaged = _over_damage(file, scan, plan.last, sealed=following is not None)
            if damaged is None:
                return
            offset, end = damaged
            yield None, Span(base, offset, end - offset)
    finally:
        file.close()


def _over_damage(
    file: File, scan: FrameScan, durable: int, *, sealed: bool
) -> tuple[int, int] | None:
    """Offset and end of bytes that were durable and are no frames; `scan` goes on behind them.

    None if there are none: bytes being written now look alike, but nothing proves them durable.
    What proves it is a frame behind them that says so, or whose position is known to be `durable`:
    frames of one batch say no more than what was durable before it.
    """
    offset, size, wanted = scan.offset, file.status().size, scan.expected or 1
    for found, header in find_headers(file, offset + 1):
        scan.skip_to(found, header.first)
        if next(scan, None) is not None:
            if not sealed and header.synced_through < wanted and header.first > durable:
                return None
            scan.skip_to(found, header.first)
            return offset, found
    scan.skip_to(size, wanted)
    return (offset, size) if sealed and offset < size else None


def _in_frame(
    base: int, frame: ScannedFrame, plan: ErasurePlan[Span]
) -> Iterator[tuple[PendingErasure, Span]]:
    first = frame.header.first
    try:
        events = decode_events(frame.chained, first, None)
        parts = list(payload_parts(frame.chained, first))
    except (CorruptData, UnsupportedFormat):
        return  # the frame has a checksum but no meaning: nothing was ever read from it
    for index, event in enumerate(events):
        if not plan.concerns(event):
            continue
        mine = [part for part in parts if part.event == index]
        sealed = [
            SealedAt(target, Span(base, frame.payload_offset + part.offset, part.length), digest)
            for part, (target, digest) in zip(mine, sealed_targets(event), strict=True)
        ]
        yield from plan.in_event(event, sealed)


def _zero_spans(disk: Disk, path: str, spans: Sequence[Span], pause: Pause) -> None:
    """Zero these bytes of a segment through a descriptor of its own, durably."""
    try:
        file = disk.open(path, write=True)
    except FileNotFoundError:
        return  # trimmed meanwhile
    try:
        for count, span in enumerate(spans, 1):
            zero(file, span.offset, span.length)
            if count % _FRAMES == 0:
                pause()
        file.sync()
    finally:
        file.close()


# --- generations -------------------------------------------------------------------------------


def _in_generation(disk: Disk, name: str, plan: ErasurePlan[Span], pause: Pause) -> None:
    """Zero what must go in one generation.

    If its structure is damaged, nobody can tell what lies where: all of its parts are zeroed.
    """
    if header_position(disk, name) < plan.first or is_directory(disk, name):
        return  # older than every session that is concerned, or no file
    loaded = load_generation(disk, name, None)
    pause()
    file = disk.open(generation_path(name), write=True)
    try:
        size = file.status().size
        if not isinstance(loaded, LoadedGeneration):
            zero(file, min(size, GENERATION_HEADER_BYTES), size - GENERATION_HEADER_BYTES)
            file.sync()
            return
        changed = False
        for count, part in enumerate(stored_parts(loaded.skeleton), 1):
            if count % _PARTS == 0:
                pause()
            if plan.in_generation(part) is not None:
                zero(file, loaded.payload_offset + part.offset, part.length)
                changed = True
        if changed:
            file.sync()
    finally:
        file.close()
