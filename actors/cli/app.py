"""The `turnfold` command line: its commands in the order of its help, and how it ends.

Exit codes: 0 all is well, 1 something was found wrong or could not be done, 2 the command was
given wrongly. Commands import what they need when they run, so that help is quick.
"""

import io
import sys
from typing import Annotated

import typer

from turnfold.actors.cli import (
    audit,
    contexts,
    demo,
    doctor,
    erase,
    event_stream,
    ingest,
    inspection,
    quarantine,
    redaction,
    render,
    replaying,
    state,
    timeline,
    verification,
)

EXIT_WRONG = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="turnfold",
    no_args_is_help=True,
    add_completion=False,
    # Plain help is quicker, and a traceback with local variables would show what people said.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        render.echo(f"turnfold {version('turnfold')}")
        raise typer.Exit


@app.callback()
def turnfold(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Bounded conversation memory for an agent that many people talk to.

    What was said goes into one log; out of it come the contexts that a model sees. Start with
    `turnfold demo`, then put your own chat in with `turnfold ingest`.

    Every command that works on a store takes --store STORAGE_PATH or --config FILE; without
    either it uses ./turnfold-store. Reading commands work beside a running agent.
    """
    del version


app.command(short_help="Show everything on a sample chat, with a kill in the middle.")(demo.demo)
app.command(short_help="Put chat (JSON Lines) into a store.")(ingest.ingest)
app.command(short_help="List live sessions: who, where, how much.")(inspection.sessions)
app.command(short_help="Show what a model would see of one avatar.")(contexts.context)
app.command(short_help="End one live session now.")(erase.expire)
app.command(short_help="Delete and erase what an avatar said.")(erase.delete)
app.command(short_help="List what is kept about one avatar.")(inspection.subject)
app.command(short_help="Print the audit stream.")(event_stream.events)
app.command(short_help="Rebuild the state of any moment.")(replaying.replay)
app.command(short_help="Draw a store's life: sessions, bytes, marks.")(timeline.timeline)
app.command(short_help="Check the whole store.")(verification.verify)
app.command(short_help="Say what is the matter with a store, and what to do.")(doctor.doctor)
app.command(short_help="Show a text with its secrets replaced.")(redaction.redact)
app.add_typer(audit.app, name="audit", short_help="Sign the log's head, prove it later, export.")
app.add_typer(
    quarantine.app, name="quarantine", short_help="List or remove what was set aside as damaged."
)
app.add_typer(state.app, name="state", short_help="Check, write and look at session-state records.")


def main() -> None:
    """Run the command line and leave by SystemExit."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character gets its number, never an error halfway through.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="turnfold")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:  # of a store's files it would be a StorageError
        if error.filename is not None:
            raise
        render.warn(f"turnfold: the output can't be written: {error.strerror or error}")
        sys.exit(EXIT_WRONG)
    except Exception as error:
        from turnfold.events.errors import InvalidInput, StorePathError, TurnfoldError

        if not isinstance(error, TurnfoldError):
            raise
        render.warn(f"turnfold: {error}")
        sys.exit(EXIT_USAGE if isinstance(error, InvalidInput | StorePathError) else EXIT_WRONG)
