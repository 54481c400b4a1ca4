"""Reading notices from the log, for a subscription that the tail in memory doesn't reach back to.

The reading is background work: it goes in slices of about SLICE_EVENTS events (0.5 ms) with a
rest after each, one slice at a time for all subscriptions together, so that any number of them
that are behind costs the store's thread a bounded share of the interpreter lock.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Final

from turnfold.actors.pump import Item
from turnfold.events.event import Event, Gap
from turnfold.events.notice import notices
from turnfold.events.session import KeyTag

SLICE_EVENTS: Final = 64

EventReader = Callable[[int], Iterator[Sequence[Event] | Gap]]
"""Called with a position: the durable events after it, a frame at a time, without content."""


class LogCursor:
    """A place in the log. It stays open between reads, so that going on costs no search.

    `where` is what the feed knows of whose session is whose. `gate` lets one cursor read at a
    time; `rest` sleeps for a moment.
    """

    def __init__(
        self,
        read: EventReader,
        where: Mapping[int, KeyTag],
        *,
        gate: threading.Lock,
        rest: Callable[[], object],
    ) -> None:
        self._read = read
        self._known = where
        self._gate = gate
        self._rest = rest
        self._where = Whereabouts(read, where, rest)
        self._frames: Iterator[Sequence[Event] | Gap] | None = None
        self._pending: deque[Item] = deque()
        self._next = 0  # the position that comes next; 0: no place

    def fetch(self, after: int, most: int) -> list[Item]:
        """At most `most` items after position `after`; fewer at the log's durable end.

        Raises OSError or StorageError if the log can't be read.
        """
        with self._gate:
            if after + 1 != self._next:
                self.close()
                self._next = self._where.searched = after + 1
            if self._frames is None and not self._pending:
                self._frames = self._read(after)
            while len(self._pending) < most and self._frames is not None:
                self._read_slice()
                self._rest()
        items = [self._pending.popleft() for _ in range(min(most, len(self._pending)))]
        if items:
            last = items[-1]
            self._next = (last.last if isinstance(last, Gap) else last.position) + 1
        return items

    def close(self) -> None:
        """Give up the place, the files that are open for it and what was found on the way."""
        if self._next:
            self._next = 0
            self._pending.clear()
            self._where = Whereabouts(self._read, self._known, self._rest)
            frames, self._frames = self._frames, None
            _close(frames)

    def _read_slice(self) -> None:
        """Read frames until a slice's worth of items is pending more, or the end is there."""
        assert self._frames is not None
        enough = len(self._pending) + SLICE_EVENTS
        while len(self._pending) < enough:
            frame = next(self._frames, None)
            if frame is None:
                self._frames = None  # what comes later needs a new look at the files
                return
            if isinstance(frame, Gap):
                self._pending.append(frame)
            else:
                rest_of_it = frame
                if frame[0].position < self._next:
                    rest_of_it = [event for event in frame if event.position >= self._next]
                self._pending.extend(notices(rest_of_it, self._where))


class Whereabouts(MutableMapping[int, KeyTag]):
    """Whose session is whose, from its start, at any place in the log.

    First what was read from there on, then what the feed knows. A session that began before and
    has been erased since is looked for in the log itself, backwards from the place, each stretch
    once. What is not found there was trimmed or lost.
    """

    def __init__(
        self, read: EventReader, known: Mapping[int, KeyTag], rest: Callable[[], object]
    ) -> None:
        self._read = read
        self._known = known
        self._rest = rest
        self._found: dict[int, KeyTag] = {}
        self.searched = 0  # starts from here on were read

    def __getitem__(self, start: int) -> KeyTag:
        tag = self._found.get(start) or self._known.get(start)
        if tag is None and start < self.searched:
            self._search_back(start)
            tag = self._found.get(start)
        if tag is None:
            raise KeyError(start)
        return tag

    def __setitem__(self, start: int, tag: KeyTag) -> None:
        self._found[start] = tag

    def __delitem__(self, start: int) -> None:
        self._found.pop(start, None)  # the feed's own is not ours to delete

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def _search_back(self, start: int) -> None:
        """Read from position `start` to where the search began before."""
        found: dict[int, KeyTag] = {}
        frames = self._read(start - 1)
        read = 0
        for frame in frames:
            if isinstance(frame, Gap):
                continue
            if frame[0].position >= self.searched:
                break
            deque(notices(frame, found), maxlen=0)  # for what it does to `found`
            read += len(frame)
            if read >= SLICE_EVENTS:
                read = 0
                self._rest()
        _close(frames)
        self._found = found | self._found
        self.searched = start


def _close(frames: Iterator[Sequence[Event] | Gap] | None) -> None:
    """Close a generator, and with it its files, now and not when it is collected."""
    close = getattr(frames, "close", None)
    if close is not None:
        close()
