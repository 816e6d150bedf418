"""Building blocks for HTTP services: identity, problems, paging, preconditions, idempotent routes, pages.

Needs the extra `serve`.
"""

from partita.http._dependencies import CurrentCaller, Db, Now, Resources, TokenCheck, admit, known_parameters
from partita.http._etag import IfMatch, IfNoneMatch, UnlessMatch, etag, is_not_modified, precondition_problems
from partita.http._fields import FieldPaging, Fields, Partial, PartialListing
from partita.http._headers import raw_header
from partita.http._health import BackgroundFigures, background_figures, check_store
from partita.http._idempotent import REPLAYED, IdempotencyKey, Once, once_by, refuse_key, response_of
from partita.http._news import NEWS_MEDIA_TYPE, LastEventId, NewsEvent, change_news, describe_news, news_response
from partita.http._page_files import ASSETS
from partita.http._pages import PAGE_HEADERS, Pages, folder_redirect
from partita.http._paging import Listing, Paging
from partita.http._personal import ErasureView, add_personal_routes
from partita.http._problems import (
    PROBLEM_MEDIA_TYPE,
    FieldProblem,
    HttpProblem,
    MissingPage,
    Problem,
    describe_problems,
    handle_errors,
    problem_response,
    problem_schemas,
)
from partita.http._projection import CurrentProjection, LagView
from partita.http._responses import CamelModel, Instant
from partita.http._roles import operators_only
from partita.http._state import ALONE, AppState, CurrentState, ServiceState, Siblings, run_with, state_of
from partita.http.identity import (
    FETCH_ERRORS,
    Caller,
    Identity,
    Issuer,
    Role,
    TokenKey,
    TokenPolicy,
    Verifier,
    checked_address,
    fetch_document,
)

__all__ = [
    "ALONE",
    "ASSETS",
    "FETCH_ERRORS",
    "NEWS_MEDIA_TYPE",
    "PAGE_HEADERS",
    "PROBLEM_MEDIA_TYPE",
    "REPLAYED",
    "AppState",
    "BackgroundFigures",
    "Caller",
    "CamelModel",
    "CurrentCaller",
    "CurrentProjection",
    "CurrentState",
    "Db",
    "ErasureView",
    "FieldPaging",
    "FieldProblem",
    "Fields",
    "HttpProblem",
    "IdempotencyKey",
    "Identity",
    "IfMatch",
    "IfNoneMatch",
    "Instant",
    "Issuer",
    "LagView",
    "LastEventId",
    "Listing",
    "MissingPage",
    "NewsEvent",
    "Now",
    "Once",
    "Pages",
    "Paging",
    "Partial",
    "PartialListing",
    "Problem",
    "Resources",
    "Role",
    "ServiceState",
    "Siblings",
    "TokenCheck",
    "TokenKey",
    "TokenPolicy",
    "UnlessMatch",
    "Verifier",
    "add_personal_routes",
    "admit",
    "background_figures",
    "change_news",
    "check_store",
    "checked_address",
    "describe_news",
    "describe_problems",
    "etag",
    "fetch_document",
    "folder_redirect",
    "handle_errors",
    "is_not_modified",
    "known_parameters",
    "news_response",
    "once_by",
    "operators_only",
    "precondition_problems",
    "problem_response",
    "problem_schemas",
    "raw_header",
    "refuse_key",
    "response_of",
    "run_with",
    "state_of",
]
