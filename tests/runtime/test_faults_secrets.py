"""One secret through every way in: it is in no file, no context, no event and no error."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from runtime.fake_log import KEY, OTHER_KEY

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.events import read_events
from turnfold.events.commands import TurnToAdd
from turnfold.events.errors import TurnfoldError
from turnfold.events.keys import SessionId
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary, Turn

SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5"


def turns_of_every_field() -> Iterator[Turn]:
    yield AvatarText(f"my token is {SECRET}, remember it")
    yield AgentResponse(f"I have noted {SECRET}", call_ids=(SECRET, "c1"))
    yield ToolSummary(SECRET, f"GET /?token={SECRET}", call_id=SECRET)
    yield ActionResult(SECRET, "failed", f"Error: {SECRET} is refused", call_id="c1")


def attempts(store: ConversationStore) -> Iterator[Any]:
    """Calls that must be refused, with the secret wherever a caller can put it."""
    yield lambda: store.add_turn(KEY, AvatarText("other words"), turn_id=SECRET)
    yield lambda: store.add_turn(KEY, AvatarText("x"), session=SessionId(SECRET))
    yield lambda: store.add_turn(KEY, AvatarText("x"), turn_id=f"{SECRET} with a blank")
    yield lambda: ActionResult("pay", SECRET)
    yield lambda: store.subscribe(print, reasons=[SECRET])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # no subscriber


def test_a_secret_that_came_in_anywhere_is_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    with ConversationStore(Config(storage_path=tmp_path, persistence_enabled=True)) as store:
        for turn in turns_of_every_field():
            seen.append(repr(turn))
            seen.append(repr(store.add_turn(KEY, turn)))
        store.add_turn(KEY, AvatarText("words"), turn_id=SECRET)
        store.add_turns(OTHER_KEY, [TurnToAdd(turn) for turn in turns_of_every_field()])
        for attempt in attempts(store):
            with pytest.raises((TurnfoldError, TypeError)) as refused:
                attempt()
            seen.append(str(refused.value))
        store.flush()
        for key in (KEY, OTHER_KEY):
            context = store.context(key)
            seen += [str(context), str(context.as_openai()), str(context.as_anthropic())]
        seen += [str(store.list_metadata()), str(store.stats())]
        kept = b"".join(f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())
    seen += [repr(event) for event in read_events(tmp_path, content=True)]
    assert SECRET.encode() not in kept
    assert not [text for text in [*seen, caplog.text] if SECRET in text]
    assert b"remember it" in kept
