"""`turnfold redact`: a text as it would be stored, and what was found without showing it."""

from pathlib import Path

import pytest
from runtime.cli_run import turnfold

PASSWORD = "hunter" + "2-Battery"
CARD = "4111 " + "1111 1111 1111"
TEXT = f"hello\nmy password is {PASSWORD}\nand pay with {CARD}, please\n"


def test_the_text_comes_back_without_its_secrets() -> None:
    done = turnfold("redact", stdin=TEXT.encode())

    assert done.code == 0
    assert done.out == (
        "hello\nmy password is [redacted:credential]\nand pay with [redacted:card], please\n"
    )


def test_a_file_is_read_as_standard_input_is(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text(TEXT)

    assert turnfold("redact", file).out == turnfold("redact", "-", stdin=TEXT.encode()).out


def test_findings_are_explained_without_the_secret() -> None:
    done = turnfold("redact", "--explain", "--json", stdin=TEXT.encode())

    assert done.json["redactions"] == {"card": 1, "credential": 1}
    assert done.json["findings"] == [
        {"kind": "credential", "line": 2, "column": 16, "characters": len(PASSWORD)},
        {"kind": "card", "line": 3, "column": 14, "characters": len(CARD)},
    ]
    assert PASSWORD not in done.out
    assert CARD not in done.out


def test_findings_for_people_have_no_secret_either() -> None:
    done = turnfold("redact", "--explain", stdin=TEXT.encode())

    assert "2 redactions: 1 card, 1 credential" in done.out
    assert PASSWORD not in done.out
    assert CARD not in done.out


def test_a_secret_that_control_characters_break_apart_is_found_where_it_is() -> None:
    broken = PASSWORD[:3] + "\x00\x1b" + PASSWORD[3:]

    done = turnfold("redact", "--explain", "--json", stdin=f"my password is {broken}".encode())

    assert done.json["redactions"] == {"credential": 1}
    assert [item["column"] for item in done.json["findings"]] == [16]


def test_nothing_to_redact_is_no_error() -> None:
    done = turnfold("redact", "--explain", stdin=b"good morning")

    assert done.code == 0
    assert "0 redactions" in done.out


def test_bytes_that_are_no_text_are_replaced() -> None:
    done = turnfold("redact", "--json", stdin=b"a\xffb")

    assert done.json["text"] == "a\ufffdb"
    assert done.json["replaced_surrogates"] == 1


@pytest.mark.parametrize("size", [256 * 1024 + 1, 1 << 20])
def test_more_than_a_turn_can_have_is_refused(size: int) -> None:
    done = turnfold("redact", stdin=b"x" * size)

    assert done.code == 2
    assert "more than 262144 bytes" in done.err
