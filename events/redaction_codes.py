"""Rules for one-time codes, PINs, door codes and backup codes."""

import re

from turnfold.events.redaction_rule import Lazy, Rule, before, value_is
from turnfold.events.redaction_shapes import has_letters_and_digits, shape

AI = re.ASCII | re.IGNORECASE


_CODE_NAME = (
    r"\b(?:(?:2fa|(?:2|two)[ \-]?factor|otp|totp|mfa|rsa|one[ \-]?time|verification|auth"
    r"(?:enticator|entication)?|login"
    r"|security|sms|access|confirmation|backup|recovery|door|gate)\s{1,2}"
    r"(?:code|pin|passcode|token)|one[ \-]?time password|otp|totp|2fa|mfa|pin(?:\s(?:code"
    r"|number))?)"
)
_NOT_A_CODE = re.compile(
    r"(?:error|status|exit|return|http|zip|post|postal|area|country|response|product|source|promo"
    r"|colou?r|hex|airport|flight|reservation|booking|discount|dialing|dialling|result|message|stop"
    r"|reason|char|character|ascii|currency|iata|route|bar|qr|machine)\s?(?:code)?$",
    AI,
)


_UNITS = (
    r"(?:lines?|bytes|char|kb|mb|words|pages|loc|years|times|pixels|dollars|euros|prims|people"
    r"|items"
    r"|points|meters|metres|steps|seconds|minutes|percent)"
)


def _spoken_code(match: re.Match[str]) -> bool:
    """«the alarm code is 90417», not «error code: 1045»."""
    return _NOT_A_CODE.search(before(match, 14).rstrip()) is None


_CODE_LINK = (
    r"(?:\s{1,2}(?:for|to|of|on|at|we|i|you|they|that)(?:\s{1,2}[\w\-]{1,16}){1,4}?)?"
    r"(?:\s{0,2}[:=?,]\s{0,2}|\s{1,2}(?:is|was)\s{0,2}:?\s{1,2}|['’]s\s{1,2}|\s{1,2})"
)

_STRONG_NOUN = (
    r"(?:verification|security|log ?in|sign ?in|door|gate|alarm|entry|unlock|2fa"
    r"|two[ \-]?factor|sms|auth"
    r"|authenticat\w{1,4}|bank|card|atm|sim|phone|lockbox|locker|building|elevator|lift|garage|safe"
    r"|keypad|vault|access|confirmation|house|cabin|shed|whatsapp|telegram|signal|google"
    r"|facebook|apple"
    r"|steam|discord|paypal|amazon|microsoft|instagram)"
)
_FOREIGN_NAME = (
    r"(?:c[óo]digo(?: de (?:verificaci[óo]n|acceso|seguridad|verifica[çc][ãa]o|seguran[çc]a))?"
    r"|code de (?:v[ée]rification|s[ée]curit[ée]|confirmation|porte)"
    r"|codice(?: di (?:verifica|sicurezza|accesso))?|(?:best[äa]tigungs|sicherheits|zugangs"
    r"|t[üu]r)code"
    r"|verificatiecode|kod(?:e)?|koodi|код(?: подтверждения| доступа)?|пин(?:-?код)?|pin"
    r"|验证码|驗證碼|認証コード|確認コード|인증번호|暗証番号)"
)
_FOREIGN_LINK = (
    r"(?:\s(?:della|del|de|du|di|der|von|vom|para|pour|für|voor|van|от|для)(?:\s\w{1,16}){1,2})?"
    r"(?:\s{0,2}[:=：＝]\s{0,2}|\s{1,2}(?:ist|lautet|es|est|é|è|is|to|je|on|är|er)\s{1,2}|\s?(?:是"
    r"|は|为|為|는|은)\s?|\s)"
)
_YEAR = re.compile(r"(?:19|20)\d\d")

_HARDWARE = re.compile(r"gpio|header|connector|chip|bowling|jumper|socket|solder", AI)


def _not_hardware(match: re.Match[str]) -> bool:
    """A pin of a chip isn't a PIN."""
    start = match.start("v")
    return _HARDWARE.search(match.string, max(0, start - 24), start) is None


CODE_RULES = (
    Rule(
        kind="code",
        source="digits near the code of something",
        cues=("code", "pin", "combo", "combination"),
        before=44,
        pattern=Lazy(
            rf"[^\n]{{0,44}}?\b{_STRONG_NOUN}\b[^\n.\d]{{0,16}}\b(?:code|pin|combo|combination)\b"
            r"[^\n\d$€£]{0,32}?(?<![\w.,\-/$])(?P<v>\d{4,8}|\d{3}[ \-]\d{3}"
            r"|\d{2}[ \-]\d{2}[ \-]\d{2})"
            r"(?![\w\-/%]|[.,:]\d)",
            AI,
        ),
        accept=lambda match: _YEAR.fullmatch(match["v"]) is None,
        digits=4,
    ),
    Rule(
        kind="code",
        source="codes and PINs in other languages",
        cues=(
            "codigo",
            "código",
            "code de",
            "codice",
            "gungscode",
            "heitscode",
            "gangscode",
            "rcode",
            "ürcode",
            "kod",
            "код",
            "пин",
            "pin",
            "验证码",
            "驗證碼",
            "認証コード",
            "確認コード",
            "인증번호",
            "暗証番号",
            "verificatiecode",
        ),
        before=12,
        pattern=Lazy(
            rf"[^\n]{{0,12}}?(?<![^\W\d_]){_FOREIGN_NAME}{_FOREIGN_LINK}"
            r"(?P<v>\d{4,8}|\d{3}[ \-]\d{3})(?![\w\-/%]|[.,:]\d)",
            re.IGNORECASE,
        ),
        accept=lambda match: _spoken_code(match) and _not_hardware(match),
        digits=4,
    ),
    Rule(
        kind="code",
        source="a PIN spelled out, then in digits",
        cues=("pin is", "pin was", "pin code", "pin number"),
        pattern=Lazy(
            r"pin\s(?:is|was|code|number)\b[^\n\d.]{0,32}?(?P<v>\d{4,6})(?![\w\-/%]|[.,:]\d)", AI
        ),
        accept=lambda match: _YEAR.fullmatch(match["v"]) is None,
        digits=4,
    ),
    Rule(
        kind="code",
        source="a PIN to use",
        cues=("pin",),
        pattern=Lazy(
            r"pin\b[^\n\d.]{0,24}\b(?:use|enter|try|type|to)\s(?P<v>\d{4,6})(?![\w\-/%]|[.,:]\d)",
            AI,
        ),
        accept=lambda match: _YEAR.fullmatch(match["v"]) is None and _not_hardware(match),
        digits=4,
    ),
    Rule(
        kind="code",
        source="one-time codes and PINs",
        cues=("code", "otp", "pin", "2fa", "mfa", "time password"),
        before=24,
        pattern=Lazy(
            r"[^\n]{0,24}?"
            + _CODE_NAME
            + _CODE_LINK
            + r"[\"']?(?:[A-Z]-)?(?P<v>\d{4,8}|\d{3}[ \-]\d{3})(?![\w\-/%]|[.,:]\d)",
            AI,
        ),
        accept=_not_hardware,
        digits=4,
    ),
    Rule(
        kind="code",
        source="six digits called a code",
        cues=("code",),
        pattern=Lazy(
            r"\bcode(?:\s{0,2}[:=]\s{0,2}|\s{1,2}(?:is|was):?\s{1,2}|['’]s\s{1,2}|,?\s"
            r"(?:it['’]?s|it is|that['’]?s)\s|\s)"
            r"(?P<v>\d{6}|\d{3}[ \-]\d{3}|\d{2} \d{2} \d{2})\b",
            AI,
        ),
        accept=_spoken_code,
        digits=6,
    ),
    Rule(
        kind="code",
        source="four to eight digits called the code of something",
        cues=("code", "passcode", "combination", "combo"),
        pattern=Lazy(
            r"(?:passcode|code|combination|combo)(?:\s(?:for|to|of|at|on)(?:\s[a-z]{1,12}){1,3})?"
            r"(?:\s{0,2}[:=]\s{0,2}|\s{1,2}(?:is|was):?\s{1,2}|['’]s\s{1,2}|(?<=passcode)\s)"
            rf"(?P<v>\d{{4,8}}|\d{{2}}-\d{{2}}-\d{{2}})(?![\w\-.,]\w|\w)(?!\s{_UNITS})",
            AI,
        ),
        accept=_spoken_code,
        digits=4,
    ),
    Rule(
        kind="code",
        source="six digits from a message or an app",
        cues=("code",),
        pattern=Lazy(
            r"code\b(?=[^.!?\n]{0,40}?\b(?:sms|text|phone|app|authenticator|e?mail|verif\w{1,8}"
            r"|log ?in))"
            r"[^.!?\n\d]{1,48}(?P<v>\d{6}|\d{3}[ \-]\d{3})(?![\w\-]|[.,]\d)",
            AI,
        ),
        digits=6,
    ),
    Rule(
        kind="code",
        source="digits before «as your code», «is the code»",
        cues=("code", "pin", "passcode"),
        before=40,
        pattern=Lazy(
            r"[^\n]{0,32}?(?<![\w.\-])(?P<v>\d{3}[ \-]\d{3}|\d{4,8})\s{1,2}"
            r"(?:(?:as|is|was|that['’]?s)\s{1,2}(?:[a-z0-9\-]{1,14}\s{1,2}){0,3}"
            r"|(?:the|my|your|our)\s{1,2}(?:[a-z]{1,14}\s{1,2}){0,2})(?:code|pin|passcode)\b",
            AI,
        ),
        accept=lambda match: _YEAR.fullmatch(match["v"]) is None,
        digits=4,
    ),
    Rule(
        kind="code",
        source="six digits near a word for one-time codes",
        cues=("2fa", "otp", "authy", "authenticator"),
        before=48,
        pattern=Lazy(
            r"[^\n]{0,48}?(?<![\w.,\-/#])(?P<v>\d{6}|\d{3}[ \-]\d{3})(?![\w\-/]|[.,]\d)"
            r"[^\n.]{0,40}?\b(?:2fa|otp|authy|authenticator)\b",
            AI,
        ),
        digits=6,
    ),
    Rule(
        kind="code",
        source="six digits after a word for one-time codes",
        cues=("2fa", "otp", "authy", "authenticator"),
        pattern=Lazy(
            r"(?:2fa|otp|authy|authenticator)\b[^\n.\d]{0,48}(?<![\w.,\-/#])"
            r"(?P<v>\d{6}|\d{3}[ \-]\d{3})(?![\w\-/]|[.,]\d)",
            AI,
        ),
        digits=6,
    ),
    Rule(
        kind="code",
        source="two-factor backup codes",
        cues=("2fa", "mfa", "totp"),
        pattern=Lazy(
            r"(?:2fa|mfa|totp)\s(?:backup|recovery)(?:\scodes?)?(?:\s{0,2}[:=]|\s{1,2}(?:is"
            r"|are))?\s{1,2}"
            r"(?P<v>[A-Za-z0-9]{3,6}-?[A-Za-z0-9]{3,6})\b",
            AI,
        ),
        accept=value_is(has_letters_and_digits),
        digits=2,
    ),
    Rule(
        kind="code",
        source="digits that open a door",
        cues=("alarm", "gate", "door", "safe", "keypad", "lock", "vault", "garage"),
        pattern=Lazy(
            r"(?:alarm|gate|door|safe|keypad|lock(?:er)?|vault|garage)\b[^\n.\d]{0,24}"
            r"\b(?:with|code|pin|combo|combination)\s{1,2}(?:is\s{1,2}|the\s{1,2})?"
            r"(?P<v>\d{4,8}|\d{2}-\d{2}-\d{2})(?![\w\-/]|[.,:]\d)",
            AI,
        ),
        digits=4,
    ),
    Rule(
        kind="code",
        source="six digits of a hardware token",
        cues=("rsa ", "fob", "securid", "yubikey"),
        pattern=Lazy(
            r"(?:rsa\s|fob|securid|yubikey)[^\n\d]{0,32}(?<![\w.\-])(?P<v>\d{6}"
            r"|\d{3}[ \-]\d{3})(?![\w\-.])",
            AI,
        ),
        digits=6,
    ),
    Rule(
        kind="code",
        source="six digits to enter",
        cues=("enter ", "type ", "use ", "submit "),
        pattern=Lazy(
            r"(?:enter|type|use|submit)\s{1,2}(?:the\s|this\s)?(?:code\s)?(?P<v>\d{6}"
            r"|\d{3}[ \-]\d{3})\s{1,2}(?:to|as|for|when|on|in)\b"
            r"[^\n.]{0,24}\b(?:verify|verification|log ?in|sign|confirm|authenticat|code)",
            AI,
        ),
        digits=6,
    ),
    Rule(
        kind="code",
        source="letters and digits called a login code",
        cues=("code",),
        before=16,
        pattern=Lazy(
            r"[^\n]{0,16}?\b(?:guard|2fa|login|verification|security|auth|backup|access)\scode"
            r"(?:\s{0,2}[:=]\s{0,2}|\s{1,2}(?:is|was):?\s{1,2})(?P<v>[A-Z0-9]{5,10})\b",
            re.ASCII,
        ),
        accept=value_is(has_letters_and_digits),
        digits=1,
    ),
    Rule(
        kind="code",
        source="backup and recovery codes",
        cues=("backup", "recovery", "rescue", "scratch"),
        pattern=Lazy(
            r"\b(?:backup|recovery|rescue|scratch)\s{1,2}codes?(?:\s{0,2}[:=]|\s{1,2}(?:is|are))?"
            r"\s{1,2}(?P<v>[A-Za-z0-9\-]{6,12}"
            r"(?:[ ,;\n]{1,2}[A-Za-z0-9]{3,6}-?[0-9A-Za-z]{3,6}){0,19})",
            AI,
        ),
        accept=value_is(lambda value: shape(value).digits >= 4),
        digits=4,
    ),
)
