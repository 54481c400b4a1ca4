"""What an opening writes first: StoreOpened, and what recovery found."""

from collections.abc import Callable, Sequence

from turnfold.events.commands import Instant
from turnfold.events.event import Event, StoreOpened, SubscriberParked
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.reasons import Reason
from turnfold.events.redaction import RULESET_VERSION

Build = Callable[[int, Instant], Sequence[Event]]
"""Makes events from the next position and the time."""


def opening_events(*, epoch: int, limits: Limits, recorded_clock: bool, reason: Reason) -> Build:
    """Builds the first frame of an opening."""

    def build(position: int, now: Instant) -> Sequence[Event]:
        return [
            StoreOpened(
                position=position,
                at=now.at,
                age=now.age,
                reason=reason,
                epoch=epoch,
                ruleset=RULESET_VERSION,
                limits=tuple(getattr(limits, name) for name in BOUNDS),
                recorded_clock=recorded_clock,
            )
        ]

    return build


def parked_event(name_tag: bytes, at_position: int) -> Build:
    """Builds the event of a subscriber that failed too often."""

    def build(position: int, now: Instant) -> Sequence[Event]:
        return [
            SubscriberParked(
                position=position,
                at=now.at,
                age=now.age,
                reason=Reason.SUBSCRIBER_FAILING,
                name_tag=name_tag,
                at_position=at_position,
            )
        ]

    return build
