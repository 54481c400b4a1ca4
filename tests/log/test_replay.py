"""Replay: any past state, from files alone, the same every time and on every way there."""

import os
import socket
import time
import tracemalloc
from pathlib import Path

import pytest
from histories import T0, History
from log.crash_rig import closed_store
from stores import FileStore, no_pause, store_at

from turnfold.events.errors import InvalidInput, ReplayError, StorePathError
from turnfold.events.event import Gap, SessionStarted, TurnAdded
from turnfold.events.evolve import fold
from turnfold.events.log.generation_file import generation_path, list_generations
from turnfold.events.log.read_events import read_events
from turnfold.events.log.replay import (
    Replaying,
    check,
    check_disk,
    position_at,
    replay,
    replay_disk,
)
from turnfold.events.log.segment import list_segments, segment_path
from turnfold.events.reasons import Reason
from turnfold.events.sealed import Withheld
from turnfold.events.snapshot import capture, sealed_parts, state_digest

SECOND = 1_000_000_000


def digest_at(history: History, position: int) -> bytes:
    return state_digest(capture(fold(e for e in history.events if e.position <= position)))


def test_every_position_replays_to_the_fold_of_its_events() -> None:
    disk, store = closed_store()

    for position in range(1, store.state.position + 1):
        replayed = replay_disk(disk, until=position)
        assert (replayed.position, replayed.digest) == (
            position,
            digest_at(store.history, position),
        )


def test_without_a_position_it_is_the_last_durable_one() -> None:
    disk, store = closed_store()

    replayed = replay_disk(disk, content=True)

    assert (replayed.position, replayed.digest) == (store.state.position, store.digest)
    assert list(sealed_parts(capture(replayed.state))) == list(sealed_parts(capture(store.state)))


def test_a_time_means_the_highest_position_that_is_not_newer() -> None:
    disk, store = closed_store()
    for at in (T0 + 5 * SECOND, T0 + 5 * SECOND + 1, T0 + 30 * SECOND):
        expected = max(event.position for event in store.history.events if event.at <= at)
        assert position_at(disk, at) == expected
        assert replay_disk(disk, at=at).position == expected
    with pytest.raises(ReplayError, match="that old"):
        replay_disk(disk, at=T0 - 1)


def test_a_position_beyond_the_end_is_refused() -> None:
    disk, store = closed_store()

    with pytest.raises(ReplayError, match=f"ends at position {store.state.position}"):
        replay_disk(disk, until=store.state.position + 1)


def test_every_generation_is_what_the_log_folds_to() -> None:
    disk, _store = closed_store()

    assert [(one.matches, one.message) for one in check_disk(disk)] == [(True, "")] * 3


def test_a_generation_that_is_not_what_the_log_folds_to_is_found() -> None:
    """The generation itself is intact: somebody wrote another state under this position."""
    disk, store = closed_store()
    store = FileStore(disk, store.history).run(3)
    store.log.watermark(store.now)
    other = fold(store.history.events)
    other.age += 1
    store.archive.write_generation(capture(other), store.log.head, no_pause)

    assert [one.matches for one in check_disk(disk)] == [True, True, True, False]


def test_a_trimmed_log_replays_from_its_oldest_generation() -> None:
    disk, store = closed_store()
    disk.remove(segment_path(list_segments(disk)[0]))
    last = store.state.position

    assert replay_disk(disk).digest == store.digest
    assert replay_disk(disk, until=last - 1).digest == digest_at(store.history, last - 1)
    assert min(one.position for one in check_disk(disk) if one.matches is None) > 3
    with pytest.raises(ReplayError, match="position 3 is gone"):
        replay_disk(disk, until=3)


def test_a_trimmed_log_without_a_generation_can_not_be_replayed() -> None:
    disk, _store = closed_store()
    disk.remove(segment_path(list_segments(disk)[0]))
    for name in list_generations(disk):
        disk.remove(generation_path(name))

    with pytest.raises(ReplayError, match="trimmed"):
        replay_disk(disk)


def test_replay_gets_over_damage_that_opening_declared() -> None:
    disk, store = closed_store()
    path = segment_path(list_segments(disk)[-1])
    disk.damage(path, len(disk.content(path)) - 90, b"\xff\x00" * 4)
    opened = FileStore(disk, store.history).run(5)
    assert opened.report.reason is Reason.OPENED_DAMAGED
    opened.log.watermark(opened.now)

    assert replay_disk(disk).digest == opened.digest


def test_replay_uses_no_clock_no_randomness_and_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    disk, store = closed_store()

    def forbidden(*_arguments: object, **_named: object) -> object:
        raise AssertionError("replay must not ask the world")

    for module, name in (
        (time, "time"),
        (time, "time_ns"),
        (time, "monotonic"),
        (os, "urandom"),
        (socket, "socket"),
    ):
        monkeypatch.setattr(module, name, forbidden)

    assert replay_disk(disk).digest == store.digest


def test_memory_stays_bounded_by_the_state(tmp_path: Path) -> None:
    """Ten times the history takes no more memory; texts are not even read."""

    def peak(commands: int) -> int:
        store = store_at(tmp_path / str(commands), History(5, avatars=2)).run(commands, sync=False)
        store.close()
        tracemalloc.start()
        for _state in Replaying(store.disk):
            pass
        _now, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    assert peak(1500) < 3 * peak(150)


def test_it_reads_beside_a_running_store(tmp_path: Path) -> None:
    store = store_at(tmp_path / "conversations").run(20)
    store.flush()
    store.log.watermark(store.now)

    assert replay(tmp_path).digest == store.digest
    assert [one.matches for one in check(tmp_path)] == [True]
    with pytest.raises(StorePathError):
        replay(tmp_path / "elsewhere")


# --- the audit stream ------------------------------------------------------------------------


def test_events_are_read_as_they_were_written_without_content(tmp_path: Path) -> None:
    store = store_at(tmp_path / "conversations").run(30)
    store.log.watermark(store.now)

    read = list(read_events(tmp_path))

    assert [event.position for event in read if not isinstance(event, Gap)] == [
        event.position for event in store.history.events
    ]
    turns = [event for event in read if isinstance(event, TurnAdded)]
    assert {type(turn.sealed) for turn in turns} == {Withheld}
    again = list(read_events(tmp_path, after=10, content=True))
    assert [turn for turn in again if isinstance(turn, TurnAdded)]
    first = again[0]
    assert not isinstance(first, Gap)
    assert first.position == 11


def test_events_are_chosen_by_reason_and_by_key(tmp_path: Path) -> None:
    store = store_at(tmp_path / "conversations").run(60)
    store.log.watermark(store.now)
    started = list(read_events(tmp_path, content=True, reasons=[Reason.STARTED_FIRST_TURN]))
    assert {type(event) for event in started} == {SessionStarted}

    with pytest.raises(InvalidInput, match="unknown reason"):
        read_events(tmp_path, reasons=["no.such"])
    with pytest.raises(StorePathError):
        read_events(tmp_path / "nowhere")


def test_events_of_a_key_are_its_sessions_and_nothing_else(tmp_path: Path) -> None:
    store = store_at(tmp_path / "conversations").run(0)
    secret = store.log.secret
    history = store.history
    history.secret = secret
    store.run(80)
    store.log.watermark(store.now)
    key = next(iter(history.live))
    starts = {
        event.position
        for event in history.events
        if isinstance(event, SessionStarted) and event.key == key
    }

    read = [event for event in read_events(tmp_path, key=key) if not isinstance(event, Gap)]

    of_sessions = {
        event.position
        for event in history.events
        if event.position in starts or getattr(event, "session", -1) in starts
    }
    assert of_sessions
    assert {event.position for event in read} >= of_sessions
    assert {getattr(event, "session", 0) for event in read} <= starts | {0}
    assert [
        e.position for e in read_events(tmp_path, key=key, after=20) if isinstance(e, TurnAdded)
    ] == [e.position for e in read if isinstance(e, TurnAdded) and e.position > 20]
