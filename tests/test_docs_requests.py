"""The requests on the pages of services: with the sample data, each gets the status that the page promises."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from partita import AsyncSession, EmbeddedStore
from partita.app import build_app
from partita.http import AppState, Caller, Identity, Role
from partita.service import Service
from partita.testing import FakeClock
from partita_services.accounts.bootstrap import SERVICE as ACCOUNTS
from partita_services.countries.bootstrap import SERVICE as COUNTRIES

PAGES = Path(__file__).parent.parent / "docs" / "services"
NOW = datetime(2026, 5, 20, tzinfo=UTC)


def requests_on(page: Path, values: dict[str, str]) -> Iterator[httpx.Request]:
    """Yield the requests that the `curl` commands in the first example of a page send."""
    example = re.search(r"(?:^    .*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE)
    text = example[0].replace("\\\n", " ").replace("$(date +%Y-%m)", f"{NOW:%Y-%m}") if example else ""
    for line in text.splitlines():
        if line.strip().startswith("curl "):
            yield _request(shlex.split(re.sub(r"\$([A-Z]+)", lambda found: values[found[1]], line), comments=True)[1:])


def _request(words: list[str]) -> httpx.Request:
    given = {option: value for option, value in pairwise(words) if option in {"-X", "-d"}}
    headers = [value.split(": ", 1) for option, value in pairwise(words) if option == "-H"]
    (url,) = (word for word in words if word.startswith("http"))
    method = given.get("-X", "POST" if "-d" in given else "GET")
    return httpx.Request(method, url, headers=dict(headers), content=given.get("-d"))


@pytest.mark.parametrize(("service", "statuses"), [(ACCOUNTS, [200, 201, 200]), (COUNTRIES, [200, 200, 200, 200])])
async def test_the_first_example_of_a_service_works(
    service: Service, statuses: list[int], partita_store: EmbeddedStore
) -> None:
    session = AsyncSession(partita_store, clock=FakeClock(NOW.timestamp()))
    await session.create_tables(service.tables)
    for step in service.seed(NOW.timestamp()) if service.seed else ():
        await session.run(step)
    identity = Identity(b"k" * 32)
    token = identity.token(Caller("demo", Role.OPERATOR))
    values = {"API": f"http://localhost/{service.name}/api", "TOKEN": token}
    transport = httpx.ASGITransport(build_app([service], AppState(session, identity)))
    async with httpx.AsyncClient(transport=transport) as client:
        sent = [await client.send(request) for request in requests_on(PAGES / f"{service.name}.md", values)]
    assert [response.status_code for response in sent] == statuses, [response.text for response in sent]
