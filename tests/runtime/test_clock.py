"""The clock: ages never fall, whatever the wall clock does."""

from hypothesis import given
from hypothesis import strategies as st

from turnfold.actors.clock import AgeClock, RecordedClock, SystemClock
from turnfold.events.commands import Instant

SECOND = 1_000_000_000
DAY = 86_400 * SECOND
NOON = 1_700_000_000 * SECOND


def test_a_new_store_has_age_zero() -> None:
    assert AgeClock(RecordedClock(NOON), None).opened == Instant(NOON, 0)


def test_age_goes_on_from_the_last_instant_by_the_wall_time_in_between() -> None:
    clock = AgeClock(RecordedClock(NOON + 5 * SECOND), Instant(NOON, 70))
    assert clock.opened == Instant(NOON + 5 * SECOND, 70 + 5 * SECOND)
    assert clock.recovered_ns == 5 * SECOND


def test_a_wall_clock_that_was_set_back_adds_no_age() -> None:
    clock = AgeClock(RecordedClock(NOON - DAY), Instant(NOON, 70))
    assert clock.opened == Instant(NOON - DAY, 70)
    assert clock.recovered_ns == 0


def test_forward_time_counts_and_backward_time_does_not() -> None:
    recorded = RecordedClock(NOON)
    clock = AgeClock(recorded, None)
    recorded.advance_to(NOON + 10)
    assert clock.now() == Instant(NOON + 10, 10)
    recorded.advance_to(NOON - DAY)
    assert clock.now() == Instant(NOON - DAY, 10)
    recorded.advance_to(NOON + 9)
    assert clock.now() == Instant(NOON + 9, 10)  # input out of order ages nothing twice
    recorded.advance_to(NOON + 11)
    assert clock.now() == Instant(NOON + 11, 11)


@given(st.lists(st.integers(-10 * 365 * DAY, 10 * 365 * DAY)))
def test_age_never_falls_over_any_jumps_and_reopenings(jumps: list[int]) -> None:
    recorded = RecordedClock(NOON)
    clock = AgeClock(recorded, None)
    last = clock.opened
    for index, jump in enumerate(jumps):
        recorded.advance_to(max(0, recorded.wall_ns() + jump))
        if index % 3 == 2:
            recorded = RecordedClock(recorded.wall_ns())
            clock = AgeClock(recorded, last)
        now = clock.now()
        assert now.age >= last.age
        last = now


def test_the_machines_clocks_move_forward() -> None:
    clock = AgeClock(SystemClock(), None)
    first = clock.now()
    second = clock.now()
    assert second.age >= first.age >= 0
    assert clock.age() >= second.age
    assert not SystemClock().recorded
    assert RecordedClock(NOON).recorded
