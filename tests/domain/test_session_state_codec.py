"""One record has one encoding, and anything else is refused without a byte of it showing."""

import os
import subprocess
import sys
from typing import Any, cast

import cbor2
import pytest
from domain.session_state_cases import KEY, KEYRING, OTHER_KEY, record, records, turn
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.errors import CorruptStateRecord
from turnfold.events.session_state import (
    Blocker,
    CorruptLabel,
    DigestKeyring,
    SessionStateRecord,
    decode_record,
    encode_record,
)
from turnfold.events.session_state.codec import inspect_record, inspect_stored, stored_form
from turnfold.events.session_state.digest import plain_digest
from turnfold.events.session_state.record import RECORD_BYTES_MAX, SCHEMA
from turnfold.events.session_state.reports import corrupt_report, is_error_of, read_report

GOLDEN = "blake2b-256:6db8e3d54cce68dc22870b1d5d9190aaaa5fe7457545ba597c4c33f8e400c174"


def tampered(values: object) -> tuple[bytes, str]:
    """Bytes with a digest that fits them, as someone with access to the files could make."""
    data = cbor2.dumps(values)
    return data, plain_digest(data)


def values_of(made: SessionStateRecord) -> list[Any]:
    values: list[Any] = cbor2.loads(encode_record(made))
    return values


# --- round trip ----------------------------------------------------------


@given(records())
def test_a_record_comes_back_as_it_was(made: SessionStateRecord) -> None:
    back = decode_record(encode_record(made), made.state_digest)
    assert back == made
    assert encode_record(back) == encode_record(made)
    assert back.state_digest == made.state_digest
    assert inspect_stored(stored_form(made)) == made


@given(records(), records())
def test_different_records_have_different_digests(
    one: SessionStateRecord, other: SessionStateRecord
) -> None:
    assert (one == other) == (one.state_digest == other.state_digest)


def test_the_encoding_is_the_same_in_every_process() -> None:
    code = "from domain.session_state_cases import record; print(record().state_digest)"
    root = os.path.dirname(os.path.dirname(__file__))
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert found == {record().state_digest + "\n"}


def test_the_encoding_of_version_one_does_not_change() -> None:
    """A published format: a change here needs a new schema number and a reader of the old one."""
    assert SCHEMA == 1
    assert record().state_digest == GOLDEN


# --- damage --------------------------------------------------------------


def test_each_changed_byte_fails_closed() -> None:
    """Label and digest are all there is: no byte of the payload is in the report."""
    made = record(turns=[turn(preview="a preview that policy allowed")])
    stored = stored_form(made)
    empty = [corrupt_report(label, b"", KEY) for label in CorruptLabel]
    always = "".join(repr(report) for report in empty).encode()
    pieces = {stored[at : at + 6] for at in range(len(stored) - 6)}
    pieces = {piece for piece in pieces if piece not in always}
    for at in range(len(stored)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = stored[:at] + bytes([stored[at] ^ flip]) + stored[at + 1 :]
            report = read_report(damaged, made.key, KEY)
            assert report.record is None
            assert report.corrupt
            assert report.error_label is not None
            assert report.blocked_reasons == ("state.corrupt",)
            assert report.error_digest is not None
            assert is_error_of(report.error_digest, damaged, KEYRING)
            assert report.raw_payload_exposed is False
            assert report == corrupt_report(report.error_label, damaged, KEY)
            said = repr(report).replace(report.error_digest, "").encode()
            assert not any(piece in said for piece in pieces)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_a_record(data: bytes) -> None:
    assert isinstance(inspect_stored(data), CorruptLabel)
    assert isinstance(inspect_record(data, plain_digest(data)), CorruptLabel)


@given(st.data())
def test_a_cut_or_lengthened_record_is_refused(data: st.DataObject) -> None:
    stored = stored_form(record())
    cut = data.draw(st.integers(0, len(stored) - 1))
    more = data.draw(st.binary(min_size=1, max_size=8))
    assert isinstance(inspect_stored(stored[:cut]), CorruptLabel)
    assert isinstance(inspect_stored(stored + more), CorruptLabel)
    encoded = encode_record(record())
    for changed in (encoded[: min(cut, len(encoded) - 1)], encoded + more):
        assert isinstance(inspect_record(changed, plain_digest(changed)), CorruptLabel)


def test_a_wrong_digest_is_told_before_anything_is_decoded() -> None:
    made = record()
    for digest in ("", "nonsense", "\udc80", made.state_digest[:-1], made.state_digest + "0"):
        assert inspect_record(made.encoded, digest) is CorruptLabel.DIGEST_MISMATCH
    assert inspect_record(b"", made.state_digest) is CorruptLabel.DIGEST_MISMATCH


def test_what_is_too_large_is_not_digested() -> None:
    large = b"\0" * (RECORD_BYTES_MAX + 1)
    assert inspect_record(large, plain_digest(large)) is CorruptLabel.TOO_LARGE
    assert inspect_stored(large + b"\0" * 128) is CorruptLabel.TOO_LARGE


@pytest.mark.parametrize("schema", [0, 2, -1, "1", None, 1 << 40])
def test_another_schema_is_refused_by_name(schema: object) -> None:
    values = values_of(record())
    values[1] = schema
    assert inspect_record(*tampered(values)) is CorruptLabel.SCHEMA_MISMATCH


@pytest.mark.parametrize("flag", range(5))
def test_stored_flags_other_than_the_constants_are_refused(flag: int) -> None:
    values = values_of(record())
    values[2][flag][1] = not values[2][flag][1]
    assert inspect_record(*tampered(values)) is CorruptLabel.MALFORMED


def paths(values: object, at: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Where each item of nested lists is."""
    if not isinstance(values, list):
        return [at]
    below: list[tuple[int, ...]] = [at] if at else []
    for number, item in enumerate(cast("list[object]", values)):
        below += paths(item, (*at, number))
    return below


@pytest.mark.parametrize(
    "intruder",
    [-1, 1 << 63, 1.5, True, None, "", "a b", b"bytes", [], [[]], {"a": 1}, "x" * 200],
    ids=lambda value: f"{type(value).__name__}-{value!s:.3}",
)
def test_no_item_may_be_of_another_shape(intruder: object) -> None:
    """Every item of the encoding in turn, with a digest that fits: refused, or a sound record."""
    for path in paths(values_of(record(turns=[turn(preview="short")]))):
        values = values_of(record(turns=[turn(preview="short")]))
        place = values
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = intruder
        data, digest = tampered(values)
        found = inspect_record(data, digest)
        assert isinstance(found, CorruptLabel) or found.encoded == data


@pytest.mark.parametrize(
    "hostile",
    [
        b"\x9b" + b"\xff" * 8,
        b"\x5b\x7f" + b"\xff" * 7,
        b"\x9f" * 10_000,
        b"\x81" * 10_000 + b"\x00",
        b"\xd8\x23\x63(a+",
        b"\xc0\x74" + b"2024-05-15T15:00:11Z",
        b"\xd8\x1c\x80",
        b"\xc4\x82\x1a\x7f\xff\xff\xff\x01",
        b"\xa2\x61a\x01\x61a\x02",
        b"\xfb" + b"\x00" * 8,
        b"\xf7",
    ],
    ids=[
        "array",
        "bytes",
        "indefinite",
        "deep",
        "regex",
        "date",
        "shared",
        "decimal",
        "twice",
        "float",
        "undefined",
    ],
)
def test_hostile_encodings_are_refused(hostile: bytes) -> None:
    for data in (hostile, b"\x82" + hostile + b"\x40", b"\x82\x60" + hostile):
        assert inspect_stored(data) is CorruptLabel.MALFORMED
        assert inspect_record(data, plain_digest(data)) is CorruptLabel.MALFORMED


def test_a_second_spelling_of_a_record_is_refused() -> None:
    encoded = encode_record(record())
    assert encoded[0] == 0x8D  # 13 items
    longer = b"\x98\x0d" + encoded[1:]
    assert cbor2.loads(longer) == cbor2.loads(encoded)
    assert inspect_record(longer, plain_digest(longer)) is CorruptLabel.MALFORMED


def test_a_stored_preview_that_rules_would_redact_is_refused() -> None:
    values = values_of(record(turns=[turn(preview="short")]))
    values[10][0][3] = "my token is gh" + "p_" + "a1B2" * 9
    assert inspect_record(*tampered(values)) is CorruptLabel.UNREDACTED
    values[10][0][3] = "x" * 97
    assert inspect_record(*tampered(values)) is CorruptLabel.UNREDACTED


def test_the_error_names_the_label_and_holds_nothing_else() -> None:
    made = record()
    with pytest.raises(CorruptStateRecord) as caught:
        decode_record(made.encoded[:-1], made.state_digest)
    assert caught.value.label == "digest_mismatch"
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert made.state_id not in str(caught.value)


def test_an_operator_finds_a_corrupt_record_by_its_error_digest_after_rotation() -> None:
    made = record()
    damaged = stored_form(made)[:-1]
    digest = read_report(damaged, made.key, KEY).error_digest
    assert digest is not None
    assert is_error_of(digest, damaged, KEYRING)  # KEY is retired there
    assert not is_error_of(digest, stored_form(made), KEYRING)
    assert not is_error_of(digest, damaged, DigestKeyring(OTHER_KEY))


def test_a_missing_record_is_unavailable_not_corrupt() -> None:
    report = read_report(None, record().key, KEY)
    assert (report.record, report.corrupt) == (None, False)
    assert report.blockers == (Blocker.UNAVAILABLE,)
