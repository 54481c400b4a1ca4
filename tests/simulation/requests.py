"""What a simulation asks of a store, in the model's words."""

import attrs

from turnfold.events.commands import AddTurns, DeleteKey, ExpireSession, TurnToAdd
from turnfold.events.keys import ConversationKey
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary, Turn


def key_of(name: str) -> ConversationKey:
    """The product's key for the model's."""
    return ConversationKey(*name.split(" "))


@attrs.frozen
class Say:
    """Some turns of one command."""

    key: str
    texts: tuple[str, ...]
    kinds: tuple[int, ...]
    turn_id: str | None = None
    session: str | None = None

    def request(self) -> AddTurns:
        turns = (turn(kind, text) for kind, text in zip(self.kinds, self.texts, strict=True))
        items = tuple(TurnToAdd(one, self.turn_id) for one in turns)
        return AddTurns(key_of(self.key), items, self.session)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # the model's ids are plain strings


@attrs.frozen
class Expire:
    """An operator ends a session."""

    key: str

    def request(self) -> ExpireSession:
        return ExpireSession(key_of(self.key))


@attrs.frozen
class Delete:
    """An operator deletes a key."""

    key: str

    def request(self) -> DeleteKey:
        return DeleteKey(key_of(self.key))


Order = Say | Expire | Delete


def turn(kind: int, text: str) -> Turn:
    """A turn of one of the four kinds."""
    if kind == 0:
        return AvatarText(text)
    if kind == 1:
        return AgentResponse(text)
    if kind == 2:
        return ToolSummary("look_around", text)
    return ActionResult("teleport", "ok", text)
