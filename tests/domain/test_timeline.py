"""A timeline keeps every mark and every peak in bounded memory, whatever the log's length."""

from collections import Counter

from histories import History
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.event import Event, SessionCompacted, SessionExpired, StoreOpened
from turnfold.events.evolve import evolve
from turnfold.events.state import StoreState
from turnfold.events.timeline import Mark, Timeline


def drawn(events: list[Event], *, buckets: int, by_position: bool) -> tuple[Timeline, list[int]]:
    """The timeline of a history, and its session counts after each event."""
    timeline, state = Timeline(buckets=buckets, by_position=by_position), StoreState()
    active: list[int] = []
    for event in events:
        evolve(state, event)
        state.commit()
        timeline.add([event], state)
        active.append(state.active)
    return timeline, active


@given(
    seed=st.integers(0, 1_000),
    commands=st.integers(1, 120),
    buckets=st.integers(2, 40),
    by_position=st.booleans(),
)
def test_no_mark_and_no_peak_is_lost_by_joining(
    seed: int, commands: int, buckets: int, by_position: bool
) -> None:
    events = History(seed).run(commands).events
    timeline, active = drawn(events, buckets=buckets, by_position=by_position)
    counted = Counter(type(event) for event in events)

    assert len(timeline.buckets) <= buckets
    assert timeline.marks[Mark.COMPACTION] == counted[SessionCompacted]
    assert timeline.marks[Mark.EXPIRY] == counted[SessionExpired]
    assert timeline.marks[Mark.OPENING] == counted[StoreOpened]
    assert max(bucket.sessions_most for bucket in timeline.buckets.values()) == max(active)
    assert sum(timeline.reasons.values()) == len(events)
    assert (timeline.first, timeline.last) == (1, len(events))


@given(columns=st.integers(1, 300), buckets=st.integers(2, 60))
def test_any_number_of_columns_shows_the_same_life(columns: int, buckets: int) -> None:
    timeline, active = drawn(History(3).run(80).events, buckets=buckets, by_position=False)
    cells = timeline.spread(columns)
    marks: Counter[Mark] = Counter()
    for cell in cells:
        marks += cell.marks

    assert len(cells) == columns
    assert marks == timeline.marks
    assert max(cell.sessions_most for cell in cells) == max(active)
    assert cells[-1].sessions == active[-1]


def test_between_events_a_column_shows_what_was_before_it() -> None:
    timeline, active = drawn(History(3).run(5).events, buckets=400, by_position=True)
    cells = timeline.spread(100)

    assert [cell.sessions for cell in cells][-1] == active[-1]
    assert all(cell.sessions in active for cell in cells)


def test_a_clock_that_goes_back_moves_nothing_to_the_left() -> None:
    history = History(1).run(10)
    state, timeline = StoreState(), Timeline()
    for event in history.events:
        evolve(state, event)
        timeline.add([event], state)
    state.at -= 10**18
    timeline.add([], state)

    assert timeline.end >= timeline.begin
    assert min(timeline.buckets) == 0


def test_limits_are_told_from_where_they_change() -> None:
    timeline, _active = drawn(History(1).run(10).events, buckets=50, by_position=True)

    assert [change.x for change in timeline.limits] == [1]
    assert timeline.limits[0].active_sessions == 1024
