"""Where two logs of one store part: a store and an export made earlier, frame by frame."""

from collections.abc import Iterator
from pathlib import Path

import attrs

from turnfold.events import cbor
from turnfold.events.event import Gap
from turnfold.events.log.backend import ReadFrame
from turnfold.events.log.disk import Disk
from turnfold.events.log.reader import LogReader
from turnfold.events.log.replay import store_disk


@attrs.frozen
class Comparison:
    """Both logs have `first`..`last` and agree on them; then may come the first that differs."""

    first: int
    last: int
    differs_at: int | None = None

    @property
    def is_equal(self) -> bool:
        """Whether there are positions that both have, and none differs."""
        return self.differs_at is None and 0 < self.first <= self.last


def compare_logs(storage_path: str | Path, other: str | Path) -> Comparison:
    """Compare the chained parts of two logs where both reach. Raises StorageError.

    What only one of them has at its start (the other was trimmed) or at its end (it went on) is no
    difference; positions missing in between are one.
    """
    one, two = store_disk(storage_path), store_disk(other)
    try:
        return _compare(_frames(one), _frames(two))
    finally:
        one.close()
        two.close()


def _frames(disk: Disk) -> Iterator[ReadFrame | Gap]:
    reader = LogReader(disk, content=False)
    try:
        yield from reader.read()
    finally:
        reader.close()


def _compare(one: Iterator[ReadFrame | Gap], two: Iterator[ReadFrame | Gap]) -> Comparison:
    first = last = 0
    left, right = _skip_start(one), _skip_start(two)
    while left is not None and right is not None:
        if not first and left.last < right.first:
            left = next(one, None)
        elif not first and right.last < left.first:
            right = next(two, None)
        else:
            first = first or max(left.first, right.first)
            at = _difference(left, right)
            if at is not None:
                return Comparison(first, last, at)
            last = left.last
            left, right = next(one, None), next(two, None)
    return Comparison(first, last)


def _skip_start(items: Iterator[ReadFrame | Gap]) -> ReadFrame | Gap | None:
    """The first frame: what is missing before it is no difference."""
    return next((item for item in items if isinstance(item, ReadFrame)), None)


def _difference(left: ReadFrame | Gap, right: ReadFrame | Gap) -> int | None:
    if isinstance(left, Gap) or isinstance(right, Gap):
        same = isinstance(left, Gap) and isinstance(right, Gap) and left == right
        return None if same else min(left.first, right.first)
    if left.first != right.first:
        return min(left.first, right.first)
    if left.chained == right.chained and left.header.epoch == right.header.epoch:
        return None
    ours, theirs = cbor.decode(left.chained)[2], cbor.decode(right.chained)[2]
    for index, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if a != b:
            return left.first + index
    same_events = len(ours) == len(theirs)  # then time, age or epoch differ
    return left.first if same_events else left.first + min(len(ours), len(theirs))
