"""What reaches a terminal: nothing that it would act on."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnfold.actors.cli import render

HOSTILE = {
    "a colour": ("\x1b[31mred", r"\x1b[31mred"),
    "a C1 control": ("\x9b31m", r"\x9b31m"),
    "a carriage return": ("fine\rgone", r"fine\rgone"),
    "a new line": ("a\nturnfold: ok", r"a\nturnfold: ok"),
    "a delete": ("\x7f", r"\x7f"),
    "right to left": ("\u202egnp.exe", r"\u202egnp.exe"),
    "an isolate": ("\u2066x\u2069", r"\u2066x\u2069"),
    "a zero-width space": ("ad\u200bmin", r"ad\u200bmin"),
    "a line separator": ("a\u2028b", r"a\u2028b"),
    "a tag": ("\U000e0041", r"\U000e0041"),
    "a private character": ("\ue000", r"\ue000"),
    "a lone surrogate": ("\ud800", r"\ud800"),
    "a no-break space": ("a\xa0b", "a b"),
    "a filler that shows nothing": ("\u3164", r"\u3164"),
}


@pytest.mark.parametrize(("text", "expected"), HOSTILE.values(), ids=HOSTILE.keys())
def test_what_a_terminal_acts_on_is_written_out(text: str, expected: str) -> None:
    assert render.shown(text) == expected


@pytest.mark.parametrize("text", ["plain", "grüße, 日本語, Привет", "🌅 ♪", "[bold]not markup[/]"])
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert render.shown(text) == text


@given(st.text())
def test_nothing_invisible_is_left(text: str) -> None:
    for character in render.shown(text):
        assert unicodedata.category(character)[0] != "C"
        assert unicodedata.category(character) not in {"Zl", "Zp"}


@given(st.text())
def test_json_is_letters_only_and_means_the_same(text: str) -> None:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        render.print_json({"text": text})

    printed = out.getvalue()
    assert json.loads(printed) == {"text": text}
    assert all(" " <= character <= "~" for character in printed[:-1])
    assert printed.endswith("\n")


def test_a_table_shows_hostile_cells_harmlessly(capsys: pytest.CaptureFixture[str]) -> None:
    render.print_table(("name", ">count"), [("\x1b]0;title\x07[red]x[/red]", 3), (None, True)])

    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "\x07" not in printed
    assert r"\x1b]0;title\x07[red]x[/red]" in printed


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 << 30, "5.0 GiB")]
)
def test_sizes_are_for_people(count: int, shown: str) -> None:
    assert render.size(count) == shown
