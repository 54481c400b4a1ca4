"""What the characters of a value say: random, hexadecimal, a plain word.

Pure predicates on short strings. Each is linear in its argument; callers cap values at
`VALUE_MAX` characters, so one judgement has a fixed cost.
"""

import base64
import binascii
import re
from typing import NamedTuple

VALUE_MAX = 256
"""Longest value, in characters, that a rule looks at; the run behind it goes with it."""

JUDGED_MAX = 64
"""The start of a value, in characters, that tells whether it looks random."""

UUID = r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
UUID_OR_HEX = rf"(?:{UUID}|[0-9A-Fa-f]{{32}})"

_UUID = re.compile(UUID)
_HEX = re.compile(r"[0-9A-Fa-f]+")
_HEX_LETTERS = frozenset("0123456789abcdefABCDEF")

# Letters and digits become one mark per class, other ASCII goes; the rest of Unicode stays.
_MARKS: dict[int, str | None] = dict.fromkeys(range(128))
_MARKS.update(dict.fromkeys(range(ord("a"), ord("z") + 1), "a"))
_MARKS.update(dict.fromkeys(range(ord("A"), ord("Z") + 1), "A"))
_MARKS.update(dict.fromkeys(range(ord("0"), ord("9") + 1), "0"))


class Shape(NamedTuple):
    """How many ASCII characters of each class, and how often the class changes."""

    lower: int
    upper: int
    digits: int
    changes: int

    @property
    def size(self) -> int:
        """Letters and digits together."""
        return self.lower + self.upper + self.digits

    @property
    def letters(self) -> int:
        """Letters of both cases."""
        return self.lower + self.upper


def shape(value: str) -> Shape:
    """The shape of `value`; separators neither count nor break a class."""
    marks = value.translate(_MARKS)
    count = marks.count
    changes = count("aA") + count("Aa") + count("a0") + count("0a") + count("A0") + count("0A")
    return Shape(count("a"), count("A"), count("0"), changes)


def has_digit(value: str) -> bool:
    """Whether an ASCII digit is in `value`."""
    return "0" in value.translate(_MARKS)


def has_letters_and_digits(value: str) -> bool:
    """Whether ASCII letters and digits are both in `value`."""
    found = shape(value)
    return found.digits > 0 and found.letters > 0


def has_uuid(value: str) -> bool:
    """Whether a dashed UUID stands anywhere in `value`."""
    return _UUID.search(value) is not None


def is_uuid(value: str) -> bool:
    """Whether `value` is one dashed UUID and nothing else."""
    return _UUID.fullmatch(value) is not None


def is_hex(value: str) -> bool:
    """Whether `value` is hexadecimal digits only (and not empty)."""
    return _HEX.fullmatch(value) is not None


def is_random(value: str, ratio: float = 0.3) -> bool:
    """Three classes that change often: prose, CamelCase and hashes don't look like this."""
    lower, upper, digits, changes = found = shape(value)
    size = found.size
    return size >= 16 and min(lower, upper, digits) > 0 and changes >= ratio * (size - 1)


def is_secretlike(value: str, minimum: int = 16) -> bool:
    """A value that is a secret once a telling name stands before it: no word, no number."""
    if len(value) < minimum:
        return False
    found = shape(value)
    if is_uuid(value):
        return True
    if found.digits and found.letters:
        return len(set(value)) >= 6 and found.changes >= (2 if found.size >= 16 else 3)
    return (
        found.size >= 16
        and min(found.lower, found.upper) > 2
        and found.changes >= 0.3 * (found.size - 1)
    )


def is_one_case_random(value: str) -> bool:
    """Random letters and digits of one case, and not hexadecimal (hashes are left alone)."""
    found = shape(value)
    return (
        found.digits >= 3
        and found.letters >= 6
        and found.changes >= 0.22 * found.size
        and not set(value) <= _HEX_LETTERS
        and len(set(value)) >= 10
    )


def is_binary_text(value: str) -> bool:
    """A long run that only an encoder writes (base64 of something)."""
    found = shape(value)
    return found.digits > 0 and len(set(value)) >= 20 and found.changes >= 0.25 * found.size


def decoded_text(value: str) -> str | None:
    """The printable ASCII text that `value` is the base64 of, or None."""
    body = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    if not raw or any(not 32 <= byte < 127 for byte in raw):
        return None
    return raw.decode("ascii")


def passes_luhn(digits: str) -> bool:
    """The check digit of payment cards (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + place % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0
