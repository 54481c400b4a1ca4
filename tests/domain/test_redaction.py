"""What `redact` takes, what it answers, and that nothing else makes a `RedactedText`."""

import copy
import pickle

import pytest
from domain.redaction_lines import Maker

from turnfold.events.errors import InvalidInput, TextTooLarge
from turnfold.events.redaction import (
    INPUT_BYTES_MAX,
    KINDS,
    PLACEHOLDER,
    RULESET_VERSION,
    RedactedText,
    clip,
    from_storage,
    is_clean,
    redact,
)

PASSWORD = Maker(3).password()
LINE = f"my password is {PASSWORD} ok?"


def test_a_redacted_text_is_the_text_with_typed_placeholders() -> None:
    text = redact(LINE)
    assert text == "my password is [redacted:credential] ok?"
    assert text.redactions == (("credential", 1),)
    assert text.byte_count == len(text.encode())
    assert text.truncated_from is None
    assert text.replaced == 0


def test_redacting_twice_changes_nothing_and_costs_nothing() -> None:
    once = redact(LINE)
    assert redact(once) is once
    again = redact(str(once))
    assert again == once
    assert again.redactions == ()


def test_placeholders_that_a_user_typed_stay_and_do_not_count() -> None:
    text = redact(f"[redacted:jwt] and {LINE} [redacted:nonsense]")
    assert text.startswith("[redacted:jwt] and my password is [redacted:credential]")
    assert text.redactions == (("credential", 1),)


def test_redactions_are_counted_by_kind_in_order() -> None:
    uuid = Maker(4).uuid()
    text = redact(f"{LINE}\nsession_id={uuid}\npwd: {Maker(5).password()}")
    assert text.redactions == (("credential", 2), ("session", 1))


@pytest.mark.parametrize("value", [None, 7, b"bytes", ["text"], object()])
def test_only_strings_are_redacted(value: object) -> None:
    with pytest.raises(InvalidInput, match=type(value).__name__):
        redact(value)  # type: ignore[arg-type]  # the point of the test


def test_a_string_that_lies_about_itself_is_redacted_by_its_characters() -> None:
    class Liar(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "nothing to see"

        def __len__(self) -> int:
            return 0

    assert redact(Liar(LINE)) == redact(LINE)


def test_the_input_cap_counts_bytes_and_is_exact() -> None:
    assert redact("ä" * (INPUT_BYTES_MAX // 2)).byte_count == INPUT_BYTES_MAX
    for text in ("a" * (INPUT_BYTES_MAX + 1), "ä" * (INPUT_BYTES_MAX // 2) + "a"):
        with pytest.raises(TextTooLarge):
            redact(text)


def test_an_error_never_shows_the_text() -> None:
    with pytest.raises(TextTooLarge) as caught:
        redact(LINE * INPUT_BYTES_MAX)
    assert PASSWORD not in str(caught.value)
    with pytest.raises(InvalidInput) as refused:
        from_storage(LINE)
    assert PASSWORD not in str(refused.value)


def test_lone_surrogates_become_replacement_characters_and_are_counted() -> None:
    text = redact("a\ud83db\udc00c")
    assert text == "a\ufffdb\ufffdc"
    assert text.replaced == 2
    assert redact("😀").replaced == 0


def test_control_characters_go_except_newline_and_tab() -> None:
    controls = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
    assert redact(f"a{controls}b") == "a\t\nb"
    assert redact("line one\r\nline two") == "line one\nline two"


def test_control_characters_hide_nothing() -> None:
    assert PASSWORD not in redact(LINE.replace("word", "w\x00o\x1brd"))


class TestTheConstructorIsClosed:
    def test_calling_it_is_refused(self) -> None:
        for arguments in ((), ("text",)):
            with pytest.raises(TypeError, match="redact"):
                RedactedText(*arguments)

    def test_it_has_no_subclasses(self) -> None:
        with pytest.raises(TypeError):
            type("Loose", (RedactedText,), {})

    def test_a_forged_one_is_redacted_like_any_string(self) -> None:
        forged = str.__new__(RedactedText, LINE)
        assert PASSWORD not in redact(forged)
        assert not is_clean(forged)
        with pytest.raises(InvalidInput):
            from_storage(forged)
        with pytest.raises(InvalidInput):
            clip(forged, 10)

    def test_it_cannot_be_pickled(self) -> None:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="pickled"):
                pickle.dumps(redact(LINE), protocol)

    def test_a_copy_is_itself(self) -> None:
        text = redact(LINE)
        assert copy.copy(text) is text
        assert copy.deepcopy([text])[0] is text

    def test_it_cannot_be_changed(self) -> None:
        text = redact(LINE)
        for name in ("redactions", "byte_count", "anything"):
            with pytest.raises(AttributeError):
                setattr(text, name, 0)
            with pytest.raises(AttributeError):
                delattr(text, name)

    def test_operations_give_plain_strings(self) -> None:
        text = redact("hello there")
        for result in (text + "!", text[:5], text.upper(), str(text), f"{text}"):
            assert type(result) is str

    def test_repr_shows_only_the_length(self) -> None:
        assert repr(redact("hello there")) == "<RedactedText of 11 characters>"


def test_only_a_fixed_point_comes_back_from_storage() -> None:
    stored = str(redact(LINE))
    text = from_storage(stored)
    assert text == stored
    assert text.redactions == ()
    assert redact(text) is text
    for unclean in (LINE, "a\x00b", "a\ud800"):
        assert not is_clean(unclean)
        with pytest.raises(InvalidInput):
            from_storage(unclean)


def test_a_text_over_the_cap_is_not_clean() -> None:
    assert not is_clean("a" * (INPUT_BYTES_MAX + 1))


def test_a_payload_leaves_its_size() -> None:
    value = Maker(6).run("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 200)
    uri = f"data:image/png;base64,{value}"
    assert redact(f"see {uri} cute") == f"see [redacted:blob:{len(uri)}] cute"


def test_text_that_costs_more_than_chat_does_goes_as_a_whole() -> None:
    text = redact("x the password is " * 10_000)
    assert text == "[redacted:text]"
    assert text.redactions == (("text", 1),)


def test_the_kinds_and_the_version_are_published() -> None:
    assert RULESET_VERSION == 1
    assert len(set(KINDS)) == len(KINDS)
    for kind in KINDS:
        assert PLACEHOLDER.fullmatch(f"[redacted:{kind}]")
    for loose in ("[redacted:]", "[redacted:other]", "[REDACTED:jwt]", "[redacted:jwt:12]"):
        assert not PLACEHOLDER.fullmatch(loose)


class TestClip:
    def test_a_text_within_the_bound_is_itself(self) -> None:
        text = redact(LINE)
        assert clip(text, text.byte_count) is text

    def test_it_cuts_between_characters(self) -> None:
        assert clip(redact("aäöü"), 4) == "aä"
        assert clip(redact("👍👍"), 7) == "👍"

    def test_a_placeholder_goes_whole_or_not_at_all(self) -> None:
        text = redact(LINE)
        start = text.index("[")
        end = text.index("]") + 1
        for bound in range(start, end):
            clipped = clip(text, bound)
            assert clipped == text[:start]
            assert clipped.redactions == ()
        assert clip(text, end) == text[:end]
        assert clip(text, end).redactions == (("credential", 1),)

    def test_it_tells_how_long_the_text_was(self) -> None:
        text = redact("abcdefghij")
        once = clip(text, 8)
        assert once.truncated_from == 10
        assert clip(once, 4).truncated_from == 10

    def test_what_a_cut_makes_look_like_a_secret_is_redacted(self) -> None:
        make = Maker(8)
        # A hash of public content, until the cut takes its end off.
        digest = make.run("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 86)
        text = redact(f"integrity sha512-{digest}== is right")
        assert digest in text
        for bound in range(30, text.byte_count):
            clipped = clip(text, bound)
            assert is_clean(str(clipped))
            assert clipped.byte_count <= bound

    def test_nothing_fits_into_nothing(self) -> None:
        assert clip(redact("hello"), 0) == ""

    def test_bad_arguments_are_refused(self) -> None:
        with pytest.raises(InvalidInput):
            clip(redact("hello"), -1)
        with pytest.raises(InvalidInput):
            clip("hello", 3)  # type: ignore[arg-type]  # the point of the test
