"""What a conversation store is, as naively as can be: dictionaries of strings.

It shares no code with the product. Keys are strings, times are nanoseconds of the store's age. It
knows nothing of positions, bytes, compaction or files: only who said what in which session, and
how sessions end.
"""

import copy

import attrs

TTL_NS = {"public_chat": 30 * 60 * 10**9, "direct_im": 24 * 3600 * 10**9}


@attrs.define
class Talk:
    """A session: what was said, oldest first, and which ids its turns had."""

    session_id: str
    previous: str | None = None  # how the one before it ended
    said: list[str] = attrs.Factory(list[str])
    ids: dict[str, str] = attrs.Factory(dict[str, str])
    active: int = 0


@attrs.define
class Model:
    """One state of the store. `talks` is ordered by activity, the newest last."""

    sessions_max: int
    talks: dict[str, Talk] = attrs.Factory(dict[str, Talk])
    ended: dict[str, str] = attrs.Factory(dict[str, str])
    over: dict[str, list[str]] = attrs.Factory(dict[str, list[str]])  # texts of ended sessions
    deleted: list[str] = attrs.Factory(list[str])  # texts that must be nowhere

    def copy(self) -> "Model":
        """A state to try something with."""
        return copy.deepcopy(self)

    def is_live(self, key: str, age: int) -> bool:
        """Whether the key has a session that isn't overdue."""
        talk = self.talks.get(key)
        return talk is not None and age - talk.active < TTL_NS[key.rpartition(" ")[2]]

    def add(
        self, key: str, texts: list[str], age: int, *, turn_id: str | None, session: str | None
    ) -> str:
        """What becomes of it: added, duplicate, conflict or ended."""
        talk = self.talks[key] if self.is_live(key, age) else None
        if session is not None and (talk is None or talk.session_id != session):
            return "ended"
        if talk is not None and turn_id in talk.ids:
            return "duplicate" if talk.ids[turn_id] == texts[0] else "conflict"
        if talk is None:
            talk = self._start(key, age)
        del self.talks[key]
        self.talks[key] = talk
        talk.said += texts
        talk.active = age
        if turn_id is not None:
            talk.ids[turn_id] = texts[0]
        return "added"

    def expire(self, key: str, age: int) -> bool:
        """Whether there was a session to end."""
        live = self.is_live(key, age)
        if key in self.talks:
            self._end(key, "expired")
        return live

    def delete(self, key: str, *, is_erased: bool = True) -> None:
        """Nothing that was ever said under the key is left (or will be, unless `is_erased`)."""
        if key in self.talks:
            self._end(key, "deleted")
        elif key in self.ended:
            self.ended[key] = "deleted"
        if is_erased:
            self.deleted += self.over.pop(key, [])

    def lower(self, sessions_max: int, age: int) -> None:
        """Fewer sessions (or more) may be live from now on."""
        self.sessions_max = sessions_max
        self._make_room(sessions_max, age)

    def lose(self, key: str) -> None:
        """The key's session was lost to damage."""
        if key in self.talks:
            self._end(key, "lost")

    def settle(self, age: int) -> None:
        """Overdue sessions are over."""
        for key in list(self.talks):
            if not self.is_live(key, age):
                self._end(key, "expired")

    def _start(self, key: str, age: int) -> Talk:
        self.settle(age)
        self._make_room(self.sessions_max - 1, age)
        talk = self.talks[key] = Talk("", self.ended.pop(key, None))
        return talk

    def _make_room(self, sessions: int, age: int) -> None:
        self.settle(age)
        for key in list(self.talks):
            if len(self.talks) > sessions:
                self._end(key, "evicted")

    def _end(self, key: str, why: str) -> None:
        talk = self.talks.pop(key)
        self.ended[key] = why
        self.over.setdefault(key, []).extend(talk.said)
