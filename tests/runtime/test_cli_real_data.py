"""The recorded chat beside the checkout, through the command line, against a naive script.

`naive_sessions` is what anybody would write in twenty lines: it knows nothing of events, batches,
sweeps or limits. The store has to come to the same sessions, one by one.
"""

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from runtime.cli_run import turnfold

from turnfold.events import read_events
from turnfold.events.event import ENDED_TYPES, SessionStarted, TurnAdded
from turnfold.events.keys import Channel
from turnfold.events.receipts import iso_time


class Recording(NamedTuple):
    """A file of recorded chat: its channel, after how long a session expires, its lines."""

    name: str
    channel: Channel
    ttl: timedelta
    lines: int


RECORDINGS = [
    Recording("public_chat.jsonl", Channel.PUBLIC_CHAT, timedelta(minutes=30), 13_990),
    Recording("direct_im.jsonl", Channel.DIRECT_IM, timedelta(hours=24), 2_382),
]


class Talk(NamedTuple):
    """One session: of whom, its first and last time, its turns."""

    avatar: str
    first: str
    last: str
    turns: int


def naive_sessions(path: Path, ttl: timedelta) -> list[Talk]:
    talks: list[Talk] = []
    open_talk: dict[str, int] = {}
    for line in path.read_text().splitlines():
        said = json.loads(line)
        at, avatar = said["at"], said["avatar"]
        index = open_talk.get(avatar)
        if index is not None:
            silent = datetime.fromisoformat(at) - datetime.fromisoformat(talks[index].last)
            if silent < ttl:
                talks[index] = talks[index]._replace(last=at, turns=talks[index].turns + 1)
                continue
        open_talk[avatar] = len(talks)
        talks.append(Talk(avatar, at, at, 1))
    return talks


def stored_sessions(store: Path) -> tuple[list[Talk], Counter[str]]:
    """The sessions as the log has them, and how they ended."""
    talks: dict[int, Talk] = {}
    ends: Counter[str] = Counter()
    for event in read_events(store):
        if isinstance(event, SessionStarted):
            at = iso_time(event.at).replace("+00:00", "Z")
            talks[event.position] = Talk(event.pseudonym.hex(), at, at, 0)
        elif isinstance(event, TurnAdded):
            talk, at = talks[event.session], iso_time(event.at).replace("+00:00", "Z")
            talks[event.session] = talk._replace(last=at, turns=talk.turns + 1)
        elif isinstance(event, ENDED_TYPES):
            ends[event.reason.value] += 1
    return list(talks.values()), ends


@pytest.mark.parametrize("recording", RECORDINGS, ids=["public", "direct"])
def test_every_session_is_the_one_a_naive_script_finds(
    shared_data: Path, tmp_path: Path, recording: Recording
) -> None:
    source, ttl = shared_data / "data" / recording.name, recording.ttl
    channel = ("--channel", recording.channel.value)
    options = ("--clock", "recorded", *channel, "--store", tmp_path, "--json")

    done = turnfold("ingest", source, *options)

    assert done.code == 0, done.err
    assert done.json["stored"] == recording.lines
    expected = naive_sessions(source, ttl)
    stored, ends = stored_sessions(tmp_path)
    assert len(stored) == len(expected)
    assert [talk._replace(avatar="") for talk in stored] == [
        talk._replace(avatar="") for talk in expected
    ]
    avatars, pseudonyms = ([talk.avatar for talk in talks] for talks in (expected, stored))
    names = dict(zip(avatars, pseudonyms, strict=True))
    assert [names[avatar] for avatar in avatars] == pseudonyms
    assert len(set(names.values())) == len(names), "one pseudonym for each avatar"

    # What is live at the end, and what has expired, follows from the times alone.
    last = max(datetime.fromisoformat(talk.last) for talk in expected)
    live = {talk.avatar for talk in expected if last - datetime.fromisoformat(talk.last) < ttl}
    listed = turnfold("sessions", "--store", tmp_path, "--json").json["sessions"]
    assert {item["avatar"] for item in listed} == live
    assert ends == {"expired.inactivity": len(expected) - len(live)}


def test_both_files_together_are_the_same_sessions(shared_data: Path, tmp_path: Path) -> None:
    """One store for both channels, one file after the other, through one opening each."""
    for name, channel, _ttl, _lines in RECORDINGS:
        options = ("--clock", "recorded", "--channel", channel.value, "--store", tmp_path)
        assert turnfold("ingest", shared_data / "data" / name, *options).code == 0

    stored, _ends = stored_sessions(tmp_path)

    data = shared_data / "data"
    expected = [talk for file in RECORDINGS for talk in naive_sessions(data / file.name, file.ttl)]
    assert [talk._replace(avatar="") for talk in stored] == [
        talk._replace(avatar="") for talk in expected
    ]


def test_no_text_of_the_chat_is_in_what_is_printed(shared_data: Path, tmp_path: Path) -> None:
    """Sessions, events, subject and summary name nobody's words."""
    source = shared_data / "data" / "direct_im.jsonl"
    lines = [json.loads(line) for line in source.read_text().splitlines()]
    head = tmp_path / "head.jsonl"
    head.write_text("\n".join(json.dumps(line) for line in lines[:200]))
    store = tmp_path / "store"
    options = ("--store", store, "--json")

    printed = [
        turnfold("ingest", head, "--channel", "direct_im", "--clock", "recorded", *options),
        turnfold("sessions", *options),
        turnfold("events", *options),
        turnfold("subject", lines[0]["avatar"], *options),
        turnfold("replay", *options),
        turnfold("replay", "--diff", 50, 150, *options),
    ]

    assert all(done.code == 0 for done in printed)
    out = "".join(done.out + done.err for done in printed)
    for line in lines[:200]:
        words = line["text"][:24]
        assert len(words) < 12 or words not in out
        assert not line["tool"] or line["tool"] not in out
