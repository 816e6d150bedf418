"""The operations of an OpenAPI description, in the form that a page shows."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from msgspec import Struct

from partita.app.start._schemas import FieldRow, Schemas

METHODS: Final = ("get", "post", "put", "patch", "delete", "head", "options")
PLACES: Final = ("path", "query", "header", "cookie")
PROBLEM: Final = "application/problem+json"


class Content(Struct, frozen=True):
    """The body of a request or response."""

    media_type: str
    kind: str
    fields: tuple[FieldRow, ...]
    example: str
    """As text; empty if there is none."""


class Response(Struct, frozen=True):
    """A possible response of an operation."""

    status: str
    about: str
    content: tuple[Content, ...]
    headers: tuple[FieldRow, ...]
    problem: str | None
    """The code of a problem; None for any other response."""


class Operation(Struct, frozen=True):
    """One operation."""

    identifier: str
    """The id of its element on the page."""
    method: str
    path: str
    group: str
    title: str
    about: str
    is_signed_in: bool
    is_deprecated: bool
    parameters: Mapping[str, tuple[FieldRow, ...]]
    """By location: path, query, header or cookie."""
    bodies: tuple[Content, ...]
    responses: tuple[Response, ...]
    call: str
    """The operation as a `curl` command."""


def operations(description: Mapping[str, Any], base: str) -> list[Operation]:
    """All operations of a description, which is served at `base`."""
    reader = _Reader(description, base)
    return [
        reader.operation(path, method, methods)
        for path, methods in (description.get("paths") or {}).items()
        for method in METHODS
        if method in methods
    ]


class _Reader:
    def __init__(self, description: Mapping[str, Any], base: str) -> None:
        self._schemas = Schemas(description)
        self._base = base
        self._security = description.get("security")

    def operation(self, path: str, method: str, methods: Mapping[str, Any]) -> Operation:
        found = methods[method]
        given = [
            self._schemas.resolved(each) for each in (*methods.get("parameters", ()), *found.get("parameters", ()))
        ]
        bodies = tuple(self._contents(self._schemas.resolved(found.get("requestBody", {}))))
        tags = found.get("tags") or [path.strip("/").partition("/")[0].partition(".")[0] or "root"]
        is_signed_in = bool(found.get("security", self._security))
        return Operation(
            identifier=found.get("operationId") or f"{method}-{path.strip('/').replace('/', '-')}",
            method=method.upper(),
            path=path,
            group=str(tags[0]),
            title=found.get("summary") or f"{method.upper()} {path}",
            about=found.get("description", ""),
            is_signed_in=is_signed_in,
            is_deprecated=found.get("deprecated", False),
            parameters={place: rows for place in PLACES if (rows := tuple(self._rows(given, place)))},
            bodies=bodies,
            responses=tuple(self._responses(found.get("responses", {}))),
            call=self._call(path, method, given, bodies, is_signed_in=is_signed_in),
        )

    def _rows(self, given: list[Mapping[str, Any]], place: str) -> Iterator[FieldRow]:
        for each in given:
            if each.get("in") == place:
                about = str(each.get("description", ""))
                schema = each.get("schema") or {}
                yield self._schemas.field(each["name"], schema, is_required=each.get("required", False), about=about)

    def _contents(self, part: Mapping[str, Any]) -> Iterator[Content]:
        for media_type, content in (part.get("content") or {}).items():
            schema = content.get("schema") or {}
            example = content["example"] if "example" in content else self._named_example(content, schema)
            yield Content(
                media_type, self._schemas.kind(schema), self._schemas.fields(schema), _written(media_type, example)
            )

    def _named_example(self, content: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
        for each in (content.get("examples") or {}).values():
            return self._schemas.resolved(each).get("value")
        return self._schemas.example(schema) if schema else None

    def _responses(self, responses: Mapping[str, Any]) -> Iterator[Response]:
        for status, given in responses.items():
            response = self._schemas.resolved(given)
            content = response.get("content") or {}
            problem = content.get(PROBLEM)
            headers = tuple(self._header(name, each) for name, each in (response.get("headers") or {}).items())
            about = str(response.get("description", ""))
            if problem is not None:
                said = problem.get("example") or {}
                yield Response(status, str(said.get("detail") or about), (), headers, str(said.get("code", about)))
            else:
                yield Response(status, about, tuple(self._contents(response)), headers, None)

    def _header(self, name: str, given: Any) -> FieldRow:
        header = self._schemas.resolved(given)
        about = str(header.get("description", ""))
        return self._schemas.field(name, header.get("schema") or {}, is_required=False, about=about)

    def _call(
        self, path: str, method: str, given: list[Mapping[str, Any]], bodies: tuple[Content, ...], *, is_signed_in: bool
    ) -> str:
        """Return the operation as a `curl` command with only the required parameters."""
        required = [each for each in given if each.get("required")]
        values = {each["name"]: self._schemas.example(each.get("schema") or {}) for each in required}
        for each in required:
            if each["in"] == "path":
                path = path.replace(f"{{{each['name']}}}", quote(str(values[each["name"]]), safe=""))
        query = urlencode({each["name"]: values[each["name"]] for each in required if each["in"] == "query"})
        words = ["curl", *([] if method == "get" else ["-X", method.upper()])]
        lines = [shlex.join([*words, f"{self._base}{path}" + (f"?{query}" if query else "")])]
        if is_signed_in:
            lines.append('-H "Authorization: Bearer $TOKEN"')
        lines += [
            shlex.join(["-H", f"{each['name']}: {values[each['name']]}"]) for each in required if each["in"] == "header"
        ]
        if bodies and bodies[0].example:
            lines += [
                shlex.join(["-H", f"Content-Type: {bodies[0].media_type}"]),
                shlex.join(["-d", bodies[0].example]),
            ]
        return " \\\n  ".join(lines)


def _written(media_type: str, example: Any) -> str:
    if example is None:
        return ""
    if isinstance(example, str) and "json" not in media_type:
        return example if example != "text" else ""
    return json.dumps(example, indent=2, ensure_ascii=False, default=str) if "json" in media_type else ""
