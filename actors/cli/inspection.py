"""`turnfold sessions` and `turnfold subject`: who, where, when and how much, never what."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnfold.actors.cli import render
from turnfold.actors.cli.place import (
    AvatarArgument,
    ConfigOption,
    JsonOption,
    StoreOption,
    existing,
    path_of,
)

if TYPE_CHECKING:
    from turnfold.actors.cli.views import View
    from turnfold.events.metadata import SessionMetadata


def sessions(
    store: StoreOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """List the live sessions: who, where, since when, how much. Never what was said.

    \b
    Examples:
      turnfold sessions
      turnfold sessions --store /var/lib/agent --json
    """
    from turnfold.actors.cli.views import read_view
    from turnfold.events.receipts import iso_time

    view = read_view(path_of(existing(store, config)))
    found = sessions_of(view)
    if as_json:
        described = [_described(item, view) for item in found]
        render.print_json({"now": iso_time(view.now.at), "sessions": described})
    else:
        print_sessions(found, view)


def sessions_of(view: "View") -> "list[SessionMetadata]":
    """The metadata of the live sessions, oldest start first."""
    from turnfold.events.metadata import metadata

    return [metadata(session) for session in view.live()]


def print_sessions(found: "list[SessionMetadata]", view: "View") -> None:
    """The sessions for people."""
    from turnfold.events.receipts import iso_time

    if not found:
        render.echo(f"no session is live at {iso_time(view.now.at)}")
        return
    rows = [
        (
            item.avatar or "(its key was lost)",
            item.channel.value,
            f"{item.turn_count:,}",
            render.size(item.byte_count),
            iso_time(item.last_at)[:19],
            _duration(_left_ns(item, view)),
        )
        for item in found
    ]
    columns = ("avatar", "channel", ">turns", ">size", "last turn (UTC)", ">expires in")
    render.print_table(columns, rows)
    render.echo(f"{render.quantity(len(found), 'live session')} at {iso_time(view.now.at)}")


def _left_ns(item: "SessionMetadata", view: "View") -> int:
    session = view.state.session_at(item.start)
    assert session is not None, "the metadata was made from this state"
    return max(0, session.last_age + item.channel.ttl_ns - view.now.age)


def _duration(value_ns: int) -> str:
    """`29m 05s`, `23h 59m`."""
    seconds = value_ns // 1_000_000_000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {seconds % 60:02}s"


def _described(item: "SessionMetadata", view: "View") -> dict[str, Any]:
    from turnfold.events.receipts import iso_time

    return {
        "session_id": item.session_id,
        "avatar": None if item.avatar is None else str(item.avatar),
        "channel": item.channel.value,
        "started_at": iso_time(item.started_at),
        "last_at": iso_time(item.last_at),
        "turns": item.turn_count,
        "bytes": item.byte_count,
        "start": item.start,
        "expires_in_s": _left_ns(item, view) / 1e9,
    }


# --- one avatar ---------------------------------------------------------------------------------


def subject(
    avatar: AvatarArgument,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say everything that is kept about one avatar, where, and since when. No content.

    For answering a person who asks what you hold about them. `turnfold delete AVATAR --all`
    erases it; `turnfold context` shows the text of a live session.

    \b
    Example:
      turnfold subject 61bd0364-10b9-504d-bc71-12251bcea0a7
    """
    from turnfold.events.keys import parse_avatar

    path = path_of(existing(store, config))
    parsed = parse_avatar(avatar)
    facts = _subject_facts(path, parsed)
    if as_json:
        render.print_json(facts)
        return
    render.echo(f"avatar {parsed}, in this store's events: pseudonym {facts['pseudonym']}")
    rows = [
        (
            item["channel"],
            item["start"],
            item["started_at"][:19],
            item["ended_at"][:19] if item["ended_at"] else "live",
            item["ended"] or "-",
            item["turns"],
            item["text"],
        )
        for item in facts["sessions"]
    ]
    if rows:
        columns = ("channel", ">position", "started (UTC)", "ended", "why", ">turns", "text")
        render.print_table(columns, rows)
    else:
        render.echo("nothing is kept about it")
    for record in facts["state_records"]:
        render.echo(f"session-state record derived from {record['channel']} at {record['at']}")
    if facts["lost"]:
        render.echo(f"events that are not in the log any more: {facts['lost']}")


def _subject_facts(path: Path, avatar: Any) -> dict[str, Any]:
    from turnfold.actors.cli.subject_facts import subject_facts

    return subject_facts(path, avatar)
