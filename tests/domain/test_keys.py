"""Keys: every spelling of a UUID is one key, anything else is refused."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.errors import InvalidKey
from turnfold.events.keys import Channel, ConversationKey, pseudonym


def spellings(value: uuid.UUID) -> list[str]:
    """The ways in which grids and tools write a UUID."""
    text = str(value)
    forms = [text, text.replace("-", ""), "{" + text + "}", "urn:uuid:" + text]
    return forms + [form.upper() for form in forms]


@given(st.uuids())
def test_every_spelling_gives_one_key(value: uuid.UUID) -> None:
    """Case, braces, urn: and hyphens don't matter."""
    expected = ConversationKey(value, Channel.PUBLIC_CHAT)

    assert {ConversationKey(form, "public_chat") for form in spellings(value)} == {expected}


@pytest.mark.parametrize(
    "value",
    [
        "",
        "1",
        1,
        b"0" * 16,
        None,
        "{00000000-0000-0000-0000-000000000001",
        "00000000-0000-0000-0000-000000000001}",
        "0000000000000000-0000-0000-0000-00000001",
        "00000000-0000-0000-0000-00000000000g",
        "00000000-0000-0000-0000-000000000001\n",
        "\N{FULLWIDTH DIGIT ZERO}" * 32,
        "../etc/passwd",
        "0" * 31,
        "0" * 33,
        "0" * 300,
        "CON",
        "a\0b",
    ],
)
def test_anything_else_is_refused_without_being_quoted(value: object) -> None:
    """The message never repeats what was passed."""
    with pytest.raises(InvalidKey) as refused:
        ConversationKey(value, Channel.DIRECT_IM)

    assert not isinstance(value, str) or len(value) < 3 or value not in str(refused.value)


@pytest.mark.parametrize("channel", ["group", "PUBLIC_CHAT", "", None, 0, "conference"])
def test_only_two_channels_exist(channel: object) -> None:
    """Group and conference chat can't be represented."""
    with pytest.raises(InvalidKey, match="public_chat or direct_im"):
        ConversationKey(uuid.UUID(int=1), channel)


def test_a_pseudonym_depends_on_the_stores_secret() -> None:
    """The same avatar has unrelated pseudonyms in two stores."""
    avatar = uuid.UUID(int=7)

    assert pseudonym(b"a" * 32, avatar) != pseudonym(b"b" * 32, avatar)
    assert len(pseudonym(b"a" * 32, avatar)) == 16
