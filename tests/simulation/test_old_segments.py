"""Segments from before the newest generation that are missing or damaged: told, and told once."""

from random import Random
from typing import Final

import attrs
import pytest
from simulation import damaged_files
from simulation.damaged_files import Change, segments
from simulation.requests import Delete, Expire, Say
from simulation.rig import KEYS, Rig
from simulation.sim_store import SimStore

from turnfold.events.errors import DamagedStore
from turnfold.events.event import Gap
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES
from turnfold.events.log.verify import verify_disk
from turnfold.events.reasons import Reason

OPENINGS: Final = 6


def store(seed: int = 5) -> Rig:
    """A closed store with a segment of each opening, and a generation behind the last."""
    rig = Rig(seed)
    random = Random(seed)
    for number in range(OPENINGS):
        rig.open()
        for key in KEYS[:3]:
            rig.order(Say(key, (rig.text(random),), (number,)))
        rig.order(Expire(KEYS[number % 2]) if number % 2 else Delete(KEYS[2]))
        rig.close()
    return rig


def base_of(path: str) -> int:
    return int(path.removeprefix("log/").removesuffix(".log"))


CHANGES: Final[dict[str, Change]] = {
    **damaged_files.CHANGES,
    "header": lambda rig, path: rig.disk.flip(path, 8 * 20),
    "cut": lambda rig, path: rig.disk.put(path, rig.disk.content(path)[:SEGMENT_HEADER_BYTES]),
}


def damaged(change: str, which: int) -> tuple[Rig, Gap]:
    """A store, and the range that is not there any more."""
    rig = store()
    paths = segments(rig)
    lost = Gap(base_of(paths[which]), base_of(paths[which + 1]) - 1, Reason.OPENED_DAMAGED)
    CHANGES[change](rig, paths[which])
    return rig, lost


def gaps(rig: Rig) -> list[Gap]:
    return [item for item in rig.store.log.read(0, content=False) if isinstance(item, Gap)]


@pytest.mark.parametrize("which", range(OPENINGS - 1))
@pytest.mark.parametrize("change", CHANGES)
def test_the_opening_tells_the_range_and_loses_nothing_else(change: str, which: int) -> None:
    rig, lost = damaged(change, which)

    assert rig.open_damaged(), "the generation holds all that is live"

    report = rig.store.report
    assert report.reason is Reason.OPENED_DAMAGED
    assert report.lost_first <= lost.first
    assert report.lost_last >= lost.last
    assert not report.sessions_lost
    assert [(gap.first, gap.last) for gap in gaps(rig)] == [(lost.first, lost.last)]
    assert gaps(rig)[0].reason is not Reason.DAMAGE_UNDECLARED


@pytest.mark.parametrize("which", range(OPENINGS - 1))
@pytest.mark.parametrize("change", CHANGES)
def test_it_is_told_once_and_the_store_verifies_again(change: str, which: int) -> None:
    rig, _lost = damaged(change, which)
    rig.open_damaged()
    rig.order(Say(KEYS[0], (rig.text(Random(1)),), (9,)))
    rig.close()

    report = verify_disk(rig.disk)
    assert report.ok, report.findings
    for _ in range(2):
        rig.open()
        rig.check_recovery()
        assert not rig.store.report.findings
        rig.order(Say(KEYS[1], (rig.text(Random(2)),), (9,)))
        rig.close()
        assert verify_disk(rig.disk).ok


def test_what_is_still_unsaid_is_told_after_a_crash_of_the_opening_that_would_have() -> None:
    rig, lost = damaged("missing", 2)
    rig.open_damaged()
    rig.disk.crash(1)  # whether or not the first frame of that opening got to the disk
    rig.open_damaged()
    rig.close()
    assert verify_disk(rig.disk).ok
    rig.open()
    assert gaps(rig) == [lost]


@pytest.mark.parametrize("change", ["missing", "header"])
def test_a_store_that_refuses_damage_refuses_this(change: str) -> None:
    rig, lost = damaged(change, 2)
    before = {path: rig.disk.content(path) for path in segments(rig)}
    settings = attrs.evolve(rig.settings, on_damage="refuse")
    refused = SimStore(rig.disk, rig.clock, settings, rig.entropy).recovered.read_only
    assert isinstance(refused, DamagedStore)
    assert f"{lost.first} to {lost.last}" in str(refused)
    assert {path: rig.disk.content(path) for path in segments(rig)} == before


def test_two_ranges_are_told_as_one_and_what_lies_between_is_still_read() -> None:
    rig = store()
    paths = segments(rig)
    rig.disk.remove(paths[1])
    rig.disk.remove(paths[3])
    assert rig.open_damaged()
    bases = [base_of(path) for path in paths]
    assert (rig.store.report.lost_first, rig.store.report.lost_last) == (bases[1], bases[4] - 1)
    assert [(gap.first, gap.last) for gap in gaps(rig)] == [
        (bases[1], bases[2] - 1),
        (bases[3], bases[4] - 1),
    ]
    rig.close()
    assert verify_disk(rig.disk).ok
