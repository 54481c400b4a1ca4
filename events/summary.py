"""The factual summary: what stays of turns that are no longer kept verbatim.

It is a fold of facts in integers and quotations, made without a model: the same turns give the same
bytes under any hash seed, locale or version of Python. Merging adds counts, widens ranges and adds
tallies, exactly. What doesn't fit is left out by a total order: excerpts first, by score; action
results last, failed before refused before ok and the newest first. Names of actions and tools take
at most half of the space; what loses its name stays in the sums.

No two texts may form a secret together: an excerpt that isn't a fixed point of `redact` alone is
dropped, and so is every part of the rendered block in which a secret is found.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import attrs

from turnfold.events import cbor
from turnfold.events.event import TurnAdded
from turnfold.events.extras import decode_extras
from turnfold.events.redaction import is_clean, redact
from turnfold.events.summary_body import assemble, in_order, render
from turnfold.events.summary_facts import (
    DETAIL_BYTES_MAX,
    EXCERPT_BYTES_MAX,
    EXCERPT_SHARE_BYTES,
    EXCERPTS_MIN,
    OUTCOMES_TOP,
    TOOLS_TOP,
    Excerpt,
    Facts,
    Result,
    Table,
    decode,
    encode,
    excerpt_item,
    result_item,
)
from turnfold.events.summary_text import quoted, sentences
from turnfold.events.turns import KINDS, Kind, Outcome

_LIST_HEADS_BYTES: Final = 4  # two array heads grow from 1 to at most 3 bytes each
_REPAIRS_MAX: Final = 8  # looks at a block; half-way excerpts go, in the end everything quoted
_NEXT_RECORD: Final = '{"position":1000,"kind":"avatar","trust":"untrusted","text":"'


def summarise(
    turns: Sequence[TurnAdded], previous: bytes | None, limit: int, *, unknown: int = 0
) -> bytes:
    """The encoded summary of `turns` and of what `previous` summarised, in at most `limit` bytes.

    The turns come in order of position and are not in `previous`. `unknown` counts turns of an
    earlier summary that can't be read. Counts alone take up to COUNTS_BYTES_MAX, whatever the
    limit. Raises ValueError if there is nothing to summarise, CorruptData if `previous` is none.
    """
    earlier = None if previous is None else decode(previous)
    if not turns:
        if earlier is None:
            raise ValueError("nothing to summarise")
        return encode(_fit(earlier, (), (), limit))
    sums = _sums(turns, unknown)
    if earlier is not None:
        sums = _add(earlier, sums)
    names = [decode_extras(turn.kind, turn.extras).name for turn in turns]
    sums = attrs.evolve(
        sums,
        outcomes=sums.outcomes.add(_outcome_rows(turns, names)),
        tools=sums.tools.add(_tool_rows(turns, names)),
    )
    return encode(_fit(sums, _new_results(turns, names), _new_excerpts(turns), limit))


def redact_summary(data: bytes, is_clean: Callable[[str], bool] = is_clean) -> bytes:
    """The summary without what the rules of today take for a secret; `data` if nothing is.

    `is_clean` says what they let stand. Raises CorruptData.
    """
    facts = decode(data)
    clean = attrs.evolve(
        facts,
        outcomes=_clean_names(facts.outcomes, is_clean),
        tools=_clean_names(facts.tools, is_clean),
        results=tuple(
            result for result in facts.results if is_clean(result.action) and is_clean(result.text)
        ),
        excerpts=tuple(excerpt for excerpt in facts.excerpts if is_clean(excerpt.text)),
    )
    return encode(_without_joined_secrets(clean))


# --- additive facts ----------------------------------------------------------------------------


def _sums(turns: Sequence[TurnAdded], unknown: int) -> Facts:
    counts = [0] * len(KINDS)
    for turn in turns:
        counts[turn.kind.value] += 1
    return Facts(
        first=turns[0].position,
        last=turns[-1].position,
        first_at=turns[0].at,
        last_at=turns[-1].at,
        counts=tuple(counts),
        text_bytes=sum(turn.text_bytes for turn in turns),
        redactions=sum(count for turn in turns for _, count in turn.redactions),
        truncated=sum(turn.truncated_from > 0 for turn in turns),
        lost=sum(turn.extras is None for turn in turns),
        unknown=unknown,
        outcomes=Table((), (0, 0, 0)),
        tools=Table((), (0,)),
    )


def _add(earlier: Facts, later: Facts) -> Facts:
    """Sums and ranges of both; tallies and quotations of the earlier one."""
    first = min(earlier, later, key=lambda facts: facts.first)
    last = max(earlier, later, key=lambda facts: facts.last)
    return attrs.evolve(
        earlier,
        first=first.first,
        first_at=first.first_at,
        last=last.last,
        last_at=last.last_at,
        counts=tuple(a + b for a, b in zip(earlier.counts, later.counts, strict=True)),
        text_bytes=earlier.text_bytes + later.text_bytes,
        redactions=earlier.redactions + later.redactions,
        truncated=earlier.truncated + later.truncated,
        lost=earlier.lost + later.lost,
        unknown=earlier.unknown + later.unknown,
    )


Named = Sequence[str | None]
Rows = Iterator[tuple[str | None, tuple[int, ...]]]


def _outcome_rows(turns: Sequence[TurnAdded], names: Named) -> Rows:
    for turn, name in zip(turns, names, strict=True):
        if turn.outcome is not None:
            yield name, tuple(int(turn.outcome is outcome) for outcome in Outcome)


def _tool_rows(turns: Sequence[TurnAdded], names: Named) -> Rows:
    for turn, name in zip(turns, names, strict=True):
        if turn.kind is Kind.TOOL:
            yield name, (1,)


# --- selected facts ----------------------------------------------------------------------------


def _new_results(turns: Sequence[TurnAdded], names: Named) -> list[Result]:
    """Every action result whose text is still there; unreadable ones are in the tallies."""
    results: list[Result] = []
    for turn, name in zip(turns, names, strict=True):
        text = turn.text
        if turn.outcome is not None and name is not None and text is not None:
            results.append(Result(turn.position, turn.outcome, name, text))
    return results


def _new_excerpts(turns: Sequence[TurnAdded]) -> list[Excerpt]:
    excerpts: list[Excerpt] = []
    for turn in turns:
        kind = turn.kind
        text = None if kind is Kind.ACTION else turn.text
        if text:
            for score, sentence in sentences(text, kind):
                excerpts.append(Excerpt(turn.position, kind, score, sentence))
    return excerpts


def _fit(
    facts: Facts, new_results: Iterable[Result], new_excerpts: Iterable[Excerpt], limit: int
) -> Facts:
    """The facts with as many names and quotations as fit, highest rank first.

    Excerpts are bounded in number too: few long ones say more than many scraps.
    """
    base = _with_names(attrs.evolve(facts, results=(), excerpts=()), limit)
    room = limit - len(encode(base)) - _LIST_HEADS_BYTES
    results: list[Result] = []
    excerpts: list[Excerpt] = []
    seen: set[tuple[str, ...]] = set()
    excerpts_max = max(EXCERPTS_MIN, limit // EXCERPT_SHARE_BYTES)
    for result in _ranked_results(facts.results, new_results):
        label = ("", result.action, result.text)
        if result.outcome is Outcome.OK and label in seen:
            continue  # the tally counts it
        room -= len(cbor.encode(result_item(result)))
        if room < 0:
            break
        seen.add(label)
        results.append(result)
    for excerpt in _ranked_excerpts(facts.excerpts, new_excerpts) if room > 0 else ():
        if (excerpt.text,) in seen:
            continue
        room -= len(cbor.encode(excerpt_item(excerpt)))
        if room < 0 or len(excerpts) >= excerpts_max:
            break
        seen.add((excerpt.text,))
        excerpts.append(excerpt)
    results.sort(key=lambda result: result.position)
    excerpts.sort(key=lambda excerpt: (excerpt.position, excerpt.rank))
    return _without_joined_secrets(
        attrs.evolve(base, results=tuple(results), excerpts=tuple(excerpts))
    )


def _ranked_results(old: Iterable[Result], new: Iterable[Result]) -> Iterator[Result]:
    """All results by rank. A new one's text is looked at only when its turn comes."""
    known = set(old)
    for result in sorted([*known, *new], key=lambda result: result.rank):
        if result in known:
            yield result
        else:
            text = quoted(result.text[: 2 * DETAIL_BYTES_MAX], DETAIL_BYTES_MAX)
            yield attrs.evolve(result, text=text or "")


def _ranked_excerpts(old: Iterable[Excerpt], new: Iterable[Excerpt]) -> Iterator[Excerpt]:
    """All excerpts by rank. A new one's text is looked at only when its turn comes."""
    known = set(old)
    for excerpt in sorted([*known, *new], key=lambda excerpt: excerpt.rank):
        if excerpt in known:
            yield excerpt
        else:
            text = quoted(excerpt.text, EXCERPT_BYTES_MAX)
            if text:
                yield attrs.evolve(excerpt, text=text)


def _with_names(facts: Facts, limit: int) -> Facts:
    """The facts with the top names, as many as fit in half of the limit: actions before tools."""
    outcomes, tools = facts.outcomes.top(OUTCOMES_TOP), facts.tools.top(TOOLS_TOP)
    while True:
        named = attrs.evolve(facts, outcomes=outcomes, tools=tools)
        if len(encode(named)) <= limit // 2 or not (outcomes.named or tools.named):
            return named
        if tools.named:
            tools = tools.top(len(tools.named) - 1)
        else:
            outcomes = outcomes.top(len(outcomes.named) - 1)


def _clean_names(table: Table, is_clean: Callable[[str], bool]) -> Table:
    clean = [tally for tally in table.named if is_clean(tally.name)]
    rest = Table((), table.other).add(
        (None, tally.counts) for tally in table.named if tally not in clean
    )
    return Table(tuple(clean), rest.other)


# --- what the parts form together ----------------------------------------------------------------


def _without_joined_secrets(facts: Facts) -> Facts:
    """The facts without the parts in which the rendered block shows a secret.

    What is suspect in its frame by itself goes at once, so that nobody can have everything else
    dropped by ending many sentences on a cue. Then the places go that only together are suspect.
    """
    body = assemble(*render(facts))
    if is_clean(body):
        return facts
    _, records = render(facts)
    suspect = [
        item
        for item, shown in zip(in_order(facts), records, strict=True)
        if not is_clean(f"{shown},{_NEXT_RECORD}")
    ]
    facts = _without(facts, suspect)
    for attempt in range(_REPAIRS_MAX):
        head, records = render(facts)
        body = assemble(head, records)
        if is_clean(body):
            return facts
        changed = _first_difference(body, redact(body))
        if not records or changed < body.index('"records":['):
            facts = _without_names(facts)
        elif attempt == _REPAIRS_MAX // 2:
            facts = attrs.evolve(facts, excerpts=())
        else:
            ends = [len(assemble(head, records[: size + 1])) - 2 for size in range(len(records))]
            at = next((index for index, end in enumerate(ends) if changed < end), len(ends))
            facts = _without(facts, in_order(facts)[max(0, at - 1) : at + 1])
    return attrs.evolve(_without_names(facts), results=(), excerpts=())


def _first_difference(left: str, right: str) -> int:
    pairs = zip(left, right, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def _without_names(facts: Facts) -> Facts:
    return attrs.evolve(facts, outcomes=facts.outcomes.top(0), tools=facts.tools.top(0))


def _without(facts: Facts, doomed: Sequence[Result | Excerpt]) -> Facts:
    return attrs.evolve(
        facts,
        results=tuple(result for result in facts.results if result not in doomed),
        excerpts=tuple(excerpt for excerpt in facts.excerpts if excerpt not in doomed),
    )
