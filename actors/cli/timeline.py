"""`turnfold timeline`: a store's life as one picture, in the terminal or as a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, existing, path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnfold.events.timeline import Timeline

ROWS: Final = 6  # of a chart in the terminal
_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_DOTS: Final = " ·•●"
# For terminals without these characters.
_PLAIN: Final = str.maketrans(f"{_EIGHTHS}·•●┤└─", " ..::####.oO|+-")
_NAME_WIDTH: Final = 11
_STYLES: Final = {
    "compaction": "magenta",
    "expiry": "bright_black",
    "eviction": "yellow",
    "deletion": "red",
    "quarantine": "yellow",
    "damage": "bold red",
    "opening": "green",
}


def timeline(
    *,
    store: StoreOption = None,
    config: ConfigOption = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Write a picture to this file instead."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write a page with the picture and all counts instead."
        ),
    ] = None,
    by_position: Annotated[
        bool, typer.Option("--by-position", help="Draw over positions, not over time.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Draw a store's life: sessions and bytes over time against their limits, and what happened.

    Marks are compaction, expiry, eviction, deletion, quarantine, damage and openings. Files are
    self-contained: no script, nothing fetched, no content and no names in them.

    \b
    Examples:
      turnfold timeline
      turnfold timeline --html life.html
      turnfold timeline --svg life.svg --by-position
    """
    from turnfold.actors.cli.timeline_svg import html_of, svg_of

    path = path_of(existing(store, config))
    drawn = _drawn(path, by_position=by_position)
    for file, made in ((svg, svg_of), (html, html_of)):
        if file is not None:
            _write(file, made(drawn, path.name))
            if not as_json:
                render.echo(f"{file}: positions {drawn.first:,} to {drawn.last:,}")
    if as_json:
        render.print_json(_described(drawn))
    elif svg is None and html is None:
        _print(drawn)


def _drawn(path: Path, *, by_position: bool) -> "Timeline":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from turnfold.events.log.stepping import replay_steps
    from turnfold.events.timeline import Timeline

    drawn = Timeline(by_position=by_position)
    columns = (TextColumn("positions"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, transient=True, disable=not sys.stderr.isatty())
    with bar:
        task = bar.add_task("positions", total=None)

        def moved(position: int, last: int) -> None:
            if not position % 256 or position == last:
                bar.update(task, completed=position, total=last)

        for step in replay_steps(path, progress=moved):
            drawn.add(step.events, step.state)
    return drawn


def _write(file: Path, text: str) -> None:
    from turnfold.events.errors import StorageError

    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{file} can't be written: {error.strerror}") from error


# --- in the terminal -----------------------------------------------------------------------------


def _print(drawn: "Timeline") -> None:
    from rich.text import Text

    from turnfold.actors.cli.timeline_svg import limits_at
    from turnfold.events.receipts import iso_time
    from turnfold.events.timeline import Mark

    console = render.console()
    width = max(20, min(console.width, 140) - _NAME_WIDTH - 10)
    cells = drawn.spread(width)
    allowed = limits_at(drawn, width)
    utf8 = "utf" in (console.encoding or "").lower()

    def line(name: str, body: str, note: str = "", style: str = "") -> None:
        text = body if utf8 else body.translate(_PLAIN)
        row = Text(f"{name:>{_NAME_WIDTH}} ")
        console.print(row.append(text, style).append(note), soft_wrap=True)

    def told(value: int) -> str:
        return f"{value:,}"

    charts = (
        ("sessions", [c.sessions_most for c in cells], [a[0] for a in allowed], told, "blue"),
        ("bytes", [c.bytes_most for c in cells], [a[1] for a in allowed], render.size, "cyan"),
    )
    for name, values, limits, as_text, style in charts:
        peak, limit = max(values), limits[-1]
        share = 100 * peak / limit if limit else 0.0
        line(name, f"peak {as_text(peak)}, limit {as_text(limit)} ({share:.3g} % of it)")
        for number, row in enumerate(_bars(values)):
            line(as_text(peak) if not number else "", "┤" + row, style=style)
        line("0", "└" + "─" * width)
    total = drawn.marks
    for mark in Mark:
        dots = "".join(_dot(cell.marks[mark]) for cell in cells)
        line(mark.value, " " + dots, f" {total[mark]:,}", _STYLES[mark.value])
    begin, end = (
        (f"position {drawn.first:,}", f"{drawn.last:,}")
        if drawn.by_position
        else (iso_time(drawn.begin)[:16] + "Z", iso_time(drawn.end)[:16] + "Z")
    )
    line("", f" {begin}{end:>{max(1, width - len(begin))}}")


def _dot(count: int) -> str:
    """Larger for 10 and for 100 marks."""
    return _DOTS[min(3, len(str(count)))] if count else " "


def _bars(values: "Sequence[int]") -> list[str]:
    """Columns in eighths of a row, the top row first."""
    peak = max(1, *values)
    eighths = [-(-value * ROWS * 8 // peak) for value in values]
    return [
        "".join(_EIGHTHS[max(0, min(8, height - 8 * row))] for height in eighths)
        for row in reversed(range(ROWS))
    ]


# --- for programs --------------------------------------------------------------------------------


def _described(drawn: "Timeline") -> dict[str, Any]:
    return {
        "by": "position" if drawn.by_position else "time",
        "first": drawn.first,
        "last": drawn.last,
        "begin": drawn.begin,
        "end": drawn.end,
        "bucket_width": drawn.width,
        "limits": [
            {
                "from": change.x,
                "active_sessions": change.active_sessions,
                "aggregate_bytes": change.aggregate_bytes,
            }
            for change in drawn.limits
        ],
        "reasons": dict(sorted(drawn.reasons.items())),
        "buckets": [
            {
                "from": drawn.begin + index * drawn.width,
                "first": bucket.first,
                "last": bucket.last,
                "sessions": bucket.sessions,
                "sessions_most": bucket.sessions_most,
                "bytes": bucket.bytes,
                "bytes_most": bucket.bytes_most,
                "marks": {mark.value: count for mark, count in sorted(bucket.marks.items())},
            }
            for index, bucket in drawn.buckets.items()
        ],
    }
