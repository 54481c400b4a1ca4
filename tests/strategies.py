"""Shared Hypothesis strategies: keys, turns, commands; small domains so that things collide."""

from collections.abc import Callable
from uuid import UUID

from hypothesis import strategies as st

from turnfold.events.commands import AddTurns, Command, DeleteKey, ExpireSession, Sweep, TurnToAdd
from turnfold.events.keys import CHANNELS, ConversationKey
from turnfold.events.limits import Limits
from turnfold.events.turns import ActionResult, AgentResponse, AvatarText, ToolSummary, Turn

AVATARS = [UUID(int=n) for n in range(1, 6)]
KEYS = [ConversationKey(avatar, channel) for avatar in AVATARS for channel in CHANNELS]

SMALLEST = Limits(
    active_sessions=1,
    turns_per_session=4,
    bytes_per_session=4096,
    aggregate_bytes=8192,
    turn_bytes=64,
    tool_turns_per_session=1,
    tool_turn_bytes=64,
    summary_bytes=512,
    generation_bytes=1024 * 1024,
    log_bytes=1024 * 1024,
    quarantine_bytes=0,
    commands_in_flight=1,
    notices_waiting=1,
)
SMALL = Limits(
    active_sessions=3,
    turns_per_session=6,
    bytes_per_session=8192,
    aggregate_bytes=16384,
    turn_bytes=512,
    tool_turns_per_session=2,
    tool_turn_bytes=256,
    summary_bytes=1024,
    generation_bytes=2 * 1024 * 1024,
)

keys = st.sampled_from(KEYS)
texts = st.text(max_size=60)
names = st.sampled_from(["sit", "teleport", "search"])
call_ids = st.sampled_from(["c1", "c2", "c3"])

turns: st.SearchStrategy[Turn] = st.one_of(
    st.builds(AvatarText, texts),
    st.builds(AgentResponse, texts, call_ids=st.lists(call_ids, max_size=2).map(tuple)),
    st.builds(ToolSummary, names, texts, call_id=st.none() | call_ids),
    st.builds(
        ActionResult,
        names,
        st.sampled_from(["ok", "failed", "refused"]),
        texts,
        call_id=st.none() | call_ids,
    ),
)
turn_ids = st.none() | st.sampled_from([f"t{n}" for n in range(8)])
turns_to_add = st.builds(TurnToAdd, turns, turn_ids)
add_commands = st.builds(AddTurns, keys, st.lists(turns_to_add, min_size=1, max_size=4))
commands: st.SearchStrategy[Command] = st.one_of(
    add_commands,
    add_commands,
    add_commands,
    st.builds(ExpireSession, keys),
    st.builds(DeleteKey, keys),
    st.just(Sweep()),
)


def counting_bytes() -> Callable[[int], bytes]:
    """Random bytes that are not random: the same for every run, never the same twice."""
    counter = 0

    def take(size: int) -> bytes:
        nonlocal counter
        blocks: list[bytes] = []
        for _ in range(-(-size // 8)):
            counter += 1
            blocks.append(counter.to_bytes(8, "big"))
        return b"".join(blocks)[:size]

    return take
