"""A simulated store and the naive model beside it: every reply is held against what is there.

`possible` are the states that the disk may hold, oldest first: a reply that said "durable" leaves
one, one that said "unknown" adds one. `visible` is the state that reads must show.
"""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, cast

from simulation.model import Model
from simulation.requests import Delete, Expire, Order, Say, key_of
from simulation.sim_clock import SimClock
from simulation.sim_disk import SimDisk
from simulation.sim_faults import PowerCut
from simulation.sim_store import Request, Settings, SimEntropy, SimStore

from turnfold.actors.messages import Flush, Flushed, Sync, Synced
from turnfold.actors.reply import Outcome
from turnfold.events.codec import decode_events
from turnfold.events.errors import (
    CommandRefused,
    NotWritten,
    SessionEnded,
    TurnfoldError,
    TurnIdConflict,
)
from turnfold.events.event import Event, Gap
from turnfold.events.evolve import fold
from turnfold.events.limits import Limits
from turnfold.events.reasons import Reason
from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt, Receipt
from turnfold.events.snapshot import capture, state_digest

CHANNELS: Final = ("public_chat", "direct_im")
KEYS: Final = tuple(
    f"00000000-0000-0000-0000-{number:012} {channel}"
    for number in range(1, 4)
    for channel in CHANNELS
)
LIMITS: Final = Limits(
    active_sessions=3,
    turns_per_session=6,
    bytes_per_session=8192,
    aggregate_bytes=65_536,  # never reached: the model counts sessions, not bytes
    turn_bytes=512,
    tool_turns_per_session=2,
    tool_turn_bytes=256,
    summary_bytes=1024,
    generation_bytes=1 << 20,
    state_bytes=65_536,
    log_bytes=1 << 20,
    quarantine_bytes=1 << 20,
)
_TOKEN: Final = re.compile(r"tok\d{7}x")
_TOKEN_BYTES: Final = re.compile(rb"tok\d{7}x")
CLEAN: Final = (Reason.OPENED_NEW, Reason.OPENED_CLEAN, Reason.OPENED_TORN_TAIL)


class Rig:
    """One store through crashes and reopenings. Raises AssertionError where it lies."""

    def __init__(self, seed: int, *, limits: Limits = LIMITS, **settings: Any) -> None:
        self.seed = seed
        self.disk = SimDisk(seed)
        self.clock = SimClock()
        self.entropy = SimEntropy(seed)
        self.settings = Settings(limits=limits, **settings)
        self.visible = Model(limits.active_sessions)
        self.possible: list[Model] = [self.visible]
        self.history: list[Model] = [self.visible]  # after each command
        self.age = 0  # of the store, when it was last looked at
        self.recorded = 0  # the age of a durable event
        self.said = 0
        self.store: SimStore
        self.is_closed = True
        self.is_known = True  # whether the model is believed to be what is there

    def twin(self, seed: int) -> "Rig":
        """The same at this moment, as if the process had ended here; to be opened."""
        other = Rig.__new__(Rig)
        other.seed = seed
        other.disk = self.disk.clone(seed)
        other.clock = self.clock
        other.entropy = SimEntropy(seed)
        other.settings = self.settings
        other.visible = self.visible
        other.possible = list(self.possible)
        other.history = list(self.history)
        other.age = self.age
        other.recorded = self.recorded
        other.said = self.said + 1_000_000
        other.is_closed = True
        other.is_known = True
        return other

    # --- opening and closing ---------------------------------------------------------------

    def open(self) -> None:
        """Open, and find one of the states that the disk may hold. Raises PowerCut."""
        store = SimStore(self.disk, self.clock, self.settings, self.entropy)
        if store.recovered.read_only is not None:
            raise store.recovered.read_only
        if isinstance(store.opened, TurnfoldError):
            raise store.opened
        self.store, self.is_closed = store, False
        assert self.recorded <= store.age, "the age fell"
        self.age = store.age
        self._find()

    def _find(self) -> None:
        """Take the newest possible state that the store shows."""
        misses = self._try_to_find()
        assert misses is None, f"the store shows none of these states: {misses}"

    def _try_to_find(self) -> list[str] | None:
        sessions_max = self.settings.limits.active_sessions
        misses: list[str] = []
        for candidate in reversed(self.possible):
            model = candidate.copy()
            model.settle(self.age)
            model.lower(sessions_max, self.age)
            miss = self._miss(model)
            if miss is None:
                if self.possible is not self.history:
                    self.history += self.possible  # of a batch that nobody was told about, too
                self.visible = model
                self.possible = [model]
                return None
            misses.append(miss)
        return misses

    def open_damaged(self) -> bool:
        """Open after damage: losses are told, nothing that ended comes back, nothing is mixed up.

        A torn tail is a state that there was. Whether the state is the one before the damage.
        """
        self.store = SimStore(self.disk, self.clock, self.settings, self.entropy)
        self.is_closed = False
        assert self.store.opened is None, self.store.opened
        self.age = self.store.age
        report = self.store.report
        miss = self._try_to_find()
        if miss is None:
            return True
        assert report.reason not in CLEAN[:2] or report.findings, (miss, report)
        if report.reason is not Reason.OPENED_TORN_TAIL:
            self._accept_losses()
        else:
            self.possible = self.history
            if self._try_to_find() is not None:
                self._check_only_texts_of_before()
                self.is_known = False
        return False

    def _check_only_texts_of_before(self) -> None:
        """A session whose ending was cut off may be there, without the text that was erased."""
        erased = set(self.visible.deleted)
        for key in KEYS:
            context = self.store.context(key_of(key))
            shown = set(_TOKEN.findall(" ".join(message.content for message in context.messages)))
            said = {
                text.split(" ", 1)[0]
                for model in self.history
                if key in model.talks
                for text in model.talks[key].said
                if text not in erased
            }
            assert shown <= said, "damage brought deleted text back, or mixed something up"

    def _accept_losses(self) -> None:
        """What is shown is a part of what was said in the session that was live, or nothing."""
        model = self.visible.copy()
        model.settle(self.age)
        model.lower(self.settings.limits.active_sessions, self.age)
        for key in KEYS:
            if self._miss_of(key, model) is None:
                continue
            context = self.store.context(key_of(key))
            shown = set(_TOKEN.findall(" ".join(message.content for message in context.messages)))
            live = model.talks.get(key)
            said = set(_TOKEN.findall(" ".join(live.said))) if live else set[str]()
            assert shown <= said, "damage brought something back, or mixed something up"
            self._take_over(key, model)
        self.visible = model
        self.possible = [model]

    def _take_over(self, key: str, model: Model) -> None:
        """Believe the store about a key whose past was damaged."""
        context = self.store.context(key_of(key))
        if context.session_id is None:
            model.lose(key)
            model.ended.pop(key, None)
            if context.previous_ended is not None:
                model.ended[key] = context.previous_ended
            return
        assert key in model.talks, f"a session came back: {self.store.report}"
        talk = model.talks[key]
        talk.session_id = context.session_id
        talk.previous = context.previous_ended
        del talk.said[: len(talk.said) - self.store.turn_count(key_of(key))]

    def close(self) -> Outcome:
        """Close in order; the process ends."""
        self.is_closed = True
        failed = self.store.failed
        outcome = self.store.close()
        if outcome is None and not failed:
            self.possible = [self.visible]
        self.disk.kill()
        return outcome

    # --- commands ------------------------------------------------------------------------------

    def text(self, random: Random) -> str:
        """A text that no other contains."""
        self.said += 1
        words = " ".join(random.choices(("wave", "prim", "landing", "región", "日本"), k=3))
        return f"tok{self.said:07}x {words}" + " and so on" * random.choice((0, 0, 1, 12))

    def order(self, *orders: Order) -> list[Outcome]:
        """Have these carried out in one batch and judge the replies. Raises PowerCut."""
        requests: list[Request] = [one.request() for one in orders]
        self.age = self.store.age
        if self.store.failed:
            outcomes = self.store.ask(*requests)
            assert all(isinstance(outcome, TurnfoldError) for outcome in outcomes)
            return outcomes
        self.possible += self._prefixes(orders, self.visible.copy())
        outcomes = self.store.ask(*requests)  # a power cut leaves all of them possible
        del self.possible[len(self.possible) - len(orders) :]
        failed = [
            one
            for one, outcome in zip(orders, outcomes, strict=True)
            if isinstance(one, Delete) and isinstance(outcome, TurnfoldError)
        ]
        try:
            self._judge_all(orders, outcomes, frozenset())
        except AssertionError:
            if not failed:
                raise
            # Perhaps it was recorded, and only its erasure failed.
            self._judge_all(orders, outcomes, frozenset(failed))
        return outcomes

    def _judge_all(
        self, orders: Sequence[Order], outcomes: Sequence[Outcome], recorded: frozenset[Order]
    ) -> None:
        """Hold the replies against the model, deletions in `recorded` done whatever they say."""
        after, possible = self.visible.copy(), self.possible
        accepted: list[Model] = []
        unknown: list[Order] = []
        durable = self.settings.sync_each_batch
        for one, outcome in zip(orders, outcomes, strict=True):
            if not isinstance(outcome, TurnfoldError):
                self._judge(one, outcome, after)
                durable = durable or isinstance(outcome, DeletionReceipt)
            else:
                self._judge_error(one, outcome, after)
                if one in recorded:
                    after.delete(one.key, is_erased=False)
                elif not isinstance(outcome, (CommandRefused, NotWritten)):
                    unknown.append(one)
                    continue
            accepted.append(after.copy())
        possible = [after] if durable else [*possible, *accepted]
        miss = self._miss(after)
        assert miss is None, miss
        for one, outcome in zip(orders[-1:], outcomes[-1:], strict=True):
            if isinstance(one, Say) and isinstance(outcome, tuple) and not one.turn_id:
                shown = self.store.context(key_of(one.key)).messages[-1].content
                assert one.texts[-1] in shown, "the newest turn isn't shown as the newest"
        self.visible = after
        self.history += accepted
        self.possible = possible + self._prefixes(unknown, after.copy())
        if durable and any(isinstance(outcome, tuple) for outcome in outcomes):
            self.recorded = self.age
        if any(isinstance(outcome, DeletionReceipt) for outcome in outcomes):
            self._check_deleted()

    def _prefixes(self, orders: Sequence[Order], model: Model) -> list[Model]:
        prefixes: list[Model] = []
        for one in orders:
            self._apply(one, model)
            prefixes.append(model.copy())
        return prefixes

    def _apply(self, one: Order, model: Model, *, is_acknowledged: bool = False) -> object:
        if isinstance(one, Say):
            texts = list(one.texts)
            return model.add(one.key, texts, self.age, turn_id=one.turn_id, session=one.session)
        if isinstance(one, Expire):
            return model.expire(one.key, self.age)
        model.delete(one.key, is_erased=is_acknowledged)
        return None

    def _judge(self, one: Order, outcome: Outcome, model: Model) -> None:
        """A reply that says it was done."""
        expected = self._apply(one, model, is_acknowledged=True)
        if isinstance(one, Say):
            assert isinstance(outcome, tuple), (one, outcome)
            receipts = cast("tuple[Receipt, ...]", outcome)
            assert expected == ("duplicate" if receipts[0].duplicate else "added")
            talk = model.talks[one.key]
            assert talk.session_id in ("", receipts[0].session_id)
            talk.session_id = receipts[0].session_id
        elif isinstance(one, Expire):
            assert isinstance(outcome, ExpiryReceipt), (one, outcome)
            assert outcome.expired or not expected
        else:
            assert isinstance(outcome, DeletionReceipt), (one, outcome)

    def _judge_error(self, one: Order, error: TurnfoldError, model: Model) -> None:
        """A reply that says it was not done, or that it isn't known."""
        if isinstance(error, CommandRefused):
            assert isinstance(error, (TurnIdConflict, SessionEnded)), error
            why = "conflict" if isinstance(error, TurnIdConflict) else "ended"
            assert self._apply(one, model.copy()) == why
        else:
            assert self.store.failed or self.disk.had_faults, error

    def sync(self) -> Outcome:
        """Make everything durable. Raises PowerCut."""
        (outcome,) = self.store.ask(Sync())
        if isinstance(outcome, Synced):
            self.possible = [self.visible]
        return outcome

    def flush(self, between: Callable[[], None] | None = None) -> Outcome:
        """Sync, erase what is due, write a generation. Raises PowerCut.

        `between` is called in the pauses of that work; it may give orders, but no deletion.
        """
        self.age = self.store.age
        ended = self._ended() - self._live()
        self.store.writer.between = between
        (outcome,) = self.store.ask(Flush())
        self.store.writer.between = None
        if isinstance(outcome, Flushed):
            self.possible = [self.visible]
            self._check_gone(ended, quarantine=False)
        return outcome

    def tick(self) -> None:
        """Time to look after things. Raises PowerCut."""
        self.age = self.store.age
        self.store.tick()

    # --- looking --------------------------------------------------------------------------

    def check(self) -> None:
        """Reads show the visible state, and nothing deleted is left anywhere."""
        self.age = self.store.age
        miss = self._miss(self.visible)
        assert miss is None, miss
        self._check_deleted()

    def _miss(self, model: Model) -> str | None:
        """In what the store differs from a state, None if in nothing."""
        for key in KEYS:
            miss = self._miss_of(key, model)
            if miss is not None:
                return f"{key}: {miss}"
        return None

    def _miss_of(self, name: str, model: Model) -> str | None:
        key = key_of(name)
        context = self.store.context(key)
        shown = set(_TOKEN.findall(" ".join(message.content for message in context.messages)))
        if not model.is_live(name, self.age):
            why = "expired" if name in model.talks else model.ended.get(name)
            if context.session_id is not None or shown or context.previous_ended != why:
                return f"shows {len(shown)} texts, ended {context.previous_ended}, not {why}"
            return None
        talk = model.talks[name]
        if context.session_id is None or talk.session_id not in ("", context.session_id):
            return f"session {context.session_id} is shown, not {talk.session_id}"
        if context.previous_ended != talk.previous:
            return f"started after {context.previous_ended}, not {talk.previous}"
        if not shown <= set(_TOKEN.findall(" ".join(talk.said))):
            return "texts of another session are shown"
        if self.store.turn_count(key) != len(talk.said):
            return f"{self.store.turn_count(key)} turns, not {len(talk.said)}"
        return self._miss_of_turns([message.content for message in context.messages], talk.said)

    def _miss_of_turns(self, messages: list[str], said: list[str]) -> str | None:
        """The newest turns are shown verbatim, in order, and the others as a summary."""
        first = messages[0]
        summarised = '"kind":"summary"' in first
        if summarised or not _TOKEN.search(first):  # else it is a turn, and not a notice
            messages = messages[1:]
        left = list(said)  # compaction may take tool turns from between others
        for content in reversed(messages):
            while left and left[-1] not in content:
                left.pop()
            if not left:
                return "a message is no turn"
            left.pop()
        if not messages or summarised != (len(messages) < len(said)):
            return f"{len(messages)} of {len(said)} turns are shown, summarised: {summarised}"
        return None

    def _check_deleted(self) -> None:
        """Deleted text is nowhere; what was said again in a later session is another text."""
        model = self.visible
        again = [text for texts in model.over.values() for text in texts]
        self._check_gone(set(model.deleted) - set(again))

    def _ended(self) -> set[str]:
        return {text for texts in self.visible.over.values() for text in texts}

    def _live(self) -> set[str]:
        return {text for talk in self.visible.talks.values() for text in talk.said}

    def _check_gone(self, texts: set[str], *, quarantine: bool = True) -> None:
        gone = texts - self._live()
        there = self.disk.find_all(_TOKEN_BYTES) if gone else {}
        for text in gone:
            found = there.get(text.split(" ", 1)[0].encode(), set[str]())
            if not quarantine:
                found = {path for path in found if not path.startswith("quarantine/")}
            assert not found, f"deleted or ended text is left in {sorted(found)}"

    def check_recovery(self) -> None:
        """After a crash alone: nothing is called damaged, and nothing ended has text left."""
        report = self.store.report
        assert report.reason in CLEAN, f"a false alarm: {report}"
        assert not any(finding.what == "payload" for finding in report.findings), report
        assert not report.sessions_lost
        # Perhaps, for a while, in quarantine; what was deleted isn't there either.
        self._check_gone(self._ended(), quarantine=False)
        self._check_deleted()

    def check_log(self) -> None:
        """The log, read from its start, folds to the live state, position by position."""
        store = self.store
        events: list[Event] = []
        position = 0
        for item in store.log.read(0, content=False):
            assert not isinstance(item, Gap), f"an undeclared gap: {item}"
            assert item.first == position + 1
            position = item.last
            events += decode_events(item.chained, item.first, None)
        assert position == store.log.durable
        if store.log.durable == store.log.position:
            assert state_digest(capture(fold(events))) == store.digest()


__all__ = ["KEYS", "LIMITS", "Delete", "Expire", "PowerCut", "Rig", "Say"]
