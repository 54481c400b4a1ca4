"""Deletion crashes at every step: what was deleted stays deleted, and its bytes go.

The power goes before and after each call of a deletion (and of a flush that erases), with several
outcomes of what was on its way. After the next opening the bytes of what had ended are looked for
in every file. Deletion also has to work on a full disk, beside background work, and to be complete:
segments, generations, quarantine, temporary files, session-state records.
"""

from random import Random
from typing import Final

import attrs
import pytest
from simulation.requests import Delete, Expire, Say
from simulation.rig import KEYS, Rig
from simulation.sim_clock import YEAR_NS
from simulation.sim_faults import PowerCut, cut_call, no_faults

from turnfold.events.commands import DeleteState, RecordState
from turnfold.events.reasons import Reason
from turnfold.events.receipts import DeletionReceipt
from turnfold.events.session_state import (
    OperatorApproval,
    SessionRuntimeProfile,
    SessionStateAnchor,
    SessionStateRecord,
    TaskProfile,
    TenantScope,
)

SHA: Final = "sha256:" + "ab" * 32
FATES: Final = 3  # outcomes looked at for each call


def talkative(*, seed: int = 9) -> Rig:
    """A closed store. The first key has text in an ended and a live session, compacted and not,
    in two segments and two generations."""
    rig = Rig(seed)
    random = Random(seed)
    for number in range(2):
        rig.open()
        for _ in range(9):
            rig.order(Say(KEYS[0], (rig.text(random),), (number,)))
        rig.order(Say(KEYS[1], (rig.text(random),), (0,)), Say(KEYS[2], (rig.text(random),), (0,)))
        if number == 0:
            rig.flush()
            rig.order(Expire(KEYS[0]))
            rig.order(Say(KEYS[0], (rig.text(random),), (0,)))
        rig.close()
    return rig


def delete(rig: Rig) -> None:
    (receipt,) = rig.order(Delete(KEYS[0]))
    assert isinstance(receipt, DeletionReceipt)


def flush(rig: Rig) -> None:
    rig.order(Expire(KEYS[0]))
    rig.flush()


def calls_of(origin: Rig, act: str) -> int:
    rig = origin.twin(0)
    rig.open()
    before = rig.disk.calls
    ACTS[act](rig)
    return rig.disk.calls - before


ACTS: Final = {"delete": delete, "flush": flush}


@pytest.mark.parametrize("act", ACTS)
def test_the_power_goes_at_any_step_and_the_next_opening_carries_it_on(act: str) -> None:
    origin = talkative()
    origin.disk.kill()
    began = 0
    for number in range(1, calls_of(origin, act) + 1):
        rig = origin.twin(number)
        rig.open()
        rig.disk.plan = cut_call(rig.disk.calls + number, after=number % 2 == 0)
        with pytest.raises(PowerCut):
            ACTS[act](rig)
        for fate in range(FATES):
            left = rig.twin(number * FATES + fate)
            left.disk.crash()
            left.open()
            left.check_recovery()  # what had ended has no bytes left
            began += KEYS[0] not in left.visible.talks
            delete(left)
            left.check()
            left.disk.crash()
            left.open()
            left.check()
    assert began > FATES


def test_deleting_again_and_again_is_harmless() -> None:
    rig = talkative()
    rig.open()
    delete(rig)
    position = rig.store.log.position
    for _ in range(3):
        delete(rig)
        assert rig.store.log.position == position, "nothing was left to delete"


def test_deletion_works_on_a_full_disk_and_the_bytes_go() -> None:
    rig = talkative()
    rig.open()
    rig.disk.fill()
    delete(rig)
    rig.order(Expire(KEYS[1]))
    rig.check()
    rig.disk.crash()
    rig.open()
    rig.check_recovery()


def with_quarantine() -> Rig:
    """A running store that found a torn frame with text of the first key."""
    rig = talkative()
    rig.open()
    rig.order(Say(KEYS[0], (rig.text(Random(1)),), (0,)))
    rig.disk.kill()
    (newest,) = [path for path in rig.disk.paths() if path.startswith("log/")][-1:]
    content = rig.disk.content(newest)
    rig.disk.put(newest, content[:-9])
    rig.open_damaged()
    assert rig.store.report.reason is Reason.OPENED_TORN_TAIL
    return rig


def test_quarantined_text_goes_with_a_deletion() -> None:
    rig = with_quarantine()
    assert [path for path in rig.disk.paths() if path.startswith("quarantine/")]
    delete(rig)
    assert not [path for path in rig.disk.paths() if path.startswith("quarantine/")]
    rig.check()


def test_a_deletion_that_was_cut_short_takes_the_quarantine_along_at_the_next_opening() -> None:
    rig = with_quarantine()
    rig.disk.kill()
    cut = 0
    for number in range(1, calls_of(rig, "delete") + 1):
        left = rig.twin(number)
        left.open()
        left.disk.plan = cut_call(left.disk.calls + number, after=True)
        with pytest.raises(PowerCut):
            delete(left)
        left.disk.kill()
        left.open()
        if KEYS[0] not in left.visible.talks:
            cut += 1
            assert not [path for path in left.disk.paths() if path.startswith("quarantine/")]
            left.check()
    assert cut


def test_temporary_files_of_an_earlier_process_hold_no_deleted_text() -> None:
    """A generation that was never finished lies there when the store is opened."""
    rig = talkative()
    rig.open()
    rig.order(Say(KEYS[0], (rig.text(Random(2)),), (0,)))
    rig.disk.plan = lambda _call, operation, path: None
    before = rig.disk.calls
    cut = None
    for number in range(1, 80):
        probe = rig.twin(number)
        probe.open()
        probe.order(Say(KEYS[0], (probe.text(Random(3)),), (0,)))
        probe.disk.plan = cut_call(probe.disk.calls + number, after=True)
        try:
            probe.flush()
        except PowerCut:
            probe.disk.kill()
            if any(path.endswith(".tmp") for path in probe.disk.paths()):
                cut = probe
                break
    assert cut is not None, f"no generation was on its way in {rig.disk.calls - before} calls"
    cut.open()
    delete(cut)
    cut.check()
    assert not any(path.endswith(".tmp") for path in cut.disk.paths())


def test_text_goes_only_after_its_ending_is_durable() -> None:
    """In durability "flush" an ending may be taken back by a crash, and its text must be there."""
    origin = Rig(2, sync_each_batch=False, erase_after_s=0)
    origin.open()
    random = Random(2)
    for key in (KEYS[1], KEYS[3]):
        origin.order(Say(key, (origin.text(random),), (0,)))
    origin.close()
    for number in range(1, 33):
        rig = origin.twin(number)
        rig.open()
        rig.order(Expire(KEYS[1]))
        rig.disk.plan = cut_call(rig.disk.calls + number, after=number % 2 == 0)
        try:
            rig.tick()
        except PowerCut:
            for fate in range(12):
                left = rig.twin(number * 100 + fate)
                left.disk.crash()
                left.open()
                left.check_recovery()
                left.check()


def test_turns_that_come_while_text_is_erased_are_kept() -> None:
    """Erasure runs beside the store: commands are decided in its pauses."""
    rig = talkative()
    rig.open()
    store = rig.store
    random = Random(4)
    added: list[str] = []

    def between() -> None:
        if len(added) < 5:
            text = rig.text(random)
            added.append(text)
            say = Say(KEYS[3], (text,), (0,))
            store.actor.on_receive(store.submit(say.request()))

    store.writer.between = between
    (receipt,) = store.ask(Delete(KEYS[0]).request())
    assert isinstance(receipt, DeletionReceipt)
    assert added
    store.writer.between = None
    rig.disk.crash()
    twin = rig.twin(1)
    model = twin.visible.copy()
    model.delete(KEYS[0])
    model.add(KEYS[3], added, rig.age, turn_id=None, session=None)
    model.talks[KEYS[3]].session_id = ""
    twin.possible = [model]
    twin.open()
    twin.check_recovery()
    twin.check()


def test_a_smaller_number_of_sessions_erases_what_is_evicted_at_opening() -> None:
    rig = talkative()
    limits = attrs.evolve(rig.settings.limits, active_sessions=1)
    rig.settings = attrs.evolve(rig.settings, limits=limits)
    rig.open()
    assert len(rig.visible.talks) == 1
    rig.flush()  # looks for the bytes of what has ended


def record(name: str, seen_ns: int) -> RecordState:
    """A write of the session-state record under one tag."""
    built = SessionStateRecord.build(
        state_id=name,
        scope=TenantScope("tenant", "workspace", "session"),
        profile=SessionRuntimeProfile(TaskProfile.CODING),
        memory_anchors=(SessionStateAnchor("memory_chain", "memory:1", SHA),),
        gene_anchors=(SessionStateAnchor("gene_chain", "gene:1", SHA),),
    )
    approval = OperatorApproval("operator", at=seen_ns, until=seen_ns + YEAR_NS)
    return RecordState(built, b"t" * 16, b"s" * 16, approval, seen_ns)


def test_session_state_records_go_when_replaced_and_when_deleted_at_any_crash() -> None:
    rig = talkative()
    rig.open()
    now = rig.clock.wall_ns()
    for name in ("first-record", "second-record"):
        (report,) = rig.store.ask(record(name, now))
        assert getattr(report, "applied", False), report
        rig.flush()
    assert not rig.disk.holds(b"first-record")
    assert rig.disk.holds(b"second-record")
    rig.close()
    for number in range(1, 60, 2):
        left = rig.twin(number)
        left.open()
        left.disk.plan = cut_call(left.disk.calls + number, after=number % 4 == 1)
        try:
            left.store.ask(DeleteState(b"t" * 16))
            left.flush()
        except PowerCut:
            left.disk.crash()
            left.open()
            assert not left.disk.holds(b"first-record")
        left.disk.plan = no_faults
        left.store.ask(DeleteState(b"t" * 16))
        left.flush()
        assert not left.disk.holds(b"second-record")
