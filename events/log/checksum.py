"""CRC32C (Castagnoli), which finds accidents, not forgeries: those are the chain's matter."""

from collections.abc import Callable
from typing import Final, cast

import google_crc32c

CRC_BYTES: Final = 4

# The library's own signature has no types.
crc32c: Final = cast("Callable[[bytes], int]", google_crc32c.value)  # pyright: ignore[reportUnknownMemberType]
