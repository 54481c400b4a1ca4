"""Folded views of a text: what a reader, a browser or a decoder would make of it.

The text itself is never normalised. A view is a string together with a map back to the
original positions, so that what is found in the view is cut out of the text.

Views: compatibility-folded without format characters (Unicode NFKC, UAX 15); percent, HTML and
JSON escapes decoded, three rounds at most; lines joined where a token was wrapped; long gaps
squeezed; look-alike letters (UTS 39) read as Latin; s p a c e d letters closed up. Each is linear.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

MASK = "\x00"
"""Stands for every character of a placeholder in a view; no sanitised text holds it."""

UNESCAPE_ROUNDS = 3


class View:
    """A folded text. `starts` and `ends` map its positions to the original; None is identity."""

    __slots__ = ("ends", "starts", "text")

    def __init__(
        self, text: str, starts: Sequence[int] | None = None, ends: Sequence[int] | None = None
    ) -> None:
        self.text = text
        self.starts = starts
        self.ends = ends

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original range behind the view's non-empty range `start`..`end`."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def maps(self, start: int, end: int) -> tuple[Sequence[int], Sequence[int]]:
        """The two maps of a part."""
        if self.starts is None or self.ends is None:
            return range(start, end), range(start + 1, end + 1)
        return self.starts[start:end], self.ends[start:end]


class _Builder:
    """Collects the parts of a new view of `view`."""

    __slots__ = ("_ends", "_parts", "_starts", "_view")

    def __init__(self, view: View) -> None:
        self._view = view
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []

    def keep(self, start: int, end: int) -> None:
        """Take over a part as it is."""
        starts, ends = self._view.maps(start, end)
        self._parts.append(self._view.text[start:end])
        self._starts.extend(starts)
        self._ends.extend(ends)

    def put(self, char: str, start: int, end: int) -> None:
        """One character in place of the part `start`..`end`."""
        first, last = self._view.span(start, end)
        self._parts.append(char)
        self._starts.append(first)
        self._ends.append(last)

    def build(self) -> View:
        """The finished view."""
        return View("".join(self._parts), self._starts, self._ends)


# --- compatibility folding -----------------------------------------------------------------

# Default-ignorable characters that are not of category Cf: joiners, fillers, variation selectors.
_IGNORABLE = frozenset(
    chr(code)
    for low, high in (
        (0x034F, 0x034F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xE0100, 0xE01EF),
    )
    for code in range(low, high + 1)
)


class _FoldTable(dict[str, str]):
    """Character to folded form, filled as characters are met (bounded by Unicode itself)."""

    def __missing__(self, char: str) -> str:
        if char in _IGNORABLE or unicodedata.category(char) == "Cf":
            folded = ""
        else:
            folded = unicodedata.normalize("NFKC", char)
            if len(folded) > 4:  # a ligature that is a whole phrase hides no token
                folded = char
        self[char] = folded
        return folded


_FOLD = _FoldTable({chr(code): chr(code) for code in range(128)})
_ASCII = bytes(range(128))


def outside_ascii(text: str) -> str:
    """The characters of `text` that aren't ASCII."""
    raw = text.encode("utf-8", "surrogatepass")  # a byte below 128 is part of no other character
    return raw.translate(None, _ASCII).decode("utf-8", "surrogatepass")


def folded(text: str) -> View:
    """`text` without format characters, each character in its compatibility form."""
    if text.isascii():
        return View(text)
    odd = outside_ascii(text)
    # Format characters aren't printable; what holds of all of them together holds of each.
    if odd.isprintable() and _IGNORABLE.isdisjoint(odd) and unicodedata.is_normalized("NFKC", odd):
        return View(text)
    forms = list(map(_FOLD.__getitem__, text))
    result = "".join(forms)
    if result == text:
        return View(text)
    if len(result) == len(text) and "" not in forms:
        return View(result)
    starts = [place for place, form in enumerate(forms) for _ in form]
    return View(result, starts, [place + 1 for place in starts])


# --- escapes -----------------------------------------------------------------------------------

_ESCAPE = re.compile(
    r"%(?P<percent>[0-9A-Fa-f]{2})"
    r"|&(?P<entity>\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});"
    r"|\\(?:u(?P<four>[0-9A-Fa-f]{4})|x(?P<two>[0-9A-Fa-f]{2})|(?P<slash>[/_\-\"'\\n]))",
    re.ASCII,
)


def _utf8(raw: list[int]) -> tuple[str, int]:
    """The first character that the bytes spell, and how many of them it takes ("" for none)."""
    for size in range(1, min(4, len(raw)) + 1):  # the shortest that decodes is one character
        try:
            return bytes(raw[:size]).decode(), size
        except UnicodeDecodeError:
            continue
    return "", 1


def _decode(matches: list[re.Match[str]], at: int) -> tuple[str, int]:
    """The character at escape `at` and how many escapes it takes; "" where it is none."""
    match = matches[at]
    if match["percent"]:
        raw = [int(match["percent"], 16)]
        follow = at + 1
        while (
            raw[0] >= 0x80
            and len(raw) < 4
            and follow < len(matches)
            and matches[follow]["percent"]
            and matches[follow].start() == matches[follow - 1].end()
        ):
            raw.append(int(matches[follow]["percent"], 16))
            follow += 1
        return _utf8(raw)
    if match["entity"]:
        char = html.unescape(f"&{match['entity']};")
    elif match["slash"]:
        char = "\n" if match["slash"] == "n" else match["slash"]
    else:
        char = chr(int(match["four"] or match["two"], 16))
    return (char, 1) if len(char) == 1 else ("", 1)


def unescaped(view: View) -> View | None:
    """One round of percent, entity and backslash decoding, or None where there is none.

    What is decoded is folded like the rest.
    """
    text = view.text
    if "%" not in text and "&" not in text and "\\" not in text:
        return None
    matches = list(_ESCAPE.finditer(text))
    if not matches:
        return None
    builder = _Builder(view)
    done = at = 0
    while at < len(matches):
        char, used = _decode(matches, at)
        if char and char != MASK and not "\ud800" <= char <= "\udfff":
            start, end = matches[at].start(), matches[at + used - 1].end()
            builder.keep(done, start)
            for form in _FOLD[char]:
                builder.put(form, start, end)
            done = end
        at += used
    if not done:
        return None
    builder.keep(done, len(text))
    return builder.build()


# --- gaps: wrapped lines, long blanks, spaced letters ------------------------------------------

_BREAK = re.compile(r"(?P<soft>[=\\]?)[ \t]{0,8}\n(?:[ \t]{0,8}>){0,4}[ \t]{0,16}")
_BEFORE_BREAK = re.compile(r"[A-Za-z0-9_+/=.%~:\-]{6}", re.ASCII)
_AFTER_BREAK = re.compile(r"[A-Za-z0-9_+/=.%~\-]{1,256}+", re.ASCII)
_BLANKS = re.compile(r"[ \t\u00a0]{4,}+")
_SPACED = re.compile(r"(?<!\S)\S(?: \S(?!\S)){5,}+")


def _cut(view: View, cuts: Iterator[tuple[int, int]]) -> View | None:
    """The view without the given ranges, or None where there are none."""
    builder = _Builder(view)
    done = 0
    for start, end in cuts:
        builder.keep(done, start)
        done = end
    if not done:
        return None
    builder.keep(done, len(view.text))
    return builder.build()


def _wrapped_breaks(text: str, continues: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    done = 0
    for match in _BREAK.finditer(text):
        start, end = match.span()
        if start - 6 < done or not _BEFORE_BREAK.fullmatch(text, start - 6, start):
            continue
        after = _AFTER_BREAK.match(text, end)
        if after and (match["soft"] or continues(after.group())):
            yield start, end
            done = end


def joined(view: View, continues: Callable[[str], bool]) -> View | None:
    """Line breaks removed where a token goes on: `continues` judges the run after a break."""
    return _cut(view, _wrapped_breaks(view.text, continues)) if "\n" in view.text else None


def squeezed(view: View) -> View | None:
    """Four or more blanks (or any tab) become one, so that bounded gaps in rules suffice."""
    if "    " not in view.text and "\t" not in view.text and "\u00a0" not in view.text:
        return None
    return _cut(view, ((m.start() + 1, m.end()) for m in _BLANKS.finditer(view.text)))


def closed_up(view: View) -> View | None:
    """`p a s s` read as `pass`: six or more single characters with one blank between."""
    if not _SPACED.search(view.text):
        return None
    return _cut(view, _spaced_blanks(view.text))


def _spaced_blanks(text: str) -> Iterator[tuple[int, int]]:
    for match in _SPACED.finditer(text):
        for blank in range(match.start() + 1, match.end(), 2):
            yield blank, blank + 1


# --- look-alikes -------------------------------------------------------------------------------

_LOOKALIKES = {
    ord(char): latin
    for chars, latins in (
        # Cyrillic
        ("аеорсухіјѕԁԛԝһӏкмтпгвьАВЕКМНОРСТУХІЈЅԚԜҺ", "aeopcyxijsdqwhlkmtnrvbABEKMHOPCTYXIJSQWH"),
        # Greek
        ("ανικρυοτεηΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "avikpuotenABEZHIKMNOPTYX"),
        # Armenian
        ("օսոհցզյքՕՍԼ", "ounhgqjpOUL"),
        # Cherokee
        ("ᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᏀᏃᏎᏔᏚᏞᏟᏢᏦᏴ", "DRTiAJEWMHGZ4WSLCPKB"),
        # Latin letters with their own code points
        ("ıȷɑɡɩɪʟɴʀʏᴀᴄᴅᴇᴋᴍᴏᴘᴛᴜᴠᴡᴢꜱøđłħ", "ijagiilnryacdekmoptuvwzsodlh"),
    )
    for char, latin in zip(chars, latins, strict=False)
}
_LOOKALIKE = re.compile("[" + "".join(map(chr, _LOOKALIKES)) + "]")
_COMBINING = re.compile("[\u0300-\u036f]+")
_MIXED_WORD = re.compile(
    "[" + "".join(map(chr, _LOOKALIKES)) + "](?:(?<=[A-Za-z0-9_].)|(?=[A-Za-z0-9_]))"
)
_DISGUISES = frozenset(chr(code) for code in (*_LOOKALIKES, *range(0x300, 0x370)))
_DISGUISES_IN_LOWER_CASE = _DISGUISES | {low for char in _DISGUISES for low in char.lower()}


def latinised(view: View, odd: frozenset[str]) -> View | None:
    """Look-alike letters read as Latin and combining marks dropped, in mixed words only.

    `odd` are the characters outside ASCII of the text in lower case.
    """
    if _DISGUISES_IN_LOWER_CASE.isdisjoint(odd):
        return None
    text = view.text
    marks = _COMBINING.search(text) is not None
    if not marks and not _MIXED_WORD.search(text):
        return None
    plain = View(text.translate(_LOOKALIKES), view.starts, view.ends)
    if not marks:
        return plain
    return _cut(plain, (m.span() for m in _COMBINING.finditer(plain.text))) or plain
