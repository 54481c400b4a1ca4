"""What a store keeps about one avatar, read from the log and the generations' names. No content."""

from pathlib import Path
from typing import Any, Final
from uuid import UUID

import attrs

from turnfold.actors.cli.views import secret_of
from turnfold.events.event import (
    ENDED_TYPES,
    ContentErased,
    Event,
    Gap,
    SessionCompacted,
    SessionDeleted,
    SessionStarted,
    SessionStateDeleted,
    SessionStateRecorded,
    TurnAdded,
)
from turnfold.events.keys import CHANNELS, Pseudonym, pseudonym
from turnfold.events.log.generation_file import generation_position, list_generations
from turnfold.events.log.read_events import read_events
from turnfold.events.log.replay import STORE_DIRECTORY, store_disk
from turnfold.events.reasons import ERASED_AFTER
from turnfold.events.receipts import iso_time
from turnfold.events.state_deciding import source_tag

_ERASED_AT_END: Final = frozenset(ERASED_AFTER.values())


@attrs.define
class _Kept:
    """One session of the avatar, as its events tell it."""

    start: int
    channel: str
    started_at: str
    last: int
    turns: int = 0
    text_bytes: int = 0
    redactions: int = 0
    compacted: int = 0
    ended: str | None = None
    ended_at: str | None = None
    ended_position: int | None = None
    erased: bool = False

    @property
    def text(self) -> str:
        """Whether its text is still there."""
        if self.erased:
            return "erased"
        return "kept" if self.ended is None else "to be erased at the next flush"


def subject_facts(storage_path: Path, avatar: UUID) -> dict[str, Any]:
    """See the command. Raises StorageError and its kin."""
    name = pseudonym(secret_of(storage_path), avatar)
    reading = _Reading(name)
    for event in read_events(storage_path, content=False):
        reading.take(event)
    generations = _generations(storage_path)
    return {
        "avatar": str(avatar),
        "pseudonym": name.hex(),
        "since": min((kept.started_at for kept in reading.sessions.values()), default=None),
        "sessions": [_described(kept, generations) for kept in reading.sessions.values()],
        "state_records": list(reading.records.values()),
        "deletions": reading.deletions,
        "lost": sum(gap.last - gap.first + 1 for gap in reading.gaps),
        "log": f"{STORE_DIRECTORY}/log",
    }


class _Reading:
    """Collects what is about one pseudonym."""

    def __init__(self, name: Pseudonym) -> None:
        self._name = name
        self._sources = {source_tag((name, channel.code)): channel for channel in CHANNELS}
        self.sessions: dict[int, _Kept] = {}
        self.records: dict[bytes, dict[str, Any]] = {}
        self.deletions: list[dict[str, Any]] = []
        self.gaps: list[Gap] = []

    def take(self, event: Event | Gap) -> None:
        """One event in order."""
        if isinstance(event, Gap):
            self.gaps.append(event)
        elif isinstance(event, SessionStarted):
            if event.pseudonym == self._name:
                self.sessions[event.position] = _Kept(
                    event.position, event.channel.value, iso_time(event.at), event.position
                )
        elif isinstance(event, SessionStateRecorded):
            if event.source in self._sources:
                channel = self._sources[event.source].value
                described = {"channel": channel, "at": iso_time(event.at)}
                self.records[event.record] = {**described, "position": event.position}
        elif isinstance(event, SessionStateDeleted):
            self.records.pop(event.record, None)
        else:
            self._of_session(event)

    def _of_session(self, event: Event) -> None:
        if isinstance(event, SessionDeleted) and event.pseudonym == self._name:
            self.deletions.append(
                {
                    "channel": event.channel.value,
                    "position": event.position,
                    "at": iso_time(event.at),
                }
            )
        kept = self.sessions.get(getattr(event, "session", 0))
        if kept is None:
            return
        kept.last = event.position
        if isinstance(event, TurnAdded):
            kept.turns += 1
            kept.text_bytes += event.text_bytes
            kept.redactions += sum(count for _, count in event.redactions)
        elif isinstance(event, SessionCompacted):
            kept.compacted += len(event.covers)
        elif isinstance(event, ENDED_TYPES):
            kept.ended, kept.ended_at = event.reason.value, iso_time(event.at)
            kept.ended_position = event.position
        elif isinstance(event, ContentErased) and event.reason in _ERASED_AT_END:
            kept.erased = True


def _generations(storage_path: Path) -> list[tuple[int, str]]:
    """The generations by position."""
    disk = store_disk(storage_path)
    try:
        names = list_generations(disk)
    finally:
        disk.close()
    return [(generation_position(name) or 0, name) for name in names]


def _described(kept: _Kept, generations: list[tuple[int, str]]) -> dict[str, Any]:
    end = kept.ended_position
    holding = [
        name
        for position, name in generations
        if kept.start <= position and (end is None or position < end)
    ]
    return {
        "channel": kept.channel,
        "start": kept.start,
        "last": kept.last,
        "started_at": kept.started_at,
        "ended": kept.ended,
        "ended_at": kept.ended_at,
        "turns": kept.turns,
        "text_bytes": kept.text_bytes,
        "redactions": kept.redactions,
        "compacted": kept.compacted,
        "text": kept.text,
        "generations": holding,
    }
