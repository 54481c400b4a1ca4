"""Reading lines from files or standard input, none of them longer than what can be a chat line."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from turnfold.actors.cli.ingest_lines import LINE_BYTES_MAX
from turnfold.events.errors import InvalidInput

STANDARD_INPUT: Final = "-"
_BUFFER_BYTES: Final = 1 << 20


class Line(NamedTuple):
    """One line of one input; `data` is None if it is too long to be read into memory."""

    source: str
    number: int
    data: bytes | None

    @property
    def place(self) -> str:
        """Where it stands: `chat.jsonl:17`."""
        return f"{self.source}:{self.number}"


def check_sources(sources: Iterable[Path]) -> None:
    """Raises InvalidInput unless each source can be read, before anything is done with one."""
    for source in sources:
        if str(source) == STANDARD_INPUT:
            continue
        if not os.path.lexists(source):
            raise InvalidInput(f"{source} does not exist")
        if source.is_dir() or not os.access(source, os.R_OK):
            raise InvalidInput(f"{source} is not a file that can be read")


def read_sources(sources: Iterable[Path], advance: Callable[[int], None]) -> Iterator[Line]:
    """The lines of each source in turn, blank ones left out; `-` is standard input.

    `advance` is told how many bytes were read. Raises InvalidInput for a file that can't be read.
    """
    for source in sources:
        if str(source) == STANDARD_INPUT:
            yield from _lines(sys.stdin.buffer, "standard input", advance)
            continue
        try:
            with source.open("rb", buffering=_BUFFER_BYTES) as stream:
                yield from _lines(stream, source.name, advance)
        except OSError as error:
            why = error.strerror or "unknown error"
            raise InvalidInput(f"{source} can't be read: {why}") from None


def _lines(stream: BinaryIO, name: str, advance: Callable[[int], None]) -> Iterator[Line]:
    number = 0
    while data := stream.readline(LINE_BYTES_MAX + 1):
        number += 1
        size = len(data)
        whole = size <= LINE_BYTES_MAX or data.endswith(b"\n")
        while not whole:
            rest = stream.readline(LINE_BYTES_MAX)
            size += len(rest)
            whole = not rest or rest.endswith(b"\n")
        if size > len(data):
            yield Line(name, number, None)
        elif data.strip():
            yield Line(name, number, data)
        advance(size)
