"""Keyed tags under which the store finds records: in its events, its state and its notices.

A tag is 16 bytes of BLAKE2b under the store's own lasting secret, over length-prefixed parts. It
names a record, a scope or a conversation without an id that a caller typed, and different parts
never make one message.
"""

from hashlib import blake2b
from typing import Final

from turnfold.events import cbor
from turnfold.events.session_state.scope import SessionStateKey, TenantScope

TAG_BYTES: Final = 16
REFUSED_LANE: Final = "session_refused"  # no record is ever stored in it


def record_tag(secret: bytes, key: SessionStateKey) -> bytes:
    """The tag that the record of `key` is stored under. `secret` is at most 64 bytes."""
    return _tag(secret, b"tf-state-record", *key.parts)


def scope_tag(secret: bytes, scope: TenantScope) -> bytes:
    """The tag that all records of one scope share: what a listing goes by."""
    return _tag(secret, b"tf-state-scope", *scope.parts)


def lookup_tag(secret: bytes, actor: TenantScope, target: TenantScope, state_id: str) -> bytes:
    """The tag under which `actor` may look for record `state_id` of `target`.

    For its own scope that is the record's tag. For any other it is a tag that nothing is stored
    under, so a lookup that isn't allowed takes the same steps and the same one read as a miss.
    Raises InvalidStateRecord if `state_id` is not an id.
    """
    key = SessionStateKey(target, state_id)
    if actor == target:
        return record_tag(secret, key)
    return _tag(secret, b"tf-state-record", *target.parts, REFUSED_LANE, state_id)


def _tag(secret: bytes, person: bytes, *parts: str) -> bytes:
    message = cbor.encode(parts)
    return blake2b(message, digest_size=TAG_BYTES, key=secret, person=person).digest()
