"""axe finds no violation in any state of the front page, the API descriptions and the page for unknown addresses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server
from tests.browser.held import Held
from tests.browser.test_axe import Steps, violations

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17", "X18", "X19")


def signs_in(page: Page) -> None:
    page.get_by_role("button", name="Sign in as a demo user").click()
    expect(page.locator(".who")).to_be_visible()


def waits_for_a_slow_answer(page: Page) -> None:
    signs_in(page)
    held = Held(page, "**/signin/api/me")
    page.reload()
    held.wait()
    expect(page.locator("#account .skeleton")).to_be_visible()
    expect(page.get_by_role("link", name="Open To-Do")).to_be_visible()
    assert violations(page) == {}
    held.release()
    expect(page.locator(".who")).to_be_visible()
    other = page.context.new_page()  # each tab has its own sign-in
    other.goto(page.url)
    expect(other.get_by_role("button", name="Sign in as a demo user")).to_be_visible()


def uses_a_token(page: Page) -> None:
    page.get_by_text("Use a token").click()
    expect(page.get_by_label("Token", exact=True)).to_be_visible()


def is_refused_then_fails(page: Page) -> None:
    page.goto(f"{page.url}#sign-in=made-up")
    expect(page.get_by_role("alert")).to_contain_text("does not belong to this server")
    assert violations(page) == {}
    page.route("**/signin/api/link", lambda route: route.abort("connectionrefused"))
    page.goto(f"{page.url}#sign-in=other")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def opens_all(page: Page) -> None:
    page.get_by_role("button", name="Open all").click()
    for each in page.locator(".body details").all()[:2]:
        each.locator("summary").first.click()


def finds_nothing(page: Page) -> None:
    page.get_by_label("Find an operation").fill("nothing like it")
    expect(page.get_by_text("No operation matches.")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("/", uses_a_token),
        ("/", waits_for_a_slow_answer),
        ("/", is_refused_then_fails),
        ("/api-docs/", None),
        ("/api-docs/todo", opens_all),
        ("/api-docs/todo", finds_nothing),
        ("/nothing-here", None),
    ],
)
def test_axe_finds_nothing(open_page: OpenPage, serve: Callable[[str], Server], path: str, steps: Steps | None) -> None:
    page = open_page()
    page.goto(serve("todo").url + path)
    expect(page.get_by_label("Services", exact=True).first).to_be_visible()
    if steps:
        steps(page)
    assert violations(page) == {}
