"""The boundary to a local model service: previewed anchors and the current prompt, in memory.

record = build or read       preview = SessionReplayPlanner().preview(scope, record)
request = RuntimeRequest.from_preview(preview, prompt)       answer = model(request)
then build the next record and write it, if policy and approval allow
"""

from typing import ClassVar, Final, Literal, NoReturn

import attrs

from turnfold.events.errors import InvalidStateRecord, TextTooLarge
from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.checks import hidden
from turnfold.events.session_state.digest import text_bytes
from turnfold.events.session_state.profile import SessionRuntimeProfile
from turnfold.events.session_state.replay_preview import ReplayInput, SessionReplayPreview
from turnfold.events.session_state.scope import TenantScope

PROMPT_BYTES_MAX: Final = 256 * 1024


@attrs.frozen(repr=False)
class RuntimeRequest:
    """One request to a model service. `prompt` is the user's text as it is, never stored.

    It is neither pickled nor shown by `repr`: it must not reach a file or a log line.
    """

    read_only: ClassVar[Literal[True]] = True
    write_allowed: ClassVar[Literal[False]] = False

    scope: TenantScope
    profile: SessionRuntimeProfile
    state_digest: str
    retrieval_inputs: tuple[ReplayInput, ...]
    routing_inputs: tuple[ReplayInput, ...]
    gene_inputs: tuple[ReplayInput, ...]
    prompt: str

    @classmethod
    def from_preview(cls, preview: SessionReplayPreview, prompt: str) -> "RuntimeRequest":
        """The request for `prompt`, resumed from what `preview` names.

        Raises InvalidStateRecord for a rejected preview (its blockers are the error's) or a
        prompt that is no str, TextTooLarge for one above 256 KiB of UTF-8.
        """
        if preview.scope is None or preview.profile is None or preview.state_digest is None:
            raise InvalidStateRecord(
                "the replay preview was rejected; build a request from an allowed one",
                blockers=tuple(blocker.value for blocker in preview.blockers),
            )
        if not isinstance(prompt, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
            raise InvalidStateRecord("the prompt must be a str", (Blocker.BAD_TYPE.value,))
        if len(prompt) > PROMPT_BYTES_MAX or len(text_bytes(prompt)) > PROMPT_BYTES_MAX:
            raise TextTooLarge(f"the prompt is larger than {PROMPT_BYTES_MAX} bytes; shorten it")
        return cls(
            preview.scope,
            preview.profile,
            preview.state_digest,
            preview.retrieval_inputs,
            preview.routing_inputs,
            preview.gene_inputs,
            prompt,
        )

    def __repr__(self) -> str:
        inputs = len(self.retrieval_inputs) + len(self.routing_inputs) + len(self.gene_inputs)
        return f"RuntimeRequest({inputs} inputs, prompt={hidden(self.prompt)})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a RuntimeRequest is not pickled: its prompt must not be stored")
