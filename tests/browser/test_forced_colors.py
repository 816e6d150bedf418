"""In forced colours, such as high contrast on Windows, a person still sees what is done, chosen and reached."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Server
from tests.browser.todo import add, column, open_board

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    page = open_page()
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    return page


def style(locator: Locator, name: str) -> str:
    found: str = locator.evaluate("(element, name) => getComputedStyle(element)[name]", name)
    return found


def test_a_task_that_is_done_differs_from_one_that_is_not(page: Page, serve: Callable[[str], Server]) -> None:
    server = serve("todo")
    add(server, "f-done", "Sweep", "Mop")
    add(server, "f-done", "Dust", status="completed")
    open_board(page, server, "f-done")
    expect(column(page, "To do").locator(".ring .icon").first).to_be_hidden()
    expect(column(page, "Completed").locator(".ring .icon")).to_be_visible()
    column(page, "To do").get_by_role("button", name="Complete Sweep").focus()
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_label("Select Sweep").check()
    chosen, other = page.locator(".card", has_text="Sweep"), page.locator(".card", has_text="Mop")
    assert (style(chosen, "outlineStyle"), style(other, "outlineStyle")) == ("solid", "none")
    page.get_by_role("button", name="Stop selecting").click()
    page.get_by_role("button", name="New task").click()
    status = page.get_by_role("group", name="Status")
    chosen, other = (status.locator("span", has_text=text) for text in ("To do", "Completed"))
    assert style(chosen, "backgroundColor") != style(other, "backgroundColor")


def test_the_version_of_a_day_and_the_country_are_marked(page: Page, serve: Callable[[str], Server]) -> None:
    page.goto(f"{serve('countries').url}/countries/#/TR")
    expect(page.locator(".track span.chosen")).to_be_visible()
    old, new = (page.locator(f".track span{each}") for each in (":not(.chosen)", ".chosen"))
    assert style(old, "backgroundColor") != style(new, "backgroundColor")
    assert style(page.locator("#list a[aria-current]"), "outlineStyle") == "solid"
    assert style(page.locator("#list a:not([aria-current])").first, "outlineStyle") == "none"


def test_the_page_that_is_open_and_the_seats_that_are_taken_are_marked(
    page: Page, serve: Callable[[str], Server]
) -> None:
    server = serve("events")
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('ada')}')")
    page.goto(f"{server.url}/events/")
    expect(page.locator(".card").first).to_be_visible()
    mine, other = (page.get_by_role("navigation", name="Pages").get_by_text(text) for text in ("Events", "My requests"))
    assert (style(mine, "outlineStyle"), style(other, "outlineStyle")) == ("solid", "none")
    filled = page.locator(".filled").first
    assert style(filled, "backgroundColor") != style(page.locator(".bar").first, "backgroundColor")
