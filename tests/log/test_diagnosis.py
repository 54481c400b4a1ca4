"""Doctor: it foresees what an opening does, names what is wrong, and changes nothing."""

import random
from collections.abc import Callable

import pytest
from log import crash_rig
from simulation.sim_disk import SimDisk
from simulation.sim_faults import Fault, fail_call
from stores import FileStore, Owned

from turnfold.events.limits import MIB, Limits
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.diagnosis import Diagnosis, diagnose
from turnfold.events.log.generation_file import generation_path, list_generations
from turnfold.events.log.layout import DIGEST_KEYS_PATH, KEY_PATH
from turnfold.events.log.recovery import open_store
from turnfold.events.log.segment import list_segments, segment_path
from turnfold.events.reasons import Reason


def closed_store() -> tuple[SimDisk, FileStore]:
    """A store with three segments and generations, with the digest keys that its records need."""
    disk, store = crash_rig.closed_store()
    disk.put(DIGEST_KEYS_PATH, b"keys")
    return disk, store


def urgent(found: Diagnosis) -> set[tuple[str, str]]:
    """What needs attention, and where. Summaries of a history are made up: redaction is apart."""
    return {
        (item.about, item.path)
        for item in found.advice
        if item.urgent and item.about != "redaction"
    }


def notes(found: Diagnosis) -> set[str]:
    """Paths of what needs none."""
    return {item.path for item in found.advice if not item.urgent}


def diagnosed(disk: SimDisk, *, is_owned: bool = False) -> Diagnosis:
    """The diagnosis; and nothing was changed for it."""
    before = {path: disk.content(path) for path in disk.paths()}
    found = diagnose(disk, is_owned=is_owned)
    assert {path: disk.content(path) for path in disk.paths()} == before
    return found


def newest_segment(disk: SimDisk) -> str:
    return segment_path(list_segments(disk)[-1])


def test_a_store_that_is_well_needs_nothing() -> None:
    disk, store = closed_store()

    found = diagnosed(disk)

    assert urgent(found) == set()
    assert found.opening is Reason.OPENED_CLEAN
    assert found.generation == list_generations(disk)[0]
    assert (found.position, found.sessions) == (store.state.position, store.state.active)
    assert {one.session for one in found.pending} == {
        one.session for one in store.state.pending.values()
    }
    assert all(one.since is not None for one in found.pending)
    assert all(0 <= one.used <= one.limit for one in found.usage)


def test_a_torn_tail_is_foreseen_with_its_bytes() -> None:
    disk, store = closed_store()
    path = newest_segment(disk)
    disk.put(path, disk.content(path) + b"torn" * 5)

    found = diagnosed(disk)

    assert (found.opening, found.torn_bytes) == (Reason.OPENED_TORN_TAIL, 20)
    assert urgent(found) == set()
    assert FileStore(disk, store.history).report.reason is Reason.OPENED_TORN_TAIL


@pytest.mark.parametrize("generations", [True, False])
@pytest.mark.parametrize("segment", [0, 1, 2])
def test_damage_is_foreseen_as_the_opening_finds_it(segment: int, generations: bool) -> None:
    disk, _store = closed_store()
    path = segment_path(list_segments(disk)[segment])
    disk.damage(path, 300, b"\xa5" * 16)
    if not generations:
        for name in list_generations(disk):
            disk.remove(generation_path(name))

    found = diagnosed(disk)

    assert path in {where for _about, where in urgent(found)}
    opened = open_store(disk, Owned, limits=Limits(), entropy=random.Random(1).randbytes).report
    assert (found.opening, found.lost_first, found.lost_last, found.sessions_lost) == (
        opened.reason,
        opened.lost_first,
        opened.lost_last,
        opened.sessions_lost,
    )


def _newer(disk: SimDisk) -> str:
    path = newest_segment(disk)
    data = bytearray(disk.content(path)[:124])
    data[8] = 9
    disk.damage(path, 0, bytes(data) + crc32c(bytes(data)).to_bytes(4, "little"))
    return path


def _bad_generation(disk: SimDisk) -> str:
    path = generation_path(list_generations(disk)[0])
    disk.damage(path, 140, b"\xff")
    return path


def _bad_checkpoint(disk: SimDisk) -> str:
    disk.put("checkpoints/" + "a" * 32, b"no checkpoint")
    return "checkpoints"


def _open_to_others(disk: SimDisk) -> str:
    disk.set_mode(newest_segment(disk), 0o644)
    return newest_segment(disk)


def _link(disk: SimDisk) -> str:
    disk.remove(KEY_PATH)
    disk.put_link(KEY_PATH)
    return KEY_PATH


def _no_key(disk: SimDisk) -> str:
    disk.remove(KEY_PATH)
    return KEY_PATH


def _other_key(disk: SimDisk) -> str:
    disk.put(KEY_PATH, b"?" * 32)
    return KEY_PATH


@pytest.mark.parametrize(
    ("meddle", "about"),
    [
        (_newer, "format"),
        (_bad_generation, "generation"),
        (_bad_checkpoint, "file"),
        (_open_to_others, "mode"),
        (_link, "file"),
        (_no_key, "key"),
        (_other_key, "key"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(meddle: Callable[[SimDisk], str], about: str) -> None:
    disk, _store = closed_store()
    path = meddle(disk)

    found = diagnosed(disk)

    assert (about, path) in urgent(found)
    assert not found.ok
    assert all(item.todo for item in found.advice)


def test_what_is_foreign_or_left_over_needs_nobody() -> None:
    disk, _store = closed_store()
    disk.put("notes.txt", b"somebody's")
    disk.put("generations/00000000000000000009.tmp", b"cut short")

    found = diagnosed(disk)

    assert {"notes.txt", "generations/00000000000000000009.tmp"} <= notes(found)
    assert urgent(found) == set()
    assert "generations/00000000000000000009.tmp" not in notes(diagnosed(disk, is_owned=True))


def test_a_limit_that_is_lower_than_what_is_there_is_told() -> None:
    disk, store = closed_store()
    assert store.state.active > 1

    found = diagnose(disk, is_owned=False, limits=Limits(active_sessions=1))

    assert [item.message for item in found.advice if item.about == "limit"] == [
        f"active_sessions is 1, and {store.state.active} are used"
    ]
    assert {one.name: one.limit for one in found.usage}["log_bytes"] == 1024 * MIB


def test_an_empty_directory_is_a_store_to_be() -> None:
    found = diagnosed(SimDisk())

    assert found.opening is Reason.OPENED_NEW
    assert urgent(found) == set()


def test_a_lost_log_beside_a_key_is_told() -> None:
    disk, _store = closed_store()
    for path in [*disk.paths()]:
        if path.startswith(("log/", "generations/")):
            disk.remove(path)

    found = diagnosed(disk)

    assert ("file", "log") in urgent(found)


def test_a_device_that_fails_is_told_and_raises_nothing() -> None:
    disk, _store = closed_store()
    start = disk.calls
    diagnose(disk, is_owned=False)
    used = disk.calls - start
    for call in range(1, used, 7):
        disk.plan = fail_call(disk.calls + call, Fault.EIO)
        found = diagnose(disk, is_owned=False)
        assert isinstance(found, Diagnosis)


def test_missing_digest_keys_are_told_where_records_need_them() -> None:
    disk, store = closed_store()
    assert store.state.records
    disk.remove(DIGEST_KEYS_PATH)

    assert urgent(diagnosed(disk)) == {("key", DIGEST_KEYS_PATH)}
