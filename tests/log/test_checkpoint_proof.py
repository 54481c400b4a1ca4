"""A saved checkpoint holds as long as no chained byte changed, and says where one did."""

import shutil
from pathlib import Path

import attrs
import pytest
from histories import History
from log.log_rewrite import (
    Frame,
    flip_chained,
    later_by_a_second,
    read_segment,
    rewrite,
    segments,
)
from stores import FileStore, no_pause, store_at

from turnfold.events.audit_note import Checkpoint
from turnfold.events.errors import ReplayError
from turnfold.events.event import LogTrimmed
from turnfold.events.log.checkpoint_proof import CheckpointProof, Verdict, checkpoint_of, prove
from turnfold.events.log.difference import compare_logs
from turnfold.events.log.export import export_log
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.replay import STORE_DIRECTORY
from turnfold.events.log.segment import list_segments
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture

SEGMENTS = 4
COMMANDS = 8  # in each segment, beside its opening


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Checkpoint]]:
    """A store of four segments, with a checkpoint made at the end of each."""
    path = tmp_path_factory.mktemp("proof")
    history = History(3)
    saved: list[Checkpoint] = []
    for _ in range(SEGMENTS):
        store = store_at(path / STORE_DIRECTORY, history).run(COMMANDS)
        store.close()
        saved.append(checkpoint_of(path))
    return path, saved


@pytest.fixture
def store(written: tuple[Path, list[Checkpoint]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(written[0], tmp_path / "store"))


@pytest.fixture
def saved(written: tuple[Path, list[Checkpoint]]) -> list[Checkpoint]:
    return written[1]


def proof_of(path: Path, checkpoint: Checkpoint) -> CheckpointProof:
    (proof,) = prove(path, [checkpoint])
    return proof


def frames_of(path: Path) -> list[Frame]:
    disk = PosixDisk(path / STORE_DIRECTORY)
    try:
        return [frame for base in list_segments(disk) for frame in read_segment(disk, base)[1]]
    finally:
        disk.close()


# --- what holds ----------------------------------------------------------------------------------


def test_a_log_that_went_on_extends_every_checkpoint_made_of_it(
    store: Path, saved: list[Checkpoint]
) -> None:
    proofs = prove(store, saved)

    assert [proof.verdict for proof in proofs] == [Verdict.EXTENDS] * SEGMENTS
    assert [proof.position for proof in proofs] == sorted({one.position for one in saved})


def test_a_head_holds_at_its_own_position_alone(store: Path) -> None:
    last = checkpoint_of(store)
    others = [frame.header.last for frame in frames_of(store) if frame.header.count][:-1]
    proofs = prove(store, [attrs.evolve(last, position=position) for position in others])

    assert len(others) > SEGMENTS * COMMANDS
    assert {proof.verdict for proof in proofs} == {Verdict.DIFFERS}


def test_erasure_changes_no_proof(tmp_path: Path) -> None:
    opened = store_at(tmp_path / STORE_DIRECTORY, History(5)).run(40)
    opened.log.watermark(opened.now)
    before = checkpoint_of(tmp_path)
    gone = len(opened.state.pending)
    opened.erase()
    opened.close()

    assert gone > 0
    assert proof_of(tmp_path, before).verdict is Verdict.EXTENDS


def test_what_is_not_durable_yet_is_in_no_checkpoint(tmp_path: Path) -> None:
    opened = store_at(tmp_path / STORE_DIRECTORY, History(5)).run(5)
    opened.log.watermark(opened.now)
    durable = opened.log.position
    opened.run(1, sync=False)

    assert checkpoint_of(tmp_path).position == durable
    opened.close()


# --- what doesn't --------------------------------------------------------------------------------


def test_every_flipped_byte_of_every_chained_part_is_named_by_its_position(
    store: Path, saved: list[Checkpoint]
) -> None:
    """As a disk would do it: the checksums tell the frame."""
    wrong: list[tuple[int, int, str]] = []
    for path in segments(store / STORE_DIRECTORY):
        whole = path.read_bytes()
        for frame in _frames_in(path):
            offset = whole.index(frame.chained)
            for index in range(0, len(frame.chained), 5):
                data = bytearray(whole)
                data[offset + index] ^= 1
                path.write_bytes(data)
                proof = proof_of(store, saved[-1])
                if proof.verdict is not Verdict.DIFFERS or proof.first != frame.header.first:
                    wrong.append((frame.header.first, index, proof.message))
        path.write_bytes(whole)

    assert not wrong, wrong[:3]


def _frames_in(path: Path) -> list[Frame]:
    disk = PosixDisk(path.parent.parent)
    try:
        frames = read_segment(disk, int(path.stem))[1]
    finally:
        disk.close()
    return [frame for frame in frames if frame.header.count]


@pytest.mark.parametrize("chain", [False, True])
def test_a_changed_byte_with_good_checksums_is_caught_wherever_it_is(
    store: Path, saved: list[Checkpoint], tmp_path: Path, chain: bool
) -> None:
    """Checksums made good, and the chain recomputed too: the checkpoint's head is not there."""
    export_log(store, tmp_path / "export")
    missed: list[tuple[int, int, str]] = []
    for number, frame in enumerate(one for one in frames_of(store) if one.header.count):
        copy = Path(shutil.copytree(store, tmp_path / f"copy-{number}"))
        index = len(frame.chained) - 1 - number % 16
        rewrite(copy / STORE_DIRECTORY, flip_chained(frame.header.first, index), chain=chain)
        proof = proof_of(copy, saved[-1])
        first, last = frame.header.first, frame.header.last
        if proof.verdict is not Verdict.DIFFERS or not (
            proof.first <= last and first <= proof.last
        ):
            missed.append((first, index, proof.message))
        shutil.rmtree(copy)

    assert not missed, missed[:3]


@pytest.mark.parametrize("position", [1, 7, 20, 33])
def test_rewritten_history_with_a_recomputed_chain_differs(
    store: Path, saved: list[Checkpoint], position: int
) -> None:
    """Every checksum, header and head is good; each checkpoint behind the change tells."""
    rewrite(store / STORE_DIRECTORY, later_by_a_second(position), chain=True)
    proofs = prove(store, saved)
    held = [one.position for one in saved if one.position < position]

    for proof in proofs:
        expected = Verdict.EXTENDS if proof.position < position else Verdict.DIFFERS
        assert proof.verdict is expected
    differs = [proof for proof in proofs if proof.verdict is Verdict.DIFFERS]
    assert differs[0].first == max(held, default=0) + 1
    assert differs[0].first <= position <= differs[0].last


@pytest.mark.parametrize("position", [1, 7, 20, 33])
def test_an_earlier_export_names_the_very_position(
    store: Path, tmp_path: Path, position: int
) -> None:
    export_log(store, tmp_path / "export")
    assert compare_logs(store, tmp_path / "export").is_equal
    first = next(f.header.first for f in frames_of(store) if f.header.last >= position)
    rewrite(store / STORE_DIRECTORY, later_by_a_second(position), chain=True)

    assert compare_logs(store, tmp_path / "export").differs_at == first


def test_without_a_recomputed_chain_the_segment_is_named(
    store: Path, saved: list[Checkpoint]
) -> None:
    bases = [int(path.stem) for path in segments(store / STORE_DIRECTORY)]
    changed = bases[1] + 3
    rewrite(store / STORE_DIRECTORY, later_by_a_second(changed), chain=False)
    proof = proof_of(store, saved[-1])

    assert proof.verdict is Verdict.DIFFERS
    assert (proof.first, proof.last) == (bases[1], bases[2] - 1)


@pytest.mark.parametrize("number", range(SEGMENTS))
def test_a_dropped_segment_is_named_by_its_first_position(
    store: Path, saved: list[Checkpoint], number: int
) -> None:
    path = segments(store / STORE_DIRECTORY)[number]
    path.unlink()
    proof = proof_of(store, saved[-1])

    assert proof.verdict is Verdict.DIFFERS
    assert proof.first == int(path.stem)


@pytest.mark.parametrize(("one", "other"), [(0, 1), (1, 2), (0, 3), (2, 3)])
def test_swapped_segments_are_named_by_the_first_position(
    store: Path, saved: list[Checkpoint], one: int, other: int
) -> None:
    paths = segments(store / STORE_DIRECTORY)
    first, second = paths[one].read_bytes(), paths[other].read_bytes()
    paths[one].write_bytes(second)
    paths[other].write_bytes(first)
    proof = proof_of(store, saved[-1])

    assert proof.verdict is Verdict.DIFFERS
    assert proof.first == int(paths[one].stem)


@pytest.mark.parametrize("number", range(SEGMENTS))
def test_a_segment_cut_between_any_two_frames_is_named_by_the_next_position(
    store: Path, saved: list[Checkpoint], number: int
) -> None:
    path = segments(store / STORE_DIRECTORY)[number]
    whole = path.read_bytes()
    wrong: list[str] = []
    for frame in _frames_in(path):
        path.write_bytes(whole[: whole.index(frame.chained) - 32])
        proof = proof_of(store, saved[-1])
        if proof.verdict is not Verdict.DIFFERS or proof.first != frame.header.first:
            wrong.append(proof.message)

    assert not wrong, wrong[:3]


def test_the_log_of_another_store_differs_from_the_first_position_on(
    store: Path, saved: list[Checkpoint]
) -> None:
    proof = proof_of(store, attrs.evolve(saved[0], store_id=bytes(16)))

    assert proof.verdict is Verdict.DIFFERS
    assert proof.first == 1


def test_an_empty_directory_extends_nothing(saved: list[Checkpoint], tmp_path: Path) -> None:
    (tmp_path / STORE_DIRECTORY / "log").mkdir(parents=True)

    assert proof_of(tmp_path, saved[0]).verdict is Verdict.DIFFERS
    with pytest.raises(ReplayError):
        checkpoint_of(tmp_path)


def test_no_checkpoint_is_made_of_a_broken_log(store: Path) -> None:
    segments(store / STORE_DIRECTORY)[1].unlink()

    with pytest.raises(ReplayError, match="verify"):
        checkpoint_of(store)


# --- trimming ------------------------------------------------------------------------------------


def trimmed(path: Path) -> tuple[list[Checkpoint], int]:
    """A store that said it drops its first two segments, and did; checkpoints of each segment."""
    history = History(4)
    saved: list[Checkpoint] = []
    for _ in range(SEGMENTS - 1):
        store_at(path / STORE_DIRECTORY, history).run(COMMANDS).close()
        saved.append(checkpoint_of(path))
    opened = store_at(path / STORE_DIRECTORY, history).run(COMMANDS)
    bases = [int(one.stem) for one in segments(path / STORE_DIRECTORY)]
    say_trimmed(opened, bases[2], saved[1].head)
    opened.close()
    saved.append(checkpoint_of(path))
    for one in segments(path / STORE_DIRECTORY)[:2]:
        one.unlink()
    return saved, bases[2]


def say_trimmed(opened: FileStore, first_kept: int, head: bytes) -> None:
    event = LogTrimmed(
        position=opened.state.position + 1,
        at=opened.now.at,
        age=opened.now.age,
        reason=Reason.TRIMMED_STORAGE_LIMIT,
        first_kept=first_kept,
        head=head,
    )
    opened.archive.write_generation(capture(opened.state), opened.log.head, no_pause)
    opened.write((event,))


def test_a_checkpoint_below_the_trim_point_is_unprovable(tmp_path: Path) -> None:
    saved, first_kept = trimmed(tmp_path)
    proofs = prove(tmp_path, saved)

    assert [proof.verdict for proof in proofs] == [
        Verdict.UNPROVABLE,
        Verdict.EXTENDS,  # its head is the one that the first segment left goes on from
        Verdict.EXTENDS,
        Verdict.EXTENDS,
    ]
    assert proofs[0].message.startswith("unprovable: trimmed")
    assert saved[1].position == first_kept - 1
    assert checkpoint_of(tmp_path).first_kept == first_kept


def test_more_is_missing_than_was_trimmed(tmp_path: Path) -> None:
    saved, first_kept = trimmed(tmp_path)
    segments(tmp_path / STORE_DIRECTORY)[0].unlink()

    for proof in prove(tmp_path, saved):
        assert proof.verdict is Verdict.DIFFERS
        assert proof.first == first_kept
