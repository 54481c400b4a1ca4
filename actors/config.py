"""The configuration: keyword arguments and a TOML file with the same names.

`SETTINGS` is the one table of names, types and bounds, `Config` has the defaults;
docs/reference/configuration.md is checked against both. A `Config` is checked when it is made,
so whoever holds one holds a valid one. Limits have a table of their own,
`turnfold.events.limits.BOUNDS`.

No message quotes a text value, which could be a secret in the wrong place: a key is named, a
number is shown, a text is not.
"""

import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, cast

import attrs

from turnfold.events.errors import InvalidConfig, LimitTooHigh
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.redaction import is_clean
from turnfold.events.redaction_operator import OperatorRules, parse_rules

Durability = Literal["commit", "flush"]
OnDamage = Literal["recover", "refuse"]

CONFIG_BYTES_MAX: Final = 1024 * 1024
_NAME: Final = re.compile(r"[A-Za-z_.-]{1,40}", re.ASCII)  # an unknown key a message may repeat
_HOUR_S: Final = 3600.0
_DAY_S: Final = 24 * _HOUR_S


@attrs.frozen
class Setting:
    """One key: its TOML section ("" is the top level), its type and bounds.

    `type` is "path", "boolean", "seconds" or "text". `minimum` and `ceiling` are for seconds,
    `choices` for text.
    """

    section: str
    type: str
    minimum: float = 0.0
    ceiling: float = 0.0
    choices: tuple[str, ...] = ()


SETTINGS: Final[dict[str, Setting]] = {
    "storage_path": Setting("", "path"),
    "persistence_enabled": Setting("conversation", "boolean"),
    "enabled": Setting("conversation", "boolean"),
    "durability": Setting("conversation", "text", choices=("commit", "flush")),
    "on_damage": Setting("conversation", "text", choices=("recover", "refuse")),
    "erase_after_s": Setting("conversation", "seconds", 1.0, _DAY_S),
    "generation_interval_s": Setting("conversation", "seconds", 1.0, _DAY_S),
    "open_timeout_s": Setting("conversation", "seconds", 0.0, _HOUR_S),
    "control_socket": Setting("conversation", "boolean"),
    "durable_writes_enabled": Setting("session_state", "boolean"),
    "previews_allowed": Setting("session_state", "boolean"),
}
LIMITS_SECTION: Final = "conversation.limits"


def full_name(name: str) -> str:
    """The dotted name of a setting, as in TOML: `conversation.durability`."""
    section = SETTINGS[name].section
    return f"{section}.{name}" if section else name


# What may stand in each TOML table: settings, and the tables below it.
_TABLES: Final[dict[str, tuple[str, ...]]] = {
    "": ("storage_path", "conversation", "session_state"),
    "conversation": (
        *(n for n, s in SETTINGS.items() if s.section == "conversation"),
        "limits",
        "redaction",
    ),
    LIMITS_SECTION: tuple(BOUNDS),
    "session_state": tuple(n for n, s in SETTINGS.items() if s.section == "session_state"),
}
_AT: Final = re.compile(r"\(at line (\d+), column (\d+)\)")


# --- one value ---------------------------------------------------------------------------------


def _boolean(name: str) -> Callable[[object, object, object], None]:
    def check(_config: object, _attribute: object, value: object) -> None:
        if type(value) is not bool:
            raise InvalidConfig(f"{full_name(name)} must be true or false, not {_kind(value)}")

    return check


def _choice(name: str) -> Callable[[object, object, object], None]:
    def check(_config: object, _attribute: object, value: object) -> None:
        choices = SETTINGS[name].choices
        if value not in choices:
            allowed = " or ".join(f'"{choice}"' for choice in choices)
            raise InvalidConfig(f"{full_name(name)} must be {allowed}")

    return check


def _seconds(name: str) -> Callable[[object, object, object], None]:
    def check(_config: object, _attribute: object, value: object) -> None:
        setting = SETTINGS[name]
        if not isinstance(value, int | float) or isinstance(value, bool):
            kind = _kind(value)
            raise InvalidConfig(f"{full_name(name)} must be a number of seconds, not {kind}")
        try:
            seconds = float(value)
        except OverflowError:
            seconds = math.inf if value > 0 else -math.inf
        if math.isnan(seconds):
            raise InvalidConfig(f"{full_name(name)} must be a number of seconds, not NaN")
        if seconds < setting.minimum:
            low = f"the minimum is {setting.minimum:g}"
            raise InvalidConfig(f"{full_name(name)} is {seconds:g}; {low}")
        if seconds > setting.ceiling:
            high = f"the hard ceiling is {setting.ceiling:g}"
            raise LimitTooHigh(f"{full_name(name)} is {seconds:g}; {high}")

    return check


def _path(value: str | os.PathLike[str] | None) -> Path | None:
    """An absolute path, so that a later change of directory moves nothing. "~" is a home."""
    if value is None:
        return None
    if not isinstance(value, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise InvalidConfig(f"storage_path must be a path, not {_kind(value)}")
    text = os.fspath(value)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # a PathLike may give bytes
        raise InvalidConfig("storage_path must be a path of text, not of bytes")
    if not text or "\0" in text:
        raise InvalidConfig("storage_path must name a directory; it is empty or has a NUL in it")
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise InvalidConfig(
            "storage_path starts with ~ and no home directory is known; write the path in full"
        ) from None


def _limits(value: Limits | Mapping[str, int]) -> Limits:
    if isinstance(value, Limits):
        return value
    if not isinstance(value, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise InvalidConfig(f"{LIMITS_SECTION} must be a table of limits, not {_kind(value)}")
    _refuse_unknown(LIMITS_SECTION, cast("Mapping[object, object]", value))
    return Limits(**value)


def _kind(value: object) -> str:
    """What a value is, in TOML's words where it has one; never the value."""
    kinds: dict[type[object], str] = {
        bool: "a boolean",
        int: "an integer",
        float: "a float",
        str: "a text",
    }
    kinds |= {list: "an array", dict: "a table", type(None): "nothing"}
    return kinds.get(type(value), f"a {type(value).__name__}")


def _hidden(path: Path | None) -> str:
    return "None" if path is None else "<set>"


# --- the whole ---------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Config:
    """One checked configuration. `Config()` keeps everything in memory, with the default limits.

    Seconds are floats, `storage_path` is absolute (a relative one is below the working
    directory, or below the TOML file's directory with `load`). Raises InvalidConfig, or
    LimitTooHigh for a number above its hard ceiling; the message names the key in full.
    """

    storage_path: Path | None = attrs.field(default=None, converter=_path, repr=_hidden)
    persistence_enabled: bool = attrs.field(
        default=False, validator=_boolean("persistence_enabled")
    )
    enabled: bool = attrs.field(default=True, validator=_boolean("enabled"))
    durability: Durability = attrs.field(default="commit", validator=_choice("durability"))
    on_damage: OnDamage = attrs.field(default="recover", validator=_choice("on_damage"))
    erase_after_s: float = attrs.field(default=3600.0, validator=_seconds("erase_after_s"))
    generation_interval_s: float = attrs.field(
        default=600.0, validator=_seconds("generation_interval_s")
    )
    open_timeout_s: float = attrs.field(default=0.0, validator=_seconds("open_timeout_s"))
    control_socket: bool = attrs.field(default=True, validator=_boolean("control_socket"))
    durable_writes_enabled: bool = attrs.field(
        default=False, validator=_boolean("durable_writes_enabled")
    )
    previews_allowed: bool = attrs.field(default=False, validator=_boolean("previews_allowed"))
    limits: Limits = attrs.field(factory=Limits, converter=_limits)
    redaction: OperatorRules = attrs.field(factory=OperatorRules, converter=parse_rules)

    def __attrs_post_init__(self) -> None:
        if self.persistence_enabled and self.storage_path is None:
            raise InvalidConfig(
                "conversation.persistence_enabled is true but storage_path is not set; name the"
                " directory to keep conversations in"
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Config":
        """The configuration in a TOML file; its `storage_path` is relative to that file.

        Raises InvalidConfig if the file can't be read or isn't TOML (line and column named).
        """
        file = Path(path)
        return cls.from_mapping(_parse(file), base=file.absolute().parent)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object], *, base: Path | None = None) -> "Config":
        """The configuration in nested tables as TOML has them; paths are relative to `base`."""
        values: dict[str, Any] = {}
        for section, table in _tables(mapping):
            _refuse_unknown(section, table)
            if section == LIMITS_SECTION:
                values["limits"] = table
            else:
                if section == "conversation" and "redaction" in table:
                    values["redaction"] = table["redaction"]
                values |= {str(name): table[name] for name in table if name in SETTINGS}
        stored = values.get("storage_path")
        if base is not None and isinstance(stored, str) and stored and stored[0] != "~":
            values["storage_path"] = base / stored
        return cls(**values)


def _tables(mapping: Mapping[str, object]) -> Iterable[tuple[str, Mapping[object, object]]]:
    """Every known table that is there, outer ones first, by dotted name."""
    found: dict[str, Mapping[object, object]] = {}
    for section in _TABLES:
        parent, _, name = section.rpartition(".")
        value: object = mapping
        if section:
            above = found.get(parent)
            if above is None or name not in above:
                continue
            value = above[name]
        if not isinstance(value, Mapping):
            where = section or "the configuration"
            raise InvalidConfig(f"{where} must be a table, not {_kind(value)}")
        found[section] = cast("Mapping[object, object]", value)
    return found.items()


def _refuse_unknown(section: str, table: Mapping[object, object]) -> None:
    """Raises InvalidConfig for the first key that isn't one of the table's, with a suggestion."""
    for name in table:
        if not isinstance(name, str):
            raise InvalidConfig(f"{section or 'the configuration'} has a key that is not a text")
        if name not in _TABLES[section]:
            shown = _shown_name(name)
            dotted = f"{section}.{shown}" if section else shown
            raise InvalidConfig(f"{dotted} is not a setting{_suggestion(section, name)}")


def _shown_name(name: str) -> str:
    """An unknown key as a message may show it: what isn't formed like a key could be a secret."""
    if _NAME.fullmatch(name) and is_clean(name):
        return name
    return f"<a key of {len(name)} characters>"


def _suggestion(section: str, name: str) -> str:
    elsewhere = [table for table, names in _TABLES.items() if name in names]
    if elsewhere:
        home = f"[{elsewhere[0]}]" if elsewhere[0] else "the top level"
        return f"; it belongs to {home}"
    near = get_close_matches(name, _TABLES[section], n=1)
    if not near:
        every = {key: table for table, names in _TABLES.items() for key in names}
        near = get_close_matches(name, every, n=1)
        section = every[near[0]] if near else section
    if not near:
        return "; docs/reference/configuration.md lists them all"
    return f"; did you mean {section}.{near[0]}?" if section else f"; did you mean {near[0]}?"


def _parse(file: Path) -> dict[str, object]:
    try:
        with file.open("rb") as opened:
            raw = opened.read(CONFIG_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidConfig(f"{file} can't be read: {error.strerror or 'unknown error'}") from None
    if len(raw) > CONFIG_BYTES_MAX:
        raise InvalidConfig(f"{file} is larger than {CONFIG_BYTES_MAX} bytes")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line_start = raw.rfind(b"\n", 0, error.start) + 1
        line = raw.count(b"\n", 0, error.start) + 1
        column = len(raw[line_start : error.start].decode()) + 1
        raise InvalidConfig(f"{file} is not UTF-8 (at line {line}, column {column})") from None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # Only the place: the rest of the parser's message may quote what stands in the file.
        found = _AT.search(str(error))
        place = f"at line {found[1]}, column {found[2]}" if found else _end_of(text)
        raise InvalidConfig(f"{file} is not valid TOML ({place})") from None


def _end_of(text: str) -> str:
    lines = text.split("\n")
    return f"by the end, line {len(lines)}, column {len(lines[-1]) + 1}"
