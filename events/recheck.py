"""Recovered texts, checked against the redaction rules in force before anybody sees them.

What was stored under an older rule set may hold what today's rules take for a secret, and what
stands in a file may not be what was written. A text that is not a fixed point of `redact` is
redacted again: `TurnRedacted` carries the new text, and the old payload is erased.
"""

from collections.abc import Iterator
from typing import Final

from turnfold.events import cbor
from turnfold.events.commands import Entropy
from turnfold.events.errors import CorruptData
from turnfold.events.event import RedactedPart, TurnAdded
from turnfold.events.extras import decode_extras
from turnfold.events.redaction import clip
from turnfold.events.redaction_operator import OperatorRules
from turnfold.events.sealed import NONCE_BYTES, commit, seal
from turnfold.events.session import Session, Summary
from turnfold.events.summary import redact_summary

_NO_NAME: Final = "?"  # where nothing is left of a name: a name is never empty

Unclean = TurnAdded | Summary
_BUILT_IN: Final = OperatorRules()


def unclean_texts(session: Session, rules: OperatorRules = _BUILT_IN) -> Iterator[Unclean | None]:
    """Each turn (and the summary) whose text or names aren't clean; None for each that is.

    `rules` are those in force beside the built-in ones. A caller may rest between two texts.
    Erased and unreadable ones are clean: they show nothing.
    """
    summary = session.summary
    if summary is not None:
        yield None if _is_clean_summary(summary, rules) else summary
    for turn in session.turns:
        yield None if _is_clean_turn(turn, rules) else turn


def redacted_part(
    unclean: Unclean, entropy: Entropy, rules: OperatorRules = _BUILT_IN
) -> RedactedPart:
    """The text and the names redacted again, no longer than they were."""
    if isinstance(unclean, Summary):
        data = _payload(unclean)
        text, extras = (b"" if data is None else redact_summary(data, rules.is_clean)), b""
        redactions: tuple[tuple[str, int], ...] = ()
    else:
        again = clip(rules.redact(_text(unclean) or ""), unclean.text_bytes)
        text, extras = again.encode(), _clean_extras(unclean, rules)
        redactions = again.redactions
    sealed = seal(entropy.take(NONCE_BYTES), extras + text)
    return RedactedPart(
        position=unclean.position,
        text_bytes=len(text),
        extras_bytes=len(extras),
        redactions=redactions,
        commitment=commit(sealed),
        sealed=sealed,
    )


def _payload(summary: Summary) -> bytes | None:
    return summary.sealed[NONCE_BYTES:] if isinstance(summary.sealed, bytes) else None


def _is_clean_summary(summary: Summary, rules: OperatorRules) -> bool:
    data = _payload(summary)
    return data is None or redact_summary(data, rules.is_clean) == data


def _is_clean_turn(turn: TurnAdded, rules: OperatorRules) -> bool:
    if not isinstance(turn.sealed, bytes):
        return True
    text, names = _text(turn), _names(turn)
    return text is not None and names is not None and all(map(rules.is_clean, (text, *names)))


def _text(turn: TurnAdded) -> str | None:
    """The text, None if it is no UTF-8."""
    try:
        return turn.text
    except UnicodeDecodeError:
        return None


def _names(turn: TurnAdded) -> list[str] | None:
    """A tool's or action's name, then call ids; None if they are malformed."""
    try:
        extras = decode_extras(turn.kind, turn.extras)
    except CorruptData:
        return None
    return [*([extras.name] if extras.name is not None else []), *extras.call_ids]


def _clean_extras(turn: TurnAdded, rules: OperatorRules) -> bytes:
    names = _names(turn)
    if names is None:
        names = [_NO_NAME] if turn.kind.is_tool else []
    clean = [str(clip(rules.redact(name), len(name.encode()))) or _NO_NAME for name in names]
    return cbor.encode(clean) if clean else b""
