"""`turnfold audit`: signed heads of the log, proof that it extends them, and exports."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from turnfold.actors.cli import audit_proof, render
from turnfold.actors.cli.audit_files import public_path, read_text, write_new
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, existing, path_of

if TYPE_CHECKING:
    from turnfold.events.audit_note import Checkpoint, SignedNote

SECRET_MODE: Final = 0o600
CHECKPOINT_FILE: Final = "checkpoint.txt"  # beside the log in an export

app = typer.Typer(
    name="audit",
    no_args_is_help=True,
    help="Sign the head of the log, prove later that nothing before it changed, export the log"
    " without content.",
)


# --- keys and checkpoints ------------------------------------------------------------------------


@app.command(short_help="Make a key to sign checkpoints with.")
def keygen(
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Where the private key goes; FILE.pub gets the public one."
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="The key's name, such as example.org/agent. [default: turnfold/ and the store's"
            " id]",
        ),
    ] = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make an Ed25519 key to sign checkpoints with. Needs the extra `audit`.

    FILE (mode 0600) is the private key: keep it on another machine than the store, for whoever has
    both can rewrite the log and sign it again. FILE.pub is what checks signatures.

    \b
    Examples:
      turnfold audit keygen audit.key
      turnfold audit keygen audit.key --name example.org/agent
    """
    from turnfold.events.audit_signing import signing_key, verifier_key
    from turnfold.events.log.checkpoint_proof import checkpoint_of

    if name is None:
        name = checkpoint_of(path_of(existing(store, config))).origin
    key = signing_key(name, os.urandom(32))
    public = str(verifier_key(key))
    write_new(file, key.encode() + "\n", mode=SECRET_MODE)
    write_new(public_path(file), public + "\n", mode=0o644)
    if as_json:
        render.print_json({"name": name, "id": key.id.hex(), "public_key": public})
    else:
        render.echo(f"private key {file}, public key {public_path(file)}:")
        render.echo(public)


@app.command(short_help="Print the signed head of the log.")
def checkpoint(
    *,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", metavar="FILE", help="Sign with this private key (`keygen` made it)."
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            "--origin", metavar="NAME", help="Name of the log. [default: the name of the key]"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write it there; a file that is there stays."),
    ] = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the head of the log at its last durable position, signed if there is a key.

    It commits to every event so far. Keep it somewhere else than beside the store; `turnfold audit
    verify` compares it with the log later. It is a C2SP checkpoint in a signed note, so other tools
    can check its signature.

    \b
    Examples:
      turnfold audit checkpoint --key audit.key --out 2026-05-01.checkpoint
      turnfold audit checkpoint
    """
    note, made = _checkpoint(path_of(existing(store, config)), key, origin)
    if out is not None:
        write_new(out, note.encode().decode(), mode=0o644)
    if as_json:
        described = _described_checkpoint(made)
        described["signed_by"] = [one.name for one in note.signatures]
        render.print_json(described | {"note": note.encode().decode()})
    elif out is None:
        typer.echo(note.encode().decode(), nl=False)  # of our own making: nothing a stranger typed
    else:
        render.echo(f"position {made.position:,}: {out}")


def _checkpoint(
    path: Path, key: Path | None, origin: str | None
) -> "tuple[SignedNote, Checkpoint]":
    from turnfold.events.audit_note import SignedNote, SigningKey, check_key_name
    from turnfold.events.audit_signing import sign
    from turnfold.events.log.checkpoint_proof import checkpoint_of

    signing = None if key is None else SigningKey.parse(read_text(key))
    name = origin or (signing.name if signing is not None else "")
    made = checkpoint_of(path, check_key_name(name) if name else "")
    note = SignedNote(made.encode())
    return (note if signing is None else sign(note, signing)), made


def _check_key(key: Path) -> None:
    """Sign something with the key: it can be read, is one, and what signs is installed."""
    from turnfold.events.audit_note import SignedNote, SigningKey
    from turnfold.events.audit_signing import sign

    sign(SignedNote("trial\n"), SigningKey.parse(read_text(key)))


app.command(short_help="Prove that the log extends saved checkpoints.")(audit_proof.verify)


# --- export --------------------------------------------------------------------------------------


@app.command(short_help="Write the log without content to a directory.")
def export(
    *,
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="An empty directory, or one to be made.")
    ],
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="Sign the export's checkpoint with this key."),
    ] = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write every event without payloads and without names, for somebody outside to check.

    The hash chain is the same, so `turnfold verify --store DIR`, `events`, `replay` and `audit
    verify` accept it. No text, tool name or typed id is in it, and avatars are pseudonyms whose key
    stays behind. DIR/checkpoint.txt is the checkpoint of its last position.

    \b
    Example:
      turnfold audit export for-the-auditor --key audit.key
    """
    from turnfold.events.log.export import export_log

    if key is not None:
        _check_key(key)  # before anything is written
    made = export_log(path_of(existing(store, config)), directory)
    note, saved = _checkpoint(directory, key, None)
    write_new(directory / CHECKPOINT_FILE, note.encode().decode(), mode=SECRET_MODE)
    if as_json:
        render.print_json(
            _described_checkpoint(saved)
            | {"first": made.first, "frames": made.frames, "bytes": made.size}
        )
        return
    render.echo(
        f"positions {made.first:,} to {made.last:,} in"
        f" {render.quantity(made.segments, 'segment')}, {render.size(made.size)}: {directory}"
    )


def _described_checkpoint(made: "Checkpoint") -> dict[str, Any]:
    return {
        "origin": made.origin,
        "position": made.position,
        "head": made.head.hex(),
        "store_id": made.store_id.hex(),
        "first_kept": made.first_kept,
    }
