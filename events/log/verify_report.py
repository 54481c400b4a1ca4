"""What `verify` answers, and the saved chain head that it can be given."""

import re
from typing import Final

import attrs

from turnfold.events.errors import InvalidInput
from turnfold.events.event import Gap

_HEAD: Final = re.compile(r"([0-9]{1,19}):([0-9a-f]{64})", re.ASCII)


@attrs.frozen
class SavedHead:
    """A chain head at a position, as it was written down earlier: "POSITION:64 HEX DIGITS"."""

    position: int
    head: bytes

    @classmethod
    def parse(cls, text: str) -> "SavedHead":
        """Raises InvalidInput unless `text` has that form."""
        match = _HEAD.fullmatch(text.strip())
        if match is None:
            raise InvalidInput("a saved head is POSITION:HEAD, with 64 hexadecimal digits")
        return cls(int(match[1]), bytes.fromhex(match[2]))

    def __str__(self) -> str:
        return f"{self.position}:{self.head.hex()}"


@attrs.frozen
class VerifyFinding:
    """Something that is wrong; `position` is 0 if it has none.

    `check` is frames, chain, payloads, erasure, state, generations, redaction, head or erased.
    """

    check: str
    message: str
    position: int = 0
    path: str = ""


@attrs.frozen
class VerifyReport:
    """What was looked at, and what is wrong with it. `head` may be saved, to be checked later.

    `gaps` are positions that are missing as declared; `from_position` is where the log starts.
    `exported`: it is an export, which has no payloads to look at.
    """

    findings: tuple[VerifyFinding, ...]
    from_position: int
    head: SavedHead
    frames: int
    events: int
    payloads: int
    erased_payloads: int
    generations: int
    gaps: tuple[Gap, ...]
    exported: bool = False

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return not self.findings
