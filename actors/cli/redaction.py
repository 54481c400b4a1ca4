"""`turnfold redact`: what redaction would make of a text."""

import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import JsonOption

if TYPE_CHECKING:
    from turnfold.events.redaction import RedactedText


def redact(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="[FILE]",
            help="A text file of at most 256 KiB; - or nothing is standard input.",
            show_default=False,
        ),
    ] = Path("-"),
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="List what was found, where and how long, but never the secret."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a text as it would be stored, with every secret replaced.

    Nothing is stored. The redacted text goes to standard output as it is; with --explain the
    findings go there instead. The exit code is 0 whether or not there was something to redact.

    \b
    Examples:
      turnfold redact note.txt
      echo "my key is ..." | turnfold redact --explain
    """
    text = _read(file)
    from turnfold.events.redaction import redact as redacted

    result = redacted(text)
    if as_json:
        found: dict[str, object] = {"findings": _findings(text)} if explain else {}
        render.print_json(
            {
                "text": str(result),
                "redactions": dict(result.redactions),
                "replaced_surrogates": result.replaced,
                **found,
            }
        )
    elif explain:
        _print_findings(text, result)
    elif sys.stdout.isatty():
        for line in render.shown_lines(str(result)):
            typer.echo(line)
    else:
        typer.echo(str(result), nl=False)


def _read(file: Path) -> str:
    """The text, undecodable bytes included. Raises TextTooLarge before reading on."""
    from turnfold.events.errors import InvalidInput, TextTooLarge
    from turnfold.events.redaction import INPUT_BYTES_MAX

    try:
        if str(file) == "-":
            data = sys.stdin.buffer.read(INPUT_BYTES_MAX + 1)
        else:
            with file.open("rb") as stream:
                data = stream.read(INPUT_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidInput(f"{file} can't be read: {error.strerror or 'unknown error'}") from None
    if len(data) > INPUT_BYTES_MAX:
        raise TextTooLarge(
            f"the text has more than {INPUT_BYTES_MAX} bytes, which is the most that one turn may"
            " have; pass it in parts"
        )
    return data.decode("utf-8", "surrogateescape")


def _findings(text: str) -> list[dict[str, object]]:
    """What a first search finds: kind, line and column (from 1) and length, never the text."""
    from turnfold.events.redaction_search import TooMuchWork, Work, find, work_limit

    plain = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc")
    try:
        spans = find(plain, Work(work_limit(len(plain))))
    except TooMuchWork:
        spans = [(0, len(plain), "text")]
    return [
        {
            "kind": kind,
            "line": plain.count("\n", 0, start) + 1,
            "column": start - plain.rfind("\n", 0, start),
            "characters": end - start,
        }
        for start, end, kind in spans
    ]


def _print_findings(text: str, result: "RedactedText") -> None:
    findings = _findings(text)
    if findings:
        columns = (">line", ">column", ">characters", "kind")
        names = ("line", "column", "characters", "kind")
        render.print_table(columns, ([item[name] for name in names] for item in findings))
    total = sum(count for _, count in result.redactions)
    kinds = ", ".join(f"{count} {kind}" for kind, count in result.redactions)
    render.echo(f"{render.quantity(total, 'redaction')}{': ' + kinds if kinds else ''}")
    if total > len(findings):
        render.echo("some of them were found only after others had been replaced")
    if result.replaced:
        render.echo(f"{render.quantity(result.replaced, 'character')} replaced that is not Unicode")
