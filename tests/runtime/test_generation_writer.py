"""Background work gives way to a busy store and tells how it ended."""

import queue
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from runtime.fake_log import WAIT_S, FakeArchive

from turnfold.actors.generation_writer import (
    PAUSE_BUSY_S,
    PAUSE_IDLE_S,
    GenerationWriter,
    Job,
    JobDone,
)
from turnfold.events.errors import DiskFull, NotWritten, StoreFailed


class Store:
    """A writer whose reports are kept, and how long its sleeps would be."""

    def __init__(self) -> None:
        self.batches = 0
        self.sleeps: list[float] = []
        self.done: queue.SimpleQueue[JobDone] = queue.SimpleQueue()
        self.writer = GenerationWriter(FakeArchive(), self.done.put, lambda: self.batches)
        self.writer._hurry = self  # type: ignore[assignment]  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]  # to count sleeps
        self.writer.run()

    def wait(self, seconds: float) -> bool:
        self.sleeps.append(seconds)
        return False

    def run(self, work: Callable[[Any, Callable[[], None]], Any]) -> JobDone:
        self.writer.actor_ref.tell(Job(work, lambda _result, _error: None))
        return self.done.get(timeout=WAIT_S)


@pytest.fixture
def store() -> Iterator[Store]:
    one = Store()
    yield one
    one.writer.actor_ref.stop(block=False)
    assert one.writer.join(WAIT_S)


def test_it_sleeps_between_slices_and_longer_while_the_store_commits(store: Store) -> None:
    def slices(_archive: Any, pause: Callable[[], None]) -> None:
        for _ in range(10):
            pause()

    def slices_beside_commits(_archive: Any, pause: Callable[[], None]) -> None:
        for _ in range(10):
            store.batches += 1
            pause()

    store.run(slices)
    assert store.sleeps == [PAUSE_IDLE_S] * 10
    store.run(slices_beside_commits)
    assert store.sleeps[10:] == [PAUSE_BUSY_S] * 10


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (DiskFull("full"), DiskFull),
        (OSError(28, "No space left on device"), NotWritten),
        (ZeroDivisionError("secret text"), StoreFailed),
        (SystemExit(), StoreFailed),
    ],
)
def test_every_end_of_a_job_is_told(
    store: Store, raised: BaseException, told: type[Exception]
) -> None:
    def fail(_archive: Any, _pause: Callable[[], None]) -> None:
        raise raised

    done = store.run(fail)
    assert type(done.error) is told
    assert "secret" not in str(done.error)
    assert store.run(lambda _archive, _pause: 42).result == 42


def test_jobs_left_at_the_end_are_told_as_undone(store: Store) -> None:
    hold: queue.SimpleQueue[None] = queue.SimpleQueue()
    ref = store.writer.actor_ref
    ref.tell(Job(lambda _archive, _pause: hold.get(timeout=WAIT_S), lambda _result, _error: None))
    ref.stop(block=False)
    ref.tell(Job(lambda _archive, _pause: 42, lambda _result, _error: None))
    hold.put(None)
    assert store.done.get(timeout=WAIT_S).error is None
    assert isinstance(store.done.get(timeout=WAIT_S).error, StoreFailed)
