"""The OpenAPI description of a service, completed with the common parts: headers, problems and idempotency."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

from partita.app._capacity import HEADER as CAPACITY
from partita.http import PROBLEM_MEDIA_TYPE, REPLAYED, describe_problems, problem_schemas

ABOUT: Final = """\
Errors are `application/problem+json` with a stable `code`. Lists accept `limit` and `cursor`, and return `items` and
`next_cursor`. Every response has an `X-Request-Id`, and `X-Consumed-Capacity` lists the capacity units that each access
pattern consumed.
"""

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "X-Request-Id": {
        "description": "The request's own identifier, or a new one.",
        "schema": {"type": "string"},
        "example": "0197e1b2c3d4",
    },
    CAPACITY: {
        "description": "The capacity units that the request consumed, by access pattern.",
        "schema": {"type": "string"},
        "example": "create_task;rcu=0;wcu=5",
    },
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "string"}, "example": "1"},
    "WWW-Authenticate": {"description": "The required scheme.", "schema": {"type": "string"}, "example": "Bearer"},
    REPLAYED: {
        "description": "`true` if this is the stored response of an earlier request with the same key.",
        "schema": {"type": "string", "enum": ["true"]},
    },
}

_EXAMPLES: Final = {
    400: ("invalid_cursor", "The cursor does not belong to this query, or is outdated."),
    401: ("unauthenticated", "The request has no token."),
    403: ("forbidden", "Only operators may do this."),
    404: ("item_missing", "There is no such item."),
    409: ("version_conflict", "Another writer changed this item first."),
    412: ("precondition_failed", "The item has changed since you read it."),
    413: ("body_too_large", "The body has more than 1,000,000 bytes."),
    414: ("target_too_long", "Path and query have more than 8,192 bytes."),
    421: ("host_not_allowed", "This server does not accept the host name in the request's Host header."),
    422: ("invalid_request", "title: Field required"),
    428: ("precondition_required", "The request has no If-Match header."),
    429: ("rate_limited", "That is more than 600 at once, or 100 a second."),
    431: ("head_too_large", "The headers have more than 32,768 bytes."),
    500: ("internal", "The service failed."),
    503: ("throttled", "The service is not available now."),
}


def completed(description: dict[str, Any], *, is_limited: bool) -> dict[str, Any]:
    """Return the description with the responses that every operation has, and without those that it never has.

    Args:
        description: the description as FastAPI generates it.
        is_limited: whether the service limits the requests of each caller.
    """
    components = description.setdefault("components", {})
    components.setdefault("schemas", {}).update(problem_schemas())
    components["headers"] = HEADERS
    for operation in _operations(description):
        responses = operation["responses"]
        if "security" not in operation:
            responses.pop("401", None)
        elif is_limited:
            responses.setdefault("429", describe_problems(429)[429])
        if _has_idempotency_key(operation):
            _describe_replays(responses)
        for status, response in responses.items():
            _complete_response(int(status), response)
        operation["responses"] = dict(sorted(responses.items()))
    return description


def _operations(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in description["paths"].values():
        yield from methods.values()


def _has_idempotency_key(operation: dict[str, Any]) -> bool:
    return any(parameter["name"] == "idempotency-key" for parameter in operation.get("parameters", ()))


def _describe_replays(responses: dict[str, Any]) -> None:
    for status, response in responses.items():
        if status.startswith("2"):
            response["headers"] = {**response.get("headers", {}), REPLAYED: _reference(REPLAYED)}
    responses.setdefault("409", describe_problems(409)[409])


def _complete_response(status: int, response: dict[str, Any]) -> None:
    # FastAPI shares these objects between routes, so they must not be changed in place.
    names = ["X-Request-Id", CAPACITY]
    names += ["WWW-Authenticate"] if status == HTTPStatus.UNAUTHORIZED else []
    names += ["Retry-After"] if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE) else []
    response["headers"] = {**response.get("headers", {}), **{name: _reference(name) for name in names}}
    if response["description"] == "Successful Response":
        response["description"] = HTTPStatus(status).phrase
    content = response.get("content", {})
    if PROBLEM_MEDIA_TYPE in content and status in _EXAMPLES:
        described = {"example": _example(status), **content[PROBLEM_MEDIA_TYPE]}
        response["content"] = {**content, PROBLEM_MEDIA_TYPE: described}


def _example(status: int) -> dict[str, Any]:
    code, detail = _EXAMPLES[status]
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}


def _reference(header: str) -> dict[str, str]:
    return {"$ref": f"#/components/headers/{header}"}
