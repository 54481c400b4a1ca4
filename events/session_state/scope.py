"""Whose state it is: exact ids, tenant scopes, and the key of a record.

Ids are compared as they are: no case folding, no Unicode form, no trimming, no replacement.
What isn't an id already is refused, so no id can be turned into another tenant's.
"""

import re
from typing import Final

import attrs

from turnfold.events.session_state.blockers import Blocker
from turnfold.events.session_state.checks import Problems, hidden

LANE: Final = "session_state"

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
# Model and tokenizer names carry a publisher and a revision ("org/name@rev").
_MODEL_ID = re.compile(r"[A-Za-z0-9._:/@+-]{1,128}")


def id_problem(value: object) -> Blocker | None:
    """Whether `value` is an id: a plain str of 1 to 128 of the characters A-Z a-z 0-9 . _ : -"""
    if type(value) is not str:  # a subclass could compare equal to another id
        return Blocker.BAD_TYPE
    return None if _ID.fullmatch(value) else Blocker.BAD_ID


def model_id_problem(value: object) -> Blocker | None:
    """As `id_problem`, with / @ + allowed too, for names of models and tokenizers."""
    if type(value) is not str:
        return Blocker.BAD_TYPE
    return None if _MODEL_ID.fullmatch(value) else Blocker.BAD_ID


@attrs.frozen
class TenantScope:
    """One session of one workspace of one tenant: the only unit that sees a record.

    Each id is 1 to 128 characters of A-Z a-z 0-9 . _ : - and is never changed.
    Raises InvalidStateRecord naming every id that isn't one.
    """

    tenant_id: str = attrs.field(repr=hidden)
    workspace_id: str = attrs.field(repr=hidden)
    session_id: str = attrs.field(repr=hidden)

    def __attrs_post_init__(self) -> None:
        problems = Problems("the tenant scope")
        problems.add("tenant_id", id_problem(self.tenant_id))
        problems.add("workspace_id", id_problem(self.workspace_id))
        problems.add("session_id", id_problem(self.session_id))
        problems.raise_if_any()

    @property
    def parts(self) -> tuple[str, str, str]:
        """Tenant, workspace and session id, in this order."""
        return (self.tenant_id, self.workspace_id, self.session_id)


@attrs.frozen
class SessionStateKey:
    """Where one record lives: (tenant, workspace, session, lane `session_state`, state id).

    Raises InvalidStateRecord if the state id is not an id.
    """

    scope: TenantScope
    state_id: str = attrs.field(repr=hidden)

    def __attrs_post_init__(self) -> None:
        problems = Problems("the session-state key")
        problems.add("scope", None if type(self.scope) is TenantScope else Blocker.BAD_TYPE)
        problems.add("state_id", id_problem(self.state_id))
        problems.raise_if_any()

    @property
    def parts(self) -> tuple[str, str, str, str, str]:
        """The five parts. Encode them length-prefixed, never joined by a separator."""
        return (*self.scope.parts, LANE, self.state_id)
