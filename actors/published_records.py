"""Session-state records as readers see them: those of the last committed batch.

The store actor's thread alone calls `apply`; any thread reads. A lookup is one dictionary
operation whatever is asked for, so it tells nobody what is stored beside it.
"""

from collections.abc import Iterable

from turnfold.events.event import SessionStateDeleted, SessionStateRecorded
from turnfold.events.session import StateRecord
from turnfold.events.state import StoreState

RecordEvent = SessionStateRecorded | SessionStateDeleted


class PublishedRecords:
    """Committed records by their tag and by their scope's. Made from a committed state.

    `sealed_bytes` counts the payloads of all, `highest_at` is the latest wall time (ns) of any
    committed event.
    """

    __slots__ = ("_records", "_scopes", "highest_at", "sealed_bytes")

    def __init__(self, state: StoreState) -> None:
        self._records = dict(state.records)
        self._scopes: dict[bytes, dict[bytes, StateRecord]] = {}
        for record in self._records.values():
            self._scopes.setdefault(record.scope, {})[record.record] = record
        self.sealed_bytes = state.record_bytes
        self.highest_at = state.highest_at

    # --- any thread --------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._records)

    def get(self, tag: bytes) -> StateRecord | None:
        """The record under this tag."""
        return self._records.get(tag)

    def of_scope(self, scope_tag: bytes) -> list[StateRecord]:
        """The records of one scope, in no particular order."""
        return _values(self._scopes.get(scope_tag, {}))

    def every(self) -> list[StateRecord]:
        """All records: for an operator, not for an actor."""
        return _values(self._records)

    # --- the store actor's thread --------------------------------------------------------

    def apply(self, state: StoreState, events: Iterable[RecordEvent]) -> None:
        """Publish what the record events of a committed batch changed."""
        for tag in {event.record for event in events}:
            self._put(tag, state.records.get(tag))
        self.sealed_bytes = state.record_bytes
        self.highest_at = state.highest_at

    def _put(self, tag: bytes, record: StateRecord | None) -> None:
        if record is not None:
            self._records[tag] = record
            self._scopes.setdefault(record.scope, {})[tag] = record
            return
        old = self._records.pop(tag, None)
        if old is not None:
            scope = self._scopes[old.scope]
            del scope[tag]
            if not scope:
                del self._scopes[old.scope]


def _values(records: dict[bytes, StateRecord]) -> list[StateRecord]:
    while True:
        try:
            return list(records.values())
        except RuntimeError:  # a batch was published meanwhile; a copy takes microseconds
            continue
