"""Where files can't be kept as promised, a store in memory works and one on files says why."""

import subprocess
import sys
from pathlib import Path

# What Windows lacks, taken away before anything of ours is imported.
ELSEWHERE = """
import os, sys, time
sys.modules["fcntl"] = None
for name in ("fdatasync", "posix_fadvise", "posix_fallocate", "pwrite", "register_at_fork"):
    delattr(os, name)
for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC", "clock_gettime_ns"):
    delattr(time, name)
from turnfold import AvatarText, Config, ConversationStore, ConversationKey, TurnfoldError
key = ConversationKey("00000000-0000-0000-0000-000000000001", "public_chat")
with ConversationStore() as store:
    assert store.add_turn(key, AvatarText("hello")).position == 3
try:
    ConversationStore(Config(storage_path=sys.argv[1], persistence_enabled=True))
except TurnfoldError as error:
    sys.stdout.write(f"{type(error).__name__}: {error}")
"""


def test_a_platform_without_synced_files_keeps_stores_in_memory(tmp_path: Path) -> None:
    """Nothing is created, and the message says what to do."""
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(tmp_path / "store")],
        capture_output=True,
        check=True,
    )

    assert done.stdout.decode().startswith("StorePathError: this platform has no os.fdatasync")
    assert b"persistence_enabled = false" in done.stdout
    assert not (tmp_path / "store").exists()
