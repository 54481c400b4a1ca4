"""Fenced blocks of a Markdown page, and running them as a reader would.

What a fence's info string means:

- ``python`` runs. The blocks of one page share a namespace, as if they were one program, and
  may use ``await`` and ``async with`` at the top level.
- ``console`` or ``sh``: each line that starts with ``$ turnfold`` runs in a shell, and the lines
  up to the next ``$`` are its output, for the reader only. A command has to exit with 0, or with
  the code that it names in a comment: ``$ turnfold verify --store damaged  # exit 1``.
- any language with ``title="name"``: the block is saved under that name before what follows
  runs, so that a page can show a configuration or some chat and then use it.

Everything else is text. A page that can't run here says so with ``<!-- needs: psycopg -->``,
naming a module; it is skipped where that module is not installed.
"""

import ast
import asyncio
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)$")
TITLE = re.compile(r'title="([^"/]+)"')
NEEDS = re.compile(r"<!-- needs: (\w+) -->")
EXIT = re.compile(r"#\s*exit (\d)\s*$")
COMMAND_TIMEOUT_S = 120


class Block(NamedTuple):
    """A fenced block: its language, its info string, its text, and the line it starts on."""

    language: str
    info: str
    text: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order.

    Raises:
        ValueError: a fence is never closed.
    """
    opened: tuple[str, str, int] | None = None
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                opened = (fence["indent"], fence["info"].strip(), number + 1)
                lines = []
        elif fence and not fence["info"].strip():
            _, info, start = opened
            words = info.split()
            yield Block(words[0] if words else "", info, "\n".join(lines) + "\n", start)
            opened = None
        else:
            lines.append(line.removeprefix(opened[0]))
    if opened is not None:
        msg = f"the block that starts on line {opened[2]} is never closed"
        raise ValueError(msg)


def commands(text: str) -> Iterator[tuple[str, int]]:
    """The `turnfold` commands of a console block, each with the exit code it should have."""
    lines = iter(text.splitlines())
    for line in lines:
        command = line
        while command.endswith("\\"):
            command = command[:-1] + next(lines, "")
        if command.startswith("$ turnfold"):
            wanted = EXIT.search(command)
            yield command.removeprefix("$ "), int(wanted[1]) if wanted else 0


class Page:
    """One page, run from top to bottom in one folder."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.folder = folder
        self.namespace: dict[str, object] = {"__name__": "__main__"}

    @property
    def needs(self) -> list[str]:
        """Modules that the page needs beside Turnfold and its dependencies."""
        return NEEDS.findall(self.text)

    def run(self) -> int:
        """Run every block that runs; the working directory has to be the page's folder.

        Returns how many blocks ran. Raises what a block raises; a command that exits with
        another code than the page says is an AssertionError.
        """
        ran = 0
        for block in blocks(self.text):
            if title := TITLE.search(block.info):
                (self.folder / title[1]).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                self._run_python(block)
                ran += 1
            elif block.language in {"console", "sh"}:
                ran += self._run_commands(block)
        return ran

    def _run_python(self, block: Block) -> None:
        # Empty lines before the text give tracebacks the page's own line numbers.
        source = "\n" * (block.line - 1) + block.text
        compiled = compile(
            source, str(self.path), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
        )
        if compiled.co_flags & inspect.CO_COROUTINE:
            asyncio.run(_awaited(compiled, self.namespace))
        else:
            exec(compiled, self.namespace)  # noqa: S102 - our own documentation

    def _run_commands(self, block: Block) -> int:
        ran = 0
        for command, wanted in commands(block.text):
            path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=self.folder,
                env={"PATH": path, "HOME": str(self.folder), "NO_COLOR": "1", "COLUMNS": "100"},
                capture_output=True,
                text=True,
                timeout=COMMAND_TIMEOUT_S,
                check=False,
            )
            where = f"{self.path}:{block.line}: {command}"
            assert done.returncode == wanted, f"{where}\n{done.stdout}{done.stderr}"
            ran += 1
        return ran


async def _awaited(compiled: CodeType, namespace: dict[str, object]) -> None:
    """Run code that awaits at its top level: as a function it is a coroutine function."""
    await FunctionType(compiled, namespace)()
