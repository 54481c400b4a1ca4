"""References to what a runtime remembers elsewhere: an id and a digest, never the content."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import attrs

from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.checks import Problems, choice, choice_problem, hidden
from turnfold.events.session_state.digest import digest_problem
from turnfold.events.session_state.scope import id_problem

ANCHORS_MAX: Final = 256  # in one slot of a record


class SessionAnchorKind(StrEnum):
    """What an anchor points into."""

    MEMORY_CHAIN = "memory_chain"
    GENE_CHAIN = "gene_chain"
    RUNTIME_KV = "runtime_kv"
    EXPERIENCE = "experience"
    RETRIEVAL = "retrieval"
    ROUTING = "routing"


# The slots of a record -> the kinds of anchor each takes.
SLOT_KINDS: Final = {
    "memory_anchors": frozenset({SessionAnchorKind.MEMORY_CHAIN}),
    "gene_anchors": frozenset({SessionAnchorKind.GENE_CHAIN}),
    "retrieval_evidence": frozenset({SessionAnchorKind.RETRIEVAL, SessionAnchorKind.EXPERIENCE}),
    "routing_evidence": frozenset({SessionAnchorKind.ROUTING, SessionAnchorKind.RUNTIME_KV}),
}


def _kind(value: SessionAnchorKind | str) -> SessionAnchorKind:
    return choice(SessionAnchorKind, value)


@attrs.frozen
class SessionStateAnchor:
    """One reference: its kind (or the kind's name), its id, and a digest of what it refers to.

    Raises InvalidStateRecord naming everything that is wrong.
    """

    kind: SessionAnchorKind = attrs.field(converter=_kind)
    anchor_id: str = attrs.field(repr=hidden)
    evidence_digest: str = attrs.field(repr=hidden)

    def __attrs_post_init__(self) -> None:
        problems = Problems("the anchor")
        problems.add("kind", choice_problem(self.kind, SessionAnchorKind))
        problems.add("anchor_id", id_problem(self.anchor_id))
        problems.add("evidence_digest", digest_problem(self.evidence_digest))
        problems.raise_if_any()


def slot_problems(problems: Problems, slot: str, anchors: Iterable[object]) -> None:
    """Adds what is wrong with the anchors of one slot: types, kinds, duplicates, number."""
    seen: set[tuple[str, str]] = set()
    for number, anchor in enumerate(anchors):
        if type(anchor) is not SessionStateAnchor:
            problems.add(f"{slot}[{number}]", Blocker.BAD_TYPE)
            continue
        if anchor.kind not in SLOT_KINDS[slot]:
            problems.add(f"{slot}[{number}]", Blocker.WRONG_ANCHOR_KIND)
        if (anchor.kind, anchor.anchor_id) in seen:
            problems.add(f"{slot}[{number}]", Blocker.DUPLICATE)
        seen.add((anchor.kind, anchor.anchor_id))
