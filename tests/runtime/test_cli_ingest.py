"""`turnfold ingest`: good lines go in, bad ones are named, and the summary is what the log says."""

import re
from pathlib import Path

import pytest
from runtime.cli_run import Done, chat, said, turnfold, unchanged

from turnfold.actors.bootstrap import start_store
from turnfold.actors.config import Config
from turnfold.events import read_events
from turnfold.events.errors import OutcomeUnknown
from turnfold.events.event import StoreOpened, TurnAdded
from turnfold.events.limits import Limits

ANN = "61bd0364-10b9-504d-bc71-12251bcea0a7"
BEN = "93817c48-c939-5bb8-8de8-64f69495bbce"
SECRET = "zebra-" + "crossing"  # stands in bad lines, and must be repeated nowhere


def ingested(store: Path, data: bytes, *options: object) -> Done:
    return turnfold("ingest", "-", "--store", store, *options, stdin=data)


def turns(store: Path) -> list[TurnAdded]:
    events = read_events(store, content=True)
    return [event for event in events if isinstance(event, TurnAdded)]


def reasons(store: Path) -> list[str]:
    return [event.reason.value for event in read_events(store)]


# --- good lines --------------------------------------------------------------------------------


def test_lines_become_turns_in_their_order(tmp_path: Path) -> None:
    lines = [said(ANN if n % 3 else BEN, f"line number {n}") for n in range(300)]

    done = ingested(tmp_path, chat(*lines), "--json")

    assert done.code == 0
    assert done.json["stored"] == done.json["lines"] == 300
    assert [turn.text for turn in turns(tmp_path)] == [line["text"] for line in lines]


def test_the_summary_counts_what_the_log_holds(tmp_path: Path) -> None:
    password = "hunter" + "2-Battery"
    data = chat(
        said(ANN, "hello"),
        said(ANN, f"my password is {password}", channel="direct_im"),
        said(ANN, "looking", kind="agent_response", call_id="c1"),
        said(ANN, "found", kind="tool_result", tool="look", call_id="c1"),
        said(ANN, "Error: no", kind="action_result", tool="buy"),
    )

    summary = ingested(tmp_path, data, "--clock", "recorded", "--json").json

    assert summary["events"]["added.avatar"] == 2
    assert summary["events"]["added.agent"] == 1
    assert summary["events"]["added.tool"] == 1
    assert summary["events"]["added.action"] == 1
    assert summary["events"]["started.first_turn"] == 2
    assert summary["redactions"] == {"credential": 1}
    assert summary["sessions"] == {"started": 2, "ended": 0}
    assert password.encode() not in b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )


def test_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_bytes(chat(said(ANN, "one")))
    second.write_bytes(chat(said(ANN, "two"))[:-1])  # without a line end

    done = turnfold("ingest", first, second, "--store", tmp_path / "store")

    assert done.code == 0
    assert "2 turns stored" in done.out
    assert [turn.text for turn in turns(tmp_path / "store")] == ["one", "two"]


def test_the_channel_option_is_for_lines_that_name_none(tmp_path: Path) -> None:
    data = chat(said(ANN, "a"), said(ANN, "b", channel="public_chat"))

    ingested(tmp_path, data, "--channel", "direct_im")

    listed = turnfold("sessions", "--store", tmp_path, "--json").json["sessions"]
    assert sorted(item["channel"] for item in listed) == ["direct_im", "public_chat"]


def test_a_line_sent_twice_under_its_turn_id_is_stored_once(tmp_path: Path) -> None:
    data = chat(said(ANN, "once", turn_id="t-1"))

    ingested(tmp_path, data)
    again = ingested(tmp_path, data, "--json").json

    assert again["stored"] == 0
    assert again["duplicates"] == 1
    assert len(turns(tmp_path)) == 1


# --- time ----------------------------------------------------------------------------------------


def test_recorded_times_decide_what_expires(tmp_path: Path) -> None:
    data = chat(
        said(ANN, "a", "2026-05-01T12:00:00Z"),
        said(ANN, "b", "2026-05-01T12:29:59.999999999Z"),
        said(ANN, "c", "2026-05-01T12:59:59.999999999Z"),  # exactly 30 minutes
    )

    summary = ingested(tmp_path, data, "--clock", "recorded", "--json").json

    assert summary["events"]["started.first_turn"] == 1
    assert summary["events"]["expired.inactivity"] == 1
    assert summary["events"]["started.after_expiry"] == 1


def test_without_recorded_times_everything_is_said_now(tmp_path: Path) -> None:
    data = chat(said(ANN, "a", "2004-01-01T00:00:00Z"), said(ANN, "b", "2026-01-01T00:00:00Z"))

    summary = ingested(tmp_path, data, "--json").json

    assert summary["sessions"] == {"started": 1, "ended": 0}


def test_a_time_that_goes_back_ages_nothing(tmp_path: Path) -> None:
    times = ["12:00", "11:00", "12:00", "11:00", "12:00", "12:10"]
    data = chat(*(said(ANN, time, f"2026-05-01T{time}:00Z") for time in times))

    summary = ingested(tmp_path, data, "--clock", "recorded", "--json").json

    assert summary["sessions"] == {"started": 1, "ended": 0}
    ages = [event.age for event in turns(tmp_path)]
    assert ages == sorted(ages)


def test_each_turn_has_the_time_of_its_line(tmp_path: Path) -> None:
    data = chat(*(said(ANN, "x", f"2026-05-01T12:{n // 60:02}:{n % 60:02}Z") for n in range(1200)))

    ingested(tmp_path, data, "--clock", "recorded")

    stored = [turn.at for turn in turns(tmp_path)]
    assert stored == [stored[0] + n * 10**9 for n in range(1200)]


def test_recorded_times_are_needed_on_every_line(tmp_path: Path) -> None:
    data = chat(said(ANN, "a"), {"avatar": ANN, "text": "b"})

    done = ingested(tmp_path, data, "--clock", "recorded")

    assert done.code == 1
    assert "standard input:2:" in done.err
    assert len(turns(tmp_path)) == 1


def test_a_store_goes_on_where_its_recorded_times_ended(tmp_path: Path) -> None:
    ingested(tmp_path, chat(said(ANN, "a", "2026-05-01T12:00:00Z")), "--clock", "recorded")

    later = chat(said(ANN, "b", "2026-05-01T12:29:00Z"))
    summary = ingested(tmp_path, later, "--clock", "recorded", "--json").json

    assert summary["sessions"] == {"started": 0, "ended": 0}


# --- bad lines -----------------------------------------------------------------------------------


def test_bad_lines_are_named_and_the_rest_goes_in(tmp_path: Path) -> None:
    good = [said(ANN, "first"), said(BEN, "second"), said(ANN, "third")]
    bad: list[bytes] = [
        b"{" + SECRET.encode(),
        chat(said(ANN, SECRET, channel=SECRET))[:-1],
        b"\xff" + SECRET.encode(),
        chat({**said(ANN, "x"), SECRET: 1})[:-1],
        chat(said(SECRET, "x"))[:-1],
        chat(said(ANN, f"{SECRET}\0"))[:-1],
    ]
    data = b"\n".join([chat(good[0])[:-1], *bad, b"", chat(good[1], good[2])])

    done = ingested(tmp_path, data, "--json")

    assert done.code == 1
    assert [turn.text for turn in turns(tmp_path)] == ["first", "second", "third"]
    assert [item["line"] for item in done.json["bad"]] == [2, 3, 4, 5, 6, 7]
    assert done.json["bad_lines"] == 6
    assert done.json["lines"] == 9  # blank ones are no lines
    assert SECRET not in done.out + done.err
    assert len(done.err.splitlines()) == 6


def test_a_line_without_end_is_refused_without_being_kept(tmp_path: Path) -> None:
    huge = tmp_path / "huge.jsonl"
    with huge.open("wb") as stream:
        stream.write(b'{"text": "')
        for _ in range(5):
            stream.write(b"x" * (1 << 20))
        stream.write(b'"}\n' + chat(said(ANN, "after it")))

    done = turnfold("ingest", huge, "--store", tmp_path / "store")

    assert done.code == 1
    assert "huge.jsonl:1: the line has more than" in done.err
    assert [turn.text for turn in turns(tmp_path / "store")] == ["after it"]


def test_a_turn_id_with_other_content_is_a_bad_line(tmp_path: Path) -> None:
    data = chat(said(ANN, "a", turn_id="t"), said(ANN, "b", turn_id="t"), said(ANN, "c"))

    done = ingested(tmp_path, data, "--json")

    assert done.code == 1
    assert [item["line"] for item in done.json["bad"]] == [2]
    assert done.json["stored"] == 2


def test_nothing_but_bad_lines_makes_no_store(tmp_path: Path) -> None:
    done = ingested(tmp_path / "store", b"nothing\nof use\n")

    assert done.code == 1
    assert not (tmp_path / "store").exists()
    assert "2 lines of 2 not stored" in done.out


def test_no_line_at_all_is_no_error(tmp_path: Path) -> None:
    done = ingested(tmp_path / "store", b"\n\n")

    assert done.code == 0
    assert not (tmp_path / "store").exists()


# --- where it goes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--channel", "group_chat"], "unknown channel"),
        (["--clock", "sundial"], "sundial"),
        (["--config", "missing.toml"], "can't be read"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_wrong_options_are_usage_errors(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    done = turnfold("ingest", "-", *options, stdin=chat(said(ANN, "x")))

    assert done.code == 2
    assert message in done.err
    assert not list(tmp_path.iterdir())


def test_the_default_store_is_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    done = turnfold("ingest", "-", stdin=chat(said(ANN, "x")))

    assert done.code == 0
    assert (tmp_path / "turnfold-store" / "conversations").is_dir()


def test_a_configuration_names_store_and_limits(tmp_path: Path) -> None:
    file = tmp_path / "turnfold.toml"
    file.write_text(
        'storage_path = "kept"\n[conversation]\npersistence_enabled = true\n'
        "[conversation.limits]\nturns_per_session = 8\n"
    )
    data = chat(*(said(ANN, f"turn {n}") for n in range(40)))

    summary = turnfold("ingest", "-", "--config", file, "--json", stdin=data).json

    assert summary["store"] == str(tmp_path / "kept")
    assert summary["events"]["compacted.turns"] > 1


def test_a_configuration_that_keeps_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "turnfold.toml"
    file.write_text('storage_path = "kept"\n')

    done = turnfold("ingest", "-", "--config", file, stdin=chat(said(ANN, "x")))

    assert done.code == 2
    assert "persistence_enabled" in done.err
    assert not (tmp_path / "kept").exists()


def test_both_ways_to_name_a_store_are_one_too_many(tmp_path: Path) -> None:
    done = turnfold("ingest", "-", "--store", tmp_path, "--config", tmp_path / "x.toml")

    assert done.code == 2
    assert "not both" in done.err


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "conversations").mkdir()
    (tmp_path / "conversations" / "letters.txt").write_text("dear aunt")

    with unchanged(tmp_path):
        done = ingested(tmp_path, chat(said(ANN, "x")))

    assert done.code == 2
    assert "no store" in done.err


def test_a_store_in_use_is_refused_with_its_owner(tmp_path: Path) -> None:
    owner = start_store(Config(storage_path=tmp_path, persistence_enabled=True))
    try:
        done = ingested(tmp_path, chat(said(ANN, "x")))
    finally:
        owner.close()

    assert done.code == 1
    assert "owned by process" in done.err
    assert not turns(tmp_path)


def test_limits_of_the_owner_are_kept_on_a_visit(tmp_path: Path) -> None:
    limits = Limits(turns_per_session=8)
    start_store(Config(storage_path=tmp_path, persistence_enabled=True, limits=limits)).close()

    ingested(tmp_path, chat(said(ANN, "x")))

    opened = [event for event in read_events(tmp_path) if isinstance(event, StoreOpened)]
    assert len(opened) == 2
    assert opened[0].limits == opened[1].limits


def test_a_store_that_fails_stops_the_run_and_says_from_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from turnfold.events.log.file_log import FileLog

    syncs = 0
    sync = FileLog.sync

    def failing(log: FileLog) -> None:
        nonlocal syncs
        syncs += 1
        if syncs == 4:
            raise OutcomeUnknown("the disk went away; open the store again and look")
        sync(log)

    monkeypatch.setattr(FileLog, "sync", failing)
    data = chat(*(said(ANN, f"line {n}") for n in range(20_000)))

    done = ingested(tmp_path, data)

    assert done.code == 1
    assert "from standard input:" in done.err
    assert re.search("open (it|the store) again", done.err)
    assert "line 1" not in done.err


def test_the_summary_for_people_has_no_text(tmp_path: Path) -> None:
    done = ingested(tmp_path, chat(said(ANN, SECRET), said(ANN, "x", kind="sermon")))

    assert SECRET not in done.out + done.err
    assert "1 turn stored" in done.out
    assert "added.avatar" in done.out
    assert "1 line of 2 not stored" in done.out
