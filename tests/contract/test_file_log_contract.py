from collections.abc import Iterator
from pathlib import Path

import pytest
from contract.log_contract import SECRET, STORE_ID, LogContract

from turnfold.events.log.backend import Log
from turnfold.events.log.chain import genesis
from turnfold.events.log.file_log import FileLog
from turnfold.events.log.ownership import StoreLock
from turnfold.events.log.posix_disk import PosixDisk


class TestFileLog(LogContract):
    """On a real directory, with a real lock."""

    @pytest.fixture
    def log(self, tmp_path: Path) -> Iterator[Log]:
        disk = PosixDisk(tmp_path / "store", create=True)
        log = FileLog.resume(
            disk,
            StoreLock.acquire(disk),
            store_id=STORE_ID,
            secret=SECRET,
            epoch=1,
            position=0,
            head=genesis(STORE_ID),
        )
        yield log
        log.close()
