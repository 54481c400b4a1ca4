"""Damage: what was durable and is gone is said, and nothing comes back because of it."""

import contextlib

import pytest
from histories import History
from log.crash_rig import closed_store
from simulation.sim_disk import SimDisk
from simulation.sim_faults import PowerCut, cut_call
from stores import FileStore, no_pause

from turnfold.events.errors import DamagedStore, StoreReadOnly
from turnfold.events.event import Gap, SessionLost, StoreOpened
from turnfold.events.log.checkpoint import save_checkpoint
from turnfold.events.log.reader import LogReader
from turnfold.events.log.scan import scan_segment
from turnfold.events.log.segment import list_segments, segment_path
from turnfold.events.log.verify import verify_disk
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture, sealed_parts


def damaged_store(*, tail: bool) -> tuple[SimDisk, History]:
    """A closed store with two generations, and one bit flipped behind them or between them."""
    disk, history = SimDisk(3), History(5)
    store = FileStore(disk, history).run(20)
    store.flush()
    middle = store.state.position
    store.run(10)
    if tail:
        store.flush()
    else:  # a crash came before the log said so: its head must be compared with the chain
        store.archive.write_generation(capture(store.state), store.log.head, no_pause)
    store.run(10).close()
    base = list_segments(disk)[-1]
    disk.flip(segment_path(base), 8 * offset_of(disk, middle + 2 if not tail else last_turn(disk)))
    return disk, history


def offset_of(disk: SimDisk, position: int) -> int:
    """Where in the newest segment the header of the frame at this position is."""
    file = disk.open(segment_path(list_segments(disk)[-1]))
    for frame in scan_segment(file):
        if frame.header.count and frame.header.last >= position:
            return frame.offset + 6  # in its header: an opening looks no closer at what is behind
    raise AssertionError(position)


def last_turn(disk: SimDisk) -> int:
    with_tail = LogReader(disk)
    return max(item.last for item in with_tail.read() if not isinstance(item, Gap)) - 3


def test_damage_behind_the_newest_generation_loses_every_session() -> None:
    disk, history = damaged_store(tail=True)
    live, records = len(history.live), len(history.records)

    store = FileStore(disk, history)

    opening = history.frames[-1]
    report = store.report
    assert report.reason is Reason.OPENED_DAMAGED
    assert isinstance(opening[0], StoreOpened)
    assert (opening[0].lost_first, opening[0].lost_last) == (report.lost_first, report.lost_last)
    assert opening[0].position == report.lost_last + 1
    assert live > 0
    assert records > 0
    assert store.state.active == 0
    assert store.state.records == {}, "what may have been deleted comes back no more"
    assert any(isinstance(event, SessionLost) for event in opening)


def test_text_of_lost_sessions_is_erased_like_that_of_ended_ones() -> None:
    disk, history = damaged_store(tail=True)
    texts = history.live_texts
    store = FileStore(disk, history)

    store.erase()
    store.archive.empty_quarantine()

    assert [text for text in texts if disk.holds(text.encode())] == []


def test_damage_before_the_newest_generation_loses_history_alone() -> None:
    disk, history = damaged_store(tail=False)
    texts = history.live_texts

    store = FileStore(disk, history)

    kept = b"".join(part for _session, _position, part in sealed_parts(capture(store.state)))
    assert store.report.reason is Reason.OPENED_DAMAGED
    assert not store.report.sessions_lost
    assert store.report.lost_first <= store.report.lost_last < store.state.position
    assert [text for text in texts if text.encode() not in kept] == []


def test_damage_before_a_generation_that_the_log_vouches_for_is_left_to_verify() -> None:
    """An opening is bounded by the generation and what is behind it."""
    disk, store = closed_store()
    path = segment_path(list_segments(disk)[-1])
    disk.damage(path, 300, b"\xff\x00\xff")

    opened = FileStore(disk, store.history)

    assert opened.report.reason is Reason.OPENED_CLEAN
    assert opened.recovered_digest == store.digest
    assert [finding.path for finding in verify_disk(disk).findings if finding.path] == [path]


def test_damage_is_told_once() -> None:
    for tail in (True, False):
        disk, history = damaged_store(tail=tail)
        FileStore(disk, history).run(5).close()

        again = FileStore(disk, history)

        assert again.report.reason is Reason.OPENED_CLEAN


def test_readers_get_a_gap_for_what_damage_took() -> None:
    disk, history = damaged_store(tail=True)
    report = FileStore(disk, history).report

    gaps = [item for item in LogReader(disk).read() if isinstance(item, Gap)]

    assert gaps == [Gap(report.lost_first, report.lost_last, Reason.OPENED_DAMAGED)]
    assert verify_disk(disk).gaps == tuple(gaps)


@pytest.mark.parametrize("tail", [True, False])
def test_damage_with_refuse_opens_read_only_and_touches_nothing(tail: bool) -> None:
    disk, history = damaged_store(tail=tail)
    before = {path: disk.content(path) for path in disk.paths()}

    store = FileStore(disk, history, on_damage="refuse")

    assert isinstance(store.opened.read_only, DamagedStore)
    assert {path: disk.content(path) for path in disk.paths()} == before
    assert (store.state.active == len(store.state.records) == 0) is tail, (
        "what may have been deleted is not shown"
    )
    with pytest.raises(StoreReadOnly):
        store.log.append([], expected=0)


@pytest.mark.parametrize("step", [499])
def test_each_flipped_bit_is_told_or_harmless(step: int) -> None:
    """Each bit in turn, `step` apart here: found by verify, or the content is what it was."""
    disk, history = SimDisk(3), History(5)
    FileStore(disk, history).run(25).close()
    store = FileStore(disk, history).run(12)
    store.flush()
    store.run(8)
    store.erase()
    store.close()
    content = list(sealed_parts(capture(store.state)))
    paths = [path for path in disk.paths() if path.startswith(("log/", "generations/"))]
    for path in paths:
        for bit in range(len(path), 8 * len(disk.content(path)), step):
            twin = disk.clone(bit)
            twin.flip(path, bit)
            found = not verify_disk(twin).ok
            opened = FileStore(twin, history.copy())
            told = opened.report.findings or opened.report.reason is Reason.OPENED_DAMAGED
            same = opened.recovered_digest == store.digest
            if not found or not told:
                assert same, (path, bit)
                assert list(sealed_parts(capture(opened.state))) == content, (path, bit)


@pytest.mark.parametrize("step", [127])
def test_each_truncation_is_told_or_ends_with_a_whole_frame(step: int) -> None:
    disk, history = SimDisk(3), History(5)
    store = FileStore(disk, history).run(25)
    store.flush()
    store.run(8).close()
    head = verify_disk(disk).head
    for path in (path for path in disk.paths() if path.startswith(("log/", "generations/"))):
        content = disk.content(path)
        for size in range(0, len(content), step):
            twin = disk.clone(size)
            twin.put(path, content[:size])
            intact = verify_disk(twin, head=head).ok
            opened = FileStore(twin, history.copy())
            same = opened.recovered_digest == store.digest
            told = opened.report.reason is not Reason.OPENED_CLEAN or opened.report.findings
            assert same or told, (path, size)
            assert same or not intact, (path, size)


# --- files that are missing, foreign or swapped ----------------------------------------------


def test_a_segment_missing_in_the_middle_is_found_by_verify_until_an_opening_has_told_it() -> None:
    disk, store = closed_store()
    bases = list_segments(disk)
    disk.remove(segment_path(bases[1]))
    assert "chain" in {finding.check for finding in verify_disk(disk).findings}

    opened = FileStore(disk, store.history)

    assert opened.recovered_digest == store.digest
    assert opened.report.reason is Reason.OPENED_DAMAGED
    assert (opened.report.lost_first, opened.report.lost_last) == (bases[1], bases[2] - 1)
    assert not {"chain", "state"} & {finding.check for finding in verify_disk(disk).findings}


@pytest.mark.parametrize("which", [0, 2])
def test_a_missing_segment_is_told_and_costs_no_live_text(which: int) -> None:
    disk, store = closed_store()
    disk.remove(segment_path(list_segments(disk)[which]))

    opened = FileStore(disk, store.history)

    assert opened.report.reason is Reason.OPENED_DAMAGED
    assert not opened.report.sessions_lost
    assert opened.state.active == store.state.active
    opened.run(5).close()
    assert FileStore(disk, opened.history).report.reason is Reason.OPENED_CLEAN


def test_an_empty_newest_segment_is_set_aside() -> None:
    disk, store = closed_store()
    base = store.state.position + 1
    disk.put(segment_path(base), b"")

    opened = FileStore(disk, store.history)

    assert opened.report.reason is Reason.OPENED_CLEAN
    assert opened.recovered_digest == store.digest
    assert [finding.what for finding in opened.report.findings] == ["segment"]


@pytest.mark.parametrize("kind", ["link", "directory", "other store's", "empty"])
def test_a_file_in_a_generation_s_place_is_set_aside_and_an_older_one_used(kind: str) -> None:
    disk, store = closed_store()
    newest = [path for path in disk.paths() if path.startswith("generations/")][-1]
    if kind == "link":
        disk.remove(newest)
        disk.put_link(newest)
    elif kind == "empty":
        disk.put(newest, b"")
    elif kind == "directory":
        disk.remove(newest)
        disk.put_directory(newest)
    else:
        other = SimDisk(9)
        theirs = FileStore(other, History(9)).run(12)
        theirs.flush()
        path = next(path for path in other.paths() if path.startswith("generations/"))
        disk.put(newest, other.content(path))

    opened = FileStore(disk, store.history)

    assert opened.recovered_digest == store.digest
    assert [finding.what for finding in opened.report.findings] == ["generation"]


def test_swapped_generations_are_both_set_aside() -> None:
    disk, store = closed_store()
    older, newer = [path for path in disk.paths() if path.startswith("generations/")][-2:]
    disk.swap(older, newer)

    opened = FileStore(disk, store.history)

    assert opened.recovered_digest == store.digest
    assert {finding.reason for finding in opened.report.findings} == {Reason.QUARANTINED_INVALID}


def test_a_generation_of_another_history_is_not_used() -> None:
    """A backup of the log was put back under newer generations, and went on differently."""
    disk, history = SimDisk(4), History(4)
    store = FileStore(disk, history).run(12)
    store.close()
    fork = disk.clone(1)
    other = FileStore(fork, history.copy())
    store = FileStore(disk, history).run(9)
    store.flush()
    store.run(3).close()
    other.history.diverge(99)
    other.run(30).close()
    for path in disk.paths():
        if path.startswith("generations/"):
            fork.put(path, disk.content(path))

    opened = FileStore(fork, other.history)

    assert opened.recovered_digest == other.digest
    assert [finding.reason for finding in opened.report.findings] == [Reason.QUARANTINED_INVALID]


def test_the_log_goes_on_behind_a_generation_and_a_checkpoint_that_are_ahead_of_it() -> None:
    disk, store = closed_store()
    newest = list_segments(disk)[-1]
    save_checkpoint(disk, b"n" * 16, 500)
    disk.remove(segment_path(newest))

    opened = FileStore(disk, store.history)

    assert opened.report.reason is Reason.OPENED_DAMAGED
    assert opened.report.lost_last == 500
    assert opened.history.frames[-1][0].position == 501


@pytest.mark.parametrize("after", [False, True])
def test_a_power_cut_at_each_call_of_a_recovery_changes_nothing(after: bool) -> None:
    disk, history = damaged_store(tail=True)
    expected = FileStore(disk.clone(1), history.copy()).recovered_digest
    calls = disk.clone(1)
    FileStore(calls, history.copy())
    for number in range(1, calls.calls + 1):
        twin = disk.clone(number)
        twin.plan = cut_call(number, after=after)
        with contextlib.suppress(PowerCut):
            FileStore(twin, history.copy())
        twin.crash()
        again = FileStore(twin, history.copy())
        if again.report.reason is Reason.OPENED_DAMAGED:
            assert again.recovered_digest == expected
        assert again.state.active == 0, "no session from before the damage may be live"
