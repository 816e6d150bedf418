"""Read the body of a request as FastAPI does: as JSON if its content type says so, otherwise as bytes."""

from __future__ import annotations

import email.message
import json
from collections.abc import Callable, Coroutine, Sequence
from copy import deepcopy
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeAlias

from fastapi import HTTPException, Request
from fastapi.dependencies.utils import request_body_to_args
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from starlette.requests import ClientDisconnect

from partita.http import raw_header

BodyReader: TypeAlias = Callable[[Any], tuple[dict[str, Any], list[Any]]]
"""Returns the arguments that a body contains, and the validation errors."""

_LENGTHS: Final = (b"content-length", b"transfer-encoding")
_NONE: Final = [b"0"]


async def body_of(request: Request) -> Any:
    """Return the body; `PydanticUndefined` if there is none.

    Raises:
        RequestValidationError: the body is not JSON, or an object in it has a name twice.
        HTTPException: 400, Python cannot read the body.
    """
    if _is_empty(request):
        return PydanticUndefined
    try:
        content = await _content(request)
        if not content:
            return PydanticUndefined
        if not _is_json(raw_header(request.scope, b"content-type")):
            return content
        return _parsed(content)
    except json.JSONDecodeError as error:
        said = {"loc": ("body", error.pos), "msg": "JSON decode error", "input": {}, "ctx": {"error": error.msg}}
        raise RequestValidationError([{"type": "json_invalid", **said}], body=error.doc) from error
    except (HTTPException, RequestValidationError):
        raise
    except Exception as error:
        raise HTTPException(400, "There was an error parsing the body") from error


def _parsed(content: bytes) -> Any:
    body = json.loads(content)
    # Every name has a colon, so an object without duplicates, nested objects and other colons needs no second look.
    if type(body) is not dict or len(body) != content.count(b":"):
        json.loads(content, object_pairs_hook=_checked_object)
    return body


def _checked_object(pairs: list[tuple[str, Any]]) -> None:
    """Refuse an object with two values for one name: it is unknown which of them the client means."""
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            said = {"type": "duplicate_name", "loc": ("body", name), "msg": "this name is given more than once"}
            raise RequestValidationError([said])
        seen.add(name)


async def _content(request: Request) -> bytes:
    """Return all bytes of the body. Most bodies come in one message, which need not go through Starlette's stream."""
    message = await request.receive()
    if message["type"] != "http.request":
        raise ClientDisconnect
    content: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        request._body = content  # noqa: SLF001 - where `request.body()` stores it, for later calls
        return content
    request._body = content + await Request(request.scope, request.receive).body()  # noqa: SLF001
    return request._body  # noqa: SLF001


def _is_empty(request: Request) -> bool:
    """Whether the headers say that there is no body, so that it need not be awaited."""
    lengths = [value for name, value in request.scope["headers"] if name in _LENGTHS]
    return lengths == _NONE


@lru_cache(maxsize=64)  # few types are used, but clients may invent more
def _is_json(content_type: bytes | None) -> bool:
    message = email.message.Message()
    message["content-type"] = (content_type or b"").decode("latin-1")
    subtype = message.get_content_subtype()
    return message.get_content_maintype() == "application" and (subtype == "json" or subtype.endswith("+json"))


def body_reader(fields: Sequence[Any], *, embeds: bool) -> BodyReader:
    """Return the function that reads the parameters of a route or dependency from a body, as FastAPI does."""
    if len(fields) == 1 and not embeds and not getattr(fields[0].field_info, "embed", None):
        return _whole_reader(fields[0])

    def read(body: Any) -> tuple[dict[str, Any], list[Any]]:
        return _result_of(request_body_to_args(list(fields), body, embeds))

    return read


def _whole_reader(field: Any) -> BodyReader:
    """Return the reader for a single parameter that is the whole body."""
    name, info = field.name, field.field_info
    is_required, validates_default, default = info.is_required(), info.validate_default, field.default
    is_shared = _is_immutable(default)

    def read(body: Any) -> tuple[dict[str, Any], list[Any]]:
        if body is PydanticUndefined:
            if is_required:
                return _result_of(request_body_to_args([field], body, embed_body_fields=False))
            body = default if is_shared else deepcopy(default)
            if not validates_default:
                return {name: body}, []
        value, wrong = field.validate(body, {}, loc=("body",))
        return {name: value}, wrong

    return read


def _is_immutable(value: Any) -> bool:
    """Whether a value is immutable, so that all requests can share it."""
    if isinstance(value, BaseModel) and value.model_config.get("frozen"):
        return all(map(_is_immutable, vars(value).values()))
    return value is None or isinstance(value, str | bytes | int | float | Enum)


def _result_of(coroutine: Coroutine[Any, Any, tuple[dict[str, Any], list[Any]]]) -> tuple[dict[str, Any], list[Any]]:
    """Return the result of a coroutine that never waits: only the reading of forms does."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        found: tuple[dict[str, Any], list[Any]] = stop.value
        return found
    raise AssertionError("The coroutine that reads a body has waited.")
