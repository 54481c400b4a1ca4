"""The messages of a context, turn by turn: who says what, in which frame."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from turnfold.events.event import TurnAdded
from turnfold.events.extras import decode_extras
from turnfold.events.ordinals import numbered
from turnfold.events.reasons import Reason
from turnfold.events.sealed import NONCE_BYTES
from turnfold.events.session import Summary
from turnfold.events.summary_body import assemble, lost_body, render
from turnfold.events.summary_facts import decode
from turnfold.events.turns import Kind
from turnfold.events.untrusted import (
    TRUSTED,
    UNTRUSTED,
    Field,
    block,
    named_record,
    payload,
    record,
    unframed,
)

Speaker = Literal["user", "assistant"]
_NEW_SESSION: Final = (
    "Stated by the conversation store. This conversation is new and nothing said before it is"
    " known: do not assume or invent an earlier one."
)


class PreviousEnd(StrEnum):
    """How the session before this one ended."""

    EXPIRED = "expired"
    EVICTED = "evicted"
    DELETED = "deleted"
    LOST = "lost"
    UNKNOWN = "unknown"


# A tuple, because a context holds hundreds: 0.3 us each instead of 1.4 for a frozen attrs class.
class ContextMessage(NamedTuple):
    """One message. `trusted` follows from the kind of turn; `positions` are of what it shows."""

    role: Speaker
    content: str
    trusted: bool
    positions: tuple[int, ...]

    def __repr__(self) -> str:
        return f"ContextMessage({self.role}, {len(self.content)} characters)"


class Drawing(NamedTuple):
    """A block as it was made before, and of what. It names those `call_ids` that are `shown`."""

    sealed: bytes
    call_ids: tuple[str, ...]
    shown: tuple[str, ...]
    message: ContextMessage


Drawings = dict[int, Drawing]
"""Blocks of one session by the position of what they show.

Making one costs 100 us, most of it to check that name and text make no secret together.
"""


class Frame(NamedTuple):
    """What the ids of blocks are made from: the store's secret and the session.

    `drawings` keeps the blocks of whole texts for the next context.
    """

    secret: bytes
    scope: str
    drawings: Drawings | None = None

    def message(self, line: str, *, trusted: bool, position: int | None) -> ContextMessage:
        """A user message that is one block with this payload."""
        content = block(line, secret=self.secret, scope=self.scope)
        return ContextMessage("user", content, trusted, () if position is None else (position,))


def notice_message(previous: PreviousEnd | None, frame: Frame) -> ContextMessage:
    """Tells the model that nothing came before, so that it invents no past."""
    ended = "null" if previous is None else f'"{previous}"'
    body = f'"kind":"session","fresh":true,"previous_ended":{ended},"records":[]'
    return frame.message(payload(TRUSTED, body, _NEW_SESSION), trusted=True, position=None)


def summary_message(summary: Summary, frame: Frame) -> ContextMessage:
    """The summary, or how many turns it stood for if it can't be read. Raises CorruptData."""
    drawings, sealed = frame.drawings or {}, summary.sealed
    drawing = drawings.get(summary.position)
    if drawing is not None and drawing.sealed is sealed:
        return drawing.message
    if isinstance(sealed, bytes):
        line = assemble(*render(decode(sealed[NONCE_BYTES:], exact=False)))
    else:
        line = lost_body(summary.covered)
    message = frame.message(line, trusted=False, position=summary.position)
    if frame.drawings is not None and isinstance(sealed, bytes):
        frame.drawings[summary.position] = Drawing(sealed, (), (), message)
    return message


def turn_messages(
    turns: Iterable[TurnAdded], frame: Frame, cut: Callable[[str], str] | None = None
) -> list[ContextMessage | None]:
    """One message for each turn; None for a turn that says nothing.

    `cut` shortens each text, which then shows no ordinals. Raises CorruptData if names or ids
    are malformed.
    """
    messages: list[ContextMessage | None] = []
    opened: set[str] = set()
    for turn in turns:
        reason, size, sealed = turn.reason, turn.text_bytes, turn.sealed
        spoken = reason is Reason.ADDED_AVATAR or reason is Reason.ADDED_AGENT
        if not (size and spoken and isinstance(sealed, bytes)):
            messages.append(_framed(turn, frame, opened, cut))
            continue
        text = str(sealed[-size:], "utf-8")  # TurnAdded.text, inline: once per turn of a context
        if turn.extras_bytes:
            extras = decode_extras(turn.kind, turn.extras)
            opened.update(extras.call_ids)
            if cut is None:
                text = numbered(text, extras.ordinals)
        if cut is not None:
            text = cut(text)
        if reason is Reason.ADDED_AVATAR:
            messages.append(ContextMessage("user", unframed(text), False, (turn.position,)))
            continue
        messages.append(ContextMessage("assistant", text, True, (turn.position,)))
    return messages


def _framed(
    turn: TurnAdded, frame: Frame, opened: set[str], cut: Callable[[str], str] | None
) -> ContextMessage | None:
    """A block for whatever isn't a text that somebody said. Adds the calls it opens."""
    kind, sealed = turn.kind, turn.sealed
    drawings = frame.drawings if cut is None and kind.is_tool else None
    if drawings is not None:
        drawing = drawings.get(turn.position)
        # The very same bytes: not what they were before an erasure or under older rules.
        if (
            drawing is not None
            and drawing.sealed is sealed
            and drawing.shown == _shown(drawing.call_ids, opened)
        ):
            return drawing.message
    text = turn.text
    about: list[Field] = [("position", turn.position), ("kind", kind.name.lower())]
    if turn.outcome is not None:
        about += (("outcome", turn.outcome.label), ("outcome_trust", TRUSTED))
    extras = decode_extras(kind, turn.extras)
    trusted = kind is Kind.AGENT and text is not None
    about.append(("trust", TRUSTED if trusted else UNTRUSTED))
    if text is None:
        shown = record([*about, ("lost_bytes", turn.text_bytes)])
    elif extras.name is not None:
        about += [("call_id", call_id) for call_id in _shown(extras.call_ids, opened)]
        if turn.redactions:
            about.append(("redactions", sum(count for _, count in turn.redactions)))
        if turn.truncated_from:
            about.append(("truncated_from", turn.truncated_from))
        label = "tool" if kind is Kind.TOOL else "action"
        if cut is None:
            shown = named_record(label, extras.name, about, text, numbered(text, extras.ordinals))
        else:
            shown = named_record(label, extras.name, about, cut(text))
    elif extras.call_ids:
        opened.update(extras.call_ids)
        shown = record([*about, ("call_ids", extras.call_ids)])
    else:
        return None
    trust = TRUSTED if trusted else UNTRUSTED
    line = payload(trust, f'"records":[{shown}]')
    message = frame.message(line, trusted=trusted, position=turn.position)
    if drawings is not None and isinstance(sealed, bytes):
        named = _shown(extras.call_ids, opened)
        drawings[turn.position] = Drawing(sealed, extras.call_ids, named, message)
    return message


def _shown(call_ids: Iterable[str], opened: set[str]) -> tuple[str, ...]:
    """A block names a call only if the call is in the context too."""
    return tuple([call_id for call_id in call_ids if call_id in opened])
