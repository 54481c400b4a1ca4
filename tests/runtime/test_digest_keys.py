"""The store's digest keys: a file of its own, made once, rotated, never lost in silence."""

import os
from pathlib import Path

import pytest
from domain.session_state_cases import SCOPE, record
from runtime.state_rig import SPOKEN, every_byte, of_conversation, opened, wrote

from turnfold.actors.digest_keys import KEYS_MAX, file_keys, memory_keys, read_ring, write_ring
from turnfold.actors.state_store import SessionStateStore
from turnfold.events import cbor
from turnfold.events.errors import CorruptData, StorageError, UnsupportedFormat
from turnfold.events.log.posix_disk import PosixDisk
from turnfold.events.session_state import DigestKey, DigestKeyring
from turnfold.events.turns import AvatarText

NAME = "digest.keys"


def key_file(path: Path) -> Path:
    return path / "conversations" / NAME


def disk_at(path: Path) -> PosixDisk:
    return PosixDisk(path, create=True)


def test_the_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        with opened(tmp_path):
            pass
    finally:
        os.umask(umask)
    before = key_file(tmp_path).read_bytes()
    assert key_file(tmp_path).stat().st_mode & 0o777 == 0o600
    key_file(tmp_path).chmod(0o644)
    with opened(tmp_path) as store:
        SessionStateStore(store).turn_digest("x", turn_id="t", role="agent", scope=SCOPE)
    assert key_file(tmp_path).read_bytes() == before
    assert key_file(tmp_path).stat().st_mode & 0o777 == 0o600  # tightened at open


def test_stores_have_keys_and_digests_of_their_own(tmp_path: Path) -> None:
    digests: list[str] = []
    for name in ("one", "two"):
        with opened(tmp_path / name) as store:
            said = SessionStateStore(store).turn_digest(
                "yes", turn_id="t", role="avatar", scope=SCOPE
            )
            digests.append(said.payload_digest)
    assert digests[0].split(":")[1] != digests[1].split(":")[1]
    assert digests[0][-64:] != digests[1][-64:]


def test_after_a_rotation_old_digests_are_verified_and_new_ones_name_the_new_key(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as store:
        states = SessionStateStore(store)
        store.add_turn(SPOKEN, AvatarText("hello"))
        old = states.turn_digest("yes", turn_id="t", role="avatar", scope=SCOPE)
        made = of_conversation(states)
        wrote(states, made)
        key_id = states.rotate_key()
    with opened(tmp_path) as store:
        states = SessionStateStore(store)
        new = states.turn_digest("yes", turn_id="t", role="avatar", scope=SCOPE)
        assert new.payload_digest.split(":")[1] == key_id
        assert old.payload_digest != new.payload_digest
        assert states.matches(old, "yes", SCOPE)
        assert states.matches(new, "yes", SCOPE)
        assert not states.matches(old, "no", SCOPE)
        # The conversation's record keeps its id, and its source is still known.
        assert of_conversation(states).state_id == made.state_id
        read = states.read(SCOPE, made.key).record
        assert read is not None
        wrote(states, states.with_source(read, SPOKEN))
        assert store.delete(SPOKEN).session_states == 1


def test_no_secret_is_shown(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        keys = store.state_access.desk.keys
        for secret in (key.secret for key in keys.ring.keys):
            assert secret in every_byte(tmp_path)
            assert repr(secret)[2:-1] not in repr(keys.ring)
            assert secret.hex() not in repr(keys.ring)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_a_damaged_file_is_never_overwritten_and_conversations_go_on(
    tmp_path: Path, damage: str
) -> None:
    with opened(tmp_path) as store:
        wrote(SessionStateStore(store), record())
    intact = key_file(tmp_path).read_bytes()
    flipped = bytes([*intact[:60], intact[60] ^ 1, *intact[61:]])
    spoiled = {"cut": intact[:-1], "flip": flipped, "empty": b"", "other": b"key"}[damage]
    key_file(tmp_path).write_bytes(spoiled)
    with opened(tmp_path) as store:
        store.add_turn(SPOKEN, AvatarText("hello"))
        with pytest.raises(CorruptData, match=r"digest\.keys"):
            SessionStateStore(store)
        with pytest.raises(CorruptData):
            store.state_access.desk.keys.rotate()
    assert key_file(tmp_path).read_bytes() == spoiled
    key_file(tmp_path).write_bytes(intact)
    with opened(tmp_path) as store:
        assert SessionStateStore(store).read(SCOPE, record().key).record == record()


def test_a_lost_file_is_not_replaced_in_silence_while_records_were_made_under_it(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as store:
        wrote(SessionStateStore(store), record())
    key_file(tmp_path).unlink()
    with opened(tmp_path) as store:
        with pytest.raises(StorageError, match="rotate-key"):
            SessionStateStore(store)
        assert not key_file(tmp_path).exists()
        store.state_access.desk.keys.rotate()  # what an operator asks for
        assert SessionStateStore(store).read(SCOPE, record().key).record == record()
    assert key_file(tmp_path).exists()


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    disk = disk_at(tmp_path)
    write_ring(disk, DigestKeyring(DigestKey("k", b"s" * 32)))
    body, _checksum = cbor.decode((tmp_path / NAME).read_bytes())
    body[1] = 2
    from turnfold.actors.digest_keys import _checksum as checksum_of  # pyright: ignore[reportPrivateUsage]  # to make a sound file of another schema

    newer = cbor.encode([body, checksum_of(body)])
    (tmp_path / NAME).write_bytes(newer)
    keys = file_keys(disk, os.urandom, in_use=False)
    with pytest.raises(UnsupportedFormat):
        keys.check()
    with pytest.raises(UnsupportedFormat):
        keys.rotate()
    assert (tmp_path / NAME).read_bytes() == newer
    disk.close()


def test_a_store_that_is_only_read_gets_no_file(tmp_path: Path) -> None:
    disk = disk_at(tmp_path)
    keys = file_keys(disk, os.urandom, in_use=True, read_only=True)
    keys.check()
    with pytest.raises(StorageError):
        keys.rotate()
    assert list(tmp_path.iterdir()) == []
    disk.close()


def test_a_ring_comes_back_from_its_file_in_order(tmp_path: Path) -> None:
    disk = disk_at(tmp_path)
    ring = DigestKeyring(
        DigestKey("new", b"n" * 64), (DigestKey("old", b"o" * 32), DigestKey("oldest", b"p" * 40))
    )
    write_ring(disk, ring)
    (tmp_path / "digest.keys.tmp").write_bytes(b"left by a crash")
    write_ring(disk, ring)
    assert read_ring(disk) == ring
    assert [file.name for file in tmp_path.iterdir()] == [NAME]
    disk.close()


def test_the_number_of_kept_keys_is_bounded() -> None:
    keys = memory_keys(os.urandom)
    ids = {keys.ring.current.key_id, *(keys.rotate() for _ in range(KEYS_MAX - 1))}
    assert len(ids) == KEYS_MAX
    with pytest.raises(StorageError):
        keys.rotate()
