"""The routes of these pages: `/` and `/api-docs/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from starlette.responses import FileResponse

from partita.app.start._api_page import ApiSource, api_page, index_page
from partita.app.start._front_page import ServedService, front_page
from partita.http import ASSETS, PAGE_HEADERS, folder_redirect

PAGES: Final = Path(__file__).parent / "pages"
"""The folder of their style and scripts, served at `/start/`."""
READ: Final = ["GET", "HEAD"]

Describe = Callable[[], Mapping[str, Any]]


def add_start_pages(
    app: FastAPI, services: Sequence[ServedService], apis: Mapping[str, tuple[ApiSource, Describe]]
) -> None:
    """Add the routes of the front page and of the API descriptions.

    Args:
        app: the app that serves the pages.
        services: the services that the front page lists.
        apis: by name, each API and a function that returns its OpenAPI description, called when the page is opened.
    """

    @app.api_route("/", methods=READ)
    async def show_front_page() -> Response:
        return front_page(services)

    @app.api_route("/api-docs", methods=READ)
    async def lead_to_apis(request: Request) -> Response:
        return folder_redirect(request.scope)

    @app.api_route("/api-docs/", methods=READ)
    async def show_apis() -> Response:
        return index_page([source for source, _ in apis.values()])

    @app.api_route("/api-docs/{name}", methods=READ)
    async def show_api(name: str, request: Request) -> Response:
        if name not in apis:
            raise HTTPException(404, "Not Found")
        source, describe = apis[name]
        origin = f"{request.url.scheme}://{request.url.netloc}"
        return await run_in_threadpool(lambda: api_page(source, describe(), origin))

    @app.api_route("/favicon.ico", methods=READ)
    async def show_icon() -> Response:
        return FileResponse(ASSETS / "favicon.ico", headers=dict(PAGE_HEADERS), media_type="image/x-icon")
