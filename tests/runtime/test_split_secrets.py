"""A secret split over two turns: no file, context or later opening shows either half."""

from pathlib import Path

import pytest
from domain.redaction_lines import ALPHANUMERIC, ORDINARY_LINES, Maker, join
from runtime.fake_log import KEY, OTHER_KEY
from runtime.state_rig import every_byte, opened

from turnfold.actors.conversation_store import ConversationStore
from turnfold.events.commands import TurnToAdd
from turnfold.events.errors import TurnIdConflict
from turnfold.events.event import ContentErased, TurnAdded, TurnRedacted
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.limits import Limits
from turnfold.events.log.read_events import read_events
from turnfold.events.reasons import Reason
from turnfold.events.redaction import is_clean
from turnfold.events.redaction_marks import without_numbers
from turnfold.events.split_guard import LOOK_BACK_TURNS
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary, Turn

MAKE = Maker(77)
PASSWORD = MAKE.password()
RUN = MAKE.run(ALPHANUMERIC, 36)
FIRST, SECOND = join("gh", "p_") + RUN[:18], RUN[18:]
ASKED = "my password is"


def said(store: ConversationStore, key: ConversationKey = KEY) -> str:
    return "\n".join(message.content for message in store.context(key).messages)


def check_files(path: Path, *halves: str) -> None:
    content = every_byte(path)
    for half in halves:
        assert half.encode() not in content
        assert half[:10].encode() not in content
        assert half[-10:].encode() not in content


@pytest.mark.parametrize("restart", [False, True])
def test_neither_half_of_a_token_is_in_any_file(tmp_path: Path, restart: bool) -> None:
    store = opened(tmp_path)
    store.add_turn(KEY, AvatarText(f"take this {FIRST}"), turn_id="1")
    store.add_turn(KEY, AgentResponse("is that all?"))
    if restart:
        store.close()
        assert FIRST.encode() in every_byte(tmp_path)  # harmless until the rest of it comes
        store = opened(tmp_path)
    store.add_turn(KEY, AvatarText(SECOND), turn_id="2")
    assert SECOND.encode() not in every_byte(tmp_path)
    shown = said(store)
    assert "take this [redacted:token]" in shown
    assert FIRST not in shown
    store.flush()
    check_files(tmp_path, FIRST, SECOND)
    assert store.stats().erasures_pending == 0
    store.close()
    check_files(tmp_path, FIRST, SECOND)

    with opened(tmp_path) as again:
        assert said(again) == shown
    events = list(read_events(tmp_path, content=True))
    turns = [event for event in events if isinstance(event, TurnAdded)]
    (redacted,) = [event for event in events if isinstance(event, TurnRedacted)]
    (erased,) = [event for event in events if isinstance(event, ContentErased)]
    assert redacted.reason is Reason.REDACTED_SPLIT_SECRET
    assert redacted.parts[0].position == turns[0].position
    assert redacted.parts[0].redactions == turns[-1].redactions == (("token", 1),)
    assert redacted.position == turns[-1].position - 1
    assert erased.reason is Reason.ERASED_REDACTED
    assert erased.payloads == 1
    assert turns[0].text is None
    assert turns[-1].text == "[redacted:token]"


@pytest.mark.parametrize("restart", [False, True])
def test_a_password_told_in_the_next_message_is_never_written(
    tmp_path: Path, restart: bool
) -> None:
    store = opened(tmp_path)
    store.add_turn(KEY, AvatarText(ASKED))
    if restart:
        store.close()
        store = opened(tmp_path)
    store.add_turn(KEY, AvatarText(PASSWORD))
    assert f"{ASKED}\n[redacted:credential:1]" in said(store)
    store.close()
    check_files(tmp_path, PASSWORD)
    assert not [e for e in read_events(tmp_path) if isinstance(e, TurnRedacted)]


def test_a_retry_answers_with_the_first_receipt_and_leaves_no_trace_of_what_it_sent(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as store:
        store.add_turn(KEY, AvatarText(ASKED), turn_id="1")
        first = store.add_turn(KEY, AvatarText(PASSWORD), turn_id="2")
        again = store.add_turn(KEY, AvatarText(PASSWORD), turn_id="2")
        assert (again.position, again.duplicate) == (first.position, True)
        assert store.add_turn(KEY, AvatarText(ASKED), turn_id="1").duplicate
        with pytest.raises(TurnIdConflict):
            store.add_turn(KEY, AvatarText("other"), turn_id="1")
        store.flush()
    with opened(tmp_path) as store:  # from a generation
        again = store.add_turn(KEY, AvatarText(PASSWORD), turn_id="2")
        assert (again.position, again.duplicate) == (first.position, True)
    check_files(tmp_path, PASSWORD)
    tags = [e.content_tag for e in read_events(tmp_path) if isinstance(e, TurnAdded)]
    assert tags[1] == bytes(16)  # no tag of a password that could be tried against it
    assert tags[0] not in (None, bytes(16))


def test_both_halves_in_one_command_are_found() -> None:
    with ConversationStore() as store:
        store.add_turns(KEY, [AvatarText(FIRST), TurnToAdd(AvatarText(SECOND), "id")])
        assert said(store).endswith("[redacted:token]\n[redacted:token:1]")
        assert store.stats().erasures_pending == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (AgentResponse(FIRST), AgentResponse(SECOND)),
        (ToolSummary("look", FIRST), ToolSummary("look", SECOND)),
        (ActionResult("say", "ok", FIRST), ActionResult("say", "ok", SECOND)),
    ],
)
def test_every_speaker_is_watched_and_each_apart(first: Turn, second: Turn) -> None:
    with ConversationStore() as store:
        store.add_turns(KEY, [first, AvatarText(SECOND)])
        assert SECOND in said(store)
        store.add_turns(KEY, [AvatarText("well, I don't know."), second])
        assert FIRST not in said(store)
        assert said(store).count(SECOND) == 1


def test_other_sessions_are_not_looked_at() -> None:
    with ConversationStore() as store:
        store.add_turn(KEY, AvatarText(FIRST))
        store.add_turn(OTHER_KEY, AvatarText(SECOND))
        store.add_turn(ConversationKey(f"{7:032x}", Channel.DIRECT_IM), AvatarText(SECOND))
        assert FIRST in said(store)
        store.expire(KEY)
        store.add_turn(KEY, AvatarText(SECOND))
        assert SECOND in said(store)


def test_turns_without_a_text_and_tools_in_between_hide_nothing() -> None:
    between = [ToolSummary("look", "nothing") for _ in range(LOOK_BACK_TURNS - 2)]
    with ConversationStore() as store:
        store.add_turn(KEY, AgentResponse(FIRST))
        store.add_turns(KEY, [AgentResponse("", call_ids=("c",)), *between])
        store.add_turn(KEY, AgentResponse(SECOND))
        shown = said(store)
        assert SECOND not in shown
        assert FIRST not in shown


def test_the_earlier_turn_is_redacted_before_it_is_compacted_into_a_summary(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, limits=Limits(turns_per_session=4)) as store:
        for text in ("one.", "two.", "three."):
            store.add_turn(KEY, AvatarText(text))
        store.add_turn(KEY, AvatarText(f"take this {FIRST}"))
        store.add_turn(KEY, AvatarText(SECOND))  # compacts what is old, FIRST maybe
        for text in ("four.", "five.", "six.", "seven."):
            store.add_turn(KEY, AvatarText(text))
        shown = said(store)
        assert FIRST not in shown
        assert SECOND not in shown
        store.flush()
        check_files(tmp_path, FIRST, SECOND)


@pytest.mark.parametrize("bytes_max", [64, 100, 8192])
def test_limits_hold_with_placeholders_that_are_longer_than_what_they_stand_for(
    bytes_max: int,
) -> None:
    limits = Limits(turn_bytes=bytes_max, tool_turn_bytes=min(bytes_max, Limits().tool_turn_bytes))
    with opened(None, limits=limits) as store:
        for number in range(4):
            key = ConversationKey(f"{number + 1:032x}", "direct_im")
            filler = "x " * ((bytes_max - 20) // 2 if number % 2 else 0)
            store.add_turns(key, [AvatarText(filler + FIRST[:20]), AvatarText(RUN[16:])])
            for message in store.context(key).messages[1:]:
                stored = without_numbers(message.content)
                assert len(stored.encode()) <= bytes_max
                assert is_clean(stored)
                assert RUN[16:] not in message.content


def test_ordinary_lines_one_after_the_other_are_stored_as_they_are() -> None:
    lines = [line for line in ORDINARY_LINES if len(line) < 200]
    with ConversationStore() as store:
        for line in lines:
            store.add_turns(KEY, [AvatarText(line), AvatarText("brb"), AvatarText("ok 5 minutes")])
            shown = said(store)
            assert shown.endswith(f"{line}\nbrb\nok 5 minutes")
            store.expire(KEY)
