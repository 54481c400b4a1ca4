"""`turnfold state record`: check a session-state record, and write it where that is allowed."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, locate
from turnfold.actors.cli.state_scope import ScopeOption, open_alone, scope_of

if TYPE_CHECKING:
    from turnfold.actors.config import Config
    from turnfold.events.session_state import (
        OperatorApproval,
        SessionStateWriteReport,
        TenantScope,
    )


def record(
    document: Annotated[
        str,
        typer.Argument(metavar="FILE|-", help="The record as JSON; - reads standard input."),
    ],
    *,
    scope: ScopeOption,
    approved_by: Annotated[
        str | None, typer.Option("--approved-by", help="Who approves the write: an id.")
    ] = None,
    approved_at: Annotated[
        str | None, typer.Option("--approved-at", help="From when: 2026-05-01T12:00:00Z.")
    ] = None,
    approved_until: Annotated[
        str | None, typer.Option("--approved-until", help="Until just before when.")
    ] = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a record and say everything that blocks it; write it if nothing does.

    Writing needs durable_writes_enabled in [session_state] of --config, and an approval in force:
    who, from when, until when. Without them this is a preview, and no file changes. Exits with 1
    if the record was not written.

    \b
    Example:
      turnfold state record latest.json --scope acme/helpdesk/chat-42 \\
        --config turnfold.toml --approved-by ops-7 \\
        --approved-at 2026-05-01T00:00:00Z --approved-until 2026-06-01T00:00:00Z
    """
    actor = scope_of(scope)
    approval = _approval(approved_by, approved_at, approved_until)
    located = locate(store, config)
    data = sys.stdin.buffer.read() if document == "-" else _read(Path(document))
    report = _written(located, actor, data, approval, own_limits=config is not None)
    if as_json:
        render.print_json(
            {
                "applied": report.applied,
                "blocked_reasons": list(report.blocked_reasons),
                "blockers": [blocker.value for blocker in report.blockers],
                "state_digest": report.state_digest,
                "record_bytes": report.record_bytes,
            }
        )
    elif report.applied:
        render.echo(f"recorded: {render.size(report.record_bytes)}, {report.state_digest}")
    else:
        render.echo("not written, and no file was changed; what blocks it:")
        for blocker in report.blockers:
            render.echo(f"  {blocker.value}")
    if not report.applied:
        raise typer.Exit(1)


def _approval(by: str | None, at: str | None, until: str | None) -> "OperatorApproval | None":
    """Raises InvalidInput if the approval is not whole."""
    from turnfold.events.errors import InvalidInput
    from turnfold.events.session_state import OperatorApproval

    if by is None and at is None and until is None:
        return None
    if by is None or at is None or until is None:
        raise InvalidInput(
            "an approval needs --approved-by, --approved-at and --approved-until together"
        )
    return OperatorApproval(by, _moment(at, "--approved-at"), _moment(until, "--approved-until"))


def _moment(text: str, option: str) -> datetime:
    from turnfold.events.errors import InvalidInput

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidInput(f"{option} needs a time with its zone, as in 2026-05-01T12:00:00Z")
    return moment


def _read(path: Path) -> bytes:
    from turnfold.events.errors import InvalidInput

    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidInput(f"the document can't be read: {reason}") from None


def _written(
    located: "Config",
    actor: "TenantScope",
    data: bytes,
    approval: "OperatorApproval | None",
    *,
    own_limits: bool,
) -> "SessionStateWriteReport":
    """Decide over the files alone, and open the store only if nothing blocks the write."""
    from turnfold.actors.cli.state_document import read_document
    from turnfold.actors.cli.state_files import desk_over_files
    from turnfold.events.session_state import SessionStateWriteReport

    with desk_over_files(located) as over_files:
        built = read_document(data, over_files)
        blockers, command = over_files.decide_write(actor, built, approval)
    if command is None:
        return SessionStateWriteReport.of(built, blockers, applied=False)
    running = open_alone(located, own_limits=own_limits)
    try:
        desk = running.state_access.desk
        built = read_document(data, desk)  # a new store has keys of its own
        blockers, command = desk.decide_write(actor, built, approval)
        if command is None:
            return SessionStateWriteReport.of(built, blockers, applied=False)
        report: SessionStateWriteReport = running.door.call(command, False, None)
    finally:
        running.close()
    return report
