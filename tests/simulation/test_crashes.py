"""Crashes at any call of any work: what was acknowledged is there, whole; nothing is damaged.

Each run does random work and looks, before some of its calls to the disk, what the store would be
if the power went at that moment: recovery, sometimes cut off itself, must show one of the states
that the replies allow, twice the same, and go on from there.
"""

import os
from random import Random
from typing import Final

import pytest
from simulation.rig import Rig
from simulation.sim_faults import PowerCut, cut_call
from simulation.workload import random_order, work

# A failure names the seed of its run; TURNFOLD_SIM_SEED replays that run alone.
_CHOSEN: Final = os.environ.get("TURNFOLD_SIM_SEED")
RUNS: Final = 24
STEPS: Final = 30
CRASHES_EACH: Final = 90  # on average


class Crashes:
    """A run with crashes on the side; `count` of them were looked at."""

    def __init__(self, seed: int, *, sync_each_batch: bool = True) -> None:
        self.seed = seed
        self.count = 0
        self._random = Random(seed)
        self._rig = Rig(seed, sync_each_batch=sync_each_batch)
        self._rig.disk.watch = self._maybe_crash
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Do the work. Raises AssertionError, with the seed in its message."""
        random = Random(self.seed + 1)
        rig = self._rig
        try:
            rig.open()
            for _ in range(STEPS):
                work(rig, random)
                if self._failure is not None:  # the store answers what is raised inside a call
                    raise self._failure
                rig.check()
            rig.check_log()
        except BaseException as error:
            error.add_note(f"TURNFOLD_SIM_SEED={self.seed} replays this")
            raise

    def _maybe_crash(self) -> None:
        calls = STEPS * 14  # of a run, roughly
        if self._random.random() < CRASHES_EACH / calls:
            self.count += 1
            try:
                self._crash(self._rig.twin(self._random.getrandbits(32)), self._random)
            except BaseException as error:
                self._failure = self._failure or error
                raise

    def _crash(self, twin: Rig, random: Random) -> None:
        """The power goes here; look at what comes back."""
        kills = random.random() < 0.15  # only the process ends: the cache survives
        (twin.disk.kill if kills else twin.disk.crash)()
        while random.random() < 0.25:  # it goes again while the store is opened
            twin.disk.plan = cut_call(random.randint(1, 70), after=random.random() < 0.5)
            try:
                twin.open()
            except PowerCut:
                twin.disk.crash()
            else:
                break
        twin.disk.kill()
        twin.open()
        twin.check_recovery()
        twin.check()
        digest = twin.store.digest()
        if random.random() < 0.5:
            twin.disk.crash()
        twin.disk.kill()
        twin.open()
        twin.check_recovery()
        assert twin.store.recovered_digest == digest, "opened again, it is another state"
        twin.order(random_order(twin, random))
        twin.check()
        if random.random() < 0.2:
            twin.check_log()


def seeds(count: int, first: int = 0) -> list[int]:
    return [int(_CHOSEN)] if _CHOSEN else list(range(first, first + count))


@pytest.mark.parametrize("seed", seeds(RUNS))
def test_whatever_call_the_power_goes_at_the_replies_were_true(seed: int) -> None:
    Crashes(seed).run()


@pytest.mark.parametrize("seed", seeds(RUNS // 4, 1000))
def test_in_durability_flush_what_was_synced_is_there_and_the_rest_is_a_prefix(seed: int) -> None:
    Crashes(seed, sync_each_batch=False).run()


@pytest.mark.nightly
@pytest.mark.parametrize("block", range(20))
def test_a_hundred_thousand_crashes(block: int) -> None:
    count, seed = 0, 1_000_000 * (block + 1)
    while count < 5_000:
        crashes = Crashes(seed, sync_each_batch=seed % 5 != 0)
        crashes.run()
        count += crashes.count
        seed += 1
