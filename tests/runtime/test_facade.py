"""ConversationStore in memory: what a user of threads sees."""

import threading

import pytest
from runtime.fake_log import KEY, OTHER_KEY, running

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.messages import Sync
from turnfold.events.commands import TurnToAdd
from turnfold.events.errors import (
    ConversationsDisabled,
    InvalidInput,
    InvalidKey,
    InvalidTurn,
    SessionEnded,
    StoreClosed,
    TurnIdConflict,
    WouldDeadlock,
)
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.limits import Limits
from turnfold.events.metadata import SessionMetadata
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary


def test_turns_of_all_kinds_come_back_in_order_and_only_under_their_key() -> None:
    with ConversationStore() as store:
        store.add_turn(KEY, AvatarText("one"))
        store.add_turn(KEY, AgentResponse("two", call_ids=("c1",)))
        store.add_turn(KEY, ToolSummary("search", "three", call_id="c1"))
        store.add_turn(KEY, ActionResult("move", "ok", "four"))
        store.add_turn(OTHER_KEY, AvatarText("elsewhere"))

        said = [message.content for message in store.context(KEY).messages]

        assert len(said) == 4
        for text, content in zip(("one", "two", "three", "four"), said, strict=True):
            assert text in content
        assert not any("elsewhere" in content for content in said)


def test_several_turns_are_added_whole_or_not_at_all() -> None:
    with ConversationStore() as store:
        receipts = store.add_turns(KEY, [AvatarText("a"), TurnToAdd(AgentResponse("b"), "id-b")])
        assert [receipt.position for receipt in receipts] == [3, 4]
        with pytest.raises(TurnIdConflict):
            store.add_turns(KEY, [AvatarText("c"), TurnToAdd(AgentResponse("other"), "id-b")])
        assert store.context(KEY).position == 4


def test_a_handle_of_an_ended_session_reaches_no_other() -> None:
    with ConversationStore() as store:
        old = store.add_turn(KEY, AvatarText("one")).session_id
        assert store.expire(KEY).expired
        assert not store.expire(KEY).expired
        new = store.add_turn(KEY, AvatarText("two")).session_id
        with pytest.raises(SessionEnded):
            store.add_turn(KEY, AvatarText("late"), session=old)
        assert store.add_turn(KEY, AvatarText("three"), session=new).session_id == new


def test_after_a_deletion_nothing_is_left_but_that_it_happened() -> None:
    with ConversationStore() as store:
        store.add_turn(KEY, AvatarText("private"))
        store.add_turn(OTHER_KEY, AvatarText("stays"))
        receipt = store.delete(KEY)
        assert receipt.avatar == KEY.avatar
        assert len(receipt.pseudonym) == 32
        context = store.context(KEY)
        assert context.session_id is None
        assert context.previous_ended is not None
        assert [item.avatar for item in store.list_metadata().items] == [OTHER_KEY.avatar]


def test_metadata_comes_in_pages() -> None:
    """Pages of any size show each session once, in one order."""
    with ConversationStore() as store:
        for number in range(7):
            store.add_turn(ConversationKey(f"{number:032x}", Channel.DIRECT_IM), AvatarText("x"))
        everything = store.list_metadata().items
        seen: list[SessionMetadata] = []
        after: int | None = 0
        while after is not None:
            page = store.list_metadata(after=after, size=3)
            seen += page.items
            after = page.next_after
        assert tuple(seen) == everything
        assert len(seen) == 7


def test_texts_are_bounded_at_the_door() -> None:
    limits = Limits(turn_bytes=64, tool_turn_bytes=128)
    with ConversationStore(Config(limits=limits)) as store:
        store.add_turn(KEY, AvatarText("x y " * 100))
        store.add_turn(KEY, ToolSummary("tool", "x y " * 100))
        avatar, tool = store._reads._published.sessions()[0].turns  # pyright: ignore[reportPrivateUsage]  # what is kept
        assert (avatar.text_bytes, tool.text_bytes) == (64, 128)
        assert avatar.truncated_from == 400


def test_what_is_not_a_turn_or_a_key_is_refused_before_anything_is_stored() -> None:
    with ConversationStore() as store:
        position = store.stats().position
        with pytest.raises(InvalidTurn):
            store.add_turn(KEY, "plain text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # what is tested
        with pytest.raises(InvalidKey):
            store.add_turn("key", AvatarText("x"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # what is tested
        with pytest.raises(InvalidTurn):
            store.add_turn(KEY, AvatarText("x"), turn_id="with blank")
        with pytest.raises(InvalidTurn):
            store.add_turns(KEY, [])
        with pytest.raises(InvalidTurn, match="bytes of text"):
            store.add_turns(KEY, [AvatarText("a normal sentence about the weather. " * 215)] * 150)
        with pytest.raises(InvalidInput):
            store.ref.ask("nonsense")
        with pytest.raises(InvalidKey):
            store.context("key")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # what is tested
        assert store.stats().position == position


def test_a_store_that_keeps_no_transcripts_refuses_every_turn() -> None:
    with ConversationStore(Config(enabled=False)) as store:
        with pytest.raises(ConversationsDisabled, match="enabled"):
            store.add_turn(KEY, AvatarText("x"))
        with pytest.raises(ConversationsDisabled):
            store.add_turns(KEY, [AvatarText("x")])
        assert store.stats().active_sessions == 0


def test_a_closed_store_refuses_commands_and_closes_again_in_silence() -> None:
    store = ConversationStore()
    store.add_turn(KEY, AvatarText("x"))
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        store.add_turn(KEY, AvatarText("late"))
    with pytest.raises(StoreClosed):
        store.flush()
    with pytest.raises(StoreClosed):
        store.subscribe(lambda: None)  # type: ignore[arg-type, return-value]  # pyright: ignore[reportArgumentType]  # never called


def test_a_blocking_call_in_the_stores_own_thread_is_an_error_and_no_hang() -> None:
    with running() as store:
        errors: list[BaseException] = []

        class AskingSlot:
            """Runs in the store actor's thread and asks the store something."""

            def settle(self, outcome: object) -> bool:
                del outcome
                try:
                    store.ref.ask(Sync())
                except WouldDeadlock as error:
                    errors.append(error)
                return True

        store.supervisor.door.post(Sync(), False, AskingSlot())
        store.ref.ask(Sync())
        assert len(errors) == 1


def test_two_stores_in_one_process_share_nothing() -> None:
    with ConversationStore() as one, ConversationStore() as two:
        one.add_turn(KEY, AvatarText("x"))
        assert two.context(KEY).session_id is None


def test_readers_see_every_acknowledged_turn_beside_a_writer() -> None:
    with ConversationStore() as store:
        acknowledged = 0
        stop = threading.Event()
        wrong: list[int] = []

        def read() -> None:
            while not stop.is_set():
                known = acknowledged
                if store.context(KEY).position < known:
                    wrong.append(known)
                store.list_metadata()

        reader = threading.Thread(target=read)
        reader.start()
        for number in range(300):
            acknowledged = store.add_turn(KEY, AvatarText(f"turn {number}")).position
        stop.set()
        reader.join()
        assert not wrong
