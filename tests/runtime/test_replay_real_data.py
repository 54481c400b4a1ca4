"""The recorded chat, stored and replayed: each position gives the digest that the store had there.

The replay may ask nothing of the world: clock, network and randomness raise.
"""

import os
import random
import secrets
import socket
import time
import uuid
from pathlib import Path

import pytest
from runtime.cli_run import turnfold

from turnfold.actors import ledger
from turnfold.events import replay, verify
from turnfold.events.event import Event
from turnfold.events.evolve import evolve
from turnfold.events.snapshot import capture, state_digest
from turnfold.events.state import StoreState

LINES = 150
RECORDINGS = ("public_chat.jsonl", "direct_im.jsonl")


@pytest.fixture(scope="module", params=RECORDINGS, ids=["public", "direct"])
def stored(
    request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[int, bytes]]:
    """A store of the first lines, and the digest that the live store had at each position."""
    folder = tmp_path_factory.mktemp("replayed")
    lines = (shared_data / "data" / request.param).read_text().splitlines(keepends=True)
    (folder / "lines.jsonl").write_text("".join(lines[:LINES]))
    digests: dict[int, bytes] = {}

    def watched(state: StoreState, event: Event) -> None:
        evolve(state, event)
        digests[state.position] = state_digest(capture(state))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger, "evolve", watched)
        options = ("--clock", "recorded", "--store", folder / "store")
        assert turnfold("ingest", folder / "lines.jsonl", *options).code == 0
    return folder / "store", digests


@pytest.fixture
def worldless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for the time, for a random number or for the network gets an error."""

    def forbidden(*_arguments: object, **_named: object) -> object:
        raise AssertionError("replay must not ask the world")

    asked = {
        time: ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "clock_gettime_ns"),
        os: ("urandom", "getrandom"),
        random: ("random", "randrange", "choice"),
        secrets: ("token_bytes", "token_hex"),
        uuid: ("uuid1", "uuid4"),
        socket: ("socket", "create_connection", "getaddrinfo"),
    }
    for module, names in asked.items():
        for name in names:
            monkeypatch.setattr(module, name, forbidden)


@pytest.mark.usefixtures("worldless")
def test_every_position_replays_to_the_digest_of_the_live_store(
    stored: tuple[Path, dict[int, bytes]],
) -> None:
    store, digests = stored
    wrong = [p for p, digest in digests.items() if replay(store, until=p).digest != digest]

    assert len(digests) > LINES
    assert sorted(digests) == list(range(1, max(digests) + 1))
    assert len(set(digests.values())) > LINES
    assert not wrong


def test_the_command_line_gives_the_same_digests(stored: tuple[Path, dict[int, bytes]]) -> None:
    store, digests = stored
    positions = [1, 2, LINES // 2, max(digests)]
    told = [turnfold("replay", "--until", p, "--store", store, "--json").json for p in positions]

    assert [one["digest"] for one in told] == [digests[p].hex() for p in positions]


def test_digests_are_the_same_after_everything_was_erased(
    stored: tuple[Path, dict[int, bytes]],
) -> None:
    store, digests = stored
    text = turnfold("sessions", "--store", store, "--json").json["sessions"]
    for session in text:
        deleted = turnfold("delete", session["avatar"], "--all", "--store", store)
        assert deleted.code == 0, deleted.err

    assert verify(store).ok
    for position in range(1, max(digests) + 1, 10):
        assert replay(store, until=position).digest == digests[position]
