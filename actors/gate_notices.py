"""Decisions of the session-state gate: a notice and a counter for each, in memory alone.

They are never events: a refused write leaves every file as it is. Notices hold keyed digests of
scopes, never ids.
"""

import threading
from collections import Counter, deque
from typing import Final

from turnfold.events.session_state.gate import GateNotice

NEWEST_MAX: Final = 1024


class GateNotices:
    """The newest 1,024 notices, and how often each action had each outcome. Any thread."""

    __slots__ = ("_counts", "_lock", "_newest", "_taken")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: deque[GateNotice] = deque(maxlen=NEWEST_MAX)
        self._counts: Counter[str] = Counter()
        self._taken = 0

    def take(self, notice: GateNotice) -> None:
        """One more decision."""
        with self._lock:
            self._taken += 1
            self._newest.append(notice)
            for reason in notice.reasons:
                self._counts[f"{notice.action.value} {reason}"] += 1

    def since(self, number: int) -> tuple[int, tuple[GateNotice, ...]]:
        """How many decisions there were so far, and the notices of those after the `number`th.

        Ask again with the number that was answered. Those that are too old are left out.
        """
        with self._lock:
            wanted = max(0, min(self._taken - number, len(self._newest)))
            newest = tuple(self._newest)
            return self._taken, newest[len(newest) - wanted :]

    def counts(self) -> dict[str, int]:
        """How often, by action and outcome: `{"write state.not_approved": 3}`."""
        with self._lock:
            return dict(sorted(self._counts.items()))
