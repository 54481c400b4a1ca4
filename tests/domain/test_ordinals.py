"""Ordinals: one number for one secret within one session, shown by contexts alone."""

import re

import attrs
import pytest
from contexts import parsed
from domain.redaction_lines import ALPHANUMERIC, Maker
from hypothesis import given
from hypothesis import strategies as st
from sessions import SECRET, session_of, stored

from turnfold.events import cbor
from turnfold.events.context import project
from turnfold.events.errors import CorruptData
from turnfold.events.event import SessionExpired, TurnAdded
from turnfold.events.extras import (
    OFFSET_MAX,
    ORDINALS_MAX,
    decode_extras,
    encode_extras,
    ordinals_before,
    with_ordinals,
)
from turnfold.events.limits import EXTRAS_BYTES_MAX
from turnfold.events.log.frame import MAGIC
from turnfold.events.ordinals import SECRETS_MAX, SESSIONS_MAX, SecretNumbers, numbered
from turnfold.events.reasons import Reason
from turnfold.events.redaction import is_clean, redact
from turnfold.events.sealed import commit, seal
from turnfold.events.turns import AgentResponse, AvatarText, Kind, ToolSummary, Turn

MAKE = Maker(53)
SECRETS = [MAKE.password() for _ in range(4)]
SHOWN = re.compile(r"\[redacted:([a-z]+)(?::([0-9]+))?\]")


def said(secret: str) -> str:
    return f"my password is {secret}"


def with_numbers(turn: Turn, numbers: SecretNumbers, before: list[TurnAdded]) -> TurnAdded:
    """The stored form of the next turn after `before`, with its ordinals."""
    (plain,) = stored([turn], first=2 + len(before))
    marks = turn.text.marks
    extras = with_ordinals(encode_extras(turn), numbers.number(1, before, marks) if marks else ())
    sealed = seal(b"n" * 16, extras + turn.text.encode())
    return attrs.evolve(plain, extras_bytes=len(extras), sealed=sealed, commitment=commit(sealed))


def shown(turns: list[TurnAdded]) -> list[list[tuple[str, str | None]]]:
    """The placeholders of each message, without the notice at the start."""
    messages = project(session_of(turns), None, secret=SECRET).messages
    found = [[match.groups() for match in SHOWN.finditer(m.content)] for m in messages]
    return [[(kind, number) for kind, number in row] for row in found][-len(turns) :]


@given(st.lists(st.tuples(st.sampled_from(SECRETS), st.booleans()), min_size=1, max_size=12))
def test_numbers_are_the_same_exactly_where_secrets_are(said_by: list[tuple[str, bool]]) -> None:
    numbers, turns = SecretNumbers(), list[TurnAdded]()
    for secret, avatar in said_by:
        turn = AvatarText(said(secret)) if avatar else AgentResponse(said(secret))
        turns.append(with_numbers(turn, numbers, turns))

    order = list(dict.fromkeys(secret for secret, _ in said_by))
    expected = [[("credential", str(order.index(secret) + 1))] for secret, _ in said_by]
    assert shown(turns) == expected
    assert all(turn.text is not None and is_clean(turn.text) for turn in turns)


@given(st.lists(st.tuples(st.sampled_from(SECRETS), st.booleans()), min_size=1, max_size=12))
def test_after_a_restart_one_number_still_means_one_secret(
    said_after: list[tuple[str, bool]],
) -> None:
    numbers, turns = SecretNumbers(), list[TurnAdded]()
    meaning: dict[str, str] = {}
    for secret, restarts in said_after:
        numbers = SecretNumbers() if restarts else numbers
        turns.append(with_numbers(AvatarText(said(secret)), numbers, turns))
    for (secret, _), ((_, number),) in zip(said_after, shown(turns), strict=True):
        assert number is not None
        assert meaning.setdefault(number, secret) == secret


def test_each_kind_counts_by_itself_and_a_block_shows_numbers_too() -> None:
    token = "gh" + "p_" + MAKE.run(ALPHANUMERIC, 36)
    numbers, turns = SecretNumbers(), list[TurnAdded]()
    for turn in (
        AvatarText(f"{said(SECRETS[0])} and the token {token}"),
        ToolSummary("login", f"used {token}"),
    ):
        turns.append(with_numbers(turn, numbers, turns))

    assert shown(turns) == [[("credential", "1"), ("token", "1")], [("token", "1")]]
    block = project(session_of(turns), None, secret=SECRET).messages[-1]
    assert parsed(block)["records"][0]["text"] == "used [redacted:token:1]"


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("use [redacted:token:2]", "use [redacted:token]"),
        ("[redacted:token:2:3][redacted:code:01]", "[redacted:token][redacted:code]"),
        ("[redacted:blob:12:3]", "[redacted:blob:12]"),
        ("[redacted:to\x00ken:2]", "[redacted:token]"),
        ("[redacted:token:[redacted:token:2]]", "[redacted:token:[redacted:token]]"),
    ],
)
def test_a_number_that_somebody_types_is_dropped(typed: str, kept: str) -> None:
    assert redact(typed) == kept
    assert not redact(typed).marks
    assert is_clean(kept)
    assert not is_clean(typed)


@pytest.mark.parametrize("typed", ["[redacted:blob:12]", "[redacted:token]", "[redacted:hat:2]"])
def test_what_is_no_number_of_a_placeholder_stays(typed: str) -> None:
    assert redact(typed) == typed


def test_a_placeholder_that_somebody_types_has_no_number() -> None:
    numbers = SecretNumbers()
    turn = AvatarText(f"[redacted:credential] or {said(SECRETS[0])}")
    turns = [with_numbers(turn, numbers, [])]
    assert shown(turns) == [[("credential", None), ("credential", "1")]]


def test_a_budget_counts_the_numbers_and_a_clipped_text_shows_none() -> None:
    turns = [with_numbers(AvatarText(said(SECRETS[0])), SecretNumbers(), [])]
    session = session_of(turns)
    whole = "my password is [redacted:credential:1]"
    for budget, content in ((len(whole), whole), (len(whole) - 1, whole.replace(":1]", "]"))):
        context = project(session, None, secret=SECRET, budget_bytes=budget)
        assert [message.content for message in context.messages] == [content]


def test_sessions_share_no_numbers_and_an_ended_one_is_forgotten() -> None:
    numbers = SecretNumbers()
    first, second = (redact(said(secret)).marks for secret in SECRETS[:2])
    place = first[0].at
    assert numbers.number(1, (), first) == ((place, 1),)
    assert numbers.number(2, (), second) == ((place, 1),)
    assert numbers.number(1, (), second) == ((place, 2),)
    ended = SessionExpired(position=9, at=0, age=0, reason=Reason.EXPIRED_OPERATOR, session=1)
    numbers.forget([ended])
    assert numbers.number(1, (), second) == ((place, 1),)
    assert numbers.number(2, (), second) == ((place, 1),)


def test_what_is_remembered_is_bounded() -> None:
    numbers = SecretNumbers()
    marks = redact(said(SECRETS[0])).marks
    many = tuple(marks[0]._replace(fingerprint=number) for number in range(SECRETS_MAX + 1))
    given_numbers = [numbers.number(1, (), (mark,)) for mark in many]
    assert given_numbers[-2:] == [((marks[0].at, SECRETS_MAX),), ()]
    assert numbers.number(1, (), many[:1]) == ((marks[0].at, 1),)

    for session in range(2, SESSIONS_MAX + 2):
        numbers.number(session, (), marks)
    assert numbers.number(1, (), many[5:6]) == ((marks[0].at, 1),)  # used longest ago, forgotten


def test_one_text_has_so_many_numbers_and_only_where_there_is_room() -> None:
    tokens = ["gh" + "p_" + MAKE.run(ALPHANUMERIC, 36) for _ in range(ORDINALS_MAX + 2)]
    text = redact(" ".join(tokens))
    assert len(text.marks) > ORDINALS_MAX
    given_numbers = SecretNumbers().number(1, (), text.marks)
    assert len(given_numbers) == ORDINALS_MAX

    far = text.marks[0]._replace(at=0xFDFF)
    assert SecretNumbers().number(1, (), (far,)) == ()

    full = cbor.encode(["n" * (EXTRAS_BYTES_MAX - 8)])
    assert with_ordinals(full, given_numbers) == full


@given(st.lists(st.tuples(st.integers(0, OFFSET_MAX), st.integers(1, 999)), max_size=ORDINALS_MAX))
def test_ordinals_come_back_and_those_before_a_change_stay(pairs: list[tuple[int, int]]) -> None:
    ordinals = tuple(sorted(dict(pairs).items()))
    for turn in (AvatarText("x"), AgentResponse("x", call_ids=("a", "b")), ToolSummary("t", "x")):
        names = encode_extras(turn)
        extras = with_ordinals(names, ordinals)
        assert decode_extras(turn.kind, extras).ordinals == ordinals
        assert MAGIC not in extras  # what a person types can't make a frame's header
        assert decode_extras(turn.kind, extras).call_ids == turn_call_ids(turn)
        assert ordinals_before(extras, 0) == names
        kept = decode_extras(turn.kind, ordinals_before(extras, 5000)).ordinals
        assert kept == tuple(pair for pair in ordinals if pair[0] < 5000)


def turn_call_ids(turn: Turn) -> tuple[str, ...]:
    return turn.call_ids if isinstance(turn, AgentResponse) else ()


@pytest.mark.parametrize(
    "items", [[[]], [[1]], [[5, 1, 5, 2]], [[5, 1, 4, 2]], [[5, 0]], [[-1, 1]], [["5", 1]], [[], 1]]
)
def test_ordinals_of_a_wrong_form_are_refused(items: list[object]) -> None:
    with pytest.raises(CorruptData):
        decode_extras(Kind.AVATAR, cbor.encode(items))


def test_a_number_stands_only_where_a_placeholder_does() -> None:
    assert numbered("no placeholder", ((3, 1),)) == "no placeholder"
    assert numbered("[redacted:blob:40] x", ((0, 2), (99, 3))) == "[redacted:blob:40:2] x"


def test_no_repr_tells_a_fingerprint() -> None:
    (mark,) = redact(said(SECRETS[0])).marks
    assert str(mark.fingerprint) not in repr(mark)
