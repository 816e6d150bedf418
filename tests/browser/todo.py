"""What the stories about the board share: a signed-in page, tasks, and words for what is on it."""

from __future__ import annotations

from typing import Any

import httpx
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Server

API = "/todo/api"


def open_board(page: Page, server: Server, user: str, address: str = "") -> Page:
    """Open the board of a user who is signed in; who signs out, or in as somebody else, stays that."""
    keep = f"sessionStorage.setItem('partita-token', '{server.token(user)}')"
    page.add_init_script(f"if (!sessionStorage.getItem('asked')) {keep}; sessionStorage.setItem('asked', 'once')")
    page.goto(f"{server.url}/todo/{address}")
    expect(page.get_by_role("button", name="New task")).to_be_visible()
    return page


def client_of(server: Server, user: str) -> httpx.Client:
    """Calls the API as that user."""
    return httpx.Client(base_url=server.url + API, headers={"Authorization": f"Bearer {server.token(user)}"})


def add(server: Server, user: str, *titles: str, **fields: Any) -> list[dict[str, Any]]:
    """Make tasks; gives them."""
    with client_of(server, user) as client:
        responses = [client.post("/tasks", json={"title": title} | fields) for title in titles]
    assert {response.status_code for response in responses} <= {201}
    return [response.json() for response in responses]


def tasks_of(server: Server, user: str) -> list[dict[str, Any]]:
    """The tasks that there are, up to a page."""
    with client_of(server, user) as client:
        items: list[dict[str, Any]] = client.get("/tasks", params={"limit": 100}).json()["items"]
    return items


def column(page: Page, title: str) -> Locator:
    """A column of the board."""
    return page.get_by_role("region", name=title, exact=True)


def said(page: Page) -> Locator:
    """The last message."""
    return page.locator(".toast .text").last
