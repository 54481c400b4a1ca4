"""Turnfold: bounded, event-sourced conversation memory for agents that many people talk to.

Importing this package imports neither half of it; a name is looked up when it is first used.
So `import turnfold.events`, which is all that an auditor or a replay tool needs, loads no
actor library. Every name is defined in `turnfold.events` or `turnfold.actors` and is the same
object there.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnfold.actors import (
        AddTurn,
        AsyncConversationStore,
        Config,
        ConversationStore,
        DeleteKey,
        Flush,
        GetContext,
        SessionStateStore,
        Subscriber,
    )
    from turnfold.events import (
        ActionResult,
        AgentResponse,
        AvatarText,
        Channel,
        Context,
        ContextMessage,
        ConversationKey,
        DeletionReceipt,
        Gap,
        Notice,
        Reason,
        Receipt,
        SessionMetadata,
        ToolSummary,
        TurnfoldError,
        fold,
        read_events,
        redact,
        replay,
        verify,
    )
else:
    # In the else branch, so that type checkers refuse any name that isn't listed above.
    _FROM_ACTORS = frozenset(
        {
            "AddTurn",
            "AsyncConversationStore",
            "Config",
            "ConversationStore",
            "DeleteKey",
            "Flush",
            "GetContext",
            "SessionStateStore",
            "Subscriber",
        }
    )

    def __getattr__(name: str) -> object:
        if name not in __all__:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        from importlib import import_module

        home = import_module("turnfold.actors" if name in _FROM_ACTORS else "turnfold.events")
        return getattr(home, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "ActionResult",
    "AddTurn",
    "AgentResponse",
    "AsyncConversationStore",
    "AvatarText",
    "Channel",
    "Config",
    "Context",
    "ContextMessage",
    "ConversationKey",
    "ConversationStore",
    "DeleteKey",
    "DeletionReceipt",
    "Flush",
    "Gap",
    "GetContext",
    "Notice",
    "Reason",
    "Receipt",
    "SessionMetadata",
    "SessionStateStore",
    "Subscriber",
    "ToolSummary",
    "TurnfoldError",
    "fold",
    "read_events",
    "redact",
    "replay",
    "verify",
]
