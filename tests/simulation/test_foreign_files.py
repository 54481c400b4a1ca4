"""Files that are missing, empty, zeroed, swapped, linked, oversized or somebody else's.

A file counts by its name and its inner identity together. Whatever lies there, the store opens (or
refuses and touches nothing), says what it found, and shows no text that it can't vouch for.
"""

from random import Random
from typing import Final

import attrs
import pytest
from simulation import damaged_files
from simulation.damaged_files import Change, in_directory, segments
from simulation.requests import Delete, Expire, Say
from simulation.rig import KEYS, Rig

from turnfold.events.errors import StoreReadOnly, TurnfoldError, UnsupportedFormat
from turnfold.events.event import Gap
from turnfold.events.log import generation_file
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES
from turnfold.events.reasons import Reason


def store(openings: int = 3, *, seed: int = 5) -> Rig:
    """A closed store with a segment and a generation of each opening."""
    rig = Rig(seed)
    random = Random(seed)
    for number in range(openings):
        rig.open()
        for key in KEYS[:3]:
            rig.order(Say(key, (rig.text(random),), (number,)))
        rig.order(Expire(KEYS[number % 2]))
        rig.close()
    return rig


def generations(rig: Rig) -> list[str]:
    """Oldest first."""
    return in_directory(rig, "generations")


# --- generations ----------------------------------------------------------------------------

CHANGES: Final[dict[str, Change]] = {
    **damaged_files.CHANGES,
    "directory": lambda rig, path: rig.disk.put_directory(path),
    "another store's": lambda rig, path: rig.disk.put(path, _content_of_another_store(path)),
}


def _content_of_another_store(path: str) -> bytes:
    """The file at the same place, if there is one, else of the same kind."""
    other = store(seed=6)
    directory = path.partition("/")[0]
    same = [name for name in in_directory(other, directory) if name == path]
    return other.disk.content((same or in_directory(other, directory))[-1])


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("which", [0, -1], ids=["oldest", "newest"])
def test_without_a_generation_the_log_alone_gives_the_same_state(change: str, which: int) -> None:
    rig = store()
    CHANGES[change](rig, generations(rig)[which])
    assert rig.open_damaged(), "a whole log needs no generation"
    rig.check()
    rig.close()
    rig.open()
    rig.check_recovery()


def test_swapped_generations_are_noticed_by_their_names() -> None:
    rig = store()
    first, last = generations(rig)[0], generations(rig)[-1]
    rig.disk.swap(first, last)
    assert rig.open_damaged()
    assert {finding.reason for finding in rig.store.report.findings} == {Reason.QUARANTINED_INVALID}


def test_a_generation_of_another_store_is_set_aside_whatever_its_position() -> None:
    rig, other = store(), store(4, seed=6)
    path = generations(other)[-1]
    rig.disk.put(path, other.disk.content(path))
    assert rig.open_damaged()
    assert any(finding.what == "generation" for finding in rig.store.report.findings)
    assert path not in rig.disk.paths()


def test_files_with_other_names_are_left_alone() -> None:
    rig = store()
    others = {
        "generations/README": b"a note",
        "log/notes.txt": b"another",
        "backup.tar": b"yet another",
        "log/1.log": b"TURNFOLD",
    }
    for path, content in others.items():
        rig.disk.put(path, content)
    rig.open()
    rig.check_recovery()
    rig.close()
    for path, content in others.items():
        assert rig.disk.content(path) == content


def test_an_oversized_generation_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = store()
    path = generations(rig)[-1]
    size = len(rig.disk.content(path))
    monkeypatch.setattr(generation_file, "GENERATION_FILE_BYTES_MAX", size - 1)
    assert rig.open_damaged()
    reasons = [finding.reason for finding in rig.store.report.findings]
    assert Reason.QUARANTINED_OVERSIZED in reasons


# --- segments --------------------------------------------------------------------------------


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("which", [0, 1, -1], ids=["first", "middle", "last"])
def test_with_a_segment_lost_the_generation_keeps_the_state_or_the_loss_is_told(
    change: str, which: int
) -> None:
    rig = store()
    path = segments(rig)[which]
    CHANGES[change](rig, path)
    same = rig.open_damaged()
    report = rig.store.report
    assert same or report.sessions_lost
    # Opening needs nothing before the generation; who reads it is told.
    gaps = [item for item in rig.store.log.read(0, content=False) if isinstance(item, Gap)]
    assert gaps
    assert gaps == list(dict.fromkeys(gaps))
    if which == -1:
        assert report.reason is Reason.OPENED_DAMAGED
        assert gaps[-1].reason is Reason.OPENED_DAMAGED
    else:
        assert same, "the generation at the end holds the state"
    rig.check()
    rig.order(Say(KEYS[4], (rig.text(Random(1)),), (0,)))
    rig.close()
    rig.open()
    assert rig.store.report.reason is Reason.OPENED_CLEAN, "damage is told once"
    rig.check()


def test_swapped_segments_are_damage_and_nothing_is_mixed_up() -> None:
    rig = store()
    first, second = segments(rig)[:2]
    rig.disk.swap(first, second)
    assert rig.open_damaged()
    assert rig.store.report.reason is Reason.OPENED_DAMAGED or rig.store.report.findings


def test_everything_gone_but_the_key_is_a_new_store_with_the_old_name() -> None:
    rig = store()
    for path in (*segments(rig), *generations(rig)):
        rig.disk.remove(path)
    rig.possible = [attrs.evolve(rig.visible, talks={}, ended={}, over={})]
    rig.open()
    rig.check()


# --- formats and keys --------------------------------------------------------------------------


def test_a_log_of_a_newer_format_is_refused_and_left_as_it_is() -> None:
    rig = store()
    path = segments(rig)[-1]
    header = bytearray(rig.disk.content(path)[: SEGMENT_HEADER_BYTES - 4])
    header[8:10] = (2).to_bytes(2, "little")
    rig.disk.damage(path, 0, bytes(header) + crc32c(bytes(header)).to_bytes(4, "little"))
    before = everything(rig)
    with pytest.raises(UnsupportedFormat):
        rig.open()
    assert everything(rig) == before


@pytest.mark.parametrize("key", [None, b"", bytes(31), bytes(32)])
def test_without_its_key_a_store_is_only_read_and_nothing_is_changed(key: bytes | None) -> None:
    rig = store()
    if key is None:
        rig.disk.remove("pseudonym.key")
    else:
        rig.disk.put("pseudonym.key", key)
    before = everything(rig)
    with pytest.raises(StoreReadOnly):
        rig.open()
    assert everything(rig) == before


def test_a_directory_of_other_files_is_no_store_and_left_alone() -> None:
    rig = Rig(1)
    rig.disk.put("photo.jpg", b"pixels")
    before = everything(rig)
    with pytest.raises(TurnfoldError):
        rig.open()
    assert everything(rig) == before


def everything(rig: Rig) -> dict[str, bytes]:
    return {path: rig.disk.content(path) for path in rig.disk.paths()}


def test_what_was_lost_stays_lost_when_its_ending_and_then_the_generation_go_too() -> None:
    rig = Rig(8)
    rig.open()
    rig.order(Say(KEYS[0], (rig.text(Random(8)),), (0,)))
    rig.close()
    rig.open()
    rig.close()
    (generation,) = generations(rig)
    rig.disk.remove(generation)
    rig.disk.flip(segments(rig)[-1], 8 * SEGMENT_HEADER_BYTES)  # a durable frame
    assert not rig.open_damaged()
    rig.close()  # its generation says that the session was lost
    rig.disk.flip(segments(rig)[-1], 0)  # the frame that says so is gone
    assert rig.open_damaged(), "the generation knows"
    rig.close()
    (generation,) = generations(rig)
    rig.disk.remove(generation)
    assert rig.open_damaged(), "and what is left knows that it doesn't"
    assert not rig.visible.talks
    assert rig.store.report.sessions_lost


def test_a_gap_that_a_damaged_segment_declared_stays_declared() -> None:
    rig = store()
    for path in (*segments(rig)[:-1], *generations(rig)):
        rig.disk.remove(path)
    assert not rig.open_damaged()  # the log begins with a gap now
    rig.close()
    for path in generations(rig):
        rig.disk.remove(path)
    rig.disk.flip(segments(rig)[-1], 8 * SEGMENT_HEADER_BYTES)
    rig.open_damaged()
    rig.order(Say(KEYS[0], (rig.text(Random(5)),), (0,)))
    rig.disk.crash()
    rig.open()
    rig.check_recovery()
    gaps = [item for item in rig.store.log.read(0) if isinstance(item, Gap)]
    assert [gap.reason for gap in gaps] == [Reason.OPENED_DAMAGED]
    assert gaps[0].first == 1


def test_a_newest_segment_without_its_header_is_damage_and_nothing_deleted_comes_back() -> None:
    rig = store()
    rig.open()
    rig.order(Delete(KEYS[2]))
    rig.disk.kill()  # no generation says that it was deleted
    path = segments(rig)[-1]
    rig.disk.put(path, rig.disk.content(path)[:100])
    assert not rig.open_damaged()
    assert rig.store.report.reason is Reason.OPENED_DAMAGED
    assert not rig.visible.talks


def test_damage_behind_a_generation_costs_nothing_that_is_proven_before_it() -> None:
    """Also if there is older damage, before the generation: the frames in between are whole."""
    rig = Rig(4)
    random = Random(4)
    rig.open()
    for key in KEYS[:2]:
        rig.order(Say(key, (rig.text(random),), (0,)))
    rig.flush()
    rig.order(Delete(KEYS[1]))
    rig.disk.kill()
    rig.open()
    rig.disk.kill()
    first, last = segments(rig)
    rig.disk.flip(first, 8 * SEGMENT_HEADER_BYTES)  # before the generation
    rig.disk.flip(last, 0)  # behind it
    assert not rig.open_damaged()
    assert rig.visible.ended[KEYS[1]] == "deleted", "its frame is whole"
    digest = rig.store.digest()
    rig.disk.kill()
    rig.open()
    assert rig.store.recovered_digest == digest
