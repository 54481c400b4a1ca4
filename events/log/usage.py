"""What a store uses of its limits, for its diagnosis."""

from typing import Final

import attrs

from turnfold.events.errors import StorageError
from turnfold.events.limits import Limits
from turnfold.events.log.advice import Advice
from turnfold.events.log.backend import QuarantinedFile
from turnfold.events.log.disk import Disk
from turnfold.events.log.generation_file import generation_path, list_generations
from turnfold.events.log.segment import list_segments, segment_path
from turnfold.events.state import StoreState


@attrs.frozen
class Usage:
    """What is used of a limit; both in bytes, or counts where the name says so."""

    name: str
    used: int
    limit: int


def usage_of(
    disk: Disk, state: StoreState, quarantined: tuple[QuarantinedFile, ...], limits: Limits
) -> tuple[Usage, ...]:
    """What the store's files and its state use of their limits."""
    segments = sum(_size(disk, segment_path(base)) for base in list_segments(disk))
    generations = sum(_size(disk, generation_path(name)) for name in list_generations(disk))
    return (
        Usage("log_bytes", segments, limits.log_bytes),
        Usage("generation_bytes", generations, limits.generation_bytes),
        Usage("quarantine_bytes", sum(one.size for one in quarantined), limits.quarantine_bytes),
        Usage("active_sessions", state.active, limits.active_sessions),
        Usage("aggregate_bytes", state.total_bytes, limits.aggregate_bytes),
        Usage("state_records", len(state.records), limits.state_records),
        Usage("state_bytes", state.record_bytes, limits.state_bytes),
    )


def _size(disk: Disk, path: str) -> int:
    try:
        return disk.status(path).size
    except (FileNotFoundError, StorageError):
        return 0


_OVER: Final = {
    "log_bytes": "flush: the log is trimmed once two generations hold",
    "generation_bytes": "flush: the oldest are retired, but two always stay",
    "quarantine_bytes": "open the store, or `turnfold quarantine purge` while it is closed",
    "state_records": "delete session-state records: no new ones are taken",
    "state_bytes": "delete session-state records: no new ones are taken",
}


def over_limits(usage: tuple[Usage, ...]) -> list[Advice]:
    """What is above its limit, and what to do about it."""
    return [
        Advice(
            "limit",
            f"{one.name} is {one.limit}, and {one.used} are used",
            _OVER.get(one.name, "raise it, or the opening evicts what is above"),
            urgent=True,
        )
        for one in usage
        if one.used > one.limit
    ]
