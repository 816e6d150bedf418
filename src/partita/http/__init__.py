"""Building blocks for services that speak HTTP: identity, problems, paging, preconditions, idempotent routes, pages."""

from partita.http._answers import Answered, Instant
from partita.http._dependencies import CurrentCaller, Db, Now, Resources
from partita.http._etag import ANY, IfMatch, IfNoneMatch, UnlessMatch, etag, precondition, still_right
from partita.http._health import ask_store
from partita.http._idempotent import REPLAYED, IdempotencyKey, Once, once_by
from partita.http._identity import Caller, Identity, Role, Verifier
from partita.http._issuer import Issuer
from partita.http._pages import ASSETS, Pages
from partita.http._paging import Listing, Paging
from partita.http._problems import (
    MEDIA_TYPE,
    FieldProblem,
    Problem,
    Refusal,
    answer_with_problems,
    describe_problems,
    problem_response,
    problem_schemas,
)
from partita.http._projected import Behind, ProjectedState
from partita.http._roles import operators_only

__all__ = [
    "ANY",
    "ASSETS",
    "MEDIA_TYPE",
    "REPLAYED",
    "Answered",
    "Behind",
    "Caller",
    "CurrentCaller",
    "Db",
    "FieldProblem",
    "IdempotencyKey",
    "Identity",
    "IfMatch",
    "IfNoneMatch",
    "Instant",
    "Issuer",
    "Listing",
    "Now",
    "Once",
    "Pages",
    "Paging",
    "Problem",
    "ProjectedState",
    "Refusal",
    "Resources",
    "Role",
    "UnlessMatch",
    "Verifier",
    "answer_with_problems",
    "ask_store",
    "describe_problems",
    "etag",
    "once_by",
    "operators_only",
    "precondition",
    "problem_response",
    "problem_schemas",
    "still_right",
]
