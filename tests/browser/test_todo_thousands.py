"""The board with thousands of tasks: the most urgent tasks come first, and completing one redraws only its card."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import PATIENCE, Server
from tests.browser.todo import column, open_board, said

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("T32")

COUNT_CARDS = """() => {
    const cards = (nodes) => [...nodes].filter((node) => node.matches?.(".card"));
    window.drawn = { added: 0, removed: 0 };
    new MutationObserver((records) => {
        for (const record of records) {
            window.drawn.added += cards(record.addedNodes).length;
            window.drawn.removed += cards(record.removedNodes).length;
        }
    }).observe(document.querySelector(".columns"), { childList: true, subtree: true });
}"""
SCROLL_TO_THE_END = """(last) => {
    const scroll = document.querySelector(".scroll");
    scroll.scrollTop = scroll.scrollHeight;  // again and again: what comes meanwhile is below it
    const titles = [...scroll.querySelectorAll(".title")];
    return scroll.querySelector(".more").hidden && titles.some((title) => title.textContent.trim() === last);
}"""
PAGE = 100


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("todo")


def pretend(page: Page, number: int) -> list[str]:
    """Replace the API with a fake that has this number of pending tasks; the older half has no priority.

    Returns a list to which the address of each list request is added.
    """
    asked: list[str] = []

    def task(at: int) -> dict[str, Any]:
        some = {"task_id": f"{at:06}", "title": f"Task {at}", "status": "pending", "version": 1, "user_id": "m"}
        return some | ({"priority": "urgent" if at % 2 else "low"} if at >= number // 2 else {})

    tasks = [task(at) for at in range(number)]
    by_priority = sorted(tasks[number // 2 :], key=lambda each: str(each["priority"]) != "urgent")

    def answer(route: Route) -> None:
        wanted = parse_qs(urlsplit(route.request.url).query)
        asked.append(route.request.url)
        start = int(wanted.get("cursor", ["0"])[0])
        found = by_priority if "sort" in wanted else tasks[: number // 2] if "has_priority" in wanted else tasks
        found = found if wanted["status"] == ["pending"] else []
        more = str(start + PAGE) if start + PAGE < len(found) else None
        route.fulfill(json={"items": found[start : start + PAGE], "next_cursor": more, "served_by": "GSI1"})

    def change(route: Route) -> None:
        at = int(urlsplit(route.request.url).path.rpartition("/")[2])
        route.fulfill(json={**tasks[at], **(route.request.post_data_json or {}), "version": 2})

    counts = {"by_status": {"pending": number}, "by_priority": {"none": number}, "lag": {"records": 0, "seconds": 0}}
    page.route("**/api/tasks?*", answer)
    page.route("**/api/tasks/0*", change)
    page.route("**/api/tasks/counts", lambda route: route.fulfill(json=counts))
    return asked


@pytest.mark.parametrize("number", [50, 5000])
def test_the_first_cards_take_as_many_requests_and_cards(open_page: OpenPage, server: Server, number: int) -> None:
    page = open_page()
    asked = pretend(page, number)
    open_board(page, server, "many")
    todo = column(page, "To do")
    expect(todo.locator(".card").first).to_be_visible()
    expect(todo.locator(".number")).to_have_text(str(number))
    assert len(asked) <= 5  # a page of each column, and for a column with more pages its most urgent tasks
    assert todo.locator(".card").count() <= PAGE


def test_the_most_urgent_of_all_come_first_and_the_others_last(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    pretend(page, 5000)
    open_board(page, server, "many")
    todo = column(page, "To do")
    expect(todo.locator(".card")).to_have_count(PAGE)
    assert {card.split(", ")[2] for card in labels(page)} == {"urgent priority"}
    page.wait_for_function(SCROLL_TO_THE_END, arg="Task 0", timeout=4 * PATIENCE)  # scrolling loads more
    expect(todo.locator(".title", has_text=re.compile("^Task 0$"))).to_be_visible()
    assert todo.locator(".card").count() < 2 * PAGE  # only cards near the screen


def test_a_tick_draws_one_card_and_scrolls_nothing(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    pretend(page, 5000)
    open_board(page, server, "many")
    todo = column(page, "To do")
    expect(todo.locator(".card")).to_have_count(PAGE)
    scroll = todo.locator(".scroll")
    scroll.evaluate("scroll => { scroll.scrollTop = 2000; }")
    page.evaluate(COUNT_CARDS)
    todo.locator(".ring").nth(30).evaluate("ring => ring.click()")
    expect(column(page, "Completed").locator(".card")).to_have_count(1)
    expect(said(page)).to_contain_text("to Completed.")
    # The card leaves its column, appears in the other, and is redrawn there with the saved task.
    assert page.evaluate("window.drawn") == {"added": 2, "removed": 2}
    assert scroll.evaluate("scroll => scroll.scrollTop") == 2000


def labels(page: Page) -> list[str]:
    texts: list[str] = page.locator(".title").evaluate_all("all => all.map((title) => title.ariaLabel)")
    return texts
