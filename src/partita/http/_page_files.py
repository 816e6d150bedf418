"""Files of pages, sent as browsers load them fastest: compressed, with the names of all modules that a page imports.

Otherwise a browser learns of a module only when it has read another one that imports it. On a slow connection, each of
these steps takes as long as a request.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

ASSETS: Final = Path(__file__).parent / "assets"
"""The folder of the files that pages share, served at `/assets/`."""

_ASSETS_PATH: Final = "/assets/"
_LEVEL: Final = 9
_LEAST: Final = 1_024
"""The size in bytes from which a file is compressed: smaller ones fit into one packet anyway."""
_TEXTS: Final = ("text/", "application/json", "image/svg+xml")
_SCRIPT: Final = re.compile(r'<script type="module" src="([^"]+)"')
_IMPORT: Final = re.compile(r'^(?:import|export) (?:[^"\n]* from )?"([^"\n]+)"', re.MULTILINE)


def is_compressible(media_type: str, size: int) -> bool:
    """Whether compressing a file makes it much smaller."""
    return size >= _LEAST and media_type.startswith(_TEXTS)


@lru_cache(maxsize=1_000)
def compressed(path: str, modified: int) -> bytes:  # noqa: ARG001 - a changed file is another entry of the cache
    """Return the content of a file, compressed by gzip."""
    return gzip.compress(Path(path).read_bytes(), _LEVEL, mtime=0)


@lru_cache(maxsize=100)
def modules_of(page: str, modified: int, address: str, folder: Path, root: str) -> str:  # noqa: ARG001 - as above
    """Return the `Link` header of a page, which names all modules that it loads at its start.

    Args:
        page: the path of its file.
        modified: when the file was changed.
        address: the path of the page's URL.
        folder: the folder of its modules.
        root: the path of the URL at which this folder is served.
    """
    found: dict[str, None] = {}
    waiting = [urljoin(address, script) for script in _SCRIPT.findall(Path(page).read_text(encoding="utf-8"))]
    while waiting:
        module = waiting.pop(0)
        file = _file_at(module, folder, root)
        if module not in found and file is not None and file.is_file():
            found[module] = None
            waiting += _imports(module, file)
    return ", ".join(f"<{module}>; rel=modulepreload" for module in found)


def _file_at(address: str, folder: Path, root: str) -> Path | None:
    if address.startswith(f"{root}/"):
        return folder / address[len(root) + 1 :]
    return ASSETS / address.removeprefix(_ASSETS_PATH) if address.startswith(_ASSETS_PATH) else None


def _imports(module: str, file: Path) -> Iterator[str]:
    for imported in _IMPORT.findall(file.read_text(encoding="utf-8")):
        yield urljoin(module, imported)
