"""`turnfold quarantine`: bytes that could not be trusted, set aside for a short while."""

from typing import TYPE_CHECKING

import typer

from turnfold.actors.cli import render
from turnfold.actors.cli.place import ConfigOption, JsonOption, StoreOption, existing, path_of

if TYPE_CHECKING:
    from turnfold.actors.config import Config
    from turnfold.events.log.posix_disk import PosixDisk

app = typer.Typer(
    no_args_is_help=True,
    help="Look at or remove what the store set aside because it was damaged or unreadable.",
)


@app.command("list")
def listing(
    store: StoreOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """List what lies in quarantine: why, next to which position, how large.

    The store removes these files by itself within `erase_after_s` (an hour, if not configured),
    and whenever anything is deleted; what was found stays in the log as an event.

    \b
    Example:
      turnfold quarantine list
    """
    from turnfold.events.log.quarantine import Quarantine

    disk = _disk(existing(store, config))
    try:
        files = Quarantine(disk, 0).files()
    finally:
        disk.close()
    described = [{**name_parts(file.name), "bytes": file.size} for file in files]
    if as_json:
        render.print_json({"quarantined": described})
    elif described:
        columns = ("reason", ">near position", ">bytes", "file")
        names = ("reason", "around", "bytes", "file")
        render.print_table(columns, ([row[name] for name in names] for row in described))
    else:
        render.echo("the quarantine is empty")


@app.command()
def purge(
    store: StoreOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """Remove everything from quarantine now.

    The store must not be running: it empties its quarantine itself.

    \b
    Example:
      turnfold quarantine purge
    """
    from turnfold.events.log.ownership import StoreLock
    from turnfold.events.log.quarantine import Quarantine

    disk = _disk(existing(store, config))
    try:
        lock = StoreLock.acquire(disk)
        try:
            removed = Quarantine(disk, 0).empty()
        finally:
            lock.release()
    finally:
        disk.close()
    if as_json:
        render.print_json({"removed": removed})
    else:
        render.echo(f"{render.quantity(removed, 'file')} removed from quarantine")


def _disk(config: "Config") -> "PosixDisk":
    from turnfold.events.log.replay import store_disk

    return store_disk(path_of(config))


def name_parts(name: str) -> dict[str, object]:
    """A file's name as what it says: `<reason>-<around>-<digest>`."""
    reason, _, rest = name.partition("-")
    around, _, digest = rest.partition("-")
    if not (around.isascii() and around.isdigit() and digest):
        return {"file": name, "reason": "unknown", "around": 0}
    return {"file": name, "reason": f"quarantined.{reason}", "around": int(around)}
