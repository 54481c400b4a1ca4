"""A store on a simulated disk that loses its power again and again, and what must be there then."""

from random import Random

from histories import History
from simulation.sim_disk import SimDisk
from simulation.sim_faults import PowerCut, cut_call
from stores import FileStore

from turnfold.events.evolve import fold
from turnfold.events.reasons import Reason
from turnfold.events.snapshot import capture, sealed_parts, state_digest

WELL = {Reason.OPENED_NEW, Reason.OPENED_CLEAN, Reason.OPENED_TORN_TAIL}


class CrashRig:
    """A store on a simulated disk that loses its power again and again."""

    def __init__(self, seed: int, *, sync_each: bool = True) -> None:
        self.disk = SimDisk(seed)
        self.random = Random(seed)
        self.sync_each = sync_each
        self.acknowledged = History(seed)  # what must be there
        self.possible = [self.acknowledged]  # what may be there

    def live(self, commands: int, calls: int) -> None:
        """Open, work until the power goes, and lose it."""
        self.disk.plan = cut_call(
            self.disk.calls + self.random.randint(1, calls), after=self.random.random() < 0.5
        )
        try:
            self._work(commands)
        except PowerCut:
            if self.random.random() < 0.2:
                self.disk.kill()  # the process alone: the page cache survives
            else:
                self.disk.crash()
        else:
            self.disk.crash()

    def _work(self, commands: int) -> None:
        twins = [one.copy() for one in self.possible]
        self.possible += twins  # one of which goes on with this opening
        store = self.open(twins)
        self.acknowledge(store)
        for _ in range(commands):
            draw = self.random.random()
            store.history = store.history.copy()
            self.possible.append(store.history)
            if draw < 0.85:
                store.run(1, sync=self.sync_each)
            elif draw < 0.92:
                store.flush()
            elif draw < 0.96:
                store.erase()
            else:
                store.log.watermark(store.now)
            if self.sync_each or store.log.durable == store.log.position:
                self.acknowledge(store)
        if self.random.random() < 0.5:
            store.close()

    def acknowledge(self, store: FileStore) -> None:
        self.acknowledged = store.history
        self.possible = [store.history]

    def open(self, histories: list[History]) -> FileStore:
        """Open, and compare with the history that has come true."""
        store = FileStore(self.disk, histories)
        assert store.report.reason in WELL, store.report
        assert store.history.position > self.acknowledged.position
        before = fold(event for frame in store.history.frames[:-1] for event in frame)
        assert store.recovered_digest == state_digest(capture(before)), "another history"
        return store

    def missing(self, store: FileStore) -> list[str]:
        """Live texts of the history that the state doesn't have."""
        kept = b"".join(part for _session, _position, part in sealed_parts(capture(store.state)))
        return [text for text in store.history.live_texts if text.encode() not in kept]

    def left(self, store: FileStore) -> list[str]:
        """Texts that must be gone and stand in some file."""
        return [text for text in store.history.gone if text and self.disk.holds(text.encode())]


def closed_store() -> tuple[SimDisk, FileStore]:
    """Three segments, three generations."""
    disk = SimDisk(4)
    store = FileStore(disk, History(4))
    for openings in range(3):
        if openings:
            store = FileStore(disk, store.history)
        store.run(12)
        store.flush()
        store.close()
    return disk, store
