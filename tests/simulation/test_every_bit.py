"""Each bit of a small log and of a generation flipped, each byte cut off: found or harmless.

*Harmless* is proven by reading: the store shows exactly what was acknowledged. *Found* is what the
opening says of it: damage with the positions that are lost, something set aside, or a refusal.
Whatever is damaged, nothing that had ended comes back and no text gets into another session.
"""

from collections.abc import Iterator
from random import Random
from typing import Final

import pytest
from simulation.requests import Delete, Expire, Say
from simulation.rig import KEYS, Rig

from turnfold.events.errors import DamagedStore, StorageError, StoreReadOnly
from turnfold.events.log.scan import scan_segment
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES

GENERATIONS: Final = "generations/"
LOG: Final = "log/"


def small_store(*, flushed: bool) -> Rig:
    """A store with live, ended, deleted and erased text, in as few bytes as can be.

    With `flushed` it was closed in order, which leaves a generation at its end; else the process
    ended, and there is a log alone.
    """
    rig = Rig(3)
    rig.open()
    random = Random(3)
    texts = [rig.text(random) for _ in range(4)]
    rig.order(Say(KEYS[0], (texts[0],), (0,), "t1"), Say(KEYS[1], (texts[1],), (1,)))
    rig.order(Expire(KEYS[1]), Say(KEYS[2], (texts[2],), (2,)))
    rig.order(Delete(KEYS[2]))
    rig.order(Say(KEYS[3], (texts[3],), (3,)))
    if flushed:
        rig.close()
    rig.disk.kill()
    return rig


def paths(rig: Rig, directory: str) -> list[str]:
    return [path for path in rig.disk.paths() if path.startswith(directory)]


def told(rig: Rig) -> bool:
    """Open; whether the state is the one before. Fails if losses aren't told."""
    return rig.open_damaged()


def flips(size: int, step: int, first: int = 0) -> Iterator[int]:
    return iter(range(first, 8 * size, step))


class Tally:
    """How many changes were found, and how many did no harm."""

    def __init__(self) -> None:
        self.found = self.harmless = 0

    def add(self, is_harmless: bool) -> None:
        self.harmless += is_harmless
        self.found += not is_harmless


def flip_all(origin: Rig, path: str, step: int, first: int = 0) -> Tally:
    tally = Tally()
    for bit in flips(len(origin.disk.content(path)), step, first):
        rig = origin.twin(bit)
        rig.disk.kill()
        rig.disk.flip(path, bit)
        try:
            tally.add(told(rig))
            lists_gaps(rig)
        except BaseException as error:
            error.add_note(f"bit {bit} of {path}")
            raise
    return tally


def cut_all(origin: Rig, path: str, step: int = 1) -> Tally:
    tally = Tally()
    for size in range(0, len(origin.disk.content(path)), step):
        tally.add(cut(origin, path, size))
    return tally


def cut(origin: Rig, path: str, size: int) -> bool:
    """Whether cutting a file to this size does no harm."""
    rig = origin.twin(size)
    rig.disk.kill()
    rig.disk.put(path, rig.disk.content(path)[:size])
    try:
        is_harmless = told(rig)
        lists_gaps(rig)
    except BaseException as error:
        error.add_note(f"{path} cut to {size} bytes")
        raise
    return is_harmless


def lists_gaps(rig: Rig) -> None:
    """A reader gets every position once, as an event or in a gap, and no torn frame."""
    position = 0
    for item in rig.store.log.read(0):
        assert item.first == position + 1
        position = item.last
    assert position == rig.store.log.durable


# --- the log --------------------------------------------------------------------------------


def test_bits_of_the_log_flipped_are_found_or_harmless() -> None:
    origin = small_store(flushed=False)
    (path,) = paths(origin, LOG)
    tally = flip_all(origin, path, step=13)
    assert tally.found > tally.harmless > 0


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(8))
def test_every_bit_of_the_log_flipped_is_found_or_harmless(first: int) -> None:
    origin = small_store(flushed=False)
    (path,) = paths(origin, LOG)
    assert flip_all(origin, path, step=8, first=first).found


def test_a_log_alone_cut_to_any_length_is_told_but_between_two_frames_of_its_end() -> None:
    """Cut there it is the log of a moment ago: only what lies elsewhere could tell them apart."""
    origin = small_store(flushed=False)
    (path,) = paths(origin, LOG)
    file = origin.disk.open(path)
    ends = [SEGMENT_HEADER_BYTES, *(frame.end for frame in scan_segment(file))]
    content = origin.disk.content(path)
    for size in range(len(content)):
        if size not in ends:
            cut(origin, path, size)


# --- with a generation -----------------------------------------------------------------------


def test_with_a_generation_at_its_end_the_log_cut_to_any_length_loses_no_state() -> None:
    origin = small_store(flushed=True)
    (path,) = paths(origin, LOG)
    assert cut_all(origin, path, step=4).found == 0


@pytest.mark.nightly
def test_with_a_generation_at_its_end_the_log_cut_to_every_length_loses_no_state() -> None:
    origin = small_store(flushed=True)
    (path,) = paths(origin, LOG)
    assert cut_all(origin, path).found == 0


def test_with_a_generation_the_log_before_it_may_be_damaged_without_loss_of_state() -> None:
    origin = small_store(flushed=True)
    path = paths(origin, LOG)[0]
    tally = flip_all(origin, path, step=29)
    assert tally.harmless > 0


def test_bits_of_a_generation_flipped_cost_at_most_a_text() -> None:
    """The log is whole, so the state is; a damaged text of the generation is told."""
    origin = small_store(flushed=True)
    (path,) = paths(origin, GENERATIONS)
    tally = flip_all(origin, path, step=13)
    assert tally.harmless > 0


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(8))
def test_every_bit_of_a_generation_flipped_costs_at_most_a_text(first: int) -> None:
    origin = small_store(flushed=True)
    (path,) = paths(origin, GENERATIONS)
    assert flip_all(origin, path, step=8, first=first).harmless


def test_every_length_of_a_generation_loses_nothing() -> None:
    origin = small_store(flushed=True)
    (path,) = paths(origin, GENERATIONS)
    assert not cut_all(origin, path).found


# --- on_damage = "refuse" -----------------------------------------------------------------------


def test_refusing_damage_leaves_every_file_as_it_is() -> None:
    origin = small_store(flushed=False)
    (path,) = paths(origin, LOG)
    refused = 0
    for bit in flips(len(origin.disk.content(path)), 97):
        rig = origin.twin(bit)
        rig.settings = rig.settings.__class__(limits=rig.settings.limits, on_damage="refuse")
        rig.disk.kill()
        rig.disk.flip(path, bit)
        before = {name: rig.disk.content(name) for name in rig.disk.paths()}
        try:
            rig.open()
        except (DamagedStore, StoreReadOnly, StorageError):
            refused += 1
            assert {name: rig.disk.content(name) for name in rig.disk.paths()} == before
        except AssertionError:
            pass  # a text of its own is damaged, which is told, and no position is
    assert refused > 10
