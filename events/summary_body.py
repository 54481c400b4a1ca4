"""A summary as the model will see it: the payload of its untrusted block.

Compaction looks for secrets in exactly these characters before a summary is stored, so what the
parts could form together is found before anybody reads it.
"""

from datetime import UTC, datetime, timedelta

from turnfold.events.summary_facts import Excerpt, Facts, Result, Table
from turnfold.events.turns import KINDS, Outcome
from turnfold.events.untrusted import TRUSTED, UNTRUSTED, payload, quote, record

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN = tuple(
    (kind.name.lower(), TRUSTED if kind.trusted else UNTRUSTED) for kind in KINDS
)  # by code
_YEAR_9999_NS = 253_402_300_799 * 10**9


def utc(at: int) -> str:
    """Nanoseconds since 1970 as 2026-01-31T12:00:00Z."""
    moment = _EPOCH + timedelta(microseconds=min(at, _YEAR_9999_NS) // 1000)
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def render(facts: Facts) -> tuple[str, list[str]]:
    """The block's body up to its records, and the records in order of position."""
    turns = ",".join(
        f'"{kind.name.lower()}":{count}' for kind, count in zip(KINDS, facts.counts, strict=True)
    )
    head = (
        f'"kind":"summary","positions":[{facts.first},{facts.last}],'
        f'"from":"{utc(facts.first_at)}","to":"{utc(facts.last_at)}","turns":{{{turns}}},'
        f'"text_bytes":{facts.text_bytes},"redactions":{facts.redactions},'
        f'"truncated":{facts.truncated},"lost":{facts.lost},"unknown":{facts.unknown},'
        f'"outcomes":{_outcomes(facts.outcomes)},"tools":{_tools(facts.tools)}'
    )
    return head, [_record(item) for item in in_order(facts)]


def in_order(facts: Facts) -> list[Result | Excerpt]:
    """Results and excerpts in the order in which `render` shows them."""
    items: list[Result | Excerpt] = [*facts.results, *facts.excerpts]
    return sorted(items, key=lambda item: item.position)


def assemble(head: str, records: list[str]) -> str:
    """The payload of the block."""
    return payload(UNTRUSTED, f'{head},"records":[{",".join(records)}]')


def lost_body(turns: int) -> str:
    """The payload that stands for a summary which can't be read any more."""
    return payload(UNTRUSTED, f'"kind":"summary","unknown":{turns},"records":[]')


def _record(item: Result | Excerpt) -> str:
    if isinstance(item, Result):
        return record(
            (
                ("action", item.action),
                ("position", item.position),
                ("kind", "action"),
                ("outcome", item.outcome.label),
                ("outcome_trust", TRUSTED),
                ("trust", UNTRUSTED),
                ("text", item.text),
            )
        )
    kind, trust = _SHOWN[item.kind.value]
    text = quote(item.text)
    return f'{{"position":{item.position},"kind":"{kind}","trust":"{trust}","text":{text}}}'


def _outcomes(table: Table) -> str:
    rows = [
        f'{{"action":{quote(tally.name)},{_by_outcome(tally.counts)}{_partial(tally.partial)}}}'
        for tally in table.named
    ]
    if any(table.other):
        rows.append(f'{{"others":true,{_by_outcome(table.other)}}}')
    return f"[{','.join(rows)}]"


def _by_outcome(counts: tuple[int, ...]) -> str:
    pairs = zip(Outcome, counts, strict=True)
    return ",".join(f'"{outcome.label}":{count}' for outcome, count in pairs)


def _tools(table: Table) -> str:
    rows = [
        f'{{"tool":{quote(tally.name)},"uses":{tally.counts[0]}{_partial(tally.partial)}}}'
        for tally in table.named
    ]
    if any(table.other):
        rows.append(f'{{"others":true,"uses":{table.other[0]}}}')
    return f"[{','.join(rows)}]"


def _partial(partial: bool) -> str:
    return ',"at_least":true' if partial else ""
