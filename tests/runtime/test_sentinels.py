"""A secret sent through every public entry point shows nowhere.

One secret of each kind is sent in each place that takes a text: as the text of each kind of turn,
as names and ids, in the configuration, as a subscriber's name, in session state, and where the
text has no business at all, which is refused. Afterwards no file holds a part of it, no log line
(at DEBUG), no exception with all its causes, no repr, no notice, no metadata and no counter.
"""

import logging
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
from domain.redaction_lines import SecretLine, secret_lines
from domain.session_state_cases import APPROVAL, GENE, MEMORY, SCOPE, SHA
from runtime.cli_run import chat, turnfold
from runtime.fake_log import KEY, OTHER_KEY, until
from runtime.state_rig import config, every_byte, of_conversation, opened

from turnfold.actors.config import SETTINGS, Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.messages import AddTurn, AddTurns, GetContext, ListMetadata
from turnfold.actors.refs import StoreRef
from turnfold.actors.state_store import SessionStateStore
from turnfold.actors.subscriber import Subscriber
from turnfold.events.commands import DeleteKey, ExpireSession, TurnToAdd
from turnfold.events.errors import TurnfoldError
from turnfold.events.keys import ConversationKey, SessionId
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.notice import Notice
from turnfold.events.redaction import KINDS, is_clean, redact
from turnfold.events.session_state import (
    OperatorApproval,
    SessionRuntimeProfile,
    SessionStateAnchor,
    SessionStateKey,
    TenantScope,
)
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary

PART = 10
"""So many characters of a secret in a row are a leak."""


def the_lines() -> dict[str, SecretLine]:
    """For each kind the line with the longest secret; longer than anything found by chance."""
    lines: dict[str, SecretLine] = {}
    for line in secret_lines(23):
        if line.kind not in lines or len(line.secret) > len(lines[line.kind].secret):
            lines[line.kind] = line
    digits = "-".join(map(str, (4821, 9375, 1164)))
    lines["code"] = SecretLine("code", f"backup code: {digits} ok", digits)
    half = ["legal", "winner", "thank", "year", "wave", "sausage"]  # a published test vector
    seed = " ".join([*half, "worth", "useful", *half[:3], "yellow"])
    lines["seed"] = SecretLine("seed", f"my seed phrase: {seed}", seed)
    return lines


LINES = the_lines()


def parts(secret: str) -> list[str]:
    """The secret's beginning, middle and end."""
    size, middle = min(PART, len(secret)), len(secret) // 2
    return [secret[:size], secret[middle - size // 2 : middle + size // 2], secret[-size:]]


def as_id(line: SecretLine) -> str:
    """The line as an id may be written, without blanks; short enough, the secret in it."""
    return "".join(line.text.split())[-128:]


# --- where a text can be sent -----------------------------------------------------------------


class Caller(Subscriber):
    """Notes what it is told."""

    told: list[str]

    def on_notice(self, notice: Notice) -> None:
        self.told.append(repr(notice) + str(notice) + repr(attrs.asdict(notice)))


@attrs.frozen(eq=False)
class Open:
    """An open store, and everything that came back from it as it would be printed."""

    store: ConversationStore
    states: SessionStateStore
    said: list[str]

    def send(self, call: Callable[[], object]) -> None:
        """Keep what the call answers, or how it fails, with every cause."""
        try:
            answer = call()
        except (TurnfoldError, TypeError) as error:
            told = traceback.format_exception(error)
            self.said.append("".join(told) + repr(error) + repr(error.args) + repr(vars(error)))
        else:
            self.said.extend((repr(answer), str(answer)))


def _agent_calls(add: Callable[..., object], call_id: str) -> object:
    return add(KEY, AgentResponse("calls", call_ids=(call_id,)))


def _tool_answers(add: Callable[..., object], call_id: str) -> object:
    return add(KEY, ToolSummary("search", "x", call_id=call_id))


def _ask_later(ref: StoreRef, message: object) -> object:
    return ref.ask(message, block=False).get()


def _turns(to: Open, line: SecretLine) -> Iterator[Callable[[], object]]:
    text, name = line.text, as_id(line)
    add = to.store.add_turn
    yield lambda: add(KEY, AvatarText(text))
    yield lambda: add(KEY, AgentResponse(text))
    yield lambda: add(KEY, AgentResponse("called", call_ids=("c-1",)))
    yield lambda: add(KEY, ToolSummary("search", text, call_id="c-1"))
    yield lambda: add(KEY, ActionResult("move", "failed", text))
    yield lambda: add(KEY, ToolSummary(text, "found"))
    yield lambda: add(KEY, ActionResult(text, "ok"))
    yield lambda: add(KEY, ActionResult("move", text))  # pyright: ignore[reportArgumentType]  # converted
    yield lambda: add(KEY, AvatarText("id"), turn_id=name)
    yield lambda: add(KEY, AvatarText("another"), turn_id=name)
    yield lambda: add(KEY, AvatarText("id"), turn_id=text)
    for value in (text, name) if is_redacted(name) else (text,):
        yield partial(_agent_calls, add, value)
        yield partial(_tool_answers, add, value)
    yield lambda: add(KEY, AvatarText("session"), session=SessionId(text))
    yield lambda: add(KEY, text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # refused
    yield lambda: add(KEY, AvatarText("x"), timeout=text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # refused
    yield lambda: to.store.add_turns(KEY, [AvatarText(text), TurnToAdd(AvatarText(text), name)])
    yield lambda: to.store.add_turns(KEY, text)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # refused
    yield lambda: repr((AvatarText(text), ToolSummary(text, text), TurnToAdd(AvatarText(text))))
    yield lambda: repr((TurnToAdd(AvatarText("x"), name), redact(text)))


def _keys(to: Open, line: SecretLine) -> Iterator[Callable[[], object]]:
    text: Any = line.text
    uuid = str(OTHER_KEY.avatar)
    yield lambda: ConversationKey(text, "direct_im")
    yield lambda: ConversationKey(uuid, text)
    for call in (to.store.context, to.store.expire, to.store.delete):
        yield partial(call, text)


def _messages(to: Open, line: SecretLine) -> Iterator[Callable[[], object]]:
    text: Any = line.text
    ref = to.store.ref
    for message in (
        AddTurn(KEY, AvatarText(text), as_id(line)),
        AddTurn(KEY, AvatarText("x"), text),
        AddTurn(text, AvatarText("x")),
        AddTurn(KEY, AvatarText("x"), None, text),
        AddTurns(KEY, [AvatarText(text)]),
        AddTurns(KEY, text),
        ExpireSession(text),
        DeleteKey(text),
        GetContext(text),
        GetContext(KEY, budget_bytes=text),
        GetContext(KEY, budget_tokens=text),
        ListMetadata(after=text),
        ListMetadata(size=text),
        text,
        (text, {text: text}),
    ):
        yield partial(ref.ask, message)
        yield partial(_ask_later, ref, message)
        yield partial(ref.tell, message)
    yield lambda: ref.tell("x", reply_to=text)
    yield lambda: ref.ask(ListMetadata(), timeout=text)


def _reads(to: Open, line: SecretLine) -> Iterator[Callable[[], object]]:
    text: Any = line.text
    store = to.store
    yield lambda: repr(store.context(KEY))
    yield lambda: store.context(KEY).as_openai()
    yield lambda: store.context(KEY).as_anthropic()
    yield lambda: store.context(KEY, budget_bytes=text)
    yield lambda: store.context(KEY, budget_tokens=900, count_tokens=text)
    yield store.list_metadata
    yield lambda: store.list_metadata(after=text)
    yield store.stats
    yield lambda: store.flush(timeout=text)


def _subscribers(to: Open, line: SecretLine) -> Iterator[Callable[[], object]]:
    text: Any = line.text
    caller = type("Told", (Caller,), {"told": to.said})
    for name in (text, as_id(line), as_id(line)):  # once more: the name is taken
        yield partial(to.store.subscribe, caller, name=name, after=0)
    yield lambda: to.store.subscribe(caller, after=text)
    yield lambda: to.store.subscribe(caller, reasons=[text])
    yield lambda: to.store.subscribe(caller, key=text)
    yield lambda: to.store.subscribe(text)
    yield lambda: to.store.notices(after=text)
    yield lambda: to.store.notices(reasons=[text])
    yield lambda: to.store.notices(key=text)


def _session_state(to: Open, line: SecretLine) -> Iterator[Callable[[], object]]:
    yield from _state_fields(to.states, line.text)
    if is_redacted(as_id(line)):
        yield from _state_fields(to.states, as_id(line))


def _state_fields(states: SessionStateStore, text: Any) -> Iterator[Callable[[], object]]:
    def anchor(kind: str) -> SessionStateAnchor:
        return SessionStateAnchor(kind, text, SHA)

    def write(change: Callable[[], dict[str, Any]]) -> object:
        made = of_conversation(states, **change())
        return repr(made), states.write(made.scope, made, APPROVAL)

    digest = states.turn_digest
    yield lambda: write(lambda: {"source_trace_ids": [text]})
    yield lambda: write(lambda: {"scope": TenantScope(text, "workspace", "session")})
    yield lambda: write(lambda: {"scope": TenantScope("tenant", text, "session")})
    yield lambda: write(lambda: {"scope": TenantScope("tenant", "workspace", text)})
    yield lambda: write(lambda: {"profile": SessionRuntimeProfile("coding", model_id=text)})
    yield lambda: write(lambda: {"profile": SessionRuntimeProfile(text)})
    yield lambda: write(lambda: {"routing_evidence": [anchor("routing")]})
    yield lambda: write(lambda: {"memory_anchors": [MEMORY, anchor("memory_chain")]})
    yield lambda: write(lambda: {"gene_anchors": [GENE, text]})
    yield lambda: OperatorApproval(text, at=0, until=1)
    yield lambda: states.read(SCOPE, SessionStateKey(SCOPE, text))
    yield lambda: states.read(TenantScope(text, text, text), text)
    yield lambda: digest(text, turn_id="t", role="avatar", scope=SCOPE)
    yield lambda: digest("x", turn_id=text, role="avatar", scope=SCOPE)
    yield lambda: digest("x", turn_id="t", role=text, scope=SCOPE)
    yield lambda: digest("x", turn_id="t", role="avatar", scope=SCOPE, summary_preview=text)


def _configuration(to: Open, line: SecretLine) -> Iterator[Callable[[], object]]:
    del to
    text: Any = line.text
    for name in SETTINGS:
        if name != "storage_path":  # a path is what it is; it is made
            yield partial(Config, **{name: text})
    yield lambda: Config(storage_path=text)
    for name in BOUNDS:
        yield partial(Config, limits={name: text})
        yield partial(Limits, **{name: text})
    yield lambda: Config(limits=text)
    yield lambda: Config.from_mapping({text: 1})
    yield lambda: Config.from_mapping({"conversation": {text: 1}})
    yield lambda: Config.from_mapping({"conversation": {as_id(line): text}})
    yield lambda: Config.from_mapping({"conversation": {"limits": {text: text}}})
    yield lambda: Config.from_mapping({"conversation": text})
    yield lambda: Config.from_mapping({"session_state": {text: text}})


ENTRIES: dict[str, Callable[[Open, SecretLine], Iterator[Callable[[], object]]]] = {
    "turns": _turns,
    "keys": _keys,
    "messages": _messages,
    "subscribers": _subscribers,
    "session state": _session_state,
    "reads": _reads,
    "configuration": _configuration,
}


def is_redacted(text: str) -> bool:
    """Whether the rules find the secret in this form too: else nobody could know that it is one."""
    return not is_clean(text)


# --- the tests ----------------------------------------------------------------------------------


def test_there_is_a_line_for_every_kind_and_its_secret_goes() -> None:
    assert set(LINES) == set(KINDS) - {"text"}  # "text" stands for a text that can't be searched
    for line in LINES.values():
        assert line.secret in line.text
        assert len(line.secret) >= PART
        assert not any(part in redact(line.text) for part in parts(line.secret))


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("kind", LINES)
def test_a_secret_shows_nowhere(
    kind: str, entry: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    line = LINES[kind]
    with opened(tmp_path) as store:
        to = Open(store, SessionStateStore(store), [])
        store.add_turn(ConversationKey("828f937f-5fe2-5d35-a368-a556b6fa9e23", "direct_im"), SAID)
        calls = 0
        for call in ENTRIES[entry](to, line):
            to.send(call)
            calls += 1
        assert calls >= 5
        for read in _reads(to, line):
            to.send(read)
        heard: list[str] = []
        store.subscribe(type("Heard", (Caller,), {"told": heard}), after=0)
        store.flush()
        until(lambda: len(heard) >= 3)
        while_open = every_byte(tmp_path)
    with opened(tmp_path) as store:  # recovered: the same again, without what memory held
        again = Open(store, SessionStateStore(store), [])
        for read in _reads(again, line):
            again.send(read)
    logged = caplog.text + repr([(r.msg, r.args, r.__dict__) for r in caplog.records])
    everything = "\n".join((*to.said, *heard, *again.said, logged))
    files = while_open + every_byte(tmp_path)
    for part in parts(line.secret):
        assert part not in everything
        assert part.encode() not in files
        assert part.encode("utf-16-le") not in files


SAID = AvatarText("hello there")


@pytest.mark.parametrize("kind", LINES)
def test_a_secret_on_the_command_line_and_in_what_it_reads_shows_nowhere(
    kind: str, tmp_path: Path
) -> None:
    line = LINES[kind]
    avatar = str(KEY.avatar)
    said = {"avatar": avatar, "channel": "direct_im", "kind": "avatar", "text": line.text}
    lines: list[dict[str, Any]] = [
        said,
        said | {"turn_id": as_id(line)},
        said | {"channel": line.text},
        said | {"avatar": line.text},
        said | {"kind": line.text},
        said | {line.text: 1},
        {line.text: line.text},
        said | {"kind": "tool", "tool": line.text},
    ]
    store = tmp_path / "store"
    outputs = [turnfold("ingest", "--store", store, "-", stdin=chat(one)) for one in lines] + [
        turnfold(command, "--store", store, *more)
        for command, *more in (
            ["expire", line.text, "direct_im"],
            ["delete", avatar, line.text],
            ["subject", line.text],
            ["sessions"],
            ["context", avatar, "direct_im"],
            ["verify"],
            ["events"],
        )
    ]
    name = as_id(line).replace('"', "")
    for form in (f'"{name}" = 1', f'storage_path = ["{name}"]', f"[{line.text}"):
        kept = tmp_path / "turnfold.toml"
        kept.write_text(form)
        outputs.append(turnfold("sessions", "--config", kept))
        kept.unlink()
    outputs.append(turnfold("redact", "--explain", stdin=line.text.encode()))
    shown = "\n".join(done.out + done.err for done in outputs)
    for part in parts(line.secret):
        assert part not in shown
        assert part.encode() not in every_byte(tmp_path)


def test_a_configuration_of_plain_values_is_told_by_name() -> None:
    """Else the tests above would pass with messages that say nothing."""
    with pytest.raises(TurnfoldError, match=r"conversation\.durablity is not a setting"):
        Config.from_mapping({"conversation": {"durablity": 1}})
    assert config().durable_writes_enabled
