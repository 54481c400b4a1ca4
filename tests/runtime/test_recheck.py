"""Recovered texts are redacted again before anybody sees them, and in the background."""

from collections.abc import Sequence

import attrs
import pytest
from runtime.fake_log import KEY, NOON, OTHER_KEY, FakeArchive, FakeLog, Running, until

from turnfold.actors.config import Config
from turnfold.actors.messages import AddTurn, GetContext, GetStats
from turnfold.actors.names import KeyNames
from turnfold.events.codec import decode_events
from turnfold.events.commands import AddTurns, Entropy, Instant, TurnToAdd
from turnfold.events.decide import decide
from turnfold.events.event import Event, Quarantined, StoreOpened, TurnAdded, TurnRedacted
from turnfold.events.evolve import fold
from turnfold.events.keys import ConversationKey
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.reasons import Reason
from turnfold.events.redaction import RULESET_VERSION, is_clean
from turnfold.events.sealed import NONCE_BYTES, commit
from turnfold.events.state import StoreState
from turnfold.events.turns import AgentResponse, AvatarText, ToolSummary, Turn

SECRET = (
    "the pass" + "word is " + "Tr0ub4dor" + "&3xyz" + ", and that is all there is to say about it"
)


def with_text(event: Event, text: str) -> Event:
    """The event as if this text had been stored without redaction."""
    if not isinstance(event, TurnAdded) or not isinstance(event.sealed, bytes):
        return event
    extras_end = NONCE_BYTES + event.extras_bytes
    sealed = event.sealed[:extras_end] + text.encode()
    return attrs.evolve(
        event, sealed=sealed, text_bytes=len(text.encode()), commitment=commit(sealed)
    )


def recovered(turns: Sequence[tuple[ConversationKey, Turn]], ruleset: int) -> StoreState:
    """A state whose texts are all SECRET, stored under a rule set."""
    state, names, entropy = StoreState(), KeyNames(FakeLog.secret), Entropy(lambda n: b"n" * n)
    limits = tuple(getattr(Limits(), name) for name in BOUNDS)
    events: list[Event] = [
        StoreOpened(
            position=1,
            at=NOON,
            age=0,
            reason=Reason.OPENED_NEW,
            epoch=1,
            ruleset=ruleset,
            limits=limits,
        )
    ]
    fold(events, state)
    for key, turn in turns:
        command = AddTurns(key, (TurnToAdd(turn),))
        decided = decide(state, command, Instant(NOON, 0), entropy, names).events
        fold([with_text(event, SECRET) for event in decided], state)
    return state


def opened(state: StoreState) -> Running:
    log = FakeLog()
    log.position = log.durable = state.position
    return Running(Config(), log, FakeArchive(), state=state)


def said(store: Running, key: ConversationKey) -> str:
    return "\n".join(message.content for message in store.ref.ask(GetContext(key)).messages)


def recorded(store: Running) -> list[Event]:
    return [
        event
        for frame in store.log.frames
        for event in decode_events(frame.chained, frame.first, frame.payload)
    ]


TURNS: list[tuple[ConversationKey, Turn]] = [
    (KEY, AvatarText("one")),
    (KEY, ToolSummary("search", "two")),
    (OTHER_KEY, AgentResponse("three")),
]


def test_the_test_text_is_a_secret() -> None:
    """Else nothing below would show anything."""
    assert not is_clean(SECRET)


@pytest.mark.parametrize("ruleset", [RULESET_VERSION, RULESET_VERSION - 1])
def test_no_unclean_text_reaches_a_context_and_it_is_redacted_in_the_log(ruleset: int) -> None:
    store = opened(recovered(TURNS, ruleset))
    try:
        assert "Tr0ub4dor" not in said(store, KEY)
        assert "[redacted" in said(store, KEY)
        until(lambda: sum(isinstance(e, TurnRedacted) for e in recorded(store)) == 2)
        assert "Tr0ub4dor" not in said(store, KEY) + said(store, OTHER_KEY)
    finally:
        store.supervisor.close()
    quarantined = [event for event in recorded(store) if isinstance(event, Quarantined)]
    assert len(quarantined) == (3 if ruleset == RULESET_VERSION else 0)
    assert {event.reason for event in quarantined} <= {Reason.QUARANTINED_UNREDACTED}
    assert {item.reason for item in store.archive.erased} == {Reason.ERASED_REDACTED}


def test_a_clean_store_is_checked_and_nothing_is_recorded() -> None:
    state = recovered([], RULESET_VERSION)
    names, entropy = KeyNames(FakeLog.secret), Entropy(lambda n: b"n" * n)
    command = AddTurns(KEY, (TurnToAdd(AvatarText("harmless")),))
    fold(decide(state, command, Instant(NOON, 0), entropy, names).events, state)
    store = opened(state)
    try:
        assert "harmless" in said(store, KEY)
        until(lambda: not store.supervisor._recheck._due)  # pyright: ignore[reportPrivateUsage]  # what is left to check
    finally:
        store.supervisor.close()
    assert not any(isinstance(event, TurnRedacted) for event in recorded(store))


def test_a_session_that_goes_on_while_it_is_rechecked_keeps_its_new_turns() -> None:
    store = opened(recovered(TURNS, RULESET_VERSION))
    try:
        store.ref.ask(AddTurn(KEY, AvatarText("brand new")))
        until(lambda: sum(isinstance(e, TurnRedacted) for e in recorded(store)) == 2)
        text = said(store, KEY)
        assert "brand new" in text
        assert "Tr0ub4dor" not in text
        assert store.ref.ask(GetStats()).active_sessions == 2
    finally:
        store.supervisor.close()
