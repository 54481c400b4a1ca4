"""The configuration: what is refused, by which name, and that the page about it is right."""

import math
import re
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnfold.actors.config import SETTINGS, Config, full_name
from turnfold.events.errors import InvalidConfig, LimitTooHigh
from turnfold.events.limits import BOUNDS, Limits

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "configuration.md"
SECRET = "hunter2-" + "0" * 24
SECONDS = [name for name, setting in SETTINGS.items() if setting.type == "seconds"]
BOOLEANS = [name for name, setting in SETTINGS.items() if setting.type == "boolean"]
CHOICES = [name for name, setting in SETTINGS.items() if setting.type == "text"]

WHOLE = """
storage_path = "memory"

[conversation]
persistence_enabled = true
enabled = true
durability = "flush"
on_damage = "refuse"
erase_after_s = 60
generation_interval_s = 1.5
open_timeout_s = 0.25
control_socket = false

[conversation.limits]
turns_per_session = 32

[session_state]
durable_writes_enabled = true
previews_allowed = true
"""


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "turnfold.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def nested(name: str, value: object) -> dict[str, object]:
    """The mapping that sets one setting, as TOML nests it."""
    section = SETTINGS[name].section
    return {section: {name: value}} if section else {name: value}


# --- what is accepted ------------------------------------------------------------------------


def test_default_configuration_keeps_everything_in_memory() -> None:
    config = Config()

    assert not config.persistence_enabled
    assert config.storage_path is None
    assert config.durability == "commit"
    assert config.on_damage == "recover"
    assert config.limits == Limits()


def test_keyword_arguments_and_a_file_give_the_same_configuration(tmp_path: Path) -> None:
    by_name = Config(
        storage_path=tmp_path / "memory",
        persistence_enabled=True,
        durability="flush",
        on_damage="refuse",
        erase_after_s=60,
        generation_interval_s=1.5,
        open_timeout_s=0.25,
        control_socket=False,
        limits={"turns_per_session": 32},
        durable_writes_enabled=True,
        previews_allowed=True,
    )

    assert Config.load(written(tmp_path, WHOLE)) == by_name


def test_whole_example_names_every_setting(tmp_path: Path) -> None:
    """So that the test above compares all of them."""
    named = set(re.findall(r"^(\w+) = ", WHOLE, re.MULTILINE))

    assert named - {"turns_per_session"} == set(SETTINGS)


def test_every_setting_is_a_field_and_every_field_a_setting() -> None:
    fields = {field.name for field in attrs.fields(Config)}

    assert fields == {*SETTINGS, "limits", "redaction"}


def test_path_in_a_file_is_relative_to_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc").mkdir()
    file = written(tmp_path / "etc", 'storage_path = "data/store"')
    monkeypatch.chdir(tmp_path)

    config = Config.load(file.relative_to(tmp_path))

    assert config.storage_path == tmp_path / "etc" / "data" / "store"


def test_path_by_keyword_is_relative_to_the_working_directory_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = Config(storage_path="store")
    monkeypatch.chdir("/")

    assert config.storage_path == tmp_path / "store"


def test_tilde_stands_for_the_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert Config(storage_path="~/store").storage_path == tmp_path / "store"
    assert Config.load(written(tmp_path, 'storage_path = "~/s"')).storage_path == tmp_path / "s"


def test_limits_can_be_an_object_or_a_table() -> None:
    assert Config(limits=Limits(turn_bytes=100)) == Config(limits={"turn_bytes": 100})


def test_configuration_cannot_be_changed() -> None:
    config = Config()

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        config.durability = "flush"  # type: ignore[misc]  # the test is that it is refused


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"storage_pth": "x"}, r"^storage_pth is not a setting; did you mean storage_path\?$"),
        (
            {"conversation": {"durablity": "commit"}},
            r"^conversation\.durablity is not a setting; did you mean conversation\.durability\?$",
        ),
        (
            {"conversation": {"limits": {"turn_byte": 100}}},
            r"^conversation\.limits\.turn_byte is not .* conversation\.limits\.turn_bytes\?$",
        ),
        (
            {"persistence_enabled": True},
            r"^persistence_enabled is not a setting; it belongs to \[conversation\]$",
        ),
        (
            {"conversation": {"turn_bytes": 100}},
            r"^conversation\.turn_bytes is not a setting; it belongs to \[conversation\.limits\]$",
        ),
        (
            {"conversation": {"storage_path": "x"}},
            r"^conversation\.storage_path is not a setting; it belongs to the top level$",
        ),
        (
            {"session_state": {"durabilty": "commit"}},
            r"^session_state\.durabilty .* did you mean conversation\.durability\?$",
        ),
        ({"zzz": {}}, r"^zzz is not a setting; docs/reference/configuration\.md lists them all$"),
        ({"conversation": {3: 4}}, "^conversation has a key that is not a text$"),
    ],
)
def test_unknown_key_is_refused_by_its_full_name_with_a_suggestion(
    mapping: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidConfig, match=message):
        Config.from_mapping(mapping)


def test_unknown_limit_by_keyword_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InvalidConfig, match=r"^conversation\.limits\.log_byte is not .*log_bytes"):
        Config(limits={"log_byte": 1})


def test_long_unknown_key_is_cut_in_the_message() -> None:
    with pytest.raises(InvalidConfig) as refusal:
        Config.from_mapping({"x" * 100_000: 1})

    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("section", ["conversation", "session_state"])
@pytest.mark.parametrize("value", [1, SECRET, [], None, True])
def test_section_that_is_no_table_is_refused_by_name(section: str, value: object) -> None:
    with pytest.raises(InvalidConfig, match=f"^{section} must be a table, not ") as refusal:
        Config.from_mapping({section: value})

    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize("name", BOOLEANS)
@pytest.mark.parametrize("value", [0, 1, "true", SECRET, None, 1.0, []])
def test_boolean_takes_true_and_false_only(name: str, value: object) -> None:
    with pytest.raises(InvalidConfig, match=f"^{full_name(name)} must be true or false") as refusal:
        Config.from_mapping(nested(name, value))

    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize("name", SECONDS)
@pytest.mark.parametrize("value", [True, False, "60", SECRET, None, [], math.nan, 1j])
def test_seconds_take_numbers_only(name: str, value: object) -> None:
    message = f"^{full_name(name)} must be a number of seconds, not "
    with pytest.raises(InvalidConfig, match=message) as refusal:
        Config.from_mapping(nested(name, value))

    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize("name", SECONDS)
@pytest.mark.parametrize("value", [math.inf, 1e9, 10**400])
def test_seconds_above_the_ceiling_are_refused_with_both_numbers(name: str, value: float) -> None:
    ceiling = f"{SETTINGS[name].ceiling:g}"

    with pytest.raises(LimitTooHigh, match=f"^{full_name(name)} is .+; the hard .+ {ceiling}$"):
        Config.from_mapping(nested(name, value))


@pytest.mark.parametrize("name", SECONDS)
@pytest.mark.parametrize("value", [-1, -math.inf, -(10**400)])
def test_seconds_below_the_minimum_are_refused_with_both_numbers(name: str, value: float) -> None:
    with pytest.raises(InvalidConfig, match=f"^{full_name(name)} is -.+; the minimum is "):
        Config.from_mapping(nested(name, value))


@pytest.mark.parametrize("name", SECONDS)
def test_seconds_may_be_exactly_a_bound(name: str) -> None:
    for bound in (SETTINGS[name].minimum, SETTINGS[name].ceiling):
        assert getattr(Config.from_mapping(nested(name, bound)), name) == bound


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["", "Commit", SECRET, None, 1, True, ["commit"]])
def test_choice_names_what_is_allowed_and_not_what_was_given(name: str, value: object) -> None:
    allowed = " or ".join(f'"{choice}"' for choice in SETTINGS[name].choices)

    with pytest.raises(InvalidConfig, match=f"^{full_name(name)} must be {allowed}$"):
        Config.from_mapping(nested(name, value))


@pytest.mark.parametrize("value", ["", "a\0b", 3, True, b"store", [], "~no-such-user-here/store"])
def test_storage_path_must_be_a_usable_path(value: object) -> None:
    with pytest.raises(InvalidConfig, match=r"^storage_path "):
        Config.from_mapping({"storage_path": value})


def test_persistence_needs_a_storage_path() -> None:
    with pytest.raises(InvalidConfig, match="persistence_enabled is true but storage_path is not"):
        Config(persistence_enabled=True)


@pytest.mark.parametrize("name", BOUNDS)
def test_limit_above_its_ceiling_names_both_numbers(name: str) -> None:
    ceiling = BOUNDS[name][2]
    message = rf"^conversation\.limits\.{name} is {ceiling + 1}; the hard ceiling is {ceiling}$"

    with pytest.raises(LimitTooHigh, match=message):
        Config(limits={name: ceiling + 1})


@pytest.mark.parametrize("value", [True, 4.0, "256", None, math.nan])
def test_limit_must_be_an_integer(value: object) -> None:
    with pytest.raises(InvalidConfig, match=r"^conversation\.limits\.turn_bytes must be an int"):
        Config.from_mapping({"conversation": {"limits": {"turn_bytes": value}}})


def test_limits_must_be_a_table() -> None:
    with pytest.raises(InvalidConfig, match=r"^conversation\.limits must be a table, not "):
        Config.from_mapping({"conversation": {"limits": 3}})
    with pytest.raises(InvalidConfig, match=r"^conversation\.limits must be a table of limits"):
        Config(limits=[("turn_bytes", 100)])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # refused at run time too


# --- files -----------------------------------------------------------------------------------


def test_missing_file_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match=r"turnfold\.toml can't be read: No such file"):
        Config.load(tmp_path / "turnfold.toml")


def test_directory_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="can't be read: Is a directory"):
        Config.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[conversation\nx = 1", r"at line 1, column 14"),
        (f"a = 1\n  b == '{SECRET}'", r"at line 2, column 6"),
        (f'a = "{SECRET}"\na = "{SECRET}"\nb = 1', r"at line 2, column \d+"),
        (f'a = "{SECRET}', r"by the end, line 1, column \d+"),
        (f'a = 1\nb = """{SECRET}\n', "by the end, line 3, column 1"),
        ("a = " + "9" * 5000, "by the end, line 1, column 5005"),
        ("a = " + "[" * 50_000, "by the end, line 1"),
    ],
)
def test_bad_toml_is_refused_by_line_and_column_alone(
    tmp_path: Path, text: str, place: str
) -> None:
    with pytest.raises(InvalidConfig, match=rf"is not valid TOML \({place}") as refusal:
        Config.load(written(tmp_path, text))

    assert SECRET not in str(refusal.value)
    assert refusal.value.__suppress_context__


def test_bytes_that_are_not_utf8_are_refused_by_line_and_column(tmp_path: Path) -> None:
    raw = "a = 1\nb = 'é".encode() + b"\xff'"

    with pytest.raises(InvalidConfig, match=r"is not UTF-8 \(at line 2, column 7\)$"):
        Config.load(written(tmp_path, raw))


def test_huge_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="is larger than 1048576 bytes"):
        Config.load(written(tmp_path, "#" * (1024 * 1024 + 1)))


# --- nothing leaks ---------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.just(SECRET),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from([*SETTINGS, "limits", *BOUNDS, "other"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["storage_path", "conversation", "session_state", "other"]), values
    )
)
def test_any_mapping_gives_a_configuration_or_a_refusal_without_values(
    mapping: dict[str, object],
) -> None:
    try:
        config = Config.from_mapping(mapping)
    except InvalidConfig as refusal:
        assert SECRET not in str(refusal)  # noqa: PT017 - both outcomes are fine
    else:
        assert SECRET not in repr(config)


def test_repr_does_not_show_the_path() -> None:
    assert SECRET not in repr(Config(storage_path=SECRET))


# --- the page --------------------------------------------------------------------------------


def rows() -> dict[str, list[str]]:
    """The rows of the page's tables, by the key in their first cell."""
    found: dict[str, list[str]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| `") and len(cells) > 1:
            assert cells[0] not in found
            found[cells[0].strip("`")] = cells[1:]
    return found


def as_toml(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return f'`"{value}"`'
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"{value:,g}"


def test_page_lists_exactly_the_settings_that_exist() -> None:
    limits = {f"conversation.limits.{name}" for name in BOUNDS}

    assert set(rows()) == {full_name(name) for name in SETTINGS} | limits


@pytest.mark.parametrize("name", SETTINGS)
def test_page_has_the_type_default_and_bounds_of_a_setting(name: str) -> None:
    setting = SETTINGS[name]
    default = getattr(attrs.fields(Config), name).default
    kind = " or ".join(as_toml(choice) for choice in setting.choices) or setting.type
    bounds = ["-", "-"]
    if setting.type == "seconds":
        bounds = [f"{setting.minimum:,g}", f"{setting.ceiling:,g}"]

    assert rows()[full_name(name)][:4] == [kind, as_toml(default), *bounds]


def size(name: str, value: int) -> str:
    """A limit as the page writes it: 8 KiB, 1 GiB, 4,096."""
    if "bytes" in name:
        for unit, factor in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
            if value and value % factor == 0:
                return f"{value // factor:,} {unit}"
    return f"{value:,}"


@pytest.mark.parametrize("name", BOUNDS)
def test_page_has_the_bounds_of_a_limit(name: str) -> None:
    low, default, high = (size(name, bound) for bound in BOUNDS[name])

    assert rows()[f"conversation.limits.{name}"][:4] == ["integer", default, low, high]
