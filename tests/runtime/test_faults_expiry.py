"""What counts as activity, and that what has expired hides nothing that is live."""

from collections.abc import Callable

import pytest
from runtime.fake_log import KEY, NOON, OTHER_KEY, SteppedClock

from turnfold.actors.clock import NS_PER_S
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events.errors import TurnIdConflict
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.turns import AvatarText

MINUTE_NS = 60 * NS_PER_S


def conflict(store: ConversationStore) -> None:
    with pytest.raises(TurnIdConflict):
        store.add_turn(KEY, AvatarText("other words"), turn_id="id-1")


def duplicate(store: ConversationStore) -> None:
    assert store.add_turn(KEY, AvatarText("hello"), turn_id="id-1").duplicate


def another_key(store: ConversationStore) -> None:
    store.add_turn(OTHER_KEY, AvatarText("elsewhere"))


def reading(store: ConversationStore) -> None:
    store.context(KEY)
    store.list_metadata()
    store.flush()


@pytest.mark.parametrize("beside", [conflict, duplicate, another_key, reading])
def test_only_a_turn_that_was_accepted_is_activity(
    beside: Callable[[ConversationStore], None],
) -> None:
    clock = SteppedClock(NOON)
    with ConversationStore(clock=clock) as store:
        store.add_turn(KEY, AvatarText("hello"), turn_id="id-1")
        for minute in range(5, 30, 5):
            clock.advance_to(NOON + minute * MINUTE_NS)
            beside(store)
        clock.advance_to(NOON + 30 * MINUTE_NS - 1)
        assert store.context(KEY).session_id is not None
        clock.advance_to(NOON + 30 * MINUTE_NS)
        assert store.context(KEY).session_id is None


def test_a_page_is_filled_from_live_sessions_whatever_has_expired_before_them() -> None:
    keys = [ConversationKey(f"{number:032x}", Channel.PUBLIC_CHAT) for number in range(1, 13)]
    clock = SteppedClock(NOON)
    with ConversationStore(clock=clock) as store:
        for key in keys:
            store.add_turn(key, AvatarText("hello"))
        clock.advance_to(NOON + 20 * MINUTE_NS)
        for key in keys[8:]:
            store.add_turn(key, AvatarText("still here"))
        clock.advance_to(NOON + 31 * MINUTE_NS)  # nothing has swept the first eight

        page = store.list_metadata(size=4)

        assert [item.avatar for item in page.items] == [key.avatar for key in keys[8:]]
        assert page.next_after is None
