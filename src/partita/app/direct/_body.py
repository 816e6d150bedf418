"""The body of a request, as FastAPI reads it: JSON where its type says so, bytes where not."""

from __future__ import annotations

import email.message
import json
from functools import lru_cache
from typing import Any, Final

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic_core import PydanticUndefined

_LENGTHS: Final = (b"content-length", b"transfer-encoding")
_NONE: Final = [b"0"]


async def body_of(request: Request) -> Any:
    """The body; undefined where there is none.

    Raises:
        RequestValidationError: it is not JSON.
        HTTPException: 400, Python cannot read it.
    """
    if _is_empty(request):
        return PydanticUndefined
    try:
        content = await request.body()
        if not content:
            return PydanticUndefined
        return json.loads(content) if _is_json(request.headers.get("content-type", "")) else content
    except json.JSONDecodeError as error:
        said = {"loc": ("body", error.pos), "msg": "JSON decode error", "input": {}, "ctx": {"error": error.msg}}
        raise RequestValidationError([{"type": "json_invalid", **said}], body=error.doc) from error
    except HTTPException:
        raise
    except Exception as error:
        raise HTTPException(400, "There was an error parsing the body") from error


def _is_empty(request: Request) -> bool:
    """Whether the head says that there is no body, which then need not be waited for."""
    lengths = [value for name, value in request.scope["headers"] if name in _LENGTHS]
    return lengths == _NONE


@lru_cache(maxsize=64)  # few are used, and anybody may invent more
def _is_json(content_type: str) -> bool:
    message = email.message.Message()
    message["content-type"] = content_type
    subtype = message.get_content_subtype()
    return message.get_content_maintype() == "application" and (subtype == "json" or subtype.endswith("+json"))
