"""Rules for tokens by their form alone: random runs, encoded text, tokens of several parts."""

import re

from turnfold.events.redaction_prefixes import PREFIXES
from turnfold.events.redaction_rule import Lazy, Rule, value_is
from turnfold.events.redaction_shapes import (
    decoded_text,
    has_uuid,
    is_binary_text,
    is_hex,
    is_one_case_random,
    shape,
)

AI = re.ASCII | re.IGNORECASE
_STARTS = (*(prefix.lower() for prefix in PREFIXES), "eyj")


def continues_token(run: str) -> bool:
    """Whether the run after a line break looks like the rest of a token, not like a new one."""
    if run.lower().startswith(_STARTS):
        return False
    found = shape(run)
    size = found.size
    if found.digits and size >= 4 and (found.letters or size >= 10):
        return True
    return (found.lower > 1 and found.upper > 1 and found.changes >= 3) or size >= 30


# --- runs -------------------------------------------------------------------------------------

_DIGIT = re.compile("[0-9]")
_SEPARATORS = re.compile(r"[_\-=.]+")
# Names before `_` that say the rest is a digest or an object's id, not a secret.
_ID_PREFIX = frozenset(
    "sha sha1 sha224 sha256 sha384 sha512 md5 md4 crc crc32 crc32c commit rev git hash etag blake2 "
    "blake2b blake3 uuid id img image file tex texture btih urn inv pi pm py ch cus sub prod price "
    "txn evt req acct card seti si src tok in ii il po tr re cs bps ba sku plan pyr trr".split()
)
_SRI = re.compile(
    r"\bsha(?:256-[A-Za-z0-9+/]{43}=|384-[A-Za-z0-9+/]{64}|512-[A-Za-z0-9+/]{86}==)", re.ASCII
)


def is_integrity_hash(match: re.Match[str]) -> bool:
    """Whether the match lies in a subresource-integrity hash (W3C SRI), which is public."""
    text, (start, end) = match.string, match.span()
    if "sha" not in text[max(0, start - 100) : end].lower():
        return False
    low, high = max(0, start - 100), min(len(text), end + 100)
    return any(m.start() <= start and end <= m.end() for m in _SRI.finditer(text, low, high))


_BLOB_SIZE = 100


def _is_public_id(run: str) -> bool:
    """`pi_1F…`, `cus_…`: an object's id at a payment provider, which it shows to everyone."""
    name, _, rest = run.partition("_")
    return name in _ID_PREFIX and "_" not in rest and len(rest) <= 28


def _random_run(match: re.Match[str]) -> bool:
    run = match.group()
    if not _DIGIT.search(run) or has_uuid(run) or _is_public_id(run) or is_integrity_hash(match):
        return False
    if len(run) >= _BLOB_SIZE and "." not in run and is_binary_text(run):
        return False  # a payload, which the rule for long base64 replaces with its size
    found = shape(run)
    size = found.size
    if (
        min(found.lower, found.upper, found.digits) > 0
        and size >= 16
        and found.changes >= 0.33 * (size - 1)
        and len(set(run)) >= 10
    ):
        return True
    head, _, tail = run.replace("-", "_").rpartition("_")
    name = head.rpartition("_")[2].lower()
    if (
        head
        and len(tail) >= 32
        and found.digits >= 4
        and found.letters >= 4
        and found.changes >= 2
        and name not in _ID_PREFIX
        and not name.isdigit()
    ):
        return True
    if _DATED.search(run):
        return False
    return any(is_one_case_random(p) for p in _SEPARATORS.split(run) if len(p) >= 24)


_DATED = re.compile(r"[a-z]{4}20\d{6}")  # a build named for its day: nightly20240424…


def _encoded_text(match: re.Match[str]) -> bool:
    """Base64 of readable text: no word and no hash decodes to printable characters throughout."""
    run = match.group()
    if run.islower() or run.isupper():
        return False
    return len(run) <= 4096 and not is_hex(run) and decoded_text(run) is not None


def _long_random(match: re.Match[str]) -> bool:
    return is_binary_text(match.group()[:4096]) and not is_integrity_hash(match)


RUN_RULES = (
    Rule(
        kind="token",
        source="shape: random run",
        cues=(),
        pattern=Lazy(
            r"(?<![A-Za-z0-9_\-])[A-Za-z0-9_\-]{24,}+={0,2}(?:\.[A-Za-z0-9_\-]{12,}+={0,2}){0,4}",
            re.ASCII,
        ),
        accept=_random_run,
        word=24,
        wrapped=True,
    ),
    Rule(
        kind="blob",
        source="shape: base64 of readable text",
        cues=(),
        pattern=Lazy(r"(?<![A-Za-z0-9+/_\-=])[A-Za-z0-9+/_\-]{20,}+={0,2}", re.ASCII),
        accept=_encoded_text,
        word=20,
        wrapped=True,
    ),
    Rule(
        kind="blob",
        source="shape: long base64",
        cues=(),
        pattern=Lazy(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{100,}+={0,2}", re.ASCII),
        accept=_long_random,
        word=100,
        wrapped=True,
    ),
    Rule(
        kind="blob",
        source="shape: long hexadecimal",
        cues=(),
        pattern=Lazy(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{129,}+", re.ASCII),
        accept=value_is(lambda run: len(set(run.lower())) >= 10),
        word=129,
        wrapped=True,
    ),
    Rule(
        kind="token",
        source="gitleaks: azure-ad-client-secret",
        cues=("q~",),
        before=4,
        pattern=Lazy(r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.\-]{30,36}+", re.ASCII),
        word=30,
        wrapped=True,
    ),
    Rule(
        kind="token",
        source="Telegram bot API: authorizing your bot",
        cues=(),
        pattern=Lazy(r"(?<!\d)\d{5,16}:A[A-Za-z0-9_\-]{32,36}+", re.ASCII),
        word=33,
        needs=":a",
        wrapped=True,
    ),
    Rule(
        kind="token",
        source="Discord: bot token",
        cues=(),
        pattern=Lazy(
            r"\b[MNO][A-Za-z0-9_\-]{22,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,45}+", re.ASCII
        ),
        word=58,
        wrapped=True,
    ),
    Rule(
        kind="token",
        source="gitleaks: tokens of dotted or barred parts",
        cues=(),
        pattern=Lazy(
            r"(?<![A-Za-z0-9])(?:pat[A-Za-z0-9]{14}\.[a-f0-9]{40,}+"
            r"|(?:pat|sat)\.[A-Za-z0-9_\-]{18,24}+\.[A-Za-z0-9]{20,28}+\.[A-Za-z0-9]{16,24}+"
            r"|(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}+\.[A-Za-z0-9]{4,6}\.acc[_\-]"
            r"[A-Za-z0-9\-]{10,32}+\.[A-Za-z0-9+/_=\-]{30,120}+"
            r"|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{40,}+"
            r"|\d{15,16}[|%][0-9A-Za-z_\-]{27,40}+"
            r"|1000\.[0-9a-f]{32}\.[0-9a-f]{30,32}"
            r"|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"
            r"|pk_\d{6,9}_[A-Z0-9]{30,34}"
            r"|00D[A-Za-z0-9]{9,15}![A-Za-z0-9._]{80,110}+"
            r"|ey[A-Za-z0-9]{17,}+\.ey[A-Za-z0-9/\\_\-]{17,}+(?:\.[A-Za-z0-9/\\_\-]{10,}+={0,2})?)",
            re.ASCII,
        ),
        word=27,
    ),
    Rule(
        kind="credential",
        source="kingfisher: password hashes of crypt(3) and Kerberos tickets",
        cues=("$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$8$", "$y$", "$krb5", "$argon2"),
        pattern=Lazy(
            r"\$(?:[1-8y]|2[aby]|krb5(?:asrep|tgs|pa)|argon2(?:id?"
            r"|d))\$[A-Za-z0-9./$=,@:+*_\-]{20,}+",
            AI,
        ),
        word=16,
    ),
    Rule(
        kind="token",
        source="gitleaks: mailchimp-api-key",
        cues=("-us",),
        before=32,
        pattern=Lazy(r"(?<![0-9A-Za-z])[0-9a-f]{32}-us\d{1,2}\b", re.ASCII),
        word=35,
        wrapped=True,
    ),
)
