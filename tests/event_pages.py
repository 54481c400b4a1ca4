"""What docs/reference says of each event, made from the code's own table.

`python tests/event_pages.py` writes the pages after the table in events/event_schema.py changed.
"""

import json
from pathlib import Path
from typing import Any

from turnfold.events.event_schema import COMMON, FIELDS, Field, json_schema, reasons_of

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
SCHEMA_FILE = REFERENCE / "schemas" / "event.schema.json"
PAGE = REFERENCE / "events.md"
BEGIN = "<!-- The rest of this page is made by tests/event_pages.py. -->\n"


def schema_text() -> str:
    """The published JSON Schema."""
    return json.dumps(json_schema(), indent=2) + "\n"


def page_text() -> str:
    """The page, with everything behind the marker made anew."""
    kept, marker, _old = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    assert marker, "the page has lost its marker"
    return kept + BEGIN + tables()


def tables() -> str:
    """A section for each event, in the order of their numbers in the log."""
    parts = ["\n## Every event\n", *_table(COMMON)]
    for kind, fields in sorted(FIELDS.items(), key=lambda pair: pair[0].TYPE):
        parts.append(f"\n## `{kind.__name__}`\n")
        parts.append(f"\nReasons: {', '.join(f'`{code}`' for code in reasons_of(kind))}.\n")
        parts += _table(fields) if fields else []
    return "".join(parts)


def _table(fields: tuple[Field, ...]) -> list[str]:
    rows = [
        f"| `{field.name}` | {_type(field.schema)}{'' if field.required else ', optional'}"
        f" | {field.meaning} |\n"
        for field in fields
    ]
    return ["\n| field | type | |\n|---|---|---|\n", *rows]


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "pattern" in schema:
        digits = schema["pattern"].removeprefix("^[0-9a-f]{").removesuffix("}$")
        return f"{digits} hex digits" if digits.isdigit() else "hex digits"
    if schema.get("format") == "date-time":
        return "RFC 3339 time"
    kind = str(schema["type"])
    return {"array": "list", "string": "text"}.get(kind, kind)


if __name__ == "__main__":
    SCHEMA_FILE.parent.mkdir(exist_ok=True)
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    PAGE.write_text(page_text(), encoding="utf-8")
