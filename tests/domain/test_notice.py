"""Notices: one for each event, with its key for as long as that is known, and no content."""

from typing import Any

import attrs
import pytest
from sessions import AT, AVATAR, NONCE, erased, session_of, stored, summary_of

from turnfold.events import event as e
from turnfold.events.keys import Channel, Pseudonym
from turnfold.events.notice import Notice, notices, whereabouts
from turnfold.events.reasons import Reason
from turnfold.events.sealed import seal
from turnfold.events.session import PendingErasure
from turnfold.events.state import StoreState
from turnfold.events.turns import ActionResult, AvatarText

TAG = (Pseudonym(b"p" * 16), Channel.DIRECT_IM.code)
SENTINEL = "sentinel text"


def event(kind: type[e.Event], reason: Reason, position: int = 7, **fields: Any) -> e.Event:
    return kind(position=position, at=AT, age=1, reason=reason, **fields)


STARTED = session_of().started
TURN = stored([ActionResult(SENTINEL, "ok", SENTINEL)])[0]
COMPACTED = event(
    e.SessionCompacted,
    Reason.COMPACTED_TURNS,
    session=1,
    covers=(2, 3),
    summary_bytes=99,
    commitment=b"",
    sealed=seal(NONCE, SENTINEL.encode()),
)


def only(item: e.Event | e.Gap, where: Any = None) -> Notice:
    (found,) = notices([item], {1: TAG} if where is None else where)
    assert isinstance(found, Notice)
    return found


def test_a_turn_is_told_by_position_reason_key_and_size() -> None:
    assert only(TURN) == Notice(
        position=2,
        at=TURN.at,
        type="TurnAdded",
        reason=Reason.ADDED_ACTION,
        pseudonym=(b"p" * 16).hex(),
        channel=Channel.DIRECT_IM,
        session=1,
        turns=1,
        bytes=len(SENTINEL),
    )


@pytest.mark.parametrize(
    ("item", "numbers"),
    [
        (STARTED, (0, 0)),
        (COMPACTED, (2, 99)),
        (event(e.SessionExpired, Reason.EXPIRED_INACTIVITY, session=1), (0, 0)),
        (
            event(
                e.ContentErased,
                Reason.ERASED_COMPACTED,
                session=1,
                through=5,
                payloads=3,
                erased_bytes=400,
            ),
            (3, 400),
        ),
        (
            event(
                e.TurnRedacted,
                Reason.REDACTED_RULESET,
                session=1,
                parts=(
                    e.RedactedPart(
                        position=3,
                        text_bytes=12,
                        extras_bytes=0,
                        redactions=(),
                        commitment=b"",
                        sealed=erased(TURN).sealed,
                    ),
                ),
            ),
            (1, 12),
        ),
        (
            event(e.GenerationWritten, Reason.WRITTEN_FLUSH, generation=6, digest=b"d", size=5000),
            (0, 5000),
        ),
        (
            event(
                e.Quarantined,
                Reason.QUARANTINED_CORRUPT,
                what="generation",
                around=4,
                size=77,
                digest=b"d",
                kept=True,
            ),
            (0, 77),
        ),
    ],
)
def test_numbers_say_how_much_an_event_is_about(item: e.Event, numbers: tuple[int, int]) -> None:
    found = only(item)

    assert (found.turns, found.bytes) == numbers
    assert found.type == type(item).__name__
    assert (found.session == 1) == (found.pseudonym is not None)


def test_no_notice_holds_content_or_the_avatar() -> None:
    shown = repr(list(notices([STARTED, TURN, COMPACTED], {})))

    assert SENTINEL not in shown
    assert str(AVATAR) not in shown


def test_a_session_is_known_from_its_start_until_its_text_is_erased() -> None:
    where: dict[int, Any] = {}
    erased_event = event(
        e.ContentErased,
        Reason.ERASED_EXPIRED,
        position=12,
        session=1,
        through=9,
        payloads=2,
        erased_bytes=80,
    )
    told = [
        only(item, where)
        for item in (
            STARTED,
            TURN,
            event(e.SessionExpired, Reason.EXPIRED_INACTIVITY, session=1),
            erased_event,
        )
    ]

    assert [notice.pseudonym for notice in told] == [(b"p" * 16).hex()] * 4
    assert where == {}
    assert only(erased_event, where).pseudonym is None


def test_erasing_compacted_text_keeps_a_live_session_known() -> None:
    where = {1: TAG}
    erased_event = event(
        e.ContentErased,
        Reason.ERASED_COMPACTED,
        session=1,
        through=9,
        payloads=2,
        erased_bytes=80,
    )

    only(erased_event, where)

    assert where == {1: TAG}


def test_deleting_a_key_without_a_session_names_the_key() -> None:
    deleted = event(
        e.SessionDeleted,
        Reason.DELETED_OPERATOR,
        session=0,
        pseudonym=Pseudonym(b"q" * 16),
        channel=Channel.PUBLIC_CHAT,
    )
    found = only(deleted)

    assert (found.session, found.channel) == (None, Channel.PUBLIC_CHAT)
    assert found.pseudonym == (b"q" * 16).hex()


def test_gaps_are_passed_on_as_they_are() -> None:
    gap = e.Gap(3, 9, Reason.OPENED_DAMAGED)

    assert list(notices([gap], {})) == [gap]


def test_whereabouts_are_seeded_from_live_sessions_and_pending_erasures() -> None:
    state = StoreState()
    live = session_of(stored([AvatarText("x")]), summary=summary_of(b"", covered=1, position=2))
    state.put_session(live)
    state.put_pending(PendingErasure(session=40, tag=TAG, reason=Reason.ERASED_EXPIRED, through=50))

    assert whereabouts(state) == {1: live.tag, 40: TAG}
    assert attrs.asdict(only(TURN, whereabouts(state)))["session"] == 1
