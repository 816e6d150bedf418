"""axe finds no violation on pages that show an error or an empty list."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server, serving
from tests.browser.test_axe import open_as, violations

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")

LOSE_THE_CONNECTION = """() => {
    dispatchEvent(new Event("offline"));  // again, where an answer was still on its way
    return document.querySelector(".connection-bar .button");
}"""
UNAVAILABLE = {"status": 503, "content_type": "application/problem+json", "body": "{}"}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of all services with their sample data."""
    with serving("--all", tmp_path_factory.mktemp("trouble"), "--workers", "0") as server:
        yield server


@pytest.mark.parametrize(
    ("path", "api", "ready"),
    [
        ("/todo/", "**/todo/api/me", "The board cannot be shown"),
        ("/todo/", "**/todo/api/tasks?*", "The tasks cannot be read"),
        ("/events/", "**/events/api/events?*", ""),
    ],
)
def test_what_cannot_be_read(open_page: OpenPage, everything: Server, path: str, api: str, ready: str) -> None:
    page = open_page()
    page.route(api, lambda route: route.fulfill(**UNAVAILABLE))
    open_as(page, everything, "user", path)
    expect(page.locator(".failed").first).to_contain_text(ready)
    assert violations(page) == {}


@pytest.mark.parametrize(
    ("path", "ready"),
    [
        ("/todo/", ".card"),
        ("/events/", ".card"),
        ("/accounts/#/acc-1001", ".entries tbody tr"),
        ("/countries/#/SE?q=swed", "#content h1"),
        ("/console/", "main h1"),
        ("/strava-simulator/", ".athlete"),
        ("/commitcollect/operate.html", "article"),
    ],
)
def test_a_lost_connection(open_page: OpenPage, everything: Server, path: str, ready: str) -> None:
    page = open_as(open_page(), everything, "user", path)
    expect(page.locator(ready).first).to_be_visible()
    for address in ("**/api/**", "**/control", "**/healthz"):
        page.route(address, lambda route: route.abort("connectionrefused"))
    page.wait_for_function(LOSE_THE_CONNECTION)
    assert violations(page) == {}


def test_an_empty_board_and_its_help(open_page: OpenPage, everything: Server) -> None:
    page = open_page()
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{everything.token('nobody-yet')}')")
    page.goto(f"{everything.url}/todo/")
    expect(page.get_by_text("Nothing is completed yet.")).to_be_visible()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == {}
