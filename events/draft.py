"""A draft: the events decided so far for one command, and what the state would be after them.

`decide` may not change the state, but later events of a frame depend on earlier ones. The draft
keeps what they change: the sessions touched, the totals, and who is gone.
"""

from collections.abc import Iterator
from typing import Any

from turnfold.events import event as e
from turnfold.events.commands import Entropy, Instant
from turnfold.events.compaction import Compaction
from turnfold.events.keys import CHANNELS, Channel
from turnfold.events.ordinals import SecretNumbers
from turnfold.events.reasons import Reason
from turnfold.events.sealed import NONCE_BYTES, commit, seal
from turnfold.events.session import KeyTag, Session, compacted, redacted
from turnfold.events.state import StoreState


class Draft:
    """Events decided so far (`events`), and the totals after them."""

    __slots__ = (
        "_candidates",
        "_heads",
        "active",
        "events",
        "gone",
        "limits",
        "now",
        "secrets",
        "state",
        "total_bytes",
        "touched",
    )

    def __init__(
        self, state: StoreState, now: Instant, secrets: SecretNumbers | None = None
    ) -> None:
        self.state = state
        self.now = now
        self.secrets = secrets
        self.limits = state.opening.limits
        self.events: list[e.Event] = []
        self.active = state.active
        self.total_bytes = state.total_bytes
        self.gone: set[int] = set()  # starts of sessions that this draft ends
        self.touched: dict[int, Session] = {}  # start -> how a session is after the draft
        # Each channel's sessions, least recently active first, looked at once. Only for evictions.
        self._candidates: list[Iterator[Session]] | None = None
        self._heads: list[Session | None] = [None] * len(CHANNELS)

    @property
    def next_position(self) -> int:
        """The position of the next event."""
        return self.state.position + len(self.events) + 1

    def common(self, reason: Reason) -> dict[str, Any]:
        """The fields that every event has."""
        return {
            "position": self.next_position,
            "at": self.now.at,
            "age": self.now.age,
            "reason": reason,
        }

    def add(self, event: e.Event) -> None:
        """One more event."""
        self.events.append(event)

    def expire(self, session: Session, reason: Reason) -> None:
        """End a session whose time is up, or that an operator ends."""
        self.add(e.SessionExpired(**self.common(reason), session=session.start))
        self._ended(session)

    def delete(self, session: Session | None, tag: KeyTag, channel: Channel) -> None:
        """Record the deletion of a key, with or without a live session."""
        start = session.start if session else 0
        self.add(
            e.SessionDeleted(
                **self.common(Reason.DELETED_OPERATOR),
                session=start,
                pseudonym=tag[0],
                channel=channel,
            )
        )
        if session is not None:
            self._ended(session)

    def compact(self, session: Session, compaction: Compaction, entropy: Entropy) -> Session:
        """Replace the covered turns by their summary; the session as it is afterwards."""
        sealed = seal(entropy.take(NONCE_BYTES), compaction.summary)
        event = e.SessionCompacted(
            **self.common(compaction.reason),
            session=session.start,
            covers=compaction.covers,
            summary_bytes=len(compaction.summary),
            commitment=commit(sealed),
            sealed=sealed,
        )
        self.add(event)
        after = compacted(session, event, self.limits.turn_ids_per_session)
        self.replace(session, after)
        return after

    def redact(self, session: Session, part: e.RedactedPart, reason: Reason) -> Session:
        """Put a new text in place of a stored one; the session as it is afterwards."""
        event = e.TurnRedacted(**self.common(reason), session=session.start, parts=(part,))
        self.add(event)
        after = redacted(session, event)
        self.replace(session, after)
        return after

    def replace(self, before: Session | None, after: Session) -> None:
        """A session is now like this."""
        self.total_bytes += after.size - (before.size if before else 0)
        self.touched[after.start] = after

    def make_room(self, own: KeyTag, *, sessions: int, size: int) -> None:
        """Evict until `sessions` more sessions and `size` more bytes fit; never `own`."""
        self.evict_down(own=own, sessions=sessions, size=size, events_max=None)

    def evict_down(
        self, *, own: KeyTag | None, sessions: int, size: int, events_max: int | None
    ) -> None:
        """Evict overdue sessions, then the least recently active, until the limits hold."""
        while events_max is None or len(self.events) < events_max:
            if self.active + sessions > self.limits.active_sessions:
                reason = Reason.EVICTED_SESSIONS
            elif self.total_bytes + size > self.limits.aggregate_bytes:
                reason = Reason.EVICTED_AGGREGATE_BYTES
            else:
                return
            victim = self._victim(own)
            if victim is None:
                return  # only `own` is left; its own limits keep it below the aggregate
            if victim.is_overdue(self.now.age):
                self.expire(victim, Reason.EXPIRED_INACTIVITY)
            else:
                self.add(e.SessionEvicted(**self.common(reason), session=victim.start))
                self._ended(victim)

    def _victim(self, own: KeyTag | None) -> Session | None:
        """The session to give up: overdue ones first, then the least recently active."""
        heads = [head for code in range(len(CHANNELS)) if (head := self._head(code, own))]
        overdue = [head for head in heads if head.is_overdue(self.now.age)]
        return min(overdue or heads, key=lambda session: session.last, default=None)

    def _head(self, code: int, own: KeyTag | None) -> Session | None:
        """The least recently active live session of a channel, this draft's endings aside."""
        if self._candidates is None:
            self._candidates = [iter(channel.values()) for channel in self.state.channels]
        head = self._heads[code]
        while head is None or head.start in self.gone or head.tag == own:
            head = next(self._candidates[code], None)
            if head is None:
                return None
            self._heads[code] = head
        return self.touched.get(head.start, head)

    def _ended(self, session: Session) -> None:
        self.gone.add(session.start)
        self.active -= 1
        self.total_bytes -= self.touched.pop(session.start, session).size
