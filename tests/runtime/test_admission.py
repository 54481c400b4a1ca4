"""Commands in flight are bounded at the door."""

import asyncio
import subprocess
import sys
import threading

import pytest
from runtime.fake_log import KEY, WAIT_S, running, until

from turnfold.actors.admission import Admission
from turnfold.actors.config import Config
from turnfold.actors.messages import AddTurn
from turnfold.actors.refs import AsyncStoreRef
from turnfold.actors.reply import LoopSlot
from turnfold.events.errors import StoreBusy, StoreClosed
from turnfold.events.limits import Limits
from turnfold.events.turns import AvatarText

SMALL = Config(limits=Limits(commands_in_flight=2))


def test_permits_come_back() -> None:
    """As many enter as there are permits, and again after they left."""
    admission = Admission(2)
    admission.enter(0)
    admission.enter(0)
    with pytest.raises(StoreBusy, match="commands_in_flight"):
        admission.enter(0)
    admission.leave(1)
    admission.enter(0)
    assert admission.in_flight == 2


def test_those_in_line_get_permits_in_their_order() -> None:
    admission = Admission(1)
    admission.enter()
    order: list[int] = []

    def wait(number: int) -> None:
        admission.enter(WAIT_S)
        order.append(number)
        admission.leave(1)

    threads: list[threading.Thread] = []
    for number in range(5):
        threads.append(threading.Thread(target=wait, args=(number,)))
        threads[-1].start()
        until(lambda: admission.waiting == len(threads))
    with pytest.raises(StoreBusy):
        admission.enter(0)  # nobody overtakes the line
    admission.leave(1)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4]
    assert admission.in_flight == 0


def test_who_waits_too_long_leaves_the_line() -> None:
    admission = Admission(1)
    admission.enter()
    with pytest.raises(StoreBusy):
        admission.enter(0.001)
    assert admission.waiting == 0
    admission.leave(1)
    assert admission.in_flight == 0


def test_closing_refuses_newcomers_and_those_in_line() -> None:
    admission = Admission(1)
    admission.enter()
    errors: list[BaseException] = []

    def wait() -> None:
        try:
            admission.enter(WAIT_S)
        except StoreClosed as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: admission.waiting == 1)
    admission.close()
    thread.join()
    assert len(errors) == 1
    with pytest.raises(StoreClosed):
        admission.enter()
    assert admission.in_flight == 1


async def test_a_cancelled_task_gives_its_place_or_its_permit_back() -> None:
    loop = asyncio.get_running_loop()
    admission = Admission(1)
    admission.enter()
    waiting = asyncio.create_task(admission.enter_async(LoopSlot(loop)))
    granted = asyncio.create_task(admission.enter_async(LoopSlot(loop)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert admission.waiting == 1

    admission.leave(1)  # the permit is on its way to the second task ...
    granted.cancel()  # ... which is cancelled before it gets it
    with pytest.raises(asyncio.CancelledError):
        await granted
    await asyncio.sleep(0)
    assert (admission.in_flight, admission.waiting) == (0, 0)


def test_a_permit_for_a_closed_loop_goes_to_the_next_in_line() -> None:
    admission = Admission(1)
    admission.enter()

    async def stand() -> None:
        task = asyncio.create_task(admission.enter_async(LoopSlot(asyncio.get_running_loop())))
        await asyncio.sleep(0)
        task.add_done_callback(lambda _: None)
        loop = asyncio.get_running_loop()
        loop.stop()  # the loop ends with the task still in line

    loop = asyncio.new_event_loop()
    pending = loop.create_task(stand())
    loop.run_forever()
    assert admission.waiting == 1
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # abandoned on purpose
    pending._log_destroy_pending = False  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # same
    loop.close()
    admission.leave(1)
    assert (admission.in_flight, admission.waiting) == (0, 0)


def test_a_full_store_refuses_at_once_or_lets_wait() -> None:
    with running(SMALL) as store:
        store.log.open_gate.clear()
        futures = [store.ref.ask(AddTurn(KEY, AvatarText("x")), block=False) for _ in range(2)]

        with pytest.raises(StoreBusy):
            store.ref.tell(AddTurn(KEY, AvatarText("x")))
        with pytest.raises(StoreBusy):
            store.ref.ask(AddTurn(KEY, AvatarText("x")), timeout=0.001)

        received: list[object] = []
        thread = threading.Thread(
            target=lambda: received.append(store.ref.ask(AddTurn(KEY, AvatarText("waited"))))
        )
        thread.start()
        until(lambda: store.supervisor.door.admission.waiting == 1)
        store.log.open_gate.set()
        thread.join()
        assert len(received) == 1
        assert all(future.get(timeout=WAIT_S).durable for future in futures)


async def test_tasks_wait_for_a_permit_without_blocking_the_loop() -> None:
    with running(SMALL) as store:
        supervisor = store.supervisor
        ref = AsyncStoreRef(supervisor.door, supervisor.reads, supervisor.stats)
        receipts = await asyncio.gather(
            *(ref.ask(AddTurn(KEY, AvatarText(f"{n}"))) for n in range(50))
        )
        assert len({receipt.position for receipt in receipts}) == 50
        assert supervisor.stats().commands_in_flight == 0


FORKING = """
import os
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.subscriber import Subscriber
from turnfold.events.errors import StoreClosed
from turnfold.events.keys import ConversationKey
from turnfold.events.turns import AvatarText

key = ConversationKey("00000000-0000-0000-0000-000000000001", "public_chat")
with ConversationStore() as store:
    store.add_turn(key, AvatarText("x"))
    child = os.fork()
    if child == 0:
        try:
            store.add_turn(key, AvatarText("y"))
        except StoreClosed:
            try:
                store.subscribe(Subscriber)
            except StoreClosed:
                os._exit(7)
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    store.add_turn(key, AvatarText("z"))
"""


def test_a_forked_child_is_refused_and_does_not_wait_for_ever() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["7"]
