"""Reports on records as the fold keeps them, damaged payloads included."""

from collections.abc import Iterable

import attrs

from turnfold.events.sealed import NONCE_BYTES
from turnfold.events.session import StateRecord
from turnfold.events.session_state.codec import CorruptLabel, inspect_stored
from turnfold.events.session_state.digest import DigestKey, DigestKeyring
from turnfold.events.session_state.record import SessionStateRecord
from turnfold.events.session_state.reports import (
    UNAVAILABLE,
    SessionStateErrorReport,
    SessionStateListReport,
    SessionStateReadReport,
    corrupt_report,
    is_error_of,
    list_report,
    read_report,
)
from turnfold.events.session_state.scope import SessionStateKey, TenantScope
from turnfold.events.session_state.tags import record_tag


def read_stored(
    stored: StateRecord | None, key: SessionStateKey, digest_key: DigestKey
) -> SessionStateReadReport:
    """The report on reading `key`, given what `lookup_tag` found.

    The record knows the position that it was stored at, so that it can be written again.
    """
    if stored is None:
        return UNAVAILABLE
    if not isinstance(stored.sealed, bytes):
        return corrupt_report(CorruptLabel.UNREADABLE, _known_bytes(stored), digest_key)
    report = read_report(_known_bytes(stored), key, digest_key)
    if report.record is None:
        return report
    record = attrs.evolve(report.record, source_position=stored.position)
    return SessionStateReadReport(record)


def list_stored(
    stored: Iterable[StateRecord], scope: TenantScope, secret: bytes, digest_key: DigestKey
) -> SessionStateListReport:
    """The listing of `scope`, given what was found under its `scope_tag`."""
    inspected = ((_known_bytes(one), _inspected(one, secret)) for one in stored)
    return list_report(inspected, scope, digest_key)


def find_error(
    stored: StateRecord, error_digest: str, secret: bytes, keys: DigestKeyring
) -> SessionStateErrorReport | None:
    """Where the record is, if a report's `error_digest` is about it."""
    data = _known_bytes(stored)
    if not is_error_of(error_digest, data, keys):
        return None
    found = _inspected(stored, secret)
    return SessionStateErrorReport(
        position=stored.position,
        at=stored.at,
        record_tag=stored.record.hex(),
        scope_tag=stored.scope.hex(),
        stored_bytes=len(data),
        error_label=found if isinstance(found, CorruptLabel) else None,
    )


def _inspected(stored: StateRecord, secret: bytes) -> SessionStateRecord | CorruptLabel:
    """The record, if it is sound and lies where it belongs."""
    if not isinstance(stored.sealed, bytes):
        return CorruptLabel.UNREADABLE
    found = inspect_stored(_known_bytes(stored))
    if isinstance(found, CorruptLabel) or record_tag(secret, found.key) == stored.record:
        return found
    return CorruptLabel.KEY_MISMATCH


def _known_bytes(stored: StateRecord) -> bytes:
    """The stored form; where it can't be read, its commitment stands for it in digests."""
    return stored.sealed[NONCE_BYTES:] if isinstance(stored.sealed, bytes) else stored.commitment
