"""One turn as a digest under the store's own key, and the short preview that policy may allow."""

from typing import Final

import attrs

from turnfold.events.redaction import RedactedText, clip, redact
from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.checks import (
    Problems,
    choice,
    choice_problem,
    count_problem,
    hidden,
)
from turnfold.events.session_state.digest import (
    DigestKey,
    DigestKeyring,
    DigestPurpose,
    keyed_digest_problem,
    text_bytes,
)
from turnfold.events.session_state.scope import TenantScope, id_problem
from turnfold.events.turns import Role

PREVIEW_CHARS_MAX: Final = 96
TOKEN_ESTIMATE_MAX: Final = 1 << 31


def make_preview(text: str) -> RedactedText:
    """`text` redacted, then cut to 96 characters, never inside a placeholder.

    Raises TextTooLarge as `redact` does.
    """
    preview = redact(text)
    # A cut can make a secret that is then replaced by a placeholder of more characters (never of
    # more bytes): cut again. Each turn leaves fewer bytes.
    while len(preview) > PREVIEW_CHARS_MAX:
        preview = clip(preview, len(preview[:PREVIEW_CHARS_MAX].encode()))
    return preview


def _role(value: Role | str) -> Role:
    return choice(Role, value)


def _preview(value: str | None) -> RedactedText | None:
    return make_preview(value) if isinstance(value, str) else value


@attrs.frozen
class SessionTurnDigest:
    """One turn: who spoke, a keyed digest of what was said, about how many tokens it is.

    `role` is avatar, agent or tool. `summary_preview` is None unless the caller supplies a text;
    it is redacted and cut to 96 characters here, and a record that holds one can be written only
    where policy allows previews. Raises InvalidStateRecord naming everything that is wrong.
    """

    turn_id: str = attrs.field(repr=hidden)
    role: Role = attrs.field(converter=_role)
    payload_digest: str = attrs.field(repr=hidden)
    summary_preview: RedactedText | None = attrs.field(
        default=None, converter=_preview, repr=hidden
    )
    token_estimate: int = 0

    def __attrs_post_init__(self) -> None:
        problems = Problems("the turn digest")
        problems.add("turn_id", id_problem(self.turn_id))
        problems.add("role", choice_problem(self.role, Role))
        problems.add("payload_digest", keyed_digest_problem(self.payload_digest))
        absent = self.summary_preview is None or isinstance(self.summary_preview, RedactedText)  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        problems.add("summary_preview", None if absent else Blocker.BAD_TYPE)
        estimate = count_problem(self.token_estimate, 0, TOKEN_ESTIMATE_MAX)
        problems.add("token_estimate", estimate)
        problems.raise_if_any()

    @classmethod
    def of(
        cls,
        payload: str | bytes,
        *,
        turn_id: str,
        role: Role | str,
        scope: TenantScope,
        key: DigestKey,
        token_estimate: int | None = None,
        summary_preview: str | None = None,
    ) -> "SessionTurnDigest":
        """The digest of what was said in `scope` under this turn id and role.

        `payload` is digested as it is (text as UTF-8, not normalised) and not kept. Without a
        `token_estimate` one token is taken for each 4 bytes, rounded up.
        Raises InvalidStateRecord.
        """
        data = _payload_bytes(payload)
        parts = _digest_parts(data, turn_id, role, scope)
        return cls(
            turn_id,
            role,
            key.digest(DigestPurpose.TURN, *parts),
            summary_preview,
            estimate_tokens(len(data)) if token_estimate is None else token_estimate,
        )

    def matches(self, payload: str | bytes, scope: TenantScope, keys: DigestKeyring) -> bool:
        """Whether this is the digest of `payload` in `scope`. False if its key is not in `keys`."""
        parts = _digest_parts(_payload_bytes(payload), self.turn_id, self.role, scope)
        return keys.verify(self.payload_digest, DigestPurpose.TURN, *parts)

    def values(self) -> tuple[str | int | None, ...]:
        """The fields in order, as they are encoded."""
        return (
            self.turn_id,
            self.role.value,
            self.payload_digest,
            None if self.summary_preview is None else str(self.summary_preview),
            self.token_estimate,
        )


def estimate_tokens(size_bytes: int) -> int:
    """About how many tokens a text of this many UTF-8 bytes is: a quarter, rounded up."""
    return -(-size_bytes // 4)


def _payload_bytes(payload: str | bytes) -> bytes:
    if isinstance(payload, str):
        return text_bytes(payload)
    problems = Problems("the turn digest")
    problems.add("payload", None if type(payload) is bytes else Blocker.BAD_TYPE)
    problems.raise_if_any()
    return payload


def _digest_parts(
    payload: bytes, turn_id: str, role: Role | str, scope: TenantScope
) -> tuple[str | bytes, ...]:
    # Scope and turn id are part of the message: the same "yes" has another digest in another
    # tenant's record and in each turn, so digests can't be compared to find equal texts.
    problems = Problems("the turn digest")
    problems.add("scope", None if type(scope) is TenantScope else Blocker.BAD_TYPE)
    problems.add("turn_id", id_problem(turn_id))
    problems.add("role", choice_problem(choice(Role, role), Role))
    problems.raise_if_any()
    return (*scope.parts, turn_id, str(role), payload)
