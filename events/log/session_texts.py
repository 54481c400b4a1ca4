"""The texts of one session, one by one, as verify looks at them."""

from collections.abc import Iterator

from turnfold.events.errors import CorruptData
from turnfold.events.extras import decode_extras
from turnfold.events.redaction import is_clean
from turnfold.events.sealed import NONCE_BYTES, Erased, Sealed
from turnfold.events.session import Session
from turnfold.events.summary import redact_summary

Text = tuple[int, bytes, Sealed]
"""Position, commitment, and what is there."""


def texts_of(session: Session) -> Iterator[Text]:
    """Everything sealed in a session."""
    yield session.start, session.started.commitment, session.started.sealed
    for turn in session.turns:
        yield turn.position, turn.commitment, turn.sealed
    if session.summary is not None:
        yield session.summary.position, session.summary.commitment, session.summary.sealed


def has_text(session: Session) -> bool:
    """Whether anything of a session can still be read."""
    return any(not isinstance(sealed, Erased) for _position, _digest, sealed in texts_of(session))


def unclean_texts(session: Session) -> Iterator[int]:
    """Positions of texts that redaction would change, or whose form is wrong."""
    for turn in session.turns:
        try:
            extras = decode_extras(turn.kind, turn.extras)
            texts = (turn.text, extras.name, *extras.call_ids)
            clean = all(text is None or is_clean(text) for text in texts)
        except (CorruptData, UnicodeDecodeError):
            clean = False
        if not clean:
            yield turn.position
    summary = session.summary
    if summary is not None and isinstance(summary.sealed, bytes):
        body = summary.sealed[NONCE_BYTES:]
        try:
            clean = redact_summary(body) == body
        except CorruptData:
            clean = False
        if not clean:
            yield summary.position
