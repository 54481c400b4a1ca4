"""Rules for values that a name gives away: `api_key = …`, `the token is …`, `vendor: …`."""

import re

from turnfold.events.redaction_rule import NOT_MASK, Lazy, Rule, before
from turnfold.events.redaction_shapes import (
    JUDGED_MAX,
    UUID,
    Shape,
    has_uuid,
    is_hex,
    is_random,
    is_secretlike,
    shape,
)
from turnfold.events.redaction_vendors import ASSIGNED_VENDORS, DISTINCT_VENDORS, PLAIN_VENDORS

AI = re.ASCII | re.IGNORECASE

_DIGIT = re.compile("[0-9]")
_WORDS_ONLY = re.compile(r"[A-Za-z_.\[\]]+", re.ASCII)
_LONG_HEX = re.compile(r"[0-9a-fA-F]{32,}", re.ASCII)
_PLAIN_RUN = re.compile(r"[A-Za-z0-9]+=*", re.ASCII)
_LEADING_UUID = re.compile(UUID)

# --- a telling name, a separator, a value ----------------------------------------------------

_SEPARATOR = (
    r"[a-z]{0,3}(?:[_\-.][a-z0-9]{1,16}){0,3}[\"'`\]]{0,2}"
    r"(?:\s{0,3}(?:=>|->|→|:{0,3}=|\?=|\|\||[:=>]=?|,)\s{0,3}|\s{1,3}(?:is|to|was)\s{1,3}|\s{1,3})"
    r"[\"'`=]{0,3}(?:0x)?"
)
_VALUE = rf"(?P<v>[^\s{NOT_MASK}\"'`,;<>(){{}}&]{{8,256}}+)"
_TELLING_KEY = re.compile(
    r"(?:api|secret|access|private|encryption|signing|master|account|shared|storage|auth|client|app"
    r"|licen[cs]e|service|admin|deploy|webhook|subscription|rest|server)[_ \-.]?$",
    AI,
)
# Fingerprints of public keys are read out to everyone.
_PUBLIC_KEY = re.compile(r"recv-|gpg|pgp|fingerprint|public|keyserver|keyring", AI)
_VERB = re.compile(r"\b(?:is|to|was)\s*$", AI)
_PUNCTUATION = (":", "=", ">", ",", "→", "||")


def _assigned(match: re.Match[str]) -> bool:
    """Whether what stands behind a telling name is its value."""
    text, start, value = match.string, match.start(), match["v"][:JUDGED_MAX]
    if not _DIGIT.search(value) and (value.islower() or value.isupper()):
        return False
    if value[0] in "$[%=" or "://" in value or text[match.end() : match.end() + 1] == "(":
        return False
    if is_hex(value) and _PUBLIC_KEY.search(before(match, 32)):
        return False
    between = text[start : match.start("v")]
    bare = between.rstrip("\"'`=").removesuffix("0x").rstrip("\"'`")
    punctuated = between.endswith("=") or bare.rstrip().endswith(_PUNCTUATION)
    if "," in bare and "'" not in between and '"' not in between:
        return False
    if not punctuated and not _VERB.search(bare):
        mixed_path = "/" in value and len(value) >= 30 and shape(value).changes > 0.3 * len(value)
        return len(value) >= 16 and (
            is_random(value) or _LONG_HEX.fullmatch(value) is not None or mixed_path
        )
    name = between.lower()
    if name.startswith(("key", "login", "auth")) and not _TELLING_KEY.search(before(match, 16)):
        ahead = text[start - 1 : start]
        if ahead.isalpha() and not (ahead.islower() and text[start].isupper()):
            return False
        return not has_uuid(value) and is_secretlike(value, 12) and (punctuated or len(value) >= 20)
    if _WORDS_ONLY.fullmatch(value) and not is_random(value) and not is_secretlike(value, 20):
        return False
    return is_secretlike(value, 8) or (len(value) >= 16 and is_hex(value))


# --- a telling word near a value, whatever stands between -------------------------------------

_TOLD_WORD = r"(?:secret|private|access|api|key|token|tok|auth|credentials?|creds)"
_TOLD = (
    _TOLD_WORD
    + rf"(?:[_\-. \t\"'\]]{{0,3}}(?:{_TOLD_WORD}|id|name|value|string|s)){{0,3}}?"
    + r"[\"'`\]]{0,2}\s{0,3}(?:=>|->|:{0,3}=|\?=|\|\||[:=>,]=?|[_\-.]|\s)[\s\"'`=\-_.:]{0,4}"
    + r"(?P<v>[A-Za-z0-9][A-Za-z0-9_\-+/.=|:!%~]{9,255}+)"
)
_STRONG_WORD = re.compile(r"secret|private|access|token|creds|credential|api", AI)
_WORDS = re.compile(r"[a-z0-9]+")
_TELLING = re.compile(r"secret|private|access|token|key|auth|api|client|test|sample|my")


def _by_start(vendors: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Names by their first three letters: a place in a text is ruled out with one look-up."""
    index: dict[str, tuple[str, ...]] = {}
    for vendor in vendors:
        index[vendor[:3]] = (*index.get(vendor[:3], ()), vendor)
    return index


_DISTINCT_BY_START = _by_start(DISTINCT_VENDORS)
_ASSIGNED_BY_START = _by_start(DISTINCT_VENDORS + ASSIGNED_VENDORS)


def _has_vendor(context: str, *, inside: bool) -> bool:
    """Whether `context`, in lower case, names a vendor; `inside`: plain names in words, too."""
    if _has_distinct_vendor(context, _ASSIGNED_BY_START if inside else _DISTINCT_BY_START):
        return True
    near = context[-_PLAIN_REACH:]
    return not PLAIN_VENDORS.isdisjoint(_WORDS.findall(_TELLING.sub(" ", near)))


def _has_distinct_vendor(context: str, index: dict[str, tuple[str, ...]]) -> bool:
    for start in range(len(context) - 2):
        names = index.get(context[start : start + 3])
        if names is not None and context.startswith(names, start):
            return True
    return False


_PLAIN_REACH = 24


def _context(match: re.Match[str], size: int) -> str:
    """What stands before the value, in lower case and of the same line."""
    start = match.start("v")
    found = match.string[max(0, start - size) : start].lower()
    return found[found.rstrip().rfind("\n") + 1 :]


def _told(match: re.Match[str]) -> bool:
    """Whether the value looks made up enough for the words before it."""
    value = match["v"][:JUDGED_MAX].removeprefix("0x")
    if "://" in value or match.string[match.end() : match.end() + 1] == "(":
        return False
    if not _DIGIT.search(value) and (len(value) < 20 or not _PLAIN_RUN.fullmatch(value)):
        return False
    if is_hex(value) and _PUBLIC_KEY.search(before(match, 32)):
        return False
    strong = _STRONG_WORD.search(match.string, match.start(), match.start("v")) is not None
    if _LEADING_UUID.match(value):
        return strong or _has_distinct_vendor(_context(match, 48), _DISTINCT_BY_START)
    found = shape(value)
    plain = _PLAIN_RUN.fullmatch(value) is not None
    if not found.letters:
        long = found.digits >= 16 and value.isdigit()
        return long and _has_vendor(_context(match, 48), inside=False)
    if not found.digits:
        if not plain or found.size < 20 or found.changes > 3:
            return False
        return strong or _has_vendor(_context(match, 48), inside=False)
    return _mixed_told(match, value, found, plain=plain, strong=strong)


def _mixed_told(
    match: re.Match[str], value: str, found: Shape, *, plain: bool, strong: bool
) -> bool:
    """The same for a value of letters and digits."""
    if plain and found.size >= 16 and len(set(value)) >= 6:
        if strong or (found.changes >= 3 and not is_hex(value)):
            return True
        return _has_vendor(_context(match, 48), inside=False)
    longest = max(map(shape_size, _PARTS.split(value)))
    if strong and found.changes >= 4 and longest >= 8 and found.size >= 18:
        return True
    made_up = found.size >= 10 and (strong or found.changes >= 2 or found.size >= 20)
    return made_up and _has_vendor(_context(match, 48), inside=False)


_PARTS = re.compile(r"[_\-.=/|:]+")


def shape_size(part: str) -> int:
    """Letters and digits of a part that holds a digit, 0 for a word."""
    return len(part) if _DIGIT.search(part) else 0


# --- a vendor's name, a separator, a value ----------------------------------------------------

_FORGE = re.compile(r"github|gitlab|bitbucket|commit|rev")


def _vendor_value(match: re.Match[str]) -> bool:
    """A made-up value, and a vendor's name in the 40 characters before the separator."""
    value = match["v"][:JUDGED_MAX]
    if not _DIGIT.search(value) and (value.islower() or value.isupper()) and len(value) < 20:
        return False
    found = shape(value)
    if found.letters == 0:
        secret = found.digits >= 15 and value.isdigit()
    elif _WORDS_ONLY.fullmatch(value):
        secret = is_random(value) or (
            found.size >= 14 and (found.changes >= 0.3 * found.size or value.isalpha())
        )
    else:
        plain = _PLAIN_RUN.fullmatch(value) is not None
        least = 2 if plain else 3
        secret = found.digits >= least - 1 and found.changes >= least and len(set(value)) >= 7
    if not secret or "://" in value or match.string[match.end() : match.end() + 1] == "(":
        return False
    if _IN_QUERY.search(before(match, 28)):
        return False  # redaction_urls judges the parameters of a URL
    context = _context(match, 44)
    if has_uuid(value):
        return _has_distinct_vendor(context, _DISTINCT_BY_START)
    return _has_vendor(context, inside=True) and not (is_hex(value) and _FORGE.search(context))


_DISTINCT = frozenset(DISTINCT_VENDORS)


def _beside_vendor(match: re.Match[str]) -> bool:
    """A hash-like or made-up value right after a vendor's name."""
    if match["n"].lower() not in _DISTINCT:
        return False
    value = match["v"]
    found = shape(value)
    return found.digits >= 4 and (found.changes >= 3 or found.size >= 30 or value.isalnum())


# --- any name, 32 hexadecimal digits ----------------------------------------------------------

# Names whose 32 hexadecimal digits are a digest or an id.
_DIGEST_NAME = re.compile(
    r"(?:sha-?\d{0,3}|md[45](?:sum)?|crc\w{0,4}|commit|rev(?:ision)?|hash|checksum|digest|etag"
    r"|fingerprint|blake\w{0,3}|btih|xt|base|parent|head|tree|blob|merge|tag|ref|version|build|sum"
    r"|u?uid|guid|id|texture|asset|item|object|sound|anim(?:ation)?|creator|owner|group|gist|xml"
    r"|file|image|img|track|release|disc|photo|video|page|post|topic|thread|share|node|key)"
    r"[\"'\]]{0,2}\s{0,2}$",
    AI,
)
_IN_QUERY = re.compile(r"[?&][\w.\-]{0,24}$", re.ASCII)


def _hex_value(match: re.Match[str]) -> bool:
    name = before(match, 28)
    if _DIGEST_NAME.search(name) or _IN_QUERY.search(name):
        return False
    return len(set(match["v"])) >= 8


NAME_RULES = (
    Rule(
        kind="token",
        source="assignment to a telling name",
        cues=("secret", "token", "tok", "key", "credential", "jwt", "login", "auth", "sharedacc"),
        pattern=Lazy(
            r"(?:secret(?:[_ ]?(?:access[_ ]?)?key)?|token|tok|key|credentials?|jwt|login|auth"
            r"|sharedaccess(?:key|signature))" + _SEPARATOR + _VALUE,
            AI,
        ),
        accept=_assigned,
    ),
    Rule(
        kind="token",
        source="kingfisher: rules of the form vendor, telling word, value",
        cues=("secret", "private", "access", "key", "token", "creds"),
        pattern=Lazy(_TOLD, AI),
        accept=_told,
        word=10,
    ),
    Rule(
        kind="token",
        source="gitleaks: rules of the form vendor name = value",
        cues=(),
        pattern=Lazy(
            r"(?:=>|->|:{0,3}=|\?=|\|\||[:=>]=?|,)[\s\"'`=]{0,5}"
            r"(?P<v>[A-Za-z0-9_\-][A-Za-z0-9_\-=.|%:+/]{11,255}+)",
            re.ASCII,
        ),
        accept=_vendor_value,
        word=12,
    ),
    Rule(
        kind="token",
        source="kingfisher: rules of the form vendor value",
        cues=(),
        pattern=Lazy(
            rf"(?<![A-Za-z0-9])(?P<n>[A-Za-z][A-Za-z0-9]{{3,19}}+)[ \-_:=.]{{1,3}}(?:[a-z] )?"
            rf"(?P<v>{UUID}|[A-Za-z0-9]{{19,64}}+)(?![A-Za-z0-9\-])",
            re.ASCII,
        ),
        accept=_beside_vendor,
        word=19,
        digits=4,
    ),
    Rule(
        kind="token",
        source="any name = 32 or more hexadecimal digits",
        cues=("=", ":"),
        pattern=Lazy(
            r"(?:=>|[:=])[ \t]{0,3}[\"'`]{0,2}(?P<v>[0-9a-fA-F]{32,}+)(?![A-Za-z0-9\-])", re.ASCII
        ),
        accept=_hex_value,
        word=32,
    ),
    Rule(
        kind="url",
        source="signed parameters outside a URL",
        cues=("sig=", "signature="),
        pattern=Lazy(r"sig(?:nature)?=(?P<v>[A-Za-z0-9%+/_\-]{20,}+={0,2})", AI),
        word=20,
    ),
)
