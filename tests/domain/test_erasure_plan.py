"""A plan zeroes every text that must go, in the log and in generations, and no other."""

import pytest
from histories import History
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.codec import decode_events, encode_events, payload_parts
from turnfold.events.erasure_plan import ErasurePlan, SealedAt, sealed_targets
from turnfold.events.event import ContentErased, Event
from turnfold.events.evolve import evolve, fold
from turnfold.events.keys import Channel, ConversationKey
from turnfold.events.reasons import Reason
from turnfold.events.restore import restore_from
from turnfold.events.session import PendingErasure
from turnfold.events.skeleton import stored_parts
from turnfold.events.snapshot import capture, sealed_parts, skeleton, state_digest
from turnfold.events.state import StoreState

ANNA = ConversationKey("00000000-0000-0000-0000-0000000000aa", Channel.DIRECT_IM)


class Copies:
    """Everything that holds text: the frames of a log, and generations taken on the way."""

    def __init__(self) -> None:
        self.log: list[tuple[int, bytes, bytearray]] = []
        self.generations: list[tuple[bytes, bytearray]] = []

    def erase(self, pending: list[PendingErasure]) -> set[tuple[PendingErasure, tuple[int, int]]]:
        plan = ErasurePlan[tuple[int, int, int]](pending)
        done: set[tuple[PendingErasure, tuple[int, int]]] = set()
        for index, (first, chained, payload) in enumerate(self.log):
            places = list(payload_parts(chained, first))
            for event in decode_events(chained, first, None):
                mine = [part for part in places if first + part.event == event.position]
                sealed = [
                    SealedAt(target, (index, part.offset, part.length), commitment)
                    for part, (target, commitment) in zip(mine, sealed_targets(event), strict=True)
                ]
                if plan.concerns(event):
                    for item, (frame, offset, length) in plan.in_event(event, sealed):
                        self.log[frame][2][offset : offset + length] = bytes(length)
                        done.add((item, (frame, offset)))
            assert len(payload) == sum(part.length for part in places)
        for skeleton_bytes, content in self.generations:
            for part in stored_parts(skeleton_bytes):
                if plan.in_generation(part):
                    content[part.offset : part.offset + part.length] = bytes(part.length)
        return done

    def __contains__(self, text: str) -> bool:
        copies = [payload for _first, _chained, payload in self.log]
        copies += [content for _skeleton, content in self.generations]
        return any(text.encode() in copy for copy in copies)


def run(frames: list[tuple[Event, ...]], every: int) -> tuple[Copies, StoreState]:
    """Stores and folds the frames, with a generation now and then and erasures where recorded."""
    copies, state = Copies(), StoreState()
    for number, frame in enumerate(frames, 1):
        if isinstance(frame[0], ContentErased):
            copies.erase(list(state.pending.values()))
        chained, payload = encode_events(frame)
        copies.log.append((frame[0].position, chained, bytearray(payload)))
        for event in frame:
            evolve(state, event)
        if number % every == 0:
            captured = capture(state)
            content = b"".join(part for _session, _position, part in sealed_parts(captured))
            copies.generations.append((skeleton(captured), bytearray(content)))
    return copies, state


@given(seed=st.integers(0, 2**32), every=st.integers(3, 20))
def test_what_must_go_is_gone_and_what_is_live_stays(seed: int, every: int) -> None:
    history = History(seed).run(80)
    copies, state = run(history.frames, every)
    assert any(text in copies for text in history.live_texts)

    copies.erase(list(state.pending.values()))

    assert [text for text in history.gone if text and text in copies] == []
    assert [text for text in history.live_texts if text not in copies] == []
    events = [
        event
        for first, chained, payload in copies.log
        for event in decode_events(chained, first, bytes(payload))
    ]
    from_the_start = fold(events)
    from_a_generation = restore_from(copies.generations[-1][0], bytes(copies.generations[-1][1]))
    fold(events[from_a_generation.position :], from_a_generation)
    for again in (from_the_start, from_a_generation):
        assert state_digest(capture(again)) == state_digest(capture(state))
        assert list(sealed_parts(capture(again))) == list(sealed_parts(capture(state)))


@given(seed=st.integers(0, 2**32))
def test_a_plan_repeated_finds_the_same_places(seed: int) -> None:
    copies, state = run(History(seed).run(60).frames, 7)
    pending = list(state.pending.values())

    assert copies.erase(pending) == copies.erase(pending)


def test_nothing_pending_erases_nothing() -> None:
    plan = ErasurePlan[int]([])

    assert (plan.first, plan.last) == (0, 0)
    assert not any(plan.concerns(event) for event in History(1).run(30).events)


def test_a_turn_that_a_compaction_left_behind_stays() -> None:
    """A newest exchange too big for a limit gives up its tool turns, not what came before them."""
    history = History(3)
    history.open()
    for text in ("question", "answer", "tool result"):
        history.add(ANNA, text)
    session = history.live[ANNA]
    pending = PendingErasure(
        session=session.start,
        tag=(b"", 0),  # type: ignore[arg-type]  # unused here
        reason=Reason.ERASED_COMPACTED,
        through=history.position + 1,
        covered=max(session.turns),
        kept=tuple(session.turns)[:2],
    )
    copies, _state = run(history.frames, 99)

    copies.erase([pending])

    assert [text in copies for text in session.turns.values()] == [True, True, False]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_text_redacted_repeatedly_keeps_its_newest_form(times: int) -> None:
    history = History(4)
    history.open()
    history.add(ANNA, "first form")
    for _ in range(times):
        history.redact_again(ANNA)
    copies, state = run(history.frames, 1)

    copies.erase(list(state.pending.values()))

    assert not any(text in copies for text in history.gone)
    assert all(text in copies for text in history.live_texts)
