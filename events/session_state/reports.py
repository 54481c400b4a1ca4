"""What the store answers: reports that name every blocker and hold nothing of a payload."""

from collections.abc import Iterable
from typing import ClassVar, Final, Literal

import attrs

from turnfold.events.session_state.blockers import Blocker, reasons_of
from turnfold.events.session_state.checks import Problems, flag_problem, hidden
from turnfold.events.session_state.codec import CorruptLabel, inspect_stored
from turnfold.events.session_state.digest import DigestKey, DigestKeyring, DigestPurpose
from turnfold.events.session_state.record import SessionStateRecord
from turnfold.events.session_state.scope import SessionStateKey, TenantScope


class _Report:
    """What all reports share: flags that are constants, and the published codes."""

    __slots__ = ()
    report_only: ClassVar[Literal[True]] = True
    raw_payload_exposed: ClassVar[Literal[False]] = False
    blockers: tuple[Blocker, ...]

    @property
    def blocked_reasons(self) -> tuple[str, ...]:
        """The published codes of `blockers`, each once."""
        return reasons_of(self.blockers)


@attrs.frozen
class SessionStateWriteReport(_Report):
    """What became of one write. `applied` is True only after the record is stored.

    `state_digest` and `record_bytes` are those of the record that was, or would be, written.
    Raises InvalidStateRecord if it is said to be applied although something blocks it.
    """

    applied: bool
    blockers: tuple[Blocker, ...]
    state_digest: str
    record_bytes: int

    def __attrs_post_init__(self) -> None:
        problems = Problems("the write report")
        problems.add("applied", flag_problem(self.applied))
        problems.add("blockers", Blocker.BAD_CHOICE if self.applied and self.blockers else None)
        problems.raise_if_any()

    @property
    def preview_only(self) -> bool:
        """Whether nothing was written."""
        return not self.applied

    @classmethod
    def of(
        cls, record: SessionStateRecord, blockers: tuple[Blocker, ...], *, applied: bool
    ) -> "SessionStateWriteReport":
        """The report on a write of `record` that `decide_write` answered with `blockers`."""
        return cls(applied, blockers, record.state_digest, len(record.encoded))


@attrs.frozen
class SessionStateReadReport(_Report):
    """What one read gave: a record, or nothing, or the label and digest of corrupt bytes.

    A record that isn't there and one that this scope may not see give equal reports.
    """

    applied: ClassVar[Literal[False]] = False
    read_only: ClassVar[Literal[True]] = True

    record: SessionStateRecord | None = None
    blockers: tuple[Blocker, ...] = ()
    error_label: CorruptLabel | None = None
    error_digest: str | None = None

    @property
    def corrupt(self) -> bool:
        """Whether there are bytes of this scope that can't be used."""
        return self.error_label is not None


@attrs.frozen
class SessionStateErrorReport:
    """Where a corrupt record is, for an operator: numbers and keyed tags, nothing of its bytes.

    `at` is the wall time (UTC ns) of the event at `position` that stored it. `error_label` is
    None if the record can be used after all. `stored_bytes` are those that the digest is of.
    """

    position: int
    at: int
    record_tag: str
    scope_tag: str
    stored_bytes: int
    error_label: CorruptLabel | None


UNAVAILABLE: Final = SessionStateReadReport(blockers=(Blocker.UNAVAILABLE,))


@attrs.frozen
class SessionStateDeleteReport(_Report):
    """What became of one deletion. What isn't there and what isn't yours look the same."""

    applied: bool
    blockers: tuple[Blocker, ...] = ()

    @classmethod
    def of(cls, *, deleted: bool) -> "SessionStateDeleteReport":
        """The report on a deletion that found its record, or did not."""
        return cls(deleted, () if deleted else (Blocker.UNAVAILABLE,))


@attrs.frozen
class SessionStateEntry:
    """One line of a listing: a record of the actor's own scope."""

    state_id: str = attrs.field(repr=hidden)
    state_digest: str
    record_bytes: int
    turn_count: int


@attrs.frozen
class SessionStateListReport(_Report):
    """The actor's own records by state id, and the error digests of its corrupt ones, sorted."""

    entries: tuple[SessionStateEntry, ...]
    error_digests: tuple[str, ...] = ()

    @property
    def blockers(self) -> tuple[Blocker, ...]:  # type: ignore[override]  # computed here
        """`state.corrupt` if any record is corrupt."""
        return (Blocker.CORRUPT,) if self.error_digests else ()


def read_report(
    stored: bytes | None, key: SessionStateKey, digest_key: DigestKey
) -> SessionStateReadReport:
    """The report on reading `key`, given the stored form found by `lookup_tag` (None: nothing).

    Never raises for what the bytes hold. A corrupt record's `error_digest` is keyed, so it can be
    logged and looked for without telling anything of the bytes.
    """
    if stored is None:
        return UNAVAILABLE
    found = inspect_stored(stored)
    if not isinstance(found, CorruptLabel) and found.key != key:
        found = CorruptLabel.KEY_MISMATCH  # sound, but not what was written under this key
    if isinstance(found, CorruptLabel):
        return corrupt_report(found, stored, digest_key)
    return SessionStateReadReport(found)


def corrupt_report(
    label: CorruptLabel, stored: bytes, digest_key: DigestKey
) -> SessionStateReadReport:
    """The report on bytes that can't be used, also where the storage itself found them so."""
    return SessionStateReadReport(
        blockers=(Blocker.CORRUPT,),
        error_label=label,
        error_digest=digest_key.digest(DigestPurpose.ERROR, stored),
    )


def list_report(
    inspected: Iterable[tuple[bytes, SessionStateRecord | CorruptLabel]],
    scope: TenantScope,
    digest_key: DigestKey,
) -> SessionStateListReport:
    """The listing of `scope`, given what is under its `scope_tag`: stored forms, what they are."""
    entries: list[SessionStateEntry] = []
    errors: list[str] = []
    for data, found in inspected:
        if isinstance(found, CorruptLabel) or found.scope != scope:
            errors.append(digest_key.digest(DigestPurpose.ERROR, data))
            continue
        size, turns = len(found.encoded), len(found.turns)
        entries.append(SessionStateEntry(found.state_id, found.state_digest, size, turns))
    entries.sort(key=lambda entry: entry.state_id)
    return SessionStateListReport(tuple(entries), tuple(sorted(errors)))


def is_error_of(error_digest: str, stored: bytes, keys: DigestKeyring) -> bool:
    """Whether a report's `error_digest` is about these stored bytes, under any known key."""
    return keys.verify(error_digest, DigestPurpose.ERROR, stored)
