"""What the tests of the board share: a signed-in page, API calls, and locators."""

from __future__ import annotations

from typing import Any

import httpx
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Server

API = "/todo/api"


def open_board(page: Page, server: Server, user: str, address: str = "") -> Page:
    """Open the board of a signed-in user. The token is set only once, so that a later sign-in or sign-out lasts."""
    keep = f"sessionStorage.setItem('partita-token', '{server.token(user)}')"
    page.add_init_script(f"if (!sessionStorage.getItem('asked')) {keep}; sessionStorage.setItem('asked', 'once')")
    page.goto(f"{server.url}/todo/{address}")
    expect(page.get_by_role("button", name="New task")).to_be_visible()
    return page


def client_of(server: Server, user: str) -> httpx.Client:
    """Return a client that calls the API as a user."""
    return httpx.Client(base_url=server.url + API, headers={"Authorization": f"Bearer {server.token(user)}"})


def add(server: Server, user: str, *titles: str, **fields: Any) -> list[dict[str, Any]]:
    """Create tasks, and return them."""
    with client_of(server, user) as client:
        responses = [client.post("/tasks", json={"title": title} | fields) for title in titles]
    assert {response.status_code for response in responses} <= {201}
    return [response.json() for response in responses]


def tasks_of(server: Server, user: str) -> list[dict[str, Any]]:
    """Return the user's tasks, at most one page."""
    with client_of(server, user) as client:
        items: list[dict[str, Any]] = client.get("/tasks", params={"limit": 100}).json()["items"]
    return items


def column(page: Page, title: str) -> Locator:
    """A column of the board."""
    return page.get_by_role("region", name=title, exact=True)


def said(page: Page) -> Locator:
    """The latest message."""
    return page.locator(".toast .text").last
