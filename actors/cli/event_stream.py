"""`turnfold events`: the audit stream, an event a line, without content."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.event_formats import (
    FormatOption,
    SchemaOption,
    print_event,
    print_schema,
)
from turnfold.actors.cli.place import (
    ConfigOption,
    JsonOption,
    StoreOption,
    existing,
    key_of,
    path_of,
)

if TYPE_CHECKING:
    from turnfold.events.event import Event, Gap
    from turnfold.events.notice import Notice
    from turnfold.events.reasons import Reason
    from turnfold.events.session import KeyTag

POLL_S: Final = 0.2
_FORMAT: Final = "{:>10}  {:<20}  {:<28}  {:<21}  {:>10}  {:>6}  {:>9}  {}"
_HEADING: Final = _FORMAT.format(
    "position", "time (UTC)", "reason", "event", "session", "turns", "bytes", "who"
)
FollowOption = Annotated[
    bool, typer.Option("--follow", help="Go on with what is written later, until Ctrl-C.")
]


def events(
    *,
    store: StoreOption = None,
    config: ConfigOption = None,
    after: Annotated[
        int, typer.Option(min=0, metavar="POS", help="Only events behind this position.")
    ] = 0,
    reason: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Only this reason, such as expired.inactivity, or all of a group, such as"
            " expired. May be given several times.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="AVATAR CHANNEL", help="Only events of this key.", show_default=False),
    ] = None,
    follow: FollowOption = False,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Stop after so many events.", show_default=False),
    ] = None,
    form: FormatOption = None,
    schema: SchemaOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print every event with its position, time and reason. Never what was said.

    Avatars appear as pseudonyms: `turnfold subject` tells which is whose. Only durable events are
    shown. A gap (trimmed or damaged positions) has a line of its own. With --json each line is an
    object; --format has every field that an event has outside its sealed content.

    \b
    Examples:
      turnfold events --format cloudevents
      turnfold events --reason expired --reason evicted
      turnfold events --key 61bd0364-10b9-504d-bc71-12251bcea0a7 direct_im
      turnfold events --after 12000 --follow --json
    """
    from turnfold.actors.cli.views import tag_of
    from turnfold.events.errors import InvalidInput
    from turnfold.events.event import Gap

    if schema:
        print_schema()
        return
    if form is not None and as_json:
        raise InvalidInput("give --json or --format, not both")
    reasons = _reasons(reason)
    path = path_of(existing(store, config))
    tag = None if key is None else tag_of(path, key_of(*key))
    count = 0
    store_id = _store_id(path)
    if not as_json and form is None:
        render.echo(_HEADING)
    for event, item in notices_of(path, after, follow=follow):
        if not isinstance(item, Gap) and not _wanted(item, reasons, tag):
            continue
        if form is not None:
            print_event(event, item, form, store_id)
        elif as_json:
            render.print_json(_described(item))
        else:
            render.echo(_line(item))
        count += not isinstance(item, Gap)
        if count == limit:
            return


def notices_of(
    storage_path: Path, after: int, *, follow: bool = False
) -> "Iterator[tuple[Event | Gap, Notice | Gap]]":
    """Events behind `after` with their notices; with `follow` it waits for more and never ends."""
    from turnfold.events.log.reader import LogReader
    from turnfold.events.log.replay import store_disk
    from turnfold.events.notice import notices

    disk = store_disk(storage_path)
    reader = LogReader(disk, after, content=False)
    where = _whereabouts(storage_path, after)
    idle = threading.Event()
    try:
        while True:
            for event in _decoded(reader, after):
                yield event, next(notices([event], where))
            if not follow:
                return
            idle.wait(POLL_S)
    finally:
        reader.close()
        disk.close()


def _store_id(storage_path: Path) -> bytes:
    from turnfold.events.log.replay import store_disk
    from turnfold.events.log.survey import list_entries, store_id_of

    disk = store_disk(storage_path)
    try:
        return store_id_of(list_entries(disk)) or bytes(16)
    finally:
        disk.close()


def _decoded(reader: Any, after: int) -> "Iterator[Event | Gap]":
    from turnfold.events.codec import decode_events
    from turnfold.events.event import Gap

    for item in reader.read():
        if isinstance(item, Gap):
            yield item
        else:
            decoded: Iterable[Event] = decode_events(item.chained, item.first, None)
            yield from (event for event in decoded if event.position > after)


def _whereabouts(storage_path: Path, after: int) -> "dict[int, KeyTag]":
    """Which key each session belongs to that began before the first event shown."""
    from turnfold.events.errors import ReplayError
    from turnfold.events.log.replay import replay
    from turnfold.events.notice import whereabouts

    if not after:
        return {}
    try:
        return whereabouts(replay(storage_path, until=after).state)
    except ReplayError:  # trimmed or lost: such sessions are shown without their key
        return {}


def _reasons(names: list[str] | None) -> "frozenset[Reason] | None":
    """The reasons meant by codes and groups of codes. Raises InvalidInput for another name."""
    from turnfold.events.errors import InvalidInput
    from turnfold.events.reasons import Reason

    if not names:
        return None
    meant: set[Reason] = set()
    for name in names:
        group = name.removesuffix("*").removesuffix(".")
        found = {item for item in Reason if item.value in (name, group)}
        found |= {item for item in Reason if item.value.partition(".")[0] == group}
        if not found:
            groups = sorted({item.value.partition(".")[0] for item in Reason})
            raise InvalidInput(
                f"--reason takes a reason code or one of these groups: {', '.join(groups)}"
            )
        meant |= found
    return frozenset(meant)


def _wanted(notice: "Notice", reasons: "frozenset[Reason] | None", tag: "KeyTag | None") -> bool:
    if reasons is not None and notice.reason not in reasons:
        return False
    if tag is None:
        return True
    channel = notice.channel
    return notice.pseudonym == tag[0].hex() and channel is not None and channel.code == tag[1]


def _line(item: "Notice | Gap") -> str:
    from turnfold.events.event import Gap
    from turnfold.events.receipts import iso_time

    if isinstance(item, Gap):
        return f"{item.first:>10}  positions {item.first} to {item.last} are missing: {item.reason}"
    who = ""
    if item.pseudonym is not None and item.channel is not None:
        who = f"{item.pseudonym[:12]} {item.channel.value}"
    return _FORMAT.format(
        item.position,
        iso_time(item.at)[:19] + "Z",
        item.reason,
        item.type,
        item.session or "",
        item.turns or "",
        item.bytes or "",
        who,
    ).rstrip()


def _described(item: "Notice | Gap") -> dict[str, Any]:
    from turnfold.events.event import Gap
    from turnfold.events.receipts import iso_time

    if isinstance(item, Gap):
        return {"gap": {"first": item.first, "last": item.last, "reason": item.reason.value}}
    return {
        "position": item.position,
        "at": iso_time(item.at),
        "type": item.type,
        "reason": item.reason.value,
        "pseudonym": item.pseudonym,
        "channel": None if item.channel is None else item.channel.value,
        "session": item.session,
        "turns": item.turns,
        "bytes": item.bytes,
    }
