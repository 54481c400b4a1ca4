"""Opening: whatever a crash or damage leaves, what is told is true and nothing is half there."""

from pathlib import Path

import pytest
from histories import History
from log.crash_rig import CrashRig, closed_store
from simulation.sim_disk import SimDisk
from simulation.sim_faults import Fault, fail_call
from stores import FileStore, store_at

from turnfold.events.errors import (
    StorageError,
    StorePathError,
    StoreReadOnly,
    StoreUnavailable,
    UnsupportedFormat,
)
from turnfold.events.limits import Limits
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.layout import KEY_PATH
from turnfold.events.log.segment import list_segments, segment_path
from turnfold.events.reasons import Reason

# --- crashes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("sync_each", [True, False], ids=["commit", "flush"])
@pytest.mark.parametrize("start", range(0, 120, 20))
def test_a_power_cut_at_any_call_loses_nothing_acknowledged(start: int, sync_each: bool) -> None:
    for seed in range(start, start + 20):
        rig = CrashRig(seed, sync_each=sync_each)
        for _ in range(5):
            rig.live(commands=20, calls=150)
        store = rig.open([one.copy() for one in rig.possible])
        assert rig.missing(store) == [], seed
        store.erase()
        store.archive.empty_quarantine()
        assert (rig.missing(store), rig.left(store)) == ([], []), seed


@pytest.mark.nightly
def test_a_hundred_thousand_power_cuts_lose_nothing_acknowledged() -> None:
    for seed in range(10_000):
        rig = CrashRig(seed, sync_each=seed % 2 == 0)
        for _ in range(10):
            rig.live(commands=20, calls=200)
        store = rig.open([one.copy() for one in rig.possible])
        store.erase()
        store.archive.empty_quarantine()
        assert (rig.missing(store), rig.left(store)) == ([], []), seed


@pytest.mark.parametrize("fault", [Fault.EIO, Fault.ENOSPC])
def test_a_failing_call_of_an_opening_leaves_a_store_that_opens(fault: Fault) -> None:
    disk, history = SimDisk(7), History(7)
    store = FileStore(disk, history).run(15)
    digest = store.digest
    disk.kill()
    calls = disk.clone(1)
    FileStore(calls, history.copy())
    for number in range(1, calls.calls + 1):
        twin = disk.clone(number)
        twin.plan = fail_call(number, fault)
        try:
            opened = FileStore(twin, history.copy())
            if opened.opened.read_only is None:
                history_now = opened.history
                opened.log.close()
            else:
                history_now = history.copy()
        except (StorageError, StoreUnavailable, FileNotFoundError):
            history_now = history.copy()
        twin.kill()
        again = FileStore(twin, history_now)
        assert again.report.reason in {Reason.OPENED_CLEAN, Reason.OPENED_TORN_TAIL}, number
        assert again.state.position >= history.position
        if again.state.position == history.position + 1:
            assert again.recovered_digest == digest


# --- refusals --------------------------------------------------------------------------------


def test_a_directory_that_is_no_store_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "novel.txt").write_text("chapter one")

    with pytest.raises(StorePathError, match="no store"):
        store_at(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["novel.txt"]


def test_a_newer_format_is_refused_untouched() -> None:
    disk, store = closed_store()
    path = segment_path(list_segments(disk)[-1])
    header = bytearray(disk.content(path)[:128])
    header[8] = 9
    header[124:] = crc32c(bytes(header[:124])).to_bytes(4, "little")
    disk.put(path, bytes(header) + disk.content(path)[128:])
    before = {path: disk.content(path) for path in disk.paths()}

    with pytest.raises(UnsupportedFormat, match="format 9"):
        FileStore(disk, store.history)

    assert {path: disk.content(path) for path in disk.paths()} == before


@pytest.mark.parametrize("content", [None, b"", b"k" * 32])
def test_a_lost_or_wrong_key_opens_read_only_and_touches_nothing(content: bytes | None) -> None:
    disk, store = closed_store()
    if content is None:
        disk.remove(KEY_PATH)
    else:
        disk.put(KEY_PATH, content)
    before = {path: disk.content(path) for path in disk.paths()}

    opened = FileStore(disk, store.history)

    assert isinstance(opened.opened.read_only, StoreReadOnly)
    assert opened.recovered_digest == store.digest
    assert {path: disk.content(path) for path in disk.paths()} == before


def test_a_full_disk_opens_read_only_and_later_writes_again() -> None:
    disk, store = closed_store()
    disk.remove("reserve")
    disk.fill()

    opened = FileStore(disk, store.history.copy())

    assert isinstance(opened.opened.read_only, StoreReadOnly)
    assert opened.recovered_digest == store.digest
    disk.empty()
    assert FileStore(disk, store.history).opened.read_only is None


def test_wider_modes_are_tightened_and_told(tmp_path: Path) -> None:
    store = store_at(tmp_path / "store").run(5)
    store.close()
    for path in (tmp_path / "store", tmp_path / "store" / "log", tmp_path / "store" / KEY_PATH):
        path.chmod(0o755)

    opened = store_at(tmp_path / "store", store.history)

    assert opened.report.tightened == 3
    assert not [path for path in (tmp_path / "store").rglob("*") if path.stat().st_mode & 0o077]


def test_what_the_clock_said_last_is_known_even_from_a_watermark() -> None:
    disk, store = closed_store()
    closed = store.now

    opened = FileStore(disk, store.history)

    assert opened.opened.last == closed


def test_an_opening_of_nothing_is_new_and_has_no_last_time() -> None:
    store = FileStore(SimDisk(1), History(1))

    assert (store.report.reason, store.opened.last) == (Reason.OPENED_NEW, None)


def test_a_torn_tail_is_kept_in_quarantine_and_named() -> None:
    disk, history = SimDisk(2), History(2)
    store = FileStore(disk, history).run(10)
    store.log.watermark(store.now)
    copy = history.copy()
    store.run(1)
    disk.kill()
    path = segment_path(list_segments(disk)[-1])
    disk.put(path, disk.content(path)[:-9])

    opened = FileStore(disk, [copy, history], limits=Limits())

    assert opened.report.reason is Reason.OPENED_TORN_TAIL
    assert opened.report.highest_seen == history.position if opened.history is copy else True
    assert [finding.kept for finding in opened.report.findings] == [True]
    assert opened.archive.empty_quarantine() == 1


# --- modes ---------------------------------------------------------------------------------------


class ModelessDisk(SimDisk):
    """A file system that accepts chmod and ignores it."""

    def set_mode(self, path: str, mode: int) -> None:
        """Nothing comes of it."""
        self._perform("set_mode", path)


@pytest.mark.parametrize("kind", [SimDisk, ModelessDisk])
def test_modes_that_are_still_too_wide_after_chmod_are_told_as_that(kind: type[SimDisk]) -> None:
    disk = kind(3)
    store = FileStore(disk, History(3)).run(5)
    store.close()
    for path in ("log", KEY_PATH):
        disk.names[path].mode = 0o777

    reports = [FileStore(disk, store.history).report for _ in range(2)]

    found = [(report.tightened, report.modes_verified) for report in reports]
    assert found == ([(2, True), (0, True)] if kind is SimDisk else [(0, False)] * 2)
    told = {event.reason for event in store.history.events[-6:]}
    assert (Reason.PERMISSIONS_UNSUPPORTED_PLATFORM in told) is (kind is ModelessDisk)
    assert (Reason.PERMISSIONS_TIGHTENED in told) is (kind is SimDisk)
