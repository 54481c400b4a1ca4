"""Any sequence of everything, against the naive model: commands, time, crashes, damage, full disks.

Hypothesis looks for the shortest sequence after which a reply or a read isn't what the model says.
"""

from random import Random
from typing import Any

import attrs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from simulation.requests import Delete, Expire, Order, Say
from simulation.rig import KEYS, LIMITS, Rig
from simulation.sim_clock import DAY_NS, NS_PER_S, YEAR_NS
from simulation.sim_faults import Fault, PowerCut, cut_call, fail_call, no_faults

from turnfold.events.errors import DiskFull, NotWritten, TurnfoldError
from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt

keys = st.sampled_from(KEYS)
kinds = st.integers(0, 3)
seeds = st.integers(0, 2**16)
TTL_NS = 1800 * NS_PER_S


class StoreMachine(RuleBasedStateMachine):
    """One store; between `stop` and `start` no process has it open."""

    def __init__(self) -> None:
        super().__init__()
        self.rig = Rig(0)
        self.random = Random(0)

    @property
    def is_open(self) -> bool:
        """Whether a process has the store open and it takes commands."""
        return not self.rig.is_closed and not self.rig.store.failed

    @initialize(seed=seeds, commit=st.booleans())
    def first(self, seed: int, commit: bool) -> None:
        self.begin(seed, commit)

    def begin(self, seed: int, commit: bool) -> None:
        self.rig = Rig(seed, sync_each_batch=commit)
        self.random = Random(seed)
        self.rig.open()

    # --- commands ------------------------------------------------------------------------

    def say(self, key: str, kinds: list[int], turn_id: str | None = None, **options: Any) -> Say:
        texts = [self.rig.text(self.random) for _ in kinds]
        talk = self.rig.visible.talks.get(key)
        if talk is not None and turn_id in talk.ids and options.pop("again", False):
            texts[0] = talk.ids[turn_id]
        options.pop("again", None)
        return Say(key, tuple(texts), tuple(kinds), turn_id, **options)

    @precondition(lambda self: self.is_open)
    @rule(key=keys, kind=kinds)
    def add(self, key: str, kind: int) -> None:
        self.rig.order(self.say(key, [kind]))

    @precondition(lambda self: self.is_open)
    @rule(key=keys, number=st.integers(0, 3), again=st.booleans())
    def add_with_turn_id(self, key: str, number: int, again: bool) -> None:
        self.rig.order(self.say(key, [0], f"t{number}", again=again))

    @precondition(lambda self: self.is_open)
    @rule(key=keys, is_live=st.booleans())
    def add_to_session(self, key: str, is_live: bool) -> None:
        talk = self.rig.visible.talks.get(key)
        session = talk.session_id if talk and is_live and talk.session_id else "0" * 32
        self.rig.order(self.say(key, [1], session=session))

    @precondition(lambda self: self.is_open)
    @rule(key=keys, several=st.lists(kinds, min_size=2, max_size=8))
    def add_turns(self, key: str, several: list[int]) -> None:
        self.rig.order(self.say(key, several))

    @precondition(lambda self: self.is_open)
    @rule(key=keys)
    def expire(self, key: str) -> None:
        self.rig.order(Expire(key))

    @precondition(lambda self: self.is_open)
    @rule(key=keys)
    def delete(self, key: str) -> None:
        self.rig.order(Delete(key))

    @precondition(lambda self: self.is_open)
    @rule(chosen=st.lists(st.tuples(keys, st.integers(0, 5)), min_size=2, max_size=4))
    def batch(self, chosen: list[tuple[str, int]]) -> None:
        orders: list[Order] = []
        for key, kind in chosen:
            orders.append(
                Expire(key) if kind == 4 else Delete(key) if kind == 5 else self.say(key, [kind])
            )
        self.rig.order(*orders)

    @precondition(lambda self: self.is_open)
    @rule()
    def flush(self) -> None:
        self.rig.flush()

    @precondition(lambda self: self.is_open)
    @rule()
    def tick(self) -> None:
        self.rig.tick()

    # --- time ------------------------------------------------------------------------------

    @rule(ns=st.sampled_from([1, NS_PER_S, TTL_NS - 1, TTL_NS, DAY_NS]))
    def pass_time(self, ns: int) -> None:
        self.rig.clock.pass_time(ns)

    @rule(ns=st.sampled_from([-DAY_NS, 10 * YEAR_NS]))
    def jump(self, ns: int) -> None:
        self.rig.clock.jump(ns)

    # --- a full disk -----------------------------------------------------------------------

    @precondition(lambda self: self.is_open and not self.rig.disk.had_faults)
    @rule(key=keys, other=keys, room=st.integers(0, 3))
    def work_on_a_full_disk(self, key: str, other: str, room: int) -> None:
        """Turns may not fit; what frees space must work."""
        rig = self.rig
        rig.disk.fill(room * 4096)
        for _ in range(4):
            rig.order(self.say(key, [0, 1, 2]))
        assert isinstance(rig.order(Expire(key))[0], ExpiryReceipt)
        assert isinstance(rig.order(Delete(other))[0], DeletionReceipt)
        rig.check()
        rig.disk.empty()

    @precondition(lambda self: self.is_open)
    @rule()
    def start_again_on_a_full_disk(self) -> None:
        self.rig.disk.fill()
        self.stop()
        try:
            self.rig.open()
        except (DiskFull, NotWritten, TurnfoldError):
            self.rig.disk.empty()
            self.rig.disk.kill()
            self.rig.open()
        self.rig.disk.empty()
        self.rig.check_recovery()

    # --- failures -----------------------------------------------------------------------------

    @precondition(lambda self: self.is_open)
    @rule(key=keys, after=st.integers(1, 25), fault=st.sampled_from([Fault.EIO, Fault.ENOSPC]))
    def a_call_fails(self, key: str, after: int, fault: Fault) -> None:
        rig = self.rig
        rig.disk.plan = fail_call(rig.disk.calls + after, fault)
        rig.order(self.say(key, [0]))
        if self.is_open:
            rig.order(Delete(KEYS[0]))
        if self.is_open:
            rig.flush()
        rig.disk.plan = no_faults
        if rig.store.failed:
            self.stop()
            rig.open()
            rig.check_recovery()

    @precondition(lambda self: self.is_open)
    @rule(key=keys, after=st.integers(1, 40), seed=seeds)
    def the_power_goes(self, key: str, after: int, seed: int) -> None:
        rig = self.rig
        rig.disk.plan = cut_call(rig.disk.calls + after, after=seed % 2 == 0)
        try:
            rig.order(self.say(key, [0, 1]), Delete(KEYS[1]), self.say(KEYS[1], [0]))
            rig.flush()
            rig.order(self.say(key, [2]))
        except PowerCut:
            pass
        rig.is_closed = True
        rig.disk.crash(seed)
        rig.open()
        rig.check_recovery()

    @precondition(lambda self: self.is_open)
    @rule(seed=seeds)
    def the_power_goes_at_rest(self, seed: int) -> None:
        self.rig.disk.crash(seed)
        self.rig.open()
        self.rig.check_recovery()

    # --- ends and beginnings -------------------------------------------------------------------

    def stop(self) -> None:
        """The process ends without closing."""
        self.rig.is_closed = True
        self.rig.disk.kill()

    @precondition(lambda self: self.is_open)
    @rule()
    def close_and_open(self) -> None:
        assert self.rig.close() is None
        self.rig.open()
        self.rig.check_recovery()

    @precondition(lambda self: self.is_open)
    @rule(sessions=st.integers(1, 5), turns=st.integers(4, 9), commit=st.booleans())
    def open_with_other_settings(self, sessions: int, turns: int, commit: bool) -> None:
        assert self.rig.close() is None
        limits = attrs.evolve(LIMITS, active_sessions=sessions, turns_per_session=turns)
        self.rig.settings = attrs.evolve(self.rig.settings, limits=limits, sync_each_batch=commit)
        self.rig.open()

    @precondition(lambda self: self.is_open)
    @rule(number=st.integers(0, 2**20), is_cut=st.booleans())
    def damage(self, number: int, is_cut: bool) -> None:
        """One bit flips in some file, or it loses its end; opening says so or nothing is lost."""
        rig = self.rig
        assert rig.close() is None
        paths = [path for path in rig.disk.paths() if path.startswith(("log/", "generations/"))]
        path = paths[number % len(paths)]
        size = len(rig.disk.content(path))
        if size and is_cut:
            rig.disk.put(path, rig.disk.content(path)[: max(1, number % size)])
        elif size:
            rig.disk.flip(path, number % (8 * size))
        rig.open_damaged()
        findings = rig.store.report.findings
        if not rig.is_known or any(finding.what == "payload" for finding in findings):
            # A text that is damaged stays so, and is told at each opening: go on with another.
            self.begin(number % 2**16, rig.settings.sync_each_batch)

    # --- what always holds ------------------------------------------------------------------------

    @invariant()
    def reads_show_the_model(self) -> None:
        if not self.rig.is_closed and hasattr(self.rig, "store"):
            self.rig.check()


StoreMachine.TestCase.settings = settings(
    max_examples=settings().max_examples,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestStore = StoreMachine.TestCase
