"""`turnfold ingest`: recorded chat into a store."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption

if TYPE_CHECKING:
    from turnfold.actors.cli.ingest_lines import ChatLine
    from turnfold.actors.cli.intake import Intake
    from turnfold.actors.cli.line_source import Line
    from turnfold.actors.config import Config
    from turnfold.actors.supervisor import Supervisor
    from turnfold.events.keys import Channel

BAD_LINES_LISTED: Final = 1000  # in the JSON summary; standard error has every one


class ClockChoice(StrEnum):
    """Whose time counts."""

    LIVE = "live"
    RECORDED = "recorded"


def ingest(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Files of JSON Lines; - is standard input.",
            show_default=False,
        ),
    ],
    *,
    store: StoreOption = None,
    config: ConfigOption = None,
    channel: Annotated[
        str,
        typer.Option(metavar="CHANNEL", help="Channel of lines that name none."),
    ] = "public_chat",
    clock: Annotated[
        ClockChoice,
        typer.Option(
            help="recorded: the lines' own times decide what expires. live: this moment does."
        ),
    ] = ClockChoice.LIVE,
    as_json: JsonOption = False,
) -> None:
    """Put chat from JSON Lines into a store, which is made if it isn't there.

    A line is an object: {"at": "2026-05-01T18:30:00Z", "avatar": "UUID", "text": "..."}, and
    optionally "channel" (public_chat or direct_im), "kind" (avatar_text, agent_response,
    tool_result or action_result; without it the avatar speaks), "tool", "call_id", "turn_id" and
    "outcome" (ok, failed or refused). Secrets are redacted before anything is stored.

    A line that can't be used is reported with its number and the reason, the others go in, and
    the exit code is 1.

    \b
    Examples:
      turnfold ingest chat.jsonl --clock recorded
      turnfold ingest im.jsonl --channel direct_im --store /var/lib/agent
      tail -f chat.jsonl | turnfold ingest -
    """
    from turnfold.actors.cli.line_source import check_sources
    from turnfold.actors.cli.place import locate
    from turnfold.events.keys import parse_channel

    recorded = clock is ClockChoice.RECORDED
    run = Ingestion(
        locate(store, config),
        parse_channel(channel),
        recorded=recorded,
        own_limits=config is not None,
    )
    check_sources(files)
    with progress(files) as (advance, say):
        run.take(files, advance, say)
    summary = run.summary()
    if as_json:
        render.print_json(summary)
    else:
        print_summary(summary)
    if run.bad_lines:
        raise typer.Exit(1)


class Ingestion:
    """One run: lines are parsed here and sent to a store that is opened at the first good one."""

    def __init__(
        self, config: "Config", channel: "Channel", *, recorded: bool, own_limits: bool = False
    ) -> None:
        """`own_limits`: the configuration says which, so an earlier opening's don't count."""
        self._config = config
        self._own_limits = own_limits
        self._channel = channel
        self._recorded = recorded
        self._say: Callable[[str], None] = render.warn
        self._intake: Intake | None = None
        self._last_before = 0
        self.lines = 0
        self.bad_lines = 0
        self.bad: list[dict[str, object]] = []

    def take(
        self, files: list[Path], advance: Callable[[int], None], say: Callable[[str], None]
    ) -> None:
        """Send every line; returns when all that is good is stored and durable."""
        from turnfold.actors.cli.line_source import read_sources

        self._say = say
        store: Supervisor | None = None
        try:
            for line in read_sources(files, advance):
                self.lines += 1
                parsed = self._parse(line)
                if parsed is None:
                    continue
                if self._intake is None:
                    store = self._open(parsed)
                self._send(parsed, line)
            if self._intake is not None:
                self._intake.finish()
                self._report_refused(self._intake)
        finally:
            if store is not None:
                store.close()

    def _parse(self, line: "Line") -> "ChatLine | None":
        from turnfold.actors.cli.ingest_lines import LINE_BYTES_MAX, parse_line
        from turnfold.events.errors import InvalidInput

        try:
            if line.data is None:
                raise InvalidInput(f"the line has more than {LINE_BYTES_MAX} bytes")
            parsed = parse_line(line.data, self._channel)
            if self._recorded and parsed.at is None:
                raise InvalidInput('"at" is missing, and --clock recorded needs it')
        except InvalidInput as error:
            self._report(line.place, error)
            return None
        return parsed

    def _send(self, parsed: "ChatLine", line: "Line") -> None:
        from turnfold.events.errors import InvalidInput

        assert self._intake is not None
        try:
            self._intake.send(parsed, line.place)
        except InvalidInput as error:
            self._report(line.place, error)
        self._report_refused(self._intake)

    def _open(self, first: "ChatLine") -> "Supervisor":
        from turnfold.actors.cli.intake import Intake
        from turnfold.actors.cli.opening import open_for_writing
        from turnfold.actors.clock import RecordedClock

        clock = None
        if self._recorded:
            assert first.at is not None
            clock = RecordedClock(first.at)
        store, self._last_before = open_for_writing(
            self._config, clock, own_limits=self._own_limits
        )
        self._intake = Intake(store, recorded=self._recorded)
        return store

    def _report_refused(self, intake: "Intake") -> None:
        while intake.refused:
            place, error = intake.refused.popleft()
            self._report(place, error)

    def _report(self, place: str, error: Exception) -> None:
        self.bad_lines += 1
        self._say(f"{place}: {error}")
        if len(self.bad) < BAD_LINES_LISTED:
            source, _, number = place.rpartition(":")
            self.bad.append({"file": source, "line": int(number), "reason": str(error)})

    def summary(self) -> dict[str, Any]:
        """What went in and what came of it, counted from the log itself."""
        from turnfold.actors.cli.place import path_of
        from turnfold.actors.cli.tally import tally

        path = path_of(self._config)
        intake = self._intake
        return {
            "store": str(path),
            "lines": self.lines,
            "stored": intake.stored if intake else 0,
            "duplicates": intake.duplicates if intake else 0,
            "bad_lines": self.bad_lines,
            "bad": self.bad,
            **(tally(path, after=self._last_before) if intake else {}),
        }


def print_summary(summary: dict[str, Any]) -> None:
    """The summary for people."""
    if "events" in summary:
        rows = [(reason, f"{count:,}") for reason, count in summary["events"].items()]
        render.print_table(("what happened", ">events"), rows)
    if summary.get("redactions"):
        kinds = [(kind, f"{count:,}") for kind, count in summary["redactions"].items()]
        render.print_table(("redacted before it was stored", ">times"), kinds)
    stored = render.quantity(summary["stored"], "turn")
    render.echo(f"{stored} stored in {summary['store']}")
    if summary["duplicates"]:
        render.echo(
            f"{render.quantity(summary['duplicates'], 'line')} not stored again: the turn id was"
            " there already"
        )
    if "sessions" in summary:
        sessions = summary["sessions"]
        render.echo(
            f"{render.quantity(sessions['started'], 'session')} started,"
            f" {sessions['ended']:,} ended"
        )
    if summary["bad_lines"]:
        render.echo(
            f"{render.quantity(summary['bad_lines'], 'line')} of {summary['lines']:,} not stored;"
            " the reasons are above"
        )


@contextmanager
def progress(
    files: list[Path],
) -> Generator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """How to tell of bytes read and of bad lines: beside a bar if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield (lambda _size: None), render.warn
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TransferSpeedColumn,
    )
    from rich.text import Text

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    known = all(path.is_file() for path in files)
    total = sum(path.stat().st_size for path in files) if known else None
    bar = Progress(
        TextColumn("taking in"),
        BarColumn(),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("taking in", total=total)
        yield (
            lambda size: bar.advance(task, size),
            lambda line: console.print(Text(render.shown(line))),
        )
