"""What a key is called inside the state: its avatar's pseudonym and its channel's code."""

from typing import Final
from uuid import UUID

from turnfold.events.keys import ConversationKey, Pseudonym, pseudonym
from turnfold.events.session import KeyTag

CACHED_MAX: Final = 16_384  # avatars; about 3 MiB


class KeyNames:
    """Call it with a key; any thread. `secret` is the store's. Remembers the newest avatars."""

    __slots__ = ("_known", "_secret")

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._known: dict[UUID, Pseudonym] = {}

    def __call__(self, key: ConversationKey) -> KeyTag:
        """The key's tag, always the same in one store."""
        known = self._known.get(key.avatar)
        if known is None:
            known = pseudonym(self._secret, key.avatar)
            if len(self._known) >= CACHED_MAX:
                self._known = {}
            self._known[key.avatar] = known
        return known, key.channel.code
