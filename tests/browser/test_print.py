"""A printed page is light and whole, without what can only be pressed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server
from tests.browser.test_accounts import signed_in
from tests.browser.todo import add, open_board

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")

PAPER = {"width": 720, "height": 1000}


def print_preview(page: Page) -> None:
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER["width"], "height": PAPER["height"]})
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER["width"]
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()


def test_the_board_prints_all_tasks_of_all_columns(open_page: OpenPage, serve: Callable[[str], Server]) -> None:
    server = serve("todo")
    add(server, "p-board", *(f"Sweep {number}" for number in range(30)))
    add(server, "p-board", "Dust", status="cancelled")
    page = open_board(open_page(dark=True), server, "p-board")
    expect(page.locator(".card")).to_have_count(31)
    print_preview(page)
    for title in ("Dust", *(f"Sweep {number}" for number in range(30))):
        expect(page.get_by_text(title, exact=True)).to_be_visible()
    lists = page.locator(".scroll")
    assert lists.evaluate_all("all => all.every((each) => each.scrollHeight <= each.clientHeight)")
    expect(page.get_by_role("button", name="New task")).to_be_hidden()


def test_a_statement_prints_without_forms(open_page: OpenPage, serve: Callable[[str], Server]) -> None:
    server = serve("accounts")
    page = signed_in(open_page(dark=True), server, f"{server.url}/accounts/#/acc-1004", "demo")
    expect(page.get_by_role("region", name="Entries")).to_be_visible()
    print_preview(page)
    expect(page.get_by_role("region", name="Entries")).to_be_visible()
    expect(page.get_by_role("heading", name="Household")).to_be_visible()
    for heading in ("Move money", "Shared with", "Settings", "Your accounts"):
        expect(page.get_by_role("heading", name=heading)).to_be_hidden()
