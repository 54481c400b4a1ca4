"""The context: what a model is shown of one key, and nothing else that is kept.

Messages have the role `user` or `assistant`, never another. First comes the summary, or in a fresh
session a notice that nothing before it is known. Then the turns in order of position: an avatar's
text as a plain user message, the agent's as an assistant message, everything else (tool turns,
action results, calls without a text, turns whose text is lost) as a user message that is one
untrusted block (see untrusted). A block names a call id only if the call is in the context too.

Texts are never concatenated: where a provider wants neighbours of one role merged, they stay
separate parts of one message.
"""

from collections.abc import Callable
from typing import Final, Literal, TypedDict

import attrs

from turnfold.events.context_budget import Budget, fit
from turnfold.events.context_messages import (
    ContextMessage,
    Drawings,
    Frame,
    PreviousEnd,
    Speaker,
    notice_message,
    summary_message,
    turn_messages,
)
from turnfold.events.keys import SessionId
from turnfold.events.reasons import START_AFTER, Reason
from turnfold.events.session import EndedSession, Session

__all__ = [
    "AnthropicMessage",
    "Context",
    "ContextMessage",
    "OpenAIMessage",
    "PreviousEnd",
    "TextPart",
    "project",
]

_PREVIOUS: Final = {
    Reason.STARTED_AFTER_EXPIRY: PreviousEnd.EXPIRED,
    Reason.STARTED_AFTER_EVICTION: PreviousEnd.EVICTED,
    Reason.STARTED_AFTER_DELETION: PreviousEnd.DELETED,
    Reason.STARTED_AFTER_LOSS: PreviousEnd.LOST,
    Reason.STARTED_PREDECESSOR_UNKNOWN: PreviousEnd.UNKNOWN,
}


class OpenAIMessage(TypedDict):
    """One message as chat-completion interfaces take it."""

    role: Speaker
    content: str


class TextPart(TypedDict):
    """One text of a message that may have several."""

    type: Literal["text"]
    text: str


class AnthropicMessage(TypedDict):
    """One message as the messages interface takes it: roles alternate, the first is the user's."""

    role: Speaker
    content: list[TextPart]


_OPENING: Final = "(The assistant speaks first.)"


@attrs.frozen(repr=False)
class Context:
    """What the model sees.

    `session_id` is None if no session is live. `fresh`: the agent hasn't spoken in this session
    yet, and nothing of an earlier one is known. `previous_ended` says how the session before it
    ended, None if there was none. `position` is that of the newest turn seen (or of the last
    session's end, or 0).
    """

    session_id: SessionId | None
    fresh: bool
    previous_ended: PreviousEnd | None
    position: int
    messages: tuple[ContextMessage, ...]

    def as_openai(self) -> list[OpenAIMessage]:
        """One message each, in the shape of chat completions."""
        return [{"role": message.role, "content": message.content} for message in self.messages]

    def as_anthropic(self) -> list[AnthropicMessage]:
        """Alternating messages, the user's first, with one text part for each of `messages`.

        Blank texts are left out and the end of a last assistant message is trimmed, as the
        interface demands.
        """
        merged: list[AnthropicMessage] = []
        for message in self.messages:
            if message.content.isspace():
                continue
            part: TextPart = {"type": "text", "text": message.content}
            if not merged and message.role == "assistant":
                merged.append({"role": "user", "content": [{"type": "text", "text": _OPENING}]})
            if merged and merged[-1]["role"] == message.role:
                merged[-1]["content"].append(part)
            else:
                merged.append({"role": message.role, "content": [part]})
        if merged and merged[-1]["role"] == "assistant":
            last = merged[-1]["content"][-1]
            last["text"] = last["text"].rstrip()
        return merged

    def __repr__(self) -> str:
        return f"Context(position={self.position}, {len(self.messages)} messages)"


def project(
    session: Session | None,
    ended: EndedSession | None,
    *,
    secret: bytes,
    drawings: Drawings | None = None,
    budget_bytes: int | None = None,
    budget_tokens: int | None = None,
    count_tokens: Callable[[str], int] | None = None,
) -> Context:
    """The context of a key: of its live session, or of none after the last one ended.

    An overdue session is an ended one: the caller passes None for it. `secret` (at most 64 bytes)
    keys the ids of blocks. `drawings` keeps blocks from one context of this session to the next;
    it is the caller's to forget them with the texts. Budgets bound the contents of all messages
    together, in UTF-8 bytes and in tokens; `count_tokens` counts one text, without it a token is
    taken to be three bytes. Over a budget whole exchanges are left out, oldest first, and the
    summary if it doesn't fit beside the newest exchange or takes more than half; the newest
    exchange stays, its texts clipped if need be. Raises InvalidInput for a negative budget.
    """
    budget = None
    if budget_bytes is not None or budget_tokens is not None:
        budget = Budget(budget_bytes, budget_tokens, count_tokens)
    if session is None:
        return _of_no_session(ended, Frame(secret, ""), budget)
    frame = Frame(secret, session.session_id, drawings)
    previous = _PREVIOUS.get(session.started.reason)
    opening: ContextMessage | None = None
    fresh = False
    if session.summary is not None:
        opening = summary_message(session.summary, frame)
    elif not any(turn.reason is Reason.ADDED_AGENT for turn in session.turns):
        fresh = True
        opening = notice_message(previous, frame)
    if budget is None:
        messages = [opening, *turn_messages(session.turns, frame)]
    else:
        messages = fit(session.turns, opening, budget, frame)
    said = tuple([message for message in messages if message is not None])
    return Context(session.session_id, fresh, previous, session.last, said)


def _of_no_session(ended: EndedSession | None, frame: Frame, budget: Budget | None) -> Context:
    previous = None if ended is None else _PREVIOUS[START_AFTER[ended.reason]]
    notice = notice_message(previous, frame)
    messages = (notice,) if budget is None or budget.holds(budget.cost(notice)) else ()
    return Context(None, True, previous, 0 if ended is None else ended.position, messages)
