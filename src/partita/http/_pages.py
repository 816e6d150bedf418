"""Pages: a folder of plain HTML, CSS and JavaScript files, served unchanged, which can load nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

ASSETS: Final = Path(__file__).parent / "assets"
"""The folder of the files that pages share, served at `/assets/`."""

PAGE_HEADERS: Final = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""The headers of a page, which let a browser load resources only from this server."""


class Pages(StaticFiles):
    """Serves the files of a folder; `index.html` for the folder itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, html=True)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file with `PAGE_HEADERS`."""
        response = await super().get_response(path, scope)
        if isinstance(response, RedirectResponse):
            response = folder_redirect(scope)
        response.headers.update(PAGE_HEADERS)
        return response


def folder_redirect(scope: Scope) -> RedirectResponse:
    """A redirect from the path of a folder to its content, with a slash at the end.

    It is relative, so it contains no host name: the only one that is known here is the unverified one of the request.
    """
    name, query = scope["path"].rpartition("/")[2], scope["query_string"].decode("latin-1")
    return RedirectResponse(f"./{quote(name)}/" + (f"?{query}" if query else ""))
