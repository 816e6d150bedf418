"""Events in trouble: lost responses, double clicks, two tabs, a wrong clock, an invalid or expired token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server
from tests.browser.held import Held
from tests.browser.streams import END_STREAMS, end_streams, forget_token
from tests.browser.test_events import create, post, ticket

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("E12")


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("events")


def open_as(page: Page, server: Server, user: str, at: str = "", role: str = "user") -> Page:
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token(user, role)}')")
    page.goto(f"{server.url}/events/{at}")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    return page


def requests_of(server: Server, user: str) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {server.token(user)}"}
    items: list[dict[str, Any]] = httpx.get(f"{server.url}/events/api/me/requests", headers=headers).json()["items"]
    return items


def test_who_could_not_apply_is_told_and_applies_again(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Lost")
    page = open_as(open_page(), server, "x-lost", f"#/events/{event}")
    page.route("**/api/events/*/requests", lambda route: route.abort("connectionrefused"))
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator(".toast .text").last).to_contain_text("You have not applied.")
    expect(page.get_by_role("button", name="Apply", exact=True)).to_be_enabled()
    page.unroute("**/api/events/*/requests")
    page.get_by_role("button", name="Try again").click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")
    assert len(requests_of(server, "x-lost")) == 1


def test_who_is_not_known_any_more_signs_in_and_has_applied(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Expired")
    page = open_as(open_page(), server, "x-expired", f"#/events/{event}")
    expect(page.get_by_role("button", name="Apply", exact=True)).to_be_enabled()
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator(".toast .text").last).to_contain_text("You have not applied.")
    assert requests_of(server, "x-expired") == []
    page.get_by_role("button", name="Sign in", exact=True).click()
    again = page.get_by_role("dialog", name="Sign in again")
    again.get_by_text("Use a token").click()
    again.get_by_role("textbox", name="Token").fill(server.token("x-expired"))
    again.get_by_role("button", name="Use token").click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")
    assert [each["eventId"] for each in requests_of(server, "x-expired")] == [event]


def test_after_a_new_sign_in_the_streams_go_on_with_what_was_missed(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Missed", capacityTotal=1)
    first = post(server, "x-has-it", f"events/{event}/requests")
    page = open_page()
    page.add_init_script(END_STREAMS)
    open_as(page, server, "x-waits", f"#/events/{event}")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You are on the waiting list")
    end_streams(page, 2, lambda: forget_token(page))  # the streams of the ticket and of the seats
    expect(page.locator(".toast.wrong")).to_contain_text("What you see may be out of date.")
    headers = {"Authorization": f"Bearer {server.token('x-has-it')}"}
    httpx.delete(f"{server.url}/events/api/requests/{first['requestId']}", headers=headers).raise_for_status()
    expect(page.locator(".toast.wrong")).to_have_count(1)  # both streams report it, and the page shows it once
    page.get_by_role("button", name="Sign in", exact=True).click()
    again = page.get_by_role("dialog", name="Sign in again")
    again.get_by_text("Use a token").click()
    again.get_by_role("textbox", name="Token").fill(server.token("x-waits"))
    again.get_by_role("button", name="Use token").click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")
    expect(page.locator(".toast.wrong")).to_have_count(0)


def test_what_is_done_in_one_tab_the_other_shows(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Twice open")
    page = open_as(open_page(), server, "x-tabs", f"#/events/{event}")
    other = open_as(page.context.new_page(), server, "x-tabs", f"#/events/{event}")
    expect(page.get_by_role("button", name="Apply", exact=True)).to_be_enabled()
    expect(other.get_by_role("button", name="Apply", exact=True)).to_be_enabled()
    page.get_by_role("button", name="Apply", exact=True).click()
    for tab in (page, other):
        expect(ticket(tab).get_by_role("heading")).to_have_text("You have a seat")
    other.get_by_role("button", name="Cancel my request").click()
    other.get_by_role("button", name="Give the seat back?").click()
    for tab in (other, page):
        expect(ticket(tab).get_by_role("heading")).to_have_text("Cancelled")
    page.get_by_role("button", name="Apply again").click()
    for tab in (page, other):
        expect(ticket(tab).get_by_role("heading")).to_have_text("You have a seat")
    assert len(requests_of(server, "x-tabs")) == 2  # the cancelled request, and the new one


def test_a_double_click_makes_one_event(open_page: OpenPage, server: Server) -> None:
    page = open_as(open_page(), server, "boss", "#/operate", "operator")
    page.get_by_role("button", name="New event").click()
    page.get_by_label("Name").fill("Once")
    made = Held(page, "**/api/events")
    page.get_by_role("button", name="Create").dblclick()
    page.get_by_role("button", name="Create").click()
    expect(page.locator("form[aria-busy]")).to_be_visible()
    made.wait()
    assert len(made) == 1
    made.release()
    expect(page.get_by_role("heading", name="Once", exact=True)).to_be_visible()


def test_who_is_promoted_is_told_at_once(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Promotion", capacityTotal=1)
    first = post(server, "x-first", f"events/{event}/requests")
    page = open_as(open_page(), server, "x-second", f"#/events/{event}")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You are on the waiting list")
    headers = {"Authorization": f"Bearer {server.token('x-first')}"}
    httpx.delete(f"{server.url}/events/api/requests/{first['requestId']}", headers=headers).raise_for_status()
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")
    expect(page.locator(".toast .text").last).to_have_text("A seat was freed, and it is yours.")


def test_the_clock_is_the_servers(open_page: OpenPage, server: Server) -> None:
    event = create(server, "On time")
    page = open_page()
    page.clock.install(time="2001-01-01T00:00:00Z")
    open_as(page, server, "x-clock", f"#/events/{event}")
    expect(page.locator(".hero .chip")).to_have_text("Open")
    expect(page.get_by_role("button", name="Apply", exact=True)).to_be_enabled()


def test_a_rubbish_token_leads_to_the_sign_in(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.add_init_script("sessionStorage.setItem('partita-token', 'rubbish')")
    page.goto(f"{server.url}/events/")
    expect(page.get_by_role("button", name="Sign in as a demo user")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_text("Sign in to continue.")


def test_the_steps_of_a_request_can_be_read(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Logged", keepsLog=True)
    page = open_as(open_page(), server, "x-log", f"#/events/{event}")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")
    page.get_by_text("What happened, step by step").click()
    expect(page.locator(".log li").last).to_contain_text("Won")


def test_an_event_whose_name_cannot_be_read_is_not_called_gone(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Unread")
    post(server, "x-unread", f"events/{event}/requests")
    page = open_as(open_page(), server, "x-unread")
    page.route(f"**/api/events/{event}", lambda route: route.abort("connectionrefused"))
    page.goto(f"{server.url}/events/#/mine")
    again = page.locator("main").get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    expect(page.get_by_text("no longer exists")).to_have_count(0)
    page.unroute(f"**/api/events/{event}")
    again.click()
    expect(page.get_by_role("link", name="Unread")).to_be_visible()


def test_an_event_that_was_deleted_is_called_gone(open_page: OpenPage, server: Server) -> None:
    event = create(server, "Deleted")
    post(server, "x-gone", f"events/{event}/requests")
    page = open_as(open_page(), server, "x-gone")
    page.route(f"**/api/events/{event}", lambda route: route.fulfill(status=404, json={"code": "not_found"}))
    page.goto(f"{server.url}/events/#/mine")
    expect(page.get_by_role("link", name="An event that no longer exists")).to_be_visible()
