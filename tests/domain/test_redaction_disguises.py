"""Differential test: what the rules find plainly they find in disguise, and ordinary lines stay.

Each line with a secret is written in many ways that a reader would still understand; whatever the
way, no piece of the secret is left. Each ordinary line is varied where its kind allows it, and
comes through unchanged.
"""

import html
import json
import random
import re
from collections.abc import Callable

import pytest
from domain.redaction_lines import ORDINARY_LINES, Maker, SecretLine, secret_lines
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.redaction import is_clean, redact
from turnfold.events.redaction_views import folded, unescaped

Disguise = Callable[[str], str]
LINES = list(secret_lines(31))
LEAK = 12
"""So many characters of a secret in a row, or all of a shorter one, are a leak."""


# --- disguises of a secret: what stands for its characters --------------------------------------


def zero_width(text: str) -> str:
    return "\u200b".join(text[at : at + 3] for at in range(0, len(text), 3))


def soft_hyphens(text: str) -> str:
    return "\u00ad".join(text[at : at + 5] for at in range(0, len(text), 5))


def full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def some_percent(text: str) -> str:
    return "".join(percent(c) if at % 3 == 0 else c for at, c in enumerate(text))


def entities(text: str) -> str:
    return "".join(f"&#{ord(c)};" for c in text)


def hex_entities(text: str) -> str:
    return "".join(f"&#x{ord(c):x};" for c in text)


def json_escapes(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" for c in text)


def twice_percent(text: str) -> str:
    return percent(text).replace("%", "%25")


CHARACTERS: dict[str, Disguise] = {
    made.__name__: made
    for made in (
        zero_width,
        soft_hyphens,
        full_width,
        percent,
        some_percent,
        entities,
        hex_entities,
        json_escapes,
        twice_percent,
    )
}

# --- frames around a line -------------------------------------------------------------------------

FRAMES: dict[str, Disguise] = {
    "quoted": lambda text: f"> {text}",
    "in a sentence": lambda text: f"ok so here it comes, {text}",
    "with a smile": lambda text: f"\U0001f600 {text} \U0001f44d",
    "in code": lambda text: f"`{text}`",
    "bold": lambda text: f"**{text}**",
    "in brackets": lambda text: f"({text})",
    "as JSON": lambda text: json.dumps({"text": text}),
    "as ASCII JSON twice": lambda text: json.dumps({"message": json.dumps([text])}),
    "as HTML": lambda text: f"<p>{html.escape(text)}</p>",
    "after a stamp": lambda text: f"[12:34:56] Ada Resident: {text}",
    "after another script": lambda text: f"привет 你好\n{text}",
    "twice": lambda text: f"{text}\nand again\n{text}",
}


def leaks(secret: str, shown: str) -> bool:
    """Whether the secret, or a long enough piece of it, is in what is shown."""
    size = min(LEAK, len(secret))
    return any(secret[at : at + size] in shown for at in range(len(secret) - size + 1))


def read(text: str) -> str:
    """What a reader makes of a disguised text: escapes and widths undone, invisibles gone."""
    for _ in range(3):
        text = html.unescape(text)
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
        text = re.sub(r"%([0-7][0-9a-fA-F])", lambda match: chr(int(match[1], 16)), text)
    text = "".join(chr(ord(c) - 0xFEE0) if "！" <= c <= "～" else c for c in text)
    return re.sub("[\u200b\u00ad]", "", text)


def check(line: SecretLine, text: str) -> str:
    found = redact(text)
    assert found.redactions, "nothing was found"
    assert not leaks(line.secret, str(found)), "the secret is left as it was"
    assert not leaks(line.secret, read(str(found))), "the secret is left in disguise"
    assert is_clean(str(found))
    return str(found)


def numbered(number: int) -> str:
    """A test's name: the kind and a number, never the text."""
    return f"{LINES[number].kind}-{number}"


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("number", range(len(LINES)), ids=numbered)
def test_a_secret_is_found_in_every_frame(number: int, frame: str) -> None:
    line = LINES[number]
    check(line, FRAMES[frame](line.text))


@pytest.mark.parametrize("disguise", CHARACTERS)
@pytest.mark.parametrize("number", range(len(LINES)), ids=numbered)
def test_a_secret_is_found_in_every_disguise(number: int, disguise: str) -> None:
    line = LINES[number]
    check(line, CHARACTERS[disguise](line.text))


@pytest.mark.parametrize("disguise", CHARACTERS)
@pytest.mark.parametrize("number", range(len(LINES)), ids=numbered)
def test_a_disguised_value_is_found_beside_a_plain_cue(number: int, disguise: str) -> None:
    line = LINES[number]
    check(line, line.text.replace(line.secret, CHARACTERS[disguise](line.secret)))


@pytest.mark.parametrize("seed", range(40))
def test_disguises_and_frames_can_be_combined(seed: int) -> None:
    chosen = random.Random(seed)
    line = chosen.choice(LINES)
    disguise, frame = chosen.choice(list(CHARACTERS.values())), chosen.choice(list(FRAMES.values()))
    check(line, frame(disguise(line.text)))


# --- ordinary lines -------------------------------------------------------------------------------

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH = re.compile(r"\b[0-9a-f]{40}\b")
_VERSION = re.compile(r"(?<![\w/])\d+(?:\.\d+)+\b")


def varied(line: str, seed: int) -> str:
    """The line with other UUIDs, hashes and versions of the same form."""
    make, chosen = Maker(seed), random.Random(seed)
    line = _UUID.sub(lambda _: make.uuid(), line)
    line = _HASH.sub(lambda _: f"{chosen.getrandbits(160):040x}", line)
    return _VERSION.sub(
        lambda match: ".".join(str(chosen.randrange(10 ** len(p))) for p in match[0].split(".")),
        line,
    )


@pytest.mark.parametrize("number", range(len(ORDINARY_LINES)))
def test_ordinary_lines_stay_in_every_variation_and_frame(number: int) -> None:
    for seed in range(20):
        line = varied(ORDINARY_LINES[number], seed)
        for frame in ("quoted", "in a sentence", "with a smile", "in brackets", "after a stamp"):
            text = FRAMES[frame](line)
            assert str(redact(text)) == text


@pytest.mark.parametrize("number", range(len(ORDINARY_LINES)))
def test_ordinary_lines_stay_in_every_disguise(number: int) -> None:
    for disguise in (zero_width, full_width, json_escapes):
        text = disguise(ORDINARY_LINES[number])
        assert str(redact(text)) == text


escapes = st.binary(max_size=6).map(lambda raw: "".join(f"%{byte:02x}" for byte in raw))


@given(parts=st.lists(st.text(max_size=5) | escapes, max_size=6))
def test_a_view_knows_where_each_of_its_characters_comes_from(parts: list[str]) -> None:
    """Escapes of several bytes spell one character, cut-off ones none; invisibles fall out."""
    text = "".join(parts)
    view = unescaped(folded(text))
    for at in range(0 if view is None else len(view.text)):
        assert view is not None
        start, end = view.span(at, at + 1)
        assert 0 <= start < end <= len(text)
    redact(text)
