"""The page of one API: its operations by group, each with parameters, bodies, responses, problems and a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from starlette.responses import Response as HttpResponse

from partita.app.start._frame import page
from partita.app.start._html import Child, Markup, coded, prose, tag
from partita.app.start._operations import Content, Operation, Response, operations
from partita.app.start._schemas import FieldRow

_PLACES: Final = {"path": "In the path", "query": "In the query", "header": "Headers", "cookie": "Cookies"}


class ApiSource(Struct, frozen=True):
    """An API that this server serves."""

    name: str
    """Its page is `/api-docs/NAME`."""
    title: str
    summary: str
    path: str
    """The path prefix of its operations."""


def api_page(source: ApiSource, description: Mapping[str, Any], origin: str) -> HttpResponse:
    """The page of one API, for a client that reaches this server at `origin`."""
    groups = _by_group(operations(description, origin + source.path))
    return page(
        f"{source.title} · APIs · Partita",
        tag(
            "div",
            _contents(groups),
            tag(
                "div", _head(source, description), [_group(name, each) for name, each in groups], _NOTHING, class_="api"
            ),
            class_="reading",
        ),
        about=source.summary,
        script="api.js",
    )


def _by_group(found: Sequence[Operation]) -> list[tuple[str, list[Operation]]]:
    """Group operations, the largest group first: it shows the main subject of the API."""
    groups: dict[str, list[Operation]] = {}
    for each in found:
        groups.setdefault(each.group, []).append(each)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def index_page(sources: Sequence[ApiSource]) -> HttpResponse:
    """The list of all APIs."""
    rows = [
        tag(
            "li",
            tag("h2", tag("a", each.title, href=f"/api-docs/{each.name}")),
            tag("p", coded(each.summary)),
            tag("p", tag("code", each.path)),
            class_="card",
        )
        for each in sources
    ]
    listed: Child = tag("ul", rows, class_="cards") if rows else tag("p", "No service of this server has an API.")
    return page("APIs · Partita", tag("h1", "APIs"), listed, about="The APIs of this server, described.")


def _head(source: ApiSource, description: Mapping[str, Any]) -> Markup:
    raw = tag("a", "OpenAPI description", href=f"{source.path}/openapi.json")
    find = tag(
        "p",
        tag("label", "Find an operation", for_="find", class_="hidden"),
        tag("input", id="find", type="search", placeholder="Find: tasks, 409, cursor …", autocomplete="off"),
        tag("button", "Open all", type="button", id="all", class_="button"),
        class_="find",
        hidden=True,
    )
    return tag(
        "header",
        tag("h1", source.title),
        tag("p", coded(source.summary), class_="lead"),
        prose(str(description.get("info", {}).get("description", ""))),
        tag("p", "All paths are below ", tag("code", source.path), ". For programs: ", raw, "."),
        find,
        tag("p", class_="hidden", role="status", id="found"),
    )


_NOTHING: Final = tag("p", "No operation matches.", id="nothing", hidden=True)


def _contents(groups: Sequence[tuple[str, Sequence[Operation]]]) -> Markup:
    """The links to all operations."""
    parts = [tag("li", tag("span", name), tag("ul", [_entry(each) for each in found])) for name, found in groups]
    return tag("nav", tag("ul", parts), class_="contents", aria_label="Operations")


def _entry(operation: Operation) -> Markup:
    return tag("li", tag("a", _method(operation), " ", operation.title, href=f"#{operation.identifier}"))


def _group(name: str, found: Sequence[Operation]) -> Markup:
    return tag("section", tag("h2", name), [_operation(each) for each in found], class_="group")


def _operation(operation: Operation) -> Markup:
    title = tag(
        "h3", _method(operation), " ", tag("code", operation.path), " ", tag("span", operation.title, class_="title")
    )
    marks = tag("span", "deprecated", class_="mark") if operation.is_deprecated else None
    body = tag(
        "div",
        prose(operation.about),
        tag("p", "Requires a token: sign in, or run ", tag("code", "partita token --user ID"), ".")
        if operation.is_signed_in
        else None,
        [_fields(_PLACES[place], rows) for place, rows in operation.parameters.items()],
        [_content("Body", each) for each in operation.bodies],
        _responses(operation.responses),
        tag("h4", "As a command"),
        _code(operation.call, f"{operation.title} as a command"),
        class_="body",
    )
    return tag("details", tag("summary", title, marks), body, class_="operation", id=operation.identifier)


def _method(operation: Operation) -> Markup:
    return tag("span", operation.method, class_=f"method {operation.method.lower()}")


def _fields(title: str, rows: Sequence[FieldRow]) -> Markup | None:
    return tag("div", tag("h4", title), _rows(rows)) if rows else None


def _rows(rows: Sequence[FieldRow]) -> Markup:
    return tag("dl", [_row(each) for each in rows], class_="fields")


def _row(row: FieldRow) -> list[Markup]:
    needed = tag("span", "required", class_="mark") if row.is_required else None
    term = tag("dt", tag("code", row.name), " ", tag("span", row.kind, class_="kind"), " ", needed)
    rules = tag("p", coded("; ".join(row.rules)), class_="rules") if row.rules else None
    inner = tag("details", tag("summary", f"Fields of {row.name}"), _rows(row.inner)) if row.inner else None
    return [term, tag("dd", prose(row.about), rules, inner)]


def _content(title: str, content: Content) -> Markup:
    return tag(
        "div",
        tag("h4", title, " ", tag("span", f"{content.media_type}: {content.kind}", class_="kind")),
        _rows(content.fields) if content.fields else None,
        _code(content.example, f"Example: {content.kind}") if content.example else None,
    )


def _responses(responses: Sequence[Response]) -> list[Markup]:
    """Successful responses in full, and all problems in one table."""
    problems = [each for each in responses if each.problem is not None]
    shown = [_response(each) for each in responses if each.problem is None]
    if not problems:
        return shown
    rows = [
        tag("tr", tag("th", each.status, scope="row"), tag("td", tag("code", each.problem)), tag("td", each.about))
        for each in problems
    ]
    head = tag("tr", [tag("th", name, scope="col") for name in ("Status", "Code, such as", "Detail")])
    table = tag("table", tag("thead", head), tag("tbody", rows))
    return [
        *shown,
        tag("h4", "Problems"),
        tag("div", table, class_="wide", tabindex="0", role="group", aria_label="Problems"),
    ]


def _response(response: Response) -> Markup:
    headers = tag("details", tag("summary", "Headers"), _rows(response.headers)) if response.headers else None
    inner = [_content(f"{response.status} {response.about}", each) for each in response.content]
    alone = None if inner else tag("h4", f"{response.status} {response.about}")
    return tag("div", alone, inner, headers)


def _code(text: str, name: str) -> Markup:
    return tag("pre", tag("code", text), tabindex="0", role="group", aria_label=name)
