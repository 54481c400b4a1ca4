"""Secrets in structured text: the value goes, the document stays one, the rest of it is kept."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from turnfold.events.redaction import redact

CODE_NAMES = (
    "pin PIN user_pin atm-pin pinCode pin_code otp newOtp otp_code mfa mfa_code totp 2fa_code"
    " verification_code securityCode access_code login_code sms_code one_time_code door_code"
    " alarm-code backup_code"
).split()
CARD_NAMES = ["cvv", "CVV", "cvc", "cvv2", "card_cvv", "card_security_code"]
HARMLESS: dict[str, list[Any]] = {
    "pin_count": [4, 4821],
    "status_code": [404, "404"],
    "code": ["404", 200],
    "error_code": [1045, "1045"],
    "pinned": [True],
    "password": [None, True, False],
    "spinner": [4821],
    "shipping": ["4821"],
    "gpio_pin": [1024],
    "zip_code": ["90210"],
    "opcode": [1337],
    "year": [2026],
}

codes = st.integers(1000, 99_999_999)
card_codes = st.integers(100, 9999)
secrets = st.one_of(
    st.tuples(st.sampled_from(CODE_NAMES), st.one_of(codes, codes.map(str))),
    st.tuples(st.sampled_from(CARD_NAMES), st.one_of(card_codes, card_codes.map(str))),
    st.tuples(st.sampled_from(["password", "db_password"]), st.integers(10_000_000, 99_999_999)),
)
harmless = st.sampled_from(sorted(HARMLESS)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(HARMLESS[name]))
)
Dump = Callable[[Any], str]
DUMPS: tuple[Dump, ...] = (
    json.dumps,
    lambda value: json.dumps(value, separators=(",", ":")),
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps({"arguments": json.dumps(value)}),
    lambda value: json.dumps([{"deep": {"er": value}}], ensure_ascii=False),
)


def leaves(value: Any) -> list[Any]:
    """All values of a document that are no objects or lists, those in JSON strings, too."""
    kind = value.__class__.__name__
    if kind in ("dict", "list"):
        parts: Any = value.values() if kind == "dict" else value
        return [leaf for part in parts for leaf in leaves(part)]
    if isinstance(value, str) and value.startswith(("{", "[{")):
        return leaves(json.loads(value))
    return [value]


# The value of the first name ended behind the second one, which was passed over.
@example(("db_password", 10000000), [("password", None)], DUMPS[0], False)
@example(("db_password", 10000000), [("password", None)], DUMPS[1], False)
# The first code's name reached over its placeholder to the next value.
@example(("alarm-code", 1000), [("gpio_pin", 1024)], DUMPS[1], True)
@given(secrets, st.lists(harmless, max_size=4), st.sampled_from(DUMPS), st.booleans())
def test_a_named_code_goes_and_the_document_stays_one(
    secret: tuple[str, Any], others: list[tuple[str, Any]], dump: Dump, first: bool
) -> None:
    name, value = secret
    kept = {key: other for key, other in others if key != name}
    document = {name: value, **kept} if first else {**kept, name: value}

    redacted = str(redact(dump(document)))

    left = leaves(json.loads(redacted))
    assert [leaf for leaf in left if not str(leaf).startswith("[redacted:")] == list(kept.values())
    assert len(left) == len(document)
    assert redact(redacted) == redacted


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_looks_like_such_a_name_stays(name: str) -> None:
    for value in HARMLESS[name]:
        for text in (json.dumps({name: value}), str({name: value})):
            assert redact(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{'pin': '4821'}", "{'pin': '[redacted:code]'}"),
        ("{'pin': 4821}", "{'pin': '[redacted:code]'}"),
        ('{"password": 4821}', '{"password": "[redacted:credential]"}'),
        ('[{"password": 4821}, 5]', '[{"password": "[redacted:credential]"}, 5]'),
        ('{"otp":"G-482913"}', '{"otp":"G-[redacted:code]"}'),
        ('the "pin": 4821 is', 'the "pin": [redacted:code] is'),
    ],
)
def test_quotes_and_brackets_around_a_value_are_kept_and_given_to_one_that_has_none(
    before: str, after: str
) -> None:
    assert redact(before) == after
