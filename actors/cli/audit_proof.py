"""`turnfold audit verify`: does today's log extend what was signed earlier?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.audit_files import read_bytes, read_text
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, existing, path_of

if TYPE_CHECKING:
    from turnfold.events.audit_note import Checkpoint
    from turnfold.events.log.checkpoint_proof import CheckpointProof
    from turnfold.events.log.difference import Comparison


def verify(
    *,
    checkpoints: Annotated[
        list[Path],
        typer.Argument(metavar="CHECKPOINT...", help="Files that `audit checkpoint` made."),
    ],
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE.pub", help="The public key that has to have signed."),
    ] = None,
    unsigned: Annotated[
        bool,
        typer.Option(
            "--unsigned", help="Check no signature: you know where the checkpoints come from."
        ),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="DIR", help="Also compare with an export, event by event."
        ),
    ] = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prove that today's log extends saved checkpoints, whatever was erased since.

    "extends": no event up to the checkpoint was changed, left out, added or moved. "differs" names
    the first positions that are not as they were; several checkpoints, or an earlier export, make
    that exact. "unprovable: trimmed": the log begins behind the checkpoint. The exit code is 1
    unless all extend.

    \b
    Examples:
      turnfold audit verify 2026-05-01.checkpoint --key audit.key.pub
      turnfold audit verify *.checkpoint --key audit.key.pub --against export
    """
    from turnfold.events.errors import InvalidInput
    from turnfold.events.log.checkpoint_proof import Verdict, prove

    if (key is None) != unsigned:
        raise InvalidInput("give the public key with --key, or --unsigned to check no signature")
    path = path_of(existing(store, config))
    saved = _accepted(checkpoints, key)
    proofs = prove(path, [found for found in saved if found is not None])
    comparison = None if against is None else _compared(path, against)
    answers = iter(proofs)
    results = [
        (file, None if found is None else next(answers))
        for file, found in zip(checkpoints, saved, strict=True)
    ]
    good = all(proof is not None and proof.verdict is Verdict.EXTENDS for _file, proof in results)
    good = good and (comparison is None or comparison.is_equal)
    if as_json:
        render.print_json(_described(results, comparison, ok=good))
    else:
        _print_proofs(results, comparison)
        if good:
            render.echo("ok")
    if not good:
        raise typer.Exit(1)


def _accepted(files: list[Path], key: Path | None) -> "list[Checkpoint | None]":
    """The checkpoint in each file; None where the key did not sign it."""
    from turnfold.events.audit_note import Checkpoint, SignedNote, VerifierKey
    from turnfold.events.audit_signing import is_signed

    public: VerifierKey | None = None if key is None else VerifierKey.parse(read_text(key))
    found: list[Checkpoint | None] = []
    for file in files:
        note = SignedNote.decode(read_bytes(file))
        signed = public is None or is_signed(note, public)
        found.append(Checkpoint.decode(note.text) if signed else None)
    return found


def _compared(path: Path, other: Path) -> "Comparison":
    from turnfold.events.log.difference import compare_logs

    return compare_logs(path, path_of(existing(other, None)))


def _print_proofs(
    results: "list[tuple[Path, CheckpointProof | None]]", comparison: "Comparison | None"
) -> None:
    for file, proof in results:
        if proof is None:
            render.echo(f"{file}: not signed by this key; what it says was not looked at")
        elif proof.first:
            render.echo(f"{file}: position {proof.position:,}: DIFFERS at {proof.message}")
        else:
            render.echo(f"{file}: position {proof.position:,}: {proof.message}")
    if comparison is None:
        return
    if comparison.differs_at is not None:
        render.echo(f"position {comparison.differs_at:,}: DIFFERS from the export")
    elif comparison.is_equal:
        render.echo(f"positions {comparison.first:,} to {comparison.last:,} are as exported")
    else:
        render.echo("the export and the log have no position in common")


def _described(
    results: "list[tuple[Path, CheckpointProof | None]]",
    comparison: "Comparison | None",
    *,
    ok: bool,
) -> dict[str, Any]:
    return {
        "ok": ok,
        "checkpoints": [
            {"file": str(file), "verdict": "not_signed"}
            if proof is None
            else {
                "file": str(file),
                "verdict": proof.verdict.value,
                "position": proof.position,
                "first": proof.first or None,
                "last": proof.last or None,
                "message": proof.message,
            }
            for file, proof in results
        ],
        "export": None
        if comparison is None
        else {
            "first": comparison.first,
            "last": comparison.last,
            "differs_at": comparison.differs_at,
        },
    }
