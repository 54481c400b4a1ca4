"""Ordinals of redacted secrets through a whole store: kept, shown again, erased, never the key."""

from pathlib import Path

from domain.redaction_lines import ALPHANUMERIC, Maker
from runtime.fake_log import KEY, OTHER_KEY
from runtime.state_rig import every_byte, opened

from turnfold.actors.conversation_store import ConversationStore
from turnfold.events.event import TurnAdded
from turnfold.events.extras import decode_extras
from turnfold.events.keys import ConversationKey
from turnfold.events.log.read_events import read_events
from turnfold.events.redaction import redact
from turnfold.events.turns import AvatarText, ToolSummary

MAKE = Maker(91)
FIRST, SECOND, THIRD = (MAKE.password() for _ in range(3))


def say(
    store: ConversationStore,
    secret: str,
    key: ConversationKey = KEY,
    turn_id: str | None = None,
) -> bool:
    text = AvatarText(f"my password is {secret}")
    return store.add_turn(key, text, turn_id=turn_id).duplicate


def shown(store: ConversationStore, key: ConversationKey = KEY) -> list[str]:
    messages = store.context(key).messages[1:]  # the first one is the notice of a new session
    return [message.content.removeprefix("my password is ") for message in messages]


def turns(path: Path) -> list[TurnAdded]:
    return [event for event in read_events(path, content=True) if isinstance(event, TurnAdded)]


def test_a_context_tells_secrets_apart_before_and_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for secret in (FIRST, SECOND, FIRST):
            say(store, secret)
        before = shown(store)
        assert before == [f"[redacted:credential:{number}]" for number in (1, 2, 1)]
    with opened(tmp_path) as store:
        assert shown(store) == before
        say(store, THIRD)
        say(store, FIRST)  # which secret the first ones were, nobody knows any more
        assert shown(store)[3:] == ["[redacted:credential:3]", "[redacted:credential:4]"]


def test_sessions_don_t_share_numbers(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        say(store, FIRST)
        say(store, SECOND)
        say(store, SECOND, OTHER_KEY)
        assert shown(store, OTHER_KEY) == ["[redacted:credential:1]"]
        store.delete(KEY)
        say(store, SECOND)
        assert shown(store) == ["[redacted:credential:1]"]


def test_a_retry_is_the_same_turn_whatever_its_number(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert not say(store, FIRST, turn_id="1")
        assert say(store, FIRST, turn_id="1")
    with opened(tmp_path) as store:
        assert say(store, FIRST, turn_id="1")
        assert len(shown(store)) == 1


def test_numbers_lie_in_the_sealed_part_and_the_text_has_none(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        say(store, FIRST)
        store.add_turn(KEY, ToolSummary("login", f"the password is {FIRST}"))
    added = turns(tmp_path)
    texts = ["my password is [redacted:credential]", "the password is [redacted:credential]"]
    assert [turn.text for turn in added] == texts
    numbers = [decode_extras(turn.kind, turn.extras).ordinals for turn in added]
    assert numbers == [((15, 1),), ((16, 1),)]
    with opened(tmp_path) as store:
        store.delete(KEY)
    assert [turn.extras for turn in turns(tmp_path)] == [None, None]


def test_nothing_made_of_the_secret_is_in_any_file(tmp_path: Path) -> None:
    (mark,) = redact(f"my password is {FIRST}").marks
    with opened(tmp_path) as store:
        say(store, FIRST)
        store.flush()
    content = every_byte(tmp_path)
    fingerprint = mark.fingerprint.to_bytes(8, "big", signed=True)
    for form in (FIRST.encode(), fingerprint, fingerprint[::-1], str(mark.fingerprint).encode()):
        assert form not in content


def test_the_rest_of_a_split_secret_keeps_the_numbers_before_it(tmp_path: Path) -> None:
    token = "gh" + "p_" + MAKE.run(ALPHANUMERIC, 36)
    seed = "http://grid.example:9000/CAPS/" + MAKE.uuid()
    with opened(tmp_path) as store:
        store.add_turn(KEY, AvatarText(f"{seed} and take this {token[:20]}"))
        store.add_turn(KEY, AvatarText(token[20:]))
        assert shown(store) == [
            "[redacted:cap:1] and take this [redacted:token]",
            "[redacted:token:1]",
        ]
