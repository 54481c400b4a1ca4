"""Counting what happened in a log: events by reason, redactions by kind, sessions."""

from collections import Counter
from pathlib import Path
from typing import Any

from turnfold.events.event import ENDED_TYPES, Gap, SessionDeleted, SessionStarted, TurnAdded
from turnfold.events.log.read_events import read_events


def tally(storage_path: Path, after: int = 0) -> dict[str, Any]:
    """Counts of the events behind position `after`."""
    reasons: Counter[str] = Counter()
    redactions: Counter[str] = Counter()
    started = ended = missing = first = last = 0
    for event in read_events(storage_path, after=after, content=False):
        if isinstance(event, Gap):
            missing += event.last - event.first + 1
            continue
        first, last = first or event.position, event.position
        reasons[event.reason.value] += 1
        if isinstance(event, TurnAdded):
            redactions.update(dict(event.redactions))
        elif isinstance(event, SessionStarted):
            started += 1
        elif isinstance(event, ENDED_TYPES):
            # A deletion of a key without a live session ends none.
            ended += not isinstance(event, SessionDeleted) or event.session > 0
    return {
        "positions": [first, last],
        "events": dict(sorted(reasons.items())),
        "redactions": dict(sorted(redactions.items())),
        "sessions": {"started": started, "ended": ended},
        "missing": missing,
    }
