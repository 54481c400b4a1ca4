"""What reaches the terminal: tables, JSON and lines of text, all of it made harmless first.

Texts and names come from strangers. Control characters, ANSI escapes, bidirectional overrides,
invisible and unassigned characters are shown as `\\xNN` or `\\uNNNN`, so that nothing that somebody
said can move the cursor, change a colour, hide text or look like a line of ours.
"""

import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

import typer

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH: Final = (
    160  # columns where the output is not a terminal: nothing is cut for lack of it
)
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols that show nothing


def shown(text: str) -> str:
    """The text on one line, with every character that a terminal might act on written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown_character, text))


def shown_lines(text: str) -> list[str]:
    """The text's own lines, each made harmless. For output that marks every line as quoted."""
    return [shown(line) for line in text.split("\n")]


def _shown_character(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    if category in _HIDDEN or character in _BLANK:
        return character.encode("unicode_escape").decode("ascii")
    return character


def echo(line: str = "") -> None:
    """One line of ours on standard output."""
    typer.echo(shown(line))


def warn(line: str) -> None:
    """One line on standard error."""
    typer.echo(shown(line), err=True)


def print_json(value: object) -> None:
    """One line of JSON in pure ASCII: whatever a text holds, the terminal sees letters only."""
    encoded = json.dumps(value, ensure_ascii=True, separators=(", ", ": "))
    typer.echo(encoded.replace("\x7f", "\\u007f"))


def console() -> "Console":
    """Rich's console on standard output, with nothing in a text being markup to it."""
    from rich.console import Console

    stdout: TextIO | None = sys.stdout  # None: closed by whoever called
    terminal = stdout is not None and stdout.isatty()
    return Console(
        markup=False,
        highlight=False,
        emoji=False,
        width=None if terminal else PLAIN_WIDTH,
        soft_wrap=False,
    )


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None
) -> None:
    """A table; a column whose name starts with ">" is right-aligned. Cells are made harmless."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        right = column.startswith(">")
        table.add_column(
            column.removeprefix(">"), justify="right" if right else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(shown(_cell(value))) for value in row))
    console().print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def quantity(count: int, noun: str, plural: str | None = None) -> str:
    """`1 turn`, `2 turns`, `13,990 turns`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def size(count: int) -> str:
    """Bytes for people: `512 B`, `4.0 KiB`, `1.5 MiB`."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def plain(value: Any) -> Any:
    """A value as JSON takes it: bytes in hexadecimal, enumerations by value, times as they are."""
    from enum import Enum
    from uuid import UUID

    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # any JSON object
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]  # any JSON array
    return value
