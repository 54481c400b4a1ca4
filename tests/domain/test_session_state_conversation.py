"""A record of a conversation keeps its turns as digests, tied to the conversation by a digest."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import attrs
import pytest
from domain.session_state_cases import (
    ALLOWED,
    GENE,
    KEY,
    KEYRING,
    MEMORY,
    OTHER_KEY,
    PROFILE,
    SCOPE,
)

from turnfold.events.errors import InvalidStateRecord
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.session_state import (
    Blocker,
    DigestKeyring,
    SessionReplayPlanner,
    SessionStateRecord,
    TenantScope,
    decode_record,
    encode_record,
)
from turnfold.events.session_state.conversation import derived_from, derived_from_any
from turnfold.events.session_state.policy import record_blockers
from turnfold.events.turns import Role

AVATAR = UUID("828f937f-5fe2-5d35-a368-a556b6fa9e23")
CONVERSATION = ConversationKey(AVATAR, Channel.DIRECT_IM)


@attrs.frozen
class Spoken:
    """A turn as a conversation gives it."""

    position: int
    role: Role
    payload: bytes

    @property
    def byte_count(self) -> int:
        return len(self.payload)


SPOKEN = [
    Spoken(3, Role.AVATAR, b"can you book a flight?"),
    Spoken(4, Role.AGENT, b"where to?"),
    Spoken(9, Role.TOOL, b""),
]


def from_conversation(
    turns: list[Spoken] = SPOKEN, key: ConversationKey = CONVERSATION, **changes: Any
) -> SessionStateRecord:
    parts: dict[str, Any] = {
        "scope": SCOPE,
        "profile": PROFILE,
        "memory_anchors": [MEMORY],
        "gene_anchors": [GENE],
        "digest_key": KEY,
    }
    return SessionStateRecord.from_conversation(turns, key, **(parts | changes))


def test_turns_keep_position_role_and_size_and_no_text() -> None:
    made = from_conversation()
    assert [(turn.turn_id, turn.role, turn.token_estimate) for turn in made.turns] == [
        ("turn-3", Role.AVATAR, 6),
        ("turn-4", Role.AGENT, 3),
        ("turn-9", Role.TOOL, 0),
    ]
    assert all(turn.summary_preview is None for turn in made.turns)
    for spoken, turn in zip(SPOKEN, made.turns, strict=True):
        assert turn.matches(spoken.payload, SCOPE, KEYRING)
        assert not turn.matches(spoken.payload + b"!", SCOPE, KEYRING)
        assert not turn.matches(spoken.payload, TenantScope("t", "w", "s"), KEYRING)
        if spoken.payload:
            assert spoken.payload not in encode_record(made)


def test_a_record_is_found_by_its_conversation_also_after_keys_rotate() -> None:
    made = from_conversation()
    assert made.derived_from == derived_from(CONVERSATION, KEY)
    assert made.derived_from in derived_from_any(CONVERSATION, KEYRING)
    assert made.derived_from not in derived_from_any(CONVERSATION, DigestKeyring(OTHER_KEY))
    for other in (
        ConversationKey(AVATAR, Channel.PUBLIC_CHAT),
        ConversationKey(UUID(int=AVATAR.int ^ 1), Channel.DIRECT_IM),
    ):
        assert made.derived_from not in derived_from_any(other, KEYRING)
        assert from_conversation(key=other).state_id != made.state_id


def test_the_conversation_can_not_be_read_from_the_record() -> None:
    made = from_conversation()
    for spelled in (str(AVATAR).encode(), AVATAR.hex.encode(), AVATAR.bytes, b"direct_im"):
        assert spelled not in encode_record(made)


def test_a_later_record_of_a_conversation_has_the_same_state_id() -> None:
    later = from_conversation([*SPOKEN, Spoken(12, Role.AVATAR, b"to Seattle")])
    assert later.state_id == from_conversation().state_id
    assert later.state_digest != from_conversation().state_digest
    assert from_conversation(state_id="my-own").state_id == "my-own"


def test_a_record_that_was_read_needs_its_source_again_to_be_written() -> None:
    made = from_conversation()
    assert made.source == CONVERSATION
    back = decode_record(encode_record(made), made.state_digest)
    assert (back.source, back) == (None, made)
    assert record_blockers(made, ALLOWED) == ()
    assert record_blockers(back, ALLOWED) == (Blocker.SOURCE_UNKNOWN,)
    assert record_blockers(back.with_source(CONVERSATION, KEYRING), ALLOWED) == ()
    with pytest.raises(InvalidStateRecord):
        back.with_source(ConversationKey(AVATAR, Channel.PUBLIC_CHAT), KEYRING)
    with pytest.raises(InvalidStateRecord):
        back.with_source(CONVERSATION, DigestKeyring(OTHER_KEY))


def test_a_record_built_by_hand_is_tied_to_no_conversation() -> None:
    made = SessionStateRecord.build(state_id="s", scope=SCOPE, profile=PROFILE)
    assert (made.derived_from, made.source) == (None, None)
    with pytest.raises(InvalidStateRecord):
        attrs.evolve(made, source=CONVERSATION)


def test_the_longest_conversation_fits_into_a_record() -> None:
    last = 2**64 - 1
    turns = [Spoken(last - 4096 + n, Role.AVATAR, b"x") for n in range(4096)]
    long_named = attrs.evolve(KEY, key_id="k" * 32)
    made = from_conversation(turns, digest_key=long_named)
    assert decode_record(encode_record(made), made.state_digest) == made


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_record_of_recorded_chat_holds_none_of_it(shared_data: Path, part: int) -> None:
    """Real turns in, inputs of replay out, and no text of them anywhere in between."""
    roles = {"avatar_text": Role.AVATAR, "agent_response": Role.AGENT}
    with (shared_data / "data" / "direct_im.jsonl").open(encoding="utf-8") as lines:
        chat = [json.loads(line) for line in lines][part * 700 : part * 700 + 700]
    turns = [
        Spoken(number, roles.get(line["kind"], Role.TOOL), line["text"].encode())
        for number, line in enumerate(chat, 1)
    ]
    made = from_conversation(turns)
    encoded = encode_record(made)
    for spoken in turns:
        for start in range(0, len(spoken.payload) - 12, 12):
            assert spoken.payload[start : start + 12] not in encoded
    planner = SessionReplayPlanner()
    preview = planner.preview(SCOPE, made)
    assert [one.reference_id for one in preview.retrieval_inputs] == [MEMORY.anchor_id]
    assert [one.reference_id for one in preview.routing_inputs] == ["coding"]
    assert [one.reference_id for one in preview.gene_inputs] == [GENE.anchor_id]
    assert planner.preview(SCOPE, decode_record(encoded, made.state_digest)) == preview
