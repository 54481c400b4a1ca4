"""Rules for passwords, codes and logins told in prose.

A cue word («password», «pwd», «пароль» …) alone means nothing: chat is full of talk about
passwords. What counts is how a value is tied to the cue, and how much the value looks like one:

- `password: X`, `password = X`: any word that isn't talk (`NOT_A_VALUE`);
- `password is X`: the same, for one word;
- `password X`: X must look made up (letters with digits or signs);
- anything made up near the cue, in the same clause.
"""

import re
from collections.abc import Iterator

from turnfold.events.redaction_rule import NOT_MASK, Rule, value_is
from turnfold.events.redaction_shapes import shape
from turnfold.events.redaction_words import (
    FUNCTION_WORDS,
    NOT_A_VALUE,
    PASSWORD_CUES,
    SCRIPT_PASSWORD_CUES,
)

AI = re.ASCII | re.IGNORECASE
_TRIM = "\"'`“”‘’«»「」()[]{}<>.,;!?。，、！？:"

_CUES: dict[str, re.Pattern[str]] = {
    literal: re.compile(rf"(?:{pattern})(?![A-Za-z0-9])", re.IGNORECASE)
    for literal, pattern in PASSWORD_CUES
}
PROSE_CUES: tuple[str, ...] = tuple(_CUES)

_ADVERB = r"(?: (?:always|now|still|just|currently|actually|really|simply|set to|going to be))?"
_LINK = re.compile(
    r"[\"'`\])]{0,2}"
    r"(?:\s{1,2}\([^()\n]{1,40}\))?"
    r"(?:\s{1,2}(?:for|to|on|of|in|at)\s{1,2}[^\s:=]{1,30}(?:\s{1,2}[^\s:=]{1,30}){0,3}?)?"
    r"(?:(?P<mark>\s{0,3}(?:(?:is|was|ist|lautet|be)\s{0,2})?(?:=>|->|→|:=|==?|[:>：＝])\s{0,3}"
    r"(?:(?:it['’]?s|it is)\s{1,2})?)"
    rf"|(?P<verb>\s{{1,3}}(?:is|was|ist|lautet|es|est|é|to|are|it['’]s|è|e'|je|on|är|er){_ADVERB}"
    r"\s{1,3}|['’]?s\s{1,3}|\s{0,2}\?\s{0,3}(?:it['’]?s|it is|try|that['’]?s|use)\s{1,3}"
    r"|s\s{0,2}[:=]\s{0,2})"
    r"|(?P<bare>\s{1,3}))",
    re.IGNORECASE,
)
_VALUE = re.compile(
    rf"\"(?P<q1>[^\"{NOT_MASK}\n]{{3,64}})\"|'(?P<q2>[^'{NOT_MASK}\n]{{3,64}})'"
    rf"|“(?P<q3>[^”{NOT_MASK}\n]{{3,64}})”|`(?P<q4>[^`{NOT_MASK}\n]{{3,64}})`"
    rf"|(?P<word>[^\s{NOT_MASK}。，、！？；：）」』】》…]{{3,256}}+)"
)
_PHRASE = re.compile(r"[\"']?(?P<v>(?:[A-Za-z]{3,14}[ \-]){3,9}[A-Za-z]{3,14})", re.ASCII)

_CALL = re.compile(r"[A-Za-z_][\w.]*\(", re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]{1,20}://", AI)
_LEAD = re.compile(r"\bto\s*$")
_SET = re.compile(r"\b(?:set|change[ds]?|reset)\b", AI)


def could_be_password(value: str) -> bool:
    """What stands after «password:» is a value: no talk, no template, no row of stars."""
    word = value.strip(_TRIM)
    if len(word) < 3 or word.lower() in NOT_A_VALUE or set(word) <= set("*•.x-_#"):
        return False
    if value[0] in "(<[{" and shape(word).digits == 0:
        return False
    return not (value[0] == "=" or word[0] in "$%" and word[1:2] in ("{", "(", "%", "s", ""))


# Letters with digits that aren't passwords: versions, sizes, ordinals, names of formats.
_ORDINARY = re.compile(
    r"v?\d+(?:[.:,x/\-]\d+)*[a-z%]{0,5}|[a-z]{1,6}-?\d{1,2}|[a-z]+\d{1,2}|\d+[a-z]+"
    r"|[\w.+\-]+@[\w\-]+\.[\w.]+|[a-z][\w\-]*\.[a-z]{1,5}\d?",
    AI,
)


def looks_made_up(word: str) -> bool:
    """Letters with digits or signs, as nobody writes words: `tr0ub4dor&3`, `sunset7668$`."""
    if not 5 <= len(word) <= 64 or word[0] in "/~-.$<{([#@" or "/" in word or "\\" in word:
        return False
    found = shape(word)
    if found.letters < 3 or found.digits < 1 or _ORDINARY.fullmatch(word):
        return False
    return found.digits >= 2 or found.changes >= 2


def _bare_ok(cue: str, word: str) -> bool:
    found = shape(word)
    if not found.digits or not found.letters or len(word) < 5:
        return False
    if re.fullmatch(r"\d+[a-z]+|v?\d+(?:\.\d+)*[a-z]?", word, AI):
        return False
    return cue not in ("pw", "pass") or (found.digits >= 2 and found.size >= 8)


def _boundary(text: str, start: int, cue: str) -> bool:
    """The cue begins a word, or a CamelCase part of a name; a full «password» may end any."""
    ahead = text[start - 1 : start]
    if not ahead.isalpha():
        return not (ahead == "/" and cue == "passwd")
    return (ahead.islower() and text[start].isupper()) or (
        len(cue) >= 6 and cue.startswith(("pas", "p4", "p@"))
    )


def password_after(text: str, at: int, literal: str) -> Iterator[tuple[int, int]]:
    """The password that the cue at `at` announces: at most one range."""
    cue_match = _CUES[literal].match(text, at)
    if cue_match is None:
        return
    cue = cue_match.group().lower()
    if not _boundary(text, at, cue):
        return
    link = _LINK.match(text, cue_match.end())
    if link is None:
        return
    marked = link["mark"] is not None
    if marked or link["verb"] is not None:
        phrase = _PHRASE.match(text, link.end())
        if phrase is not None and _is_passphrase(phrase["v"]):
            yield phrase.span("v")
            return
    value = _VALUE.match(text, link.end())
    if value is None:
        return
    group = value.lastgroup or "word"
    start, end = value.span(group)
    word = value[group]
    trimmed = word.strip(_TRIM)
    if "\n" in link.group() and not shape(word).digits:
        return
    if _CALL.match(word) or word.startswith("==") or _SCHEME.match(word):
        return
    if link["bare"] is not None:
        if group == "word" and _bare_ok(cue, trimmed) and could_be_password(word):
            yield start, end
        return
    if cue == "pass" and not (marked and _short_pass(text, link, word, end)):
        if shape(word).digits and could_be_password(word) and not _is_ordinal(trimmed):
            yield start, end
        return
    if _LEAD.search(link.group()) and not (
        shape(word).digits and _SET.search(text, max(0, at - 40), at)
    ):
        return
    if could_be_password(word):
        yield start, end


def _is_ordinal(word: str) -> bool:
    return re.fullmatch(r"\d+[a-z%$]*", word, AI) is not None


def _short_pass(text: str, link: re.Match[str], word: str, end: int) -> bool:
    """`pass: X` with a plain word: only as the last word, so that «I'll pass: too tired» stays."""
    if shape(word).digits and not _is_ordinal(word.strip(_TRIM)):
        return True
    return len(word) >= 6 and text[end : end + 1] != " " and could_be_password(word)


def _is_passphrase(phrase: str) -> bool:
    words = phrase.lower().split()
    loose = sum(word in NOT_A_VALUE or word in FUNCTION_WORDS for word in words)
    return loose <= 1 and words[0] not in FUNCTION_WORDS and words[0] not in NOT_A_VALUE


_BEFORE = re.compile(
    r"\b(?:use|used|try|tried|enter|entered|type|typed|put|set|have|need)\s{1,3}[\"']?"
    rf"(?P<v>[^\s{NOT_MASK}\"']{{3,64}})[\"']?\s{{1,3}}(?:as|for)\s{{1,3}}"
    r"(?:(?:the|my|your|a|our|its|his|her)\s{1,3})?(?:[a-z]{2,12}\s{1,3})?$",
    AI,
)


def password_before(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The password before the cue at `at`: «use X as the password»."""
    match = _BEFORE.search(text, max(0, at - 110), at)
    if match is not None and could_be_password(match["v"]):
        yield match.span("v")


# --- logins, options, codes --------------------------------------------------------------------


def _mixed(value: str) -> bool:
    found = shape(value)
    return found.digits > 0 and found.letters > 0


_LOGIN_WORDS = ("log in", "login", "creds", "credentials", "account", "sign in")
_MAIL_NAMES = frozenset(
    "mailto mail email e-mail from to cc bcc contact skype xmpp sip sips jid acct write reply "
    "user".split()
)


def _login_at_host(match: re.Match[str]) -> bool:
    value = match["v"]
    return match["n"].lower() not in _MAIL_NAMES and not set(value).isdisjoint("0123456789!$%^*+")


LOGIN_RULES = (
    Rule(
        kind="credential",
        source="login told as name/password",
        cues=_LOGIN_WORDS,
        pattern=re.compile(
            r"(?:log ?in|sign in|creds|credentials|account)"
            r"(?:\s{0,2}(?:with|as|is|are|using)\s{1,3}|\s{0,2}[:=]\s{0,2})[\"']?"
            rf"[A-Za-z][\w.\-]{{1,32}}\s?[/:]\s?(?P<v>[^\s{NOT_MASK}/:]{{4,64}})",
            AI,
        ),
        accept=value_is(_mixed),
    ),
    Rule(
        kind="credential",
        source="name:password@host",
        cues=(),
        pattern=re.compile(
            r"(?<![\w./:@\-])(?P<n>[A-Za-z][\w.\-]{0,31}):"
            rf"(?P<v>[^\s{NOT_MASK}:@/]{{3,64}})@(?:[a-z0-9\-]{{1,40}}\.){{1,4}}[a-z]{{2,12}}\b",
            AI,
        ),
        accept=_login_at_host,
        needs="@",
    ),
    Rule(
        kind="credential",
        source="command line options",
        cues=("--pass", "--pwd"),
        pattern=re.compile(
            rf"--(?:pass|pwd)(?:word|wd|phrase)?[ =][\"']?(?P<v>[^\s{NOT_MASK}\"']{{3,256}}+)", AI
        ),
        accept=value_is(lambda value: could_be_password(value) and value[0] not in "$<"),
    ),
    Rule(
        kind="credential",
        source="curl -u",
        cues=("curl",),
        pattern=re.compile(
            rf"\bcurl\b[^\n{NOT_MASK}]{{0,200}}?\s(?:-u|--user)[ =]?[\"']?"
            rf"[^\s:{NOT_MASK}\"']{{1,64}}:(?P<v>[^\s{NOT_MASK}\"']{{3,256}}+)",
            AI,
        ),
    ),
    Rule(
        kind="credential",
        source="passwords in scripts without word spaces",
        cues=SCRIPT_PASSWORD_CUES,
        pattern=re.compile(
            "(?:" + "|".join(SCRIPT_PASSWORD_CUES) + ")"
            r"\s{0,2}(?:是|为|為|は|이|가|는|은|هي|है|คือ|:|：|=|＝)?\s{0,2}[「『\"“']?"
            r"(?P<v>[!-~]{3,64}+)"
        ),
        accept=value_is(lambda value: could_be_password(value) and value[0] not in ":?!.,"),
    ),
)

_CODE_NAME = (
    r"\b(?:(?:2fa|otp|totp|mfa|one[ \-]?time|verification|auth(?:enticator|entication)?|login"
    r"|security|sms|access|confirmation|backup|recovery|door|gate)\s{1,2}"
    r"(?:code|pin|passcode|token)|otp|totp|2fa|mfa|pin(?:\s(?:code|number))?)"
)
_CODE_LINK = r"(?:\s{0,2}[:=]\s{0,2}|\s{1,2}(?:is|was)\s{0,2}:?\s{1,2}|['’]s\s{1,2}|\s{1,2})"

CODE_RULES = (
    Rule(
        kind="code",
        source="one-time codes and PINs",
        cues=("code", "otp", "pin", "2fa", "mfa"),
        before=24,
        pattern=re.compile(
            r"[^\n]{0,24}?" + _CODE_NAME + _CODE_LINK + r"[\"']?(?P<v>\d{4,8}|\d{3}[ \-]\d{3})\b",
            AI,
        ),
        digits=4,
    ),
    Rule(
        kind="code",
        source="six digits called a code",
        cues=("code",),
        pattern=re.compile(
            r"code(?:\s{0,2}[:=]\s{0,2}|\s{1,2}(?:is|was):?\s{1,2}|['’]s\s{1,2})"
            r"(?P<v>\d{6}|\d{3}[ \-]\d{3})\b",
            AI,
        ),
        digits=6,
    ),
    Rule(
        kind="code",
        source="backup and recovery codes",
        cues=("backup", "recovery", "rescue", "scratch"),
        pattern=re.compile(
            r"\b(?:backup|recovery|rescue|scratch)\s{1,2}codes?(?:\s{0,2}[:=]|\s{1,2}(?:is|are))?"
            r"\s{1,2}(?P<v>[A-Za-z0-9\-]{6,12}"
            r"(?:[ ,;\n]{1,2}[A-Za-z0-9]{3,6}-?[0-9A-Za-z]{3,6}){0,19})",
            AI,
        ),
        accept=value_is(lambda value: shape(value).digits >= 4),
        digits=4,
    ),
)
