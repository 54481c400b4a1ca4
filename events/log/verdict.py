"""What a walk and a fold mean: is the log whole, torn or damaged, and how does it go on? Pure.

The evidence is the highest position that anything proves durable. A first bad position behind it
is a torn tail; at or below it, damage. Three kinds of damage differ in what can be saved:

- the state is proven to the end, for a generation reaches past it: the log stays as it is, the
  damaged bytes are zeroed, and nothing but history is lost;
- the generation reaches past the log's end: the log goes on behind a declared gap;
- otherwise everything from the first bad position on is lost, and with it every live session.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from turnfold.events.event import Gap
from turnfold.events.log.scan import Stop
from turnfold.events.log.survey import Break, Cut, Place, SegmentEntry, Survey
from turnfold.events.log.tail_fold import TailFold
from turnfold.events.reasons import Reason

TO_THE_END: Final = -1


@attrs.frozen
class Region:
    """Bytes of segment `base` that are no part of the log, next to position `around`.

    They go to `end`, or TO_THE_END of the file.
    """

    base: int
    offset: int
    end: int
    around: int
    why: str


@attrs.frozen
class Verdict:
    """How to go on: a segment behind `position`, where the chain's head is `head`.

    With a `gap`, `head` is the one before it. `carried` are frames to be taken along. Afterwards
    `cuts` are cut off, `zeroed` is zeroed and `dropped` goes; `kept` is copied to quarantine first.
    """

    reason: Reason
    position: int
    head: bytes
    gap: Gap | None = None
    carried: tuple[Place, ...] = ()
    replace_tail: bool = False
    kept: tuple[Region, ...] = ()
    zeroed: tuple[Region, ...] = ()
    cuts: tuple[Cut, ...] = ()
    dropped: tuple[SegmentEntry, ...] = ()
    lost_first: int = 0
    lost_last: int = 0
    sessions_lost: bool = False

    @property
    def is_damage(self) -> bool:
        """Whether positions that were durable are gone."""
        return self.reason is Reason.OPENED_DAMAGED


def judge(found: Survey, fold: TailFold, entries: Sequence[SegmentEntry], *, new: bool) -> Verdict:
    """The verdict on a log. `new`: there is nothing of a store yet.

    Changes nothing but the survey's evidence: a whole frame that the state refuses is damage.
    """
    breaks = _breaks(found, fold)
    if fold.misfit is not None:
        found.raise_evidence(fold.misfit.position)
    first_bad = breaks[0].position if breaks else found.position + 1
    if found.evidence < first_bad:
        verdict = _whole_or_torn(found, breaks, new=new)
    elif fold.stuck or fold.state.position < found.evidence or breaks_off(found, fold):
        verdict = _behind_a_gap(found, fold, breaks, entries)
    else:
        verdict = _proven(found, fold, breaks)
    gap = fold.undealt or (fold.bridged if fold.has_unproven else None)
    if gap is not None and not verdict.is_damage:
        verdict = attrs.evolve(
            verdict, reason=Reason.OPENED_DAMAGED, lost_first=gap.first, lost_last=gap.last
        )
    if fold.has_unproven:
        verdict = attrs.evolve(verdict, sessions_lost=True)
    return attrs.evolve(
        verdict,
        cuts=(*verdict.cuts, *found.overlaps),
        dropped=(*verdict.dropped, *found.obsolete),
    )


def breaks_off(found: Survey, fold: TailFold) -> bool:
    """Whether the log ends before the generation that the state is from."""
    return found.position < fold.state.position


def _breaks(found: Survey, fold: TailFold) -> list[Break]:
    """All breaks in order, a whole frame that the state refuses included."""
    misfit = fold.misfit
    if misfit is None:
        return found.breaks
    before = [one for one in found.breaks if one.position <= misfit.position]
    return [*before, misfit, *found.breaks[len(before) :]]


def _torn(tail: Break, cut: bool) -> tuple[tuple[Region, ...], tuple[Cut, ...]]:
    """What is kept and what is cut of a segment that breaks off; replaced segments aren't cut."""
    region = Region(tail.base, tail.offset, TO_THE_END, tail.position, tail.why)
    kept = () if tail.why == Stop.ZEROS.value else (region,)
    return kept, (Cut(tail.base, tail.offset),) if cut else ()


def _whole_or_torn(found: Survey, breaks: list[Break], *, new: bool) -> Verdict:
    tail = breaks[0] if breaks else None
    head = tail.head if tail else found.head
    reason = Reason.OPENED_NEW if new else Reason.OPENED_CLEAN
    if tail is not None:
        reason = Reason.OPENED_TORN_TAIL
    end = found.position + 1 if tail is None else tail.position
    carried = tuple(place for place in found.undurable if place.last < end)
    return _go_on(reason, end - 1, head, carried, tail)


def _go_on(
    reason: Reason, position: int, head: bytes, carried: tuple[Place, ...], tail: Break | None
) -> Verdict:
    """Behind the last whole frame, which is carried along with all that isn't proven durable."""
    kept: tuple[Region, ...] = ()
    cuts: tuple[Cut, ...] = ()
    if tail is not None:
        kept, cuts = _torn(tail, cut=not carried and tail.position > tail.base)
    if carried:
        first = carried[0]
        position, head = first.first - 1, first.head_before
        cuts = (Cut(first.base, first.offset),) if first.first > first.base else ()
    return Verdict(
        reason,
        position,
        head,
        carried=carried,
        replace_tail=bool(carried) or tail is not None,
        kept=kept,
        cuts=cuts,
    )


def _proven(found: Survey, fold: TailFold, breaks: list[Break]) -> Verdict:
    """Damage before the generation: history is lost, and nothing else."""
    tail = breaks[-1] if breaks[-1].position == found.position + 1 else None
    inside = breaks if tail is None else breaks[:-1]
    carried = tuple(found.undurable)
    verdict = _go_on(Reason.OPENED_DAMAGED, found.position, found.head, carried, tail)
    if _is_declared(inside, fold):
        reason = Reason.OPENED_CLEAN if tail is None else Reason.OPENED_TORN_TAIL
        return attrs.evolve(verdict, reason=reason)
    regions = _regions(inside)
    return attrs.evolve(
        verdict,
        kept=(*regions, *verdict.kept),
        zeroed=regions,
        lost_first=inside[0].position,
        lost_last=_last_of(inside),
    )


def _is_declared(inside: list[Break], fold: TailFold) -> bool:
    """Whether an opening has said that what is missing there is lost."""
    first, last = inside[0].position, _last_of(inside)
    return any(gap.holds(first, last) for gap in fold.declared)


def _last_of(inside: list[Break]) -> int:
    """The last position that is missing at these breaks, as far as it is known."""
    return max((one.resumed - 1 for one in inside if one.resumed), default=inside[0].position)


def _regions(inside: list[Break]) -> tuple[Region, ...]:
    """The bytes at these breaks that are no whole frames."""
    return tuple(
        Region(one.base, one.offset, one.end, one.position, one.why)
        for one in inside
        if one.end > one.offset
    )


def _behind_a_gap(
    found: Survey, fold: TailFold, breaks: list[Break], entries: Sequence[SegmentEntry]
) -> Verdict:
    """Everything from the first bad position on is given up, up to whatever anything names.

    Breaks before a generation cost history alone if the state is proven up to a later one.
    """
    proven = fold.state.position
    inside: list[Break] = []
    if breaks and breaks[0].position <= proven:
        inside = [one for one in breaks if one.position <= proven]
        beyond = breaks[len(inside) :]
        if not beyond or beyond[0].position != proven + 1 or not beyond[0].head:
            inside = []
    bad = breaks[len(inside)] if breaks else None
    first, head = (bad.position, bad.head) if bad else (found.position + 1, found.head)
    last = max(found.evidence, found.highest_seen, *(entry.base - 1 for entry in entries), first)
    gap = Gap(first, last, Reason.OPENED_DAMAGED)
    regions: tuple[Region, ...] = ()
    if inside and not _is_declared(inside, fold):
        regions = _regions(inside)
        first = inside[0].position
    kept: tuple[Region, ...] = ()
    cuts: tuple[Cut, ...] = ()
    dropped_from = last + 1
    if bad is not None:
        whole = bad.position <= bad.base or not bad.offset
        dropped_from = bad.base if whole else bad.base + 1
        if not whole:
            kept, cuts = _torn(bad, cut=True)
        else:
            gap, head = _joined(gap, head, entries, bad.base)
    return Verdict(
        Reason.OPENED_DAMAGED,
        last,
        head,
        gap=gap,
        kept=(*regions, *kept),
        zeroed=regions,
        cuts=cuts,
        dropped=tuple(
            entry for entry in entries if entry.base >= dropped_from and entry.header is not None
        ),
        lost_first=first,
        lost_last=last,
        sessions_lost=bool(fold.stuck) or fold.state.position < found.evidence,
    )


def _joined(gap: Gap, head: bytes, entries: Sequence[SegmentEntry], base: int) -> tuple[Gap, bytes]:
    """The gap and the head before it, the gap included that a dropped segment declares before."""
    for entry in entries:
        header = entry.header
        if entry.base == base and header is not None and header.gap is not None:
            before = header.gap
            if before.last == gap.first - 1:
                return attrs.evolve(gap, first=before.first), header.previous_head
    return gap, head
