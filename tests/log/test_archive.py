"""The archive: trimming whole segments below verified generations, and checkpoints."""

import pytest
from histories import History
from simulation.sim_disk import SimDisk
from simulation.sim_faults import PowerCut, cut_call
from stores import FileStore, no_pause

from turnfold.events.event import LogTrimmed
from turnfold.events.limits import Limits
from turnfold.events.log.archive import FileArchive
from turnfold.events.log.checkpoint import all_checkpoints, load_checkpoint, save_checkpoint
from turnfold.events.log.disk import Disk
from turnfold.events.log.generation_file import generation_path, list_generations
from turnfold.events.log.generations import Generations
from turnfold.events.log.quarantine import Quarantine
from turnfold.events.log.replay import replay_disk
from turnfold.events.log.segment import list_segments, read_segment_header, segment_path
from turnfold.events.log.verify import verify_disk
from turnfold.events.log.verify_report import SavedHead
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture


def several_segments(openings: int = 5) -> tuple[SimDisk, FileStore]:
    disk = SimDisk(6)
    store = FileStore(disk, History(6))
    for opening in range(openings):
        if opening:
            store = FileStore(disk, store.history)
        store.run(10)
        store.flush()
        if opening < openings - 1:
            store.close()
    return disk, store


def archive_of(store: FileStore, log_bytes_max: int, disk: Disk | None = None) -> FileArchive:
    """The store's archive with another limit, or on another disk."""
    limits, where = Limits(), disk or store.disk
    return FileArchive(
        where,
        Generations(where, store.log.store_id, limits.generation_bytes),
        Quarantine(where, limits.quarantine_bytes),
        log_bytes_max=log_bytes_max,
        durable=lambda: store.log.durable,
    )


def trim(store: FileStore, archive: FileArchive) -> int:
    """Record and drop what can go; how many segments that was."""
    trimmed = archive.trimmable()
    assert trimmed is not None
    event = LogTrimmed(
        position=store.state.position + 1,
        at=store.now.at,
        age=store.now.age,
        reason=Reason.TRIMMED_STORAGE_LIMIT,
        first_kept=trimmed.first_kept,
        head=trimmed.head,
    )
    store.history.adopt((event,))
    store.write((event,))
    archive.trim(trimmed, no_pause)
    return trimmed.segments


def test_a_log_within_its_limit_is_not_trimmed() -> None:
    _disk, store = several_segments()

    assert archive_of(store, 1 << 20).trimmable() is None


def test_only_segments_below_two_verified_generations_are_dropped() -> None:
    disk, store = several_segments()
    bases = list_segments(disk)
    reach = sorted(list_generations(disk))[-2]

    assert trim(store, archive_of(store, 1)) == 3

    assert list_segments(disk) == bases[3:]
    assert bases[3] - 1 <= int(reach.split("-")[1])
    store.log.watermark(store.now)
    assert replay_disk(disk).digest == store.digest
    assert {finding.check for finding in verify_disk(disk).findings} <= {"redaction"}
    store.close()
    again = FileStore(disk, store.history)
    assert again.report.reason is Reason.OPENED_CLEAN
    assert again.state.first_kept == bases[3]


def test_no_more_is_dropped_than_the_limit_asks_for() -> None:
    disk, store = several_segments()
    sizes = [len(disk.content(segment_path(base))) for base in list_segments(disk)]

    trimmed = archive_of(store, sum(sizes) - 1).trimmable()

    assert trimmed is not None
    assert (trimmed.segments, trimmed.size) == (1, sizes[0])


def test_without_two_generations_that_hold_nothing_is_dropped() -> None:
    disk, store = several_segments()
    for name in list_generations(disk)[1:]:
        disk.damage(generation_path(name), 200, b"\xff\xff")

    assert archive_of(store, 1).trimmable() is None


def test_the_chain_is_checked_from_the_head_that_trimming_recorded() -> None:
    disk, store = several_segments()
    head = verify_disk(disk).head

    trim(store, archive_of(store, 1))

    store.log.watermark(store.now)
    report = verify_disk(disk, head=head)
    assert report.from_position == store.state.first_kept
    assert not [finding for finding in report.findings if finding.check in {"head", "chain"}]


@pytest.mark.parametrize("after", [False, True])
def test_a_power_cut_while_trimming_leaves_a_store_that_opens(after: bool) -> None:
    disk, store = several_segments()
    archive = archive_of(store, 1)
    trimmed = archive.trimmable()
    assert trimmed is not None
    for number in range(1, 8):
        twin = disk.clone(number)
        beside = archive_of(store, 1, twin)
        twin.plan = cut_call(twin.calls + number, after=after)
        with pytest.raises(PowerCut):
            beside.trim(trimmed, no_pause)
        twin.crash(number)
        opened = FileStore(twin, store.history.copy())
        assert opened.recovered_digest == store.digest
        assert opened.report.sessions_lost is False


def test_a_generation_never_passes_what_is_durable() -> None:
    store = FileStore(SimDisk(1), History(1)).run(3, sync=False)

    with pytest.raises(ValueError, match="durable"):
        store.archive.write_generation(capture(store.state), store.log.head, no_pause)


def test_a_checkpoint_is_kept_and_never_passes_what_is_durable() -> None:
    store = FileStore(SimDisk(1), History(1)).run(5)
    tag = b"t" * 16

    assert store.archive.load_checkpoint(tag) is None
    store.archive.save_checkpoint(tag, 4)
    store.archive.save_checkpoint(tag, 5)

    assert store.archive.load_checkpoint(tag) == 5
    with pytest.raises(ValueError, match="durable"):
        store.archive.save_checkpoint(tag, 10_000)


@pytest.mark.parametrize("after", [False, True])
def test_a_power_cut_leaves_the_old_checkpoint_or_the_new_one(after: bool) -> None:
    tag = b"t" * 16
    for number in range(1, 8):
        disk = SimDisk(number)
        disk.make_directory("checkpoints")
        disk.sync_directory("")
        save_checkpoint(disk, tag, 4)
        disk.plan = cut_call(disk.calls + number, after=after)
        try:
            save_checkpoint(disk, tag, 5)
        except PowerCut:
            disk.crash(number)
        disk.kill()
        assert load_checkpoint(disk, tag) in {4, 5}
        assert set(all_checkpoints(disk)) <= {4, 5}


@pytest.mark.parametrize("data", [b"", b"x" * 20, b"x" * 21])
def test_a_damaged_checkpoint_is_none(data: bytes) -> None:
    disk = SimDisk(1)
    disk.put("checkpoints/" + "74" * 16, data)

    assert load_checkpoint(disk, b"t" * 16) is None
    assert list(all_checkpoints(disk)) == []


def test_a_saved_head_from_before_a_trim_is_told_as_unprovable() -> None:
    disk, store = several_segments()
    bases = list_segments(disk)
    before = [SavedHead(position, bytes(32)) for position in (1, bases[3] - 1)]
    trim(store, archive_of(store, 1))
    with_head = read_segment_header(disk.open(segment_path(bases[3])), bases[3]).previous_head

    told = [
        [one.message for one in verify_disk(disk, head=head).findings if one.check == "head"]
        for head in (*before, SavedHead(bases[3] - 1, with_head))
    ]

    assert told == [
        [f"unprovable: trimmed; the log begins at position {bases[3]}"],
        ["the chain is not the one whose head was saved"],
        [],
    ]
