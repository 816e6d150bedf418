"""The Strava simulator's page in a real browser: typed text and the focus stay, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Server
from tests.browser.test_commitcollect_trouble import read_to_the_end

OpenPage = Callable[..., Page]

pytestmark = [pytest.mark.req("C08"), pytest.mark.req("X17")]


@pytest.fixture
def address(serve: Callable[[str], Server]) -> str:
    return f"{serve('commitcollect').url}/strava-simulator/"


def looked(page: Page) -> None:
    for _ in range(2):
        with page.expect_response(lambda response: response.url.endswith("/control")):
            pass


def test_a_workout_is_renamed_and_that_is_undone(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.route("**/control", lambda route: route.fulfill(status=503))
    page.goto(address)
    expect(page.get_by_role("alert")).to_contain_text("The service is in trouble right now.")
    page.unroute("**/control")
    page.get_by_role("button", name="Try again").click()
    sam = page.get_by_role("article", name="Sam Hiker")
    sam.get_by_text("Workouts", exact=True).click()
    name = sam.locator("li strong").first
    before = name.inner_text()
    other = page.context.new_page()
    other.goto(address)
    elsewhere = other.get_by_role("article", name="Sam Hiker").locator("li strong").first
    expect(elsewhere).to_have_text(before)
    sam.get_by_role("button", name="Rename").first.click()
    dialog = page.get_by_role("dialog", name="Rename the workout")
    dialog.get_by_label("Name").fill("Over the <ridge>")
    looked(page)
    expect(dialog.get_by_label("Name")).to_have_value("Over the <ridge>")
    page.route("**/control/activities/*", lambda route: route.abort("connectionrefused"))
    dialog.get_by_role("button", name="Rename").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    page.unroute("**/control/activities/*")
    dialog.get_by_role("button", name="Rename").click()
    for tab in (name, elsewhere):
        expect(tab).to_have_text("Over the <ridge>")
    page.get_by_role("button", name="Undo").click()
    for tab in (name, elsewhere):
        expect(tab).to_have_text(before)
    hide = sam.get_by_role("button", name="Hide").first
    hide.focus()
    looked(page)
    expect(hide).to_be_focused()
    page.keyboard.press("Enter")
    expect(
        sam.get_by_role("button", name="Show").first
    ).to_be_focused()  # the row is drawn again, and the focus stays there
    page.keyboard.press("Enter")
    expect(sam.get_by_role("button", name="Hide").first).to_be_focused()


def test_what_was_refused_is_tried_again(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.goto(address)
    page.route("**/control/limits/reset", lambda route: route.fulfill(status=400, json={"errors": [{"code": "x"}]}))
    page.get_by_role("button", name="Reset counts").click()
    expect(page.locator(".toast.wrong")).to_contain_text("Nothing was changed.")
    page.unroute("**/control/limits/reset")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("The counts were reset to zero.")).to_be_visible()


def test_thousands_of_workouts_are_reached(open_page: OpenPage, address: str) -> None:
    page = open_page()

    def activity(number: int) -> dict[str, Any]:
        some = {"sport_type": "Run", "distance": 1000.0, "start_date_local": "2026-05-01T08:00:00Z"}
        return {"id": number, "name": f"Run {number}", "manual": False, "flagged": False, "private": False} | some

    def older(route: Route) -> None:
        start = int(parse_qs(urlsplit(route.request.url).query)["cursor"][0])
        more = str(start + 100) if start + 100 < 5000 else None
        route.fulfill(json={"items": [activity(each) for each in range(start, start + 100)], "next_cursor": more})

    def state(route: Route) -> None:
        shown = route.fetch().json()
        shown["athletes"] = shown["athletes"][:1]
        shown["athletes"][0] |= {"activities": [activity(each) for each in range(40)], "next_cursor": "40"}
        route.fulfill(json=shown)

    page.route("**/control", state)
    page.route("**/control/athletes/*/activities?*", older)
    page.goto(address)
    page.get_by_text("Workouts", exact=True).click()
    feed = page.get_by_role("region", name="Workouts of Alex")
    read_to_the_end(feed, "Run 5039")
    expect(feed.get_by_text("Run 5039", exact=True)).to_be_visible()
    assert feed.locator("li").count() < 200


def test_messages_on_the_way_are_counted_in_a_sentence(open_page: OpenPage, address: str) -> None:
    page = open_page()
    underway = 1

    def pretend(route: Route) -> None:
        state = route.fetch().json()
        outcome = {"event": {"object_type": "activity", "aspect_type": "create", "object_id": 15_000_002_808}}
        outcomes = [outcome | {"attempt": 1, "status": 200}]
        route.fulfill(json=state | {"underway": underway, "outcomes": outcomes})

    page.route("**/control", pretend)
    page.goto(address)
    expect(page.get_by_text("1 message is on the way", exact=True)).to_be_visible()
    is_one_line = "chip => chip.offsetHeight < 3 * parseFloat(getComputedStyle(chip).fontSize)"
    assert page.locator(".events .chip").evaluate(is_one_line)
    underway = 2
    expect(page.get_by_text("2 messages are on the way", exact=True)).to_be_visible()
