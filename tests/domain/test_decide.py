"""decide and evolve together: limits after every event, idempotency, endings, eviction order."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KEYS, SMALL, SMALLEST, commands, counting_bytes

from turnfold.events.codec import decode_events, encode_events
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
from turnfold.events.decide import decide, has_overdue
from turnfold.events.errors import CommandRefused, SessionEnded, TurnIdConflict
from turnfold.events.event import (
    Event,
    SessionEvicted,
    SessionExpired,
    SessionStarted,
    StoreOpened,
    TurnAdded,
)
from turnfold.events.evolve import evolve, fold
from turnfold.events.keys import NS_PER_S, Channel, ConversationKey, pseudonym
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.reasons import Reason
from turnfold.events.session import KeyTag
from turnfold.events.snapshot import capture, state_digest
from turnfold.events.state import StoreState
from turnfold.events.turns import AgentResponse, AvatarText, ToolSummary

SECRET = b"s" * 32
PUBLIC, OTHER = KEYS[0], KEYS[2]
IM = KEYS[1]


def names(key: ConversationKey) -> KeyTag:
    """What a key is called."""
    return pseudonym(SECRET, key.avatar), key.channel.code


class Run:
    """A store without a disk: decides, checks limits after every event, evolves."""

    def __init__(self, limits: Limits = SMALL) -> None:
        self.entropy = Entropy(counting_bytes())
        self.state = StoreState()
        self.events: list[Event] = []
        self.now = Instant(at=1_000 * NS_PER_S, age=0)
        opened = StoreOpened(
            position=1,
            at=self.now.at,
            age=0,
            reason=Reason.OPENED_NEW,
            epoch=1,
            ruleset=1,
            limits=tuple(getattr(limits, name) for name in BOUNDS),
        )
        self.apply([opened])

    def apply(self, events: Sequence[Event]) -> None:
        """Evolve, and check every limit after every event."""
        for event in events:
            evolve(self.state, event)
            self.events.append(event)
            check_limits(self.state)
        self.state.commit()

    def wait(self, seconds: float) -> None:
        """Time passes."""
        step = int(seconds * NS_PER_S)
        self.now = Instant(self.now.at + step, self.now.age + step)

    def do(self, command: Command) -> Any:
        """Decide one command and apply its events; the answer."""
        while has_overdue(self.state, self.now.age) and not isinstance(command, Sweep):
            self.do(Sweep())
        decision = decide(self.state, command, self.now, self.entropy, names)
        self.apply(decision.events)
        return decision.answer

    def say(self, key: ConversationKey, text: str = "hi", **options: Any) -> Any:
        """An avatar turn."""
        turn_id = options.pop("turn_id", None)
        return self.do(AddTurns(key, [TurnToAdd(AvatarText(text), turn_id)], **options))[0]

    def reasons(self) -> list[Reason]:
        """Why each event happened."""
        return [event.reason for event in self.events]


def check_limits(state: StoreState) -> None:
    """No limit is passed, and the totals are the sums of their parts."""
    limits = state.opening.limits
    assert state.active <= limits.active_sessions
    assert state.total_bytes <= limits.aggregate_bytes
    assert state.total_bytes == sum(session.size for session in state.sessions())
    for session in state.sessions():
        assert len(session.turns) <= limits.turns_per_session
        assert session.tool_turns <= limits.tool_turns_per_session
        assert session.size <= limits.bytes_per_session
        assert session.summary is None or session.summary.size <= limits.summary_bytes
        ids = len(session.turn_ids) + sum(turn.turn_tag is not None for turn in session.turns)
        assert session.turn_id_count == ids
        assert session.tool_turns == sum(turn.kind.is_tool for turn in session.turns)


steps = st.lists(st.tuples(commands, st.sampled_from([0, 1, 60, 1800, 7200, 90_000])), max_size=30)


@settings(max_examples=150)
@given(steps, st.sampled_from([SMALL, SMALLEST]))
def test_limits_hold_after_every_event_and_the_fold_equals_the_live_state(
    history: list[tuple[Command, int]], limits: Limits
) -> None:
    """Whatever is asked; and the digest doesn't depend on whether texts are still there."""
    run = Run(limits)
    for command, seconds in history:
        run.wait(seconds)
        try:
            run.do(command)
        except CommandRefused:
            continue
    live = state_digest(capture(run.state))

    assert state_digest(capture(fold(run.events))) == live
    erased = StoreState()
    for event in run.events:
        chained, _payload = encode_events([event])
        fold(decode_events(chained, event.position, None), erased)
    assert state_digest(capture(erased)) == live


@settings(max_examples=100)
@given(steps, st.data())
def test_a_rolled_back_command_leaves_no_trace(
    history: list[tuple[Command, int]], data: st.DataObject
) -> None:
    """The journal takes back exactly the events since the last commit."""
    run = Run(SMALL)
    for command, seconds in history:
        run.wait(seconds)
        before = state_digest(capture(run.state))
        order = [session.start for session in run.state.sessions()]
        try:
            decision = decide(run.state, command, run.now, run.entropy, names)
        except CommandRefused:
            continue
        for event in decision.events:
            evolve(run.state, event)
        if data.draw(st.booleans()):
            run.state.commit()
            run.events.extend(decision.events)
        else:
            run.state.rollback()
            assert state_digest(capture(run.state)) == before
            assert [session.start for session in run.state.sessions()] == order
    assert state_digest(capture(fold(run.events))) == state_digest(capture(run.state))


class NaiveEviction:
    """The least recently active of at most `sessions` keys goes, nothing else."""

    def __init__(self, sessions: int) -> None:
        self.sessions = sessions
        self.order: list[ConversationKey] = []

    def say(self, key: ConversationKey) -> list[ConversationKey]:
        """Who is evicted by this turn."""
        victims: list[ConversationKey] = []
        if key in self.order:
            self.order.remove(key)
        elif len(self.order) == self.sessions:
            victims.append(self.order.pop(0))
        self.order.append(key)
        return victims


@given(st.lists(st.sampled_from(KEYS), max_size=40))
def test_eviction_follows_the_naive_model(spoken: list[ConversationKey]) -> None:
    """Least recently active first, across both channels."""
    run, model = Run(SMALL), NaiveEviction(SMALL.active_sessions)
    for key in spoken:
        before = {session.start: session.key for session in run.state.sessions()}
        count = len(run.events)
        expected = model.say(key)
        run.say(key)
        evicted = [e for e in run.events[count:] if isinstance(e, SessionEvicted)]
        assert [before[event.session] for event in evicted] == expected


def test_a_public_session_expires_at_exactly_30_minutes() -> None:
    """Age >= TTL is expired, one nanosecond less is not."""
    run = Run()
    first = run.say(PUBLIC)
    run.now = Instant(run.now.at, run.now.age + 1800 * NS_PER_S - 1)
    assert run.say(PUBLIC).session_id == first.session_id
    run.now = Instant(run.now.at, run.now.age + 1800 * NS_PER_S)

    assert run.say(PUBLIC).session_id != first.session_id
    assert run.reasons()[-3:] == [
        Reason.EXPIRED_INACTIVITY,
        Reason.STARTED_AFTER_EXPIRY,
        Reason.ADDED_AVATAR,
    ]


def test_a_direct_im_session_lives_for_24_hours() -> None:
    """Not for 30 minutes."""
    run = Run()
    first = run.say(IM)
    run.wait(86_399)
    assert run.say(IM).session_id == first.session_id
    run.wait(86_400)
    assert run.say(IM).session_id != first.session_id


def test_the_wall_clock_orders_and_expires_nothing() -> None:
    """Only the store's age counts; a wall clock a year back changes nothing."""
    run = Run()
    first = run.say(PUBLIC)
    run.now = Instant(run.now.at - 365 * 86_400 * NS_PER_S, run.now.age)

    assert run.say(PUBLIC).session_id == first.session_id


def test_the_same_turn_id_answers_with_the_first_receipt() -> None:
    """And adds nothing."""
    run = Run()
    first = run.say(PUBLIC, "a", turn_id="im-1")
    count = len(run.events)
    again = run.say(PUBLIC, "a", turn_id="im-1")

    assert (again.position, again.session_id, again.duplicate) == (
        first.position,
        first.session_id,
        True,
    )
    assert len(run.events) == count


def test_the_same_turn_id_with_other_content_is_a_conflict() -> None:
    """Kind, names, outcome and text count; the whole command is refused."""
    run = Run()
    run.say(PUBLIC, "a", turn_id="im-1")
    count = len(run.events)
    with pytest.raises(TurnIdConflict):
        run.say(PUBLIC, "b", turn_id="im-1")
    items = [TurnToAdd(AvatarText("new")), TurnToAdd(AgentResponse("a"), "im-1")]
    with pytest.raises(TurnIdConflict):
        run.do(AddTurns(PUBLIC, items))

    assert len(run.events) == count


def test_a_turn_id_is_remembered_after_its_turn_was_compacted() -> None:
    """A late retry doesn't double the turn."""
    run = Run()
    first = run.say(PUBLIC, "first", turn_id="im-1")
    for number in range(20):
        run.say(PUBLIC, f"{number}")
    assert any(reason == Reason.COMPACTED_TURNS for reason in run.reasons())

    assert run.say(PUBLIC, "first", turn_id="im-1").position == first.position


def test_a_turn_id_of_an_ended_session_is_not_reached_from_the_next() -> None:
    """A new session starts with an empty memory of ids."""
    run = Run()
    first = run.say(PUBLIC, "a", turn_id="im-1")
    run.do(ExpireSession(PUBLIC))
    again = run.say(PUBLIC, "b", turn_id="im-1")

    assert not again.duplicate
    assert again.session_id != first.session_id


def test_a_handle_from_before_is_refused_with_the_reason() -> None:
    """add_turn(session=...) reaches only a live session, and says why it ended."""
    run = Run()
    first = run.say(PUBLIC)
    run.do(DeleteKey(PUBLIC))
    count = len(run.events)
    with pytest.raises(SessionEnded, match=r"deleted\.operator"):
        run.say(PUBLIC, session=first.session_id)
    run.say(PUBLIC)
    with pytest.raises(SessionEnded, match=r"another one is \(started\.after_deletion\)"):
        run.say(PUBLIC, session=first.session_id)
    run.wait(1800)
    late = run.state.session(names(PUBLIC))
    assert late is not None
    with pytest.raises(SessionEnded, match=r"expired\.inactivity"):
        decide(
            run.state,
            AddTurns(PUBLIC, [TurnToAdd(AvatarText("x"))], late.session_id),
            run.now,
            run.entropy,
            names,
        )

    assert len(run.events) == count + 2


def expire(run: Run) -> None:
    """An operator ends the session."""
    run.do(ExpireSession(PUBLIC))


def delete(run: Run) -> None:
    """An operator deletes the key."""
    run.do(DeleteKey(PUBLIC))


def grow_old(run: Run) -> None:
    """Half an hour passes."""
    run.wait(1800)


def crowd_out(run: Run) -> None:
    """More keys than sessions."""
    for key in KEYS[2:6]:
        run.say(key)


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (expire, Reason.STARTED_AFTER_EXPIRY),
        (delete, Reason.STARTED_AFTER_DELETION),
        (grow_old, Reason.STARTED_AFTER_EXPIRY),
        (crowd_out, Reason.STARTED_AFTER_EVICTION),
    ],
)
def test_a_new_session_says_why_the_one_before_ended(
    end: Callable[[Run], None], reason: Reason
) -> None:
    """After expiry, deletion, eviction."""
    run = Run()
    run.say(PUBLIC)
    end(run)
    run.say(PUBLIC)
    started = [event for event in run.events if isinstance(event, SessionStarted)]

    assert started[-1].reason == reason


def test_an_overdue_session_is_given_up_before_a_live_one() -> None:
    """With its own reason, even if a live one is less recently active."""
    run = Run()
    run.say(IM)
    run.say(PUBLIC)
    run.say(OTHER)
    run.wait(1800)
    count = len(run.events)
    decision = decide(
        run.state,
        AddTurns(KEYS[4], [TurnToAdd(AvatarText("x"))]),
        run.now,
        run.entropy,
        names,
    )

    assert [type(event) for event in decision.events] == [SessionExpired, SessionStarted, TurnAdded]
    assert decision.events[0].reason == Reason.EXPIRED_INACTIVITY
    assert len(run.events) == count


def test_deleting_an_unknown_key_stores_nothing() -> None:
    """No pseudonym of somebody who was never here."""
    run = Run()
    count = len(run.events)
    receipt = run.do(DeleteKey(PUBLIC))

    assert len(run.events) == count
    assert receipt.sessions == 0


def test_a_sweep_frame_holds_at_most_256_events() -> None:
    """The rest follows in frames of its own."""
    run = Run(Limits())
    for number in range(300):
        run.say(ConversationKey(f"{number:032x}", Channel.PUBLIC_CHAT))
    run.wait(1800)

    assert [run.do(Sweep()) for _ in range(3)] == [256, 44, 0]


def test_a_long_add_turns_is_compacted_between_its_turns() -> None:
    """A command may hold more turns than a session; limits hold after each event."""
    run = Run(SMALLEST)
    items = [TurnToAdd(ToolSummary("search", f"result {n}"), f"id{n}") for n in range(200)]
    receipts = run.do(AddTurns(PUBLIC, items))

    assert len({receipt.position for receipt in receipts}) == 200
    assert run.do(AddTurns(PUBLIC, items[-1:]))[0].duplicate
