"""Generations that somebody swapped, copied or put a directory for, or that a writer retires."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from runtime.cli_run import turnfold
from runtime.fake_log import KEY, OTHER_KEY
from runtime.state_rig import every_byte, opened

from turnfold.events.context import PreviousEnd
from turnfold.events.keys import ConversationKey
from turnfold.events.log import generation_file
from turnfold.events.log.disk import Disk
from turnfold.events.log.frame import HEADER_BYTES
from turnfold.events.log.generation_file import (
    LoadedGeneration,
    Rejected,
    generation_path,
    list_generations,
    load_generation,
    restore_generation,
)
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.replay import check
from turnfold.events.log.scan import find_headers
from turnfold.events.turns import AvatarText

TEXT = "the heron stands in the reeds"


def generations(path: Path) -> list[Path]:
    return sorted((path / "conversations/generations").iterdir())


def three_generations(path: Path) -> list[Path]:
    """The middle one is the first that holds TEXT, said under OTHER_KEY."""
    with opened(path) as store:
        for key, text in ((KEY, "one"), (OTHER_KEY, TEXT), (KEY, "three")):
            store.add_turn(key, AvatarText(text))
            store.flush()
    return generations(path)


def swapped(files: list[Path]) -> None:
    first, second = files[0].read_bytes(), files[1].read_bytes()
    files[0].write_bytes(second)
    files[1].write_bytes(first)


def renamed(files: list[Path]) -> None:
    files[0].unlink()
    files[1].rename(files[0])


def copied(files: list[Path]) -> None:
    files[0].write_bytes(files[1].read_bytes())


def lengthened(files: list[Path]) -> None:
    files[0].write_bytes(files[0].read_bytes() + files[1].read_bytes())


@pytest.mark.parametrize("change", [swapped, renamed, copied, lengthened])
def test_a_deletion_reaches_text_in_generations_under_other_names(
    tmp_path: Path, change: object
) -> None:
    files = three_generations(tmp_path)
    assert callable(change)
    change(files)
    with opened(tmp_path) as store:
        store.delete(OTHER_KEY)
    assert TEXT.encode() not in every_byte(tmp_path)


@pytest.mark.parametrize("below", ["generations", "log"])
def test_a_directory_in_place_of_a_file_stops_no_deletion(tmp_path: Path, below: str) -> None:
    three_generations(tmp_path)
    file = sorted((tmp_path / "conversations" / below).iterdir())[0]
    file.unlink()
    file.mkdir()
    for _ in range(2):
        with opened(tmp_path) as store:
            store.add_turn(OTHER_KEY, AvatarText(TEXT))
            assert store.delete(OTHER_KEY).erased
            store.flush()
        assert TEXT.encode() not in every_byte(tmp_path)
    assert turnfold("quarantine", "purge", "--store", tmp_path).code == 0


def test_generations_before_the_start_of_the_log_are_no_mismatch(tmp_path: Path) -> None:
    three_generations(tmp_path)
    with opened(tmp_path) as store:
        store.add_turn(KEY, AvatarText("four"))
        store.flush()
    sorted((tmp_path / "conversations/log").iterdir())[0].unlink()
    with opened(tmp_path) as store:
        store.flush()
    checks = check(tmp_path)
    assert {one.matches for one in checks[:3]} == {None}
    assert turnfold("replay", "--check", "--store", tmp_path).code == 0


def test_a_store_recovered_from_a_generation_among_lost_positions_verifies(tmp_path: Path) -> None:
    keys = [ConversationKey(f"{number + 1:032x}", "public_chat") for number in range(4)]
    with opened(tmp_path) as store:
        store.add_turn(keys[0], AvatarText("one"))
    with opened(tmp_path) as store:
        store.add_turn(keys[1], AvatarText("two"))
        store.flush()
        store.add_turn(keys[2], AvatarText("three"))
    with opened(tmp_path) as store:
        store.add_turn(keys[3], AvatarText("four"))
    damaged = sorted((tmp_path / "conversations/log").iterdir())[1]
    damaged.write_bytes(damaged.read_bytes()[:200])
    for newer in generations(tmp_path)[2:]:
        newer.unlink()
    with opened(tmp_path) as store:
        assert store.context(keys[1]).previous_ended == PreviousEnd.LOST
        store.add_turn(keys[1], AvatarText("five"))
    for command in (["verify"], ["doctor"], ["replay"], ["replay", "--check"]):
        done = turnfold(*command, "--store", tmp_path)
        assert done.code == 0, done.out


def test_what_was_added_after_such_a_recovery_outlives_the_generations(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add_turn(KEY, AvatarText("one"))
    with opened(tmp_path) as store:
        store.add_turn(OTHER_KEY, AvatarText("two"))
        store.flush()
        store.add_turn(OTHER_KEY, AvatarText("three"))
    with opened(tmp_path) as store:
        store.flush()
    damaged = sorted((tmp_path / "conversations/log").iterdir())[1]
    damaged.write_bytes(damaged.read_bytes()[:200])
    for newer in generations(tmp_path)[2:]:
        newer.unlink()
    with opened(tmp_path) as store:
        store.add_turn(KEY, AvatarText("said after the recovery"))
    for generation in generations(tmp_path):
        generation.unlink()
    with opened(tmp_path) as store:
        assert store.context(KEY).messages[-1].content == "said after the recovery"
    assert turnfold("verify", "--store", tmp_path).code == 0


def in_one_batch(path: Path) -> tuple[Path, int] | None:
    """A segment, and where in it a frame begins whose next frame was written with it."""
    disk = PosixDisk(path / "conversations")
    try:
        (name,) = disk.list("log")
        file = disk.open(f"log/{name}")
        frames = [found for found in find_headers(file, 0) if found[1].count]
        file.close()
    finally:
        disk.close()
    for (offset, header), (_, following) in pairwise(frames):
        if following.synced_through < header.first:
            return path / "conversations/log" / name, offset
    return None


def test_a_deletion_gets_over_damage_inside_a_batch(tmp_path: Path) -> None:
    # Frames of one batch don't say that those before them are durable; their positions do.
    keys = [ConversationKey(f"{number + 1:032x}", "public_chat") for number in range(16)]

    with opened(tmp_path) as store, ThreadPoolExecutor(len(keys)) as pool:

        def speak(key: ConversationKey) -> None:
            store.add_turn(key, AvatarText("words"))

        while in_one_batch(tmp_path) is None:
            list(pool.map(speak, keys))
        store.add_turn(OTHER_KEY, AvatarText(TEXT))
        found = in_one_batch(tmp_path)
        assert found is not None
        segment, offset = found
        with segment.open("r+b") as file:
            file.seek(offset + HEADER_BYTES + 5)
            (byte,) = file.read(1)
            file.seek(offset + HEADER_BYTES + 5)
            file.write(bytes([byte ^ 1]))
        store.delete(OTHER_KEY)
        assert TEXT.encode() not in every_byte(tmp_path)


def test_a_generation_that_is_retired_while_it_is_read_is_gone_and_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_generations(tmp_path)
    shutil.copytree(tmp_path, tmp_path / "copy")
    disk = PosixDisk(tmp_path / "copy/conversations")
    loaded = load_generation(disk, list_generations(disk)[-1], None)
    assert isinstance(loaded, LoadedGeneration)
    disk.unlink(generation_path(loaded.name))
    for rejected in (
        restore_generation(disk, loaded),
        load_generation(disk, loaded.name, None),
    ):
        assert isinstance(rejected, Rejected)
        assert rejected.gone
    disk.close()

    oldest = generations(tmp_path)[0].name

    def retired_behind_me(
        disk: Disk, name: str, store_id: bytes | None
    ) -> LoadedGeneration | Rejected:
        found = load_generation(disk, name, store_id)
        if name == oldest and not isinstance(found, Rejected):
            disk.unlink(generation_path(name))
        return found

    monkeypatch.setattr(generation_file, "load_generation", retired_behind_me)
    done = turnfold("verify", "--store", tmp_path)
    assert done.code == 0, done.out
    assert len(generations(tmp_path)) < 3
