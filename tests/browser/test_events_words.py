"""Descriptions of events and names of applicants: in any script, and shown only to those who may see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Server
from tests.browser.test_events import create, ticket
from tests.browser.test_events_trouble import OpenPage, open_as

pytestmark = pytest.mark.req("E12")

TEXT = "Doors open at seven.\n<b>Bring</b> a coat."


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("events")


def request_of(server: Server, request_id: str, user: str, role: str = "user") -> Any:
    headers = {"Authorization": f"Bearer {server.token(user, role)}"}
    return httpx.get(f"{server.url}/events/api/requests/{request_id}", headers=headers).json()


@pytest.mark.req("E19")
def test_an_operator_says_what_an_event_is_about_and_applicants_read_it(open_page: OpenPage, server: Server) -> None:
    page = open_as(open_page(), server, "boss", "#/operate", "operator")
    page.get_by_role("button", name="New event").click()
    page.get_by_label("Name", exact=True).fill("Told")
    page.get_by_label("Description").fill(TEXT)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Told", exact=True)).to_be_visible()
    expect(page.locator(".about")).to_have_text(TEXT, use_inner_text=True)
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(page.get_by_label("Description")).to_have_value(TEXT)
    page.get_by_label("Description").fill("שלום, at eight.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".about")).to_have_text("שלום, at eight.")
    expect(page.locator(".about")).to_have_attribute("dir", "auto")
    event = page.url.rpartition("/")[2]
    reader = open_as(open_page(), server, "x-reader", f"#/events/{event}")
    expect(reader.locator(".about")).to_have_text("שלום, at eight.")
    expect(reader.locator(".about")).to_have_css("direction", "rtl")


@pytest.mark.req("E20")
def test_a_name_is_shown_as_far_as_the_applicant_allows(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Named")
    page = open_as(open_page(), server, "x-named", f"#/events/{event}")
    allow = page.get_by_label("Show my name to operators")
    expect(allow).to_be_disabled()
    page.get_by_label("Your name").fill("Ann B.")
    allow.check()
    page.get_by_role("button", name="Apply", exact=True).click()
    named = ticket(page).locator(".named")
    expect(named).to_contain_text("You applied as Ann B.. Others may see it.")
    operator = open_as(open_page(), server, "boss", f"#/operate/{event}", "operator")
    row = operator.locator(".requests tbody tr")
    expect(row.locator(".name")).to_have_text("Ann B.")
    named.get_by_role("button", name="Hide my name").click()
    expect(named).to_contain_text("Only you see it.")
    operator.reload()
    expect(row).to_have_count(1)
    expect(row.locator(".name")).to_have_count(0)
    named.get_by_role("button", name="Remove my name").click()
    expect(named).to_have_count(0)
    page.reload()
    expect(ticket(page)).to_be_visible()
    expect(named).to_have_count(0)


@pytest.mark.req("E20")
def test_a_name_that_cannot_be_is_said_and_another_is_taken(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Misnamed")
    page = open_as(open_page(), server, "x-misnamed", f"#/events/{event}")
    page.get_by_label("Your name").fill("Ann\u200bB.")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator(".toast .text").last).to_contain_text("You have not applied.")
    expect(page.locator(".toast .text").last).to_contain_text("Remove the invisible character at position 4.")
    expect(page.get_by_label("Your name")).to_have_value("Ann\u200bB.")
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(ticket(page).locator(".named")).to_contain_text("You applied as Ann. Only you see it.")


@pytest.mark.req("E20")
def test_winners_of_a_draw_have_names_where_they_allow_it(open_page: OpenPage, server: Server) -> None:
    page = open_as(open_page(), server, "x-looker")
    page.get_by_role("link", name="Rooftop garden, summer plots").click()
    winners = page.get_by_role("region", name="Draw").locator(".lists ol").first.locator("li")
    expect(winners).to_have_count(3)
    ids = [text.split()[0] for text in winners.all_inner_texts()]
    shown = [request_of(server, each, "boss", "operator")["displayName"] for each in ids]
    assert sorted(filter(None, shown)) == ["Farah", "Inês from the third floor"]
    for item, name in zip(winners.all(), shown, strict=True):
        expect(item.locator(".name")).to_have_text([name] if name else [])
