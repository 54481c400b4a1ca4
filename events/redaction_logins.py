"""Rules for logins: name and password in one breath, command lines, default accounts."""

import re

from turnfold.events.redaction_guess import (
    CALL,
    TRIM,
    could_be_password,
    looks_made_up,
)
from turnfold.events.redaction_logins_chat import CHAT_LOGIN_RULES
from turnfold.events.redaction_rule import NOT_MASK, Lazy, Rule, value_is
from turnfold.events.redaction_shapes import has_letters_and_digits, shape
from turnfold.events.redaction_words import (
    SCRIPT_PASSWORD_CUES,
    SCRIPT_WORD_CUES,
)

AI = re.ASCII | re.IGNORECASE


def _jumpy(value: str) -> bool:
    return shape(value).changes >= 3


_LOGIN_WORDS = (
    "log in",
    "login",
    "logon",
    "logging in",
    "logged in",
    "creds",
    "credentials",
    "account",
    "sign in",
)
_LOGIN = r"(?:log ?in|logon|logging in|logged in|sign in|creds|credentials|account)"
_MAIL_NAMES = frozenset(
    "mailto mail email e-mail from to cc bcc contact skype xmpp sip sips jid acct write reply "
    "user".split()
)


def _login_at_host(match: re.Match[str]) -> bool:
    value = match["v"]
    return match["n"].lower() not in _MAIL_NAMES and not set(value).isdisjoint("0123456789!$%^*+")


def _default_account(match: re.Match[str]) -> bool:
    value = match["v"].strip(TRIM)
    if match["by"] == "/" and shape(value).letters < 5:
        return False
    return has_letters_and_digits(value) and shape(value).letters >= 3


LOGIN_RULES = (
    Rule(
        kind="credential",
        source="login told as name/password",
        cues=_LOGIN_WORDS,
        pattern=Lazy(
            _LOGIN + r"(?:\s{0,2}(?:with|as|is|are|using)\s{1,3}|\s{0,2}[:=]\s{0,2})[\"']?"
            rf"[A-Za-z][\w.\-]{{1,32}}\s?[/:]\s?(?P<v>[^\s{NOT_MASK}/:]{{4,64}})",
            AI,
        ),
        accept=value_is(has_letters_and_digits),
    ),
    Rule(
        kind="credential",
        source="login told as name with password",
        cues=_LOGIN_WORDS,
        pattern=Lazy(
            _LOGIN + r"(?:\s{1,2}details)?"
            r"(?:\s{1,2}(?:for|to|of|on|at)(?:\s{1,2}[\w\-.]{1,20}){1,4})?"
            r"(?:\s{0,2}(?:with|as|is|are|using|w/)\s{1,3}|\s{0,2}[:=]\s{0,2}|\s)[\"']?"
            r"[A-Za-z][\w.@+\-]{1,48}[\"']?(?:\s{0,2}[/:,|]\s{0,2}|\s{1,2}(?:with|and|using"
            r"|w/)\s{1,2})"
            rf"[\"']?(?P<v>[^\s{NOT_MASK}\"']{{4,64}})",
            AI,
        ),
        accept=value_is(lambda value: looks_made_up(value.strip(TRIM), announced=True)),
        digits=1,
    ),
    Rule(
        kind="credential",
        source="user and password in short",
        cues=("user", "u:", "un:"),
        pattern=Lazy(
            r"(?<![a-z])(?:user(?:name)?[:=]?\s{1,2}[A-Za-z][\w.@\-]{1,32}\s?[/|]\s?"
            r"|un?:\s?[A-Za-z][\w.@\-]{1,32}[\s,;/]{1,3}p(?:w|ass)?:\s?)"
            rf"[\"']?(?P<v>[^\s{NOT_MASK}\"']{{4,64}})",
            AI,
        ),
        accept=value_is(lambda value: looks_made_up(value.strip(TRIM), announced=True)),
        digits=1,
    ),
    *CHAT_LOGIN_RULES,
    Rule(
        kind="credential",
        source="name / password, then what it is for",
        cues=("/ ", "// "),
        before=1,
        pattern=Lazy(
            rf"\s?//?\s(?P<v>[^\s{NOT_MASK}\"'/]{{5,64}})"
            r"(?=[^\n]{0,40}?\b(?:log ?in|account|creds|credentials)\b)",
            AI,
        ),
        accept=value_is(lambda value: looks_made_up(value.strip(TRIM))),
        digits=1,
    ),
    Rule(
        kind="credential",
        source="archives on the command line",
        cues=("zip ",),
        pattern=Lazy(
            rf"zip\s[^\n{NOT_MASK}]{{0,40}}?(?<=\s)-P\s?[\"']?(?P<v>[^\s{NOT_MASK}\"']{{3,64}})"
        ),
    ),
    Rule(
        kind="credential",
        source="echo X | sudo -S",
        cues=("echo ",),
        pattern=Lazy(
            rf"echo\s[\"']?(?P<v>[^\s{NOT_MASK}\"'|]{{3,64}})[\"']?\s{{0,2}}\|\s{{0,2}}sudo\s-S"
        ),
    ),
    Rule(
        kind="credential",
        source="login told as name and password without a word between",
        cues=("login", "creds", "credentials"),
        pattern=Lazy(
            r"(?:login|creds|credentials)[: ]{1,2}[A-Za-z][\w.@\-]{1,32}\s(?P<v>[^\s"
            rf"{NOT_MASK}\"']{{6,64}}+)",
            AI,
        ),
        accept=value_is(lambda value: looks_made_up(value, announced=True) and _jumpy(value)),
        digits=1,
    ),
    Rule(
        kind="credential",
        source="default accounts: name:password, name/password",
        cues=("root", "admin", "guest", "demo", "user", "test"),
        pattern=Lazy(
            r"(?<![\w./@\-])(?:root|admin(?:istrator)?|guest|demo|user|test)\s?(?P<by>[:/])\s?"
            rf"(?P<v>[^\s{NOT_MASK}\"'/:]{{5,64}}+)(?![/:])",
            AI,
        ),
        accept=_default_account,
        digits=1,
    ),
    Rule(
        kind="credential",
        source="Windows and Samba on the command line",
        cues=("net user ", "-u "),
        pattern=Lazy(
            rf"(?:net user\s[\w.\-]{{1,32}}\s(?P<n>)|-U\s[\w.\-\\]{{1,48}}%)"
            rf"(?P<v>[^\s{NOT_MASK}\"'/*]{{4,64}})",
            AI,
        ),
        accept=value_is(could_be_password),
    ),
    Rule(
        kind="credential",
        source="MySQL clients: -pPASSWORD",
        cues=("mysql", "mariadb"),
        pattern=Lazy(
            rf"(?:mysql|mariadb)\w{{0,8}}\s[^\n{NOT_MASK}]{{0,60}}?(?<=\s)-p"
            rf"(?P<v>[^\s{NOT_MASK}\-]{{4,64}}+)",
            AI,
        ),
        accept=value_is(lambda value: could_be_password(value) and value[0] != "$"),
    ),
    Rule(
        kind="credential",
        source="name:password@host",
        cues=(),
        pattern=Lazy(
            r"(?<![\w./:@\-])(?P<n>[A-Za-z][\w.\-]{0,31}):"
            rf"(?P<v>[^\s{NOT_MASK}:@/]{{3,64}})@(?:[a-z0-9\-]{{1,40}}\.){{1,4}}[a-z]{{2,12}}\b",
            AI,
        ),
        accept=_login_at_host,
        needs="@",
    ),
    Rule(
        kind="credential",
        source="address:password",
        cues=(),
        pattern=Lazy(
            r"(?<![\w.+\-])[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,4}:"
            rf"(?P<v>[^\s{NOT_MASK}\"':/]{{5,64}}+)",
            re.ASCII,
        ),
        accept=value_is(lambda value: looks_made_up(value.strip(TRIM), announced=True)),
        needs="@",
    ),
    Rule(
        kind="credential",
        source="command line options",
        cues=("--pass", "--pwd"),
        pattern=Lazy(
            rf"--(?:pass|pwd)(?:word|wd|phrase)?[ =][\"']?(?P<v>[^\s{NOT_MASK}\"']{{3,256}}+)", AI
        ),
        accept=value_is(lambda value: could_be_password(value) and value[0] not in "$<"),
    ),
    Rule(
        kind="credential",
        source="gitleaks: curl-auth-user",
        cues=("curl",),
        pattern=Lazy(
            rf"curl[^{NOT_MASK}]{{0,200}}?\s(?:-u|--user)[ =]{{0,2}}[\"']?"
            rf"[^\s:{NOT_MASK}\"']{{1,64}}:(?P<v>[^\s{NOT_MASK}\"']{{3,256}}+)",
            AI,
        ),
    ),
    Rule(
        kind="credential",
        source="kingfisher: passwords on the command line",
        cues=("psexec", "sshpass"),
        pattern=Lazy(
            rf"(?:psexec|sshpass)[^\n{NOT_MASK}]{{0,120}}?\s-p[ ]?[\"']?"
            rf"(?P<v>[^\s{NOT_MASK}\"']{{3,64}}+)",
            AI,
        ),
    ),
    Rule(
        kind="credential",
        source="passwords in scripts without word spaces",
        cues=SCRIPT_PASSWORD_CUES,
        pattern=Lazy(
            "(?:" + "|".join(SCRIPT_PASSWORD_CUES) + ")"
            r"\s{0,2}(?:是|为|為|は|이|가|는|은|هي|है|คือ|:|：|=|＝)?\s{0,2}[「『\"“']?"
            r"(?P<v>[!-~]{3,64}+)"
        ),
        accept=value_is(lambda value: could_be_password(value) and value[0] not in ":?!.,"),
    ),
    Rule(
        kind="credential",
        source="secret words in scripts without word spaces",
        cues=SCRIPT_WORD_CUES,
        pattern=Lazy(
            "(?:" + "|".join(SCRIPT_WORD_CUES) + ")"
            rf"[^\n「『“\"{NOT_MASK}]{{0,12}}[「『“](?P<v>[^」』”\n{NOT_MASK}]{{2,32}})[」』”]"
        ),
    ),
    Rule(
        kind="credential",
        source="answers to security questions",
        cues=("secret question", "security question", "security answer", "secret answer"),
        pattern=Lazy(
            r"(?:secret|security)\s(?:question[^\n]{0,60}?\banswer|answer)(?:\s{0,2}[:=]"
            r"|\s{1,2}is:?)\s{1,2}"
            rf"[\"']?(?P<v>[^\s{NOT_MASK}\"']{{3,64}})",
            AI,
        ),
        accept=value_is(could_be_password),
    ),
    Rule(
        kind="credential",
        source="secret: X",
        cues=("secret",),
        pattern=Lazy(rf"secret\s?[:=]\s?(?P<v>[^\s{NOT_MASK}\"',;]{{5,64}}+)", AI),
        accept=value_is(
            lambda value: not CALL.match(value) and looks_made_up(value.strip(TRIM), announced=True)
        ),
        digits=1,
    ),
)
