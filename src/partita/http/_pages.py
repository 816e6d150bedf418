"""Pages: a folder of plain HTML, CSS and JavaScript files, served unchanged, which can load nothing from elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import FileResponse, RedirectResponse, Response
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

_SMALL: Final = 256 * 1024
"""The size in bytes up to which a file is read at once: handing it to threads would take longer than reading it."""


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

    def file_response(
        self, full_path: os.PathLike[str] | str, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return the file; a small one already read, unless a part of it is requested."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        is_whole = scope["method"] == "GET" and "range" not in Headers(scope=scope)
        if isinstance(response, FileResponse) and is_whole and stat_result.st_size <= _SMALL:
            content = Path(full_path).read_bytes()
            headers = response.headers.mutablecopy()
            headers["Content-Length"] = str(len(content))
            return Response(content, status_code, headers)
        return response


def folder_redirect(scope: Scope) -> RedirectResponse:
    """A redirect from the path of a folder to its content, with a slash at the end.

    It is relative, so it contains no host name: the only one that is known here is the unverified one of the request.
    """
    name, query = scope["path"].rpartition("/")[2], scope["query_string"].decode("latin-1")
    return RedirectResponse(f"./{quote(name)}/" + (f"?{query}" if query else ""))
