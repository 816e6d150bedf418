"""The console in trouble: rejected, expired, late, a killed server, with thousands of items and patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Server, serving

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")

PER_PAGE = 2500


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("todo")


def open_as_operator(page: Page, server: Server, at: str) -> Page:
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('ada', 'operator')}')")
    page.goto(f"{server.url}/console/#/todo/patterns/{at}")
    expect(page.get_by_role("button", name="Read", exact=True)).to_be_visible()
    return page


def found(numbers: range, cursor: str | None) -> dict[str, Any]:
    """The response to an attempt; items of the second half have one more field."""
    items = [{"task_id": f"t{each}"} | ({"late": "yes"} if each >= PER_PAGE else {}) for each in numbers]
    cost = {"predicted": {"read": 2.5, "write": 0}, "budget": None, "consumed": {"read": 12.5, "write": 0}}
    sent = {"call": "Query", "index": "GSI1", "request": {"TableName": "t"}, "requests_sent": 1}
    return sent | cost | {"assumed_item_bytes": 1024, "items": items, "next_cursor": cursor}


def test_thousands_of_items_are_read_on_and_only_those_near_are_drawn(open_page: OpenPage, server: Server) -> None:
    page = open_as_operator(open_page(), server, "tasks_of_user")

    def answer(route: Route) -> None:
        start = int((route.request.post_data_json or {})["cursor"] or 0)
        more = str(start + PER_PAGE) if start == 0 else None
        route.fulfill(json=found(range(start, start + PER_PAGE), more))

    page.route("**/api/attempts", answer)
    page.get_by_label("User id").fill("demo")
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.locator(".paging")).to_contain_text("2,500 items")
    page.get_by_role("button", name="Load more", exact=True).click()
    expect(page.locator(".paging")).to_contain_text("5,000 items, 2 pages")
    expect(page.locator(".facts-row")).to_contain_text("25 RCU")
    expect(page.get_by_role("columnheader")).to_have_text(["task_id", "late"])
    items = page.get_by_role("region", name="Items")
    assert items.locator("tr").count() < 200
    to_the_end = """(items) => {
        items.scrollTop = items.scrollHeight;
        return items.textContent.includes("t4999");
    }"""
    page.wait_for_function(to_the_end, arg=items.element_handle())
    expect(items.get_by_role("cell", name="t4999", exact=True)).to_be_visible()
    assert items.locator("tr").count() < 200


def test_thousands_of_patterns_are_found(open_page: OpenPage, server: Server) -> None:
    page = open_page()

    def answer(route: Route) -> None:
        (service,) = route.fetch().json()
        pattern = service["patterns"][0]
        service["patterns"] = [pattern | {"name": f"pattern_{each}"} for each in range(5000)]
        route.fulfill(json=[service])

    page.route("**/console/api/services", answer)
    page.goto(f"{server.url}/console/#/todo")
    expect(page.locator("#pattern-pattern_0")).to_be_visible()
    assert page.locator(".pattern").count() < 200
    find = page.get_by_label("Find an access pattern")
    find.fill("pattern_4999")
    expect(page.locator(".pattern")).to_have_count(1)
    with page.expect_response("**/console/api/live"):  # new figures arrive, and the typed text stays
        pass
    expect(find).to_have_value("pattern_4999")
    expect(find).to_be_focused()


NOTE_THE_RUNS = """() => {
    const runs = document.querySelector("#pattern-user_by_id .runs");
    window.shown = [];
    const note = () => window.shown.push(runs.textContent);
    new MutationObserver(note).observe(runs, { subtree: true, childList: true, characterData: true });
}"""


def test_an_older_answer_does_not_overwrite_a_newer_one(open_page: OpenPage, server: Server) -> None:
    page = open_as_operator(open_page(), server, "user_by_id")
    held: list[Route] = []
    page.route("**/console/api/live", lambda route: route.continue_() if held else held.append(route))
    page.locator("#pattern-user_by_id .runs").wait_for()
    while not held:
        page.wait_for_timeout(20)
    page.get_by_label("User id").fill("demo")
    with page.expect_response("**/console/api/live"):  # the read refreshes the figures: the held ones are old now
        page.get_by_role("button", name="Read", exact=True).click()
    expect(page.locator("#pattern-user_by_id .runs")).not_to_have_text("not run yet")
    page.evaluate(NOTE_THE_RUNS)
    old = {"healthy": False, "usage": {}, "lag": {}, "queues": {}, "workers": []}
    with page.expect_response("**/console/api/live"):
        held[0].fulfill(json=old)
    with page.expect_response("**/console/api/live"):  # after the next refresh, the held response has been processed
        page.get_by_role("button", name="Read", exact=True).click()
    expect(page.locator("#health")).to_have_text("Store responds")
    assert "not run yet" not in page.evaluate("window.shown")


def test_who_is_not_known_any_more_signs_in_and_has_read(open_page: OpenPage, server: Server) -> None:
    page = open_as_operator(open_page(), server, "user_by_id")
    page.get_by_label("User id").fill("demo")
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Sign in to continue.")
    page.get_by_role("button", name="Sign in again").click()
    again = page.get_by_role("dialog", name="Sign in again")
    again.get_by_text("Use a token").click()
    again.get_by_role("textbox", name="Token").fill(server.token("ada"))
    again.get_by_role("button", name="Use token").click()
    expect(again.get_by_role("alert")).to_contain_text("Only operators may do this.")
    again.get_by_role("textbox", name="Token").fill(server.token("ada", "operator"))
    again.get_by_role("button", name="Use token").click()
    expect(page.locator(".paging")).to_contain_text("1 item")
    expect(page.get_by_label("User id")).to_have_value("demo")


def test_the_keyboard_stays_while_figures_move_and_the_server_comes_back(
    open_page: OpenPage, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = tmp_path_factory.mktemp("killed")
    page = open_page(320, 844)
    with serving("todo", data) as first:
        headers = {"Authorization": f"Bearer {first.token('demo')}"}
        page.request.get(f"{first.url}/todo/api/me", headers=headers)
        page.route("**/console/api/services", lambda route: route.fulfill(status=503))
        page.goto(f"{first.url}/console/")
        expect(page.get_by_role("alert")).to_contain_text("The service is in trouble right now.")
        page.unroute("**/console/api/services")
        page.get_by_role("button", name="Try again").click()
        busiest = page.get_by_role("link", name="user_by_id")
        busiest.focus()
        row = page.locator("tr").filter(has=busiest)
        expect(row.get_by_role("cell").nth(2)).to_have_text("1")
        page.request.get(f"{first.url}/todo/api/me", headers=headers)
        expect(row.get_by_role("cell").nth(2)).to_have_text("2")
        expect(busiest).to_be_focused()
        assert page.evaluate("document.documentElement.scrollWidth") == 320
    expect(page.locator(".connection-bar")).to_contain_text("Connection lost")
    expect(page.locator("#health")).to_have_text("Server does not respond")
    with serving("todo", data, "--port", str(urlsplit(first.url).port)):
        expect(page.locator(".connection-bar")).to_be_empty()
        expect(page.locator("#health")).to_have_text("Store responds")
