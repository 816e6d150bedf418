"""The front page and the API descriptions in a real browser: sign-in links, errors, the keyboard, narrow screens."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.browser.conftest import Server

from partita.app.signin import LinkCodes
from partita.http import Role

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X18", "X19", "X20")

MINUTES = 60.0


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("todo")


def link(server: Server, *, age: float = 0.0) -> str:
    """Return a link as another process of the server issues it."""
    codes = LinkCodes(server.data / "sign-in-links.json", clock=lambda: time.time() - age)
    return f"{server.url}/#sign-in={codes.issue(Role.USER)}"


def test_the_link_signs_in_once_and_leaves_no_trace(open_page: OpenPage, server: Server) -> None:
    address, page = link(server), open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    expect(page.get_by_role("heading", name="You are signed in")).to_be_visible()
    expect(page.locator(".who")).to_have_text("demo")
    assert page.url == f"{server.url}/"
    code = urlsplit(address).fragment.partition("=")[2]
    assert [url for url in asked if code in url.partition("#")[0]] == []
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(server.url).netloc}
    assert page.evaluate("code => JSON.stringify(sessionStorage).includes(code)", code) is False
    page.get_by_role("link", name="Open To-Do").click()
    expect(page.get_by_role("button", name="New task")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="You are signed in")).to_be_visible()

    other = open_page()
    other.goto(address)
    expect(other.get_by_role("alert")).to_contain_text("This sign-in link was already used")
    other.get_by_role("button", name="Sign in as a demo user").click()
    expect(other.get_by_role("heading", name="You are signed in")).to_be_visible()
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_role("button", name="Sign in as a demo operator")).to_be_visible()
    other.goto(link(server))  # only the part after # differs: the page is not reloaded, but uses the link
    expect(other.locator(".who")).to_have_text("demo")


def test_a_link_or_token_that_has_expired_is_told_with_a_way_on(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(link(server, age=11 * MINUTES))
    expect(page.get_by_role("alert")).to_contain_text("This sign-in link has expired: it is valid for 10 minutes.")
    expect(page.get_by_role("button", name="Sign in as a demo user")).to_be_visible()
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("Sign in to continue.")
    page.get_by_role("button", name="Sign in as a demo operator").click()
    expect(page.locator(".who")).to_have_text("demo-operator, as an operator")
    assert page.evaluate("sessionStorage.getItem('partita-token')") != "rubbish"


def test_a_server_that_is_away_is_told_and_asked_again(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('ann')}')")
    page.route("**/signin/api/me", lambda route: route.abort("connectionrefused"))
    page.goto(server.url)
    expect(page.get_by_role("heading", name="Your sign-in cannot be checked")).to_be_visible()
    expect(page.get_by_role("link", name="Open To-Do")).to_be_visible()
    page.unroute("**/signin/api/me")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".who")).to_have_text("ann")
    expect(page.locator(".connection-bar")).to_be_empty()


def test_a_link_whose_answer_was_lost_says_so_and_leads_on(open_page: OpenPage, server: Server) -> None:
    page = open_page()

    def lose(route: Route) -> None:
        route.fetch()  # the server uses up the code
        route.abort("connectionreset")

    page.route("**/signin/api/link", lose, times=1)
    page.goto(link(server))
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_contain_text("This sign-in link was already used")
    page.get_by_role("button", name="Sign in as a demo user").click()
    expect(page.locator(".who")).to_have_text("demo")


def test_without_scripts_all_links_and_descriptions_are_there(browser: Browser, server: Server) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 800})
    page = context.new_page()
    page.goto(server.url)
    expect(page.get_by_text("Signing in needs JavaScript.")).to_be_visible()
    page.get_by_role("link", name="API of To-Do").click()
    expect(page.get_by_label("Find an operation")).to_be_hidden()
    page.locator("#create_task > summary").click()
    expect(page.locator("#create_task").get_by_text("idempotency-key")).to_be_visible()
    context.close()


def test_an_operation_is_found_and_opened_with_the_keyboard(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/api-docs/todo#change_task")
    expect(page.locator("#change_task .body")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("stream reset ready")
    expect(page.locator(".operation:visible")).to_have_count(1)
    expect(page.locator("#found")).to_have_text("1 of 14 operations")
    page.get_by_label("Find an operation").fill("nothing like it")
    expect(page.get_by_text("No operation matches.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".operation:visible")).to_have_count(14)
    page.get_by_role("navigation", name="Operations").get_by_role("link", name="List Tasks").click()
    expect(page.locator("#list_tasks .body")).to_be_visible()
    expect(page.locator("#list_tasks .body")).to_contain_text("invalid_cursor")


@pytest.mark.parametrize("path", ["/", "/api-docs/", "/api-docs/todo", "/nothing-here"])
def test_nothing_is_wider_than_a_small_phone(open_page: OpenPage, server: Server, path: str) -> None:
    page = open_page(320, 700)
    page.goto(server.url + path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    if path == "/api-docs/todo":
        page.get_by_role("button", name="Open all").click()
        expect(page.locator("#list_tasks .body")).to_be_visible()
    expect(page.get_by_label("Services", exact=True).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_the_page_for_what_is_not_there_leads_to_what_is(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    response = page.goto(f"{server.url}/tood/board")
    assert response is not None
    assert response.status == 404
    page.get_by_text("Did you mean").get_by_role("link", name="To-Do").click()
    page.wait_for_url(f"{server.url}/todo/")
