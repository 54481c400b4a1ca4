"""The aggregate for `eventsourcing`, in a module of its own because it is stored by its path."""

import uuid
from typing import Any

from eventsourcing.application import AggregateNotFoundError, Application
from eventsourcing.domain import Aggregate, event


class Conversation(Aggregate):
    """One conversation, all turns in memory."""

    @event("Started")
    def __init__(self, name: str) -> None:
        self.name = name
        self.turns: list[tuple[int, str, str]] = []

    @staticmethod
    def create_id(name: str) -> uuid.UUID:
        """The id that belongs to a name."""
        return uuid.uuid5(uuid.NAMESPACE_URL, name)

    @event("TurnAdded")
    def add_turn(self, number: int, role: str, text: str) -> None:
        """One more turn."""
        self.turns.append((number, role, text))


class Conversations(Application[Any]):
    """All conversations."""

    def add_turn(self, name: str, number: int, role: str, text: str) -> None:
        """Get, change, save."""
        conversation = self._get(name)
        conversation.add_turn(number, role, text)
        self.save(conversation)

    def last(self, name: str) -> list[tuple[int, str, str]]:
        """The last 50 turns."""
        return self._get(name).turns[-50:]

    def _get(self, name: str) -> Any:
        try:
            return self.repository.get(Conversation.create_id(name))
        except AggregateNotFoundError:
            return Conversation(name)
