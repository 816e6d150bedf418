"""Every page with a list: with 5,000 rows, with slow responses, and with a server that is killed.

Slow responses are held: the page shows that it loads until they are released, and then their content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Server, serving
from tests.browser.held import Held
from tests.browser.test_axe import violations
from tests.browser.test_countries_trouble import SCROLL_TO_THE_END

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")

MANY: Final = 5000
TIMES: Final = {"opensAt": "2020-01-01T00:00:00Z", "closesAt": "2090-01-01T00:00:00Z"}


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("events")


def event(number: int) -> dict[str, Any]:
    seats = {"eventType": "FIRST_COME", "capacityTotal": 2, "capacityRemaining": 2, "status": "OPEN"}
    return {"eventId": f"e{number}", "name": f"Event {number}", "description": ""} | TIMES | seats


def request(number: int) -> dict[str, Any]:
    done = {"queuedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z", "status": "SUCCEEDED"}
    who = {"requestId": f"r{number}", "userId": f"user-{number:04}", "eventId": "e0", "eventType": "FIRST_COME"}
    return who | done | {"requestedAt": "2026-01-01T00:00:00Z", "errorCode": None, "waitingPosition": None}


def paged(items: list[dict[str, Any]]) -> Callable[[Route], None]:
    def answer(route: Route) -> None:
        asked = parse_qs(urlsplit(route.request.url).query)
        start, limit = int(asked.get("cursor", ["0"])[0]), int(asked["limit"][0])
        more = str(start + limit) if start + limit < len(items) else None
        route.fulfill(json={"items": items[start : start + limit], "next_cursor": more})

    return answer


def open_as(page: Page, server: Server, path: str, role: str = "user") -> Page:
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('demo', role)}')")
    page.goto(server.url + path)
    return page


def read_until(page: Page, rows: str, last: str) -> None:
    page.wait_for_function(SCROLL_TO_THE_END, arg=[rows, last])


def prints_what_was_loaded(page: Page, rows: str, least: int) -> None:
    page.evaluate(
        """(rows) => addEventListener("beforeprint", () => {
        window.printed = document.querySelectorAll(rows).length;
    })""",
        rows,
    )
    page.pdf()
    assert page.evaluate("window.printed") >= least
    continues = page.get_by_text("The list continues: only what was loaded is printed.")
    expect(continues).to_be_hidden()
    page.emulate_media(media="print")
    expect(continues).to_be_visible()
    page.emulate_media(media="screen")


def test_five_thousand_events_and_requests(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.route("**/api/events?*", paged([event(number) for number in range(MANY)]))
    page.route("**/api/me/requests?*", paged([request(number) for number in range(MANY)]))
    page.route("**/api/events/e0/requests?*", paged([request(number) for number in range(MANY)]))
    page.route("**/api/events/e0", lambda route: route.fulfill(json=event(0)))
    page.route("**/figures/stream", lambda route: route.fulfill(status=404, json={}))
    open_as(page, server, "/events/", "operator")
    expect(page.locator(".card")).to_have_count(100)
    read_until(page, ".cards > li:not(.spacer)", "Event 700")
    assert page.locator(".cards > li").count() < 250
    prints_what_was_loaded(page, ".cards > li:not(.spacer)", 701)
    page.goto(f"{server.url}/events/#/mine")
    expect(page.locator(".rows li").first).to_be_visible()
    read_until(page, ".rows li:not(.spacer)", "Event 0")
    page.goto(f"{server.url}/events/#/operate/e0")
    read_until(page, ".requests tbody tr:not(.spacer)", "user-0700")
    assert page.locator(".requests tbody tr").count() < 250
    expect(page.locator(".requests tbody tr", has_text="user-0700").locator(".count")).to_have_text("701")


def test_a_request_is_found_behind_a_hundred_others(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    others = [request(number) | {"eventId": f"e{number}"} for number in range(1, 151)]
    page.route("**/api/me/requests?*", paged([*others, request(0)]))
    page.route("**/api/events/e0", lambda route: route.fulfill(json=event(0)))
    for address in ("**/figures/stream", "**/api/requests/**"):
        page.route(address, lambda route: route.fulfill(status=404, json={}))
    open_as(page, server, "/events/#/events/e0")
    expect(page.locator(".mine")).to_contain_text("You have a seat")


SLOW: Final = [
    ("/events/", "user", "**/api/events?*", ".skeleton", ".card"),
    ("/events/#/mine", "user", "**/api/me/requests?*", ".skeleton", "h1"),
    ("/todo/", "user", "**/api/tasks?*", ".skeleton", ".card"),
    ("/accounts/", "user", "**/api/accounts?*", "#browse .skeleton", ".accounts a"),
    ("/accounts/#/acc-1001", "user", "**/entries?*", ".place .skeleton", ".entries tbody tr"),
    ("/countries/", None, "**/api/countries.json", ".skeleton", "#list a"),
    ("/console/", None, "**/console/api/services", ".skeleton", "main h1"),
    ("/commitcollect/operate.html", "operator", "**/api/models", ".skeleton", "article"),
]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of all services with their sample data."""
    with serving("--all", tmp_path_factory.mktemp("lists"), "--workers", "0") as server:
        yield server


def test_while_an_answer_takes_its_time_every_list_says_that_it_loads(open_page: OpenPage, everything: Server) -> None:
    for path, role, held, loading, there in SLOW:
        page = open_page()
        waits = Held(page, held)
        if role:
            page.add_init_script(f"sessionStorage.setItem('partita-token', '{everything.token('demo', role)}')")
        page.goto(everything.url + path)
        waits.wait()
        expect(page.locator(loading).first).to_be_attached()
        expect(page.locator(".failed")).to_have_count(0)
        assert (path, violations(page)) == (path, {})
        waits.release()
        expect(page.locator(there).first).to_be_attached()
        expect(page.locator(f"{loading}:visible")).to_have_count(0)
        page.close()


def test_a_server_that_was_killed_comes_back(open_page: OpenPage, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("killed")
    shown = {"/events/": ".card", "/accounts/": ".accounts a", "/console/": "main h1"}
    with serving("--all", data, "--workers", "0") as first:
        pages = {path: open_as(open_page(), first, path) for path in shown}
        for path, page in pages.items():
            expect(page.locator(shown[path]).first).to_be_visible()
        port = first.url.rpartition(":")[2]
    for path, page in pages.items():
        expect(page.locator(".connection-bar")).to_contain_text("Connection lost.")
        expect(page.locator(shown[path]).first).to_be_visible()  # the content stays
    with serving("--all", data, "--workers", "0", "--port", port):
        for path, page in pages.items():
            expect(page.locator(".connection-bar")).to_be_empty()
            page.reload()
            expect(page.locator(shown[path]).first).to_be_visible()
