"""Running the command line in this process, as a shell would see it."""

import io
import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from turnfold.actors.cli.app import main


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[Any]:
        """Standard output as JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]


def turnfold(*arguments: object, stdin: bytes = b"") -> Done:
    """Run `turnfold ARGUMENTS...`. Its output is no terminal."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with (
        mock.patch.object(sys, "argv", ["turnfold", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8")),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        code = 0
        try:
            main()
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else int(left.code is not None)
    return Done(code, _text_of(out), _text_of(err))


def _text_of(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


def chat(*lines: dict[str, Any]) -> bytes:
    """JSON Lines."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def said(avatar: str, text: str, at: str = "2026-05-01T12:00:00Z", **more: Any) -> dict[str, Any]:
    """One line of chat."""
    return {"at": at, "avatar": avatar, "text": text, **more}


def contents(directory: Path) -> dict[str, bytes]:
    """Every file below a directory, to see whether anything was changed."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@contextmanager
def unchanged(directory: Path) -> Generator[None]:
    """Nothing below the directory is different afterwards."""
    before = contents(directory)
    yield
    assert contents(directory) == before
