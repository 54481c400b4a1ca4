"""The mapping of folders to import names holds, in the checkout and in what is published."""

import ast
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import turnfold

ROOT = Path(__file__).resolve().parent.parent
NOT_SHIPPED = shutil.ignore_patterns(
    ".git", ".venv*", ".*cache*", ".hypothesis", "build", "dist", "*.egg-info", "results"
)


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it as a user's program: without the working directory on the path (-P)."""
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def shipped_files() -> set[str]:
    """Every file below actors/ and events/, by its path in an installed copy."""
    return {
        f"turnfold/{path.relative_to(ROOT).as_posix()}"
        for folder in ("actors", "events")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


# --- the checkout ------------------------------------------------------------------------------


def test_generic_names_are_never_imported() -> None:
    """No code reaches the folders by their bare names, which other projects use too."""
    assert not {"actors", "events"} & sys.modules.keys()


def test_generic_names_cannot_be_imported_by_a_user() -> None:
    """Installing Turnfold puts no `actors` and no `events` on anybody's path."""
    code = (
        "import importlib.util as u, sys\n"
        "sys.exit(any(u.find_spec(n) is not None for n in ('actors', 'events')))"
    )

    assert run_python(code).returncode == 0


def test_folders_are_linked_relatively() -> None:
    """The links lead to the folders of the same checkout, wherever it lies."""
    links = {name: os.readlink(ROOT / "turnfold" / name) for name in ("actors", "events")}

    assert links == {"actors": "../actors", "events": "../events"}


def test_every_package_is_listed() -> None:
    """A new sub-package must be added to [tool.setuptools] packages, or no wheel has it."""
    modules = pkgutil.walk_packages(turnfold.__path__, "turnfold.")
    found = {module.name for module in modules if module.ispkg}

    assert found | {"turnfold"} == set(pyproject()["tool"]["setuptools"]["packages"])


def test_script_points_at_main() -> None:
    """The console script and `python -m turnfold` run the same function."""
    scripts = distribution("turnfold").entry_points.select(group="console_scripts")

    assert [script.value for script in scripts] == ["turnfold.__main__:main"]


def test_supported_pythons_are_the_ones_the_makefile_tests() -> None:
    """Classifiers, the lower bound and `make test-all` name the same versions."""
    project = pyproject()["project"]
    pattern = r"^Programming Language :: Python :: (3\.\d+)$"
    classified = [found[1] for text in project["classifiers"] if (found := re.match(pattern, text))]
    makefile = (ROOT / "Makefile").read_text()
    tested = re.search(r"^SUPPORTED := (.+)$", makefile, re.MULTILINE)

    assert tested is not None
    assert classified == tested[1].split()
    assert project["requires-python"] == f">={classified[0]}"


def test_each_dependency_has_its_reason() -> None:
    """docs/reference/dependencies.md has one row for each requirement and none besides."""
    config = pyproject()
    required = [*config["project"]["dependencies"], *config["dependency-groups"]["dev"]]
    names = {re.split(r"[\[><=~ ]", requirement)[0] for requirement in required}
    page = (ROOT / "docs" / "reference" / "dependencies.md").read_text()
    explained = set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE))

    assert explained == names


def test_every_extra_is_tested() -> None:
    """What an extra brings is in the dev group too, and the page names it."""
    config = pyproject()
    page = (ROOT / "docs" / "reference" / "dependencies.md").read_text()
    extras = config["project"]["optional-dependencies"]
    brought = [requirement for names in extras.values() for requirement in names]

    assert set(brought) <= set(config["dependency-groups"]["dev"])
    assert all(f"'turnfold[{extra}]'" in page for extra in extras)


@pytest.mark.parametrize("package", ["cryptography", "textual"])
def test_what_an_extra_brings_is_imported_by_nothing_else(package: str) -> None:
    code = (
        "import turnfold.actors.cli.app, turnfold.events, turnfold.actors, sys\n"
        f"sys.exit({package!r} in sys.modules)"
    )

    assert run_python(code).returncode == 0


# --- the facade --------------------------------------------------------------------------------


def test_events_imports_no_actor_library() -> None:
    """Auditors need turnfold.events and nothing that runs actors."""
    code = "import turnfold.events, sys; sys.exit('pykka' in sys.modules)"

    assert run_python(code).returncode == 0


def test_importing_turnfold_imports_neither_half() -> None:
    """The facade looks names up when they are used."""
    code = (
        "import turnfold, sys\n"
        "sys.exit(bool({'turnfold.actors', 'turnfold.events'} & sys.modules.keys()))"
    )

    assert run_python(code).returncode == 0


def test_events_names_come_without_an_actor_library() -> None:
    """`from turnfold import ConversationKey` is as light as importing it from its home."""
    code = "from turnfold import ConversationKey; import sys; sys.exit('pykka' in sys.modules)"

    assert run_python(code).returncode == 0


@pytest.mark.parametrize("name", turnfold.__all__)
def test_facade_name_is_the_same_object_at_home(name: str) -> None:
    """Each public name is the one that `turnfold.events` or `turnfold.actors` exports."""
    homes = (import_module("turnfold.events"), import_module("turnfold.actors"))
    exported = [getattr(home, name) for home in homes if name in home.__all__]

    assert exported
    assert all(getattr(turnfold, name) is each for each in exported)


def test_facade_lists_each_name_for_type_checkers_and_at_run_time() -> None:
    """The branch for type checkers imports exactly the names of `__all__`, from their homes."""
    tree = ast.parse((ROOT / "turnfold" / "__init__.py").read_text())
    typed = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("turnfold.")
        for alias in node.names
    }

    assert sorted(typed) == turnfold.__all__
    for name, home in typed.items():
        assert home is not None
        assert getattr(turnfold, name) is getattr(import_module(home), name)


def test_facade_refuses_an_unknown_name() -> None:
    """A name that isn't public is an AttributeError, as for any module."""
    name = "StoreActor"  # public in no release: reached through StoreRef only

    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(turnfold, name)


# --- what is published -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel built from that sdist, as a release does it."""
    source = tmp_path_factory.mktemp("source") / "turnfold"
    shutil.copytree(ROOT, source, symlinks=True, ignore=NOT_SHIPPED)
    output = tmp_path_factory.mktemp("published")
    command = [sys.executable, "-m", "build", "--no-isolation", f"--outdir={output}", str(source)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)

    assert built.returncode == 0, built.stdout + built.stderr
    return output


@pytest.mark.xdist_group("published")
def test_wheel_has_every_module_under_its_import_name(published: Path) -> None:
    """The wheel holds turnfold/ with both halves and data files, and nothing else."""
    (wheel,) = published.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    own = {"turnfold/__init__.py", "turnfold/__main__.py", "turnfold/py.typed"}

    assert names == shipped_files() | own


@pytest.mark.xdist_group("published")
def test_wheel_carries_the_licence(published: Path) -> None:
    """The licence text and its SPDX name are in the wheel."""
    (wheel,) = published.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    (licence,) = [name for name in archive.namelist() if name.endswith("/licenses/LICENSE")]
    (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]

    assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    assert b"\nLicense-Expression: Apache-2.0\n" in archive.read(metadata)


@pytest.mark.xdist_group("published")
def test_wheel_is_importable_without_the_checkout(published: Path) -> None:
    """The modules of the wheel find each other; the checkout is not consulted."""
    (wheel,) = published.glob("*.whl")
    code = (
        "import turnfold, turnfold.events, turnfold.actors\n"
        "print(turnfold.__file__, turnfold.events.__file__, turnfold.actors.__file__, sep='\\n')"
    )
    answer = run_python(code, PYTHONPATH=str(wheel))  # a wheel can be imported as it is

    assert answer.returncode == 0, answer.stderr
    assert all(Path(line).is_relative_to(wheel) for line in answer.stdout.splitlines())


@pytest.mark.xdist_group("published")
def test_sdist_has_what_a_distributor_needs_to_build_and_test(published: Path) -> None:
    """Sources, tests, docs and the project files are in, the links to the folders are not."""
    (sdist,) = published.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        paths = [PurePosixPath(*PurePosixPath(name).parts[1:]) for name in archive.getnames()]
    names = {path.as_posix() for path in paths}
    tops = {path.parts[0] for path in paths if path.parts}

    assert {"actors", "docs", "events", "tests", "turnfold"} <= tops
    assert {"CHANGELOG.md", "LICENSE", "Makefile", "pyproject.toml", ".ci/run"} <= names
    assert {name.removeprefix("turnfold/") for name in shipped_files()} <= names
    assert not {name for name in names if name.startswith(("turnfold/actors", "turnfold/events"))}
    assert not {name for name in names if name.endswith((".pyc", "__pycache__"))}
