"""What happened between two moments, and the stream of steps that it is counted from."""

from collections import Counter
from pathlib import Path

import pytest
from histories import History
from stores import store_at

from turnfold.events import replay
from turnfold.events.errors import InvalidInput, ReplayError
from turnfold.events.event import (
    ENDED_TYPES,
    Event,
    SessionCompacted,
    SessionStarted,
    TurnAdded,
)
from turnfold.events.log.changes import SessionChange, changes
from turnfold.events.log.replay import STORE_DIRECTORY
from turnfold.events.log.stepping import replay_steps
from turnfold.events.snapshot import capture, state_digest


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, History]:
    path = tmp_path_factory.mktemp("changes")
    history = History(8)
    for _ in range(3):
        store_at(path / STORE_DIRECTORY, history).run(60).close()
    return path, history


def counted(events: list[Event], name: int) -> tuple[int, int, object, object]:
    """Turns, compacted turns, why it started and why it ended, counted naively."""
    own = [e for e in events if getattr(e, "session", None) == name]
    turns = sum(isinstance(e, TurnAdded) for e in own)
    compacted = sum(len(e.covers) for e in own if isinstance(e, SessionCompacted))
    started = next(
        (e.reason for e in events if isinstance(e, SessionStarted) and e.position == name), None
    )
    ended = next((e.reason for e in own if isinstance(e, ENDED_TYPES)), None)
    return turns, compacted, started, ended


@pytest.mark.parametrize(("first", "last"), [(1, 30), (17, 90), (40, 41), (100, 180), (60, 60)])
def test_changes_are_what_the_events_in_between_say(
    written: tuple[Path, History], first: int, last: int
) -> None:
    path, history = written
    between = [event for event in history.events if first < event.position <= last]
    found = changes(path, first, last)

    assert found.before.digest == replay(path, until=first).digest
    assert found.after.digest == replay(path, until=last).digest
    for one in found.sessions:
        expected = counted(between, one.session)
        assert (one.turns, one.compacted, one.started, one.ended) == expected
    names = {e.session for e in between if isinstance(e, TurnAdded)}
    names |= {e.position for e in between if isinstance(e, SessionStarted)}
    assert names <= {one.session for one in found.sessions}


def test_bytes_at_both_ends_add_up_to_the_stores(written: tuple[Path, History]) -> None:
    path, history = written
    found = changes(path, 20, history.position)

    gained = sum(one.bytes_after - one.bytes_before for one in found.sessions)
    assert gained == found.after.state.total_bytes - found.before.state.total_bytes


def test_a_session_that_came_and_went_is_told(written: tuple[Path, History]) -> None:
    path, history = written
    kinds = Counter(one.what for one in changes(path, 1, history.position).sessions)

    assert kinds["passed"] > 0
    assert kinds["started"] == replay(path).state.active


def test_words_for_what_happened() -> None:
    reasons = History(1).run(30).events[0].reason

    assert SessionChange(1, None).what == "changed"
    assert SessionChange(1, None, started=reasons).what == "started"
    assert SessionChange(1, None, ended=reasons).what == "ended"
    assert SessionChange(1, None, started=reasons, ended=reasons).what == "passed"


@pytest.mark.parametrize(("first", "last"), [(0, 5), (9, 5)])
def test_positions_the_wrong_way_round_are_refused(
    written: tuple[Path, History], first: int, last: int
) -> None:
    with pytest.raises(InvalidInput):
        changes(written[0], first, last)


# --- steps -----------------------------------------------------------------------------------


def test_steps_give_every_event_once_and_the_state_after_it(written: tuple[Path, History]) -> None:
    path, history = written
    events: list[Event] = []
    for step in replay_steps(path):
        events += step.events
        assert step.position == step.state.position == events[-1].position

    assert [event.position for event in events] == list(range(1, history.position + 1))
    assert [type(event) for event in events] == [type(event) for event in history.events]


@pytest.mark.parametrize("until", [1, 2, 33, 100])
def test_steps_end_where_they_are_told_to(written: tuple[Path, History], until: int) -> None:
    path, _history = written
    digest = b""
    for step in replay_steps(path, until=until):
        assert all(event.position <= until for event in step.events)
        digest = state_digest(capture(step.state)) if step.position == until else b""

    assert digest == replay(path, until=until).digest


def test_progress_is_told_after_each_step_up_to_the_last_position(
    written: tuple[Path, History],
) -> None:
    path, history = written
    told: list[tuple[int, int]] = []

    def tell(position: int, end: int) -> None:
        told.append((position, end))

    steps = sum(1 for _ in replay_steps(path, progress=tell))

    assert len(told) == steps
    assert told[-1] == (history.position, history.position)
    assert [position for position, _last in told] == sorted({position for position, _last in told})


def test_a_step_shows_no_content(written: tuple[Path, History]) -> None:
    step = next(iter(replay_steps(written[0], content=True)))

    assert repr(step) == f"Step(position={step.position}, {len(step.events)} events)"


def test_a_missing_position_is_an_error_at_the_end(written: tuple[Path, History]) -> None:
    with pytest.raises(ReplayError):
        replay(written[0], until=10**6)
