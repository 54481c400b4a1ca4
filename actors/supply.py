"""What a feed's subscriptions share, and what tells them apart."""

from collections.abc import Callable
from enum import StrEnum

import attrs

from turnfold.actors.catch_up import LogCursor
from turnfold.actors.checkpoints import Checkpoints
from turnfold.actors.tail import Tail


class SubscriptionState(StrEnum):
    """How a subscription is."""

    RUNNING = "running"
    CANCELLED = "cancelled"
    STOPPED = "stopped"  # its actor was stopped by its owner
    PARKED = "parked"  # it failed too often
    FAILED = "failed"  # an error of Turnfold's own


@attrs.frozen
class Supply:
    """What all subscriptions of a feed share.

    `head` is the durable position, asked from any thread. `parked(name_tag, position)` tells the
    store. `clock` counts seconds.
    """

    tail: Tail
    cursor: Callable[[Callable[[], object]], LogCursor]
    checkpoints: Checkpoints
    head: Callable[[], int]
    parked: Callable[[bytes, int], None]
    clock: Callable[[], float]
    checkpoint_interval_s: float


@attrs.frozen
class Standing:
    """What a subscription is entitled to.

    `named`: its checkpoint is kept. `restartable`: a new target can take a stopped one's place.
    `reported`: the store is told if it is parked.
    """

    named: bool = False
    restartable: bool = False
    reported: bool = False
