"""The cost of redaction grows with the text and no faster, counted in operations, not in time."""

from types import FrameType

import pytest
from watching import watching

from turnfold.events.redaction import redact
from turnfold.events.redaction_search import TooMuchWork, Work, find, work_limit

# Repeated, each of these once made some redactor slower than linear.
ATTACKS: tuple[str, ...] = (
    "a", "A1", "-", "_", " ", "\t", "\n", "=", "+/", "0", "0a", ":", "/", ".", "%41", "&#47;",
    "\\u0041", '"', "'", "@", "://", "http://", "http://a@", "?a=", "&token=", "#", "[redacted:",
    "[redacted:cap]", "/cap/", "session_id=", "secret", "secret_a", "token is ", "key", "key=",
    "key: ", "password", "password ", "password: ", "password is ", "pass x ", "pw'", "pwd=",
    "use x as password ", "bearer ", "basic ", "authorization: ", "cookie: a=bbbbbbb; ", "curl -u",
    "-----BEGIN ", "-----", "eyJaaaaaaaa.", "sk-", "live_", "data:a/b,", "0a:", "12345678:AA",
    "one-time code ", "code 1", "pin is ", "sid=", "\u200b", "é", "Ａ", "\u0430a", "密码是", "> \n",
    "aaaaaaaA1\n", "a b c d e f ", "$1$", "login x y1 ", "adobe=a1b2c3d4e5f6 ", "4111 ", "seed is ",
    "gate is 4471, ", "its sunfl0wer with a zero ", "say cheese and knock ", "one two three pin ",
    "left 31 right 7 safe ", "secret word: aa bb ", "'abc' all caps ", "security question A ",
    '"pw":[', '"pw":["a1",', '"pw":{"a":', '"passwords": [1234, ', '"pins":["', "\\", '["a", ',
    "pw for the door is ", "wifi: 'a' / bb ", "say /7 door ", "connect a bb' ", "pw (aa ",
    "today's is aa wifi ", "right to 3, left to 4, safe ", "a@1.2.3.4, ", "login: a / bb ",
    "when it asks say bb, ",
)  # fmt: skip


def operations(text: str) -> int:
    """How many Python and C functions a redaction of `text` calls."""
    count = 0

    def tick(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    with watching(tick):
        redact(text)
    return count


def repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


@pytest.mark.parametrize("number", range(len(ATTACKS)))
def test_twice_the_text_costs_at_most_twice_the_operations(number: int) -> None:
    small, large = (operations(repeated(ATTACKS[number], size)) for size in (1_000, 4_000))
    assert large <= 4 * small + 2_000


@pytest.mark.parametrize("number", range(len(ATTACKS)))
def test_the_work_of_one_search_is_bounded_by_the_length(number: int) -> None:
    text = repeated(ATTACKS[number], 3_000).replace("\x00", "")
    work = Work(work_limit(len(text)))
    try:
        find(text, work)
    except TooMuchWork:
        assert redact(text) == "[redacted:text]"
    assert work.spent <= work.limit + 10


def test_the_limit_is_linear() -> None:
    assert work_limit(60_000) - work_limit(30_000) == work_limit(90_000) - work_limit(60_000)
