"""Rules for what grants access by form: capabilities, sessions, private keys, headers, cookies."""

import re

from turnfold.events.redaction_rule import NOT_MASK, Lazy, Rule, value_is
from turnfold.events.redaction_shapes import (
    JUDGED_MAX,
    UUID,
    UUID_OR_HEX,
    decoded_text,
    is_random,
    is_secretlike,
)

AI = re.ASCII | re.IGNORECASE

CAPABILITY_PATH = rf"/(?:caps?(?:/[a-z0-9]{{1,24}}){{0,2}}|ce|lslhttps?)/\s{{0,2}}{UUID_OR_HEX}"
"""Path of a Second Life or OpenSimulator capability (`/cap/`, `/CAPS/`, event queue `/CE/`,
HTTP-in of scripts)."""

_PATH_REST = rf"[^\s{NOT_MASK}\"'<>|;,)\]}}]*+"
_IS = r"(?:\s{0,3}(?:=>|->|[=:]|\bis\b|\bwas\b)\s{0,3}|\s{1,3})"
_LLSD = r"|</(?:name|key)>\s{0,8}(?:<value>\s{0,8})?<(?:string|uuid)>"


def _cap_word(match: re.Match[str]) -> bool:
    """`cap` as a word of its own or of a CamelCase name, not the end of `landscape`."""
    ahead = match.string[match.start() - 1 : match.start()]
    return not ahead.isalpha() or match.string[match.start()].isupper()


CAPABILITY_RULES = (
    Rule(
        kind="cap",
        source="Second Life and OpenSimulator: capability paths",
        cues=("/cap", "/ce/", "/lslhttp"),
        pattern=Lazy(CAPABILITY_PATH + _PATH_REST, AI),
        word=32,
        wrapped=True,
    ),
    Rule(
        kind="cap",
        source="OpenSimulator: capabilities at host:port/uuid",
        cues=(":",),
        pattern=Lazy(rf":\d{{2,5}}/{UUID}(?:0000)?\b" + _PATH_REST, AI),
        word=36,
        wrapped=True,
    ),
    Rule(
        kind="session",
        source="Second Life login: session_id, secure_session_id, agent sessions",
        cues=("session",),
        pattern=Lazy(
            r"session(?:[_ \-]?(?:id|key|token|uuid))?[\"'\]]{0,2}(?:"
            + _IS
            + _LLSD
            + rf")[\"'(\[{{]{{0,2}}(?P<v>{UUID_OR_HEX})",
            AI,
        ),
        word=32,
    ),
    Rule(
        kind="cap",
        source="capability named in prose",
        cues=("cap",),
        pattern=Lazy(
            r"cap(?:s|abilit(?:y|ies))?(?:[ _\-]?(?:url|uri|id|key|path|root|seed)s?)?[\"']?"
            + _IS
            + rf"[\"'(\[{{]{{0,2}}(?P<v>{UUID}(?:0000)?)",
            AI,
        ),
        accept=_cap_word,
        word=36,
    ),
    Rule(
        kind="session",
        source="Second Life login: passwd is $1$ and an MD5",
        cues=("$1$",),
        pattern=Lazy(r"\$1\$(?P<v>[0-9a-f]{32})\b", AI),
        word=32,
    ),
)

_PEM_HEAD = r"-{5}BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-{5}"
_PEM_LINE = r"[\s>\"'+,\\]{0,8}(?:\\[rnt])?"

PEM_RULES = (
    Rule(
        kind="pem",
        source="RFC 7468, RFC 4880: private keys, header to footer",
        cues=("-----begin ",),
        pattern=Lazy(
            _PEM_HEAD + rf"(?:[^\-{NOT_MASK}]|-(?!-{{4}}))*+-{{5}}END [A-Z0-9 ]{{1,60}}-{{5}}"
        ),
    ),
    Rule(
        kind="pem",
        source="private keys that were cut off: header and the base64 behind it",
        cues=("-----begin ",),
        pattern=Lazy(
            _PEM_HEAD
            + rf"(?:{_PEM_LINE}(?:[A-Za-z0-9+/]{{16,}}+=*"
            + rf"|[A-Za-z][A-Za-z\-]{{1,20}}: [^\r\n{NOT_MASK}]{{1,80}}))*+"
            + rf"(?:{_PEM_LINE}[A-Za-z0-9+/]{{4,}}+=*(?=\s*\n|\s*$|[\"']))?"
        ),
    ),
    Rule(
        kind="pem",
        source="PuTTY private key file",
        cues=("private-lines",),
        pattern=Lazy(
            r"Private-Lines:\s{0,3}\d{1,4}(?:\s{1,3}[A-Za-z0-9+/=]{8,76})++"
            r"(?:\s{1,3}Private-MAC:\s{0,3}[0-9a-f]{40,64})?",
            AI,
        ),
    ),
    Rule(
        kind="jwt",
        source="RFC 7519",
        cues=("eyj",),
        pattern=Lazy(
            r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,}+\.[A-Za-z0-9_\-]{8,}+"
            r"(?:\.[A-Za-z0-9_\-]*+){0,3}",
            re.ASCII,
        ),
        word=20,
        wrapped=True,
    ),
)


def _credential(value: str) -> bool:
    value = value[:JUDGED_MAX]
    return is_secretlike(value, 8) or is_random(value)


def _user_and_password(value: str) -> bool:
    text = decoded_text(value)
    return text is not None and ":" in text


_RFC_LETTERS = r"[A-Za-z0-9_\-.~+/]"

HEADER_RULES = (
    Rule(
        kind="auth",
        source="RFC 7616: Digest",
        cues=("authorization",),
        pattern=Lazy(
            rf"authorization[\"']?\s{{0,3}}[:=,]\s{{0,3}}[\"']?digest\s{{1,3}}"
            rf"(?P<v>[^\r\n{NOT_MASK}]{{8,}}+)",
            AI,
        ),
    ),
    Rule(
        kind="auth",
        source="RFC 9110: Authorization",
        cues=("authorization",),
        pattern=Lazy(
            r"authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?(?:[a-z][a-z0-9\-]{1,20}\s{1,4})?"
            rf"(?P<v>{_RFC_LETTERS}{{8,256}}+={{0,2}})",
            AI,
        ),
        accept=value_is(_credential),
        word=8,
    ),
    Rule(
        kind="auth",
        source="gitleaks: curl-auth-header",
        cues=("authorization:",),
        pattern=Lazy(
            r"authorization:\s{0,4}(?:[a-z][a-z0-9\-]{1,20}\s{1,4})?"
            rf"(?P<v>[^\s{NOT_MASK}\"'<>]{{8,256}}+)(?=[\"'])",
            AI,
        ),
        accept=value_is(_credential),
    ),
    Rule(
        kind="auth",
        source="RFC 6750: Bearer",
        cues=("bearer",),
        pattern=Lazy(
            rf"\bbearer(?:\s{{1,3}}token)?[\"']?[\s:=]{{1,4}}[\"']?"
            rf"(?P<v>{_RFC_LETTERS}{{16,256}}+={{0,2}})",
            AI,
        ),
        accept=value_is(_credential),
        word=16,
    ),
    Rule(
        kind="auth",
        source="RFC 7617: Basic",
        cues=("basic",),
        pattern=Lazy(r"\bbasic\s{1,3}(?P<v>[A-Za-z0-9+/]{8,256}+={0,2})", AI),
        accept=value_is(_user_and_password),
        word=8,
    ),
    Rule(
        kind="auth",
        source="vendors' own token headers",
        cues=("x-", "private-token", "job-token", "deploy-token"),
        pattern=Lazy(
            r"\b(?:x-(?:[a-z]{1,16}-){0,3}(?:token|key|secret|auth)|(?:private|job|deploy)-token)"
            rf"[\"']?\s{{0,3}}[:=,]\s{{0,3}}[\"']?(?P<v>[^\s{NOT_MASK}\"',;<>]{{8,256}}+)",
            AI,
        ),
        accept=value_is(_credential),
    ),
    Rule(
        kind="cookie",
        source="RFC 6265: Cookie, Set-Cookie",
        cues=("cookie",),
        pattern=Lazy(
            r"cookie[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
            rf"(?P<v>[A-Za-z0-9_.!#$%&*+^`|~\-]{{1,64}}=[^\s;\"'{NOT_MASK}]{{6,}}+"
            rf"(?:;\s{{0,2}}[^\s;\"'{NOT_MASK}]{{1,200}})*+)",
            AI,
        ),
    ),
    Rule(
        kind="cookie",
        source="session cookies by name",
        cues=("sess", "sid"),
        pattern=Lazy(
            r"(?:sess(?:ion)?(?:[_\-]?(?:id|token))?|(?<![a-z])sid)\s{0,2}=\s{0,2}"
            rf"(?P<v>[^\s;\"'&{NOT_MASK}]{{12,256}}+)",
            AI,
        ),
        accept=value_is(lambda value: is_secretlike(value[:JUDGED_MAX], 12)),
    ),
)

BLOB_RULES = (
    Rule(
        kind="blob",
        source="RFC 2397: data URIs",
        cues=("data:",),
        pattern=Lazy(
            r"\bdata:[a-z]{2,20}/[a-z0-9.+\-]{1,60}(?:;[a-z0-9=.\-]{1,40}){0,4},"
            r"[A-Za-z0-9+/=%_\-.~!*'();:@&$]{16,}+",
            AI,
        ),
        word=16,
        wrapped=True,
    ),
    Rule(
        kind="blob",
        source="hexadecimal dump",
        cues=(),
        pattern=Lazy(
            r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2,8}[ :]){24,}+(?:[0-9A-Fa-f]{2,8}\b)?", re.ASCII
        ),
        accept=value_is(lambda dump: len(set(dump.lower())) >= 10 and not dump.isalpha()),
        digits=24,
    ),
)
