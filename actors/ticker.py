"""The ticker: what makes an idle store do what its clock demands.

It tells the store actor a Tick at least once a second, for expiry sweeps, due erasures and
generations, and twice within MARK_S after a batch, the second of which writes the watermark that
says in the log that the last batch is durable. It decides nothing and reads no clock.
"""

import threading
from collections.abc import Callable
from typing import Final

SWEEP_S: Final = 1.0
MARK_S: Final = 0.02  # the watermark follows the last batch within 50 ms: two of these


class Ticker:
    """`tick` is called in the ticker's thread and must not block; False ends the ticker."""

    def __init__(self, tick: Callable[[], bool]) -> None:
        self._tick = tick
        self._armed = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="turnfold-Ticker", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def arm(self) -> None:
        """Tick in MARK_S instead of SWEEP_S. Any thread; cheap if armed already."""
        if not self._armed.is_set():
            self._armed.set()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stopped.set()
        self._armed.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            if self._armed.wait(SWEEP_S):
                self._armed.clear()
                self._stopped.wait(MARK_S)
            if self._stopped.is_set() or not self._tick():
                return
