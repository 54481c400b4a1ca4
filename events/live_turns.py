"""The turns of a live session as session state sees them: position, role, size, stored bytes."""

from collections.abc import Iterator

import attrs

from turnfold.events.sealed import NONCE_BYTES
from turnfold.events.session import Session
from turnfold.events.turns import Role


@attrs.frozen(repr=False)
class LiveTurn:
    """A turn for `session_state.conversation`. `payload` is what is stored: names, then text."""

    position: int
    role: Role
    payload: bytes
    byte_count: int


def live_turns(session: Session) -> Iterator[LiveTurn]:
    """The turns that are kept verbatim, in order; those whose bytes are damaged are left out."""
    for turn in session.turns:
        if isinstance(turn.sealed, bytes):
            payload = turn.sealed[NONCE_BYTES:]
            yield LiveTurn(turn.position, turn.kind.role, payload, turn.text_bytes)
