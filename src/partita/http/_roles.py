"""Routes for operators only."""

from __future__ import annotations

from partita.http._dependencies import CurrentCaller
from partita.http._problems import HttpProblem
from partita.http.identity import Role


def operators_only(caller: CurrentCaller) -> None:
    """A dependency of routes for operators: 401 without a token, 403 for any other caller."""
    if caller.role is not Role.OPERATOR:
        hint = "Send a token with the role `operator`, such as from `partita token --user ID --role operator`."
        raise HttpProblem(403, "forbidden", "Only operators may do this.", hint=hint)
