"""Work that would block an event loop, in a thread of its own."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T], undo: Callable[[T], object] | None = None) -> T:
    """Run `work` in a thread of its own, which ends with it, and await its result.

    If the task is cancelled, the work goes on to its end, and then `undo` gets its result.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def give_up(result: T) -> None:
        if undo is not None:
            threading.Thread(target=undo, args=(result,), name="turnfold-Undo").start()

    def deliver(result: T) -> None:
        if future.done():  # cancelled
            give_up(result)
        else:
            future.set_result(result)

    def deliver_error(error: BaseException) -> None:
        if not future.done():
            future.set_exception(error)

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - carried to the awaiting task
            _tell(loop, deliver_error, error)
        else:
            if not _tell(loop, deliver, result):
                give_up(result)

    threading.Thread(target=run, name="turnfold-Work", daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        if future.done() and not future.cancelled() and future.exception() is None:
            give_up(future.result())  # it came just before the task was cancelled
        raise


def _tell(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *arguments: Any) -> bool:
    """Call in the loop's thread; False if the loop is closed."""
    try:
        loop.call_soon_threadsafe(call, *arguments)
    except RuntimeError:
        return False
    return True
