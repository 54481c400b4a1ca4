"""A preview names the inputs of replay, and a request carries them with the prompt to the model."""

import copy
import pickle

import pytest
from domain.session_state_cases import (
    EXPERIENCE,
    GENE,
    MEMORY,
    PROFILE,
    RETRIEVAL,
    ROUTING,
    RUNTIME_KV,
    SCOPE,
    SHA,
    record,
    records,
)
from hypothesis import given
from hypothesis import strategies as st

from turnfold.events.errors import InvalidStateRecord, TextTooLarge
from turnfold.events.session_state import (
    Blocker,
    ReplaySource,
    RuntimeRequest,
    SessionReplayPlanner,
    SessionReplayPreview,
    SessionStateAnchor,
    SessionStateRecord,
    TenantScope,
    decode_record,
)

PLANNER = SessionReplayPlanner()


def references(preview: SessionReplayPreview) -> list[list[str]]:
    slots = (preview.retrieval_inputs, preview.routing_inputs, preview.gene_inputs)
    return [[one.reference_id for one in slot] for slot in slots]


def test_inputs_come_from_their_own_anchors() -> None:
    preview = PLANNER.preview(SCOPE, record())
    assert references(preview) == [
        [MEMORY.anchor_id, RETRIEVAL.anchor_id, EXPERIENCE.anchor_id],
        ["coding", ROUTING.anchor_id, RUNTIME_KV.anchor_id],
        [GENE.anchor_id],
    ]
    assert preview.routing_inputs[0].source is ReplaySource.PROFILE
    assert preview.routing_inputs[0].evidence_digest == PROFILE.digest
    assert preview.gene_inputs[0].evidence_digest == SHA
    assert preview.profile == PROFILE
    assert preview.omitted == 0
    assert not preview.rejected


def test_a_preview_can_change_nothing() -> None:
    preview = PLANNER.preview(SCOPE, record())
    assert preview.read_only is preview.report_only is preview.preview_only is True
    assert preview.write_allowed is False


@given(records(), st.integers(0, 5))
def test_each_kind_of_input_is_bounded_and_keeps_its_order(
    made: SessionStateRecord, most: int
) -> None:
    whole = references(PLANNER.preview(made.scope, made))
    preview = PLANNER.preview(made.scope, made, most)
    assert references(preview) == [slot[:most] for slot in whole]
    assert preview.omitted == sum(len(slot[most:]) for slot in whole)


@pytest.mark.parametrize("most", [-1, 1025, True, 1.0, None])
def test_a_bound_that_is_no_count_is_refused(most: int) -> None:
    with pytest.raises(InvalidStateRecord):
        PLANNER.preview(SCOPE, record(), most)


@given(records())
def test_a_preview_is_the_same_after_storing(made: SessionStateRecord) -> None:
    back = decode_record(made.encoded, made.state_digest)
    assert PLANNER.preview(made.scope, back) == PLANNER.preview(made.scope, made)


def test_nothing_to_replay_is_unavailable() -> None:
    preview = PLANNER.preview(SCOPE, None)
    assert preview.blockers == (Blocker.UNAVAILABLE,)
    assert preview.rejected


def test_a_record_without_anchors_still_gives_its_profile() -> None:
    bare = SessionStateRecord.build(state_id="s", scope=SCOPE, profile=PROFILE)
    assert references(PLANNER.preview(SCOPE, bare)) == [[], ["coding"], []]


# --- the request ---------------------------------------------------------


def test_a_request_carries_the_previewed_inputs_and_the_prompt() -> None:
    preview = PLANNER.preview(SCOPE, record())
    request = RuntimeRequest.from_preview(preview, "what were we doing?")
    assert request.prompt == "what were we doing?"
    assert request.retrieval_inputs == preview.retrieval_inputs
    assert request.routing_inputs == preview.routing_inputs
    assert request.gene_inputs == preview.gene_inputs
    assert (request.scope, request.profile) == (SCOPE, PROFILE)
    assert request.state_digest == record().state_digest
    assert request.read_only is True
    assert request.write_allowed is False


@pytest.mark.parametrize(
    ("preview", "blocker"),
    [
        (PLANNER.preview(TenantScope("a", "b", "c"), record()), Blocker.CROSS_TENANT),
        (PLANNER.preview(SCOPE, None), Blocker.UNAVAILABLE),
    ],
    ids=["foreign", "missing"],
)
def test_no_request_comes_of_a_rejected_preview(
    preview: SessionReplayPreview, blocker: Blocker
) -> None:
    with pytest.raises(InvalidStateRecord) as caught:
        RuntimeRequest.from_preview(preview, "prompt")
    assert blocker.value in caught.value.blockers


def test_a_prompt_is_bounded_in_bytes() -> None:
    preview = PLANNER.preview(SCOPE, record())
    assert len(RuntimeRequest.from_preview(preview, "x" * (256 * 1024)).prompt) == 256 * 1024
    for prompt in ("x" * (256 * 1024 + 1), "é" * (128 * 1024 + 1), "\ud800" * (128 * 1024)):
        with pytest.raises(TextTooLarge):
            RuntimeRequest.from_preview(preview, prompt)


def test_a_prompt_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidStateRecord):
        RuntimeRequest.from_preview(PLANNER.preview(SCOPE, record()), b"prompt")  # type: ignore[arg-type]  # the point


def test_a_request_can_not_be_pickled_into_a_file() -> None:
    request = RuntimeRequest.from_preview(PLANNER.preview(SCOPE, record()), "a secret prompt")
    for spread in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            spread(request)


def test_the_order_of_anchors_is_the_callers() -> None:
    many = [SessionStateAnchor("memory_chain", name, SHA) for name in ("z", "a", "m")]
    preview = PLANNER.preview(SCOPE, record(memory_anchors=many, retrieval_evidence=()), 2)
    assert references(preview)[0] == ["z", "a"]
    assert preview.omitted == 1 + 1  # a memory anchor, and one of three routing inputs
