"""Random but valid histories: what a store might have written, event by event.

A history shares no code with decide or evolve. It keeps its own list of who is live, so that a
fold of its events can be compared with it.
"""

import random
from copy import deepcopy
from typing import Any
from uuid import UUID

from turnfold.events import cbor
from turnfold.events.event import (
    ADDED,
    ContentErased,
    Event,
    RedactedPart,
    SessionCompacted,
    SessionDeleted,
    SessionEvicted,
    SessionExpired,
    SessionLost,
    SessionStarted,
    SessionStateDeleted,
    SessionStateRecorded,
    StoreOpened,
    TurnAdded,
    TurnRedacted,
)
from turnfold.events.keys import CHANNELS, ConversationKey, SessionId, pseudonym
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.reasons import ERASED_AFTER, Reason
from turnfold.events.sealed import commit
from turnfold.events.turns import KINDS, Kind, Outcome

SECRET = bytes(range(32))
T0 = 1_700_000_000_000_000_000
NAMED = cbor.encode(["touch"])  # the extras of a tool turn
WORDS = ("wave", "teleport", "prim", "notecard", "sim", "región", "rezzed", "日本", "landing")


class LiveSession:
    """What the history knows of a live session: texts by the position of their turn."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.turns: dict[int, str] = {}
        self.tools: set[int] = set()  # positions of tool turns
        self.summary = 0
        self.summary_text = ""

    def copy(self) -> "LiveSession":
        """An equal one."""
        return deepcopy(self)


class History:
    """Makes one command's events at a time. `gone` are texts that must be erased some day."""

    def __init__(self, seed: int, avatars: int = 4) -> None:
        self.seed = seed
        self.avatars = avatars
        self.secret = SECRET  # keys pseudonyms
        self.frames: list[tuple[Event, ...]] = []
        self.live: dict[ConversationKey, LiveSession] = {}
        self.records: dict[bytes, tuple[int, str]] = {}
        self.gone: list[str] = []
        self.pending: dict[tuple[int, Reason], int] = {}
        self.position = 0
        self.epoch = 0
        self._random = random.Random(seed)
        self._texts = 0

    def copy(self) -> "History":
        """The same past and the same future, independently."""
        twin = History(self.seed, self.avatars)
        twin.secret = self.secret
        twin.frames = list(self.frames)
        twin.live = {key: session.copy() for key, session in self.live.items()}
        twin.records = dict(self.records)
        twin.gone = list(self.gone)
        twin.pending = dict(self.pending)
        twin.position, twin.epoch, twin._texts = self.position, self.epoch, self._texts
        twin._random.setstate(self._random.getstate())
        return twin

    @property
    def live_texts(self) -> list[str]:
        """Every text that must still be there."""
        sessions = self.live.values()
        texts = [text for session in sessions for text in session.turns.values()]
        texts += [session.summary_text for session in sessions if session.summary]
        return texts + [text for _position, text in self.records.values()]

    @property
    def events(self) -> list[Event]:
        """All events so far."""
        return [event for frame in self.frames for event in frame]

    def diverge(self, seed: int) -> None:
        """Have another future than copies of this history."""
        self._random.seed(seed)

    # --- one command each ----------------------------------------------------------------

    def run(self, commands: int) -> "History":
        """Opens the store if need be, then `commands` random commands."""
        if not self.frames:
            self.open()
        for _ in range(commands):
            self.step()
        return self

    def step(self) -> tuple[Event, ...]:
        """One random command that fits what is live."""
        draw = self._random.random()
        if draw < 0.72 or not self.live:
            return self.add(self._key())
        key = self._random.choice(list(self.live))
        if draw < 0.82:
            return self.compact(key)
        if draw < 0.88:
            return self.end(key)
        if draw < 0.92:
            return self.redact_again(key)
        if draw < 0.96:
            return self.record()
        return self.erased()

    def open(self, limits: Limits | None = None) -> tuple[Event, ...]:
        """The store is opened."""
        self.epoch += 1
        values = tuple(getattr(limits or Limits(), name) for name in BOUNDS)
        reason = Reason.OPENED_CLEAN if self.frames else Reason.OPENED_NEW
        event = StoreOpened(
            **self._common(reason), epoch=self.epoch, ruleset=1, limits=values, highest_seen=0
        )
        return self._frame(event)

    def add(self, key: ConversationKey, text: str | None = None) -> tuple[Event, ...]:
        """A turn, after the start of a session if none is live."""
        events: list[Event] = []
        session = self.live.get(key)
        if session is None:
            started = self._started(key)
            events.append(started)
            session = self.live[key] = LiveSession(started.position)
        turn = self._turn(session.start, text or self._words())
        session.turns[turn.position] = turn.text or ""
        if turn.kind.is_tool:
            session.tools.add(turn.position)
        events.append(turn)
        return self._frame(*events)

    def compact(self, key: ConversationKey) -> tuple[Event, ...]:
        """The older half of the session's turns becomes a summary."""
        session = self.live[key]
        if len(session.turns) < 2:
            return self.add(key)
        covers = tuple(sorted(session.turns)[: len(session.turns) // 2])
        text = "summary " + self._words()
        event = SessionCompacted(
            **self._common(Reason.COMPACTED_TURNS),
            session=session.start,
            covers=covers,
            summary_bytes=len(text.encode()),
            **self._sealed(text.encode()),
        )
        self.gone += [session.turns.pop(position) for position in covers]
        if session.summary:
            self.gone.append(session.summary_text)
        session.summary, session.summary_text = event.position, text
        self.pending[session.start, Reason.ERASED_COMPACTED] = event.position
        return self._frame(event)

    def end(self, key: ConversationKey, reason: Reason | None = None) -> tuple[Event, ...]:
        """The session ends."""
        session = self.live.pop(key)
        why = reason or self._random.choice(
            (Reason.EXPIRED_INACTIVITY, Reason.EVICTED_SESSIONS, Reason.DELETED_OPERATOR)
        )
        common = self._common(why)
        event: Event
        if why is Reason.DELETED_OPERATOR:
            tag = pseudonym(self.secret, key.avatar)
            event = SessionDeleted(
                **common, session=session.start, pseudonym=tag, channel=key.channel
            )
        else:
            expired = why is Reason.EXPIRED_INACTIVITY
            event = (SessionExpired if expired else SessionEvicted)(**common, session=session.start)
        self.gone += [*session.turns.values(), session.summary_text]
        for name in (Reason.ERASED_COMPACTED, Reason.ERASED_REDACTED):
            self.pending.pop((session.start, name), None)
        self.pending[session.start, ERASED_AFTER[why]] = event.position
        return self._frame(event)

    def redact_again(self, key: ConversationKey) -> tuple[Event, ...]:
        """One or two stored texts of the session are redacted under a newer ruleset."""
        session = self.live[key]
        targets = [*session.turns, *([session.summary] if session.summary else [])]
        chosen = sorted(self._random.sample(targets, min(2, len(targets))))
        parts: list[RedactedPart] = []
        for position in chosen:
            text = "again " + self._words()
            if position == session.summary:
                self.gone.append(session.summary_text)
                session.summary_text = text
            else:
                self.gone.append(session.turns[position])
                session.turns[position] = text
            extras = NAMED if position in session.tools else b""
            parts.append(
                RedactedPart(
                    position=position,
                    text_bytes=len(text.encode()),
                    extras_bytes=len(extras),
                    redactions=(("jwt", 1),),
                    **self._sealed(extras + text.encode()),
                )
            )
        event = TurnRedacted(
            **self._common(Reason.REDACTED_RULESET), session=session.start, parts=tuple(parts)
        )
        self.pending[session.start, Reason.ERASED_REDACTED] = event.position
        return self._frame(event)

    def record(self) -> tuple[Event, ...]:
        """A session-state record is written, replaced or deleted."""
        name = bytes([self._random.randrange(3)]) * 16
        written, old = self.records.pop(name, (0, ""))
        if written:
            self.pending[written, Reason.ERASED_DELETED] = written
            self.gone.append(old)
            if self._random.random() < 0.5:
                common = self._common(Reason.STATE_DELETED)
                return self._frame(SessionStateDeleted(**common, record=name, recorded=written))
        text = self._words()
        event = SessionStateRecorded(
            **self._common(Reason.STATE_RECORDED),
            record=name,
            scope=b"s" * 16,
            source=None,
            **self._sealed(text.encode()),
        )
        self.records[name] = event.position, text
        return self._frame(event)

    def erased(self) -> tuple[Event, ...]:
        """Everything that is due is said to be erased (the bytes are another's concern)."""
        events = [
            ContentErased(
                **self._common(reason, index),
                session=session,
                through=through,
                payloads=1,
                erased_bytes=1,
            )
            for index, ((session, reason), through) in enumerate(self.pending.items())
        ]
        self.pending.clear()
        return self._frame(*events) if events else self.add(self._key())

    def adopt(self, events: tuple[Event, ...]) -> None:
        """Go on behind events that the store itself made."""
        for event in events:
            if isinstance(event, SessionLost):
                key = next(key for key, live in self.live.items() if live.start == event.session)
                session = self.live.pop(key)
                self.gone += [*session.turns.values(), session.summary_text]
            elif isinstance(event, SessionStateDeleted):
                self.gone.append(self.records.pop(event.record)[1])
        self._frame(*events)

    # --- parts -------------------------------------------------------------------------------

    def _common(self, reason: Reason, index: int = 0) -> dict[str, Any]:
        elapsed = len(self.frames) * 1_000_000_000
        return {
            "position": self.position + 1 + index,
            "at": T0 + elapsed,
            "age": elapsed,
            "reason": reason,
        }

    def _sealed(self, payload: bytes) -> dict[str, Any]:
        sealed = self._random.randbytes(16) + payload
        return {"sealed": sealed, "commitment": commit(sealed)}

    def _key(self) -> ConversationKey:
        avatar = random.Random(self._random.randrange(self.avatars)).randbytes(16)
        return ConversationKey(UUID(bytes=avatar), self._random.choice(CHANNELS))

    def _words(self) -> str:
        """A text that no other of this history contains or is contained in."""
        self._texts += 1
        words = " ".join(self._random.choices(WORDS, k=self._random.randrange(2, 12)))
        return f"<{self.seed}.{self._texts}> {words} </{self.seed}.{self._texts}>"

    def _started(self, key: ConversationKey) -> SessionStarted:
        payload = key.avatar.bytes + self._random.randbytes(16)
        return SessionStarted(
            **self._common(Reason.STARTED_FIRST_TURN),
            session_id=SessionId(self._random.randbytes(16).hex()),
            pseudonym=pseudonym(self.secret, key.avatar),
            channel=key.channel,
            **self._sealed(payload),
        )

    def _turn(self, session: int, text: str) -> TurnAdded:
        kind = self._random.choice(KINDS)
        extras = NAMED if kind.is_tool else b""
        named = self._random.random() < 0.5
        return TurnAdded(
            **self._common(ADDED[kind], index=int(session > self.position)),
            session=session,
            text_bytes=len(text.encode()),
            extras_bytes=len(extras),
            outcome=self._random.choice(list(Outcome)) if kind is Kind.ACTION else None,
            redactions=(("email", 2),) if self._random.random() < 0.2 else (),
            turn_tag=self._random.randbytes(16) if named else None,
            content_tag=self._random.randbytes(16) if named else None,
            **self._sealed(extras + text.encode()),
        )

    def _frame(self, *events: Event) -> tuple[Event, ...]:
        self.position = events[-1].position
        self.frames.append(events)
        return events
