"""Stores to keep session state in, on files and in memory, and what lies in their files."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from domain.session_state_cases import APPROVAL, GENE, MEMORY, NOW_NS, PROFILE, SCOPE
from runtime.fake_log import SteppedClock, until

from turnfold.actors.config import Config
from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.state_store import SessionStateStore
from turnfold.events.keys import ConversationKey
from turnfold.events.log.inspection import inspect
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.session_state import SessionStateRecord, SessionStateWriteReport, TenantScope

SPOKEN = ConversationKey("828f937f-5fe2-5d35-a368-a556b6fa9e23", "direct_im")
FOREIGN = TenantScope("tenant-2", "workspace", "session")


def config(path: Path | None = None, **settings: Any) -> Config:
    """Durable writes on; on files if there is a path."""
    chosen: dict[str, Any] = {"durable_writes_enabled": True, "storage_path": path} | settings
    return Config(persistence_enabled=path is not None, **chosen)


def opened(
    path: Path | None = None, *, wall_ns: int = NOW_NS, **settings: Any
) -> ConversationStore:
    """A store on a clock that stands still."""
    return ConversationStore(config(path, **settings), clock=SteppedClock(wall_ns))


def of_conversation(
    states: SessionStateStore, key: ConversationKey = SPOKEN, **changes: Any
) -> SessionStateRecord:
    """A record of a live conversation that may be written."""
    parts: dict[str, Any] = {
        "scope": SCOPE,
        "profile": PROFILE,
        "memory_anchors": [MEMORY],
        "gene_anchors": [GENE],
    }
    return states.from_conversation(key, **(parts | changes))


def wrote(states: SessionStateStore, made: SessionStateRecord) -> SessionStateWriteReport:
    """A write with everything that it needs."""
    report = states.write(made.scope, made, APPROVAL)
    assert report.applied, report
    return report


def files(path: Path) -> dict[str, str]:
    """The digest of every file below a directory."""
    return {
        file.relative_to(path).as_posix(): sha256(file.read_bytes()).hexdigest()
        for file in path.rglob("*")
        if file.is_file()
    }


def every_byte(path: Path) -> bytes:
    """All files below a directory, one after the other."""
    return b"\n".join(file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file())


def settled(path: Path) -> dict[str, str]:
    """The files once a watermark follows the last batch: from then on only commands change them."""

    def is_marked() -> bool:
        disk = PosixDisk(path / "conversations")
        try:
            found = inspect(disk)
        finally:
            disk.close()
        return found.survey.watermark is not None and not found.survey.undurable

    until(is_marked)
    return files(path)
