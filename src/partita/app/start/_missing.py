"""The page for an unknown address, for browsers: with links to the existing pages."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from partita.app.start._frame import page
from partita.app.start._front_page import ServedService
from partita.app.start._html import Child, Markup, tag

MAX_PATH: Final = 80
_HTML: Final = "text/html"
_JSON: Final = ("application/json", "application/problem+json")


def missing_page(request: Request, services: Sequence[ServedService]) -> Response | None:
    """Return the page for an address that does not exist; None if the request does not prefer a page."""
    if not wants_page(request.headers.get("accept", "")):
        return None
    path = request.scope["path"]
    shown = path if len(path) <= MAX_PATH else f"{path[:MAX_PATH]}…"
    response = page(
        "Not found · Partita",
        tag("h1", "Page not found"),
        tag("p", "There is nothing at ", tag("code", shown), " on this server."),
        _meant(path, services),
        tag("h2", "Pages of this server"),
        tag(
            "ul",
            _place("/", "Start"),
            [_service(each) for each in services],
            _place("/api-docs/", "APIs"),
            _place("/console/", "Console"),
            class_="list",
        ),
        status=404,
    )
    response.headers["Vary"] = "Accept"
    return response


def wants_page(accept: str) -> bool:
    """Whether a request prefers a page to a problem, as browsers do when they open an address."""
    wanted = dict(map(_quality, accept.lower().split(",")))
    return wanted.get(_HTML, 0.0) > 0 and wanted[_HTML] >= max(wanted.get(kind, 0.0) for kind in _JSON)


def _quality(part: str) -> tuple[str, float]:
    kind, *parameters = (each.strip() for each in part.split(";"))
    quality = next((each[2:] for each in parameters if each.startswith("q=")), "1")
    try:
        return kind, float(quality)
    except ValueError:
        return kind, 0.0


def _meant(path: str, services: Sequence[ServedService]) -> Markup | None:
    """A link to the service whose name resembles the first part of the path."""
    names = {each.name: each for each in services}
    found = difflib.get_close_matches(path.strip("/").partition("/")[0].lower(), names, n=1)
    if not found:
        return None
    return tag("p", "Did you mean ", _link(names[found[0]]), "?")


def _service(service: ServedService) -> Markup:
    return tag("li", _link(service))


def _link(service: ServedService) -> Markup:
    address = service.page or service.docs or f"/console/#/{service.name}"
    return tag("a", service.title, href=address)


def _place(address: str, text: Child) -> Markup:
    return tag("li", tag("a", text, href=address))
