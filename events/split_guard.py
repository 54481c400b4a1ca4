"""The guard against secrets that are split over two turns of one speaker.

«my password is», and then the password; a token whose second half comes in the next message. It
works where both texts are known, which is where a turn is decided, and before that turn is stored.
Of every turn only a look at its length and its words is taken; of the earlier one only the end,
unless something is found there.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from turnfold.events.commands import Entropy
from turnfold.events.event import ADDED, RedactedPart, TurnAdded
from turnfold.events.extras import ordinals_before
from turnfold.events.redaction import RedactedText, clip, redact, redact_split
from turnfold.events.redaction_split import EDGE_CHARS, may_continue, split_findings
from turnfold.events.sealed import NONCE_BYTES, commit, seal
from turnfold.events.turns import Kind

LOOK_BACK_TURNS: Final = 64
"""How many turns back the speaker's last text is looked for: tools may have spoken since."""

_EDGE_BYTES: Final = 4 * EDGE_CHARS


class SplitSecret(NamedTuple):
    """What is stored of the new text, and of the earlier one (None: it stays as it is)."""

    after: RedactedText
    earlier: TurnAdded
    before: RedactedText | None


def find_split(turns: Sequence[TurnAdded], kind: Kind, text: RedactedText) -> SplitSecret | None:
    """The secret that `text`, the next turn after `turns`, makes with its speaker's last text.

    The new text may have become longer by a placeholder, the earlier one never does.
    """
    if not may_continue(text):
        return None
    earlier = _last_text(turns, kind)
    if earlier is None or not isinstance(earlier.sealed, bytes):
        return None
    size = earlier.text_bytes
    edge = earlier.sealed[-min(size, _EDGE_BYTES) :].decode(errors="ignore")[-EDGE_CHARS:]
    if split_findings(edge, text) is None:
        return None
    whole = earlier.sealed[-size:].decode(errors="ignore")  # bytes that are no text show nothing
    both = redact_split(redact(whole), text)
    if both is None:
        return None
    before, after = both
    return SplitSecret(after, earlier, None if before == whole else clip(before, size))


def redacted_again(turn: TurnAdded, text: RedactedText, entropy: Entropy) -> RedactedPart:
    """A live turn with a new text; its names stay, and what was redacted before is counted."""
    first = min((mark.at for mark in text.marks), default=len(text))
    extras, data = ordinals_before(turn.extras or b"", first), text.encode()
    sealed = seal(entropy.take(NONCE_BYTES), extras + data)
    counts = Counter(dict(turn.redactions)) + Counter(dict(text.redactions))
    return RedactedPart(
        position=turn.position,
        text_bytes=len(data),
        extras_bytes=len(extras),
        redactions=tuple(sorted(counts.items())),
        commitment=commit(sealed),
        sealed=sealed,
    )


def _last_text(turns: Sequence[TurnAdded], kind: Kind) -> TurnAdded | None:
    reason = ADDED[kind]
    for turn in turns[: -LOOK_BACK_TURNS - 1 : -1]:
        if turn.reason is reason and turn.text_bytes:
            return turn
    return None
