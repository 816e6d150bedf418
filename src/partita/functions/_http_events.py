"""HTTP requests as AWS passes them to a function: API Gateway's two formats, of which function URLs use the second.

| event | from | body of the response |
| --- | --- | --- |
| format 1.0 | REST APIs, and HTTP APIs that are configured for it | `multiValueHeaders` |
| format 2.0 | HTTP APIs, function URLs | `headers`, one value each, and `cookies` |
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from partita.errors import EventRefused

Format: TypeAlias = Literal["1.0", "2.0"]
Header: TypeAlias = tuple[bytes, bytes]
Scope: TypeAlias = dict[str, Any]

_TEXT: Final = ("text/", "application/json", "application/javascript", "application/xml", "application/problem+json")
_TEXT_ENDINGS: Final = ("+json", "+xml")
_PORT: Final = 443


class _Source(Struct, rename="camel", frozen=True):
    source_ip: str | None = None


class _Http(Struct, rename="camel", frozen=True):
    method: str
    path: str
    source_ip: str | None = None


class _Context2(Struct, rename="camel", frozen=True):
    http: _Http
    stage: str = "$default"


class _Event2(Struct, rename="camel", frozen=True):
    request_context: _Context2
    raw_query_string: str = ""
    headers: dict[str, str] | None = None
    cookies: list[str] | None = None
    body: str | None = None
    is_base64_encoded: bool = False


class _Context1(Struct, rename="camel", frozen=True):
    path: str | None = None
    identity: _Source | None = None


class _Event1(Struct, rename="camel", frozen=True):
    http_method: str
    path: str
    request_context: _Context1
    headers: dict[str, str] | None = None
    multi_value_headers: dict[str, list[str]] | None = None
    query_string_parameters: dict[str, str] | None = None
    multi_value_query_string_parameters: dict[str, list[str]] | None = None
    body: str | None = None
    is_base64_encoded: bool = False


class HttpEvent(Struct, frozen=True):
    """A request in the form of ASGI, and the format that its response must have."""

    format: Format
    scope: Scope
    body: bytes | None
    """None if the event says that it is base64, but it is not."""


class HttpResult(Struct, frozen=True):
    """A response, before it is converted for AWS."""

    status: int
    headers: Sequence[Header]
    body: bytes


def http_event(event: Any) -> HttpEvent:
    """Return the request in an event.

    Raises:
        EventRefused: the event does not contain a request.
    """
    try:
        if isinstance(event, Mapping) and event.get("version") == "2.0":
            return _format_2(msgspec.convert(event, _Event2))
        return _format_1(msgspec.convert(event, _Event1))
    except msgspec.ValidationError as error:
        raise EventRefused(f"This event is not an HTTP request: {error}.") from error


def _format_2(event: _Event2) -> HttpEvent:
    http, stage = event.request_context.http, event.request_context.stage
    headers = list((event.headers or {}).items())
    if event.cookies:
        headers.append(("cookie", "; ".join(event.cookies)))
    root = f"/{stage}"
    root = root if stage != "$default" and f"{http.path}/".startswith(f"{root}/") else ""
    scope = _scope(http.method, http.path, root, event.raw_query_string, headers, http.source_ip)
    return HttpEvent("2.0", scope, _body(event.body, is_base64=event.is_base64_encoded))


def _format_1(event: _Event1) -> HttpEvent:
    headers = list(_pairs(event.multi_value_headers, event.headers))
    query = urlencode(list(_pairs(event.multi_value_query_string_parameters, event.query_string_parameters)))
    whole = event.request_context.path or event.path  # with the name of the stage, if the address contains it
    root = whole.removesuffix(event.path) if whole.endswith(event.path) else ""
    source = event.request_context.identity
    scope = _scope(event.http_method, f"{root}{event.path}", root, query, headers, source.source_ip if source else None)
    return HttpEvent("1.0", scope, _body(event.body, is_base64=event.is_base64_encoded))


def _pairs(many: Mapping[str, list[str]] | None, single: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    """Yield each name with each of its values. The mapping of single values has only the last value of a name."""
    if many:
        yield from ((name, value) for name, values in many.items() for value in values)
    elif single:
        yield from single.items()


def _scope(
    method: str, path: str, root: str, query: str, headers: Sequence[tuple[str, str]], source: str | None
) -> Scope:
    lower = [(name.lower().encode(), value.encode()) for name, value in headers]
    named = dict(lower)
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method.upper(),
        "scheme": named.get(b"x-forwarded-proto", b"https").decode(),
        "path": path,
        "root_path": root,
        "query_string": query.encode(),
        "headers": lower,
        "client": None if source is None else (source, 0),
        "server": (named.get(b"host", b"").decode() or "lambda", _PORT),
    }


def _body(text: str | None, *, is_base64: bool) -> bytes | None:
    if not is_base64:
        return (text or "").encode()
    try:
        return base64.b64decode(text or "", validate=True)
    except (binascii.Error, ValueError):
        return None


def http_result(response: HttpResult, form: Format) -> dict[str, Any]:
    """Return a response in the form that AWS expects."""
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers]
    is_text = _is_text(dict(headers))
    body = response.body.decode() if is_text else base64.b64encode(response.body).decode()
    made: dict[str, Any] = {"statusCode": response.status, "body": body, "isBase64Encoded": not is_text}
    if form == "1.0":
        made["multiValueHeaders"] = _gathered(headers)
        return made
    cookies = [value for name, value in headers if name == "set-cookie"]
    others = _gathered([(name, value) for name, value in headers if name != "set-cookie"])
    made["headers"] = {name: ",".join(values) for name, values in others.items()}
    return {**made, "cookies": cookies} if cookies else made


def _gathered(headers: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    gathered: dict[str, list[str]] = {}
    for name, value in headers:
        gathered.setdefault(name, []).append(value)
    return gathered


def _is_text(headers: Mapping[str, str]) -> bool:
    """Whether a body is UTF-8 text, which can be sent without base64."""
    kind, _, parameters = headers.get("content-type", "text/plain").partition(";")
    kind, charset = kind.strip().lower(), parameters.strip().lower()
    if "content-encoding" in headers or (charset.startswith("charset=") and charset != "charset=utf-8"):
        return False
    return kind.startswith(_TEXT) or kind.endswith(_TEXT_ENDINGS)
