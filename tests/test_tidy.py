"""House rules are tests: sizes, names, forbidden constructs, modules that nothing uses.

Each test collects every breach and compares the list with nothing, so that a failure shows
where to look.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE_FOLDERS = ("actors", "events")
CODE_FOLDERS = (*SOURCE_FOLDERS, "turnfold", "tests", "benchmarks")
TEXT_SUFFIXES = {".cfg", ".ini", ".json", ".jsonl", ".md", ".py", ".sh", ".toml", ".txt"}

MODULE_LINES_MAX = 330
TEST_MODULE_LINES_MAX = 500  # a long list of cases belongs together
FUNCTION_LINES_MAX = 70
BANNED_WORDS = {
    "common": "name what is in it",
    "handler": "name what it does",
    "helper": "name what it does",
    "helpers": "name what it does",
    "manager": "name what it owns",
    "misc": "name what is in it",
    "util": "name what is in it",
    "utils": "name what is in it",
}
# Reached from outside: by the installed script, by `python -m`, by pytest or by users.
ENTRY_MODULES = {"turnfold.__main__"}

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def code_files(*folders: str) -> list[Path]:
    """Python files below these folders, each once: the links in turnfold/ are not followed."""
    found = [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "__pycache__" not in path.parts
        and not path.is_relative_to(ROOT / "turnfold" / "actors")
        and not path.is_relative_to(ROOT / "turnfold" / "events")
    ]
    assert found
    return found


def text_files() -> list[Path]:
    """Every text file of the project: code, docs, and the files beside them at the top."""
    folders = (*CODE_FOLDERS, "docs")
    below = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    top = [*ROOT.iterdir(), ROOT / ".ci" / "run"]
    named = {"Makefile", "run", ".gitignore", "MANIFEST.in", "LICENSE"}
    return sorted(
        path
        for path in {*below, *top}
        if path.is_file() and (path.suffix in TEXT_SUFFIXES or path.name in named)
    )


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def place(path: Path, line: int = 1) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def listed(breaches: list[str]) -> str:
    return "\n".join(["", *breaches])


def functions(path: Path) -> Iterator[FunctionNode]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, FunctionNode):
            yield node


def import_name(path: Path) -> str:
    """The name a source file is imported by: events/log/frame.py is turnfold.events.log.frame."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "turnfold" else ("turnfold", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# --- sizes -----------------------------------------------------------------------------------


def test_modules_fit_in_the_head() -> None:
    sizes = {path: len(path.read_text().splitlines()) for path in code_files(*CODE_FOLDERS)}
    too_long = [
        f"{place(path)} has {size}"
        for path, size in sizes.items()
        if size
        > (TEST_MODULE_LINES_MAX if path.is_relative_to(ROOT / "tests") else MODULE_LINES_MAX)
    ]

    assert not too_long, listed(too_long)


def test_functions_fit_on_a_screen() -> None:
    too_long = [
        f"{place(path, node.lineno)} {node.name} has {length}"
        for path in code_files(*CODE_FOLDERS)
        for node in functions(path)
        if (length := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES_MAX
    ]

    assert not too_long, listed(too_long)


# --- names -----------------------------------------------------------------------------------


def words_of(name: str) -> set[str]:
    """The lower-case words of a snake_case or CamelCase name."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("generation_writer", {"generation", "writer"}),
        ("StoreManager", {"store", "manager"}),
        ("HTTPHandler", {"http", "handler"}),
    ],
)
def test_names_are_split_into_words(name: str, words: set[str]) -> None:
    assert words_of(name) == words


def test_names_say_what_a_thing_is() -> None:
    """No module and no class is named by a word that fits anything."""
    named = [
        (place(path), name)
        for path in code_files(*CODE_FOLDERS)
        for name in (path.stem, path.parent.name)
    ] + [
        (place(path, node.lineno), node.name)
        for path in code_files(*CODE_FOLDERS)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef)
    ]
    vague = [
        f"{where} {name}: {BANNED_WORDS[word]}"
        for where, name in named
        for word in sorted(words_of(name) & BANNED_WORDS.keys())
    ]

    assert not vague, listed(vague)


def test_tests_are_named_by_a_fact() -> None:
    """A test states its fact in its name (three words at least) or in a docstring."""
    unclear = [
        f"{place(path, node.lineno)} {node.name}"
        for path in code_files("tests")
        for node in functions(path)
        if node.name.startswith("test_")
        and not ast.get_docstring(node)
        and len(node.name.split("_")) < 4
    ]

    assert not unclear, listed(unclear)


def test_no_test_folder_takes_the_name_of_a_half() -> None:
    """tests/events would become importable as `events`."""
    names = {path.name for path in (ROOT / "tests").rglob("*") if path.is_dir()}

    assert not names & {"actors", "events", "turnfold"}


def test_every_module_and_public_class_says_what_it_is() -> None:
    silent = [
        f"{place(path, getattr(node, 'lineno', 1))} {getattr(node, 'name', path.stem)}"
        for path in code_files(*SOURCE_FOLDERS, "turnfold")
        for node in [parsed(path), *parsed(path).body]
        if isinstance(node, ast.Module | ast.ClassDef)
        and not getattr(node, "name", "").startswith("_")
        and not ast.get_docstring(node)
    ]

    assert not silent, listed(silent)


# --- forbidden constructs --------------------------------------------------------------------


def swallows_everything(node: ast.ExceptHandler) -> bool:
    """Whether this is `except:`, or catches every exception and does nothing with it."""
    if node.type is None:
        return True
    broad = isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}
    return broad and all(
        isinstance(statement, ast.Pass | ast.Continue)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in node.body
    )


def test_no_error_is_swallowed() -> None:
    swallowed = [
        place(path, node.lineno)
        for path in code_files(*CODE_FOLDERS)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ExceptHandler) and swallows_everything(node)
    ]

    assert not swallowed, listed(swallowed)


def test_no_test_sleeps() -> None:
    """A test waits on a condition or moves an injected clock."""
    sleeping = [
        place(path, node.lineno)
        for path in code_files("tests")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"time.sleep", "sleep", "asyncio.sleep", "anyio.sleep"}
        and not (node.args and ast.unparse(node.args[0]) == "0")  # asyncio.sleep(0) only yields
    ]

    assert not sleeping, listed(sleeping)


SILENCER = re.compile(
    r"#\s*(?:noqa(?::\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?|(?:type|pyright): ignore(?:\[[\w\-, ]+\])?)"
)


def is_unexplained(line: str, line_above: str) -> bool:
    """Whether a line silences a check with no reason after it nor in a comment above it."""
    silenced = SILENCER.search(line)
    if silenced is None:
        return False
    reason = SILENCER.sub("", line[silenced.start() :]).strip(" #-:")
    return len(reason) < len("why") and not line_above.strip().startswith("#")


@pytest.mark.parametrize(
    ("comment", "unexplained"),
    [
        ("noqa: S603", True),
        ("type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]", True),
        ("noqa: S603 - a fixed command", False),
        ("type: ignore[misc]  # attrs builds it", False),
        ("an ordinary remark", False),
    ],
)
def test_a_silencer_is_told_from_its_reason(comment: str, unexplained: bool) -> None:
    line = f"call()  # {comment}"

    assert is_unexplained(line, "x = 1") == unexplained
    assert not is_unexplained(line, "    # the reason, in words")


def test_each_silenced_check_says_why() -> None:
    unexplained: list[str] = []
    for path in code_files(*CODE_FOLDERS):
        lines = path.read_text().splitlines()
        unexplained += [
            place(path, number)
            for number, (above, line) in enumerate(zip(["", *lines], lines, strict=False), 1)
            if is_unexplained(line, above)
        ]

    assert not unexplained, listed(unexplained)


def test_nothing_names_a_place_on_one_machine() -> None:
    """No path of somebody's home, work or temporary folder is written into the project."""
    roots = "|".join(("home", "root", "Users", "work", "tmp" + "/tv", "mnt"))
    pattern = re.compile(rf"(?<![\w./:~-])/(?:{roots})/|" + "py" + "env")
    named = [
        f"{place(path, number)}: {line.strip()}"
        for path in text_files()
        if path.suffix != ".jsonl"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]

    assert not named, listed(named)


# --- modules that nothing uses ---------------------------------------------------------------


def modules_named_in(path: Path) -> Iterator[str]:
    """Module names that a file imports, or names in a string as a lazy facade does."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).startswith("turnfold."):
            yield str(node.value)


def test_every_module_is_used_by_another() -> None:
    """A module that only tests import is dead; so is one that nothing imports."""
    files = code_files(*SOURCE_FOLDERS, "turnfold")
    used = {name for path in files for name in modules_named_in(path) if name != import_name(path)}
    modules = {import_name(path) for path in files if path.name != "__init__.py"}

    dead = sorted(modules - used - ENTRY_MODULES)

    assert not dead, listed(dead)
