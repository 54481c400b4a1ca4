"""`turnfold doctor`: what is the matter with a store, in plain words, and what to do next."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, existing, path_of

if TYPE_CHECKING:
    from turnfold.events.log.diagnosis import Diagnosis

ADVICE_LISTED: Final = 100  # for people; --json has all of it
_NS: Final = 1_000_000_000


def doctor(
    *, store: StoreOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """Say what is the matter with a store and what to do about it. Changes nothing.

    Who owns it, what an opening would find, which files are damaged, foreign, missing, open to
    others or of a newer format, what waits to be erased, and how full it is. Works beside a running
    store and on one that doesn't open. The last line is "ok" and the exit code 0 if nobody has to
    do anything; with --config sizes are compared with the limits there.

    \b
    Examples:
      turnfold doctor
      turnfold doctor --config turnfold.toml --json
    """
    from turnfold.events.log.diagnosis import diagnose
    from turnfold.events.log.ownership import owner_of
    from turnfold.events.log.replay import store_disk

    located = existing(store, config)
    path = path_of(located)
    disk = store_disk(path)
    try:
        owner = owner_of(disk)
        found = diagnose(
            disk, is_owned=owner is not None, limits=None if config is None else located.limits
        )
    finally:
        disk.close()
    found = _with_overdue(found, located.erase_after_s, is_owned=owner is not None)
    if as_json:
        render.print_json(_described(found, owner))
    else:
        _print(found, owner, path)
    if not found.ok:
        raise typer.Exit(1)


def _with_overdue(found: "Diagnosis", erase_after_s: float, *, is_owned: bool) -> "Diagnosis":
    """Text that should have been erased by now, added to the advice."""
    import attrs

    from turnfold.actors.clock import SystemClock
    from turnfold.events.log.advice import Advice

    now = found.newest_at if found.recorded_clock else SystemClock().wall_ns()
    latest = now - int(erase_after_s * _NS)
    overdue = [one for one in found.pending if one.since is not None and one.since < latest]
    if not overdue:
        return found
    what = f"text of {len(overdue)} sessions should have been erased within {erase_after_s:g} s"
    todo = "look at the owner's log, and flush it" if is_owned else "open the store: it erases it"
    position = min(one.session for one in overdue)
    due = Advice("erasure_due", what, todo, position=position, urgent=True)
    return attrs.evolve(found, advice=(*found.advice, due))


# --- for people ----------------------------------------------------------------------------------


def _print(found: "Diagnosis", owner: str | None, path: Path) -> None:
    render.echo(f"store {path}")
    render.echo("nobody has it open" if owner is None else f"process {owner} has it open")
    render.echo(_opening(found, is_owned=owner is not None))
    if found.generation:
        render.echo(f"the state comes from {found.generation} and the log behind it")
    elif found.position:
        render.echo("the state comes from the log alone: there is no generation that holds")
    sessions = render.quantity(found.sessions, "live session")
    render.echo(f"position {found.position:,}, {sessions}")
    if found.pending:
        since = min((one.since for one in found.pending if one.since is not None), default=None)
        when = "" if since is None else f", the oldest since {_utc(since)}"
        render.echo(f"{render.quantity(len(found.pending), 'erasure')} pending{when}")
    if found.quarantined:
        size = render.size(sum(one.size for one in found.quarantined))
        files = render.quantity(len(found.quarantined), "file")
        render.echo(f"{files} in quarantine, {size}: `turnfold quarantine list`")
    if found.usage:
        rows = [(one.name, f"{one.used:,}", f"{one.limit:,}") for one in found.usage]
        render.print_table(("limit", ">used", ">allowed"), rows)
    for item in found.advice[:ADVICE_LISTED]:
        where = item.path or (f"position {item.position:,}" if item.position else item.about)
        render.echo(f"{'!' if item.urgent else '-'} {where}: {item.message}")
        if item.todo:
            render.echo(f"    to do: {item.todo}")
    left = len(found.advice) - ADVICE_LISTED
    if left > 0:
        render.echo(f"and {left:,} more: --json has all of them")
    urgent = sum(item.urgent for item in found.advice)
    render.echo("ok" if found.ok else f"{render.quantity(urgent, 'thing')} to see to")


def _opening(found: "Diagnosis", *, is_owned: bool) -> str:
    from turnfold.events.reasons import Reason

    when = "after a crash now, an opening" if is_owned else "an opening"
    if found.opening is None:
        return f"{when} would fail, or can't be foreseen"
    if found.opening is Reason.OPENED_NEW:
        return f"{when} would make a new store here: there is nothing"
    if found.opening is Reason.OPENED_CLEAN:
        return f"{when} would find everything whole"
    if found.opening is Reason.OPENED_TORN_TAIL:
        return f"{when} would cut a torn tail of {render.quantity(found.torn_bytes, 'byte')}"
    lost = f"positions {found.lost_first:,} to {found.lost_last:,} lost"
    if found.sessions_lost:
        lost += ", and no session would stay live"
    return f"{when} would find {lost}"


def _utc(at: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at // _NS, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


# --- for programs --------------------------------------------------------------------------------


def _described(found: "Diagnosis", owner: str | None) -> dict[str, Any]:
    from turnfold.actors.cli.quarantine import name_parts

    return {
        "ok": found.ok,
        "owner": owner,
        "opening": {
            "reason": None if found.opening is None else found.opening.value,
            "torn_bytes": found.torn_bytes,
            "lost_first": found.lost_first,
            "lost_last": found.lost_last,
            "sessions_lost": found.sessions_lost,
            "generation": found.generation or None,
        },
        "position": found.position,
        "sessions": found.sessions,
        "limits": [{"name": one.name, "used": one.used, "limit": one.limit} for one in found.usage],
        "pending_erasures": [
            {
                "session": one.session,
                "reason": one.reason.value,
                "since": None if one.since is None else _utc(one.since),
            }
            for one in found.pending
        ],
        "quarantined": [{**name_parts(one.name), "bytes": one.size} for one in found.quarantined],
        "findings": [
            {
                "about": item.about,
                "urgent": item.urgent,
                "message": item.message,
                "to_do": item.todo,
                "path": item.path,
                "position": item.position,
            }
            for item in found.advice
        ],
    }
