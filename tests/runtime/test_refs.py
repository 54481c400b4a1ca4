"""Agents that use the store by messages alone, without the facade."""

import asyncio
import queue
from typing import Any

import attrs
import pykka
import pytest
from runtime.fake_log import KEY, OTHER_KEY, WAIT_S, Running, running, until

from turnfold.actors.messages import (
    AddTurn,
    AddTurns,
    CommandFailed,
    Correlated,
    DeleteKey,
    ExpireSession,
    Flush,
    Flushed,
    GetContext,
    GetStats,
    ListMetadata,
    Receipts,
    Sync,
    Synced,
)
from turnfold.actors.pump import Notices
from turnfold.actors.refs import AsyncStoreRef, StoreRef
from turnfold.events.context import Context
from turnfold.events.errors import (
    InvalidInput,
    InvalidTurn,
    SessionEnded,
    StoreBusy,
    StoreClosed,
    TurnIdConflict,
)
from turnfold.events.keys import SessionId
from turnfold.events.metadata import MetadataPage
from turnfold.events.notice import Notice
from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt, Receipt
from turnfold.events.turns import AgentResponse, AvatarText


@attrs.frozen
class Errand:
    """What an agent is to send."""

    request: object
    correlation_id: object


class Agent(pykka.ThreadingActor):
    """Sends what it is told to send and keeps what it gets back."""

    def __init__(self, store: StoreRef, received: "queue.SimpleQueue[Any]") -> None:
        super().__init__()
        self.store = store
        self.received = received

    def on_receive(self, message: Any) -> Any:
        if isinstance(message, Errand):
            self.store.tell(message.request, self.actor_ref, message.correlation_id)
        else:
            self.received.put(message)


class Talk:
    """An agent beside a store, and what the agent got."""

    def __init__(self, store: Running) -> None:
        self.received: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.agent = Agent.start(store.ref, self.received)

    def about(self, request: object, correlation_id: object = None) -> Any:
        self.agent.tell(Errand(request, correlation_id))
        return self.received.get(timeout=WAIT_S)


@pytest.fixture(autouse=True)
def _no_actor_is_left() -> Any:
    yield
    pykka.ActorRegistry.stop_all()


def test_an_agent_adds_reads_and_deletes_and_gets_its_answers_as_messages() -> None:
    with running() as store:
        talk = Talk(store)
        added = talk.about(AddTurn(KEY, AvatarText("hello"), "id-1"))
        assert isinstance(added, Receipt)
        assert added.durable
        assert talk.about(AddTurn(KEY, AvatarText("hello"), "id-1")).duplicate
        several = talk.about(AddTurns(KEY, [AgentResponse("hi"), AvatarText("well")]))
        assert isinstance(several, Receipts)
        assert [receipt.position for receipt in several.items] == [4, 5]
        context = talk.about(GetContext(KEY))
        assert isinstance(context, Context)
        assert context.position == 5
        assert isinstance(talk.about(ListMetadata()), MetadataPage)
        assert talk.about(GetStats()).active_sessions == 1
        assert isinstance(talk.about(Sync()), Synced)
        assert isinstance(talk.about(Flush()), Flushed)
        assert isinstance(talk.about(ExpireSession(KEY)), ExpiryReceipt)
        assert isinstance(talk.about(DeleteKey(KEY)), DeletionReceipt)


def test_refusals_arrive_as_messages_wherever_they_were_made() -> None:
    with running() as store:
        talk = Talk(store)
        talk.about(AddTurn(KEY, AvatarText("one"), "id-1"))
        decided = talk.about(AddTurn(KEY, AvatarText("two"), "id-1"))
        assert isinstance(decided, CommandFailed)
        assert isinstance(decided.error, TurnIdConflict)
        ended = talk.about(AddTurn(KEY, AvatarText("x"), None, SessionId("0" * 32)))
        assert isinstance(ended.error, SessionEnded)
        at_the_door = talk.about(AddTurns(KEY, []))
        assert isinstance(at_the_door.error, InvalidTurn)
        assert isinstance(talk.about(42).error, InvalidInput)


def test_a_correlation_id_comes_back_with_answers_and_refusals() -> None:
    with running() as store:
        talk = Talk(store)
        answer = talk.about(AddTurn(KEY, AvatarText("x")), correlation_id="c-1")
        assert isinstance(answer, Correlated)
        assert answer.correlation_id == "c-1"
        assert isinstance(answer.answer, Receipt)
        refused = talk.about("nonsense", correlation_id=("c", 2))
        assert refused.correlation_id == ("c", 2)
        assert isinstance(refused.answer, CommandFailed)


def test_without_reply_to_the_door_raises_and_the_command_is_carried_out() -> None:
    with running() as store:
        store.ref.tell(AddTurn(KEY, AvatarText("told")))
        store.ref.ask(Sync())
        assert store.ref.ask(GetContext(KEY)).position == 3
        with pytest.raises(InvalidInput):
            store.ref.tell("nonsense")


def test_a_dead_reply_to_loses_nothing_and_is_counted() -> None:
    with running() as store:
        talk = Talk(store)
        talk.agent.stop()
        store.ref.tell(AddTurn(KEY, AvatarText("kept")), reply_to=talk.agent)
        store.ref.ask(Sync())
        assert store.ref.ask(GetContext(KEY)).position == 3
        assert store.ref.ask(GetStats()).undeliverable == 1


@pytest.mark.parametrize("wrong", ["an agent", 5, object()])
def test_a_reply_to_that_is_no_actor_is_refused_and_harms_nobody(wrong: Any) -> None:
    with running() as store:
        proxy: Any = Agent.start(store.ref, queue.SimpleQueue()).proxy()
        for reply_to in (wrong, proxy):
            with pytest.raises(InvalidInput, match="ActorRef"):
                store.ref.tell(AddTurn(KEY, AvatarText("x")), reply_to=reply_to)
        assert store.ref.ask(AddTurn(KEY, AvatarText("y")), timeout=WAIT_S).position == 3


def test_a_future_that_its_holder_has_set_harms_nobody_else() -> None:
    with running() as store:
        store.log.open_gate.clear()
        future: pykka.Future[Any] = store.ref.ask(AddTurn(KEY, AvatarText("x")), block=False)
        future.set("mine")
        store.log.open_gate.set()
        assert store.ref.ask(AddTurn(KEY, AvatarText("y")), timeout=WAIT_S).durable
        assert store.ref.ask(GetStats()).undeliverable == 1


@pytest.mark.parametrize("session", ["", "nothing that a receipt holds", 5, b"0" * 32])
def test_a_session_that_no_receipt_can_hold_is_bad_input_and_is_not_repeated(session: Any) -> None:
    with running() as store, pytest.raises(InvalidInput) as caught:
        store.ref.ask(AddTurn(KEY, AvatarText("x"), None, session))
    assert "nothing that" not in str(caught.value)


@pytest.mark.parametrize("timeout", ["1", b"", True, float("nan")])
def test_a_timeout_that_is_no_number_is_refused_before_anything_is_stored(timeout: Any) -> None:
    with running() as store:
        with pytest.raises(InvalidInput, match="timeout"):
            store.ref.ask(AddTurn(KEY, AvatarText("x")), timeout=timeout)
        assert store.ref.ask(GetContext(KEY)).session_id is None


@pytest.mark.parametrize("timeout", [float("inf"), 1e300, 10**400], ids=["inf", "float", "int"])
def test_a_timeout_without_end_waits_for_the_answer(timeout: float) -> None:
    with running() as store:
        assert store.ref.ask(AddTurn(KEY, AvatarText("x")), timeout=timeout).position == 3


def test_a_closed_loop_loses_nothing_and_is_counted() -> None:
    with running() as store:
        store.log.open_gate.clear()
        supervisor = store.supervisor
        ref = AsyncStoreRef(supervisor.door, supervisor.reads, supervisor.stats)

        async def leave_early() -> None:
            with pytest.raises(StoreBusy, match="in time"):
                await ref.ask(AddTurn(KEY, AvatarText("kept")), timeout=0.001)

        asyncio.run(leave_early())
        store.log.open_gate.set()
        store.ref.ask(Sync())
        assert store.ref.ask(GetContext(KEY)).position == 3
        assert store.ref.ask(GetStats()).undeliverable == 1


def test_stop_all_stops_the_agents_and_not_the_store() -> None:
    with running() as store:
        Talk(store)
        pykka.ActorRegistry.stop_all()
        assert store.ref.ask(AddTurn(KEY, AvatarText("still here"))).durable
        assert pykka.ActorRegistry.get_all() == []


def test_a_system_exit_in_another_actor_hangs_nobody() -> None:
    class Dying(pykka.ThreadingActor):
        def on_receive(self, message: Any) -> Any:
            raise SystemExit

    with running() as store:
        dying = Dying.start()
        store.ref.tell(AddTurn(KEY, AvatarText("x")), reply_to=dying)
        until(lambda: not dying.is_alive())
        assert store.ref.ask(AddTurn(OTHER_KEY, AvatarText("y"))).durable


def test_a_second_actor_subscribes_and_sees_every_position() -> None:
    class Audit(pykka.ThreadingActor):
        def on_receive(self, message: Any) -> Any:
            assert isinstance(message, Notices)
            seen.extend(item.position for item in message.items if isinstance(item, Notice))

    seen: list[int] = []
    with running() as store:
        audit = Audit.start()
        subscription = store.supervisor.feed.subscribe(audit, after=0)
        talk = Talk(store)
        last = talk.about(AddTurn(KEY, AvatarText("hello"))).position
        assert subscription.wait(last, WAIT_S)
        assert seen[:last] == list(range(1, last + 1))


def test_ask_without_blocking_gives_a_future_that_holds_the_refusal() -> None:
    with running() as store:
        assert store.ref.ask(GetContext(KEY), block=False).get(timeout=WAIT_S).position == 0
        with pytest.raises(InvalidInput):
            store.ref.ask("nonsense", block=False).get(timeout=WAIT_S)
        store.supervisor.close()
        with pytest.raises(StoreClosed):
            store.ref.ask(Sync(), block=False).get(timeout=WAIT_S)


def test_no_answer_in_time_is_store_busy_and_the_command_stands() -> None:
    with running() as store:
        store.log.open_gate.clear()
        with pytest.raises(StoreBusy, match="turn_id"):
            store.ref.ask(AddTurn(KEY, AvatarText("x"), "id-1"), timeout=0.01)
        store.log.open_gate.set()
        assert store.ref.ask(AddTurn(KEY, AvatarText("x"), "id-1")).duplicate
