"""Errors as `application/problem+json` (RFC 9457), with a stable code and a hint; never with a stack trace."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.routing import Match

from partita import errors
from partita.runtime import OutageLog

logger: Final = logging.getLogger("partita.http")

PROBLEM_MEDIA_TYPE: Final = "application/problem+json"
"""The media type of a response that is a problem."""
SERVER_ERROR: Final = 500

STATUSES: Final[Mapping[type[errors.PartitaError], int]] = {
    errors.InvalidCursor: 400,
    errors.InvalidKey: 422,
    errors.ConditionFailed: 409,
    errors.ItemMissing: 404,
    errors.RateLimited: 429,
    errors.TransactionCancelled: 409,
    errors.TransactionConflict: 409,
    errors.TokenInProgress: 409,
    errors.TokenMismatch: 422,
    errors.IdempotencyInProgress: 409,
    errors.IdempotencyMismatch: 422,
    errors.DataNewer: 503,
    errors.Throttled: 503,
    errors.Unprocessed: 503,
    errors.StoreBusy: 503,
    errors.StoreClosed: 503,
    errors.StoreFull: 503,
    errors.StoreMoved: 503,
    errors.StoreReadOnly: 503,
    errors.StoreUnavailable: 503,
}
"""The status for each error class and its subclasses; all others are failures of the service (500)."""

MAX_FIELDS: Final = 20
"""The maximum number of fields that a problem names: a caller may send thousands of unknown ones."""
MAX_TEXT: Final = 300
"""The maximum number of characters that a problem shows of a field name, which may be of any length."""

_METHODS: Final = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_IN_PYTHON: Final = " after validation"
"""What Pydantic adds to the length of an array, because a validator may have changed it."""
_NOT_ENCODED: Final = "Send the body as it is: no Content-Encoding is understood."
_NOT_JSON: Final = "Send JSON, with `Content-Type: application/json`."

RETRY_LATER: Final = {"Retry-After": "1"}

_SHOWN: Final = "/:@!$&'()*+,;="
"""The characters of a path that need no encoding, besides letters and digits (RFC 3986)."""

MissingPage: TypeAlias = Callable[[Request], "Response | None"]
"""Returns the page for a path that does not exist, or None if the request does not accept a page."""


class FieldProblem(BaseModel):
    """One part of a request that is wrong."""

    location: str = Field(examples=["body"], description="body, query, path or header")
    field: str = Field(examples=["title"])
    message: str = Field(examples=["Field required"])


class Problem(BaseModel):
    """Describes what went wrong and what to do about it. A service may add its own members."""

    model_config = ConfigDict(extra="allow")

    type: str = "about:blank"
    title: str = Field(examples=["Conflict"])
    status: int = Field(examples=[409])
    code: str = Field(examples=["version_conflict"], description="stable, for programs")
    detail: str = Field(examples=["Another writer changed this Task first."])
    hint: str | None = Field(default=None, examples=["Read again, and apply the change to the current item."])
    errors: list[FieldProblem] | None = Field(default=None, description="the invalid fields, if the status is 422")


class HttpProblem(HTTPException):
    """Raised by routes, dependencies and middleware: the response is a `Problem` with this status and code."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        hint: str | None = None,
        headers: dict[str, str] | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        """Describe what is wrong with a request.

        Args:
            status: the status of the response.
            code: a stable code, for programs.
            detail: what is wrong.
            hint: what to do.
            headers: headers of the response.
            members: additional members of the problem, such as the current item.
        """
        super().__init__(status, detail, headers)
        self.code = code
        self.hint = hint
        self.members = members or {}


def problem_response(
    status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any
) -> JSONResponse:
    """A problem as a response."""
    problem = Problem(title=HTTPStatus(status).phrase, status=status, code=code, detail=detail, **more)
    return JSONResponse(problem.model_dump(exclude_none=True), status, headers, PROBLEM_MEDIA_TYPE)


def handle_errors(app: FastAPI, *, missing: MissingPage | None = None, reads_with_head: bool = False) -> None:
    """Make an app respond to every error with a problem.

    Args:
        app: the app.
        missing: returns the page for a path that does not exist, or None if the request does not accept a page.
        reads_with_head: whether HEAD is accepted wherever GET is, as in apps of `build_app`.
    """
    app.add_exception_handler(errors.PartitaError, partial(_partita_error, OutageLog(logger)))
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(StarletteHTTPException, partial(_http_error, missing, reads_with_head))
    app.add_exception_handler(Exception, _fault)


def describe_problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may respond with, for its OpenAPI description."""
    content = {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def problem_schemas() -> dict[str, Any]:
    """The schemas that the problems in an OpenAPI description refer to."""
    schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Problem": schema}


def status_of(error: errors.PartitaError) -> int:
    """The status of the response to an error."""
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), SERVER_ERROR)


async def _partita_error(outages: OutageLog, request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.PartitaError)  # noqa: S101 - registered for these only
    status = status_of(error)
    if status < SERVER_ERROR:
        return problem_response(status, error.code, error.message, hint=error.hint or None, headers=_headers(error))
    # The message of a server error is for the operator: it may name files and keys.
    if status == SERVER_ERROR:
        logger.error("%s failed: %s", _shown(request), error, exc_info=error)
        return _failed(request, error.code)
    outages.report(error.code, _shown(request), error)
    return problem_response(
        status, error.code, "The service is not available now.", hint="Try again.", headers=RETRY_LATER
    )


def _shown(request: Request) -> str:
    """The request in a log: a path may have characters that control a terminal."""
    return f"{request.method} {quote(request.scope['path'], safe=_SHOWN)}"


def _headers(error: errors.PartitaError) -> dict[str, str]:
    return {"Retry-After": str(math.ceil(error.retry_after))} if isinstance(error, errors.RateLimited) else {}


async def _invalid_request(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001 - Starlette's signature
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these only
    details = iter(error.errors())
    problems = _one_for_each_field(map(_field_problem, details))
    sentences = [f"{problem.field or problem.location}: {problem.message}" for problem in problems]
    left_off = sum(1 for _ in details)
    sentences += [f"and {left_off:,} more"] if left_off else []
    hint = _NOT_JSON if isinstance(error.body, bytes) else None  # a JSON body would have been parsed before validation
    return problem_response(422, "invalid_request", "; ".join(sentences), errors=problems, hint=hint)


def _field_problem(detail: Mapping[str, Any]) -> FieldProblem:
    location, *path = detail["loc"]
    if location != "body":
        path = path[:1]  # the rest is internal to Pydantic: the alternatives that it tried
    field = "" if detail["type"] == "json_invalid" else ".".join(str(part) for part in path)
    return FieldProblem(location=str(location), field=_shortened(field), message=_shortened(_in_json_terms(detail)))


def _in_json_terms(detail: Mapping[str, Any]) -> str:
    """What is wrong with a part of a request. Pydantic describes it in terms of Python."""
    message: str = detail["msg"].removeprefix("Value error, ")
    match detail:
        case {"type": "json_invalid", "loc": ("body", int(place)), "ctx": {"error": reason}}:
            return f"{message}: {reason}, at character {place}"
        case {"type": "model_attributes_type" | "model_type" | "dict_type"}:
            return "Input should be a JSON object"
        case {"type": "tuple_type" | "list_type" | "set_type" | "frozen_set_type"}:
            return "Input should be a JSON array"
        case {"type": "too_long" | "too_short", "ctx": {"field_type": str(kind)}}:
            return message.replace(kind, "Object" if kind == "Dictionary" else "Array", 1).replace(_IN_PYTHON, "")
        case {"type": "string_pattern_mismatch", "ctx": {"pattern": r"\S"}}:
            return "String should have at least 1 character that is not a space"
    return message


def _one_for_each_field(problems: Iterable[FieldProblem]) -> list[FieldProblem]:
    """The first problem of each field. After `MAX_FIELDS` fields, the rest of the iterable is not consumed."""
    first: dict[tuple[str, str], FieldProblem] = {}
    for problem in problems:
        first.setdefault((problem.location, problem.field), problem)
        if len(first) == MAX_FIELDS:
            break
    return list(first.values())


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


async def _http_error(
    missing: MissingPage | None,
    reads_with_head: bool,  # noqa: FBT001 - bound above, by position
    request: Request,
    error: Exception,
) -> Response:
    assert isinstance(error, StarletteHTTPException)  # noqa: S101 - registered for these only
    if isinstance(error, HttpProblem):
        return problem_response(
            error.status_code, error.code, error.detail, hint=error.hint, headers=error.headers, **error.members
        )
    shown = missing(request) if missing is not None and error.status_code == HTTPStatus.NOT_FOUND else None
    if shown is not None:
        return shown
    if isinstance(error.__cause__, ValueError | RecursionError):
        # FastAPI responds with 422 to a body that is not JSON, but with 400 to one that Python cannot read: text that
        # is not UTF-8, a number with thousands of digits, or brackets that are nested too deeply.
        problem = FieldProblem(location="body", field="", message="The body cannot be read as JSON in UTF-8.")
        hint = _NOT_ENCODED if "content-encoding" in request.headers else None
        return problem_response(422, "invalid_request", problem.message, errors=[problem], hint=hint)
    code = HTTPStatus(error.status_code).name.lower()
    if "Allow" in (error.headers or {}):
        methods = ", ".join(_methods_at(request, reads_with_head=reads_with_head))
        detail, hint = f"This path does not accept {request.method}.", f"It accepts {methods}."
        return problem_response(error.status_code, code, detail, hint=hint, headers={"Allow": methods})
    detail = error.detail if error.status_code != HTTPStatus.NOT_FOUND else "There is nothing at this path."
    return problem_response(error.status_code, code, str(detail), headers=error.headers)


def _methods_at(request: Request, *, reads_with_head: bool) -> Iterator[str]:
    """The methods that the path of a request accepts. Starlette names only those of the first route with this path."""
    for method in _METHODS:
        asked = "GET" if method == "HEAD" and reads_with_head else method
        scope = {**request.scope, "method": asked}
        if any(route.matches(scope)[0] is Match.FULL for route in request.app.routes):
            yield method


async def _fault(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001 - the server logs the error
    return _failed(request, "internal")


def _failed(request: Request, code: str) -> JSONResponse:
    # This response may be sent from outside all middleware, which would otherwise add these headers.
    headers = {
        "X-Request-Id": request.state.request_id,
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    hint = "Give the operator the X-Request-Id of this response."
    return problem_response(SERVER_ERROR, code, "The service failed.", hint=hint, headers=headers)
