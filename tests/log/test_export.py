"""An export has every event and the same chain, and nothing that anybody typed."""

from pathlib import Path

import attrs
import pytest
from histories import History
from stores import store_at, texts_below

from turnfold import ConversationKey
from turnfold.events import read_events, replay, verify
from turnfold.events.errors import StorageError, StorePathError
from turnfold.events.event import Event, Gap, SessionStarted, TurnAdded
from turnfold.events.log.checkpoint_proof import Verdict, checkpoint_of, prove
from turnfold.events.log.difference import compare_logs
from turnfold.events.log.export import export_log
from turnfold.events.log.layout import KEY_PATH
from turnfold.events.log.replay import STORE_DIRECTORY
from turnfold.events.log.segment import SEGMENT_HEADER_BYTES


def written(path: Path, *, openings: int = 3, commands: int = 30) -> History:
    history = History(2)
    for _ in range(openings):
        store = store_at(path / STORE_DIRECTORY, history).run(commands)
        store.flush()
        store.close()
    return history


def events_of(path: Path, *, content: bool = False) -> list[Event | Gap]:
    return list(read_events(path, content=content))


@pytest.fixture
def exported(tmp_path: Path) -> tuple[Path, Path, History]:
    history = written(tmp_path / "store")
    export_log(tmp_path / "store", tmp_path / "export")
    return tmp_path / "store", tmp_path / "export", history


def test_an_export_has_the_events_of_the_store(exported: tuple[Path, Path, History]) -> None:
    store, export, _history = exported

    assert events_of(export) == events_of(store)
    assert compare_logs(store, export).is_equal


def test_content_that_is_asked_for_is_withheld_in_an_export(
    exported: tuple[Path, Path, History],
) -> None:
    turns = [event for event in events_of(exported[1], content=True) if type(event) is TurnAdded]

    assert turns
    assert {turn.text for turn in turns} == {None}


def test_an_export_has_the_chain_and_the_states_of_the_store(
    exported: tuple[Path, Path, History],
) -> None:
    store, export, history = exported

    assert checkpoint_of(export) == checkpoint_of(store)
    assert replay(export).digest == replay(store).digest
    for position in range(1, history.position + 1, 7):
        assert replay(export, until=position).digest == replay(store, until=position).digest


def test_an_export_verifies_and_says_that_it_is_one(exported: tuple[Path, Path, History]) -> None:
    report = verify(exported[1])

    assert report.ok, report.findings
    assert report.exported
    assert report.events == verify(exported[0]).events
    assert not verify(exported[0]).exported


def test_no_text_no_name_and_no_avatar_is_in_an_export(
    exported: tuple[Path, Path, History],
) -> None:
    store, export, history = exported
    everything, left = texts_below(store), texts_below(export)
    started = [e for e in read_events(store, content=True) if isinstance(e, SessionStarted)]
    keys = [event.key for event in started if isinstance(event.key, ConversationKey)]
    texts = [*history.gone, *(t for live in history.live.values() for t in live.turns.values())]

    assert keys
    assert any(key.avatar.bytes in everything for key in keys)
    assert not [key for key in keys if key.avatar.bytes in left]
    assert any(text.encode() in everything for text in texts if len(text) > 8)
    assert not [len(text) for text in texts if len(text) > 8 and text.encode() in left]
    assert b"search" not in left.lower()
    assert (store / STORE_DIRECTORY / KEY_PATH).read_bytes() not in left
    assert {path.parent.name for path in export.rglob("*") if path.is_file()} == {"log"}


def test_an_export_cannot_be_opened_to_write_to_it(exported: tuple[Path, Path, History]) -> None:
    before = texts_below(exported[1])

    with pytest.raises(StorePathError, match="export"):
        store_at(exported[1] / STORE_DIRECTORY)
    assert texts_below(exported[1]) == before


def test_an_export_is_a_base_for_checkpoints_later(exported: tuple[Path, Path, History]) -> None:
    store, export, history = exported
    saved = checkpoint_of(export)
    later = store_at(store / STORE_DIRECTORY, history).run(20)
    later.erase()
    later.close()

    assert [one.verdict for one in prove(store, [saved])] == [Verdict.EXTENDS]
    comparison = compare_logs(store, export)
    assert (comparison.is_equal, comparison.last) == (True, saved.position)


def test_what_is_not_durable_is_not_exported(tmp_path: Path) -> None:
    opened = store_at(tmp_path / "store" / STORE_DIRECTORY, History(5)).run(5)
    opened.log.watermark(opened.now)
    durable = opened.log.position
    opened.run(1, sync=False)
    made = export_log(tmp_path / "store", tmp_path / "export")
    opened.close()

    assert made.last == durable
    assert checkpoint_of(tmp_path / "export").position == durable


def test_a_damaged_store_is_exported_with_its_gap(tmp_path: Path) -> None:
    written(tmp_path / "store")
    path = sorted((tmp_path / "store" / STORE_DIRECTORY / "log").iterdir())[1]
    data = bytearray(path.read_bytes())
    data[SEGMENT_HEADER_BYTES + 40] ^= 1
    path.write_bytes(data)
    export_log(tmp_path / "store", tmp_path / "export")

    gaps = [item for item in events_of(tmp_path / "export") if isinstance(item, Gap)]
    assert len(gaps) == 1
    assert events_of(tmp_path / "export") == events_of(tmp_path / "store")
    assert not verify(tmp_path / "export").ok


def test_a_directory_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path / "store", openings=1)
    before = texts_below(tmp_path / "store")

    with pytest.raises(StorageError):
        export_log(tmp_path / "store", tmp_path / "store")
    assert texts_below(tmp_path / "store") == before


def test_a_segment_put_among_exported_ones_is_found(exported: tuple[Path, Path, History]) -> None:
    store, export, _history = exported
    name = sorted((store / STORE_DIRECTORY / "log").iterdir())[1].name
    whole = (store / STORE_DIRECTORY / "log" / name).read_bytes()
    (export / STORE_DIRECTORY / "log" / name).write_bytes(whole)

    assert "payloads" in {finding.check for finding in verify(export).findings}


def test_reports_of_exports_say_what_went_in(tmp_path: Path) -> None:
    history = written(tmp_path / "store")
    made = export_log(tmp_path / "store", tmp_path / "export")
    files = list((tmp_path / "export" / STORE_DIRECTORY / "log").iterdir())

    assert attrs.astuple(made) == (
        1,
        history.position,
        len(history.frames),
        len(files),
        sum(file.stat().st_size for file in files),
    )
