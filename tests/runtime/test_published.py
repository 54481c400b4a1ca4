"""What readers see equals the committed state, after any sequence of commands."""

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st
from runtime.fake_log import NOON, FakeLog, bytes_that_differ

from turnfold.actors.bookkeeping import opening
from turnfold.actors.ledger import Ledger
from turnfold.actors.names import KeyNames
from turnfold.actors.published import Published
from turnfold.events.commands import (
    AddTurns,
    Command,
    DeleteKey,
    Entropy,
    ExpireSession,
    Instant,
    Sweep,
    TurnToAdd,
)
from turnfold.events.context_messages import ContextMessage, Drawing
from turnfold.events.errors import NotWritten
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.limits import Limits
from turnfold.events.log.opening import OpeningReport
from turnfold.events.reasons import Reason
from turnfold.events.state import StoreState
from turnfold.events.turns import AvatarText

MINUTE = 60_000_000_000
KEYS = [
    ConversationKey(f"{number:032x}", channel)
    for number in range(3)
    for channel in (Channel.PUBLIC_CHAT, Channel.DIRECT_IM)
]
LIMITS = Limits(active_sessions=3, turns_per_session=4)
TEXT = AvatarText("text")


@attrs.frozen
class Step:
    """Commands of one batch, how long before it, and whether the disk is full."""

    commands: tuple[Command, ...]
    minutes: int
    full: bool


def _commands() -> st.SearchStrategy[Command]:
    keys = st.sampled_from(KEYS)
    return st.one_of(
        st.builds(AddTurns, keys, st.just((TurnToAdd(TEXT),))),
        st.builds(ExpireSession, keys),
        st.builds(DeleteKey, keys),
        st.just(Sweep()),
    )


STEPS = st.lists(
    st.builds(
        Step,
        commands=st.lists(_commands(), min_size=1, max_size=8).map(tuple),
        minutes=st.sampled_from([0, 0, 1, 29, 30, 31, 24 * 60]),
        full=st.sampled_from([False, False, False, True]),
    ),
    max_size=12,
)


@given(STEPS)
@settings(max_examples=150)
def test_published_values_are_those_of_the_last_batch_that_was_written(steps: list[Step]) -> None:
    log, state, names = FakeLog(), StoreState(), KeyNames(bytes(32))
    published = Published(state)
    ledger = Ledger(log, state, names, Entropy(bytes_that_differ()), published)
    age = 0
    opened = opening(
        OpeningReport(Reason.OPENED_NEW),
        state,
        epoch=1,
        ruleset=1,
        limits=LIMITS,
        recorded_clock=True,
        seen_at=0,
    )
    ledger.take(opened(1, Instant(NOON, age)))
    ledger.commit(sync=True)
    for step in steps:
        age += step.minutes * MINUTE
        before = {key: published.find(names(key)) for key in KEYS}
        for command in step.commands:
            ledger.decide(command, Instant(NOON + age, age))
        log.full = step.full
        try:
            ledger.commit(sync=True)
        except NotWritten:
            assert {key: published.find(names(key)) for key in KEYS} == before
        for key in KEYS:
            tag = names(key)
            session, ended = published.find(tag)
            assert session is state.session(tag)
            assert ended == state.ended.get(tag)
        assert {s.start for s in published.sessions()} == {s.start for s in state.sessions()}
        assert published.position == state.position == log.position
        assert published.active == state.active <= LIMITS.active_sessions
        assert published.pending == len(state.pending)
        live = {session.start for session in state.sessions()}
        assert {start for start in range(state.position + 1) if published.drawings(start)} <= live
        for start in live:  # as a reader would
            drawings = published.drawings(start)
            assert drawings is not None
            drawings[start] = Drawing(b"", (), (), ContextMessage("user", "", False, ()))


def test_kept_blocks_go_with_the_session_and_with_any_of_its_texts() -> None:
    log, state, names = FakeLog(), StoreState(), KeyNames(bytes(32))
    published = Published(state)
    ledger = Ledger(log, state, names, Entropy(bytes_that_differ()), published)
    now = Instant(NOON, 0)

    def add(count: int) -> dict[int, Drawing] | None:
        turns = tuple(TurnToAdd(AvatarText(f"turn {number}")) for number in range(count))
        ledger.decide(AddTurns(KEYS[0], turns), now)
        ledger.commit(sync=True)
        session, _ended = published.find(names(KEYS[0]))
        assert session is not None
        return published.drawings(session.start)

    first = add(1)
    assert first is not None
    assert add(1) is first
    after_compaction = add(state.opening.limits.turns_per_session)
    assert after_compaction is not None
    assert after_compaction is not first
    start = state.position
    ledger.decide(DeleteKey(KEYS[0]), now)
    ledger.commit(sync=True)
    assert all(published.drawings(position) is None for position in range(start + 1))
