"""Whose session state a command is about, and opening the store for it alone."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from turnfold.actors.config import Config
    from turnfold.actors.supervisor import Supervisor
    from turnfold.events.session_state import TenantScope

ScopeOption = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="TENANT/WORKSPACE/SESSION",
        help="The scope that acts; it sees its own records alone.",
        show_default=False,
    ),
]


def scope_of(text: str) -> "TenantScope":
    """The scope that is written like this; no id holds a slash. Raises InvalidInput."""
    from turnfold.events.errors import InvalidInput
    from turnfold.events.session_state import TenantScope

    parts = text.split("/")
    if len(parts) != 3:
        raise InvalidInput("--scope takes three ids with slashes between: TENANT/WORKSPACE/SESSION")
    return TenantScope(*parts)


def open_alone(located: "Config", *, own_limits: bool) -> "Supervisor":
    """The store, owned by this process. Raises StoreLocked while a program runs it."""
    from turnfold.actors.cli.opening import open_for_writing

    return open_for_writing(located, None, own_limits=own_limits)[0]
