"""`turnfold demo`: what it claims is what is there afterwards."""

import json
from pathlib import Path

import pytest
from runtime.cli_run import contents, turnfold

from turnfold import read_events, verify
from turnfold.actors.cli.byte_scan import pieces, scan
from turnfold.actors.cli.demo_writer import SAMPLE, parse_sample
from turnfold.events.event import TurnAdded
from turnfold.events.keys import Channel
from turnfold.events.turns import Kind


def test_the_main_job_is_shown_and_proved(tmp_path: Path) -> None:
    store = tmp_path / "demo"

    done = turnfold("demo", store, "--json")

    facts = done.json
    assert done.code == 0, done.err
    assert facts["ok"] is True
    assert facts["killed"] is True
    assert facts["found"] == facts["acknowledged"] >= 41
    assert facts["opened"] in {"opened.clean", "opened.torn_tail"}
    assert facts["pieces_before"] > 0
    assert facts["pieces_after"] == 0
    # Each line of the sample is there once, whatever was sent twice.
    turns = [event for event in read_events(store) if isinstance(event, TurnAdded)]
    assert len(turns) == facts["lines"]
    assert verify(store).ok


def test_what_was_deleted_is_in_no_byte(tmp_path: Path) -> None:
    turnfold("demo", tmp_path / "demo", "--json")

    lines = [parse_sample(line) for line in SAMPLE.read_bytes().splitlines()]
    own = [line.turn.text for line in lines if line.key == lines[-1].key]
    others = [line.turn.text for line in lines if line.key != lines[-1].key]
    assert scan(tmp_path, pieces(own) - pieces(others)) == {}


def test_the_story_is_told_and_ends_in_ok(tmp_path: Path) -> None:
    done = turnfold("demo", tmp_path / "demo")

    assert done.code == 0
    assert done.out.splitlines()[-1] == "ok"
    for step in range(1, 8):
        assert f"\n{step}. " in done.out
    assert "SIGKILL" in done.out
    assert "expired.inactivity" in done.out
    assert "compacted.turns" in done.out
    assert done.err == ""


def test_without_a_directory_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.chdir(tmp_path)

    done = turnfold("demo")

    assert done.code == 0
    assert [path.name for path in tmp_path.rglob("*")] == ["temporary"]


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear aunt")

    done = turnfold("demo", tmp_path)

    assert done.code == 2
    assert "is not empty" in done.err
    assert contents(tmp_path) == {"letters.txt": b"dear aunt"}


def test_the_sample_has_every_kind_of_turn_in_both_channels() -> None:
    lines = [parse_sample(line) for line in SAMPLE.read_bytes().splitlines()]

    assert {line.turn.kind for line in lines} == set(Kind)
    assert {line.key.channel for line in lines} == set(Channel)
    assert len({line.key.avatar for line in lines}) >= 5
    assert sum(len(line.turn.text.redactions) for line in lines) >= 2
    times = [line.at for line in lines]
    assert None not in times
    assert times == sorted(times, key=lambda at: at or 0)


def test_the_sample_goes_in_as_any_other_file_does(tmp_path: Path) -> None:
    done = turnfold("ingest", SAMPLE, "--clock", "recorded", "--store", tmp_path, "--json")

    assert done.code == 0
    assert done.json["stored"] == len(SAMPLE.read_text().splitlines())
    assert all(json.loads(line)["channel"] for line in SAMPLE.read_text().splitlines())
