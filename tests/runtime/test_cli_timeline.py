"""`turnfold timeline`: the picture says what the log says, is whole by itself and shows no text."""

import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from runtime.cli_run import turnfold, unchanged

from turnfold.actors.cli.demo_writer import SAMPLE
from turnfold.actors.cli.timeline_svg import round_up
from turnfold.events import Gap, read_events

SVG = "{http://www.w3.org/2000/svg}"
TAMSIN = "e2a94b6d-08f7-4d1c-8f65-1b9e3c7a2d50"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("timeline") / "store"
    assert turnfold("ingest", SAMPLE, "--clock", "recorded", "--store", path).code == 0
    assert turnfold("delete", TAMSIN, "--all", "--store", path).code == 0
    return path


def reasons(store: Path) -> Counter[str]:
    return Counter(e.reason.value for e in read_events(store) if not isinstance(e, Gap))


def picture(store: Path, tmp_path: Path, *more: str) -> ET.Element:
    file = tmp_path / "life.svg"
    with unchanged(store):
        assert turnfold("timeline", "--store", store, "--svg", file, *more).code == 0
    return ET.parse(file).getroot()  # noqa: S314  # a file that was just written


@pytest.mark.parametrize("more", [(), ("--by-position",)])
def test_every_mark_of_the_log_is_in_the_picture(
    store: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    titles = [dot.findtext(f"{SVG}title") or "" for dot in picture(store, tmp_path, *more).iter()]
    drawn: Counter[str] = Counter()
    for title in titles:
        found = re.match(r"([\d,]+) (\w+), position", title)
        if found is not None:
            drawn[found[2]] += int(found[1].replace(",", ""))
    counted = reasons(store)

    assert drawn["expiry"] == sum(n for code, n in counted.items() if code.startswith("expired."))
    assert drawn["deletion"] == counted["deleted.operator"]
    assert drawn["opening"] == sum(n for code, n in counted.items() if code.startswith("opened."))
    assert drawn["opening"] > 0


def test_the_picture_is_whole_by_itself(store: Path, tmp_path: Path) -> None:
    """Nothing is fetched and nothing runs."""
    page = tmp_path / "life.html"
    assert turnfold("timeline", "--store", store, "--html", page).code == 0
    root = picture(store, tmp_path)
    text = page.read_text()
    links = re.findall(r"(?:href|src|url)\W*[=(]\W*([^\s\"')>]+)", text)

    assert root.get("viewBox")
    assert not links
    assert "<script" not in text
    assert "@import" not in text
    assert set(re.findall(r"https?://[^\"\s]+", text)) == {"http://www.w3.org/2000/svg"}


def test_everything_drawn_lies_within_the_picture(store: Path, tmp_path: Path) -> None:
    root = picture(store, tmp_path)
    _x, _y, width, height = map(float, (root.get("viewBox") or "").split())
    outside = [
        element.attrib
        for element in root.iter()
        for name, most in (
            ("x", width),
            ("cx", width),
            ("x2", width),
            ("y", height),
            ("cy", height),
        )
        if name in element.attrib and not 0 <= float(element.attrib[name]) <= most
    ]

    assert not outside


def test_limits_and_peaks_are_told(store: Path, tmp_path: Path) -> None:
    words = " ".join("".join(t.itertext()) for t in picture(store, tmp_path).iter(f"{SVG}text"))

    assert "limit 1,024" in words
    assert "limit 64.0 MiB" in words
    assert "peak" in words


def test_nothing_that_was_said_is_in_a_picture(store: Path, tmp_path: Path) -> None:
    page = tmp_path / "life.html"
    assert turnfold("timeline", "--store", store, "--html", page).code == 0
    lines = [json.loads(line) for line in Path(SAMPLE).read_text().splitlines()]
    text = page.read_text() + turnfold("timeline", "--store", store).out

    assert not [len(line["text"]) for line in lines if line["text"] and line["text"] in text]
    assert not [line["avatar"] for line in lines if line["avatar"] in text]


def test_the_terminal_shows_charts_and_lanes(store: Path) -> None:
    out = turnfold("timeline", "--store", store).out
    counted = reasons(store)

    assert "sessions peak" in out
    assert "█" in out
    lane = next(line for line in out.splitlines() if line.strip().startswith("deletion"))
    assert lane.split()[-1] == str(counted["deleted.operator"])
    assert max(len(line) for line in out.splitlines()) <= 160


def test_json_has_every_bucket(store: Path) -> None:
    made = turnfold("timeline", "--store", store, "--json").json

    assert made["reasons"] == dict(reasons(store))
    assert sum(b["marks"].get("opening", 0) for b in made["buckets"]) >= 1
    assert made["limits"][0]["active_sessions"] == 1024


def test_a_file_that_cannot_be_written_is_told(store: Path, tmp_path: Path) -> None:
    done = turnfold("timeline", "--store", store, "--svg", tmp_path / "no" / "such.svg")

    assert done.code == 1
    assert "can't be written" in done.err


@pytest.mark.parametrize("value", [1, 2, 7, 99, 101, 1023, 5_000, 123_456])
def test_axes_end_at_or_above_the_highest_value(value: int) -> None:
    assert value <= round_up(value) <= max(2, 2 * value)
    assert value <= round_up(value, by_1024=True) <= max(2, 2 * value)
