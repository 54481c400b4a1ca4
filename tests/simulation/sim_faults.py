"""What can become of a call to the simulated disk, and plans of when it does."""

from collections.abc import Callable
from enum import Enum
from typing import Final


class PowerCut(BaseException):
    """The process ends here: no call after this one does anything."""


class Interrupt(BaseException):
    """A signal's handler raised in the middle of a call (EINTR that isn't tried again)."""


class Fault(Enum):
    """What becomes of one call."""

    EIO = "the device fails"
    ENOSPC = "no space is left"
    INTERRUPT = "a signal interrupts it"
    CUT_BEFORE = "the power goes before it"
    CUT_AFTER = "the power goes after it"


Plan = Callable[[int, str, str], Fault | None]
"""Which fault the n-th call (operation, path) meets."""

# Calls that need space, and so the ones that can say there is none.
TAKES_SPACE: Final = frozenset(
    {"write", "create", "make_directory", "allocate", "rename", "sync", "sync_directory"}
)


def no_faults(_call: int, _operation: str, _path: str) -> Fault | None:
    """Everything works."""
    return None


def fail_call(number: int, fault: Fault) -> Plan:
    """The call with this number fails, once."""
    return lambda call, _operation, _path: fault if call == number else None


def cut_call(number: int, *, after: bool) -> Plan:
    """The power goes before or after the call with this number."""
    return fail_call(number, Fault.CUT_AFTER if after else Fault.CUT_BEFORE)
