"""Quarantine: bounded, short-lived, and its report outlives it."""

from hashlib import blake2b

import pytest
from simulation.sim_disk import SimDisk

from turnfold.events.log.quarantine import QUARANTINE_DIRECTORY, Finding, Quarantine
from turnfold.events.reasons import Reason

CORRUPT = Reason.QUARANTINED_CORRUPT


def a_disk() -> SimDisk:
    disk = SimDisk(1)
    for directory in (QUARANTINE_DIRECTORY, "log"):
        disk.make_directory(directory)
    disk.sync_directory("")
    return disk


def moved(disk: SimDisk, quarantine: Quarantine, data: bytes, name: str = "one") -> Finding:
    disk.put(f"log/{name}", data)
    return quarantine.move(f"log/{name}", CORRUPT, what="segment", around=7, message="it is bad")


def test_a_file_that_fits_is_kept_and_reported_by_size_and_digest() -> None:
    disk = a_disk()
    quarantine = Quarantine(disk, 1000)

    finding = moved(disk, quarantine, b"broken bytes")

    assert finding == Finding(
        CORRUPT,
        "segment",
        7,
        12,
        blake2b(b"broken bytes", digest_size=32).digest(),
        kept=True,
        message="it is bad",
    )
    assert [(file.size) for file in quarantine.files()] == [12]
    assert disk.paths() == [f"quarantine/corrupt-{7:020}-{finding.digest[:8].hex()}"]


def test_what_does_not_fit_is_removed_and_reported_all_the_same() -> None:
    disk = a_disk()
    quarantine = Quarantine(disk, 20)
    moved(disk, quarantine, b"first of fifteen")

    finding = moved(disk, quarantine, b"second one", name="two")

    assert not finding.kept
    assert finding.digest == blake2b(b"second one", digest_size=32).digest()
    assert sum(file.size for file in quarantine.files()) <= 20
    assert not disk.holds(b"second one")


def test_with_no_room_at_all_nothing_is_kept() -> None:
    disk = a_disk()

    assert not moved(disk, Quarantine(disk, 0), b"text").kept
    assert disk.paths() == []


@pytest.mark.parametrize("room", [100, 4])
def test_a_copy_leaves_the_file_as_it_is(room: int) -> None:
    disk = a_disk()
    disk.put("log/one", b"good part|torn part")
    file = disk.open("log/one")

    finding = Quarantine(disk, room).copy(file, 10, 19, around=3, message="torn")

    assert finding.size == 9
    assert finding.digest == blake2b(b"torn part", digest_size=32).digest()
    assert finding.kept == (room == 100)
    assert disk.content("log/one") == b"good part|torn part"


def test_a_copy_on_a_full_disk_is_reported_without_being_kept() -> None:
    disk = a_disk()
    disk.put("log/one", b"torn part" * 2000)
    disk.fill()

    finding = Quarantine(disk, 1 << 20).copy(disk.open("log/one"), 0, 18000, around=3, message="")

    assert (finding.size, finding.kept) == (18000, False)
    assert disk.paths() == ["log/one"]


def test_emptying_removes_every_byte_durably() -> None:
    disk = a_disk()
    quarantine = Quarantine(disk, 1000)
    moved(disk, quarantine, b"some text")
    moved(disk, quarantine, b"other text", name="two")
    disk.put_link("quarantine/link")

    assert quarantine.empty() == 3

    disk.crash()
    assert disk.paths() == []
    assert quarantine.empty() == 0


def test_a_directory_in_a_file_s_place_is_moved_away() -> None:
    disk = a_disk()
    disk.put_directory("log/one")

    finding = Quarantine(disk, 100).move(
        "log/one", CORRUPT, what="file", around=0, message="a directory"
    )

    assert (finding.size, finding.kept) == (0, False)
    assert "log/one" not in disk.names
