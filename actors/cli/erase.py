"""`turnfold expire` and `turnfold delete`: through the store's owner if it runs, else alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import (
    OWNER_TIMEOUT_S,
    AvatarArgument,
    ChannelArgument,
    ConfigOption,
    JsonOption,
    StoreOption,
    TimeoutOption,
    existing,
    key_of,
    path_of,
)

if TYPE_CHECKING:
    from turnfold.actors.config import Config
    from turnfold.events.commands import DeleteKey, ExpireSession
    from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt


def expire(
    avatar: AvatarArgument,
    channel: ChannelArgument,
    *,
    store: StoreOption = None,
    config: ConfigOption = None,
    timeout: TimeoutOption = OWNER_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """End one live session now, as if its time were up.

    The avatar's next turn starts a new session that knows nothing of this one. The text is erased
    at the store's next flush; `turnfold delete` erases at once. Works beside a running agent.

    \b
    Example:
      turnfold expire 61bd0364-10b9-504d-bc71-12251bcea0a7 public_chat
    """
    from turnfold.events.commands import ExpireSession

    located = existing(store, config)
    request = ExpireSession(key_of(avatar, channel))
    receipts = carry_out(located, [request], own_limits=config is not None, timeout_s=timeout)
    receipt: ExpiryReceipt = receipts[0]
    if as_json:
        render.print_json(
            {
                "expired": receipt.expired,
                "session_id": receipt.session_id,
                "reason": render.plain(receipt.reason),
                "position": receipt.position,
                "durable": receipt.durable,
            }
        )
    elif receipt.expired:
        render.echo(
            f"session {receipt.session_id} has ended ({receipt.reason}, position"
            f" {receipt.position:,}); its text is erased at the next flush"
        )
    else:
        render.echo("that avatar has no live session in that channel; nothing was changed")


def delete(
    avatar: AvatarArgument,
    channel: Annotated[
        str | None,
        typer.Argument(metavar="[CHANNEL]", help="public_chat or direct_im.", show_default=False),
    ] = None,
    *,
    both: Annotated[bool, typer.Option("--all", help="Both channels of this avatar.")] = False,
    store: StoreOption = None,
    config: ConfigOption = None,
    timeout: TimeoutOption = OWNER_TIMEOUT_S,
    as_json: JsonOption = False,
) -> None:
    """Delete everything an avatar ever said or was told in a channel, and erase it on disk.

    When the command returns, the text is gone from every file of the store, sessions that had
    ended before included. What stays are facts without content: positions, times, sizes and a
    pseudonym, so that the log still verifies. Works beside a running agent.

    \b
    Examples:
      turnfold delete 61bd0364-10b9-504d-bc71-12251bcea0a7 direct_im
      turnfold delete 61bd0364-10b9-504d-bc71-12251bcea0a7 --all
    """
    from turnfold.events.commands import DeleteKey
    from turnfold.events.errors import InvalidInput
    from turnfold.events.keys import CHANNELS

    if both == (channel is not None):
        raise InvalidInput("name a channel (public_chat or direct_im), or give --all for both")
    located = existing(store, config)
    names = [channel] if channel is not None else [known.value for known in CHANNELS]
    requests = [DeleteKey(key_of(avatar, name)) for name in names]
    receipts: list[DeletionReceipt] = carry_out(
        located, requests, own_limits=config is not None, timeout_s=timeout
    )
    if as_json:
        deleted = [_facts(receipt) for receipt in receipts]
        render.print_json({"deleted": deleted})
        return
    for receipt in receipts:
        print_deletion(receipt)


def carry_out(
    config: "Config",
    requests: "Sequence[ExpireSession | DeleteKey]",
    *,
    own_limits: bool = False,
    timeout_s: float = OWNER_TIMEOUT_S,
) -> list[Any]:
    """Have each request carried out by the running owner, or by opening the store here.

    Raises StoreBusy if the owner hasn't answered a request after `timeout_s`, StoreLocked if
    somebody owns the store and doesn't listen, and what the store refuses.
    """
    from turnfold.actors.cli.opening import open_for_writing
    from turnfold.actors.control import ask_owner
    from turnfold.events.errors import StoreUnavailable

    path = path_of(config)
    receipts: list[Any] = []
    try:
        for request in requests:
            receipts.append(ask_owner(path, request, timeout_s))  # noqa: PERF401 - those answered before a failure stay
        return receipts
    except StoreUnavailable as error:
        # Only this very class says that nobody listens; its kin are answers of a running store.
        if type(error) is not StoreUnavailable:
            raise
    store, _ = open_for_writing(config, None, own_limits=own_limits)
    try:
        rest = requests[len(receipts) :]
        return receipts + [store.door.call(request, False, None) for request in rest]
    finally:
        store.close()


def print_deletion(receipt: "DeletionReceipt") -> None:
    """One deletion for people."""
    from turnfold.events.reasons import Reason

    channel = receipt.channel.value
    if not receipt.erased and not receipt.session_states:
        render.echo(f"{channel}: nothing of this avatar's text was there")
    else:
        payloads = sum(item.payloads for item in receipt.erased)
        render.echo(
            f"{channel}: {render.quantity(receipt.sessions, 'session')} deleted,"
            f" {render.quantity(payloads, 'payload')} ({render.size(receipt.erased_bytes)}) zeroed"
            f" in the log and in every generation"
        )
        earlier = [item for item in receipt.erased if item.reason is not Reason.ERASED_DELETED]
        if earlier:
            render.echo(f"  among them {len(earlier)} whose text was still waiting to be erased")
    if receipt.session_states:
        render.echo(
            f"  {render.quantity(receipt.session_states, 'session-state record')} derived from it"
            " deleted too"
        )
    if receipt.quarantined_files:
        render.echo(
            f"  {render.quantity(receipt.quarantined_files, 'file')} removed from quarantine"
        )
    if receipt.from_queries_only:
        render.echo("  erased from every query; the database removes the bytes with VACUUM")
    render.echo(f"  what remains: positions, times and sizes under pseudonym {receipt.pseudonym}")


def _facts(receipt: "DeletionReceipt") -> dict[str, Any]:
    return {
        "channel": receipt.channel.value,
        "position": receipt.position,
        "sessions": receipt.sessions,
        "erased_bytes": receipt.erased_bytes,
        "erased": [
            {
                "session": item.session,
                "reason": item.reason.value,
                "payloads": item.payloads,
                "bytes": item.erased_bytes,
            }
            for item in receipt.erased
        ],
        "session_states": receipt.session_states,
        "quarantined_files": receipt.quarantined_files,
        "remains": {"pseudonym": receipt.pseudonym},
        "durable": receipt.durable,
        "from_queries_only": receipt.from_queries_only,
    }
