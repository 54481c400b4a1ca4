"""`turnfold verify`: is the store what was written, and is nothing there that was erased?"""

from typing import Annotated

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, existing, path_of


def verify(
    *,
    store: StoreOption = None,
    config: ConfigOption = None,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="POS:HEAD",
            help="A position and chain head that were noted earlier, as verify prints them.",
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
    is 1. Note the chain head that is printed: with --head, a later run proves that nothing before
    that position was changed since.

    \b
    Examples:
      turnfold verify
      turnfold verify --erased 61bd0364-10b9-504d-bc71-12251bcea0a7
      turnfold verify --head 5000:0c5e...
    """
    raise NotImplementedError
