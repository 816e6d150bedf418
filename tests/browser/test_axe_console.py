"""axe finds no violation in any state of the console, which fits 320 pixels."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server
from tests.browser.test_axe_collect import check

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("todo")


def test_the_console(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.route("**/console/api/services", lambda route: route.fulfill(status=503))
    page.goto(f"{server.url}/console/")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    check(page, "error")
    page.unroute("**/console/api/services")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("main h1")).to_be_visible()
    check(page, "overview")
    for part in ("keys", "entities", "patterns"):
        page.goto(f"{server.url}/console/#/todo/{part}")
        expect(page.locator(".parts [aria-current]")).to_have_attribute("href", f"#/todo/{part}")
        check(page, part)
    page.get_by_label("Find an access pattern").fill("nothing of the kind")
    expect(page.get_by_text("No access pattern matches.")).to_be_visible()
    check(page, "nothing found")


def test_trying_a_read(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/#/todo/patterns/tasks_by_status")
    page.get_by_role("button", name="tasks_with_status").click()
    expect(page.get_by_role("button", name="Sign in as a demo operator")).to_have_count(2)
    check(page, "two panels to sign in")
    page.get_by_role("button", name="Sign in as a demo operator").first.click()
    first = page.locator("#pattern-tasks_by_status")
    first.get_by_label("User id").fill("demo")
    first.get_by_role("button", name="Read", exact=True).click()
    expect(first.get_by_role("table")).to_be_visible()
    first.get_by_text("The request as DynamoDB receives it").click()
    check(page, "items")
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    first.get_by_role("button", name="Read", exact=True).click()
    page.get_by_role("button", name="Sign in again").click()
    expect(page.get_by_role("dialog", name="Sign in again")).to_be_visible()
    check(page, "signing in again")
