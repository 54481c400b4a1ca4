"""Bookkeeping events: built in the store actor's thread from the next position and the time."""

from collections.abc import Callable, Sequence

from turnfold.events.commands import Instant
from turnfold.events.event import DamageFound, Event, Gap, SubscriberParked
from turnfold.events.limits import Limits
from turnfold.events.log.opening import OpeningReport, opening_events
from turnfold.events.reasons import Reason
from turnfold.events.state import StoreState

Build = Callable[[int, Instant], Sequence[Event]]
"""Makes events from the next position and the time."""


def opening(
    report: OpeningReport,
    state: StoreState,
    *,
    epoch: int,
    ruleset: int,
    limits: Limits,
    recorded_clock: bool,
    seen_at: int,
) -> Build:
    """Builds the first frame of an opening; `state` stands at the position before it."""
    return lambda _position, now: opening_events(
        report,
        state,
        now=now,
        epoch=epoch,
        ruleset=ruleset,
        limits=limits,
        recorded_clock=recorded_clock,
        seen_at=seen_at,
    )


def parked(name_tag: bytes, at_position: int) -> Build:
    """Builds the event of a subscriber that failed too often."""
    return lambda position, now: [
        SubscriberParked(
            position=position,
            at=now.at,
            age=now.age,
            reason=Reason.SUBSCRIBER_FAILING,
            name_tag=name_tag,
            at_position=at_position,
        )
    ]


def damage_found(gap: Gap) -> Build:
    """Builds the event of positions that a reader found damaged while the store was open."""
    return lambda position, now: [
        DamageFound(
            position=position,
            at=now.at,
            age=now.age,
            reason=Reason.DAMAGE_FOUND,
            first=gap.first,
            last=gap.last,
        )
    ]
