"""Each call to the disk fails in turn, in everything that a store does to its files.

Whatever the reply says must be true of the running store and of what is there when it is opened
again, after the process ended and after a power cut: done, certainly not done, or unknown.
"""

from collections.abc import Callable
from random import Random
from typing import Final

import attrs
import pytest
from simulation.requests import Delete, Expire, Say
from simulation.rig import KEYS, LIMITS, Rig
from simulation.sim_faults import TAKES_SPACE, Fault, Interrupt, PowerCut, fail_call, no_faults

from turnfold.events.errors import TurnfoldError
from turnfold.events.limits import Limits

# One command fills a segment, nine fill the log, four generations fill their room.
BIG: Final = attrs.evolve(
    LIMITS,
    turns_per_session=32,
    bytes_per_session=150_000,
    aggregate_bytes=300_000,
    turn_bytes=8192,
    tool_turn_bytes=8192,
    generation_bytes=2_300_000,
)

LOOKS: Final = frozenset({"list", "open", "read", "status"})  # interrupted, they have done nothing


@attrs.frozen
class Scenario:
    """`prepare` leaves a store that is closed (or has crashed); `act` meets the faults."""

    name: str
    prepare: Callable[[Rig], None]
    act: Callable[[Rig], None]
    is_open: bool = True
    limits: Limits = LIMITS

    def __str__(self) -> str:
        return self.name


def say(rig: Rig, key: str, count: int = 1, filler: int = 0) -> None:
    random = Random(rig.said)
    texts = tuple(rig.text(random) + " wave" * filler for _ in range(count))
    rig.order(Say(key, texts, tuple(index % 2 for index in range(count))))


def nothing(rig: Rig) -> None:
    """A new store."""


def some_history(rig: Rig) -> None:
    """Live, ended and compacted sessions, in a generation and behind it."""
    rig.open()
    for key in KEYS[:4]:
        say(rig, key, 3)
    rig.flush()
    say(rig, KEYS[0], 6)
    rig.order(Expire(KEYS[1]))
    say(rig, KEYS[1])


def closed(rig: Rig) -> None:
    some_history(rig)
    rig.close()


def crashed(rig: Rig) -> None:
    """A batch is torn: the power went when it was on its way."""
    some_history(rig)
    say(rig, KEYS[2])
    rig.disk.plan = lambda _call, operation, _path: (
        Fault.CUT_BEFORE if operation == "sync" else None
    )
    with pytest.raises(PowerCut):
        rig.order(*(Say(KEYS[4], (rig.text(Random(n)),), (0,)) for n in range(3)))
    rig.disk.crash(seed=1)


def nearly_full(rig: Rig) -> None:
    """Log and generations are about to pass their limits."""
    rig.open()
    for number in range(8):
        say(rig, KEYS[number % 2], 16, filler=1500)
        if number >= 4:
            rig.flush()
    rig.close()


def mixed_batch(rig: Rig) -> None:
    random = Random(1)
    rig.order(
        Say(KEYS[2], (rig.text(random),), (0,)),
        Delete(KEYS[0]),
        Say(KEYS[0], (rig.text(random),), (0,), "t1"),
        Expire(KEYS[1]),
    )


def rotate(rig: Rig) -> None:
    for _ in range(2):
        say(rig, KEYS[2], 16, filler=1500)


def delete(rig: Rig) -> None:
    rig.order(Delete(KEYS[0]))


def flush(rig: Rig) -> None:
    say(rig, KEYS[0])
    rig.flush()


def tick(rig: Rig) -> None:
    say(rig, KEYS[0])
    rig.tick()
    rig.tick()


def close(rig: Rig) -> None:
    say(rig, KEYS[0])
    rig.close()


def trim(rig: Rig) -> None:
    say(rig, KEYS[0], 16, filler=1500)
    rig.flush()


SCENARIOS: Final = (
    Scenario("open a new store", nothing, Rig.open, is_open=False),
    Scenario("open a closed store", closed, Rig.open, is_open=False),
    Scenario("open a torn store", crashed, Rig.open, is_open=False),
    Scenario("append", closed, lambda rig: say(rig, KEYS[2])),
    Scenario("append a batch", closed, mixed_batch),
    Scenario("rotate", closed, rotate, limits=BIG),
    Scenario("delete", closed, delete),
    Scenario("flush", closed, flush),
    Scenario("tick", closed, tick),
    Scenario("close", closed, close),
)
TRIM: Final = Scenario("trim and retire", nearly_full, trim, limits=BIG)


class Failing:
    """One scenario, prepared once and run for each call and fault."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._origin = Rig(7, limits=scenario.limits)
        scenario.prepare(self._origin)
        probe = self._ready(0)
        trace = probe.disk.trace = []
        scenario.act(probe)
        self.operations = [operation for operation, _path in trace]

    def _ready(self, seed: int) -> Rig:
        rig = self._origin.twin(seed)
        rig.disk.kill()
        if self.scenario.is_open:
            rig.open()
        return rig

    def run(self, number: int, fault: Fault) -> None:
        """The call fails; then the process ends, or the power goes; then all is well."""
        seed = number * 8 + list(Fault).index(fault)
        rig = self._ready(seed)
        rig.disk.plan = fail_call(rig.disk.calls + number, fault)
        try:
            self.scenario.act(rig)
            is_open = True
        except (TurnfoldError, Interrupt):
            is_open = self.scenario.is_open
        rig.disk.plan = no_faults
        if is_open and not rig.is_closed and not rig.store.failed:
            rig.check()
            say(rig, KEYS[3])
            rig.order(Delete(KEYS[0]))  # nothing that failed keeps its text
            rig.check()
        for crash in (False, True):
            twin = rig.twin(seed)
            (twin.disk.crash if crash else twin.disk.kill)()
            twin.open()
            twin.check_recovery()
            twin.check()
            say(twin, KEYS[2])
            twin.check()


def run_all(scenario: Scenario, faults: tuple[Fault, ...], step: int = 1) -> int:
    failing = Failing(scenario)
    calls = len(failing.operations)
    for number in range(1, calls + 1, step):
        for fault in faults:
            operation = failing.operations[number - 1]
            if fault is Fault.ENOSPC and operation not in TAKES_SPACE:
                continue
            if fault is Fault.INTERRUPT and operation in LOOKS:
                continue
            try:
                failing.run(number, fault)
            except BaseException as error:
                error.add_note(f"{scenario}: call {number} of {calls} met {fault}")
                raise
    return calls


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_a_call_that_fails_is_answered_truthfully(scenario: Scenario) -> None:
    assert run_all(scenario, (Fault.EIO, Fault.ENOSPC, Fault.INTERRUPT)) >= 3


def test_a_call_that_fails_while_trimming_is_answered_truthfully() -> None:
    assert run_all(TRIM, (Fault.EIO,), step=5) > 60


@pytest.mark.nightly
def test_every_call_while_trimming_fails_in_every_way() -> None:
    run_all(TRIM, (Fault.EIO, Fault.ENOSPC, Fault.INTERRUPT))
