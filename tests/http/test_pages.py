"""Files of pages: small ones are sent at once, and larger ones, parts and unchanged ones as Starlette sends them.

Texts are compressed, and a page names the modules that it loads.
"""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import FileResponse
from starlette.routing import Mount

from partita.http import PAGE_HEADERS, Pages

SMALL = b"export const answer = 42;\n"
LARGE = b"x" * 300_000
LONG = b"export const words = 7; // " + b"word " * 400

pytestmark = pytest.mark.req("T32")


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that were sent by Starlette, whose threads read them in parts."""
    names: list[str] = []
    sent = FileResponse.__call__

    async def send(self: FileResponse, *args: object) -> None:
        names.append(Path(self.path).name)
        await sent(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(FileResponse, "__call__", send)
    return names


@pytest.fixture
def client(tmp_path: Path) -> httpx.AsyncClient:
    (tmp_path / "small.js").write_bytes(SMALL)
    (tmp_path / "index.html").write_bytes(b"<p>hello")
    (tmp_path / "large.js").write_bytes(LARGE)
    (tmp_path / "long.js").write_bytes(LONG)
    return httpx.AsyncClient(transport=httpx.ASGITransport(Pages(tmp_path)), base_url="http://pages")


@pytest.mark.parametrize(("path", "body"), [("/small.js", SMALL), ("/", b"<p>hello")])
async def test_a_small_file_is_sent_at_once(
    client: httpx.AsyncClient, streamed: list[str], path: str, body: bytes
) -> None:
    found = await client.get(path)
    assert (found.status_code, found.content) == (200, body)
    assert found.headers["content-length"] == str(len(body))
    assert found.headers.items() >= {name.lower(): value for name, value in PAGE_HEADERS.items()}.items()
    assert {"etag", "last-modified", "accept-ranges"} <= found.headers.keys()
    assert streamed == []


async def test_an_unchanged_file_is_not_sent_again(client: httpx.AsyncClient) -> None:
    etag = (await client.get("/small.js")).headers["etag"]
    again = await client.get("/small.js", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")


async def test_the_head_of_a_file_has_the_same_headers(client: httpx.AsyncClient) -> None:
    assert (await client.head("/small.js")).headers == (await client.get("/small.js")).headers


async def test_large_files_and_parts_are_streamed(client: httpx.AsyncClient, streamed: list[str]) -> None:
    assert (await client.get("/large.js")).content == LARGE
    part = await client.get("/small.js", headers={"Range": "bytes=0-5"})
    assert (part.status_code, part.content) == (206, b"export")
    assert streamed == ["large.js", "small.js"]


PLAIN = {"Accept-Encoding": "identity"}


async def test_a_text_is_compressed_if_the_browser_accepts_it(client: httpx.AsyncClient) -> None:
    packed = await client.get("/long.js", headers={"Accept-Encoding": "gzip, br"})
    plain = await client.get("/long.js", headers=PLAIN)
    assert packed.content == plain.content == LONG
    assert (packed.headers["content-encoding"], "content-encoding" in plain.headers) == ("gzip", False)
    assert int(packed.headers["content-length"]) == len(gzip.compress(LONG, 9)) < int(plain.headers["content-length"])
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    for path, accepted in (("/small.js", "gzip"), ("/long.js", "gzip;q=0")):
        assert "content-encoding" not in (await client.get(path, headers={"Accept-Encoding": accepted})).headers


async def test_a_compressed_file_that_is_unchanged_is_not_sent_again(client: httpx.AsyncClient, tmp_path: Path) -> None:
    first = await client.get("/long.js")
    again = await client.get("/long.js", headers={"If-None-Match": first.headers["etag"]})
    assert (first.headers["etag"][:2], again.status_code) == ("W/", 304)
    (tmp_path / "long.js").write_bytes(LONG.replace(b"7", b"8"))
    os.utime(tmp_path / "long.js", ns=(1, 1))
    changed = await client.get("/long.js", headers={"If-None-Match": first.headers["etag"]})
    assert (changed.status_code, changed.content) == (200, LONG.replace(b"7", b"8"))


async def test_a_page_names_all_modules_that_it_loads(tmp_path: Path) -> None:
    scripts = "".join(f'<script type="module" src="{src}"></script>' for src in ("js/app.js", "/assets/nav.js"))
    for name, text in {
        "index.html": scripts,
        "js/app.js": 'import { a } from "./a.js";\nimport "../b.js";\nimport { el } from "/assets/dom.js";\n',
        "js/a.js": 'export { b } from "../b.js";\nexport const no = "./no.js";\nconst c = () => import("./c.js");\n',
        "b.js": 'import { gone } from "./gone.js";\nimport { far } from "/elsewhere/far.js";\n',
        "js/c.js": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    app = Starlette(routes=[Mount("/notes", Pages(tmp_path))])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://pages") as client:
        link = (await client.get("/notes/")).headers["link"]
        assert "link" not in (await client.get("/notes/js/app.js")).headers
    named = re.findall(r"<([^>]+)>; rel=modulepreload", link)
    assert len(named) == len(set(named))
    assert {each for each in named if not each.startswith("/assets/")} == {
        "/notes/js/app.js",
        "/notes/js/a.js",
        "/notes/b.js",
    }
    assert {"/assets/nav.js", "/assets/dom.js"} <= set(named)
