"""Checks of single fields. Each tells what is wrong as a Blocker, and never quotes the value."""

from enum import StrEnum
from typing import Final, TypeVar, cast

from turnfold.events.errors import InvalidStateRecord
from turnfold.events.session_state.blockers import Blocker

SHOWN_MAX: Final = 16  # problems spelled out in one message; `blockers` holds all

Choice = TypeVar("Choice", bound=StrEnum)


class Problems:
    """What is wrong with one value, collected so that all of it is reported at once."""

    __slots__ = ("_found", "_what")

    def __init__(self, what: str) -> None:
        self._what = what
        self._found: list[tuple[str, Blocker]] = []

    def add(self, field: str, blocker: Blocker | None) -> None:
        """Notes that `field` breaks a rule; None means that it doesn't."""
        if blocker is not None:
            self._found.append((field, blocker))

    def raise_if_any(self) -> None:
        """Raises InvalidStateRecord naming fields and blockers, never a value."""
        if self._found:
            shown = self._found[:SHOWN_MAX]
            listed = ", ".join(f"{field}: {blocker.value}" for field, blocker in shown)
            if len(shown) < len(self._found):
                listed += f", and {len(self._found) - len(shown)} more"
            raise InvalidStateRecord(
                f"{self._what} is not valid ({listed}); see docs/reference/session-state.md",
                blockers=tuple(blocker.value for _field, blocker in self._found),
            )


def count_problem(value: object, low: int, high: int) -> Blocker | None:
    """Whether `value` is an int (not a bool) with low <= value <= high."""
    if type(value) is not int:
        return Blocker.BAD_TYPE
    return None if low <= value <= high else Blocker.OUT_OF_RANGE


def hidden(value: object) -> str:
    """How a `repr` shows what a caller typed: by its length alone."""
    if value is None:
        return "None"
    return f"<{len(value)} characters>" if isinstance(value, str) else f"<{type(value).__name__}>"


def flag_problem(value: object) -> Blocker | None:
    """Whether `value` is True or False itself: 1, "yes" and other truths are none."""
    return None if type(value) is bool else Blocker.BAD_TYPE


def choice(kind: type[Choice], value: Choice | str) -> Choice:
    """The member of `kind` that is, or is named, `value`; anything else comes back as it is.

    Unlike `kind(value)`, this raises no error that would quote the value: `choice_problem` tells.
    """
    for member in kind:
        if value == member.value:
            return member
    return cast("Choice", value)


def choice_problem(value: object, kind: type[StrEnum]) -> Blocker | None:
    """Whether `value` (after `choice`) is a member of `kind`."""
    return None if isinstance(value, kind) else Blocker.BAD_CHOICE
