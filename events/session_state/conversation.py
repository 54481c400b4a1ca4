"""Where the two APIs meet: a live conversation seen as turn digests, with no text kept."""

from collections.abc import Iterable
from typing import Protocol

from turnfold.events.keys import ConversationKey
from turnfold.events.session_state.digest import DigestKey, DigestKeyring, DigestPurpose
from turnfold.events.session_state.scope import TenantScope
from turnfold.events.session_state.turn_digest import SessionTurnDigest, estimate_tokens
from turnfold.events.turns import Role


class ConversationTurn(Protocol):
    """What a record needs to know of one turn of a conversation."""

    @property
    def position(self) -> int:
        """The turn's position: unique, rising."""
        ...

    @property
    def role(self) -> Role:
        """Who spoke."""
        ...

    @property
    def payload(self) -> bytes:
        """The stored bytes that stand for the turn. They are digested and not kept."""
        ...

    @property
    def byte_count(self) -> int:
        """UTF-8 bytes of the turn's text, for the token estimate."""
        ...


def turn_digests(
    turns: Iterable[ConversationTurn], *, scope: TenantScope, key: DigestKey
) -> tuple[SessionTurnDigest, ...]:
    """One digest a turn, named `turn-POSITION`. No preview is ever made from a conversation."""
    return tuple(
        SessionTurnDigest.of(
            turn.payload,
            turn_id=f"turn-{turn.position}",
            role=turn.role,
            scope=scope,
            key=key,
            token_estimate=estimate_tokens(turn.byte_count),
        )
        for turn in turns
    )


def derived_from(conversation: ConversationKey, key: DigestKey) -> str:
    """The keyed digest that ties a record to the conversation it was built from."""
    return key.digest(DigestPurpose.CONVERSATION, *_parts(conversation))


def derived_from_any(conversation: ConversationKey, keys: DigestKeyring) -> frozenset[str]:
    """`derived_from` under each key: what records of a deleted conversation can carry."""
    return keys.digests(DigestPurpose.CONVERSATION, *_parts(conversation))


def state_id_of(conversation: ConversationKey, key: DigestKey) -> str:
    """The state id of a conversation's record when the caller names none: one per key."""
    digest = key.digest(DigestPurpose.STATE_ID, *_parts(conversation))
    return f"conversation-{digest[-64:-32]}"


def _parts(conversation: ConversationKey) -> tuple[str | bytes, ...]:
    return (conversation.avatar.bytes, conversation.channel.value)
