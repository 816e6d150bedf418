"""Pages: a folder of plain HTML, CSS and JavaScript files, served as they are and allowed to load nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

ASSETS: Final = Path(__file__).parent / "assets"
"""What pages share, served at `/assets/`."""

PAGE_HEADERS: Final = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""What a browser may do with a page: load what this server has, and nothing else."""


class Pages(StaticFiles):
    """Serves the files of a folder; `index.html` for the folder itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, html=True)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, with headers that say what a browser may do with it."""
        response = await super().get_response(path, scope)
        if isinstance(response, RedirectResponse):
            response = folder_redirect(scope)
        response.headers.update(PAGE_HEADERS)
        return response


def folder_redirect(scope: Scope) -> RedirectResponse:
    """A redirect from the path of a folder to what is in it.

    It is relative and so names no host: the only one that is known here is what the request says.
    """
    name, query = scope["path"].rpartition("/")[2], scope["query_string"].decode("latin-1")
    return RedirectResponse(f"./{quote(name)}/" + (f"?{query}" if query else ""))
