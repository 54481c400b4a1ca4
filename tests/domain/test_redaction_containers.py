"""Arrays and objects under a telling name: each secret in them goes, the document stays one."""

import json
from typing import Any

import pytest
from domain.redaction_lines import ALPHANUMERIC, Maker
from domain.test_redaction_json import DUMPS, Dump, leaves
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.redaction import redact

MAKE = Maker(67)
PASSWORDS = [*(MAKE.password() for _ in range(4)), "hunter2", "marmalade", 90210, 48151623]
TOKENS = [MAKE.run(ALPHANUMERIC, 24) for _ in range(3)]
CODES = ["482913", 4821, "8F3K-29DS"]
CASES: dict[str, tuple[list[Any], str]] = {
    "passwords": (PASSWORDS, "credential"),
    "old_passwords": (PASSWORDS, "credential"),
    "userPwds": (PASSWORDS, "credential"),
    "tokens": (TOKENS, "token"),
    "api_keys": (TOKENS, "token"),
    "backup_codes": (CODES, "code"),
    "pins": (CODES, "code"),
}
HARMLESS: list[Any] = [True, None, [], {}, 7, "two words", {"id": [1, 2]}]
ORDINARY: list[Any] = [
    {"password": ["This field is required.", "It is too short."]},
    {"passwords": [None, True]},
    {"tokens": ["the", "cat", "sat"]},
    {"tokens": {"prompt": 1234, "completion": 567}},
    {"secret": {"name": "backup", "created": "2026-11-30"}},
    {"pins": [1, 2, 13]},
    {"compass": ["north", "east"]},
    {"bypass": [1234, 5678]},
    {"tokens": ["6b9b1d0e-6f0c-4c0e-9a49-0c6a52bd5f0a"]},
]

named = st.sampled_from(sorted(CASES)).flatmap(
    lambda name: st.tuples(
        st.just(name), st.lists(st.sampled_from(CASES[name][0]), min_size=1, max_size=5)
    )
)


@given(named, st.sampled_from(HARMLESS), st.sampled_from(DUMPS))
def test_each_secret_of_an_array_goes(
    secrets: tuple[str, list[Any]], other: Any, dump: Dump
) -> None:
    name, values = secrets
    redacted = str(redact(dump({"x": other, name: values, "y": other})))

    kind = CASES[name][1]
    kept = [leaf for leaf in leaves(json.loads(redacted)) if not str(leaf).startswith("[redacted")]
    assert kept == leaves([other, other])
    assert redacted.count(f"[redacted:{kind}]") == len(values)
    assert redact(redacted) == redacted


@given(st.sampled_from(PASSWORDS[:5]), st.sampled_from(DUMPS))
def test_a_password_in_an_object_of_its_own_goes(secret: str, dump: Dump) -> None:
    redacted = str(redact(dump({"password": {"value": secret, "length": 8}})))
    assert leaves(json.loads(redacted)) == ["[redacted:credential]", 8]


@pytest.mark.parametrize("number", range(len(ORDINARY)))
def test_what_is_no_secret_stays(number: int) -> None:
    for dump in DUMPS:
        assert redact(dump(ORDINARY[number])) == dump(ORDINARY[number])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "{'passwords': ['hunter2', 'an \\'x\\' y']}",
            "{'passwords': ['[redacted:credential]', 'an \\'x\\' y']}",
        ),
        ('{"passwords": ["a b", "hunter2"', '{"passwords": ["a b", "[redacted:credential]"'),
        ('the "passwords": [90210, oops', 'the "passwords": ["[redacted:credential]", oops'),
        ("see [90210, 4821]", "see [90210, 4821]"),
    ],
)
def test_parts_of_documents(before: str, after: str) -> None:
    assert redact(before) == after
