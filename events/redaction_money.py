"""Rules for payment cards and wallet seed phrases."""

import re

from turnfold.events.redaction_rule import Lazy, Rule
from turnfold.events.redaction_shapes import passes_luhn
from turnfold.events.redaction_words import FUNCTION_WORDS

AI = re.ASCII | re.IGNORECASE

# Issuers' ranges (ISO/IEC 7812-1): Visa, Mastercard, American Express, Discover, JCB, Diners.
_ISSUER = re.compile(
    r"4\d{12}(?:\d{3}(?:\d{3})?)?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]"
    r"|[68]\d)\d{11}",
    re.ASCII,
)
_GAPS = re.compile(r"[ \-]")


def _card(match: re.Match[str]) -> bool:
    digits = _GAPS.sub("", match["v"])
    return _ISSUER.fullmatch(digits) is not None and passes_luhn(digits) and len(set(digits)) > 1


_WORD = re.compile(r"[a-z]+", AI)


def _seed(match: re.Match[str]) -> bool:
    """Words that no sentence holds together."""
    words = [word.lower() for word in _WORD.findall(match["v"])]
    return sum(word in FUNCTION_WORDS for word in words) <= len(words) // 8


def _announced_seed(between: str) -> Rule:
    return Rule(
        kind="seed",
        source="BIP 39: seed phrases, announced",
        cues=("seed", "mnemonic", "recovery phrase", "recovery words", "backup phrase"),
        pattern=Lazy(
            r"(?:seed|mnemonic|recovery|backup)(?:[ \-]?(?:phrase|words?|key))?"
            r"(?:\s{1,2}(?:for|of|to)(?:\s[a-z]{1,12}){1,3})?"
            r"(?:\s{0,2}[:=]|\s{1,2}(?:is|are|was):?)\s{1,3}[\"']?"
            rf"(?P<v>(?:(?:\d{{1,2}}[.):]?\s?)?[a-z]{{3,8}}{between}){{5,23}}"
            r"(?:\d{1,2}[.):]?\s?)?[a-z]{3,8})",
            AI,
        ),
        accept=_seed,
    )


MONEY_RULES = (
    Rule(
        kind="card",
        source="ISO/IEC 7812-1: card numbers",
        cues=(),
        pattern=Lazy(
            r"(?P<v>\d(?<![\w.\-/=]\d)\d{3}[ \-]?\d{4}[ \-]?\d{4}[ \-]?\d{1,4}(?:[ \-]?\d{1,3})?"
            r"|\d(?<![\w.\-/=]\d)\d{3}[ \-]?\d{6}[ \-]?\d{4,5})(?![\w\-/])",
            re.ASCII,
        ),
        accept=_card,
        digits=13,
    ),
    Rule(
        kind="card",
        source="card verification codes",
        cues=("cvv", "cvc", "cvn"),
        pattern=Lazy(
            r"(?:cvv|cvc|cvn)2?(?:\s{1,2}(?:code|number))?(?:\s{0,2}[:=]\s{0,2}|\s{1,2}"
            r"(?:is\s{1,2})?)"
            r"(?P<v>\d{3,4})(?!\d)",
            AI,
        ),
        digits=3,
    ),
    _announced_seed(r"[ ,\n]{1,2}"),
    _announced_seed(r"[ ,]{1,2}"),  # for one that a sentence follows on the next line
    Rule(
        kind="seed",
        source="BIP 39: a message that is nothing but twelve words or more",
        cues=(),
        pattern=Lazy(r"\A\s{0,4}(?P<v>(?:[a-z]{3,8}[ \n]){11,23}+[a-z]{3,8})\s{0,4}\Z", re.ASCII),
        accept=lambda match: not any(word in FUNCTION_WORDS for word in match["v"].split()),
    ),
)
