"""What the pages say of the code is so: signatures, names, errors, files; all can be reached."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from markdown_blocks import blocks

from turnfold.events import errors

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
API = (REFERENCE / "api.md").read_text(encoding="utf-8")
HOMES = ("turnfold.events", "turnfold.actors", "turnfold.actors.refs")
SIGNATURE = re.compile(r"(?P<owner>\w+)(?:\.(?P<method>\w+))?\((?P<parameters>.*)\)")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILE = re.compile(r"`((?:actors|events|tests|turnfold|benchmarks)/[\w/.-]+\.\w+)`")
LINK = re.compile(r"\]\(([^)\s#]+\.md)[^)]*\)")
CALLED = re.compile(r"`(?:(\w+)\.)?(\w+)`[^`]{0,40}?\(`((?:actors|events)/[\w/]+\.py)`")
# Defaults that are made anew each time, as the page shows them.
FACTORIES = {("ActionResult", "text"): "''"}


class Documented(NamedTuple):
    """One line of the page: `owner.method(parameters)`, or `owner(parameters)`."""

    line: str
    owner: str
    method: str | None
    parameters: tuple[str, ...]


def documented() -> Iterator[Documented]:
    for block in blocks(API):
        if block.language != "text":
            continue
        for line in block.text.splitlines():
            match = SIGNATURE.fullmatch(line)
            assert match, f"{line} is no signature"
            inner = match["parameters"]
            parameters = tuple(inner.split(", ")) if inner else ()
            yield Documented(line, match["owner"], match["method"], parameters)


def public(name: str) -> Any:
    home = next(home for home in HOMES if hasattr(import_module(home), name))
    return getattr(import_module(home), name)


def parameters_of(owner: str, method: str | None) -> tuple[str, ...]:
    """The parameters as the page writes them: `key`, `*`, `timeout=None`."""
    target = getattr(public(owner), method) if method else public(owner)
    shown: list[str] = []
    for parameter in inspect.signature(target).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        if parameter.default is parameter.empty:
            shown.append(parameter.name)
        else:
            default = FACTORIES.get((owner, parameter.name), repr(parameter.default))
            shown.append(f"{parameter.name}={default}")
    return tuple(shown)


@pytest.mark.parametrize(
    "entry", list(documented()), ids=lambda entry: entry.line.partition("(")[0]
)
def test_a_documented_signature_is_the_codes(entry: Documented) -> None:
    """Names, order and defaults of the parameters."""
    assert entry.parameters == parameters_of(entry.owner, entry.method)


@pytest.mark.parametrize(
    "owner", ["ConversationStore", "AsyncConversationStore", "SessionStateStore"]
)
def test_every_method_of_a_store_is_documented(owner: str) -> None:
    listed = {entry.method for entry in documented() if entry.owner == owner}
    methods = {
        name
        for name, value in inspect.getmembers(public(owner), callable)
        if not name.startswith("_") and inspect.isroutine(value)
    }

    assert methods <= listed, methods - listed


@pytest.mark.parametrize("home", ["turnfold", "turnfold.events", "turnfold.actors"])
def test_every_public_name_is_in_the_api_reference(home: str) -> None:
    missing = [name for name in import_module(home).__all__ if not re.search(rf"\b{name}\b", API)]

    assert not missing, missing


def test_every_error_is_in_the_reference_of_errors() -> None:
    """Each class stands there as code, in the first column of a table."""
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    classes = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    ]
    families = {"TurnfoldError", "CommandRefused", "StoreUnavailable"}
    missing = [
        name
        for name in classes
        if (f"`{name}`" if name in families else f"| `{name}` |") not in page
    ]

    assert classes
    assert not missing, missing


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_exist(path: Path) -> None:
    """Files of the repository, written as code from its root."""
    named = FILE.findall(path.read_text(encoding="utf-8"))
    missing = [name for name in named if not (ROOT / name).exists()]

    assert not missing, missing


def test_architecture_names_classes_and_functions_where_they_are() -> None:
    """`Owner.method` (`file`) and `function` (`file`): both words are defined in that file."""
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    named = CALLED.findall(page)
    missing = [
        f"{owner}.{name} in {file}"
        for owner, name, file in named
        for word in filter(None, (owner, name))
        if not re.search(rf"\b(?:def|class) {word}\b", (ROOT / file).read_text(encoding="utf-8"))
    ]

    assert len(named) > 20
    assert not missing, missing


def test_every_page_can_be_reached_from_the_readme() -> None:
    """By links alone: a new page is linked from docs/README.md, or from a page that is."""
    reached: set[Path] = set()
    left = [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in reached or not page.exists():
            continue
        reached.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        left += [(page.parent / link).resolve() for link in links if "://" not in link]
    alone = [path.relative_to(ROOT).as_posix() for path in PAGES if path not in reached]

    assert not alone, alone
