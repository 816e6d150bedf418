"""The frame of the pages that every server has: head, header, skip link, and the headers of the response."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from partita.app.start._html import Child, Markup, tag
from partita.http import PAGE_HEADERS

ICON: Final = "/console/icon.svg"


def page(title: str, *content: Child, about: str = "", script: str = "", status: int = 200) -> Response:
    """Return a page with this content.

    Args:
        title: the title of the browser's tab.
        content: the content of the main part.
        about: one sentence for search engines and previews.
        script: the JavaScript module of the page.
        status: the status of the response.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="description", content=about) if about else None,
        tag("title", title),
        tag("link", rel="icon", href=ICON, type="image/svg+xml"),
        tag("link", rel="stylesheet", href="/assets/base.css"),
        tag("link", rel="stylesheet", href="/start/style.css"),
        _module("/assets/theme.js", blocking="render"),
        _module("/assets/nav.js"),
        _module(f"/start/js/{script}") if script else None,
    )
    body = tag("body", tag("a", "Skip to the content", class_="skip", href="#main"), _HEADER, _main(content))
    whole = f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"
    return Response(whole, status, PAGE_HEADERS, "text/html")


_HEADER: Final = tag(
    "header",
    tag("a", tag("img", src=ICON, alt="", width="34", height="34"), tag("span", "Partita"), class_="brand", href="/"),
    tag("span", class_="space"),
    tag(
        "nav",
        tag("a", "APIs", href="/api-docs/"),
        tag("a", "Console", href="/console/"),
        class_="ways",
        aria_label="This server",
    ),
    class_="top",
)


def _main(content: Child) -> Markup:
    return tag("main", content, id="main", tabindex="-1")


def _module(source: str, *, blocking: str | None = None) -> Markup:
    return tag("script", type="module", src=source, blocking=blocking)
