"""Rules for logins as chat has them: name/word at the end of a line, commands, an address first."""

import re

from turnfold.events.redaction_guess import PROSE_ENDING, TRIM, looks_made_up
from turnfold.events.redaction_links import AFTERWORDS, MEANS, NO_WORD, TALKED_OF
from turnfold.events.redaction_rule import NOT_MASK, Lazy, Rule, value_is
from turnfold.events.redaction_words import FUNCTION_WORDS, NOT_A_VALUE

AI = re.ASCII | re.IGNORECASE

_LOGIN = r"(?:log ?in|logon|logging in|logged in|sign in|creds|credentials|account)"
_NO_LOGINS = NOT_A_VALUE | FUNCTION_WORDS | MEANS | TALKED_OF | NO_WORD | AFTERWORDS


def _plain_login(match: re.Match[str]) -> bool:
    name, value = match["n"] or "admin", match["v"]
    if PROSE_ENDING.fullmatch(value):
        return False
    return value.lower() not in _NO_LOGINS and name.lower() not in _NO_LOGINS - {"root", "admin"}


def _commanded(match: re.Match[str]) -> bool:
    """`/login hunter22`, `connect Fenwick bogwater`; not «/login to see», «connect two players»."""
    value = match["v"].strip(TRIM)
    if looks_made_up(value, announced=True):
        return True
    if value.lower() in _NO_LOGINS or len(value) < 5 or not value.isalpha():
        return False
    command = match.group()[:1] in "/!"
    quoted = match.string[max(0, match.start() - 1) : match.start()] in ("'", '"', "`")
    ends = match.string[match.end() : match.end() + 2].strip("'\"`.! ")[:1] in ("", "\n")
    return ends and (command or quoted) and not PROSE_ENDING.fullmatch(value)


_SCRIPTED = re.compile(r"door|gate|open|unlock|secret|vault|hatch|bookcase|script|wall|portal", AI)
_COMMANDS = frozenset(
    "help menu open close lock unlock show hide reset start stop status list settings config hello "
    "test ping info color colour texture sit stand follow dance".split()
)


def _said_on_channel(match: re.Match[str]) -> bool:
    """`say /7 marzipan` near a door, not `say /1 help`."""
    word, start = match["v"].strip(TRIM).lower(), match.start()
    near = _SCRIPTED.search(match.string, max(0, start - 60), min(len(match.string), start + 90))
    return near is not None and len(word) >= 4 and word not in _COMMANDS and word not in _NO_LOGINS


CHAT_LOGIN_RULES = (
    Rule(
        kind="credential",
        source="words said on a channel to a door",
        cues=("say /", "type /", "shout /"),
        pattern=Lazy(
            rf"(?:say|type|shout)\s/\d{{1,9}}\s?[\"']?(?P<v>[^\s{NOT_MASK}\"'/]{{4,32}}+)", AI
        ),
        accept=_said_on_channel,
    ),
    Rule(
        kind="credential",
        source="somebody at an address, then a word at the end of the line",
        cues=("@",),
        pattern=Lazy(
            r"@\d{1,3}(?:\.\d{1,3}){3}\s?[,/|]\s(?P<v>[a-z]{7,24})[ .!]{0,2}(?:\n|\Z)",
            AI,
        ),
        accept=value_is(lambda value: value.lower() not in _NO_LOGINS),
    ),
    Rule(
        kind="credential",
        source="logins told as name, word",
        cues=("log in w", "login w", "log in: ", "login: ", "creds: "),
        pattern=Lazy(
            rf"(?:log ?in|creds)(?:\s(?:w/|with|w)\s[^\n{NOT_MASK}:]{{0,24}})?:\s"
            r"[a-z][\w.@\-]{1,32},\s"
            rf"(?P<v>[a-z]{{7,24}}[!?$#]?)[ .]{{0,2}}(?:\n|\Z)",
            AI,
        ),
        accept=value_is(lambda value: value.strip(TRIM).lower() not in _NO_LOGINS),
    ),
    Rule(
        kind="credential",
        source="logins told as name/word, at the end of the line",
        cues=(
            "login",
            "log in",
            "creds",
            "credentials",
            "root /",
            "admin /",
            "router",
            "acc:",
            "acct:",
            "my acc",
        ),
        pattern=Lazy(
            rf"(?:{_LOGIN}|acct?|router|root|admin)(?:[^\n{NOT_MASK}/|]{{0,24}}?(?:\s{{0,2}}[:=]\s{{0,2}}"
            r"|\s(?:is|with|as)\s)|\s{1,2}|(?=\s/\s))(?P<n>[A-Za-z][\w.@+\-]{1,32})?"
            rf"\s{{0,2}}[/|]\s{{0,2}}(?P<v>[A-Za-z]{{5,24}})(?=[.!)]?\s{{0,2}}(?:\n|\Z)|\s(?:on|for|at)\s)",
            AI,
        ),
        accept=_plain_login,
    ),
    Rule(
        kind="credential",
        source="chat commands that take a password",
        cues=(
            "/login ",
            "/register ",
            "/auth ",
            "/identify ",
            "/oper ",
            "/join #",
            "connect ",
            "!unlock ",
            "!login ",
            "!verify ",
            "!auth ",
            "!register ",
            "!join ",
            "!key ",
            "!pass",
        ),
        pattern=Lazy(
            rf"(?:[/!](?:login|register|auth|identify|unlock|verify|key|pass(?:word)?)\s{{1,2}}"
            rf"(?:[a-z]\w{{1,20}}\s(?=\S+(?:['\"`]|\s{{0,2}}(?:\n|\Z))))?"
            rf"|/oper\s\w{{1,20}}\s|/join\s#[\w\-]{{1,32}}\s"
            rf"|connect\s(?P<n>[A-Za-z]\w{{1,20}})\s(?=\S+(?:['\"`]|\s{{0,2}}(?:\n|\Z))))"
            rf"(?P<v>[^\s{NOT_MASK}\"'`<\[(]{{4,64}}+)",
            AI,
        ),
        accept=_commanded,
    ),
    Rule(
        kind="credential",
        source="address, then a password at the end of the line",
        cues=("@",),
        pattern=Lazy(
            r"@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,4}[ ,;|/]{1,3}"
            rf"(?P<v>[^\s{NOT_MASK}\"':/@]{{6,64}}+)[ .]{{0,2}}(?:\n|\Z)",
            re.ASCII,
        ),
        accept=value_is(lambda value: looks_made_up(value.strip(TRIM))),
        digits=1,
    ),
)
