"""What a session ran on: task, model, tokenizer and limits. Names and numbers, no content."""

from enum import StrEnum
from typing import Final

import attrs

from turnfold.events import cbor
from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.checks import (
    Problems,
    choice,
    choice_problem,
    count_problem,
    flag_problem,
    hidden,
)
from turnfold.events.session_state.digest import digest_problem, plain_digest
from turnfold.events.session_state.scope import model_id_problem

TOKENS_MAX: Final = 1 << 31  # of a context window or an answer


class TaskProfile(StrEnum):
    """What the session is for."""

    GENERAL = "general"
    CODING = "coding"
    WRITING = "writing"
    LONG_DOCUMENT = "long_document"


def _task(value: TaskProfile | str) -> TaskProfile:
    return choice(TaskProfile, value)


@attrs.frozen
class SessionRuntimeProfile:
    """How the model service was set up. Only `task_profile` (or its name) is required.

    Model and tokenizer are names of 1 to 128 characters of A-Z a-z 0-9 . _ : / @ + - ;
    `context_window` and `max_tokens` count tokens, max_tokens within the window;
    `cancellation_anchor_digest` names what a cancelled answer can be resumed from.
    Raises InvalidStateRecord naming everything that is wrong.
    """

    task_profile: TaskProfile = attrs.field(converter=_task)
    model_id: str | None = attrs.field(default=None, repr=hidden)
    tokenizer: str | None = attrs.field(default=None, repr=hidden)
    context_window: int | None = None
    max_tokens: int | None = None
    streaming: bool = False
    cancellation_anchor_digest: str | None = attrs.field(default=None, repr=hidden)

    def __attrs_post_init__(self) -> None:
        problems = Problems("the runtime profile")
        problems.add("task_profile", choice_problem(self.task_profile, TaskProfile))
        for name in ("model_id", "tokenizer"):
            value = getattr(self, name)
            problems.add(name, None if value is None else model_id_problem(value))
        for name in ("context_window", "max_tokens"):
            value = getattr(self, name)
            problems.add(name, None if value is None else count_problem(value, 1, TOKENS_MAX))
        problems.add("streaming", flag_problem(self.streaming))
        if self.cancellation_anchor_digest is not None:
            problem = digest_problem(self.cancellation_anchor_digest)
            problems.add("cancellation_anchor_digest", problem)
        problems.raise_if_any()
        if self.context_window and self.max_tokens and self.max_tokens > self.context_window:
            problems.add("max_tokens", Blocker.OUT_OF_RANGE)
        problems.raise_if_any()

    def values(self) -> tuple[str | int | bool | None, ...]:
        """The fields in order, as they are encoded."""
        return (
            self.task_profile.value,
            self.model_id,
            self.tokenizer,
            self.context_window,
            self.max_tokens,
            self.streaming,
            self.cancellation_anchor_digest,
        )

    @property
    def digest(self) -> str:
        """A plain digest of all fields: equal profiles have equal digests."""
        return plain_digest(cbor.encode(self.values()))
