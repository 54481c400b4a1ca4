"""Watching what runs in this thread, without what the garbage collector runs there."""

import gc
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def watching(hook: Callable[[FrameType, str, Any], Any], *, lines: bool = False) -> Generator[None]:
    """`hook` is told of each call inside: as a profile function or, with `lines`, a trace function.

    Cyclic garbage isn't collected meanwhile: that runs finalizers of whatever earlier tests left,
    and a count would be another one in another order of tests.
    """
    put: Callable[[Any], None] = sys.settrace if lines else sys.setprofile
    before = sys.gettrace() if lines else sys.getprofile()
    was_on = gc.isenabled()
    gc.disable()
    put(hook)
    try:
        yield
    finally:
        put(before)
        if was_on:
            gc.enable()
