"""Who talks where: conversation keys, channels, and the pseudonyms that stand for avatars.

A key is an avatar's UUID and a channel, nothing else: no connection, region or login id, so a
reconnect to the grid neither starts, ends nor forks a session.
"""

import re
from enum import Enum
from hashlib import blake2b
from typing import NewType
from uuid import UUID

import attrs

from turnfold.events.errors import InvalidInput, InvalidKey

NS_PER_S = 1_000_000_000

SessionId = NewType("SessionId", str)
"""32 lower-case hexadecimal digits: 128 random bits."""

Pseudonym = NewType("Pseudonym", bytes)
"""16 bytes that stand for one avatar in one store; keyed, so not guessable from a UUID."""

_UUID = re.compile(r"(?:urn:uuid:)?(?:\{([0-9a-f-]+)\}|([0-9a-f-]+))", re.ASCII | re.IGNORECASE)
_HYPHENATED = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_SESSION_ID = re.compile(r"[0-9a-f]{32}")
_BARE = re.compile(r"[0-9a-f]{32}", re.ASCII | re.IGNORECASE)


class Channel(Enum):
    """The two places where an avatar talks to the agent. Group chat can't be represented."""

    PUBLIC_CHAT = "public_chat"
    DIRECT_IM = "direct_im"

    ttl_ns: int
    code: int


# Exact inactivity after which a session has expired (age >= ttl), and the code on disk.
Channel.PUBLIC_CHAT.ttl_ns = 30 * 60 * NS_PER_S
Channel.DIRECT_IM.ttl_ns = 24 * 3600 * NS_PER_S
Channel.PUBLIC_CHAT.code = 0
Channel.DIRECT_IM.code = 1
CHANNELS = (Channel.PUBLIC_CHAT, Channel.DIRECT_IM)  # index == code


def parse_channel(value: object) -> Channel:
    """The channel named `value`. Raises InvalidKey for any other name."""
    if isinstance(value, Channel):
        return value
    for channel in CHANNELS:
        if channel.value == value:
            return channel
    raise InvalidKey("unknown channel; use public_chat or direct_im")


def check_session_id(value: object) -> None:
    """Raises InvalidInput unless it has a SessionId's form."""
    if not isinstance(value, str) or _SESSION_ID.fullmatch(value) is None:
        raise InvalidInput("session must be the session_id of a receipt, 32 hexadecimal digits")


def parse_avatar(value: object) -> UUID:
    """The UUID that `value` spells (any case, with braces, `urn:uuid:`, with or without hyphens).

    Raises InvalidKey for anything else, numbers and bytes included.
    """
    if isinstance(value, UUID):
        return value
    if isinstance(value, str) and len(value) <= 64:
        match = _UUID.fullmatch(value)
        if match:
            digits = match[1] or match[2]
            if _HYPHENATED.fullmatch(digits) or _BARE.fullmatch(digits):
                return UUID(digits)
    raise InvalidKey("the avatar is not a UUID; pass a uuid.UUID or its usual spelling")


@attrs.frozen(cache_hash=True)
class ConversationKey:
    """One avatar in one channel. Two spellings of a UUID give equal keys.

    Raises InvalidKey if the avatar is not a UUID or the channel is unknown.
    """

    avatar: UUID = attrs.field(converter=parse_avatar)
    channel: Channel = attrs.field(converter=parse_channel)


def pseudonym(secret: bytes, avatar: UUID) -> Pseudonym:
    """The avatar's stand-in in the chained part: BLAKE2b-128 keyed with the store's secret."""
    return Pseudonym(
        blake2b(avatar.bytes, digest_size=16, key=secret, person=b"tf-avatar").digest()
    )


def key_check(secret: bytes) -> bytes:
    """8 bytes by which a segment header recognises the pseudonym secret it was written under."""
    return blake2b(b"check", digest_size=8, key=secret, person=b"tf-keycheck").digest()


def boundary_key(secret: bytes) -> bytes:
    """32 bytes that key the delimiters of untrusted blocks, so that no text can forge one."""
    return blake2b(b"boundary", digest_size=32, key=secret, person=b"tf-boundary").digest()
