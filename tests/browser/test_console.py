"""The console in a real browser: live figures, trying a read; with the keyboard, on a phone, and in the dark scheme."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Server, serving

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X01")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for this module only, because its tests count figures."""
    with serving("todo", tmp_path_factory.mktemp("console")) as server:
        yield server


def sign_in(page: Page, server: Server, role: str = "operator") -> None:
    page.get_by_text("Use a token").click()
    page.get_by_role("textbox", name="Token").fill(server.token("ada", role))
    page.get_by_role("button", name="Use token").click()


def read(page: Page) -> None:
    page.get_by_role("button", name="Read", exact=True).click()


def test_an_operator_tries_a_read_and_turns_its_pages(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/")
    page.get_by_role("link", name="To-Do").first.click()
    page.get_by_role("button", name="tasks_by_status").click()
    sign_in(page, server)
    page.get_by_label("user id").fill("demo")
    page.get_by_label("Items").select_option("20")
    read(page)
    rows = page.locator(".items tbody tr")
    expect(rows).to_have_count(20)
    expect(page.locator(".facts-row")).to_contain_text("1 Query on GSI1")
    expect(page.locator(".facts-row")).to_contain_text("12.5 RCU")
    page.get_by_text("The request as DynamoDB receives it").click()
    expect(page.get_by_role("region", name="The request")).to_contain_text('"IndexName": "GSI1"')
    page.get_by_role("button", name="Load more", exact=True).click()
    expect(rows).to_have_count(26)
    expect(page.locator(".paging")).to_contain_text("26 items, 2 pages")
    expect(page.locator(".facts-row")).to_contain_text("All pages")
    expect(page.get_by_role("button", name="Load more", exact=True)).to_be_hidden()
    expect(page.locator("#pattern-tasks_by_status .runs")).to_contain_text("2 runs")


def test_a_form_has_what_the_parameters_ask_for(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/#/todo/patterns/tasks_with_status")
    sign_in(page, server)
    page.get_by_label("user id").fill("demo")
    page.get_by_label("status").select_option("cancelled")
    read(page)
    expect(page.locator(".items tbody tr")).to_have_count(2)
    page.goto(f"{server.url}/console/#/todo/patterns/tasks_due_within")
    expect(page.get_by_label("user id")).to_have_value("demo")
    page.get_by_label("due date from").fill("1999-01-01")
    page.get_by_label("to", exact=True).fill("1999-12-31")
    read(page)
    expect(page.locator(".paging")).to_contain_text("Nothing was found.")
    page.goto(f"{server.url}/console/#/todo/patterns/create_task")
    expect(page.locator("#pattern-create_task")).to_contain_text("It writes, and the console only reads.")


def test_only_operators_read(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/#/todo/patterns/user_by_id")
    sign_in(page, server, role="user")
    expect(page.get_by_role("alert")).to_contain_text("Only operators may do this.")
    page.get_by_role("textbox", name="Token").fill("nonsense")
    page.get_by_role("button", name="Use token").click()
    expect(page.get_by_role("alert")).to_contain_text("This token is not accepted here")
    expect(page.get_by_role("button", name="Read", exact=True)).to_have_count(0)
    page.get_by_role("textbox", name="Token").fill(server.token("ada", "operator"))
    page.get_by_role("button", name="Use token").click()
    expect(page.get_by_role("button", name="Read", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Read", exact=True)).to_have_count(0)


def test_the_figures_move_while_somebody_looks(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/#/todo")
    runs = page.locator("#pattern-user_by_id .runs")
    expect(page.locator("#health")).to_have_text("Store responds")
    before = runs.inner_text()
    httpx.get(
        f"{server.url}/todo/api/me", headers={"Authorization": f"Bearer {server.token('demo')}"}
    ).raise_for_status()
    expect(runs).not_to_have_text(before)


def test_it_is_used_with_the_keyboard_alone(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/#/todo")
    expect(page.locator(".pattern").first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("priority of one")
    expect(page.get_by_text("No access pattern matches.")).to_be_visible()
    page.get_by_label("Find an access pattern").fill("of one priority")
    expect(page.locator(".pattern:visible")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#pattern-tasks_with_priority .inside")).to_contain_text("PRIORITY#{priority}#")
    page.keyboard.press("Enter")
    expect(page.locator("#pattern-tasks_with_priority .inside")).to_be_hidden()


def test_a_phone_shows_all_of_it(open_page: OpenPage, server: Server) -> None:
    page = open_page(390, 844, dark=True)
    for where in ("", "#/todo", "#/todo/keys", "#/todo/entities", "#/todo/patterns/tasks_due_within"):
        page.goto(f"{server.url}/console/{where}")
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "To-Do" if where else re.compile("The services, and what")
        )
        assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("where", ["#/%E0%A4%A", "#/%E0%A4%A/keys/%"])
def test_an_address_that_names_nothing_shows_the_overview(where: str, open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/{where}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    page.goto(f"{server.url}/console/#/todo/patterns/%E0%A4%A")
    expect(page.get_by_role("heading", level=1)).to_have_text("To-Do")


def test_it_asks_nobody_else(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
    page.goto(f"{server.url}/console/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto(f"{server.url}/console/#/todo/keys")
    expect(page.get_by_text("IDEMPOTENCY#{scope}#{key}")).to_be_visible()
    assert asked == {urlsplit(server.url).netloc}


def test_one_is_not_shown_as_several(open_page: OpenPage, server: Server) -> None:
    page = open_page()

    def one_pattern(route: Route) -> None:
        services = route.fetch().json()
        route.fulfill(json=[each | {"patterns": each["patterns"][:1]} for each in services])

    def one_change(route: Route) -> None:
        live = route.fetch().json()
        route.fulfill(json=live | {"lag": {"todo": {"records": 1, "seconds": 2}}})

    page.route("**/console/api/services", one_pattern)
    page.route("**/console/api/live", one_change)
    page.goto(f"{server.url}/console/")
    note = page.locator(".card .note")
    expect(note).to_contain_text("1 access pattern ·")
    expect(note).to_contain_text("projection: 1 change, 2 s behind")
