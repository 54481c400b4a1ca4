"""The forms that `turnfold events --format` gives events in, for other programs."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turnfold.actors.cli import render

if TYPE_CHECKING:
    from turnfold.events.event import Event, Gap
    from turnfold.events.notice import Notice


class EventFormat(StrEnum):
    """How an event is written."""

    JSONL = "jsonl"
    CBOR_SEQ = "cbor-seq"
    CLOUDEVENTS = "cloudevents"


FormatOption = Annotated[
    EventFormat | None,
    typer.Option(
        "--format",
        help="All fields of each event, for other programs: JSON Lines, a CBOR sequence, or"
        " CloudEvents 1.0 as JSON Lines.",
        show_default=False,
    ),
]
SchemaOption = Annotated[
    bool, typer.Option("--schema", help="Print the JSON Schema of --format jsonl and end.")
]


def print_event(
    item: "Event | Gap", notice: "Notice | Gap", form: EventFormat, store_id: bytes
) -> None:
    """One event on standard output: a line of JSON, or one item of a CBOR sequence (RFC 8742)."""
    from turnfold.events.event_document import cloud_event, event_document

    if form is EventFormat.CLOUDEVENTS:
        render.print_json(cloud_event(item, notice, store_id))
    elif form is EventFormat.CBOR_SEQ:
        _print_cbor(event_document(item))
    else:
        render.print_json(event_document(item))


def print_schema() -> None:
    """The JSON Schema of `--format jsonl` and of the data of CloudEvents."""
    from turnfold.events.event_schema import json_schema

    render.print_json(json_schema())


def _print_cbor(document: dict[str, Any]) -> None:
    from turnfold.events.cbor import encode

    sys.stdout.buffer.write(encode(document))
    sys.stdout.buffer.flush()
