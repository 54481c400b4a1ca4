"""Session-state values to test with, and strategies that draw them."""

from typing import Any

from hypothesis import strategies as st

from turnfold.events.session_state import (
    DigestKey,
    DigestKeyring,
    OperatorApproval,
    SessionRuntimeProfile,
    SessionStateAnchor,
    SessionStateRecord,
    SessionTurnDigest,
    TaskProfile,
    TenantScope,
    WritePolicy,
)

KEY = DigestKey("key-1", b"one secret of the store's own..." * 2)
OTHER_KEY = DigestKey("key-2", b"another secret of the store......")
KEYRING = DigestKeyring(OTHER_KEY, (KEY,))
SCOPE = TenantScope("tenant", "workspace", "session")
SHA = "sha256:" + "ab" * 32

NOW_NS = 1_800_000_000_000_000_000
APPROVAL = OperatorApproval("operator-7", at=NOW_NS - 10, until=NOW_NS + 10)
ALLOWED = WritePolicy(durable_writes_enabled=True)

MEMORY = SessionStateAnchor("memory_chain", "memory:1", SHA)
GENE = SessionStateAnchor("gene_chain", "gene:1", SHA)
RETRIEVAL = SessionStateAnchor("retrieval", "retrieval:1", SHA)
EXPERIENCE = SessionStateAnchor("experience", "experience:1", SHA)
ROUTING = SessionStateAnchor("routing", "routing:1", SHA)
RUNTIME_KV = SessionStateAnchor("runtime_kv", "kv:1", SHA)

PROFILE = SessionRuntimeProfile(
    TaskProfile.CODING,
    model_id="org/model-7b@main",
    tokenizer="org/tokenizer",
    context_window=8192,
    max_tokens=1024,
    streaming=True,
    cancellation_anchor_digest=SHA,
)


def turn(number: int = 1, text: str = "hello", preview: str | None = None) -> SessionTurnDigest:
    return SessionTurnDigest.of(
        text,
        turn_id=f"turn-{number}",
        role="avatar",
        scope=SCOPE,
        key=KEY,
        summary_preview=preview,
    )


def record(**changes: Any) -> SessionStateRecord:
    """A full record that may be written, with some parts changed."""
    parts: dict[str, Any] = {
        "state_id": "state-1",
        "scope": SCOPE,
        "profile": PROFILE,
        "memory_anchors": (MEMORY,),
        "gene_anchors": (GENE,),
        "retrieval_evidence": (RETRIEVAL, EXPERIENCE),
        "routing_evidence": (ROUTING, RUNTIME_KV),
        "turns": (turn(1), turn(2)),
        "source_trace_ids": ("trace:1", "trace:2"),
    }
    return SessionStateRecord.build(**(parts | changes))


ids = st.from_regex(r"[A-Za-z0-9._:-]{1,128}", fullmatch=True)
scopes = st.builds(TenantScope, ids, ids, ids)
digests = st.binary(min_size=32, max_size=32).map(lambda raw: f"sha256:{raw.hex()}")
roles = st.sampled_from(["avatar", "agent", "tool"])


def anchors(*kinds: str) -> st.SearchStrategy[list[SessionStateAnchor]]:
    one = st.builds(SessionStateAnchor, st.sampled_from(kinds), ids, digests)
    return st.lists(one, max_size=4, unique_by=lambda anchor: (anchor.kind, anchor.anchor_id))


def turns(scope: TenantScope) -> st.SearchStrategy[list[SessionTurnDigest]]:
    one = st.builds(
        SessionTurnDigest.of,
        st.text(max_size=40),
        turn_id=ids,
        role=roles,
        scope=st.just(scope),
        key=st.just(KEY),
        token_estimate=st.none() | st.integers(0, 1 << 31),
        summary_preview=st.none() | st.text(max_size=200),
    )
    return st.lists(one, max_size=4, unique_by=lambda item: item.turn_id)


profiles = st.builds(
    SessionRuntimeProfile,
    st.sampled_from(TaskProfile),
    model_id=st.none() | ids,
    tokenizer=st.none() | ids,
    context_window=st.none() | st.integers(1 << 20, 1 << 31),
    max_tokens=st.none() | st.integers(1, 1 << 20),
    streaming=st.booleans(),
    cancellation_anchor_digest=st.none() | digests,
)


@st.composite
def records(draw: st.DrawFn) -> SessionStateRecord:
    """Any record that can be built."""
    scope = draw(scopes)
    return SessionStateRecord.build(
        state_id=draw(ids),
        scope=scope,
        profile=draw(profiles),
        memory_anchors=draw(anchors("memory_chain")),
        gene_anchors=draw(anchors("gene_chain")),
        retrieval_evidence=draw(anchors("retrieval", "experience")),
        routing_evidence=draw(anchors("routing", "runtime_kv")),
        turns=draw(turns(scope)),
        source_trace_ids=draw(st.lists(ids, max_size=4, unique=True)),
    )
