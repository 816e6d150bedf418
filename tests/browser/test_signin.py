"""Signing in without a terminal: with one click, or with the identity provider; and the links between services."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.app.signin.provider import AUDIENCE, CLIENT, Provider
from tests.browser.conftest import Server, serving
from tests.browser.test_todo_trouble import EXPIRE

OpenPage = Callable[..., Page]
pytestmark = pytest.mark.req("X16")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving("--all", tmp_path_factory.mktemp("all"), "--workers", "0") as server:
        yield server


@pytest.fixture
def provider() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.close()


@pytest.fixture
def federated(tmp_path: Path, provider: Provider) -> Iterator[Server]:
    """A server that accepts the tokens of an identity provider."""
    options = ("--issuer", provider.url, "--audience", AUDIENCE, "--client-id", CLIENT)
    with serving("todo", tmp_path / "data", *options) as server:
        yield server


def test_one_click_signs_in_as_the_demo_user(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/todo/")
    button = page.get_by_role("button", name="Sign in as a demo user")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Demo Reader")).to_be_visible()


def test_one_click_signs_in_as_an_operator(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/events/")
    page.get_by_role("button", name="Sign in as a demo operator").click()
    expect(page.get_by_role("link", name="Operate")).to_be_visible()
    page.goto(f"{server.url}/console/#/todo/patterns/user_by_id")
    page.get_by_label("user id").fill("demo")
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.get_by_text("Demo Reader")).to_be_visible()


def test_the_console_and_countries_sign_operators_in(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/#/todo/patterns/user_by_id")
    page.get_by_role("button", name="Sign in as a demo operator").click()
    expect(page.get_by_label("user id")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{server.url}/countries/#/CH")
    page.get_by_role("button", name="Sign in as an operator").click()
    page.get_by_role("button", name="Sign in as a demo operator").click()
    expect(page.get_by_role("button", name="Save version")).to_be_visible()


@pytest.mark.parametrize("path", ["/console/", "/todo/", "/events/", "/countries/", "/commitcollect/"])
def test_every_page_leads_to_the_others(open_page: OpenPage, server: Server, path: str) -> None:
    page = open_page(1280, 844)
    page.goto(f"{server.url}{path}")
    menu = page.get_by_role("navigation", name="Services of this server")
    names = ["Start", "Countries", "Events", "To-Do", "APIs", "Console"]
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.get_by_label("Services", exact=True).first.click()
        expect(menu.get_by_role("link")).to_contain_text(names, use_inner_text=True)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.keyboard.press("Escape")
        expect(menu).to_be_hidden()
    page.get_by_label("Services", exact=True).first.click()
    target = "Countries" if path != "/countries/" else "Console"
    menu.get_by_role("link", name=target).click()
    page.wait_for_url("**/countries/" if target == "Countries" else "**/console/")


def test_the_identity_provider_signs_in_and_leads_back(
    open_page: OpenPage, federated: Server, provider: Provider
) -> None:
    page = open_page()
    page.goto(f"{federated.url}/todo/")
    expect(page.get_by_role("button", name="Sign in as a demo user")).to_have_count(0)
    page.get_by_role("button", name="Sign in with 127.0.0.1").click()
    page.wait_for_url(f"{federated.url}/todo/")
    expect(page.get_by_role("button", name="New task")).to_be_visible()
    expect(page.locator(".who")).to_have_text("ann")
    assert page.evaluate("sessionStorage.getItem('partita-signin')") is None
    assert [form["grant_type"] for form in provider.forms] == ["authorization_code"]


def test_the_identity_provider_signs_in_again_and_the_page_keeps_what_was_typed(
    open_page: OpenPage, federated: Server
) -> None:
    page = open_page()
    page.goto(f"{federated.url}/todo/")
    page.get_by_role("button", name="Sign in with 127.0.0.1").click()
    page.get_by_role("button", name="New task").click()
    editor = page.get_by_role("dialog", name="New task")
    editor.get_by_label("Title").fill("Typed with care")
    page.evaluate(EXPIRE)
    editor.get_by_role("button", name="Create").click()
    editor.get_by_role("button", name="Sign in again").click()
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Sign in with 127.0.0.1").click()
    expect(editor).to_have_count(0)
    expect(page.get_by_role("button", name="Typed with care, To do")).to_be_visible()
    assert opened.value.is_closed()


def test_a_code_that_this_tab_did_not_ask_for_is_not_taken(
    open_page: OpenPage, federated: Server, provider: Provider
) -> None:
    page = open_page()
    page.goto(f"{federated.url}/signin/?code=of-an-attacker&state=made-up")
    expect(page.get_by_role("alert")).to_have_text("This tab did not start this sign-in. Sign in again.")
    assert (provider.forms, page.evaluate("sessionStorage.getItem('partita-token')")) == ([], None)


def test_whoever_changes_their_mind_is_told_and_led_back(
    open_page: OpenPage, federated: Server, provider: Provider
) -> None:
    provider.refuses = "access_denied"
    page = open_page()
    page.goto(f"{federated.url}/todo/")
    page.get_by_role("button", name="Sign in with 127.0.0.1").click()
    expect(page.get_by_role("alert")).to_contain_text("The identity provider refused the sign-in")
    page.get_by_role("link", name="Back").click()
    page.wait_for_url(f"{federated.url}/todo/")
