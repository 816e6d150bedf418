"""The sign-in link in the terminal works once, for a few minutes, and only on this machine."""

from __future__ import annotations

import logging
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.app.signin.conftest import Browser

from partita.app.signin import DemoSignIn, LinkCodes, SignIn
from partita.errors import StoreReadOnly
from partita.http import Caller, HttpProblem, Identity, Role
from partita.testing import FakeClock

pytestmark = pytest.mark.req("X20")

ME = 1000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "links.json"


def sign_in(identity: Identity, links: LinkCodes | None, peer: int = ME) -> SignIn:
    return SignIn(demo=DemoSignIn(identity, own_account=lambda: ME, account_of=lambda *_: peer, links=links))


async def test_a_code_becomes_a_token_once(
    browser: Browser, identity: Identity, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    links = LinkCodes(file)
    code = links.issue(Role.USER)
    async with browser(sign_in(identity, links)) as page:
        given = await page.post("/signin/api/link", json={"code": code})
        again = await page.post("/signin/api/link", json={"code": code})
    assert (given.status_code, given.headers["Cache-Control"]) == (200, "no-store")
    assert identity.caller(given.json()["token"]) == Caller("demo")
    assert (again.status_code, again.json()["code"]) == (403, "sign_in_link_used")
    assert "one click" in again.json()["hint"]
    assert code not in again.text + caplog.text
    assert given.json()["token"] not in caplog.text


def test_a_code_is_nowhere_but_in_the_link(file: Path) -> None:
    code = LinkCodes(file).issue(Role.OPERATOR)
    assert len(code) >= 32
    assert code.encode() not in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_it_expires(browser: Browser, identity: Identity, file: Path) -> None:
    clock = FakeClock()
    links = LinkCodes(file, clock=clock)
    early, late = links.issue(Role.USER), links.issue(Role.USER)
    async with browser(sign_in(identity, links)) as page:
        clock.advance(599)
        assert (await page.post("/signin/api/link", json={"code": early})).status_code == 200
        clock.advance(1)
        refused = await page.post("/signin/api/link", json={"code": late})
    assert (refused.status_code, refused.json()["code"]) == (403, "sign_in_link_expired")
    assert "10 minutes" in refused.json()["detail"]


@pytest.mark.parametrize("code", ["made-up", "x" * 32, "ü", "\ud800", ""])
async def test_a_code_that_nobody_issued_is_refused(
    browser: Browser, identity: Identity, file: Path, code: str
) -> None:
    links = LinkCodes(file)
    links.issue(Role.USER)
    async with browser(sign_in(identity, links)) as page:
        refused = await page.post(
            "/signin/api/link",
            content=f'{{"code": "{code.encode("unicode_escape").decode()}"}}',
            headers={"Content-Type": "application/json"},
        )
    assert refused.status_code in (403, 422)
    assert len(links._read()) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"X-Forwarded-For": "203.0.113.7"},
        {"Via": "1.1 proxy"},
    ],
)
async def test_what_comes_from_elsewhere_spends_nothing(
    browser: Browser, identity: Identity, file: Path, headers: dict[str, str]
) -> None:
    links = LinkCodes(file)
    code = links.issue(Role.USER)
    async with browser(sign_in(identity, links)) as page:
        assert (await page.post("/signin/api/link", json={"code": code}, headers=headers)).status_code == 403
        assert (await page.post("/signin/api/link", json={"code": code})).status_code == 200


async def test_other_machines_and_accounts_are_refused(browser: Browser, identity: Identity, file: Path) -> None:
    links = LinkCodes(file)
    code = links.issue(Role.USER)
    async with browser(sign_in(identity, links), client="203.0.113.7") as page:
        assert (await page.post("/signin/api/link", json={"code": code})).status_code == 403
    async with browser(sign_in(identity, links, peer=ME + 1)) as page:
        assert (await page.post("/signin/api/link", json={"code": code})).status_code == 403
    assert links.take(code) == Role.USER


async def test_without_links_there_is_no_such_way(browser: Browser, identity: Identity) -> None:
    for way in (SignIn(), sign_in(identity, None)):
        async with browser(way) as page:
            assert (await page.post("/signin/api/link", json={"code": "x"})).status_code == 404


def test_of_many_processes_one_takes_a_code(file: Path) -> None:
    """Each thread has its own `LinkCodes`, like a process; they share only the file."""
    code = LinkCodes(file).issue(Role.OPERATOR)

    def take(_: int) -> str:
        try:
            return LinkCodes(file).take(code)
        except HttpProblem as problem:
            return problem.code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(take, range(8))) == ["operator", *["sign_in_link_used"] * 7]


def test_old_codes_are_forgotten(file: Path) -> None:
    clock = FakeClock()
    links = LinkCodes(file, clock=clock)
    first = links.issue(Role.USER)
    clock.advance(86_400 + 601)
    links.issue(Role.USER)
    with pytest.raises(HttpProblem) as refused:
        links.take(first)
    assert refused.value.code == "sign_in_link_unknown"
    for _ in range(100):
        links.issue(Role.USER)
    assert len(file.read_bytes()) < 64 * 200


def test_a_damaged_file_lets_nobody_in_and_is_written_again(file: Path) -> None:
    links = LinkCodes(file)
    code = links.issue(Role.USER)
    file.write_bytes(b"{")
    with pytest.raises(HttpProblem):
        links.take(code)
    assert links.take(links.issue(Role.USER)) == Role.USER


def test_a_code_that_cannot_be_spent_is_not_taken(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    links = LinkCodes(file)
    code = links.issue(Role.USER)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr("partita.app.signin._link_codes.write_private", refuse)
        with pytest.raises(StoreReadOnly, match="Permission denied"):
            links.take(code)
    assert links.take(code) == Role.USER
