"""An event as a document for people outside: plain values, no content, the published schema.

As a CloudEvent (https://github.com/cloudevents/spec, 1.0) the same document is the `data`.
"""

from typing import Any, Final
from uuid import UUID

from turnfold.events.codec import SCHEMA
from turnfold.events.event import Event, Gap, RedactedPart, StoreOpened
from turnfold.events.event_schema import FIELDS
from turnfold.events.keys import Channel
from turnfold.events.limits import BOUNDS
from turnfold.events.notice import Notice
from turnfold.events.receipts import iso_time
from turnfold.events.sealed import Erased, sealed_length
from turnfold.events.turns import Outcome

CLOUDEVENTS_VERSION: Final = "1.0"


def event_document(item: Event | Gap) -> dict[str, Any]:
    """The item by the schema in docs/reference/schemas/event.schema.json."""
    if isinstance(item, Gap):
        return {"gap": {"first": item.first, "last": item.last, "reason": item.reason.value}}
    document: dict[str, Any] = {
        "position": item.position,
        "at": _time(item.at),
        "age_ns": item.age,
        "type": type(item).__name__,
        "schema": SCHEMA,
        "reason": item.reason.value,
    }
    for field in FIELDS[type(item)]:
        value = getattr(item, field.attribute)
        if value is not None or field.required:
            document[field.name] = _plain(field.attribute, value)
    if isinstance(item, StoreOpened):
        document["limits"] = dict(zip(BOUNDS, item.limits, strict=False))
    return document


def cloud_event(item: Event | Gap, notice: Notice | Gap, store_id: bytes) -> dict[str, Any]:
    """The item as a CloudEvent in JSON. `source` and `id` together name it for ever."""
    attributes: dict[str, Any] = {
        "specversion": CLOUDEVENTS_VERSION,
        "id": f"{item.first}-{item.last}" if isinstance(item, Gap) else str(item.position),
        "source": f"urn:uuid:{UUID(bytes=store_id)}",
        "type": f"turnfold.{type(item).__name__}.v{SCHEMA}",
    }
    if not isinstance(item, Gap):
        attributes["time"] = _time(item.at)
    if isinstance(notice, Notice) and notice.pseudonym is not None and notice.channel is not None:
        attributes["subject"] = f"{notice.pseudonym}/{notice.channel.value}"
    return {
        **attributes,
        "datacontenttype": "application/json",
        "data": event_document(item),
    }


def _time(at_ns: int) -> str:
    return iso_time(at_ns).replace("+00:00", "Z")


def _plain(attribute: str, value: Any) -> Any:
    if attribute == "sealed":
        return sealed_length(value)
    if attribute == "redactions":
        return dict(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Channel):
        return value.value
    if isinstance(value, Outcome):
        return value.label
    if attribute == "parts":
        return [_part(one) for one in value]
    if attribute in ("covers", "limits"):
        return list(value)
    assert not isinstance(value, Erased), "sealed payloads are told by their length"
    return value


def _part(part: RedactedPart) -> dict[str, Any]:
    return {
        "position": part.position,
        "text_bytes": part.text_bytes,
        "extras_bytes": part.extras_bytes,
        "redactions": dict(part.redactions),
        "commitment": part.commitment.hex(),
        "sealed_bytes": sealed_length(part.sealed),
    }
