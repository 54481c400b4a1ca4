"""The documentation can't drift: its examples run, and it names every command and reason."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
import typer.main
from markdown_blocks import Page, blocks, commands

from turnfold.actors.cli.app import app
from turnfold.events.reasons import Reason

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def reference() -> str:
    """All reference pages as one text."""
    pages = sorted((ROOT / "docs" / "reference").rglob("*.md"))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def cli_commands() -> dict[str, Any]:
    """Every command by its full name, groups included: `quarantine list`, `verify`, …"""
    found: dict[str, Any] = {}

    def walk(command: Any, name: str) -> None:
        for word, below in getattr(command, "commands", {}).items():
            found[f"{name} {word}".strip()] = below
            walk(below, f"{name} {word}".strip())

    walk(typer.main.get_command(app), "")
    return found


# --- examples --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_examples_of_a_page_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python blocks raise nothing and commands exit as the page says."""
    page = Page(path, tmp_path)
    missing = [name for name in page.needs if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the page needs {', '.join(missing)}")
    monkeypatch.chdir(tmp_path)

    page.run()


def test_readme_shows_both_the_library_and_the_command_line() -> None:
    """The first page has examples of both, and they are of the kind that runs."""
    languages = {block.language for block in blocks((ROOT / "README.md").read_text())}

    assert "python" in languages
    assert languages & {"console", "sh"}


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_links_of_a_page_lead_somewhere(path: Path) -> None:
    """A relative link names a file or folder of the repository."""
    targets = [link.partition("#")[0] for link in LINK.findall(path.read_text(encoding="utf-8"))]
    broken = [
        target
        for target in targets
        if target and "://" not in target and not target.startswith("mailto:")
        if not (path.parent / target).exists()
    ]

    assert not broken, broken


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_a_page_has_one_title(path: Path) -> None:
    """The first line is the page's only top-level heading."""
    text = path.read_text(encoding="utf-8")
    outside = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^# .+$", outside, re.MULTILINE)

    assert len(titles) == 1
    assert text.startswith(titles[0])


# --- completeness ----------------------------------------------------------------------------


def test_every_command_is_in_the_reference() -> None:
    """`turnfold NAME` stands in docs/reference for each command and each subcommand."""
    text = reference()
    missing = [
        name
        for name in cli_commands()
        if not re.search(rf"turnfold {re.escape(name)}(?![\w-])", text)
    ]

    assert not missing, missing


def test_every_option_is_in_the_reference() -> None:
    """Each long option of each command stands in docs/reference."""
    text = reference()
    missing = [
        f"{name} {option}"
        for name, command in cli_commands().items()
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and not re.search(rf"{re.escape(option)}(?![\w-])", text)
    ]

    assert not missing, missing


def test_every_command_has_help() -> None:
    """Each command says what it does, and so does each of its options."""
    silent = [name for name, command in cli_commands().items() if not command.help]
    silent += [
        f"{name} {parameter.opts[0]}"
        for name, command in cli_commands().items()
        for parameter in command.params
        if parameter.opts[0].startswith("--") and not getattr(parameter, "help", None)
    ]

    assert not silent, silent


def test_every_reason_is_in_the_reference() -> None:
    """Each reason code stands in docs/reference, as code."""
    text = reference()
    missing = [reason.value for reason in Reason if f"`{reason.value}`" not in text]

    assert not missing, missing


# --- the way examples are run ----------------------------------------------------------------


def test_blocks_are_found_with_their_line_and_without_their_indent() -> None:
    text = '# T\n\n```python\nx = 1\n```\n\n- item\n\n  ```toml title="a.toml"\n  y = 2\n  ```\n'

    assert [tuple(block) for block in blocks(text)] == [
        ("python", "python", "x = 1\n", 4),
        ("toml", 'toml title="a.toml"', "y = 2\n", 10),
    ]


def test_an_unclosed_block_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 2 is never closed"):
        list(blocks("```python\nx = 1\n"))


def test_commands_are_told_from_their_output() -> None:
    text = "$ turnfold verify \\\n  --store s  # exit 1\nok\n$ ls\n$ turnfold events\n"

    assert list(commands(text)) == [
        ("turnfold verify   --store s  # exit 1", 1),
        ("turnfold events", 0),
    ]


@pytest.mark.parametrize(
    "block",
    [
        "```python\nassert 1 == 2\n```\n",
        "```python\nimport asyncio\nawait asyncio.sleep(0)\nassert 1 == 2\n```\n",
        "```console\n$ turnfold no-such-command\n```\n",
        "```console\n$ turnfold --help  # exit 1\n```\n",
    ],
)
def test_an_example_that_fails_fails_its_page(block: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# T\n\n{block}")

    with pytest.raises(AssertionError):
        Page(page, tmp_path).run()


def test_examples_of_a_page_share_names_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '# T\n\n```text title="a.txt"\nhello\n```\n\n'
        "```python\nfrom pathlib import Path\ntext = Path('a.txt').read_text()\n```\n\n"
        "```python\nimport asyncio\nawait asyncio.sleep(0)\nassert text == 'hello\\n'\n```\n"
    )
    monkeypatch.chdir(tmp_path)

    assert Page(page, tmp_path).run() == 2
