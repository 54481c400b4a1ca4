"""Properties of redaction for texts that nobody thought of."""

from domain.redaction_lines import ORDINARY_LINES, secret_lines
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.redaction import PLACEHOLDER, RedactedText, clip, is_clean, redact

LINES = tuple(secret_lines())

glue = st.sampled_from(
    [" ", "\n", ", ", "; ", "\t", " | ", "\n> ", "。", ' "', "=", ":", "", "\\", "%20", "&#32;"]
)
scraps = st.sampled_from(
    [
        "[redacted:", "[redacted:cap]", "[redacted:x]", "[redacted:blob:12]",
        "[redacted:token:2]", ":7]", "password ",
        "password: ", "is ", "key=", "token ", "http://", "a:b@", "?token=", "%41", "\\u0041",
        "\u200b", "\u202e", "é", "\u0301", "密码", "Ａ", "\x00", "\ud800", "👩‍👩‍👧",
        "p a s s w o r d ", "-----BEGIN ", "eyJ", "sk-", "0a ", "&amp;", "=\n", "\u0430",
    ]
)  # fmt: skip
pieces = st.one_of(
    scraps,
    glue,
    st.sampled_from(ORDINARY_LINES),
    st.sampled_from([line.text for line in LINES]),
    st.text(max_size=12),
    st.text(alphabet="ab1 =:/.-_'\"%&@[]\n", max_size=40),
)
texts = st.one_of(st.text(), st.lists(pieces, max_size=9).map("".join))


@given(texts)
def test_a_redacted_text_is_a_fixed_point(text: str) -> None:
    once = redact(text)
    assert redact(str(once)) == once
    assert is_clean(str(once))
    assert not redact(str(once)).redactions


@given(texts)
def test_what_was_counted_stands_in_the_text(text: str) -> None:
    once = redact(text)
    assert once.byte_count == len(once.encode())
    assert sum(count for _, count in once.redactions) == len(once.marks)
    for mark in once.marks:
        match = PLACEHOLDER.match(once, mark.at)
        assert match is not None
        assert match.group().startswith(f"[redacted:{mark.kind}")


@given(texts)
def test_a_text_is_clean_exactly_if_it_stays_as_it_is(text: str) -> None:
    assert is_clean(text) == (redact(text) == text)


@given(texts, st.integers(0, 200))
def test_a_clipped_text_is_a_fixed_point_within_its_bound(text: str, bound: int) -> None:
    whole = redact(text)
    clipped = clip(whole, bound)
    assert type(clipped) is RedactedText
    assert clipped.byte_count == len(clipped.encode()) <= max(bound, 0)
    assert is_clean(str(clipped))
    if whole.byte_count > bound:
        assert clipped.truncated_from == whole.byte_count


@given(st.sampled_from(LINES), st.sampled_from(ORDINARY_LINES), st.sampled_from(["\n", "\n\n"]))
def test_a_line_with_a_secret_loses_it_whatever_comes_before(
    line: object, before: str, separator: str
) -> None:
    assert line in LINES
    secret = next(known for known in LINES if known is line)
    assert secret.secret not in redact(f"{before}{separator}{secret.text}")


@given(st.lists(pieces, max_size=6).map("".join))
def test_redaction_only_replaces(text: str) -> None:
    # Outside placeholders nothing appears that wasn't there, and in the same order.
    once = redact(text)
    rest = iter(text.replace("\ud800", "\ufffd"))
    for char in PLACEHOLDER.sub("", str(once)):
        assert char in rest
