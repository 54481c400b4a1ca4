"""Every error Turnfold raises, in one tree.

Each message says what happened, to which input (never its text) and what to do about it.
Errors that a caller might already catch by a built-in type inherit that type too.
"""


class TurnfoldError(Exception):
    """Base of every error Turnfold raises on purpose."""


# --- bad input: nothing was stored -------------------------------------------------------


class InvalidInput(TurnfoldError, ValueError):
    """An argument has the wrong type, form or size. Nothing was stored."""


class InvalidKey(InvalidInput):
    """A conversation key's avatar is not a UUID or its channel is not a known one."""


class InvalidTurn(InvalidInput):
    """A turn is not one of the four kinds, or one of its fields is out of bounds."""


class InvalidStateRecord(InvalidInput):
    """A session-state value breaks rules; `blockers` names every one. Nothing was stored."""

    def __init__(self, message: str, blockers: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.blockers = blockers


class TextTooLarge(InvalidInput):
    """A text is larger than the input cap; it was refused before it was scanned."""


class InvalidConfig(InvalidInput):
    """A configuration key is unknown, or its value has the wrong type or range."""


class LimitTooHigh(InvalidConfig):
    """A configured limit is above its hard ceiling (or below its minimum)."""


# --- refused commands: the state says no ---------------------------------------------------


class CommandRefused(TurnfoldError):
    """The command is well formed but the state doesn't allow it. Nothing was stored."""


class SessionEnded(CommandRefused):
    """The named session is no longer live; the message says why it ended."""


class TurnIdConflict(CommandRefused):
    """A turn id was used before in this session with other content."""


class ConversationsDisabled(CommandRefused):
    """The configuration keeps no transcripts (`[conversation] enabled = false`)."""


# --- the store as a running thing ------------------------------------------------------------


class StoreUnavailable(TurnfoldError):
    """The store can't take this command now."""


class StoreBusy(StoreUnavailable):
    """Too many commands are in flight, or no answer came within the timeout."""


class StoreClosed(StoreUnavailable):
    """The store was closed before the command was decided. Nothing was stored."""


class StoreFailed(StoreUnavailable):
    """The store stopped working; whether the command was stored is unknown."""


class NotWritten(StoreUnavailable):
    """The batch certainly did not reach the disk (full disk, short write). Safe to retry."""


class NotErased(StoreUnavailable):
    """The deletion is recorded and durable, its text is not erased yet. Delete the key again."""


class OutcomeUnknown(StoreUnavailable):
    """A sync failed: the command may or may not be durable. Reopen the store and look."""


class StoreReadOnly(StoreUnavailable):
    """The store was opened for reading only (damage with on_damage="refuse", or a lost key)."""


class WouldDeadlock(StoreUnavailable):
    """A blocking call from the store's own thread or from inside an event loop."""


# --- files and directories ---------------------------------------------------------------------


class StorageError(TurnfoldError):
    """The storage path or a file below it can't be used as it is."""


class StorePathError(StorageError):
    """The storage path is missing, not a directory, not writable or not a store."""


class DiskFull(StorageError):
    """The disk or the quota is full; free space and try again."""


class StoreLocked(StorageError):
    """Another process (or another store object of this one) owns the store."""


class UnsupportedFormat(StorageError):
    """The log was written by a newer Turnfold; nothing was touched."""


class CorruptData(StorageError):
    """Bytes that should be intact are not; the message names file and offset."""


class CorruptStateRecord(CorruptData):
    """A stored session-state record is not what was written; `label` says in what way."""

    def __init__(self, message: str, label: str) -> None:
        super().__init__(message)
        self.label = label


class DamagedStore(StorageError):
    """Durable positions are damaged and the configuration says to refuse."""


class ReplayError(TurnfoldError):
    """A position or time that can't be replayed (trimmed, lost or beyond the end)."""


# --- optional parts -----------------------------------------------------------------------------


class MissingExtra(TurnfoldError):
    """A part of Turnfold needs packages that are not installed; `extra` brings them."""

    def __init__(self, extra: str, what: str) -> None:
        super().__init__(f"{what} need the extra {extra!r}: pip install 'turnfold[{extra}]'")
        self.extra = extra
