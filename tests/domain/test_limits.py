"""Limits: configured values only lower the hard ceilings, and they fit together."""

import pytest
from strategies import SMALLEST

from turnfold.events.errors import InvalidConfig, LimitTooHigh
from turnfold.events.limits import BOUNDS, Limits


@pytest.mark.parametrize("name", BOUNDS)
def test_a_value_above_the_ceiling_names_both_numbers(name: str) -> None:
    """An operator sees what was asked for and what is possible."""
    ceiling = BOUNDS[name][2]

    with pytest.raises(
        LimitTooHigh, match=f"{name} is {ceiling + 1}; the hard ceiling is {ceiling}"
    ):
        Limits(**{name: ceiling + 1})


@pytest.mark.parametrize("name", [name for name in BOUNDS if BOUNDS[name][0] > 0])
def test_a_value_below_the_minimum_is_refused(name: str) -> None:
    """The minimum is named."""
    with pytest.raises(InvalidConfig, match="the minimum is"):
        Limits(**{name: BOUNDS[name][0] - 1})


@pytest.mark.parametrize("value", [True, 4.0, "4", None])
def test_a_limit_is_an_integer(value: object) -> None:
    """A bool is not a number here."""
    with pytest.raises(InvalidConfig, match="turns_per_session must be an integer"):
        Limits(turns_per_session=value)  # type: ignore[arg-type]  # the point of the test


def test_the_smallest_limits_fit_together() -> None:
    """Every minimum at once is a valid configuration with room for turn ids."""
    assert SMALLEST.turn_ids_per_session >= 1
    assert 3 * SMALLEST.largest_generation_bytes <= SMALLEST.generation_bytes


def test_the_defaults_remember_4096_turn_ids() -> None:
    """As published."""
    assert Limits().turn_ids_per_session == 4096
    assert Limits().ended_keys == 65_536


def test_a_session_must_have_room_for_a_turn_and_a_summary() -> None:
    """Relations are checked, not only single values."""
    with pytest.raises(InvalidConfig, match="bytes_per_session is 4096"):
        Limits(bytes_per_session=4096)


def test_one_session_must_fit_into_the_aggregate() -> None:
    """bytes_per_session <= aggregate_bytes."""
    with pytest.raises(InvalidConfig, match="aggregate_bytes"):
        Limits(bytes_per_session=65536, aggregate_bytes=8192)


def test_three_generations_must_fit() -> None:
    """A configuration that couldn't keep two verified generations is refused."""
    with pytest.raises(InvalidConfig, match="generation_bytes"):
        Limits(generation_bytes=64 * 1024 * 1024)
