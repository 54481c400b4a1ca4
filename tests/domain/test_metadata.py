"""Metadata of sessions: numbers and names, in pages whose order never changes."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sessions import AT, AVATAR, session_of, stored, summary_of

from turnfold.events.errors import InvalidInput
from turnfold.events.keys import Channel
from turnfold.events.metadata import PAGE_SIZE_MAX, SessionMetadata, list_page, metadata
from turnfold.events.session import Session
from turnfold.events.turns import AgentResponse, AvatarText


def test_metadata_tells_who_where_when_and_how_much() -> None:
    turns = stored([AvatarText("sentinel"), AgentResponse("sentinel")])
    session = session_of(turns, summary=summary_of(b"s" * 100, covered=5, position=9))

    found = metadata(session)

    assert found == SessionMetadata(
        session_id=session.session_id,
        avatar=AVATAR,
        channel=Channel.DIRECT_IM,
        started_at=AT,
        last_at=AT + 3 * 10**9,
        turn_count=7,
        byte_count=512 + 2 * (256 + 8) + 100,
        start=1,
    )
    assert "sentinel" not in repr(found)


def test_a_session_whose_key_was_lost_is_listed_without_it() -> None:
    assert metadata(attrs.evolve(session_of(), key=None)).avatar is None


@given(st.permutations(range(1, 20)), st.integers(1, 25))
def test_pages_show_each_session_once_by_start_whatever_the_order(
    starts: list[int], size: int
) -> None:
    sessions = [session_of(start=start) for start in starts]

    seen: list[int] = []
    after: int | None = 0
    while after is not None:
        page = list_page(sessions, after=after, size=size)
        assert len(page.items) <= size
        seen += [item.start for item in page.items]
        after = page.next_after

    assert seen == sorted(starts)


def test_turning_pages_survives_sessions_that_come_and_go() -> None:
    sessions: list[Session] = [session_of(start=start) for start in (3, 5, 8, 9)]
    first = list_page(sessions, size=2)
    changed = [session_of(start=start) for start in (12, 9, 3)]  # 5 and 8 ended, 12 began

    second = list_page(changed, after=first.next_after or 0, size=2)

    assert [item.start for item in first.items] == [3, 5]
    assert [item.start for item in second.items] == [9, 12]
    assert second.next_after is None


@pytest.mark.parametrize("size", [0, -1, PAGE_SIZE_MAX + 1, True, 1.5, "1"])
def test_a_page_of_no_possible_size_is_refused(size: Any) -> None:
    with pytest.raises(InvalidInput, match="page"):
        list_page([], size=size)


@pytest.mark.parametrize("after", [None, "1", 1.5])
def test_a_page_after_no_position_is_refused(after: Any) -> None:
    with pytest.raises(InvalidInput, match="next_after"):
        list_page([], after=after)
