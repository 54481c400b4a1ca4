"""`turnfold verify`: is the store what was written, and is nothing there that was erased?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, existing, path_of

if TYPE_CHECKING:
    from turnfold.events.log.verify_report import VerifyReport

FINDINGS_LISTED: Final = 100  # for people; --json has all of them


def verify(
    *,
    store: StoreOption = None,
    config: ConfigOption = None,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="POS:HEAD",
            help="A chain head that was noted earlier, as verify prints it.",
            show_default=False,
        ),
    ] = None,
    erased: Annotated[
        str | None,
        typer.Option(
            metavar="AVATAR",
            help="Also check that no text of this avatar is left anywhere.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check frames, hash chain, commitments, generations and redaction of a whole store.

    The last line is "ok" if nothing is wrong; otherwise every finding is listed and the exit code
    is 1. Keep the chain head that is printed somewhere else: with --head, a later run proves that
    nothing up to that position was changed since.

    \b
    Examples:
      turnfold verify
      turnfold verify --erased 61bd0364-10b9-504d-bc71-12251bcea0a7
      turnfold verify --head 5000:0c5e...
    """
    path = path_of(existing(store, config))
    report = verified(path, head=head, erased=erased)
    if as_json:
        render.print_json(_described(report))
    else:
        print_report(report)
        if report.ok:
            render.echo("ok")
    if not report.ok:
        raise typer.Exit(1)


def verified(path: Path, *, head: str | None = None, erased: str | None = None) -> "VerifyReport":
    """The report. Raises InvalidInput for a head or an avatar of the wrong form."""
    from turnfold.events.keys import parse_avatar
    from turnfold.events.log.verify import verify as check
    from turnfold.events.log.verify_report import SavedHead

    saved = None if head is None else SavedHead.parse(head)
    return check(path, head=saved, erased=None if erased is None else parse_avatar(erased))


def print_report(report: "VerifyReport") -> None:
    """What was looked at and what is wrong, for people; the verdict is left to the caller."""
    render.echo(
        f"{render.quantity(report.frames, 'frame')} with {render.quantity(report.events, 'event')}"
        f" from position {report.from_position:,} on: checksums, chain, state"
    )
    if report.exported:
        render.echo("this is an export: it has no payloads to check")
    else:
        render.echo(
            f"{render.quantity(report.payloads, 'payload')} against their commitments,"
            f" {report.erased_payloads:,} of them erased"
        )
    render.echo(
        f"{render.quantity(report.generations, 'generation')} against the log, redaction of"
        " what is live"
    )
    for gap in report.gaps:
        render.echo(f"positions {gap.first:,} to {gap.last:,} are missing, declared: {gap.reason}")
    render.echo(f"head {report.head}")
    if report.findings:
        rows = [
            (item.check, item.position or None, item.message, item.path or None)
            for item in report.findings[:FINDINGS_LISTED]
        ]
        render.print_table(("check", ">position", "finding", "file"), rows)
        render.echo(f"{render.quantity(len(report.findings), 'finding')}")


def _described(report: "VerifyReport") -> dict[str, Any]:
    return {
        "ok": report.ok,
        "head": str(report.head),
        "from_position": report.from_position,
        "frames": report.frames,
        "events": report.events,
        "payloads": report.payloads,
        "erased_payloads": report.erased_payloads,
        "generations": report.generations,
        "exported": report.exported,
        "gaps": [
            {"first": gap.first, "last": gap.last, "reason": gap.reason.value}
            for gap in report.gaps
        ],
        "findings": [
            {
                "check": item.check,
                "position": item.position,
                "message": item.message,
                "path": item.path,
            }
            for item in report.findings
        ],
    }
