"""Other stores, each as it is shipped, doing the same job. They come with the group `bench`.

They are optional, so no type checker sees them: what is theirs is Any. What a peer calls stored
counts as stored; `DURABILITY` says what that promises. Sessions of OpenAI Agents are kept open and
LangGraph's put_writes is left out, both of which favour the peer.
"""

import asyncio
import json
import sqlite3
import subprocess
import time
import uuid
from collections.abc import Callable, Coroutine, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from job import ROLES, Figures, Line, Stopwatch, drive, percentile, shares

DURABILITY = {
    "raw": "write and fdatasync before the next record",
    "sqlite": "WAL, synchronous=FULL, one insert per commit",
    "turnfold": "fdatasync before the answer",
    "redis": "append-only file, appendfsync always",
    "openai": "SQLite WAL, synchronous as shipped (FULL)",
    "langgraph": "SQLite WAL, synchronous as shipped (FULL)",
    "eventsourcing": "SQLite WAL, synchronous as shipped (FULL)",
    "adk": "SQLite rollback journal as shipped (FULL)",
}
REDIS_PORT = 16399
REDIS = f"redis-server --port {REDIS_PORT} --bind 127.0.0.1 --appendonly yes --appendfsync always"
READS = 100


class Unavailable(Exception):
    """The peer isn't installed; the message says what to install."""


def _imported(name: str, package: str) -> Any:
    """An optional module. Raises Unavailable, naming the package that has it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Unavailable(f"{package} is not installed") from error


def _read_figures(taken: Sequence[float]) -> Figures:
    return {
        "read_p50_us": percentile(taken, 0.5) * 1e6,
        "read_p99_us": percentile(taken, 0.99) * 1e6,
    }


def _figures(
    append: Callable[[Line], Any],
    read: Callable[[str], Any],
    lines: Sequence[Line],
    producers: int,
    seconds: float,
) -> Figures:
    """Drive a peer with blocking calls, then read the last 50 turns of conversations."""
    figures = drive(append, lines, producers, seconds)
    taken: list[float] = []
    for number in range(READS):
        begin = time.perf_counter()
        read(_name(lines[number]))
        taken.append(time.perf_counter() - begin)
    return {**figures, **_read_figures(taken)}


async def _async_figures(
    append: Callable[[Line], Coroutine[Any, Any, Any]],
    read: Callable[[str], Coroutine[Any, Any, Any]],
    lines: Sequence[Line],
    producers: int,
    seconds: float,
) -> Figures:
    """The same with tasks of one loop."""
    watch = Stopwatch(seconds)

    async def produce(share: list[Line]) -> None:
        for line in share:
            begin = watch.start()
            if begin is None:
                return
            await append(line)
            watch.lap(begin)

    await asyncio.gather(*map(produce, shares(lines, producers)))
    figures = watch.figures()
    taken: list[float] = []
    for number in range(READS):
        begin = time.perf_counter()
        await read(_name(lines[number]))
        taken.append(time.perf_counter() - begin)
    return {**figures, **_read_figures(taken)}


def _name(line: Line) -> str:
    return f"conversation-{line[0]:05d}"


# --- one function a peer -----------------------------------------------------------------------


def redis(lines: Sequence[Line], directory: Path, producers: int, seconds: float) -> Figures:
    """RPUSH of JSON; a server of its own on the loopback interface, with a pool of connections."""
    client = _imported("redis", "redis")
    try:
        server = subprocess.Popen(
            [*REDIS.split(), "--save", "", "--dir", str(directory)],
            stdout=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise Unavailable("redis-server is not installed") from error
    try:
        connection = client.Redis(port=REDIS_PORT)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                connection.ping()
                break
            except client.exceptions.ConnectionError:
                time.sleep(0.01)  # noqa: TID251 - another process starts; nothing tells when
        return _figures(
            lambda line: connection.rpush(
                _name(line), json.dumps([line[1], ROLES[line[1] % 3], line[2]])
            ),
            lambda name: [json.loads(item) for item in connection.lrange(name, -50, -1)],
            lines,
            producers,
            seconds,
        )
    finally:
        server.terminate()
        server.wait()


def openai(lines: Sequence[Line], directory: Path, producers: int, seconds: float) -> Figures:
    """OpenAI Agents SQLiteSession on a file; one session object a conversation."""
    make_session = _imported("agents", "openai-agents").SQLiteSession
    path = directory / "sessions.sqlite"
    sessions: dict[str, Any] = {}

    def session(name: str) -> Any:
        if name not in sessions:
            sessions[name] = make_session(name, path)
        return sessions[name]

    async def append(line: Line) -> None:
        item = {"role": ROLES[line[1] % 2], "content": line[2]}
        await session(_name(line)).add_items([item])

    async def read(name: str) -> Any:
        return await session(name).get_items(limit=50)

    return asyncio.run(_async_figures(append, read, lines, producers, seconds))


def langgraph(lines: Sequence[Line], directory: Path, producers: int, seconds: float) -> Figures:
    """SqliteSaver.put of a checkpoint that holds the conversation's whole message list."""
    package = "langgraph-checkpoint-sqlite"
    said = _imported("langchain_core.messages", package)
    base = _imported("langgraph.checkpoint.base", package)
    ids = _imported("langgraph.checkpoint.base.id", package)
    sqlite = _imported("langgraph.checkpoint.sqlite", package)
    saver = sqlite.SqliteSaver(sqlite3.connect(directory / "graph.sqlite", check_same_thread=False))
    saver.setup()
    messages: dict[str, list[Any]] = {}
    places: dict[str, Any] = {}

    def place(name: str) -> Any:
        start = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
        return places.get(name, start)

    def append(line: Line) -> None:
        name = _name(line)
        kept = messages.setdefault(name, [])
        kind = said.AIMessage if line[1] % 3 == 1 else said.HumanMessage
        kept.append(kind(line[2]))
        checkpoint = base.empty_checkpoint()
        checkpoint["id"] = str(ids.uuid6(clock_seq=line[1]))
        checkpoint["channel_values"] = {"messages": kept}
        checkpoint["channel_versions"] = {"messages": len(kept)}
        metadata: dict[str, Any] = {"source": "loop", "step": len(kept), "parents": {}}
        places[name] = saver.put(place(name), checkpoint, metadata, {"messages": len(kept)})

    def read(name: str) -> Any:
        return saver.get_tuple({"configurable": {"thread_id": name, "checkpoint_ns": ""}})

    return _figures(append, read, lines, producers, seconds)


def eventsourcing(
    lines: Sequence[Line], directory: Path, producers: int, seconds: float
) -> Figures:
    """Get the aggregate, trigger one event, save; no cache and no snapshots, as shipped."""
    app = _imported("eventsourcing_peer", "eventsourcing").Conversations(
        env={
            "PERSISTENCE_MODULE": "eventsourcing.sqlite",
            "SQLITE_DBNAME": str(directory / "events.sqlite"),
        }
    )
    return _figures(
        lambda line: app.add_turn(_name(line), line[1], ROLES[line[1] % 3], line[2]),
        app.last,
        lines,
        producers,
        seconds,
    )


def adk(lines: Sequence[Line], directory: Path, producers: int, seconds: float) -> Figures:
    """Google ADK SqliteSessionService: append_event to a session that is held."""
    package = "google-adk"
    events = _imported("google.adk.events", package)
    sessions = _imported("google.adk.sessions.base_session_service", package)
    services = _imported("google.adk.sessions.sqlite_session_service", package)
    types = _imported("google.genai.types", package)
    held: dict[str, Any] = {}

    async def main() -> Figures:
        service = services.SqliteSessionService(db_path=str(directory / "adk.sqlite"))

        async def append(line: Line) -> None:
            name = _name(line)
            if name not in held:
                held[name] = await service.create_session(
                    app_name="bench", user_id="user", session_id=name
                )
            content = types.Content(role="user", parts=[types.Part(text=line[2])])
            event = events.Event(author="user", content=content, id=uuid.UUID(int=line[1]).hex)
            await service.append_event(held[name], event)

        async def read(name: str) -> Any:
            return await service.get_session(
                app_name="bench",
                user_id="user",
                session_id=name,
                config=sessions.GetSessionConfig(num_recent_events=50),
            )

        return await _async_figures(append, read, lines, producers, seconds)

    return asyncio.run(main())
