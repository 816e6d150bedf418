"""Files of pages: small ones are sent at once, and larger ones, parts and unchanged ones as Starlette sends them."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from starlette.responses import FileResponse

from partita.http import PAGE_HEADERS, Pages

SMALL = b"export const answer = 42;\n"
LARGE = b"x" * 300_000

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
