"""`turnfold state`: digest-only session-state records, for operators."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnfold.actors.cli import render, state_record
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, existing
from turnfold.actors.cli.state_scope import ScopeOption, open_alone, scope_of

if TYPE_CHECKING:
    from turnfold.actors.config import Config
    from turnfold.events.session_state import SessionStateReadReport, TenantScope

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Session-state records: digests and ids to resume from, without a transcript.",
)

StateIdArgument = Annotated[
    str, typer.Argument(metavar="STATE_ID", help="The record's id.", show_default=False)
]


app.command()(state_record.record)


@app.command()
def show(
    state_id: StateIdArgument,
    *,
    scope: ScopeOption,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one record of a scope: ids, digests and counts. Works beside a running store.

    Exits with 1 if there is none, or if it is corrupt: then with a label and an error digest, and
    nothing of what is stored.

    \b
    Example:
      turnfold state show latest --scope acme/helpdesk/chat-42
    """
    from turnfold.actors.cli.state_document import facts, record_document

    report = _read_report(existing(store, config), scope_of(scope), state_id)
    found = report.record
    if as_json:
        render.print_json(
            {
                "record": None if found is None else record_document(found),
                "facts": None if found is None else facts(found),
                "corrupt": report.corrupt,
                "blockers": [blocker.value for blocker in report.blockers],
                "error_label": render.plain(report.error_label),
                "error_digest": report.error_digest,
            }
        )
    elif found is not None:
        _print_record(record_document(found) | facts(found))
    else:
        _print_unreadable(report)
    if found is None:
        raise typer.Exit(1)


@app.command(name="list")
def list_records(
    *,
    scope: ScopeOption,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the records of exactly one scope. Exits with 1 if any of them is corrupt.

    \b
    Example:
      turnfold state list --scope acme/helpdesk/chat-42
    """
    from turnfold.actors.cli.state_files import desk_over_files

    with desk_over_files(existing(store, config)) as desk:
        report = desk.list(scope_of(scope))
    if as_json:
        entries = [
            {
                "state_id": entry.state_id,
                "state_digest": entry.state_digest,
                "record_bytes": entry.record_bytes,
                "turns": entry.turn_count,
            }
            for entry in report.entries
        ]
        render.print_json({"records": entries, "error_digests": list(report.error_digests)})
    else:
        rows = [
            (entry.state_id, entry.turn_count, render.size(entry.record_bytes), entry.state_digest)
            for entry in report.entries
        ]
        if rows:
            render.print_table(("state id", ">turns", ">size", "state digest"), rows)
        render.echo(render.quantity(len(rows), "record"))
        for digest in report.error_digests:
            render.echo(f"corrupt: {digest}")
    if report.error_digests:
        raise typer.Exit(1)


@app.command()
def preview(
    state_id: StateIdArgument,
    *,
    scope: ScopeOption,
    max_inputs: Annotated[
        int, typer.Option("--max-inputs", help="Inputs of each kind, at most 1,024.")
    ] = 64,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """What a record could be resumed from: retrieval, routing and gene inputs. Changes nothing.

    \b
    Example:
      turnfold state preview latest --scope acme/helpdesk/chat-42
    """
    from turnfold.actors.cli.state_document import preview_document
    from turnfold.actors.cli.state_files import desk_over_files
    from turnfold.events.session_state import SessionStateKey

    actor = scope_of(scope)
    with desk_over_files(existing(store, config)) as desk:
        found = desk.read(actor, SessionStateKey(actor, state_id))
        previewed = desk.preview(actor, found.record, max_inputs)
    described = preview_document(previewed)
    if as_json:
        render.print_json(described)
    elif previewed.rejected:
        _print_unreadable(found)
    else:
        rows = [
            (kind, one["source"], one["reference_id"], one["evidence_digest"])
            for kind in ("retrieval", "routing", "gene")
            for one in described[f"{kind}_inputs"]
        ]
        render.print_table(("input", "source", "reference", "evidence"), rows)
        render.echo(f"{render.quantity(previewed.omitted, 'input')} left out")
    if previewed.rejected:
        raise typer.Exit(1)


@app.command()
def delete(
    state_id: StateIdArgument,
    *,
    scope: ScopeOption,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete one record of a scope; its bytes are erased when this returns. Needs no approval.

    The store must not be running: its program deletes with SessionStateStore.delete. Exits with 1
    if there was no such record.

    \b
    Example:
      turnfold state delete latest --scope acme/helpdesk/chat-42
    """
    from turnfold.events.session_state import SessionStateKey

    located = existing(store, config)
    actor = scope_of(scope)
    running = open_alone(located, own_limits=config is not None)
    try:
        command = running.state_access.desk.delete_command(actor, SessionStateKey(actor, state_id))
        report = running.door.call(command, False, None)
    finally:
        running.close()
    if as_json:
        blockers = [blocker.value for blocker in report.blockers]
        render.print_json({"applied": report.applied, "blockers": blockers})
    else:
        render.echo("deleted and erased" if report.applied else "there is no such record")
    if not report.applied:
        raise typer.Exit(1)


@app.command(name="find-error")
def find_error(
    digest: Annotated[
        str, typer.Argument(metavar="DIGEST", help="The error digest of a report or a log line.")
    ],
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the corrupt record that an error digest is about: where it is and in what way.

    Shows positions, sizes and keyed tags, nothing of what is stored. Exits with 1 if no record
    has that digest.

    \b
    Example:
      turnfold state find-error blake2b-256-keyed:k1-09af31c2:6f...
    """
    from turnfold.actors.cli.state_files import desk_over_files
    from turnfold.events.receipts import iso_time

    with desk_over_files(existing(store, config)) as desk:
        found = desk.find_error(digest)
    if found is None:
        if as_json:
            render.print_json({"found": False})
        else:
            render.echo("no record that is stored now has that error digest")
        raise typer.Exit(1)
    described = {
        "found": True,
        "position": found.position,
        "at": iso_time(found.at),
        "record_tag": found.record_tag,
        "scope_tag": found.scope_tag,
        "stored_bytes": found.stored_bytes,
        "error_label": render.plain(found.error_label),
    }
    if as_json:
        render.print_json(described)
    else:
        rows = [(name, value) for name, value in described.items() if name != "found"]
        render.print_table(("what", "value"), rows)


@app.command(name="rotate-key")
def rotate_key(
    store: StoreOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """Make a new digest key; retired ones are kept, so that old digests can be verified.

    The store must not be running: its program rotates with SessionStateStore.rotate_key.

    \b
    Example:
      turnfold state rotate-key --store /var/lib/agent
    """
    running = open_alone(existing(store, config), own_limits=config is not None)
    try:
        keys = running.state_access.desk.keys
        key_id = keys.rotate()
        retired = len(keys.ring.retired)
    finally:
        running.close()
    if as_json:
        render.print_json({"key_id": key_id, "retired": retired})
    else:
        kept = render.quantity(retired, "retired key")
        render.echo(f"new digests are made with key {key_id}; {kept} stay for verifying")


# --- parts -------------------------------------------------------------------------------------


def _read_report(
    located: "Config", actor: "TenantScope", state_id: str
) -> "SessionStateReadReport":
    from turnfold.actors.cli.state_files import desk_over_files
    from turnfold.events.session_state import SessionStateKey

    with desk_over_files(located) as desk:
        return desk.read(actor, SessionStateKey(actor, state_id))


def _print_unreadable(report: "SessionStateReadReport") -> None:
    if report.corrupt:
        render.echo(f"corrupt ({render.plain(report.error_label)}): {report.error_digest}")
        render.echo("delete the record or write it again")
    else:
        render.echo("there is no such record in this scope")


def _print_record(described: dict[str, Any]) -> None:
    """A record for people: single values, then how much is in each list."""
    rows: list[tuple[str, object]] = []
    for name, value in described.items():
        if isinstance(value, dict):
            rows += [(f"{name}.{inner}", item) for inner, item in value.items()]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # any JSON object
        elif isinstance(value, list):
            rows.append((name, render.quantity(len(value), "item")))  # pyright: ignore[reportUnknownArgumentType]  # any JSON array
        else:
            rows.append((name, value))
    render.print_table(("field", "value"), rows)
