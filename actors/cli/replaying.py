"""`turnfold replay`: the state at any position or time, folded again from the files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, existing, path_of

if TYPE_CHECKING:
    from turnfold.events.log.changes import SessionChange
    from turnfold.events.log.replay import GenerationCheck, Replayed


def replay(
    *,
    store: StoreOption = None,
    config: ConfigOption = None,
    until: Annotated[
        int | None,
        typer.Option(min=1, metavar="POS", help="Up to this position.", show_default=False),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Up to the last position that is this old, such as 2026-05-01T18:30:00Z.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare every generation with the log.")
    ] = False,
    diff: Annotated[
        tuple[int, int] | None,
        typer.Option(metavar="A B", help="What changed between two positions.", show_default=False),
    ] = None,
    tui: Annotated[
        bool,
        typer.Option("--tui", help="Step through the log on the terminal (extra `tui`)."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Rebuild the state of any moment from the log, less the text that was erased.

    Two replays to the same position give the same digest, on any machine, before and after
    erasure. Nothing is changed, and nothing of what was said is shown.

    \b
    Examples:
      turnfold replay
      turnfold replay --until 5000
      turnfold replay --at 2026-05-01T18:30:00Z
      turnfold replay --diff 5000 6000
      turnfold replay --check
      turnfold replay --tui
    """
    from turnfold.events.errors import InvalidInput

    if sum((until is not None, at is not None, check, diff is not None)) > 1:
        raise InvalidInput("give one of --until, --at, --check and --diff")
    if tui and (as_json or at is not None or check or diff is not None):
        raise InvalidInput("--tui takes --until and nothing else")
    path = path_of(existing(store, config))
    if tui:
        from turnfold.actors.cli.stepping import show

        show(path, until)
    elif check:
        _check(path, as_json=as_json)
    elif diff is not None:
        _diff(path, *diff, as_json=as_json)
    else:
        _rebuild(path, until, at, as_json=as_json)


# --- one state -----------------------------------------------------------------------------------


def _rebuild(path: Path, until: int | None, at: str | None, *, as_json: bool) -> None:
    from turnfold.actors.cli.ingest_lines import parse_time
    from turnfold.events.log.replay import replay as replayed

    at_ns = None if at is None else parse_time(at)
    facts = _facts(replayed(path, until=until, at=at_ns))
    if as_json:
        render.print_json(facts)
        return
    render.echo(f"position {facts['position']:,} at {facts['at']}")
    render.echo(f"digest   {facts['digest']}")
    render.echo(
        f"{render.quantity(facts['sessions'], 'live session')} with"
        f" {render.quantity(facts['turns'], 'turn')}, {render.size(facts['bytes'])};"
        f" {facts['ended_keys']:,} ended keys remembered"
    )
    if facts["erasures_pending"]:
        render.echo(f"{render.quantity(facts['erasures_pending'], 'erasure')} pending")
    if facts["state_records"]:
        render.echo(render.quantity(facts["state_records"], "session-state record"))


def _facts(found: "Replayed") -> dict[str, Any]:
    from turnfold.events.receipts import iso_time

    state = found.state
    return {
        "position": found.position,
        "at": iso_time(state.at),
        "digest": found.digest.hex(),
        "epoch": state.opening.epoch,
        "sessions": state.active,
        "turns": sum(session.turn_count for session in state.sessions()),
        "bytes": state.total_bytes,
        "ended_keys": len(state.ended),
        "erasures_pending": len(state.pending),
        "state_records": len(state.records),
        "first_kept": state.first_kept,
    }


# --- two states ----------------------------------------------------------------------------------


def _diff(path: Path, first: int, second: int, *, as_json: bool) -> None:
    from turnfold.events.log.changes import changes

    found = changes(path, first, second)
    described = [_change(one) for one in found.sessions]
    if as_json:
        facts = {"from": _facts(found.before), "to": _facts(found.after)}
        render.print_json(facts | {"sessions": described})
        return
    if described:
        columns = ("session", "channel", "what", ">turns", ">compacted", ">bytes", "why")
        names = ("session", "channel", "change", "turns", "compacted", "bytes", "why")
        rows = ([_why(change)[name] for name in names] for change in described)
        render.print_table(columns, rows)
    same = found.before.digest == found.after.digest
    render.echo(
        f"from position {first:,} to {second:,}: {render.quantity(len(described), 'session')}"
        f" changed, digests {'are equal' if same else 'differ'}"
    )


def _change(one: "SessionChange") -> dict[str, Any]:
    return {
        "session": one.session,
        "channel": None if one.channel is None else one.channel.value,
        "change": one.what,
        "started": None if one.started is None else one.started.value,
        "ended": None if one.ended is None else one.ended.value,
        "turns": one.turns,
        "compacted": one.compacted,
        "bytes": one.bytes_after - one.bytes_before,
    }


def _why(change: dict[str, Any]) -> dict[str, Any]:
    reasons = [change[name] for name in ("started", "ended") if change[name] is not None]
    return change | {"why": ", ".join(reasons)}


# --- generations -----------------------------------------------------------------------------


def _check(path: Path, *, as_json: bool) -> None:
    from turnfold.events.log.replay import check

    checks = check(path)
    wrong = [one for one in checks if one.matches is False]
    if as_json:
        described = [
            {
                "name": one.name,
                "position": one.position,
                "matches": one.matches,
                "message": one.message,
            }
            for one in checks
        ]
        render.print_json({"generations": described, "ok": not wrong})
    else:
        _print_checks(checks, len(wrong))
    if wrong:
        raise typer.Exit(1)


def _print_checks(checks: "list[GenerationCheck]", wrong: int) -> None:
    said = {True: "equal", False: "DIFFERS", None: "not comparable"}
    if checks:
        rows = [(f"{one.position:,}", said[one.matches], one.message, one.name) for one in checks]
        render.print_table((">position", "digest", "remark", "generation"), rows)
    if wrong:
        render.echo(f"{render.quantity(wrong, 'generation')} not what the log folds to")
    else:
        render.echo(f"{render.quantity(len(checks), 'generation')} compared with the log: ok")
