"""Pages: a folder of plain HTML, CSS and JavaScript files, which can load nothing from elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from partita.http._page_files import compressed, is_compressible, modules_of
from partita.runtime import accepts_gzip

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
        self._folder = folder

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
        path, request, size = os.fspath(full_path), Headers(scope=scope), stat_result.st_size
        response = super().file_response(path, stat_result, scope, status_code)
        if not isinstance(response, FileResponse):
            return response
        response.headers["Vary"] = "Accept-Encoding"
        if "range" in request or size > _SMALL:
            return response
        headers, modified = response.headers.mutablecopy(), stat_result.st_mtime_ns
        if str(response.media_type) == "text/html" and (modules := self._modules_of(path, modified, scope)):
            headers["Link"] = modules
        if is_compressible(str(response.media_type), size) and accepts_gzip(request.get("accept-encoding", "")):
            content = compressed(path, modified)
            headers |= {"Content-Encoding": "gzip", "ETag": f"W/{headers['ETag']}"}
        else:
            content = Path(path).read_bytes()
        headers["Content-Length"] = str(len(content))
        return Response(content if scope["method"] == "GET" else b"", status_code, headers)

    def _modules_of(self, path: str, modified: int, scope: Scope) -> str:
        return modules_of(path, modified, scope["path"], self._folder, scope.get("root_path", ""))


def folder_redirect(scope: Scope) -> RedirectResponse:
    """A redirect from the path of a folder to its content, with a slash at the end.

    It is relative, so it contains no host name: the only one that is known here is the unverified one of the request.
    """
    name, query = scope["path"].rpartition("/")[2], scope["query_string"].decode("latin-1")
    return RedirectResponse(f"./{quote(name)}/" + (f"?{query}" if query else ""))
