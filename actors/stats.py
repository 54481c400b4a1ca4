"""Counters and sizes of a running store. Numbers only, never content, never a caller's id."""

import attrs


@attrs.define
class Counts:
    """What the store actor counts; its thread alone writes, any thread may read."""

    batches: int = 0
    commands: int = 0
    events: int = 0
    refused: int = 0
    not_written: int = 0
    sweeps: int = 0


@attrs.frozen(kw_only=True)
class Stats:
    """One picture of a store. Positions are of events; sizes are accounted bytes.

    `position` is published, `durable` survives a crash. `erasures_pending` counts sessions (or
    parts of them) whose text must still be erased. `undeliverable` counts answers that found
    nobody: dead actors and closed loops. `failed` says that the store takes no more commands.
    """

    position: int
    durable: int
    epoch: int
    active_sessions: int
    aggregate_bytes: int
    commands_in_flight: int
    commands: int
    batches: int
    events: int
    refused: int
    not_written: int
    undeliverable: int
    erasures_pending: int
    generation: int
    failed: bool
