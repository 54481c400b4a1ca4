"""Documents of events: complete, without content, and valid under the published schema."""

import json
import re
from typing import Any

import attrs
import pytest
from event_pages import PAGE, SCHEMA_FILE, page_text, schema_text
from histories import History
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from turnfold.events import cbor
from turnfold.events.event import EVENT_TYPES, Event, Gap, SessionStarted, TurnAdded
from turnfold.events.event_document import cloud_event, event_document
from turnfold.events.event_fields import FIELDS as STORED
from turnfold.events.event_schema import FIELDS, json_schema, reasons_of
from turnfold.events.notice import Where, notices
from turnfold.events.reasons import Reason

STORE_ID = bytes(range(16))
# Any: the validator's stubs leave types of their arguments open.
VALIDATOR: Any = Draft202012Validator(json_schema(), format_checker=FormatChecker())
OF_TYPE: dict[str, Any] = {
    name: Draft202012Validator(schema) for name, schema in json_schema()["$defs"].items()
}
# CloudEvents 1.0, JSON format: context attributes and the names they may have.
ATTRIBUTE = re.compile(r"[a-z0-9]{1,20}")


def events() -> list[Event]:
    return History(7).run(400).events


def cloud_events() -> list[dict[str, Any]]:
    where: Where = {}
    return [cloud_event(e, next(notices([e], where)), STORE_ID) for e in events()]


# --- the published pages -------------------------------------------------------------------------


def test_the_published_schema_is_the_one_of_the_code() -> None:
    """After a change of the table, `python tests/event_pages.py` writes it again."""
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text()


def test_the_page_lists_the_fields_of_the_code() -> None:
    """After a change of the table, `python tests/event_pages.py` writes it again."""
    assert PAGE.read_text(encoding="utf-8") == page_text()


def test_the_published_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


def test_every_event_and_every_stored_field_is_in_the_table() -> None:
    missing = [
        f"{kind.__name__}.{name}"
        for kind in EVENT_TYPES
        for name in {field.name for field in attrs.fields(kind)}
        - {"position", "at", "age", "reason"}
        if name not in {field.attribute for field in FIELDS[kind]}
    ]

    assert not missing, missing
    assert FIELDS.keys() == set(EVENT_TYPES)
    assert STORED.keys() | {TurnAdded} == FIELDS.keys()


def test_every_reason_but_those_of_gaps_belongs_to_an_event() -> None:
    told = {code for kind in FIELDS for code in reasons_of(kind)}

    assert {reason.value for reason in Reason} - told == {"damaged.undeclared"}


# --- documents -----------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000))
def test_documents_of_any_history_are_valid_under_the_schema(seed: int) -> None:
    for event in History(seed).run(30).events:
        OF_TYPE[type(event).__name__].validate(event_document(event))


def test_a_document_that_is_changed_is_not_valid() -> None:
    document = event_document(events()[1])

    assert VALIDATOR.is_valid(document)
    assert not VALIDATOR.is_valid(document | {"text": "hello"})
    assert not VALIDATOR.is_valid(document | {"position": "1"})
    assert not VALIDATOR.is_valid({k: v for k, v in document.items() if k != "reason"})
    assert not VALIDATOR.is_valid(document | {"reason": "erased.deleted"})


def test_a_gap_is_a_document_of_its_own() -> None:
    document = event_document(Gap(3, 9, Reason.OPENED_DAMAGED))

    VALIDATOR.validate(document)
    assert document == {"gap": {"first": 3, "last": 9, "reason": "opened.damaged"}}


def test_no_content_is_in_any_document() -> None:
    history = History(7).run(400)
    said = [*history.gone, *(t for live in history.live.values() for t in live.turns.values())]
    avatars = {e.key.avatar.hex for e in history.events if isinstance(e, SessionStarted) and e.key}
    written = "".join(json.dumps(event_document(event)) for event in history.events)

    assert len(said) > 100
    assert not [len(text) for text in said if len(text) > 8 and text in written]
    assert avatars
    assert not [avatar for avatar in avatars if avatar in written]


def test_documents_survive_cbor_as_they_are() -> None:
    for event in events()[:50]:
        document = event_document(event)
        assert cbor.decode(cbor.encode(document)) == document


# --- CloudEvents ---------------------------------------------------------------------------------


def test_cloud_events_have_what_the_specification_demands() -> None:
    for made in cloud_events():
        assert made["specversion"] == "1.0"
        for name in ("id", "source", "type"):
            assert isinstance(made[name], str)
            assert made[name]
        assert all(ATTRIBUTE.fullmatch(name) for name in made)
        assert made["datacontenttype"] == "application/json"
        assert FormatChecker().conforms(made["time"], "date-time")
        OF_TYPE[made["data"]["type"]].validate(made["data"])


def test_source_and_id_name_each_cloud_event_once() -> None:
    named = [(made["source"], made["id"]) for made in cloud_events()]

    assert len(set(named)) == len(named)
    assert {source for source, _id in named} == {"urn:uuid:00010203-0405-0607-0809-0a0b0c0d0e0f"}


def test_the_subject_is_the_key_by_its_pseudonym() -> None:
    subjects = {made["type"]: made.get("subject") for made in cloud_events()}

    assert subjects["turnfold.StoreOpened.v1"] is None
    assert re.fullmatch(
        r"[0-9a-f]{32}/(public_chat|direct_im)", subjects["turnfold.TurnAdded.v1"] or ""
    )


def test_a_gap_is_a_cloud_event_without_a_time() -> None:
    gap = Gap(3, 9, Reason.OPENED_DAMAGED)
    made = cloud_event(gap, gap, STORE_ID)

    assert made["id"] == "3-9"
    assert made["type"] == "turnfold.Gap.v1"
    assert "time" not in made


@pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda kind: kind.__name__)
def test_every_event_type_has_a_reason_and_a_description(kind: type[Event]) -> None:
    assert reasons_of(kind)
    assert json_schema()["$defs"][kind.__name__]["description"]
