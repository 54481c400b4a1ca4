"""What happened: the pure domain and the durable log. Needs no actor library.

Names are looked up when they are first used, so that a program that only reads events doesn't
pay for the parts that decide. Submodules hold more: `turnfold.events.session_state`,
`turnfold.events.errors`, `turnfold.events.limits`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnfold.events.context import Context, ContextMessage
    from turnfold.events.errors import TurnfoldError
    from turnfold.events.event import Event, Gap
    from turnfold.events.evolve import fold
    from turnfold.events.keys import Channel, ConversationKey
    from turnfold.events.limits import Limits
    from turnfold.events.log.read_events import read_events
    from turnfold.events.log.replay import replay
    from turnfold.events.log.verify import verify
    from turnfold.events.metadata import SessionMetadata
    from turnfold.events.notice import Notice
    from turnfold.events.reasons import Reason
    from turnfold.events.receipts import DeletionReceipt, ExpiryReceipt, Receipt
    from turnfold.events.redaction import RedactedText, redact
    from turnfold.events.sealed import Erased
    from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, Outcome, ToolSummary
else:
    _HOMES = {
        "context": ("Context", "ContextMessage"),
        "errors": ("TurnfoldError",),
        "event": ("Event", "Gap"),
        "evolve": ("fold",),
        "keys": ("Channel", "ConversationKey"),
        "limits": ("Limits",),
        "log.read_events": ("read_events",),
        "log.replay": ("replay",),
        "log.verify": ("verify",),
        "metadata": ("SessionMetadata",),
        "notice": ("Notice",),
        "reasons": ("Reason",),
        "receipts": ("DeletionReceipt", "ExpiryReceipt", "Receipt"),
        "redaction": ("RedactedText", "redact"),
        "sealed": ("Erased",),
        "turns": ("ActionResult", "AgentResponse", "AvatarText", "Outcome", "ToolSummary"),
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
    "ActionResult",
    "AgentResponse",
    "AvatarText",
    "Channel",
    "Context",
    "ContextMessage",
    "ConversationKey",
    "DeletionReceipt",
    "Erased",
    "Event",
    "ExpiryReceipt",
    "Gap",
    "Limits",
    "Notice",
    "Outcome",
    "Reason",
    "Receipt",
    "RedactedText",
    "SessionMetadata",
    "ToolSummary",
    "TurnfoldError",
    "fold",
    "read_events",
    "redact",
    "replay",
    "verify",
]
