"""A state as bytes and back: equal states, equal bytes; altered bytes are never believed."""

import subprocess
import sys

import attrs
import pytest
from histories import History
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events import cbor
from turnfold.events.codec import REASON_CODES, decode_events, encode_events
from turnfold.events.errors import CorruptData, UnsupportedFormat
from turnfold.events.event import Event
from turnfold.events.evolve import evolve, fold
from turnfold.events.reasons import Reason
from turnfold.events.restore import restore, restore_from
from turnfold.events.sealed import Erased, Unreadable, Withheld
from turnfold.events.skeleton import BLOCK_ITEMS, FOLD_VERSION, items_of, pack_block, stored_parts
from turnfold.events.snapshot import (
    capture,
    sealed_parts,
    skeleton,
    skeleton_blocks,
    state_digest,
)
from turnfold.events.state import StoreState

SEEDS = st.integers(0, 2**32)


def history(seed: int, commands: int = 60) -> History:
    return History(seed).run(commands)


def payload_of(state: StoreState) -> bytes:
    return b"".join(part for _session, _position, part in sealed_parts(capture(state)))


def as_read(frames: list[tuple[Event, ...]], *, keep: bool | None) -> list[Event]:
    """The events after a way through bytes: content kept, zeroed (False) or withheld (None)."""
    events: list[Event] = []
    for frame in frames:
        chained, payload = encode_events(frame)
        read = payload if keep else None if keep is None else bytes(len(payload))
        events.extend(decode_events(chained, frame[0].position, read))
    return events


@given(seed=SEEDS)
def test_a_restored_state_has_the_same_digest_and_the_same_content(seed: int) -> None:
    state = fold(history(seed).events)

    restored = restore_from(skeleton(capture(state)), payload_of(state))

    assert state_digest(capture(restored)) == state_digest(capture(state))
    assert payload_of(restored) == payload_of(state)
    assert restored.index == {start: found for start, found in state.index.items() if found}
    assert restored.where == state.where
    assert restored.opening == state.opening
    assert list(restored.ended.items()) == list(state.ended.items())
    assert [session.turns for session in restored.sessions()] == [
        session.turns for session in state.sessions()
    ]


@given(seed=SEEDS, cut=st.integers(0, 60))
def test_a_fold_from_any_snapshot_equals_the_fold_from_the_start(seed: int, cut: int) -> None:
    frames = history(seed).frames
    before = fold(event for frame in frames[:cut] for event in frame)
    rest = [event for frame in frames[cut:] for event in frame]

    restored = restore_from(skeleton(capture(before)), payload_of(before))

    assert state_digest(capture(fold(rest, restored))) == state_digest(capture(fold(rest, before)))


@given(seed=SEEDS)
def test_the_digest_is_the_same_with_content_without_it_and_after_erasure(seed: int) -> None:
    frames = history(seed).frames

    digests = {
        state_digest(capture(fold(as_read(frames, keep=keep)))) for keep in (True, False, None)
    }

    assert len(digests) == 1


@given(seed=SEEDS, batch=st.integers(1, 20))
def test_the_digest_after_a_rollback_is_the_one_before_the_batch(seed: int, batch: int) -> None:
    frames = history(seed).frames
    state = fold(event for frame in frames[:-batch] for event in frame)
    before = state_digest(capture(state))

    for frame in frames[-batch:]:
        for event in frame:
            evolve(state, event)
    state.rollback()

    assert state_digest(capture(state)) == before


def test_a_capture_does_not_change_with_the_state() -> None:
    frames = history(7).frames
    state = fold(event for frame in frames[:-20] for event in frame)
    captured = capture(state)
    before = skeleton(captured)

    fold((event for frame in frames[-20:] for event in frame), state)

    assert skeleton(captured) == before
    assert state_digest(capture(state)) != state_digest(captured)


def test_no_text_name_or_avatar_stands_in_a_skeleton() -> None:
    made = history(11, commands=200)
    state = fold(made.events)
    bytes_of_it = skeleton(capture(state))

    for session in state.sessions():
        assert session.key is not None
        assert session.key.avatar.bytes not in bytes_of_it
        assert not any((turn.text or "").encode() in bytes_of_it for turn in session.turns)
    assert b"touch" not in bytes_of_it


def test_zeroed_parts_are_erased_and_altered_ones_unreadable() -> None:
    state = fold(history(3).events)
    parts = list(stored_parts(skeleton(capture(state))))
    payload = bytearray(payload_of(state))
    zeroed, altered = parts[1], parts[-1]
    payload[zeroed.offset : zeroed.offset + zeroed.length] = bytes(zeroed.length)
    payload[altered.offset] ^= 1

    restored = restore_from(skeleton(capture(state)), bytes(payload))

    found = {
        position: part
        for session in restored.sessions()
        for position, part in [
            (session.start, session.started.sealed),
            *((turn.position, turn.sealed) for turn in session.turns),
            *([(session.summary.position, session.summary.sealed)] if session.summary else []),
        ]
    } | {record.position: record.sealed for record in restored.records.values()}
    assert type(found[zeroed.position]) is Erased
    assert type(found[altered.position]) is Unreadable
    again = restore_from(skeleton(capture(restored)), payload_of(restored))
    assert state_digest(capture(again)) == state_digest(capture(state))
    assert sum(type(part) is Unreadable for part in found.values()) == 1


def test_stored_parts_lie_where_the_sealed_parts_are() -> None:
    state = fold(history(5, commands=150).events)
    captured = capture(state)
    payload = payload_of(state)

    stored = list(stored_parts(skeleton(captured)))

    assert [
        (part.session, part.position, payload[part.offset : part.offset + part.length])
        for part in stored
    ] == list(sealed_parts(captured))
    assert sum(part.length for part in stored) == len(payload)


def test_a_state_without_content_has_no_sealed_parts() -> None:
    state = fold(history(3).events)
    withheld = restore(skeleton(capture(state)), None)

    assert type(next(withheld.sessions()).started.sealed) is Withheld
    with pytest.raises(ValueError, match="withheld"):
        payload_of(withheld)


def test_blocks_are_small_and_full_but_for_the_last() -> None:
    blocks = list(skeleton_blocks(capture(fold(History(1, avatars=99).run(600).events))))

    assert len(blocks) > 2
    assert {len(cbor.decode(block[4:])) for block in blocks[:-1]} == {BLOCK_ITEMS}


# --- nothing is believed --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_each_flipped_bit_is_refused_or_leaves_a_state_within_bounds(seed: int) -> None:
    """The digest finds every flip; restore by itself must not crash nor build nonsense."""
    intact = skeleton(capture(fold(history(seed, commands=25).events)))
    for index in range(len(intact)):
        altered = bytearray(intact)
        altered[index] ^= 1 << (index + seed) % 8
        try:
            state = restore(bytes(altered), None)
        except (CorruptData, UnsupportedFormat):
            continue
        assert skeleton(capture(state)) == bytes(altered)


def test_each_truncation_is_refused() -> None:
    intact = skeleton(capture(fold(history(2, commands=25).events)))

    for size in range(len(intact)):
        with pytest.raises(CorruptData):
            restore(intact[:size], None)


def altered_items(change: dict[int, object], item: int = 0) -> bytes:
    """A valid skeleton with fields of one of its items replaced."""
    items: list[list[object]] = list(
        items_of(skeleton(capture(fold(history(4, commands=20).events))))
    )
    for field, value in change.items():
        items[item][field] = value
    return b"".join(
        pack_block([tuple(one) for one in items[at : at + BLOCK_ITEMS]])
        for at in range(0, len(items), BLOCK_ITEMS)
    )


@pytest.mark.parametrize(
    ("item", "change"),
    [
        (0, {1: 1}),  # a state that lies before its sessions
        (0, {2: 1.5}),
        (0, {3: -1}),
        (0, {4: 1}),  # sizes that don't add up
        (0, {7: b"short"}),
        (0, {10: [10**9] * 15}),
        (0, {13: 70_000}),
        (0, {13: 0}),
        (1, {0: 0}),
        (1, {3: REASON_CODES[Reason.ADDED_AVATAR]}),  # no way to start
        (1, {4: b"id"}),
        (1, {6: 2}),  # no such channel
        (1, {7: None}),
        (1, {9: 5000}),
        (1, {12: 4000}),
        (1, {14: 1}),
        (2, {0: 10**6}),
        (2, {3: REASON_CODES[Reason.STARTED_FIRST_TURN]}),
        (2, {4: 70_000}),
        (2, {6: b"\0" * 15}),
        (2, {10: [["jwt"]]}),
        (2, {10: [["jwt", True]]}),
        (2, {11: b"tag"}),
    ],
)
def test_a_field_out_of_bounds_is_refused(item: int, change: dict[int, object]) -> None:
    assert restore(altered_items({}), None).position
    with pytest.raises(CorruptData):
        restore(altered_items(change, item), None)


def test_another_fold_version_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedFormat, match=f"version {FOLD_VERSION + 1} of the fold"):
        restore(altered_items({0: FOLD_VERSION + 1}), None)


def test_a_session_that_stands_twice_is_refused() -> None:
    state = fold(history(6).events)
    captured = capture(state)
    first = captured.sessions[0]
    twice = attrs.evolve(
        captured,
        sessions=(first, *captured.sessions),
        total_bytes=captured.total_bytes + first.size,
    )

    with pytest.raises(CorruptData, match="twice"):
        restore(skeleton(twice), None)


# --- determinism ----------------------------------------------------------------------------

PROGRAM = """
from histories import History
from turnfold.events.evolve import fold
from turnfold.events.snapshot import capture, state_digest
print(state_digest(capture(fold(History(9).run(300).events))).hex())
"""


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_the_digest_does_not_depend_on_the_hash_seed(hash_seed: str) -> None:
    expected = state_digest(capture(fold(history(9, commands=300).events))).hex()

    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout.strip() == expected
