"""Counting what runs in a thread, without what the garbage collector runs there."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collections_off() -> Generator[None]:
    """No cyclic garbage is collected inside.

    A collection runs finalizers of whatever earlier tests left, at a moment that depends on how
    much memory they took: a count of lines or calls would be another one in another order of tests.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
