"""`turnfold context`: what a model would see of one key."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import (
    AvatarArgument,
    ChannelArgument,
    ConfigOption,
    JsonOption,
    StoreOption,
    existing,
    key_of,
    path_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from turnfold.actors.cli.views import View
    from turnfold.events.context import Context
    from turnfold.events.keys import ConversationKey


class Shape(StrEnum):
    """In whose form the messages are printed."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


def context(
    avatar: AvatarArgument,
    channel: ChannelArgument,
    *,
    store: StoreOption = None,
    config: ConfigOption = None,
    budget_bytes: Annotated[
        int | None,
        typer.Option(min=0, help="At most this many bytes; whole exchanges go, oldest first."),
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(min=0, help="The same in tokens of three bytes."),
    ] = None,
    shape: Annotated[
        Shape | None,
        typer.Option(
            help="Print the messages as JSON in this provider's form.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a model would see of one avatar in one channel, and of nobody else.

    This prints what people said. Everything that is not the avatar's or the agent's own words
    stands in a marked block; characters that a terminal would act on are written out.

    \b
    Examples:
      turnfold context 61bd0364-10b9-504d-bc71-12251bcea0a7 public_chat
      turnfold context 61bd0364-10b9-504d-bc71-12251bcea0a7 direct_im --shape openai
    """
    from turnfold.actors.cli.views import read_view

    key = key_of(avatar, channel)
    path = path_of(existing(store, config))
    found = context_of(
        path, read_view(path), key, budget_bytes=budget_bytes, budget_tokens=budget_tokens
    )
    if shape is Shape.OPENAI:
        render.print_json(found.as_openai())
    elif shape is Shape.ANTHROPIC:
        render.print_json(found.as_anthropic())
    elif as_json:
        render.print_json(_described(found))
    else:
        print_context(found)


def context_of(
    storage_path: "Path",
    view: "View",
    key: "ConversationKey",
    *,
    budget_bytes: int | None = None,
    budget_tokens: int | None = None,
) -> "Context":
    """The context of a key, as a running store would give it. Raises StoreReadOnly."""
    from turnfold.actors.cli.views import secret_of
    from turnfold.events.context import project
    from turnfold.events.keys import boundary_key, pseudonym

    secret = secret_of(storage_path)
    session, ended = view.find((pseudonym(secret, key.avatar), key.channel.code))
    return project(
        session,
        ended,
        secret=boundary_key(secret),
        budget_bytes=budget_bytes,
        budget_tokens=budget_tokens,
    )


def print_context(found: "Context") -> None:
    """The messages for people, each line of a text marked as quoted."""
    if found.session_id is None:
        render.echo("no session is live; a model would be told so:")
    else:
        fresh = ", fresh: the agent has not spoken in it yet" if found.fresh else ""
        render.echo(f"session {found.session_id}, up to position {found.position:,}{fresh}")
    for message in found.messages:
        trust = "trusted" if message.trusted else "untrusted"
        where = f", {_span(message.positions)}" if message.positions else ""
        render.echo()
        render.echo(f"{message.role} ({trust}{where})")
        for line in render.shown_lines(message.content):
            typer.echo(f"  | {line}")
    render.echo()
    total = sum(len(message.content.encode()) for message in found.messages)
    render.echo(f"{render.quantity(len(found.messages), 'message')}, {total:,} bytes")


def _span(positions: tuple[int, ...]) -> str:
    first, last = positions[0], positions[-1]
    return f"position {first:,}" if first == last else f"positions {first:,} to {last:,}"


def _described(found: "Context") -> dict[str, Any]:
    return {
        "session_id": found.session_id,
        "fresh": found.fresh,
        "previous_ended": None if found.previous_ended is None else found.previous_ended.value,
        "position": found.position,
        "messages": [
            {
                "role": message.role,
                "content": message.content,
                "trusted": message.trusted,
                "positions": list(message.positions),
            }
            for message in found.messages
        ],
    }
