"""An opening reads a generation and what is behind it, however long the history is."""

from pathlib import Path

import pytest

from turnfold import AvatarText, Config, ConversationKey, ConversationStore
from turnfold.events.limits import KIB, MIB, Limits
from turnfold.events.log.posix_disk import PosixFile

LIMITS = Limits(active_sessions=32, aggregate_bytes=MIB, bytes_per_session=64 * KIB)
BATCH = 500
TAIL = 1000  # turns behind the generation


class Readings:
    """How many bytes are read from files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.total = 0
        read = PosixFile.read

        def counted(file: PosixFile, offset: int, size: int) -> bytes:
            data = read(file, offset, size)
            self.total += len(data)
            return data

        monkeypatch.setattr(PosixFile, "read", counted)


def config(path: Path) -> Config:
    return Config(
        storage_path=path,
        persistence_enabled=True,
        durability="flush",
        control_socket=False,
        limits=LIMITS,
    )


def key_of(number: int) -> ConversationKey:
    return ConversationKey(f"00000000-0000-0000-0000-{number % 64:012}", "public_chat")


def write(path: Path, turns: int) -> tuple[int, int]:
    """That many turns, a generation, and a tail; bytes of the log, and behind the generation."""

    def size() -> int:
        return sum(file.stat().st_size for file in (path / "conversations" / "log").iterdir())

    def add(store: ConversationStore, count: int) -> None:
        for first in range(0, count, BATCH):
            said = [AvatarText(f"what was said {first + n} times") for n in range(BATCH)]
            store.add_turns(key_of(first // BATCH), said)

    with ConversationStore(config(path)) as store:
        add(store, turns)
        store.flush()
        before = size()
        add(store, TAIL)
        store.sync()
        whole = size()
        # Closing writes a generation: the one before it is what is measured.
        kept = max((path / "conversations" / "generations").iterdir())
    for generation in (path / "conversations" / "generations").iterdir():
        if generation != kept:
            generation.unlink()
    return whole, whole - before


def bytes_to_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read by an opening and the flush of its closing."""
    with monkeypatch.context() as patched:
        readings = Readings(patched)
        ConversationStore(config(path)).close()
    return readings.total


def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int) -> None:
    """A few times the generation and the tail, and less than the log."""
    log_bytes, tail_bytes = write(tmp_path, turns)
    generations = (tmp_path / "conversations" / "generations").iterdir()
    generation_bytes = max(file.stat().st_size for file in generations)

    read = bytes_to_open(tmp_path, monkeypatch)

    assert generation_bytes < read <= 3 * (generation_bytes + tail_bytes)
    assert read < log_bytes * 2 / 3


def test_what_an_opening_reads_does_not_grow_with_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(tmp_path, monkeypatch, 20_000)


@pytest.mark.nightly
def test_after_200_000_turns_an_opening_reads_a_generation_and_the_tail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(tmp_path, monkeypatch, 200_000)
