"""`turnfold replay --tui`: keys move through positions, and the screen says what replay says."""

import sys
from pathlib import Path

import pytest
from runtime.cli_run import turnfold, unchanged
from textual.widgets import DataTable, Label, Static

from turnfold.actors.cli.demo_writer import SAMPLE
from turnfold.actors.cli.step_trail import Trail
from turnfold.actors.cli.stepping_screen import SteppingApp, events_text, facts_text
from turnfold.events import Gap, read_events, replay
from turnfold.events.event import Event


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stepping") / "store"
    assert turnfold("ingest", SAMPLE, "--clock", "recorded", "--store", path).code == 0
    return path


def shown(app: SteppingApp, name: str, kind: type[Static] = Static) -> str:
    return str(app.query_one(f"#{name}", kind).render())


def all_events(store: Path) -> list[Event]:
    return [event for event in read_events(store) if not isinstance(event, Gap)]


# --- the trail -----------------------------------------------------------------------------------


def test_every_frame_shows_the_digest_that_replay_gives(store: Path) -> None:
    trail, positions = Trail(store), list[int]()
    while not positions or trail.frame.position != positions[-1]:
        positions.append(trail.frame.position)
        assert trail.frame.digest == replay(store, until=trail.frame.position).digest.hex()
        trail.forward()

    assert positions[-1] == trail.last == all_events(store)[-1].position
    assert positions == sorted(set(positions))


def test_going_back_shows_what_was_there_before(store: Path) -> None:
    trail = Trail(store)
    frames = [trail.frame, *(trail.forward() for _ in range(12))]

    assert [trail.back() for _ in range(12)] == frames[-2::-1]
    assert trail.back(5) == frames[0]
    assert trail.forward(12) == frames[-1]
    assert trail.back(4) == frames[-5]


@pytest.mark.parametrize("position", [1, 7, 30])
def test_going_to_a_position_shows_the_frame_that_holds_it(store: Path, position: int) -> None:
    trail = Trail(store)
    forwards = trail.to(position)
    trail.to(trail.last)

    assert trail.to(position) == forwards
    assert forwards.events[0].position <= position <= forwards.position


def test_until_is_the_end_of_the_trail(store: Path) -> None:
    trail = Trail(store, until=9)

    assert trail.to(10**6).position == 9
    assert trail.forward().position == 9


# --- the screen ----------------------------------------------------------------------------------


async def test_arrows_step_and_the_screen_follows(store: Path) -> None:
    app = SteppingApp(store)
    async with app.run_test(size=(120, 40)) as pilot:
        first, trail = app.trail.frame, Trail(store)
        for key in ("right", "l", "space"):
            await pilot.press(key)
            assert app.trail.frame == trail.forward()
        ahead = app.trail.frame
        assert f"position {ahead.position:,}" in shown(app, "head", Label)
        assert ahead.events[0].reason.value in shown(app, "events")
        assert ahead.digest in shown(app, "facts")
        assert app.query_one("#sessions", DataTable).row_count == ahead.active
        await pilot.press("left", "h")
        assert app.trail.frame == trail.back(2)
        await pilot.press("left")
        assert app.trail.frame == first


async def test_home_end_and_leaps_reach_both_ends(store: Path) -> None:
    app = SteppingApp(store)
    async with app.run_test() as pilot:
        await pilot.press("end")
        assert app.trail.frame.position == app.trail.last
        await pilot.press("home")
        assert app.trail.frame.events[0].position == 1
        await pilot.press("pagedown")
        assert app.trail.frame.position > 40
        await pilot.press("pageup")
        assert app.trail.frame.events[0].position == 1


async def test_a_position_can_be_typed(store: Path) -> None:
    app = SteppingApp(store)
    async with app.run_test() as pilot:
        await pilot.press("g", "2", "0", "enter")
        frame = app.trail.frame
        assert frame.events[0].position <= 20 <= frame.position
        await pilot.press("g", "5", "escape")
        assert app.trail.frame == frame
        assert app.is_running
        await pilot.press("q")
    assert not app.is_running


def test_the_screen_shows_reasons_and_no_content(store: Path) -> None:
    trail = Trail(store)
    words = ""
    for _ in range(len(all_events(store))):
        words += str(events_text(trail.frame)) + str(facts_text(trail.frame))
        trail.forward()
    said = [line.split('"text": "')[1][:20] for line in SAMPLE.read_text().splitlines() if line]

    assert all(event.reason.value in words for event in all_events(store))
    assert not [len(text) for text in said if len(text) > 8 and text in words]


# --- the command ---------------------------------------------------------------------------------


def test_the_command_opens_the_screen_on_its_store(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []

    def run(app: SteppingApp) -> None:
        opened.append(app.trail.last)

    monkeypatch.setattr(SteppingApp, "run", run)
    with unchanged(store):
        assert turnfold("replay", "--tui", "--until", 12, "--store", store).code == 0

    assert opened == [12]


def test_without_its_extra_the_command_says_what_to_install(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "textual", None)
    done = turnfold("replay", "--tui", "--store", store)

    assert done.code == 1
    assert "turnfold[tui]" in done.err
    assert turnfold("replay", "--store", store).code == 0


@pytest.mark.parametrize("option", ["--json", "--check"])
def test_the_screen_goes_with_no_other_form(store: Path, option: str) -> None:
    assert turnfold("replay", "--tui", option, "--store", store).code == 2
