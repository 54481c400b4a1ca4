"""The base of all events, and events about the store itself: openings, files, subscribers.

Events about sessions and their content are in `event`, which has these names too.
"""

from typing import ClassVar

import attrs
from attrs.setters import frozen

from turnfold.events.reasons import Reason


@attrs.define(kw_only=True, on_setattr=frozen)
class Event:
    """Base of all events."""

    TYPE: ClassVar[int]
    position: int
    at: int
    age: int
    reason: Reason


@attrs.define(kw_only=True, on_setattr=frozen)
class StoreOpened(Event):
    """A writer opened the store; the only event that changes the epoch.

    `limits` are the configured limits in force, in the order of limits.BOUNDS. `highest_seen` is
    the highest position named by any intact header, torn ones included. `lost_first`..`lost_last`
    (0, 0 if none) were durable and are damaged. `recorded_clock`: times come from the input.
    `seen_at` is the newest wall time (ns) that the log told, watermarks included; 0 if it is new.
    """

    TYPE = 1
    epoch: int
    ruleset: int
    limits: tuple[int, ...]
    recorded_clock: bool = False
    highest_seen: int = 0
    lost_first: int = 0
    lost_last: int = 0
    seen_at: int = 0


@attrs.define(kw_only=True, on_setattr=frozen)
class GenerationWritten(Event):
    """A file of `size` bytes holds the state at `generation`, whose state digest is `digest`."""

    TYPE = 9
    generation: int
    digest: bytes
    size: int


@attrs.define(kw_only=True, on_setattr=frozen)
class GenerationRetired(Event):
    """A generation's file was removed."""

    TYPE = 10
    generation: int
    digest: bytes
    size: int


@attrs.define(kw_only=True, on_setattr=frozen)
class Quarantined(Event):
    """Bytes that can't be trusted were set aside (`kept`) or recorded by size and digest only.

    `what` is "segment", "generation", "payload" or "file"; `around` the position next to it or 0.
    """

    TYPE = 11
    what: str
    around: int
    size: int
    digest: bytes
    kept: bool


@attrs.define(kw_only=True, on_setattr=frozen)
class LogTrimmed(Event):
    """The log now starts at `first_kept`; `head` is the chain head before it."""

    TYPE = 13
    first_kept: int
    head: bytes


@attrs.define(kw_only=True, on_setattr=frozen)
class PermissionsNotVerified(Event):
    """The platform has no file modes to check; the operator must restrict the directory."""

    TYPE = 14


@attrs.define(kw_only=True, on_setattr=frozen)
class PermissionsTightened(Event):
    """`paths` files or directories were open to others and no longer are."""

    TYPE = 15
    paths: int


@attrs.define(kw_only=True, on_setattr=frozen)
class SubscriberParked(Event):
    """A subscriber failed too often and is no longer restarted. `name_tag` is its keyed name."""

    TYPE = 17
    name_tag: bytes
    at_position: int


@attrs.define(kw_only=True, on_setattr=frozen)
class DamageFound(Event):
    """Positions `first`..`last` were found damaged while the store was open."""

    TYPE = 20
    first: int
    last: int


@attrs.frozen
class Gap:
    """Positions `first`..`last` are not there for a reader, and why."""

    first: int
    last: int
    reason: Reason

    def holds(self, first: int, last: int) -> bool:
        """Whether all of these positions are in it."""
        return self.first <= first and last <= self.last
