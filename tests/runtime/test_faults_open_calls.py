"""After a call without an answer, a refusal and a task that gave up, the next turn works."""

import asyncio
from pathlib import Path

import pytest
from runtime.fake_log import KEY, NOON, SteppedClock

from turnfold.actors.async_store import AsyncConversationStore
from turnfold.actors.clock import NS_PER_S
from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events import read_events
from turnfold.events.commands import TurnToAdd
from turnfold.events.context import Context
from turnfold.events.errors import InvalidInput, InvalidTurn, SessionEnded, TurnIdConflict
from turnfold.events.event import Gap
from turnfold.events.keys import SessionId
from turnfold.events.reasons import Reason
from turnfold.events.turns import AgentResponse, AvatarText, ToolSummary


def roles(context: Context) -> list[str]:
    return [str(message["role"]) for message in context.as_anthropic()]


def test_a_session_with_an_open_call_expires_like_any_other(tmp_path: Path) -> None:
    clock = SteppedClock(NOON)
    config = Config(storage_path=tmp_path, persistence_enabled=True)
    with ConversationStore(config, clock=clock) as store:
        store.add_turn(KEY, AvatarText("may I?"))
        store.add_turn(KEY, AgentResponse("", call_ids=("confirm",)))
        clock.advance_to(NOON + 30 * 60 * NS_PER_S)
        assert store.context(KEY).session_id is None
        store.add_turn(KEY, AvatarText("hello again"))
        assert [m.content for m in store.context(KEY).messages][1:] == ["hello again"]
    reasons = [event.reason for event in read_events(tmp_path) if not isinstance(event, Gap)]
    assert reasons.count(Reason.EXPIRED_INACTIVITY) == 1


def test_after_a_restart_a_call_without_a_result_stops_nothing(tmp_path: Path) -> None:
    config = Config(storage_path=tmp_path, persistence_enabled=True)
    with ConversationStore(config) as store:
        store.add_turn(KEY, AvatarText("what is there?"))
        store.add_turn(KEY, AgentResponse("One moment.", call_ids=("c1",)))
    with ConversationStore(config) as store:
        store.add_turn(KEY, AvatarText("still there?"))
        context = store.context(KEY)
        assert roles(context) == ["user", "assistant", "user"]
        assert [m.content for m in context.messages][-2:] == ["One moment.", "still there?"]
        store.add_turn(KEY, ToolSummary("look", "the result comes late", call_id="c1"))
        assert "the result comes late" in store.context(KEY).messages[-1].content


def test_after_each_refusal_the_session_takes_the_next_turn() -> None:
    with ConversationStore() as store:
        receipt = store.add_turn(KEY, AvatarText("one"), turn_id="id-1")
        with pytest.raises(TurnIdConflict):
            store.add_turn(KEY, AvatarText("two"), turn_id="id-1")
        with pytest.raises(SessionEnded):
            store.add_turn(KEY, AvatarText("two"), session=SessionId("0" * 32))
        with pytest.raises(InvalidTurn):
            store.add_turn(KEY, AvatarText("two"), turn_id="not one word")
        with pytest.raises(InvalidInput):
            store.add_turns(KEY, [])
        with pytest.raises(TurnIdConflict):
            store.add_turns(KEY, [AvatarText("two"), TurnToAdd(AvatarText("three"), "id-1")])

        after = store.add_turn(KEY, AgentResponse("two"))

        assert (after.position, after.session_id) == (receipt.position + 1, receipt.session_id)
        assert [m.content for m in store.context(KEY).messages] == ["one", "two"]


async def test_a_result_that_was_given_up_leaves_a_session_that_goes_on() -> None:
    async with AsyncConversationStore() as store:
        await store.add_turn(KEY, AvatarText("what is there?"))
        await store.add_turn(KEY, AgentResponse("Looking.", call_ids=("c1",)))
        task = asyncio.create_task(
            store.add_turn(KEY, ToolSummary("look", "a pier", call_id="c1"), turn_id="result-1")
        )
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await store.add_turn(KEY, AvatarText("never mind"))

        said = [m.content for m in (await store.context(KEY)).messages]
        assert said[:2] == ["what is there?", "Looking."]
        assert said[-1] == "never mind"
        assert len(said) in (3, 4)  # the result is there whole, or not at all
        assert len(said) == 3 or "a pier" in said[2]
