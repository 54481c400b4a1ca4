"""`turnfold events --format`: the same events in each form, as other programs read them."""

import io
import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import cbor2
import pytest
from jsonschema import Draft202012Validator
from runtime.cli_run import turnfold

from turnfold.actors.cli.app import main
from turnfold.actors.cli.demo_writer import SAMPLE


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("formats") / "store"
    assert turnfold("ingest", SAMPLE, "--clock", "recorded", "--store", path).code == 0
    return path


def in_form(store: Path, form: str, *more: object) -> list[Any]:
    done = turnfold("events", "--store", store, "--format", form, *more)
    assert done.code == 0, done.err
    return done.json_lines


def test_json_lines_are_valid_under_the_schema_that_is_printed(store: Path) -> None:
    validator: Any = Draft202012Validator(turnfold("events", "--schema").json)
    documents = in_form(store, "jsonl")

    assert len(documents) > 60
    for document in documents:
        validator.validate(document)
    assert [document["position"] for document in documents] == list(range(1, len(documents) + 1))


def test_cloud_events_carry_the_same_documents(store: Path) -> None:
    assert [made["data"] for made in in_form(store, "cloudevents")] == in_form(store, "jsonl")


def test_a_cbor_sequence_carries_the_same_documents(store: Path) -> None:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    argv = ["turnfold", "events", "--store", str(store), "--format", "cbor-seq"]
    with (
        mock.patch.object(sys, "argv", argv),
        mock.patch.object(sys, "stdout", out),
        pytest.raises(SystemExit),
    ):
        main()
    buffer = out.buffer
    assert isinstance(buffer, io.BytesIO)
    data = io.BytesIO(buffer.getvalue())
    decoder = cbor2.CBORDecoder(data)
    documents: list[Any] = []
    while data.tell() < len(buffer.getvalue()):
        documents.append(decoder.decode())

    assert documents == in_form(store, "jsonl")


def test_filters_hold_in_every_form(store: Path) -> None:
    reasons = {made["reason"] for made in in_form(store, "jsonl", "--reason", "started")}

    assert reasons
    assert all(reason.startswith("started.") for reason in reasons)
    assert len(in_form(store, "cloudevents", "--after", 5, "--limit", 3)) == 3


def test_nothing_that_was_said_is_in_any_form(store: Path) -> None:
    lines = [json.loads(line) for line in Path(SAMPLE).read_text().splitlines()]
    written = json.dumps([in_form(store, "jsonl"), in_form(store, "cloudevents")])

    assert not [len(line["text"]) for line in lines if line["text"] and line["text"] in written]
    assert not [line["avatar"] for line in lines if line["avatar"] in written]


def test_two_forms_at_once_are_refused(store: Path) -> None:
    assert turnfold("events", "--store", store, "--format", "jsonl", "--json").code == 2
