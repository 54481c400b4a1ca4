"""The control socket: another process of the same user reaches a running store."""

import os
import socket
import stat
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cbor2
import pytest
from runtime.fake_log import KEY, OTHER_KEY, WAIT_S, Running, running
from unix_sockets import address_of

from turnfold.actors.control import (
    CONVERSATIONS,
    REQUEST_BYTES_MAX,
    SOCKET_NAME,
    ControlServer,
    ask_owner,
    pack,
    unpack,
)
from turnfold.actors.messages import AddTurn, Flush, Flushed, GetContext, GetStats, Sync, Synced
from turnfold.actors.stats import Stats
from turnfold.events.commands import DeleteKey, ExpireSession
from turnfold.events.errors import (
    CorruptData,
    InvalidInput,
    StoreBusy,
    StoreClosed,
    StoreUnavailable,
    TurnfoldError,
)
from turnfold.events.reasons import Reason
from turnfold.events.turns import AvatarText

pytestmark = pytest.mark.skipif(
    not hasattr(socket, "SO_PEERCRED"), reason="this platform doesn't say who connects"
)


class Controlled:
    """A running store with a control socket in a directory."""

    def __init__(self, store: Running, path: Path) -> None:
        (path / CONVERSATIONS).mkdir(parents=True, mode=0o700)
        self.store = store
        self.path = path
        self.server = ControlServer(path, store.supervisor.door, store.supervisor.stats)
        self.server.start()

    @property
    def socket_path(self) -> Path:
        return self.path / CONVERSATIONS / SOCKET_NAME

    def exchange(self, raw: bytes) -> bytes:
        """Send raw bytes, then read until the server closes."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(WAIT_S)
            with address_of(self.socket_path) as address:
                connection.connect(address)
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            received = b""
            while part := connection.recv(65_536):
                received += part
            return received


@pytest.fixture
def controlled(tmp_path: Path) -> Iterator[Controlled]:
    with running() as store:
        one = Controlled(store, tmp_path)
        yield one
        one.server.stop()


def test_a_running_store_expires_flushes_deletes_and_tells_its_numbers(
    controlled: Controlled,
) -> None:
    store, path = controlled.store, controlled.path
    store.ref.ask(AddTurn(KEY, AvatarText("x")))
    store.ref.ask(AddTurn(OTHER_KEY, AvatarText("y")))

    stats = ask_owner(path, GetStats())
    assert isinstance(stats, Stats)
    assert stats.active_sessions == 2
    expired = ask_owner(path, ExpireSession(KEY))
    assert (expired.expired, expired.reason) == (True, Reason.EXPIRED_OPERATOR)
    assert isinstance(ask_owner(path, Sync()), Synced)
    assert isinstance(ask_owner(path, Flush()), Flushed)
    receipt = ask_owner(path, DeleteKey(OTHER_KEY))
    assert receipt.avatar == OTHER_KEY.avatar
    assert receipt.erased[0].reason is Reason.ERASED_DELETED
    assert store.ref.ask(GetContext(OTHER_KEY)).session_id is None


def test_the_socket_is_private_from_its_creation_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with running() as store:
            one = Controlled(store, tmp_path)
            assert stat.S_IMODE(one.socket_path.stat().st_mode) == 0o600
            one.server.stop()
            assert not one.socket_path.exists()
    finally:
        os.umask(before)


def test_a_path_too_long_for_a_socket_works(tmp_path: Path) -> None:
    path = tmp_path / ("long" * 40) / ("longer" * 30)
    with running() as store:
        one = Controlled(store, path)
        assert ask_owner(path, GetStats()).position == 1
        one.server.stop()


def test_a_socket_left_by_a_killed_owner_is_replaced(tmp_path: Path) -> None:
    with running() as store:
        one = Controlled(store, tmp_path / "store")
        one.server.stop()
        with socket.socket(socket.AF_UNIX) as left, address_of(one.socket_path) as address:
            left.bind(address)
        again = ControlServer(one.path, store.supervisor.door, store.supervisor.stats)
        again.start()
        assert ask_owner(one.path, GetStats()).position == 1
        again.stop()


def test_without_an_owner_there_is_a_clear_refusal(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no running store"):
        ask_owner(tmp_path, Flush())


def test_refusals_of_the_store_are_raised_by_the_other_side(controlled: Controlled) -> None:
    controlled.store.supervisor.door.admission.close()
    with pytest.raises(StoreClosed):
        ask_owner(controlled.path, Flush())


@pytest.mark.parametrize(
    "raw",
    [
        b"\x01\x00",
        struct.pack("<I", REQUEST_BYTES_MAX + 1),
        struct.pack("<I", 4) + b"\xff\xff\xff\xff",
        struct.pack("<I", 100) + b"short",
        struct.pack("<I", 1) + b"\x00",
    ],
)
def test_malformed_requests_are_survived(controlled: Controlled, raw: bytes) -> None:
    controlled.exchange(raw)
    assert isinstance(ask_owner(controlled.path, Sync()), Synced)


@pytest.mark.parametrize(
    "request_data",
    [
        [1000],
        [1000, "Flush"],
        [1000, ["AddTurn"]],
        [1000, ["Stats"]],
        [1000, ["ExpireSession", ["ConversationKey", "no uuid", ["Channel", "public_chat"]]]],
        [1000, ["ExpireSession", "key"]],
        [1000, ["Channel", "public_chat"]],
        ["soon", ["Flush"]],
    ],
)
def test_what_is_no_request_is_refused_by_name(controlled: Controlled, request_data: Any) -> None:
    encoded = cbor2.dumps(request_data)
    answer = controlled.exchange(struct.pack("<I", len(encoded)) + encoded)
    error = unpack(cbor2.loads(answer[4:]))
    assert isinstance(error, InvalidInput | CorruptData)


def test_an_owner_that_is_busy_is_given_up_on(controlled: Controlled) -> None:
    controlled.store.log.open_gate.clear()
    controlled.store.ref.tell(AddTurn(KEY, AvatarText("x")))
    with pytest.raises(StoreBusy):
        ask_owner(controlled.path, Sync(), timeout_s=0.2)
    controlled.store.log.open_gate.set()


def test_stopping_while_a_client_is_silent_does_not_hang(controlled: Controlled) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        with address_of(controlled.socket_path) as address:
            silent.connect(address)
        stopping = threading.Thread(target=controlled.server.stop)
        stopping.start()
        stopping.join(WAIT_S)
        assert not stopping.is_alive()


@pytest.mark.parametrize(
    "value", [Flush(), ExpireSession(KEY), Synced(7), TurnfoldError("text"), ("a", 1, None, b"x")]
)
def test_what_is_packed_is_unpacked_to_the_same(value: Any) -> None:
    again = unpack(cbor2.loads(cbor2.dumps(pack(value))))
    if isinstance(value, TurnfoldError):
        assert (type(again), str(again)) == (type(value), str(value))
    else:
        assert again == value


def test_no_class_outside_the_protocol_is_ever_made() -> None:
    for name in ("Limits", "AvatarText", "object", "os.system", "UUID4", 7):
        with pytest.raises(CorruptData):
            unpack([name, "argument"])
