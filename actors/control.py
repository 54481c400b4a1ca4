"""The control socket: the command line's way into a running store.

The owner of a store listens on `control.sock` in the store's directory: mode 0600 from creation,
and only processes of the same user are answered. One request a connection, one connection at a
time: a length (u32, little-endian) and that many bytes of CBOR each way, bounded and with a
timeout. Requests: expire and delete of one exact key, flush, sync, stats. No content travels.

The socket is bound and reached through a descriptor of its directory, since a socket's path may
have 107 bytes at most and a store's may have more.
"""

import contextlib
import enum
import logging
import os
import socket
import struct
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final, TypeGuard
from uuid import UUID

import attrs

from turnfold.actors.door import Door
from turnfold.actors.messages import (
    DeleteKey,
    ExpireSession,
    Flush,
    Flushed,
    GetStats,
    Sync,
    Synced,
)
from turnfold.actors.stats import Stats
from turnfold.events import cbor, errors
from turnfold.events.errors import (
    CorruptData,
    InvalidInput,
    StorageError,
    StoreBusy,
    StoreUnavailable,
    TurnfoldError,
)
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.reasons import Reason
from turnfold.events.receipts import DeletionReceipt, ErasedSession, ExpiryReceipt

_log = logging.getLogger(__name__)

SOCKET_NAME: Final = "control.sock"
CONVERSATIONS: Final = "conversations"
REQUEST_BYTES_MAX: Final = 4096
ANSWER_BYTES_MAX: Final = 4 * 1024 * 1024
EXCHANGE_S: Final = 5.0  # to send or receive one message
CALL_S_MAX: Final = 3600.0  # for the store to carry a request out
_LENGTH: Final = struct.Struct("<I")
_PEER: Final = struct.Struct("3i")  # pid, uid, gid

Request = ExpireSession | DeleteKey | Flush | Sync | GetStats
_VALUES: Final[dict[str, type[Any]]] = {
    cls.__name__: cls
    for cls in (
        ExpireSession,
        DeleteKey,
        Flush,
        Sync,
        GetStats,
        ConversationKey,
        ExpiryReceipt,
        DeletionReceipt,
        ErasedSession,
        Flushed,
        Synced,
        Stats,
    )
}
_ENUMS: Final[dict[str, type[enum.Enum]]] = {"Channel": Channel, "Reason": Reason}
_REQUESTS: Final = (ExpireSession, DeleteKey, Flush, Sync, GetStats)


# --- values as CBOR ------------------------------------------------------------------------


def pack(value: Any) -> Any:
    """A request or an answer as plain data: numbers, texts, bytes and lists that name a class."""
    if isinstance(value, TurnfoldError):
        return ["error", type(value).__name__, str(value)]
    if isinstance(value, enum.Enum):
        return [type(value).__name__, value.value]
    if isinstance(value, UUID):
        return ["UUID", value.bytes]
    if _is_tuple(value):
        return ["tuple", *map(pack, value)]
    name = type(value).__name__
    if name in _VALUES:
        fields = (getattr(value, field.name) for field in attrs.fields(_VALUES[name]))
        return [name, *map(pack, fields)]
    return value


def unpack(data: Any) -> Any:
    """What `pack` packed; only the classes of this protocol. Raises CorruptData."""
    if not _is_list(data):
        return data
    name, *rest = data or [None]
    try:
        if name == "error":
            return _error(*rest)
        if name == "tuple":
            return tuple(map(unpack, rest))
        if name == "UUID":
            return UUID(bytes=rest[0])
        if name in _ENUMS:
            return _ENUMS[name](*rest)
        cls = _VALUES[name]
        names = (field.name for field in attrs.fields(cls))
        return cls(**dict(zip(names, map(unpack, rest), strict=True)))
    except (TypeError, ValueError, KeyError, IndexError):
        raise CorruptData("a message on the control socket has the wrong form") from None


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _error(name: str, message: str) -> TurnfoldError:
    cls = getattr(errors, name, None)
    if isinstance(cls, type) and issubclass(cls, TurnfoldError):
        with contextlib.suppress(TypeError):
            return cls(message)
    return TurnfoldError(message)


# --- the wire --------------------------------------------------------------------------------


def _send(connection: socket.socket, value: Any) -> None:
    encoded = cbor.encode(value)
    connection.sendall(_LENGTH.pack(len(encoded)) + encoded)


def _receive(connection: socket.socket, bytes_max: int) -> Any:
    """Raises CorruptData if it is too long or malformed, OSError if the peer is gone."""
    (length,) = _LENGTH.unpack(_receive_exactly(connection, _LENGTH.size))
    if length > bytes_max:
        raise CorruptData(f"a message on the control socket has {length} bytes, more than allowed")
    return cbor.decode(_receive_exactly(connection, length))


def _receive_exactly(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        part = connection.recv(min(size - len(received), 65_536))
        if not part:
            raise ConnectionResetError("the other side closed the control socket")
        received += part
    return bytes(received)


@contextlib.contextmanager
def _address(directory: Path) -> Generator[str]:
    """A short path of the socket, valid inside the block. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET_NAME}"
    finally:
        os.close(descriptor)


def _is_same_user(connection: socket.socket) -> bool:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _pid, user, _group = _PEER.unpack(credentials)
    return bool(user == os.geteuid())


# --- the owner's side --------------------------------------------------------------------------


class ControlServer:
    """Answers one request at a time in a thread of its own. The store's lock must be held."""

    def __init__(self, storage_path: Path, door: Door, stats: Callable[[], Stats]) -> None:
        self._directory = storage_path / CONVERSATIONS
        self._door = door
        self._stats = stats
        self._listener: socket.socket | None = None
        self._connection: socket.socket | None = None  # the newest
        self._thread = threading.Thread(target=self._run, name="turnfold-Control", daemon=True)

    def start(self) -> None:
        """Listen. Where sockets can't be, a warning is logged and the store works without."""
        if not hasattr(socket, "SO_PEERCRED"):
            _log.warning("no control socket: this platform doesn't say who connects")
            return
        try:
            self._listener = self._bound()
        except OSError as error:
            _log.warning("no control socket: %s", error.strerror or type(error).__name__)
            return
        self._thread.start()

    def _bound(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            os.fchmod(listener.fileno(), 0o600)  # before bind: the file has this mode from creation
            with _address(self._directory) as address:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(address)  # of an owner that was killed
                listener.bind(address)
            listener.listen(8)
        except BaseException:
            listener.close()
            raise
        return listener

    def stop(self) -> None:
        """Answer the request in hand, listen no more, remove the socket."""
        if self._listener is None:
            return
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # one that has sent its request is answered
        self._thread.join()
        self._listener.close()
        with contextlib.suppress(OSError), _address(self._directory) as address:
            os.unlink(address)

    def _run(self) -> None:
        assert self._listener is not None
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # stopped
            with connection:
                self._connection = connection
                connection.settimeout(EXCHANGE_S)
                try:
                    self._serve(connection)
                except OSError as error:  # the client is gone or too slow; it sees that itself
                    _log.info("a control request ended early: %s", type(error).__name__)

    def _serve(self, connection: socket.socket) -> None:
        answer: Any
        try:
            if not _is_same_user(connection):
                raise InvalidInput("the store answers only processes of its own user")
            answer = self._carry_out(_receive(connection, REQUEST_BYTES_MAX))
        except TurnfoldError as error:
            answer = error
        _send(connection, pack(answer))

    def _carry_out(self, data: Any) -> Any:
        parts = data if _is_list(data) else []
        if len(parts) != 2:
            raise CorruptData("a control request is [timeout in ms, request]")
        timeout_ms, request = parts[0], unpack(parts[1])
        if type(timeout_ms) is not int or not isinstance(request, _REQUESTS):
            raise InvalidInput("the control socket takes expire, delete, flush, sync and stats")
        if isinstance(request, GetStats):
            return self._stats()
        bounded, single = self._door.request(request)
        return self._door.call(bounded, single, min(max(timeout_ms, 0) / 1000, CALL_S_MAX))


# --- the other side -----------------------------------------------------------------------------


def ask_owner(storage_path: Path, request: Request, timeout_s: float = 60.0) -> Any:
    """Send a request to the process that owns the store, and get what the store answers.

    Raises StoreUnavailable if nobody listens (then open the store), StoreBusy after `timeout_s`,
    or the error that the store refused with.
    """
    directory = storage_path / CONVERSATIONS
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        try:
            with _address(directory) as address:
                connection.connect(address)
        except OSError as error:
            raise StoreUnavailable(
                f"no running store listens in {directory}: {error.strerror or 'timed out'}"
            ) from None
        try:
            _send(connection, [int(min(timeout_s, CALL_S_MAX) * 1000), pack(request)])
            answer = unpack(_receive(connection, ANSWER_BYTES_MAX))
        except TimeoutError:
            raise StoreBusy(
                f"the program that has the store open gave no answer within {timeout_s:g} s; it may"
                " still carry the request out: see whether it runs, and ask again (asking twice"
                " does no harm)"
            ) from None
        except OSError as error:
            raise StorageError(
                "the running store closed the control socket without an answer"
                f" ({error.strerror or type(error).__name__}); look at its state and try again"
            ) from None
    if isinstance(answer, TurnfoldError):
        raise answer
    return answer
