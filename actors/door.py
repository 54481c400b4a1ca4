"""The door before the store actor: what every request passes in its sender's own thread.

Here a message becomes a request of bounded size, or is refused: types are checked, texts are
clipped to the configured limits, commands in flight are counted. Texts are redacted already, as a
turn can't be constructed otherwise. The store actor refuses what didn't come through its door.
"""

import math
import os
import threading
import time
from typing import Any, Final, cast, get_args
from weakref import WeakSet

import attrs
import pykka

from turnfold.actors.admission import Admission, closed_error
from turnfold.actors.config import Config
from turnfold.actors.messages import AddTurn, AddTurns, Flush, Submit, Sync
from turnfold.actors.reply import NO_REPLY, BlockingSlot, LoopSlot, Slot
from turnfold.events import commands
from turnfold.events.errors import (
    ConversationsDisabled,
    InvalidInput,
    InvalidKey,
    InvalidTurn,
    WouldDeadlock,
)
from turnfold.events.keys import ConversationKey, SessionId, check_session_id
from turnfold.events.limits import ADD_TURNS_BYTES_MAX, Limits
from turnfold.events.redaction import clip
from turnfold.events.redaction_operator import OperatorRules
from turnfold.events.turns import AgentResponse, AvatarText, ToolSummary, Turn

_BUILT_IN: Final = OperatorRules()
Request = commands.Command | Sync | Flush
# Commands that anyone may send as they are; AddTurns is made here, those about session-state
# records behind their gate (state_desk), the rest is the store's own.
_INTERNAL = (
    commands.AddTurns,
    commands.Sweep,
    commands.Conform,
    commands.RecordState,
    commands.DeleteState,
)
_PLAIN = (*(cls for cls in get_args(commands.Command) if cls not in _INTERNAL), Sync, Flush)


def bounded(turn: Turn, limits: Limits, rules: OperatorRules = _BUILT_IN) -> Turn:
    """The turn with a text of at most `turn_bytes`, or `tool_turn_bytes` for tool turns.

    What `rules` find in its text and names is redacted first. Raises InvalidTurn if it is not one
    of the four kinds.
    """
    commands.check_turn(turn)
    if rules.rules:
        turn = _redacted(turn, rules)
    limit = limits.tool_turn_bytes if turn.kind.is_tool else limits.turn_bytes
    if turn.text.byte_count <= limit:
        return turn
    return attrs.evolve(turn, text=clip(turn.text, limit))


def _redacted(turn: Turn, rules: OperatorRules) -> Turn:
    fields: dict[str, Any] = {"text": rules.redact(turn.text)}
    if isinstance(turn, AgentResponse):
        fields["call_ids"] = tuple(map(rules.redact, turn.call_ids))
    elif not isinstance(turn, AvatarText):
        fields["call_id"] = None if turn.call_id is None else rules.redact(turn.call_id)
        name = "tool" if isinstance(turn, ToolSummary) else "action"
        fields[name] = rules.redact(getattr(turn, name))
    return attrs.evolve(turn, **fields)


class Door:
    """One per store. All methods are safe from any thread.

    `own_threads` are the identities of the threads that must never wait for the store.
    """

    __slots__ = ("__weakref__", "_actor", "_config", "_limits", "admission", "own_threads")

    def __init__(self, config: Config, admission: Admission, actor: pykka.ActorRef[Any]) -> None:
        self._config = config
        self._limits = config.limits
        self._actor = actor
        self.admission = admission
        self.own_threads: set[int] = set()
        _open_doors.add(self)

    # --- from messages to requests -----------------------------------------------------

    def request(self, message: object) -> tuple[Request, bool]:
        """The bounded request, and whether its answer is the only one of a tuple.

        Raises InvalidInput, InvalidKey, InvalidTurn or ConversationsDisabled.
        """
        if isinstance(message, AddTurn):
            item = commands.TurnToAdd(message.turn, message.turn_id)
            return self.add_turns(message.key, (item,), message.session), True
        if isinstance(message, AddTurns):
            items = tuple(
                item if isinstance(item, commands.TurnToAdd) else commands.TurnToAdd(item)
                for item in message.turns
            )
            return self.add_turns(message.key, items, message.session), False
        if isinstance(message, _PLAIN):
            if isinstance(message, commands.ExpireSession | commands.DeleteKey):
                check_key(message.key)
            return cast("Request", message), False
        raise InvalidInput(
            f"the store takes no {type(message).__name__}; turnfold.actors.messages has what it"
            " takes"
        )

    def add_turns(
        self,
        key: ConversationKey,
        items: tuple[commands.TurnToAdd, ...],
        session: SessionId | None,
    ) -> commands.AddTurns:
        """The command, every text clipped. Raises as `request`."""
        check_key(key)
        if session is not None:
            check_session_id(session)
        if not self._config.enabled:
            raise ConversationsDisabled(
                "[conversation] enabled is false: no transcript is kept and no turn is stored"
            )
        limits, rules = self._limits, self._config.redaction
        total = 0
        kept: list[commands.TurnToAdd] = []
        for item in items:
            turn = bounded(item.turn, limits, rules)
            total += turn.text.byte_count
            kept.append(item if turn is item.turn else commands.TurnToAdd(turn, item.turn_id))
        if total > ADD_TURNS_BYTES_MAX:
            raise InvalidTurn(
                f"the turns have {total} bytes of text; add at most {ADD_TURNS_BYTES_MAX} at a time"
            )
        return commands.AddTurns(key, tuple(kept), session)

    # --- sending -------------------------------------------------------------------------

    def call(self, request: Request, single: bool, timeout_s: float | None) -> Any:
        """Send and wait for the answer, which comes after the sync that covers it.

        Raises StoreBusy, StoreClosed, WouldDeadlock, or the command's own error.
        """
        self.check_thread()
        timeout_s = checked_timeout(timeout_s)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self.admission.enter(timeout_s)
        slot = BlockingSlot()
        self.send(request, slot, single)
        return slot.wait(None if deadline is None else deadline - time.monotonic())

    async def call_async(self, request: Request, single: bool, slot: LoopSlot) -> Any:
        """Send and await the answer. A cancelled caller leaves a command that stands, whole."""
        if not self.admission.try_enter():
            await self.admission.enter_async(LoopSlot(slot.loop))
        self.send(request, slot, single)
        return await slot.future

    def post(self, request: Request, single: bool, slot: Slot = NO_REPLY) -> None:
        """Send without waiting. Raises StoreBusy or StoreClosed."""
        if not self.admission.try_enter():
            raise self.admission.busy_error()
        self.send(request, slot, single)

    def send(self, request: Request, slot: Slot, single: bool, at: int | None = None) -> None:
        """Put an admitted request in the actor's inbox; `at` as in Submit. Raises StoreClosed."""
        try:
            self._actor.tell(Submit(request, slot, single, self, at))
        except pykka.ActorDeadError:
            self.admission.leave(1)
            raise closed_error() from None

    def check_thread(self) -> None:
        """Raises WouldDeadlock in a thread that the store needs in order to answer."""
        if threading.get_ident() in self.own_threads:
            raise WouldDeadlock(
                "a blocking call from the store's own thread would wait for itself; use tell()"
            )


_open_doors: Final[WeakSet[Door]] = WeakSet()


def _shut_in_child() -> None:
    """A forked child has none of the store's threads: its calls would wait for ever."""
    for door in list(_open_doors):
        door.admission.disown()


if hasattr(os, "register_at_fork"):  # where there is no fork there is no child to refuse
    os.register_at_fork(after_in_child=_shut_in_child)


def checked_timeout(timeout_s: object) -> float | None:
    """Seconds that a lock can wait, or None for as long as it takes. Raises InvalidInput."""
    if timeout_s is None:
        return None
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float):
        raise InvalidInput("a timeout is a number of seconds, or None for as long as it takes")
    if isinstance(timeout_s, float) and math.isnan(timeout_s):
        raise InvalidInput("a timeout is NaN; pass a number of seconds, or None")
    # Half of what a lock takes: a deadline is added to it.
    return float(min(max(timeout_s, 0), threading.TIMEOUT_MAX / 2))


def check_reply_to(reply_to: object) -> None:
    """Raises InvalidInput unless it is a pykka actor's reference."""
    if not isinstance(reply_to, pykka.ActorRef):
        raise InvalidInput("reply_to must be a pykka.ActorRef (a proxy has it as actor_ref)")


def check_key(key: object) -> None:
    """Raises InvalidKey unless it is a ConversationKey."""
    if not isinstance(key, ConversationKey):
        raise InvalidKey("the key must be a ConversationKey(avatar, channel)")
