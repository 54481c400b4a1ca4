"""What a generation holds against what is live now: nothing that is gone, everything that isn't."""

from collections.abc import Iterator

from turnfold.events.erasure_plan import live_commitments
from turnfold.events.log.session_texts import Text, texts_of
from turnfold.events.log.verify_report import VerifyFinding
from turnfold.events.sealed import Erased, Unreadable
from turnfold.events.state import StoreState


def check_copies(name: str, held: StoreState, final: StoreState) -> Iterator[VerifyFinding]:
    """What is wrong with the texts of sessions and records in the generation `name`.

    `held` is its state, `final` that at the log's end.
    """
    due = {item.session for item in final.pending.values()}
    for session in held.sessions():
        live = live_commitments(final.session_at(session.start))
        for text in texts_of(session):
            yield from _check(name, text, live, is_due=session.start in due)
    records = {record.position: record.commitment for record in final.records.values()}
    for record in held.records.values():
        text = (record.position, record.commitment, record.sealed)
        yield from _check(name, text, records, is_due=record.position in due)


def _check(
    name: str, text: Text, live: dict[int, bytes], *, is_due: bool
) -> Iterator[VerifyFinding]:
    position, commitment, sealed = text
    is_live = live.get(position) == commitment
    if type(sealed) is Unreadable:
        if is_live or not is_due:
            message = f"{name}: a text doesn't match its commitment"
            yield VerifyFinding("payloads", message, position)
    elif type(sealed) is Erased:
        if is_live:
            message = f"{name}: a text is zeros although nothing erased it"
            yield VerifyFinding("erasure", message, position)
    elif not is_live and not is_due:
        message = f"{name}: a text is there that is said to be gone"
        yield VerifyFinding("erasure", message, position)
