"""Servers that other machines can reach: what they serve, and that nobody can sign in through the simulator."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from partita import AsyncSession, Session
from partita.app import build_app
from partita.cli import DataFolder, installation_of
from partita.http import AppState, Identity
from partita.service import Installation
from partita_services.commitcollect.bootstrap import SERVICE, open_tools
from partita_services.commitcollect.simulator.mounting import mounted
from partita_services.commitcollect.strava.settings import PUBLIC_URL, SIMULATOR, STRAVA_URL

HERE = "http://127.0.0.1:8321"
EVERYWHERE = "http://0.0.0.0:8321"
OUTSIDE = "http://192.0.2.7:8321"
HTTPS = "https://collect.test"
WARNS_OF_NO_STRAVA = "Strava is not set up for CommitCollect, so nobody can sign in: set PARTITA_STRAVA_URL."

Serve = Callable[[str], AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (STRAVA_URL, PUBLIC_URL, SIMULATOR):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve(tmp_path: Path, partita_db: Session, identity: Identity) -> Serve:
    """A function that serves CommitCollect at a URL, with the apps that it mounts there."""

    @asynccontextmanager
    async def serving(url: str) -> AsyncIterator[httpx.AsyncClient]:
        partita_db.create_tables(SERVICE.tables)
        installation = installed(tmp_path, url)
        with open_tools(installation) as tools:
            state = AppState(AsyncSession(partita_db.store), identity, {SERVICE.name: tools})
            transport = httpx.ASGITransport(build_app([SERVICE], state, apps=mounted(installation)))
            async with httpx.AsyncClient(transport=transport, base_url=url) as client:
                yield client

    return serving


def installed(folder: Path, url: str) -> Installation:
    return installation_of(DataFolder(folder), url)


@pytest.mark.req("C08", "C20")
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8321", "localhost", "[::1]", "0.0.0.0:8321"])
@pytest.mark.parametrize("url", [EVERYWHERE, OUTSIDE, "http://[::]:8321"])
async def test_a_host_header_of_this_machine_opens_nothing_beyond_it(serve: Serve, url: str, host: str) -> None:
    """The attack: open the simulator, sign in as any of its athletes, and return with the development cookie."""
    async with serve(url) as eve:
        eve.headers["Host"] = host
        login = await eve.get("/commitcollect/auth/login")
        assert (login.status_code, login.json()["code"]) == (503, "strava_not_set_up")
        assert "PARTITA_STRAVA_URL" in login.json()["hint"]
        assert (await eve.get("/strava-simulator/control")).status_code == 404
        back = await eve.get("/commitcollect/auth/callback", params={"state": "s", "code": "c"})
        assert (back.status_code, back.json()["code"]) == (403, "https_required")
        assert not eve.cookies


@pytest.mark.req("C08")
async def test_with_the_flag_the_simulator_is_there_but_plain_http_has_no_session(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SIMULATOR, "everyone")
    async with serve(OUTSIDE) as eve:
        eve.headers["Host"] = "127.0.0.1"
        assert (await eve.get("/strava-simulator/control")).status_code == 200
        login = await eve.get("/commitcollect/auth/login")
        assert (login.status_code, login.json()["code"]) == (403, "https_required")
        assert not eve.cookies


@pytest.mark.req("C08", "C20")
@pytest.mark.parametrize("url", [HERE, "http://127.0.0.2:8321", "http://[::1]:8321"])
async def test_on_this_machine_the_simulator_is_used(serve: Serve, url: str) -> None:
    async with serve(url) as ann:
        login = await ann.get("/commitcollect/auth/login")
        assert login.headers["Location"].startswith(f"{url}/strava-simulator/oauth/authorize?")
        assert [cookie.name for cookie in ann.cookies.jar] == ["commitcollect-dev-login"]
        assert (await ann.get("/strava-simulator/control")).status_code == 200


@pytest.mark.req("C08")
@pytest.mark.parametrize(
    ("url", "settings", "paths", "warnings"),
    [
        (HERE, {}, ["/strava-simulator"], []),
        (HERE, {STRAVA_URL: "https://www.strava.com"}, [], []),
        (HERE, {PUBLIC_URL: HTTPS}, [], [WARNS_OF_NO_STRAVA]),
        (OUTSIDE, {}, [], [WARNS_OF_NO_STRAVA]),
        (OUTSIDE, {PUBLIC_URL: HERE}, [], [WARNS_OF_NO_STRAVA]),
        (OUTSIDE, {STRAVA_URL: "https://www.strava.com"}, [], []),
        (
            OUTSIDE,
            {PUBLIC_URL: HTTPS, SIMULATOR: "everyone"},
            ["/strava-simulator"],
            [f"Anyone who reaches {HTTPS} can sign in as any athlete of the Strava simulator."],
        ),
        (HERE, {SIMULATOR: "everyone"}, ["/strava-simulator"], []),
    ],
)
def test_where_the_simulator_is_served_and_what_is_said_about_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    url: str,
    settings: dict[str, str],
    paths: list[str],
    warnings: list[str],
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert list(mounted(installed(tmp_path, url))) == paths
    assert [record.getMessage() for record in caplog.records] == warnings


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (None, None),
        (HERE, True),
        ("http://127.0.0.2:80", True),
        ("http://[::1]:80", True),
        (EVERYWHERE, False),
        (OUTSIDE, False),
        ("http://[::]:80", False),
    ],
)
def test_an_installation_says_whether_its_socket_is_of_this_machine(
    tmp_path: Path,
    url: str | None,
    expected: bool | None,  # noqa: FBT001
) -> None:
    assert installation_of(DataFolder(tmp_path), url).is_loopback is expected
