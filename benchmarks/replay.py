"""Replay of a long log: its rate, and that its memory doesn't grow with the log.

    python benchmarks/replay.py [--events 1000000] [--directory DIR] [--json]

The log is written first, straight through the log's own interface, without a store: sessions of 40
turns that expire and are erased, 64 keys, a frame for each event. Each replay then is a process of
its own, so that its peak memory is its own: of a hundredth of the log, and of all of it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turnfold.events.codec import encode_events
from turnfold.events.commands import Instant
from turnfold.events.event import ContentErased, Event, SessionExpired, SessionStarted, TurnAdded
from turnfold.events.keys import CHANNELS, Pseudonym, SessionId
from turnfold.events.limits import BOUNDS, Limits
from turnfold.events.log.backend import FrameParts
from turnfold.events.log.opening import opening_events
from turnfold.events.log.ownership import StoreLock
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.log.recovery import open_store
from turnfold.events.log.replay import STORE_DIRECTORY
from turnfold.events.log.stepping import replay_steps
from turnfold.events.reasons import Reason
from turnfold.events.sealed import NONCE_BYTES, commit
from turnfold.events.snapshot import capture, state_digest

START_NS = 1_700_000_000_000_000_000
KEYS = 64
TURNS = 40  # in each session
BATCH = 4096  # frames to a write and a sync
TEXT = b"what somebody said, a line of it, neither long nor short"
LIMITS = Limits(log_bytes=BOUNDS["log_bytes"][2])


def events_from(position: int) -> Iterator[Event]:
    """Events for ever, from this position on."""
    number = 0
    while True:
        number += 1
        start = position
        for event in _session(start, number):
            yield event
            position = event.position + 1


def _session(start: int, number: int) -> Iterator[Event]:
    def at(index: int, reason: Reason) -> dict[str, Any]:
        elapsed = (start + index) * 1_000_000
        common = {"position": start + index, "at": START_NS + elapsed, "age": elapsed}
        return {**common, "reason": reason}

    def sealed(payload: bytes) -> dict[str, Any]:
        whole = number.to_bytes(NONCE_BYTES, "big") + payload
        return {"sealed": whole, "commitment": commit(whole)}

    yield SessionStarted(
        **at(0, Reason.STARTED_PREDECESSOR_UNKNOWN),
        session_id=SessionId(f"{number:032x}"),
        pseudonym=Pseudonym((number % KEYS).to_bytes(16, "big")),
        channel=CHANNELS[0],
        **sealed(bytes(31) + b"\x01"),
    )
    for index in range(1, TURNS + 1):
        yield TurnAdded(
            **at(index, Reason.ADDED_AVATAR),
            session=start,
            text_bytes=len(TEXT),
            extras_bytes=0,
            **sealed(TEXT),
        )
    yield SessionExpired(**at(TURNS + 1, Reason.EXPIRED_INACTIVITY), session=start)
    yield ContentErased(
        **at(TURNS + 2, Reason.ERASED_EXPIRED),
        session=start,
        through=start + TURNS + 1,
        payloads=TURNS + 1,
        erased_bytes=TURNS * (NONCE_BYTES + len(TEXT)) + NONCE_BYTES + 32,
    )


def write_log(directory: Path, count: int) -> int:
    """A store's log of `count` events; the last position."""
    disk = PosixDisk(directory / STORE_DIRECTORY, create=True)
    opened = open_store(
        disk,
        lambda: StoreLock.acquire(disk),
        limits=LIMITS,
        on_damage="recover",
        entropy=os.urandom,
    )
    log, frames = opened.log, list[FrameParts]()
    first = opening_events(
        opened.report,
        opened.state,
        now=Instant(START_NS, 0),
        epoch=log.epoch,
        ruleset=1,
        limits=LIMITS,
        recorded_clock=True,
    )
    frames.append(FrameParts(1, len(first), *encode_events(first)))
    position = len(first)
    for event in events_from(position + 1):
        frames.append(FrameParts(event.position, 1, *encode_events([event])))
        position = event.position
        if len(frames) == BATCH or position == count:
            log.append(frames, expected=frames[0].first - 1)
            log.sync()
            frames = []
        if position == count:
            break
    log.watermark(Instant(START_NS + position * 1_000_000, position * 1_000_000))
    log.close()
    disk.close()
    return position


def peak_kib(*, anew: bool = True) -> int:
    """The most memory this process has had; `anew` forgets what came before, and what it inherited.

    getrusage would tell a child the peak of its parent. Source: proc_pid_status(5), VmHWM.
    """
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def replayed(directory: Path, until: int) -> dict[str, Any]:
    """Replay in this process: events, seconds, digest, and how much the peak memory grew."""
    before = peak_kib()
    begin, events, state = time.perf_counter(), 0, None
    for step in replay_steps(directory, until=until):
        events += len(step.events)
        state = step.state
    seconds = time.perf_counter() - begin
    peak = peak_kib(anew=False)
    assert state is not None, "the log is not empty"
    return {
        "events": events,
        "seconds": seconds,
        "events_per_s": events / seconds,
        "grown_kib": peak - before,
        "digest": state_digest(capture(state)).hex(),
    }


def in_a_process(directory: Path, until: int) -> dict[str, Any]:
    """`replayed` in a process of its own."""
    command = [sys.executable, __file__, "--replay", str(directory), "--events", str(until)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--directory", type=Path, help="where the log is written, and removed")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--replay", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.replay:
        print(json.dumps(replayed(given.replay, given.events)))
        return
    with tempfile.TemporaryDirectory(dir=given.directory) as folder:
        directory = Path(folder)
        last = write_log(directory, given.events)
        short, long = in_a_process(directory, max(1, last // 100)), in_a_process(directory, last)
    if given.json:
        print(json.dumps({"short": short, "long": long}))
        return
    for name, one in (("a hundredth", short), ("all", long)):
        print(
            f"{name:>12}: {one['events']:>9,} events in {one['seconds']:6.2f} s,"
            f" {one['events_per_s']:>9,.0f} a second, peak memory grew by {one['grown_kib']:,} KiB"
        )


if __name__ == "__main__":
    main()
