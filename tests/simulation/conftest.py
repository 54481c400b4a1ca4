"""Failures are what simulations are about: the store's own log lines about them would be noise."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """No log lines of the store while a simulation runs."""
    logger = logging.getLogger("turnfold")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    yield
    logger.setLevel(level)
