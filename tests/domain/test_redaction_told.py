"""Told passwords and codes are found by evidence, and no single piece of it is enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.redaction import redact
from turnfold.events.redaction_links import LINKS
from turnfold.events.redaction_topics import TOPICS

NUMBER = f"{44}{71}"
MADE_UP = f"wolfpack{77}"
RANDOM = f"xK{9}#vP{2}q"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"the safe in room 12 takes {NUMBER}", NUMBER),
        (f"il codice per il cancello? {NUMBER} e poi cancelletto", NUMBER),
        (f"blue door, keypad, {'-'.join(NUMBER)}, push hard", "-".join(NUMBER)),
        ("for the locker it's four four seven one", "four seven one"),
        ("the wheel of the safe: 31 left, 7 right, 22 left", "7 right"),
        (f"everyone in the clan uses {MADE_UP} to get on teamspeak", MADE_UP),
        (f"({MADE_UP} opens it) <- the encrypted pdf", MADE_UP),
        (f"write this down: {RANDOM}. that's for the portal", RANDOM),
        ("just knock and say the magic word, aubergine", "aubergine"),
        ("psst the door opens if you whisper nightingale to the guard", "nightingale"),
        ("кодовое слово одуванчик, скажешь охраннику", "одуванчик"),
        ("pw 4 the club door is marmalade lol dont tell", "marmalade"),
        ("I gave her the mod password (marmalade) because she asked", "marmalade"),
        ("password 👉 marmalade", "marmalade"),
        ("the invite needs a passcode. MARMALADE all caps", "MARMALADE"),
        ("so log in as guest with marmalade and go to the back room", "marmalade"),
        ("when it asks, type marmalade", "marmalade"),
        ("new wifi! network Attic, key is marmalade", "marmalade"),
        ("ask for the wifi, today's is marmalade", "marmalade"),
        ("/connect mud.example then 'connect ada marmalade'", "marmalade"),
        (f"tell the sitter {NUMBER} disarms it", NUMBER),
        (f"the shop till opens w {' '.join(NUMBER)}", " ".join(NUMBER)),
    ],
)
def test_a_topic_a_link_and_a_form_together_are_enough(text: str, secret: str) -> None:
    assert secret not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        # no topic
        f"it takes {NUMBER} to fill it",
        f"everyone likes {MADE_UP} a lot",
        # no link
        f"the safe in room {NUMBER} is broken",
        f"user {MADE_UP} can't log in to the network",
        # no form
        "the safe takes forever to open",
        "the code word thing is so silly",
        # what the number counts
        f"the keypad has {NUMBER} keys and the door {NUMBER} screws",
        "exit code 1045 whenever the gate script runs",
        # other things
        "the password (it's optional) is ignored",
        "log in with google or discord",
        "log in as admin with firefox",
        "forgot my password, hilarious",
        "season pass is 39.99, not worth it imo",
        "please connect player two",
        "when it asks, enter your username",
        "mot de passe oublié",
        "the gate closes at 2200, the key is under the mat",
        "all lowercase please, no spaces in file names",
    ],
)
def test_two_of_the_three_are_not(text: str) -> None:
    assert redact(text) == text


def test_data_and_documents_are_not_read_as_messages() -> None:
    assert (
        redact(f'{{"door": "hall", "takes": {NUMBER}}}') == f'{{"door": "hall", "takes": {NUMBER}}}'
    )
    prose = f"the safe takes {NUMBER}. " + "and so on it went for years. " * 120
    assert redact(prose) == prose


pieces = st.sampled_from(
    [phrase for phrase, _ in TOPICS]
    + sorted(LINKS)
    + [
        NUMBER,
        MADE_UP,
        RANDOM,
        "aubergine",
        '"blue moon"',
        "Lada Niva",
        ",",
        ":",
        "?",
        "…",
        "-",
        "\n",
    ]
)


@given(st.lists(pieces, max_size=14))
def test_what_is_told_is_found_at_once(parts: list[str]) -> None:
    redacted = str(redact(" ".join(parts)))

    assert redacted != "[redacted:text]"
    assert redact(redacted) == redacted
