"""Erasure: every byte that must go goes, at any crash, on a full disk; the chain still holds."""

import contextlib
from pathlib import Path
from random import Random

import pytest
from histories import History
from log.crash_rig import closed_store
from simulation.sim_disk import SimDisk
from simulation.sim_faults import Fault, PowerCut, cut_call, fail_call
from stores import FileStore, no_pause, store_at, texts_below

from turnfold.events.errors import StorageError
from turnfold.events.log.replay import check_disk, replay_disk
from turnfold.events.log.segment import list_segments, segment_path
from turnfold.events.log.verify import verify_disk
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture, sealed_parts


def wrong(disk: SimDisk) -> list[str]:
    """What verify finds, the made-up summaries of a history aside."""
    findings = verify_disk(disk).findings
    return [finding.message for finding in findings if finding.check != "redaction"]


def left(disk: SimDisk, history: History) -> list[str]:
    return [text for text in history.gone if text and disk.holds(text.encode())]


def missing(store: FileStore) -> list[str]:
    kept = b"".join(part for _session, _position, part in sealed_parts(capture(store.state)))
    return [text for text in store.history.live_texts if text.encode() not in kept]


@pytest.mark.parametrize("seed", range(20))
def test_nothing_that_must_go_is_left_and_nothing_else_is_gone(seed: int) -> None:
    disk, random = SimDisk(seed), Random(seed)
    store = FileStore(disk, History(seed))
    for _ in range(4):
        store.run(random.randrange(5, 25))
        if random.random() < 0.7:
            store.flush()
        if random.random() < 0.5:
            store.close()
            store = FileStore(disk, store.history)

    store.erase()
    store.log.watermark(store.now)

    assert left(disk, store.history) == []
    assert missing(store) == []
    assert wrong(disk) == []
    assert replay_disk(disk).digest == store.digest
    assert all(one.matches for one in check_disk(disk))


def test_the_chain_and_every_past_digest_are_the_same_after_erasure() -> None:
    disk, store = closed_store()
    store = FileStore(disk, store.history)
    head = verify_disk(disk).head
    positions = range(5, store.state.position, 7)
    before = [replay_disk(disk, until=position).digest for position in positions]

    store.erase()

    assert [replay_disk(disk, until=position).digest for position in positions] == before
    assert not [one for one in verify_disk(disk, head=head).findings if one.check == "head"]


@pytest.mark.parametrize("after", [False, True])
def test_a_power_cut_at_each_call_leaves_an_erasure_that_the_next_opening_ends(
    after: bool,
) -> None:
    disk, store = closed_store()
    store = FileStore(disk, store.history)
    store.log.watermark(store.now)
    ready = disk.clone(1)
    pending = list(store.state.pending.values())
    assert pending
    first = disk.calls
    store.archive.erase(pending, no_pause)
    for number in range(1, disk.calls - first + 1):
        twin = ready.clone(number)
        twin.kill()
        again = FileStore(twin, store.history.copy())
        twin.plan = cut_call(twin.calls + number, after=after)
        try:
            again.archive.erase(list(again.state.pending.values()), no_pause)
        except PowerCut:
            twin.crash()
        opened = FileStore(twin, again.history)
        assert opened.report.reason is Reason.OPENED_CLEAN
        assert opened.report.findings == ()
        opened.erase()
        assert left(twin, opened.history) == []
        assert missing(opened) == []
        assert wrong(twin) == []


def test_an_erasure_that_fails_is_not_said_to_be_done_and_can_be_repeated() -> None:
    disk, store = closed_store()
    store = FileStore(disk, store.history)
    pending = list(store.state.pending.values())
    expected = store.archive.erase(pending, no_pause)
    first = disk.calls
    store.archive.erase(pending, no_pause)
    for number in range(1, disk.calls - first + 1):
        disk.plan = fail_call(disk.calls + number, Fault.EIO)
        with contextlib.suppress(StorageError, FileNotFoundError):
            store.archive.erase(pending, no_pause)
        assert store.archive.erase(pending, no_pause) == expected


def test_it_works_on_a_full_disk() -> None:
    disk, store = closed_store()
    store = FileStore(disk, store.history)
    disk.remove("reserve")
    disk.fill()

    store.archive.erase(list(store.state.pending.values()), no_pause)

    assert left(disk, store.history) == []


def test_a_reader_that_has_the_file_open_finds_zeros_too(tmp_path: Path) -> None:
    store = store_at(tmp_path).run(60)
    path = segment_path(list_segments(store.disk)[0])
    before = store.disk.open(path)

    store.erase()

    data = before.read(0, before.status().size)
    assert not [text for text in store.history.gone if text and text.encode() in data]


def test_a_raw_scan_of_a_real_directory_finds_no_piece_of_what_was_erased(tmp_path: Path) -> None:
    """Not even twelve bytes, unless another key's text holds them."""
    store = store_at(tmp_path).run(40)
    store.flush()
    store.run(40)
    store.flush()
    store.erase()
    remains = " ".join(store.history.live_texts).encode()

    found = texts_below(tmp_path)

    for text in store.history.gone:
        data = text.encode()
        pieces = {data[at : at + 12] for at in range(len(data) - 11)}
        assert not [piece for piece in pieces if piece in found and piece not in remains]


def test_damage_in_a_segment_is_zeroed_with_what_it_may_hold() -> None:
    """A frame that can't be read any more can't be asked whose text it holds."""
    disk, store = closed_store()
    history = store.history
    store = FileStore(disk, history)
    segment = segment_path(list_segments(disk)[0])
    content = disk.content(segment)
    victim = next(text for text in history.gone if text and text.encode() in content)
    disk.damage(segment, content.index(victim.encode()) - 60, b"\xff\x00\xff")

    store.erase()

    assert not disk.holds(victim.encode())


def test_it_pauses_between_slices() -> None:
    store = FileStore(SimDisk(1), History(2, avatars=3)).run(400)
    pauses: list[int] = []

    store.archive.erase(list(store.state.pending.values()), lambda: pauses.append(1))

    assert len(pauses) > len(store.history.frames) // 64


def test_nothing_pending_touches_no_file() -> None:
    disk, store = closed_store()
    calls = disk.calls

    assert store.archive.erase([], no_pause) == []
    assert disk.calls == calls
