"""Which store a command is about: `--store`, `--config` or ./turnfold-store; and opening it.

Typer's option types are here too, so that they are the same for every command. Nothing heavy is
imported before a command needs it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from turnfold.actors.clock import Clock
    from turnfold.actors.config import Config
    from turnfold.actors.supervisor import Supervisor
    from turnfold.events.keys import ConversationKey

DEFAULT_STORE: Final = "turnfold-store"

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="STORAGE_PATH",
        help="Directory of the store. [default: ./turnfold-store]",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Configuration (TOML) that names the store and its limits."
    ),
]
OWNER_TIMEOUT_S: Final = 60.0
TimeoutOption = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.1,
        max=3600.0,
        help="How long to wait for the program that has the store open.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
AvatarArgument = Annotated[
    str, typer.Argument(metavar="AVATAR", help="The avatar's UUID.", show_default=False)
]
ChannelArgument = Annotated[
    str,
    typer.Argument(metavar="CHANNEL", help="public_chat or direct_im.", show_default=False),
]


def locate(store: Path | None, config: Path | None) -> "Config":
    """The configuration of the store that is meant: the file's, or defaults with that path.

    Raises InvalidConfig, also if both options are given or the file keeps nothing on disk.
    """
    from turnfold.actors.config import Config
    from turnfold.events.errors import InvalidConfig

    if config is None:
        return Config(storage_path=store or Path(DEFAULT_STORE), persistence_enabled=True)
    if store is not None:
        raise InvalidConfig("give --store or --config, not both: a configuration names its store")
    loaded = Config.load(config)
    if not loaded.persistence_enabled:
        raise InvalidConfig(
            "the configuration keeps nothing on disk; set storage_path, and persistence_enabled ="
            " true in [conversation]"
        )
    return loaded


def existing(store: Path | None, config: Path | None) -> "Config":
    """As `locate`, for commands that create nothing. Raises StorePathError if nothing is there."""
    from turnfold.events.errors import StorePathError

    located = locate(store, config)
    path = path_of(located)
    if not (path / "conversations").is_dir():
        raise StorePathError(
            f"there is no store in {path}; name one with --store or --config, or make one with"
            " `turnfold ingest` or `turnfold demo`"
        )
    return located


def path_of(config: "Config") -> Path:
    """The store's directory."""
    assert config.storage_path is not None, "locate() refuses a configuration without one"
    return config.storage_path


def key_of(avatar: str, channel: str) -> "ConversationKey":
    """The key that is spelled like this. Raises InvalidKey."""
    from turnfold.events.keys import ConversationKey, parse_avatar, parse_channel

    return ConversationKey(parse_avatar(avatar), parse_channel(channel))


def open_store(config: "Config", clock: "Clock | None" = None) -> "Supervisor":
    """Start the store; `close` it. Raises StorageError and its kin."""
    from turnfold.actors.bootstrap import start_store

    return start_store(config, clock=clock)
