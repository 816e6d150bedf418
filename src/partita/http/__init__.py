"""Building blocks for services that speak HTTP: one app for all of them, identity, problems, paging and ETags."""

from partita.http._answers import Answered, Instant
from partita.http._app import build_app
from partita.http._dependencies import CurrentCaller, Db, Now, Resources
from partita.http._etag import ANY, IfMatch, IfNoneMatch, UnlessMatch, etag, precondition, still_right
from partita.http._idempotent import Once, once_by
from partita.http._identity import Caller, Identity, Role, Verifier
from partita.http._issuer import Issuer
from partita.http._paging import Listing, Paging
from partita.http._problems import Problem, Refusal, describe_problems
from partita.http._roles import operators_only

__all__ = [
    "ANY",
    "Answered",
    "Caller",
    "CurrentCaller",
    "Db",
    "Identity",
    "IfMatch",
    "IfNoneMatch",
    "Instant",
    "Issuer",
    "Listing",
    "Now",
    "Once",
    "Paging",
    "Problem",
    "Refusal",
    "Resources",
    "Role",
    "UnlessMatch",
    "Verifier",
    "build_app",
    "describe_problems",
    "etag",
    "once_by",
    "operators_only",
    "precondition",
    "still_right",
]
