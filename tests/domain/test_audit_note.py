"""Signed notes and checkpoints: the published formats, and everything that is none."""

import base64
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.audit_note import (
    Checkpoint,
    NoteSignature,
    SignedNote,
    SigningKey,
    VerifierKey,
    key_id,
)
from turnfold.events.audit_signing import is_signed, sign, signing_key, verifier_key
from turnfold.events.errors import InvalidInput

# From the documentation of golang.org/x/mod/sumdb/note, whose tools read the same format.
GO_NAME = "PeterNeumann"
GO_VERIFIER = GO_NAME + "+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/" + "LDE4izWy10TW"
GO_SIGNER = "PRIVATE+KEY+" + GO_NAME + "+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+" + "Y7hfZx09iUvxdXHKDFz"
GO_TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
GO_NOTE = (
    GO_TEXT + "\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2p"
    "ZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
# From c2sp.org/signed-note and c2sp.org/tlog-checkpoint.
SPEC_NOTE = (
    "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n"
    "\u2014 quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+Ehf"
    "LW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n"
)

KEY = signing_key("example.org/agent", bytes(range(32)))
HEAD = sha256(b"head").digest()
SAVED = Checkpoint("example.org/agent", 4711, HEAD, bytes(range(16)), 17)


# --- the published formats -----------------------------------------------------------------------


def test_a_note_of_the_reference_implementation_verifies() -> None:
    note = SignedNote.decode(GO_NOTE.encode())

    assert note.text == GO_TEXT
    assert is_signed(note, VerifierKey.parse(GO_VERIFIER))


def test_the_same_key_signs_to_the_same_bytes_as_the_reference_implementation() -> None:
    key = SigningKey.parse(GO_SIGNER)

    assert str(verifier_key(key)) == GO_VERIFIER
    assert sign(SignedNote(GO_TEXT), key).encode().decode() == GO_NOTE


def test_the_example_of_the_specification_is_read_with_its_blank_line() -> None:
    note = SignedNote.decode(SPEC_NOTE.encode())

    assert note.text.endswith("sole:\n\ned è subito sera.\n")
    assert [one.name for one in note.signatures] == ["quasimodo.example/salvatore"]
    assert len(note.signatures[0].signature) == 64
    assert note.encode().decode() == SPEC_NOTE


def test_key_ids_are_hashed_from_name_type_and_key() -> None:
    expected = sha256(b"a.example\n\x01" + bytes(32)).digest()[:4]

    assert key_id("a.example", bytes(32)) == expected


def test_a_checkpoint_has_origin_size_hash_and_two_extension_lines() -> None:
    assert SAVED.encode().splitlines() == [
        "example.org/agent",
        "4711",
        base64.b64encode(HEAD).decode(),
        "store-id 000102030405060708090a0b0c0d0e0f",
        "first-kept 17",
    ]


# --- round trips ---------------------------------------------------------------------------------


@given(
    position=st.integers(1, 2**63 - 1),
    head=st.binary(min_size=32, max_size=32),
    store_id=st.binary(min_size=16, max_size=16),
    first_kept=st.integers(1, 2**62),
)
def test_checkpoints_come_back_as_they_were(
    position: int, head: bytes, store_id: bytes, first_kept: int
) -> None:
    saved = Checkpoint("turnfold/x", position, head, store_id, first_kept)
    note = SignedNote.decode(sign(SignedNote(saved.encode()), KEY).encode())

    assert is_signed(note, verifier_key(KEY))
    assert Checkpoint.decode(note.text) == saved


def test_unknown_extension_lines_are_passed_over() -> None:
    assert Checkpoint.decode(SAVED.encode() + "witness 12\n") == SAVED


def test_keys_come_back_as_they_were() -> None:
    assert SigningKey.parse(KEY.encode() + "\n") == KEY
    assert VerifierKey.parse(f"{verifier_key(KEY)}\n") == verifier_key(KEY)


# --- signatures ----------------------------------------------------------------------------------


def test_every_changed_byte_of_text_or_signature_is_refused() -> None:
    data = sign(SignedNote(SAVED.encode()), KEY).encode()
    accepted: list[int] = []
    for index in range(len(data)):
        changed = data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :]
        try:
            note = SignedNote.decode(changed)
        except InvalidInput:
            continue
        if is_signed(note, verifier_key(KEY)):
            accepted.append(index)

    assert not accepted


def test_signatures_of_other_keys_are_passed_over() -> None:
    other = signing_key("example.org/witness", bytes(32))
    note = sign(sign(SignedNote(SAVED.encode()), other), KEY)

    assert is_signed(note, verifier_key(KEY))
    assert is_signed(note, verifier_key(other))
    assert not is_signed(note, verifier_key(signing_key("example.org/third", bytes(32))))


def test_one_bad_signature_of_a_key_spoils_its_good_one() -> None:
    good = sign(SignedNote(SAVED.encode()), KEY)
    bad = NoteSignature(KEY.name, KEY.id, bytes(64))

    assert not is_signed(SignedNote(good.text, (*good.signatures, bad)), verifier_key(KEY))


def test_a_private_key_shows_nothing_of_itself() -> None:
    assert KEY.seed.hex() not in repr(KEY)
    assert base64.b64encode(KEY.seed).decode() not in repr(KEY)


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no newline at the end",
        b"a\ttab\n",
        b"\xff\n",
        b"text\n\n" + "\u2014 name !!!\n".encode(),
        b"text\n\n" + "\u2014 name AAAA\n".encode(),
        b"text\n\n" + "\u2014 two names AAAAAAAA\n".encode(),
        b"text\n\n" + "\u2014 a+b AAAAAAAA\n".encode(),
        b"text\n\n" + "\u2014 name AAAAAAB=\n".encode(),
        b"text\n\n" + "\u2014 name AAAAAAAA\nmore\n".encode(),
        b"x" * (1 << 21) + b"\n",
    ],
)
def test_what_is_no_note_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        SignedNote.decode(data)


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        (0, ""),
        (1, "04711"),
        (1, "-1"),
        (1, "4711 "),
        (1, "\u0664\u0667"),
        (2, "AAAA"),
        (2, "!"),
        (3, "store-id 00"),
        (3, "first-kept 3"),
        (4, "first-kept 0"),
        (4, "something else"),
    ],
)
def test_what_is_no_checkpoint_is_refused(line: int, instead: str) -> None:
    lines = SAVED.encode().splitlines()
    lines[line] = instead

    with pytest.raises(InvalidInput):
        Checkpoint.decode("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "text",
    ["", "name", "name+00000000+AAAA", GO_VERIFIER.replace("c74f", "c74e"), GO_SIGNER],
)
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        VerifierKey.parse(text)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u00a0b", "a\nb"])
def test_names_that_a_signature_line_cannot_hold_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        signing_key(name, bytes(32))
