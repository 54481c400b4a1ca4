"""Generations: written in slices, verified, named by what they hold, as many as fit."""

import contextlib
from collections.abc import Callable

import attrs
import pytest
from histories import History
from simulation.sim_disk import SimDisk
from simulation.sim_faults import Fault, PowerCut, cut_call, fail_call
from stores import FileStore, no_pause

from turnfold.events.errors import CorruptData, StorageError, UnsupportedFormat
from turnfold.events.evolve import fold
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.generation_file import (
    GENERATION_DIRECTORY,
    GENERATION_HEADER_BYTES,
    LoadedGeneration,
    Rejected,
    decode_header,
    encode_header,
    generation_path,
    list_generations,
    load_generation,
    restore_generation,
)
from turnfold.events.log.generations import KEPT_MAX, Generations, write_generation
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture, sealed_parts, state_digest
from turnfold.events.state import StoreState

STORE = b"s" * 16
HEAD = b"h" * 32


def a_state(commands: int = 60, seed: int = 2, avatars: int = 4) -> StoreState:
    return fold(History(seed, avatars).run(commands).events)


def a_disk() -> SimDisk:
    disk = SimDisk(1)
    disk.make_directory(GENERATION_DIRECTORY)
    disk.sync_directory("")
    return disk


def loaded(disk: SimDisk, name: str) -> LoadedGeneration:
    found = load_generation(disk, name, STORE)
    assert isinstance(found, LoadedGeneration), found
    return found


def restored(disk: SimDisk, name: str) -> StoreState:
    state = restore_generation(disk, loaded(disk, name))
    assert isinstance(state, StoreState), state
    return state


def test_a_written_generation_is_the_state_it_was_written_from() -> None:
    disk, state = a_disk(), a_state()

    written = write_generation(disk, STORE, capture(state), HEAD, no_pause)

    again = restored(disk, written.name)
    assert written.position == state.position
    assert written.digest == state_digest(capture(state)) == state_digest(capture(again))
    assert list(sealed_parts(capture(again))) == list(sealed_parts(capture(state)))
    assert loaded(disk, written.name).header.head == HEAD
    assert written.size == len(disk.content(generation_path(written.name)))


def test_it_is_durable_when_it_is_said_to_be_written() -> None:
    disk, state = a_disk(), a_state()
    written = write_generation(disk, STORE, capture(state), HEAD, no_pause)

    disk.crash()

    assert list_generations(disk) == [written.name]
    assert state_digest(capture(restored(disk, written.name))) == written.digest


@pytest.mark.parametrize("after", [False, True])
def test_a_power_cut_at_each_call_leaves_the_older_one_and_a_whole_newer_one_or_none(
    after: bool,
) -> None:
    older, newer = a_state(30), a_state(60)
    calls = a_disk()
    before = calls.calls
    write_generation(calls, STORE, capture(newer), HEAD, no_pause)
    for number in range(1, calls.calls - before + 1):
        disk = a_disk()
        first = write_generation(disk, STORE, capture(older), HEAD, no_pause)
        disk.plan = cut_call(disk.calls + number, after=after)
        with pytest.raises(PowerCut):
            write_generation(disk, STORE, capture(newer), HEAD, no_pause)
        disk.crash(number)
        names = list_generations(disk)
        assert first.name in names
        for name in names:
            restored(disk, name)


@pytest.mark.parametrize("fault", [Fault.EIO, Fault.ENOSPC])
def test_a_failing_call_leaves_nothing_half_written(fault: Fault) -> None:
    state = a_state()
    calls = a_disk()
    write_generation(calls, STORE, capture(state), HEAD, no_pause)
    start = a_disk().calls
    for number in range(start + 1, calls.calls + 1):
        disk = a_disk()
        disk.plan = fail_call(number, fault)
        with contextlib.suppress(StorageError, FileNotFoundError):
            write_generation(disk, STORE, capture(state), HEAD, no_pause)
        for name in list_generations(disk):
            restored(disk, name)


def test_it_pauses_between_slices() -> None:
    pauses: list[int] = []
    state = a_state(commands=800, avatars=99)

    write_generation(a_disk(), STORE, capture(state), HEAD, lambda: pauses.append(1))

    turns = sum(len(session.turns) for session in state.sessions())
    assert len(pauses) >= 2 * turns // 64


def test_a_device_that_gives_back_other_bytes_is_found_out() -> None:
    """The file is read back before it is named."""
    disk, state = a_disk(), a_state()
    number = 0

    def flip(call: int, operation: str, path: str) -> Fault | None:
        nonlocal number
        if operation == "drop_cache":
            number = call
            disk.damage(path, GENERATION_HEADER_BYTES + 50, b"\xff")
        return None

    disk.plan = flip

    with pytest.raises(CorruptData, match="other bytes"):
        write_generation(disk, STORE, capture(state), HEAD, no_pause)

    assert number > 0
    assert [path for path in disk.paths() if "generations" in path] == []


CHANGES: dict[str, tuple[Callable[[bytes], bytes], Reason]] = {
    "a byte less": (lambda data: data[:-1], Reason.QUARANTINED_TRUNCATED),
    "half a header": (lambda data: data[:100], Reason.QUARANTINED_TRUNCATED),
    "nothing": (lambda data: data[:0], Reason.QUARANTINED_TRUNCATED),
    "a byte more": (lambda data: data + b"x", Reason.QUARANTINED_CORRUPT),
    "zeros": (lambda data: bytes(len(data)), Reason.QUARANTINED_CORRUPT),
    "skeleton": (lambda data: data[:200] + b"\xaa" + data[201:], Reason.QUARANTINED_CORRUPT),
    "magic": (lambda data: b"\0" + data[1:], Reason.QUARANTINED_CORRUPT),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_damaged_file_is_refused_with_its_reason(name: str) -> None:
    change, reason = CHANGES[name]
    disk = a_disk()
    written = write_generation(disk, STORE, capture(a_state()), HEAD, no_pause)
    path = generation_path(written.name)
    disk.put(path, change(disk.content(path)))

    refused = load_generation(disk, written.name, STORE)

    assert isinstance(refused, Rejected)
    assert refused.reason is reason


def test_another_format_is_told_from_damage() -> None:
    disk = a_disk()
    written = write_generation(disk, STORE, capture(a_state()), HEAD, no_pause)
    header = encode_header(loaded(disk, written.name).header)
    newer = bytearray(header)
    newer[8] = 7
    newer[124:] = crc32c(bytes(newer[:124])).to_bytes(4, "little")

    with pytest.raises(UnsupportedFormat, match="format 7"):
        decode_header(bytes(newer))
    disk.damage(generation_path(written.name), 0, bytes(newer))
    refused = load_generation(disk, written.name, STORE)
    assert isinstance(refused, Rejected)
    assert refused.reason is Reason.QUARANTINED_UNSUPPORTED


def test_name_and_identity_must_agree() -> None:
    disk = a_disk()
    older = write_generation(disk, STORE, capture(a_state(30)), HEAD, no_pause)
    newer = write_generation(disk, STORE, capture(a_state(60)), HEAD, no_pause)
    disk.swap(generation_path(older.name), generation_path(newer.name))

    for name in (older.name, newer.name):
        refused = load_generation(disk, name, STORE)
        assert isinstance(refused, Rejected)
        assert refused.reason is Reason.QUARANTINED_INVALID
    assert isinstance(load_generation(disk, older.name, b"t" * 16), Rejected)


def test_a_header_is_read_as_it_was_written() -> None:
    disk = a_disk()
    written = write_generation(disk, STORE, capture(a_state()), HEAD, no_pause)
    header = loaded(disk, written.name).header

    assert decode_header(encode_header(header)) == header
    other = attrs.evolve(header, position=12345, skeleton_bytes=3, payload_bytes=1 << 40)
    assert decode_header(encode_header(other)) == other


# --- keeping ---------------------------------------------------------------------------------


def test_the_oldest_are_retired_and_two_verified_ones_stay() -> None:
    store = FileStore(SimDisk(1), History(1))
    sizes = [store.run(10).flush().size for _ in range(5)]
    names = list_generations(store.disk)

    room = Generations(store.disk, store.log.store_id, sum(sizes[-3:]))
    assert [one.name for one in room.retire()] == [names[4], names[3]]
    assert list_generations(store.disk) == names[:3]

    none = Generations(store.disk, store.log.store_id, 0)
    none.retire()
    assert list_generations(store.disk) == names[:2]


def test_a_damaged_one_does_not_count_as_kept() -> None:
    store = FileStore(SimDisk(1), History(1))
    for _ in range(4):
        store.run(10).flush()
    names = list_generations(store.disk)
    assert isinstance(store.disk, SimDisk)
    store.disk.damage(generation_path(names[0]), 300, b"\xff\xff")

    retired = Generations(store.disk, store.log.store_id, 0).retire()

    assert [one.name for one in retired] == [names[3], names[0]]
    assert list_generations(store.disk) == names[1:3]


def test_other_files_in_the_directory_are_passed_over() -> None:
    disk = a_disk()
    written = write_generation(disk, STORE, capture(a_state()), HEAD, no_pause)
    for name in ("notes.txt", "generation-1-0.cbor", "00000000000000000007.tmp"):
        disk.put(f"generations/{name}", b"?")

    assert list_generations(disk) == [written.name]


def test_however_small_no_more_than_so_many_are_kept() -> None:
    disk = SimDisk(1)
    store = FileStore(disk, History(2)).run(5)
    for _ in range(KEPT_MAX + 3):
        store.run(1).flush()
    names = list_generations(disk)

    retired = store.archive.retire()

    assert [one.name for one in retired] == names[: KEPT_MAX - 1 : -1]
    assert list_generations(disk) == names[:KEPT_MAX]
