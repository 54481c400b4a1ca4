"""Verify: it finds what is wrong, names it, and finds nothing where nothing is."""

from uuid import UUID

import pytest
from histories import History
from log.crash_rig import closed_store
from simulation.sim_disk import SimDisk
from stores import FileStore, no_pause

from turnfold.events.codec import decode_events, encode_events
from turnfold.events.errors import InvalidInput
from turnfold.events.evolve import fold
from turnfold.events.log.backend import FrameParts
from turnfold.events.log.checksum import crc32c
from turnfold.events.log.generation_file import generation_path, list_generations
from turnfold.events.log.generations import write_generation
from turnfold.events.log.scan import ScannedFrame, scan_segment
from turnfold.events.log.segment import list_segments, segment_path
from turnfold.events.log.traces import traces_of
from turnfold.events.log.verify import verify_disk
from turnfold.events.log.verify_report import SavedHead
from turnfold.events.snapshot import capture


def checks(disk: SimDisk, **options: object) -> set[str]:
    """Which checks find something. The summaries of a history are made up: redaction is apart."""
    report = verify_disk(disk, **options)  # type: ignore[arg-type]  # passed on
    return {finding.check for finding in report.findings} - {"redaction"}


def frames(disk: SimDisk, segment: int) -> tuple[str, list[ScannedFrame]]:
    path = segment_path(list_segments(disk)[segment])
    return path, [frame for frame in scan_segment(disk.open(path)) if frame.header.count]


def live_frame(store: FileStore) -> tuple[str, ScannedFrame]:
    """A frame whose only payload is a live turn, and its path."""
    live = {turn.commitment for session in store.state.sessions() for turn in session.turns}
    assert isinstance(store.disk, SimDisk)
    for segment in range(len(list_segments(store.disk))):
        path, found = frames(store.disk, segment)
        for frame in found:
            event = decode_events(frame.chained, frame.header.first, None)[-1]
            if frame.header.count == 1 and getattr(event, "commitment", b"") in live:
                return path, frame
    raise AssertionError("the history has no such turn")


def test_a_store_that_is_well_has_no_findings() -> None:
    disk, store = closed_store()

    report = verify_disk(disk)

    assert checks(disk) == set()
    assert report.events == len(store.history.events)
    assert report.generations == 3
    assert report.payloads >= report.erased_payloads > 0
    assert (report.from_position, report.head.position) == (1, store.state.position)


def test_it_changes_nothing() -> None:
    disk, _store = closed_store()
    before = {path: disk.content(path) for path in disk.paths()}

    verify_disk(disk)

    assert {path: disk.content(path) for path in disk.paths()} == before


@pytest.mark.parametrize("segment", [0, 1, 2])
def test_a_flipped_byte_names_its_segment(segment: int) -> None:
    disk, _store = closed_store()
    path, found = frames(disk, segment)
    middle = found[len(found) // 2]
    offset = middle.payload_offset - 10
    disk.damage(path, offset, bytes([disk.content(path)[offset] ^ 4]))

    report = verify_disk(disk)

    assert path in {finding.path for finding in report.findings}
    assert middle.header.first in {finding.position for finding in report.findings}


def test_a_chained_part_that_was_forged_with_its_checksum_breaks_the_chain() -> None:
    disk, _store = closed_store()
    path, found = frames(disk, 0)
    frame = found[2]
    chained = bytearray(frame.chained)
    chained[-1] ^= 1
    begin = frame.payload_offset - 4 - len(chained)
    disk.damage(path, begin, bytes(chained) + crc32c(bytes(chained)).to_bytes(4, "little"))

    assert "chain" in checks(disk)


def test_a_text_that_was_changed_with_its_checksum_fails_its_commitment() -> None:
    disk, store = closed_store()
    path, frame = live_frame(store)
    assert frame.payload is not None
    payload = bytearray(frame.payload)
    payload[-1] ^= 1
    checksum = crc32c(bytes(payload)).to_bytes(4, "little")
    disk.damage(path, frame.payload_offset, bytes(payload) + checksum)

    assert checks(disk) == {"payloads"}


def test_zeros_that_no_erasure_asked_for_are_found() -> None:
    disk, store = closed_store()
    path, frame = live_frame(store)
    disk.damage(path, frame.payload_offset, bytes(frame.header.payload_bytes))

    assert checks(disk) == {"erasure"}


def test_zeros_in_a_generation_that_no_erasure_asked_for_are_found() -> None:
    disk, _store = closed_store()
    path = generation_path(list_generations(disk)[0])
    size = len(disk.content(path))
    disk.damage(path, size - 20, bytes(20))

    assert checks(disk) & {"payloads", "erasure"}


def test_text_that_is_said_to_be_gone_and_is_not_is_found() -> None:
    disk, store = closed_store()
    before = {path: disk.content(path) for path in disk.paths()}
    store = FileStore(disk, store.history)
    store.erase()
    store.log.watermark(store.now)
    assert checks(disk) == set()

    for path in list(before):
        if path.startswith("log/") and disk.content(path) != before[path]:
            disk.put(path, before[path])

    assert checks(disk) == {"erasure"}


def test_text_left_in_a_generation_is_found() -> None:
    disk, store = closed_store()
    before = {path: disk.content(path) for path in disk.paths()}
    store = FileStore(disk, store.history)
    store.erase()
    store.log.watermark(store.now)

    for path in list(before):
        if path.startswith("generations/") and disk.content(path) != before[path]:
            disk.put(path, before[path])

    assert checks(disk) == {"erasure"}


def test_a_generation_of_another_state_is_found() -> None:
    disk, store = closed_store()
    other = fold(store.history.events)
    other.at += 1
    write_generation(
        disk, store.log.store_id, capture(other), verify_disk(disk).head.head, no_pause
    )

    assert "generations" in checks(disk)


def test_a_generation_with_another_head_is_found() -> None:
    disk, store = closed_store()
    state = fold(store.history.events)
    write_generation(disk, store.log.store_id, capture(state), b"?" * 32, no_pause)

    assert checks(disk) == {"generations"}


def test_a_saved_head_holds_for_ever_and_another_does_not() -> None:
    disk, store = closed_store()
    head = verify_disk(disk).head
    store = FileStore(disk, store.history).run(10)
    store.erase()
    store.close()

    assert checks(disk, head=head) == set()
    assert checks(disk, head=SavedHead(head.position, b"x" * 32)) == {"head"}
    assert checks(disk, head=SavedHead(9999, head.head)) == {"head"}
    assert SavedHead.parse(str(head)) == head
    with pytest.raises(InvalidInput):
        SavedHead.parse("12:abc")


def test_a_log_cut_between_two_frames_is_found_by_a_saved_head() -> None:
    disk, _store = closed_store()
    head = verify_disk(disk).head
    path, found = frames(disk, 2)
    disk.put(path, disk.content(path)[: found[-2].offset])

    assert "head" in checks(disk, head=head)


def test_a_sealed_segment_cut_between_two_frames_is_found() -> None:
    disk, _store = closed_store()
    path, found = frames(disk, 0)
    disk.put(path, disk.content(path)[: found[-3].offset])

    assert checks(disk) & {"frames", "chain"}


def test_an_unsynced_tail_is_no_finding() -> None:
    disk, store = closed_store()
    store = FileStore(disk, store.history)
    store.log.watermark(store.now)
    path = segment_path(list_segments(disk)[-1])
    disk.put(path, disk.content(path) + b"\xfd\xffhalf a frame")

    assert checks(disk) == set()


def test_live_text_that_redaction_would_change_is_found() -> None:
    disk = SimDisk(1)
    store = FileStore(disk, History(1))
    key = next(iter(History(2).run(3).live))
    secret = "password: " + "hunter2" + "hunter2"
    store.write(store.history.add(key, secret))
    store.log.watermark(store.now)

    findings = verify_disk(disk).findings

    assert [finding.check for finding in findings] == ["redaction"]
    assert not any(secret in str(finding) for finding in findings)


def test_nothing_is_left_of_an_avatar_only_after_its_erasure() -> None:
    disk = SimDisk(1)
    store = FileStore(disk, History(1))
    store.history.secret = store.log.secret
    store.run(40)
    store.flush()
    avatar = next(iter(store.history.live)).avatar
    store.log.watermark(store.now)
    assert "erased" in checks(disk, erased=avatar)

    for key in [key for key in store.history.live if key.avatar == avatar]:
        store.write(store.history.end(key))
    store.erase()
    store.archive.empty_quarantine()
    store.log.watermark(store.now)

    assert [f for f in verify_disk(disk, erased=avatar).findings if f.check != "redaction"] == []

    disk.create("log/copy.bak").close()  # made by somebody else: it may hold anything
    (found,) = [f for f in verify_disk(disk, erased=avatar).findings if f.check == "erased"]
    assert found.path == "log/copy.bak"


def test_the_null_key_is_not_seen_in_what_erasure_leaves() -> None:
    disk, _store = closed_store()
    assert list(traces_of(disk, UUID(int=0))) == []


def test_an_event_that_does_not_fit_the_state_is_found() -> None:
    disk, store = closed_store()
    store = FileStore(disk, store.history)
    twin = store.history.copy()
    events = twin.end(next(iter(twin.live)))
    for position in (events[0].position, events[0].position + 1):
        chained, payload = encode_events(events)
        store.log.append([FrameParts(position, 1, chained, payload)], expected=position - 1)
        store.log.sync()
    store.log.watermark(store.now)

    assert checks(disk) == {"state"}
