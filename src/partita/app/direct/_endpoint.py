"""One route, called directly: reads the body, resolves the inputs, calls the endpoint and sends its result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any, Final, cast, get_type_hints

from fastapi import FastAPI, Request, Response
from fastapi.datastructures import DefaultPlaceholder
from fastapi.exceptions import ResponseValidationError
from fastapi.routing import APIRoute, RouteContext
from pydantic_core import PydanticUndefined
from starlette.types import Receive, Scope, Send

from partita.app.direct._body import body_of
from partita.app.direct._inputs import Calls, is_direct

Handler = Callable[[Request, Exception], Awaitable[Response]]

_JSON: Final = (b"content-type", b"application/json")
_WITH_BODY: Final = range(200, 204)
"""The statuses with a body. For any other status, the endpoint must return a `Response` itself."""


class _Headers(Response):
    """The headers and the status that an endpoint may set for a response that it does not create itself."""

    def __init__(self) -> None:
        self.raw_headers = []
        self.status_code = 0
        self.background = None
        self.body = b""


class DirectEndpoint:
    """Responds to the requests of one route."""

    def __init__(self, app: FastAPI, context: RouteContext) -> None:
        self.app = app
        self.route = cast("APIRoute", context.original_route)
        self.status: int = context.status_code or 200
        self.field = context.response_field
        self.by_alias: bool = context.response_model_by_alias
        self.reads_body = context.body_field is not None
        self.calls = Calls(context.dependant, embeds=context._embed_body_fields)  # noqa: SLF001 - there is no public attribute
        self.takes_response = self.calls.takes_response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request; if an error is raised, with the app's exception handlers."""
        request = Request(scope, receive, send)
        try:
            head = _Headers() if self.takes_response else None
            body = await body_of(request) if self.reads_body else PydanticUndefined
            given = await self.calls.run(request, body, head)
            content = given if isinstance(given, Response) else self._encoded(given)
        except Exception as error:
            handler = _handler_of(self.app, error)
            await (await handler(request, error))(scope, receive, send)
            if handler is self.app.exception_handlers.get(Exception):
                raise  # so that the server logs it
            return
        if isinstance(content, Response):
            await content(scope, receive, send)
        else:
            await self._send(content, head, send)

    def _encoded(self, given: Any) -> bytes:
        """Validate and encode the result of the endpoint by the response model that it declares."""
        assert self.field is not None  # noqa: S101 - a route without a model is not called directly
        value, wrong = self.field.validate(given, {}, loc=("response",))
        if wrong:
            raise ResponseValidationError(errors=wrong, body=given)
        content: bytes = self.field.serialize_json(value, by_alias=self.by_alias)
        return content

    async def _send(self, content: bytes, head: Response | None, send: Send) -> None:
        headers = [(b"content-length", str(len(content)).encode()), _JSON]
        status = self.status
        if head is not None:
            headers += head.raw_headers
            status = head.status_code or status
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})


def can_be_direct(context: RouteContext) -> bool:
    """Whether a route has only inputs and outputs that a `DirectEndpoint` supports."""
    return (
        isinstance(context.original_route, APIRoute)
        and is_direct(context.dependant)
        and iscoroutinefunction(context.endpoint)
        and not (context.is_sse_stream or context.is_json_stream)
        and not (context.response_model_include or context.response_model_exclude)
        and not (context.response_model_exclude_unset or context.response_model_exclude_defaults)
        and not context.response_model_exclude_none
        and _is_strict(context)
        and (_gives_response(context) or _gives_model(context))
    )


def _is_strict(context: RouteContext) -> bool:
    """Whether a body without a content type is read as bytes, which is FastAPI's default."""
    given = context.strict_content_type
    return bool(given.value if isinstance(given, DefaultPlaceholder) else given)


def _gives_model(context: RouteContext) -> bool:
    is_json = isinstance(context.response_class, DefaultPlaceholder)
    return is_json and context.response_field is not None and (context.status_code or 200) in _WITH_BODY


def _gives_response(context: RouteContext) -> bool:
    given = get_type_hints(context.endpoint).get("return")
    return isinstance(given, type) and issubclass(given, Response)


def _handler_of(app: FastAPI, error: Exception) -> Handler:
    """Return the exception handler for an error: that of its class, or of the nearest base class."""
    handlers = app.exception_handlers
    found = next(handlers[kind] for kind in type(error).__mro__ if kind in handlers)
    return cast("Handler", found)
