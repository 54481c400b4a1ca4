"""One thing that doctor has to say."""

import attrs


@attrs.frozen
class Advice:
    """What was found, and what to do about it. `position` is 0 if it has none.

    `about` is opening, file, mode, key, format, generation, limit, erasure_due, or a check of
    `verify` (VerifyFinding). `urgent`: somebody has to do something.
    """

    about: str
    message: str
    todo: str
    path: str = ""
    position: int = 0
    urgent: bool = False
