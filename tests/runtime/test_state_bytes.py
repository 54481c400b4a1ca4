"""Bytes of session state: a changed one is told by label and digest, and no text is among them."""

import logging
from pathlib import Path
from typing import Any

import attrs
import pytest
from domain.session_state_cases import APPROVAL, SCOPE, record, turn
from runtime.state_rig import SPOKEN, every_byte, of_conversation, opened, wrote
from runtime.test_state_isolation import SECRET, desk_with, state_with

from turnfold.actors.conversation_store import ConversationStore
from turnfold.actors.published_records import PublishedRecords
from turnfold.actors.state_store import SessionStateStore
from turnfold.events.errors import TurnfoldError
from turnfold.events.sealed import NONCE_BYTES, Erased, Sealed, Unreadable
from turnfold.events.session_state import (
    Blocker,
    CorruptLabel,
    RuntimeRequest,
    SessionStateReadReport,
    SessionStateRecord,
    record_tag,
)
from turnfold.events.session_state.codec import stored_form
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, Outcome, ToolSummary

WINDOW = 8  # so many bytes of a payload in a row are an exposure
PUBLIC = "blake2b-256-keyed:k"  # how every digest under a key begins
SENTINEL = "zanzibar-sentinel"


def windows(text: str, size: int) -> set[str]:
    return {text[at : at + size] for at in range(len(text) - size + 1)}


def exposed(payload: bytes, shown: str) -> bool:
    """Whether any part of a payload stands in what was shown, as text or as hexadecimal."""
    as_text = windows(payload.decode("latin-1"), WINDOW) - windows(PUBLIC, WINDOW)
    as_hex = {part.encode("latin-1").hex() for part in as_text}
    return bool(as_text & windows(shown, WINDOW) or as_hex & windows(shown, 2 * WINDOW))


def read_with(sealed: Sealed) -> tuple[SessionStateReadReport, Any, Any]:
    """Read, list and find a record whose stored bytes are these."""
    state = state_with(record())
    tag = record_tag(SECRET, record().key)
    state.put_record(attrs.evolve(state.records[tag], sealed=sealed))
    desk, _ = desk_with()
    desk._records = PublishedRecords(state)  # pyright: ignore[reportPrivateUsage]  # only there can bytes be changed
    report = desk.read(SCOPE, record().key)
    digest = report.error_digest or ""
    return report, desk.list(SCOPE), desk.find_error(digest)


def check_corrupt(report: SessionStateReadReport, listed: Any, found: Any) -> None:
    """It fails closed, and an operator finds it by its digest."""
    assert report.record is None
    assert report.corrupt
    assert report.blockers == (Blocker.CORRUPT,)
    assert isinstance(report.error_label, CorruptLabel)
    assert report.error_digest is not None
    assert not report.raw_payload_exposed
    assert listed.entries == ()
    assert listed.error_digests == (report.error_digest,)
    assert found.error_label is report.error_label
    assert found.record_tag == record_tag(SECRET, record().key).hex()


def test_each_changed_byte_of_a_record_fails_closed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    payload = stored_form(record())
    for index in range(len(payload)):
        altered = bytearray(payload)
        altered[index] ^= 1 << index % 8
        report, listed, found = read_with(bytes(NONCE_BYTES) + bytes(altered))
        check_corrupt(report, listed, found)
        shown = f"{report!r} {listed!r} {found!r}"
        assert not exposed(payload, shown)
    assert not exposed(payload, caplog.text)


@pytest.mark.parametrize("sealed", [Erased(700), Unreadable(700)])
def test_bytes_that_are_not_there_fail_closed_too(sealed: Sealed) -> None:
    report, listed, found = read_with(sealed)
    check_corrupt(report, listed, found)
    assert report.error_label is CorruptLabel.UNREADABLE


def test_cut_and_prolonged_records_fail_closed() -> None:
    payload = stored_form(record())
    for altered in (b"", payload[:-1], payload + b"\0", payload[1:], payload * 2):
        check_corrupt(*read_with(bytes(NONCE_BYTES) + altered))


def test_a_record_under_anothers_key_fails_closed() -> None:
    check_corrupt(*read_with(bytes(NONCE_BYTES) + stored_form(record(state_id="other"))))


def flip(path: Path, sealed_payload: bytes, index: int) -> int:
    """Change one byte of a payload wherever it stands in a store's files; in how many places."""
    places = 0
    for file in path.rglob("*"):
        if not file.is_file():
            continue
        data = bytearray(file.read_bytes())
        at = data.find(sealed_payload)
        while at >= 0:
            data[at + index] ^= 0x40
            places += 1
            at = data.find(sealed_payload, at + 1)
        file.write_bytes(data)
    return places


@pytest.mark.parametrize("part", range(4))
def test_a_changed_byte_in_a_stores_files_costs_that_record_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, part: int
) -> None:
    caplog.set_level(logging.DEBUG)
    with opened(tmp_path) as store:
        states = SessionStateStore(store)
        wrote(states, record())
        wrote(states, record(state_id="beside"))
    payload = stored_form(record())
    for index in range(part * len(payload) // 4, (part + 1) * len(payload) // 4, 9):
        assert flip(tmp_path, payload, index) >= 2  # the log and a generation
        shown = ""
        with opened(tmp_path) as store:
            states = SessionStateStore(store)
            report = states.read(SCOPE, record().key)
            assert (report.record, report.corrupt) == (None, True)
            assert report.error_digest is not None
            found = states.find_error(report.error_digest)
            assert found is not None
            assert states.read(SCOPE, record(state_id="beside").key).record is not None
            assert states.delete(SCOPE, record().key).applied  # needs no bytes
            shown = f"{report!r} {found!r}"
            wrote(states, record())
        assert not exposed(payload, shown + caplog.text)


# --- no text ---------------------------------------------------------------------------------


def test_no_text_that_goes_in_is_in_any_file_report_log_or_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A sentinel in every field that may carry text; ids, which can't, refuse it unquoted."""
    caplog.set_level(logging.DEBUG)
    shown: list[object] = []
    with opened(tmp_path, enabled=False) as store:
        states = SessionStateStore(store)
        turns = [
            states.turn_digest(SENTINEL, turn_id="t-1", role="avatar", scope=SCOPE),
            states.turn_digest(SENTINEL.encode(), turn_id="t-2", role="tool", scope=SCOPE),
        ]
        shown.append(wrote(states, record(turns=turns)))
        hinted = turn(9, preview=f"the {SENTINEL} of a preview")
        refused = states.write(SCOPE, record(turns=[hinted]), APPROVAL)
        assert refused.blockers == (Blocker.PREVIEW_NOT_ALLOWED,)
        read = states.read(SCOPE, record().key)
        preview = states.preview(SCOPE, read.record)
        request = RuntimeRequest.from_preview(preview, f"a prompt with the {SENTINEL}")
        shown += [refused, read, preview, request, states.list(SCOPE), states.decisions()]
        shown += [states.gate_notices(), store.stats()]
        for spoiled in (f"{SENTINEL} with blanks", f"{SENTINEL}\n", f"\u00e9{SENTINEL}"):
            for name in ("state_id", "source_trace_ids"):
                value: Any = spoiled if name == "state_id" else [spoiled]
                with pytest.raises(TurnfoldError) as error:
                    wrote(states, record(**{name: value}))
                shown.append(error.value)
            shown.append(states.find_error(spoiled))
    with opened(tmp_path) as store:
        shown.append(SessionStateStore(store).read(SCOPE, record().key))
    assert SENTINEL.encode() not in every_byte(tmp_path)
    assert SENTINEL not in f"{shown!r} {[str(one) for one in shown]} {caplog.text}"


def spoken_record(store: ConversationStore) -> SessionStateRecord:
    """A record of a conversation in which everything that can hold a text holds the sentinel."""
    store.add_turns(
        SPOKEN,
        [
            AvatarText(f"{SENTINEL} said"),
            AgentResponse(f"{SENTINEL} answered", call_ids=(f"{SENTINEL}-1",)),
            ToolSummary(f"{SENTINEL}_tool", f"{SENTINEL} found", call_id=f"{SENTINEL}-1"),
            ActionResult(f"{SENTINEL}_act", Outcome.OK, f"{SENTINEL} done"),
        ],
    )
    made = of_conversation(SessionStateStore(store))
    assert len(made.turns) == 4
    return made


def test_a_record_of_a_conversation_holds_none_of_its_text(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        states = SessionStateStore(store)
        made = spoken_record(store)
        assert SENTINEL.encode() not in stored_form(made)
        wrote(states, made)
        keep = attrs.evolve(made, source=None, derived_from=None, state_id="kept")
        wrote(states, keep)
        store.delete(SPOKEN)
        store.flush()
        assert states.read(SCOPE, keep.key).record is not None
        assert SENTINEL.encode() not in every_byte(tmp_path)


def test_an_allowed_preview_is_stored_redacted_and_short(tmp_path: Path) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    text = f"{SENTINEL} {secret} " + "and so on " * 30
    with opened(tmp_path, previews_allowed=True) as store:
        states = SessionStateStore(store)
        shown = states.turn_digest(
            text, turn_id="t-1", role="avatar", scope=SCOPE, summary_preview=text
        )
        wrote(states, record(turns=[shown]))
        (read,) = states.read(SCOPE, record().key).record.turns  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]  # it was written
        assert read.summary_preview is not None
        assert len(read.summary_preview) <= 96
    kept = every_byte(tmp_path)
    assert SENTINEL.encode() in kept
    assert secret.encode() not in kept
    assert kept.count(b"and so on " * 10) == 0
