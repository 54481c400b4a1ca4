"""Who does it: the store actor, its facades, subscribers, configuration, the command line.

Names are looked up when they are first used, so that the command line starts without the parts
that it doesn't need.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnfold.actors.async_store import AsyncConversationStore
    from turnfold.actors.config import Config
    from turnfold.actors.conversation_store import ConversationStore
    from turnfold.actors.messages import (
        AddTurn,
        AddTurns,
        CommandFailed,
        DeleteKey,
        ExpireSession,
        Flush,
        GetContext,
        ListMetadata,
    )
    from turnfold.actors.state_store import AsyncSessionStateStore, SessionStateStore
    from turnfold.actors.subscriber import Subscriber
else:
    _HOMES = {
        "async_store": ("AsyncConversationStore",),
        "config": ("Config",),
        "conversation_store": ("ConversationStore",),
        "messages": (
            "AddTurn",
            "AddTurns",
            "CommandFailed",
            "DeleteKey",
            "ExpireSession",
            "Flush",
            "GetContext",
            "ListMetadata",
        ),
        "state_store": ("AsyncSessionStateStore", "SessionStateStore"),
        "subscriber": ("Subscriber",),
    }
    _HOME = {name: home for home, names in _HOMES.items() for name in names}

    def __getattr__(name: str) -> object:
        home = _HOME.get(name)
        if home is None:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        from importlib import import_module

        value = getattr(import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "AddTurn",
    "AddTurns",
    "AsyncConversationStore",
    "AsyncSessionStateStore",
    "CommandFailed",
    "Config",
    "ConversationStore",
    "DeleteKey",
    "ExpireSession",
    "Flush",
    "GetContext",
    "ListMetadata",
    "SessionStateStore",
    "Subscriber",
]
