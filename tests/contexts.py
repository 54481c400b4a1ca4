"""Contexts of a few turns, and how a reader takes an untrusted block apart."""

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from sessions import SECRET, session_of, stored

from turnfold.events.context import Context, ContextMessage, project
from turnfold.events.turns import Turn

BLOCK = re.compile(
    r'<untrusted_memory id="(?P<id>[0-9a-f]{16})">\n(?P<line>[^\n]*)\n'
    r'</untrusted_memory id="(?P=id)">'
)
HIDDEN_CATEGORIES = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def context_of(turns: Sequence[Turn], **budgets: Any) -> Context:
    return project(session_of(stored(turns)), None, secret=SECRET, **budgets)


def parsed(message: ContextMessage) -> dict[str, Any]:
    """The payload of a block; fails unless the message is exactly one block."""
    match = BLOCK.fullmatch(message.content)
    assert match is not None
    assert message.role == "user"
    line = match["line"]
    assert len(message.content.splitlines()) == 3
    assert not set("<>&`|") & set(line)
    assert not HIDDEN_CATEGORIES & {unicodedata.category(char) for char in line}
    assert not re.search(r"\[/?(?:inst|sys|tool)", line, re.IGNORECASE)
    found: dict[str, Any] = json.loads(line)
    return found


def visible(context: Context) -> list[int]:
    return [position for message in context.messages for position in message.positions]
