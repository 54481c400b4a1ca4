"""32 subscribers beside 64 writers, with eviction and rotation: each sees 1..n exactly in order.

Half of them are slow, raise, or are killed and begin again after their checkpoint. Then a fresh
instance may see a notice again that its predecessor had in hand, and no other: at least once.
"""

import threading
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

from turnfold import (
    AvatarText,
    Config,
    ConversationKey,
    ConversationStore,
    Gap,
    Notice,
    Subscriber,
    TurnfoldError,
    read_events,
)
from turnfold.actors.subscription import Subscription
from turnfold.events.limits import MIB, Limits
from turnfold.events.reasons import Reason

WRITERS = 64
TURNS_EACH = 8
SUBSCRIBERS = 32
WAIT_S = 120.0
# A segment has an eighth of log_bytes: 128 KiB. 16 sessions for 64 writers: all the time evicted.
SMALL = Limits(active_sessions=16, log_bytes=MIB, notices_waiting=64)


class Seen(Subscriber):
    """Notes positions; `trouble` may wait or raise before the notice is noted."""

    def __init__(self, positions: list[int], trouble: Callable[[int], None]) -> None:
        self._positions = positions
        self._trouble = trouble

    def on_notice(self, notice: Notice) -> None:
        self._trouble(notice.position)
        self._positions.append(notice.position)


def no_trouble(_position: int) -> None:
    """A subscriber that behaves."""


def slow(pause: threading.Event, position: int) -> None:
    """Takes its time: half a millisecond for every fourth notice."""
    if position % 4 == 0:
        pause.wait(0.0005)


def failing(failed: set[int], every: int, error: type[BaseException], position: int) -> None:
    """Raises once at every so many positions; SystemExit is what kills a thread."""
    if position % every == 0 and position not in failed:
        failed.add(position)
        raise error


def trouble_of(number: int, pause: threading.Event) -> Callable[[int], None]:
    """Every second one behaves; the others are slow, raise or are killed, in turn."""
    if number % 2 == 0:
        return no_trouble
    kind = number // 2 % 3
    if kind == 0:
        return partial(slow, pause)
    error: type[BaseException] = ValueError if kind == 1 else SystemExit
    return partial(failing, set[int](), 97 + number, error)


def write(store: ConversationStore, writer: int, go: threading.Barrier, bad: list[str]) -> None:
    key = ConversationKey(f"{writer + 1:032x}", "public_chat")
    text = f"{writer} " * 200
    go.wait()
    try:
        for _ in range(TURNS_EACH):
            store.add_turn(key, AvatarText(text), timeout=WAIT_S)
    except TurnfoldError as error:  # told to the test's own thread
        bad.append(type(error).__name__)


def write_all(store: ConversationStore) -> None:
    """Every writer's turns, at once."""
    go, bad = threading.Barrier(WRITERS), list[str]()
    threads = [
        threading.Thread(target=write, args=(store, writer, go, bad)) for writer in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert not bad, bad[:3]


def test_each_subscriber_sees_every_position_once_and_in_order(tmp_path: Path) -> None:
    seen: list[list[int]] = [[] for _ in range(SUBSCRIBERS)]
    pause = threading.Event()
    config = Config(storage_path=tmp_path, persistence_enabled=True, limits=SMALL)
    with ConversationStore(config) as store:
        subscriptions: list[Subscription] = []
        for number, positions in enumerate(seen):
            make = partial(Seen, positions, trouble_of(number, pause))
            name = f"subscriber-{number}" if number % 4 == 1 else None
            subscriptions.append(store.subscribe(make, name=name, after=0))
        write_all(store)
        store.flush()
        last = max(event.position for event in read_events(tmp_path) if not isinstance(event, Gap))
        reached = [subscription.wait(last, WAIT_S) for subscription in subscriptions]

    assert all(reached)
    for positions in seen:
        assert positions[:last] == list(range(1, last + 1))
    assert last > WRITERS * TURNS_EACH
    evicted = sum(1 for _ in read_events(tmp_path, reasons=[Reason.EVICTED_SESSIONS]))
    assert evicted > WRITERS
    assert len(list((tmp_path / "conversations" / "log").glob("*.log"))) > 2


def test_a_named_subscriber_goes_on_where_it_was_in_each_opening(tmp_path: Path) -> None:
    """Three openings: at each the checkpoint says where to go on, at worst with the last again."""
    positions: list[int] = []
    config = Config(storage_path=tmp_path, persistence_enabled=True, limits=SMALL)
    key = ConversationKey(f"{7:032x}", "direct_im")
    for _ in range(3):
        with ConversationStore(config) as store:
            make = partial(Seen, positions, no_trouble)
            subscription = store.subscribe(make, name="audit", after=0)
            added = [store.add_turn(key, AvatarText(f"turn {n}")) for n in range(50)]
            assert subscription.wait(added[-1].position, WAIT_S)

    again = sum(1 for before, after in pairwise(positions) if after <= before)
    assert sorted(set(positions)) == list(range(1, max(positions) + 1))
    assert again <= 2
