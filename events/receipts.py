"""Answers to commands: what was stored, where, and whether it is durable yet."""

from datetime import UTC, datetime
from uuid import UUID

import attrs
from attrs.setters import frozen

from turnfold.events.keys import Channel, SessionId
from turnfold.events.reasons import Reason


def iso_time(at_ns: int) -> str:
    """A wall-clock time in UTC, to the microsecond, for people to read."""
    seconds, rest = divmod(at_ns, 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000).isoformat()


# Refuses assignment through `on_setattr`: one is made per turn (0.5 instead of 1.1 us).
@attrs.define(on_setattr=frozen, unsafe_hash=True)
class Receipt:
    """A turn is stored at `position`. `duplicate`: it was there before, under its turn id.

    `durable` says whether a sync has covered it; in durability "flush" it is False until then.
    """

    position: int
    session_id: SessionId
    durable: bool = True
    duplicate: bool = False


@attrs.frozen
class ExpiryReceipt:
    """`expired` is False if the key had no live session; then nothing was stored."""

    expired: bool
    position: int = 0
    session_id: SessionId | None = None
    reason: Reason | None = None
    durable: bool = True


@attrs.frozen
class ErasedSession:
    """One session whose text was erased: `payloads` of `erased_bytes` in the log."""

    session: int
    reason: Reason
    payloads: int
    erased_bytes: int


@attrs.frozen
class DeletionReceipt:
    """What a deletion erased and what remains.

    What remains are facts without content: positions, times, sizes and `pseudonym` (hex), by
    which the key's events can still be counted but not read. `session_states` counts derived
    session-state records that went too. `from_queries_only`: the backend removes the bytes later.
    """

    avatar: UUID
    channel: Channel
    position: int
    erased: tuple[ErasedSession, ...] = ()
    session_states: int = 0
    quarantined_files: int = 0
    pseudonym: str = ""
    durable: bool = True
    from_queries_only: bool = False

    @property
    def sessions(self) -> int:
        """How many sessions lost their text."""
        return len({item.session for item in self.erased})

    @property
    def erased_bytes(self) -> int:
        """Payload bytes in the log that are zeros now."""
        return sum(item.erased_bytes for item in self.erased)
