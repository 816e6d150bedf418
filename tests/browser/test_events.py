"""Events in a real browser: a user sees a decision arrive, an operator watches a load test and holds a draw."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Server, in_both_schemes
from tests.browser.test_countries import CONTRAST

OpenPage = Callable[..., Page]
SignIn = Callable[..., Page]

pytestmark = pytest.mark.req("E12")

STORM = "from partita.cli import main; main()"
USERS, SEATS = 300, 40


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("events")


@pytest.fixture
def sign_in(open_page: OpenPage, server: Server) -> SignIn:
    """A function that opens the pages of a signed-in caller."""

    def sign_in(user: str, role: str = "user", *size: int, dark: bool = False, at: str = "") -> Page:
        page = open_page(*size, dark=dark)
        page.goto(f"{server.url}/events/{at}")
        page.get_by_text("Use a token").click()
        page.get_by_role("textbox", name="Token").fill(server.token(user, role))
        page.get_by_role("button", name="Use token").click()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        return page

    return sign_in


def create(server: Server, name: str, **fields: Any) -> str:
    now = datetime.now(UTC)
    draft = {
        "name": name,
        "eventType": "FIRST_COME",
        "capacityTotal": 2,
        "opensAt": (now - timedelta(minutes=1)).isoformat(),
        "closesAt": (now + timedelta(hours=1)).isoformat(),
    }
    return str(post(server, "boss", "events", "operator", **{**draft, **fields})["eventId"])


def post(server: Server, user: str, path: str, role: str = "user", **body: Any) -> Any:
    headers = {"Authorization": f"Bearer {server.token(user, role)}"}
    response = httpx.post(f"{server.url}/events/api/{path}", json=body or None, headers=headers)
    assert response.is_success, response.text
    return response.json()


def ticket(page: Page) -> Any:
    return page.get_by_role("region", name="Your request")


def outcome(page: Page, status: str) -> Any:
    """The cell with the number of requests of a status, in the table of outcomes."""
    rows = page.get_by_role("region", name="Outcomes").get_by_role("row")
    return rows.filter(has=page.get_by_role("rowheader", name=status, exact=True)).locator(".count")


def test_a_user_applies_and_sees_the_decision_without_reloading(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Live music", keepsLog=True)
    page = sign_in("ada", at=f"#/events/{event}")
    loads: list[str] = []
    page.on("load", lambda _: loads.append(page.url))
    expect(page.get_by_text("2 of 2 seats left")).to_be_visible()
    page.get_by_role("button", name="Apply").click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")
    expect(page.get_by_text("1 of 2 seats left")).to_be_visible()
    assert loads == []

    page.get_by_role("link", name="My requests").click()
    row = page.get_by_role("link", name="Live music")
    expect(row).to_contain_text("Won")
    row.click()
    expect(ticket(page)).to_contain_text("You have a seat")


def test_who_comes_too_late_is_told_so(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Small room", freedSeats="RELEASE")
    for user in ("early-1", "early-2"):
        post(server, user, f"events/{event}/requests")
    page = sign_in("late", at=f"#/events/{event}")
    page.get_by_role("button", name="Apply").click()
    expect(ticket(page).get_by_role("heading")).to_have_text("All seats were taken before your turn")
    expect(page.get_by_text("All 2 seats taken")).to_be_visible()


def test_a_seat_can_be_given_back(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Given back")
    page = sign_in("bea", at=f"#/events/{event}")
    page.get_by_role("button", name="Apply").click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")
    page.get_by_role("button", name="Cancel my request").click()
    page.get_by_role("button", name="Give the seat back?").click()
    expect(ticket(page).get_by_role("heading")).to_have_text("Cancelled")
    expect(page.get_by_text("2 of 2 seats left")).to_be_visible()
    page.get_by_role("button", name="Apply again").click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")


def test_the_focus_goes_to_the_ticket_when_its_button_is_gone(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Keys only")
    page = sign_in("keys", at=f"#/events/{event}")
    page.get_by_role("button", name="Apply").press("Enter")
    expect(ticket(page)).to_be_focused()
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Cancel my request")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(ticket(page).get_by_role("heading")).to_have_text("Cancelled")
    expect(ticket(page)).to_be_focused()


@pytest.mark.req("E13")
def test_an_operator_watches_a_storm_on_the_chart(sign_in: SignIn, server: Server) -> None:
    page = sign_in("boss", "operator", at="#/operate")
    sizes = ["--users", str(USERS), "--capacity", str(SEATS), "--connections", "16"]
    command = [sys.executable, "-c", STORM, "events", "storm", *sizes, "--url", server.url, "--data", str(server.data)]
    storm = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    page.get_by_role("link", name=f"Storm of {USERS}").click()
    decided = page.locator(".bars rect:not([height='0'])")
    expect(decided.first).to_be_attached()
    expect(outcome(page, "Won")).to_have_text(str(SEATS))
    expect(outcome(page, "Not won")).to_have_text(str(USERS - SEATS))
    expect(page.get_by_text("everything is decided")).to_be_visible()
    audited, _ = storm.communicate(timeout=240)
    assert (storm.returncode, "Every invariant holds." in audited) == (0, True)

    chips = page.locator(".requests tbody tr:nth-child(-n + 60) .chip")
    expect(chips).to_have_text(["Won"] * SEATS + [f"Waiting list, {place + 1}" for place in range(60 - SEATS)])


def test_an_operator_downloads_the_outcomes(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Exported")
    page = sign_in("boss", "operator", at=f"#/operate/{event}")
    for user in ("ann", "ben", "cleo"):
        post(server, user, f"events/{event}/requests")
    expect(page.locator(".requests .chip")).to_have_text(["Won", "Won", "Waiting list, 1"])
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8").splitlines()))
    assert [(row["userId"], row["status"]) for row in rows] == [
        ("ann", "SUCCEEDED"),
        ("ben", "SUCCEEDED"),
        ("cleo", "REJECTED"),
    ]


def test_an_operator_sees_the_last_minute_go_on_while_no_figures_arrive(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Told once")
    for user in ("ann", "ben"):
        post(server, user, f"events/{event}/requests")
    page = sign_in("boss", "operator", at=f"#/operate/{event}")
    expect(outcome(page, "Won")).to_have_text("2")
    stream = iter([sent_once(server, event)])
    page.route("**/figures/stream", lambda route: route.fulfill(**next(stream, {"status": 404, "json": {}})))
    pages = iter(range(3))  # before any figures arrive, and after each of the two that do
    page.route("**/requests?*", lambda route: first_rows(next(pages), route))
    page.reload()
    expect(page.locator(".bars rect:not([height='0'])")).to_have_count(1)
    expect(page.locator(".bars rect").last).to_have_attribute("height", "0")
    expect(page.locator(".requests tbody tr")).to_have_count(2)


def sent_once(server: Server, event: str) -> dict[str, Any]:
    """The response of a stream that sends two decisions, one right after the other, and ends."""
    headers = {"Authorization": f"Bearer {server.token('boss', 'operator')}"}
    figures = httpx.get(f"{server.url}/events/api/events/{event}/figures", headers=headers).json()
    seconds = [{"second": figures["at"], "decided": 2}]
    sent = [figures | {"requests": count, "backlog": 0, "seconds": seconds} for count in (1, 2)]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in sent)
    return {"status": 200, "content_type": "text/event-stream", "body": body}


def first_rows(count: int, route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, json=answer.json() | {"items": answer.json()["items"][:count]})


def test_an_address_that_names_nothing_is_no_event(sign_in: SignIn) -> None:
    page = sign_in("ada", at="#/events/%E0%A4%A")
    expect(page.get_by_role("alert").get_by_role("heading", level=1)).to_have_text("There is no such event")
    expect(page).to_have_title("There is no such event · Events")


def test_an_operator_makes_an_event(sign_in: SignIn) -> None:
    page = sign_in("boss", "operator", at="#/operate")
    page.get_by_role("button", name="New event").click()
    dialog = page.get_by_role("dialog", name="New event")
    dialog.get_by_label("Name").fill("Allotments")
    dialog.get_by_label("Lottery").check()
    dialog.get_by_label("Seats").fill("3")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Allotments")).to_be_visible()
    expect(page.get_by_role("button", name="Hold the draw")).to_be_disabled()


@pytest.mark.req("E05")
def test_an_operator_holds_a_draw_and_verifies_it(sign_in: SignIn, server: Server) -> None:
    closes = (datetime.now(UTC) + timedelta(seconds=6)).isoformat()
    event = create(server, "Drawn", eventType="LOTTERY", closesAt=closes)
    for number in range(5):
        post(server, f"player-{number}", f"events/{event}/requests")
    player = sign_in("player-0", at=f"#/events/{event}")
    expect(ticket(player).get_by_role("heading")).to_have_text("You take part in the draw")
    page = sign_in("boss", "operator", at=f"#/operate/{event}")
    expect(outcome(page, "Taking part")).to_have_text("5")
    draw = page.get_by_role("region", name="Draw")
    draw.get_by_role("button", name="Hold the draw").click()  # Playwright waits until the button is enabled
    expect(draw).to_contain_text("2 winners, 3 on the waiting list")
    draw.get_by_role("button", name="Verify in this browser").click()
    expect(draw.locator(".checks .holds")).to_have_count(5)
    expect(outcome(page, "Won")).to_have_text("2")
    expect(ticket(player).get_by_role("heading")).to_have_text(
        re.compile("You have a seat|You are on the waiting list")
    )
    expect(player.get_by_role("button", name="Verify in this browser")).to_be_visible()


@pytest.mark.req("E14")
def test_whoever_waits_sees_the_seat_come(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Waited for", capacityTotal=1)
    first = post(server, "early", f"events/{event}/requests")
    page = sign_in("late", at=f"#/events/{event}")
    page.get_by_role("button", name="Apply").click()
    expect(ticket(page).get_by_role("heading")).to_have_text("You are on the waiting list")
    headers = {"Authorization": f"Bearer {server.token('early')}"}
    assert httpx.delete(f"{server.url}/events/api/requests/{first['requestId']}", headers=headers).is_success
    expect(ticket(page).get_by_role("heading")).to_have_text("You have a seat")


@pytest.mark.req("E15")
def test_an_operator_edits_an_event_and_cancels_it(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Garden party")
    post(server, "guest", f"events/{event}/requests")
    page = sign_in("boss", "operator", at=f"#/operate/{event}")
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit the event")
    dialog.get_by_label("Seats").fill("9")
    dialog.get_by_label("Name").fill("Garden feast")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Garden feast")).to_be_visible()
    page.get_by_role("button", name="Cancel the event").click()
    dialog = page.get_by_role("dialog", name="Cancel the event")
    dialog.get_by_label("Reason").fill("Rain.")
    dialog.get_by_role("button", name="Cancel the event").click()
    expect(page.get_by_text("Cancelled: Rain.")).to_be_visible()
    expect(page.get_by_text("Was to close")).to_be_visible()
    guest = sign_in("guest", at=f"#/events/{event}")
    expect(guest.get_by_text("Cancelled: Rain.")).to_be_visible()


@pytest.mark.req("E15")
def test_a_cancelled_lottery_has_no_draw(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Garden lots", eventType="LOTTERY")
    page = sign_in("boss", "operator", at=f"#/operate/{event}")
    draw = page.get_by_role("region", name="Draw")
    expect(draw).to_contain_text("The draw can be held when the event has closed")
    page.get_by_role("button", name="Cancel the event").click()
    dialog = page.get_by_role("dialog", name="Cancel the event")
    dialog.get_by_label("Reason").fill("Rain.")
    dialog.get_by_role("button", name="Cancel the event").click()
    guest = sign_in("guest", at=f"#/events/{event}")
    for each in (draw, guest.get_by_role("region", name="Draw")):
        expect(each).to_contain_text("There is no draw, because the event was cancelled.")
        expect(each.get_by_role("button")).to_have_count(0)


def test_an_event_that_would_close_before_it_opens_is_refused_at_the_field(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Backwards")
    page = sign_in("boss", "operator", at="#/operate")
    page.get_by_role("button", name="New event").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Yesterday")
    for sends in ("Create", "Save"):
        dialog.get_by_label("Closes", exact=True).fill("2020-01-01T00:00")
        dialog.get_by_role("button", name=sends).click()
        expect(dialog.locator("[data-field=closesAt] .wrong")).to_have_text("Choose a time after the opening.")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        if sends == "Create":
            page.goto(f"{server.url}/events/#/operate/{event}")
            page.get_by_role("button", name="Edit").click()


@pytest.mark.req("E16")
def test_a_draw_with_a_value_from_outside(sign_in: SignIn, server: Server) -> None:
    closes = (datetime.now(UTC) + timedelta(seconds=4)).isoformat()
    event = create(server, "Beyond doubt", eventType="LOTTERY", closesAt=closes, entropySource="tomorrow's numbers")
    post(server, "player", f"events/{event}/requests")
    page = sign_in("boss", "operator", at=f"#/operate/{event}")
    expect(outcome(page, "Taking part")).to_have_text("1")
    draw = page.get_by_role("region", name="Draw")
    draw.get_by_role("button", name="Hold the draw").click()  # Playwright waits until the button is enabled
    expect(draw).to_contain_text("The entries are frozen.")
    draw.get_by_role("textbox").fill("4 8 15 16 23 42")
    draw.get_by_role("button", name="Draw with this value").click()
    draw.get_by_role("button", name="Verify in this browser").click()
    expect(draw.locator(".checks .holds")).to_have_count(6)
    expect(draw.locator(".checks .fails")).to_have_count(0)


@pytest.mark.req("E05")
def test_a_draw_is_verified_in_the_browser(sign_in: SignIn, server: Server) -> None:
    page = sign_in("demo")
    page.get_by_role("link", name="Rooftop garden").click()
    draw = page.get_by_role("region", name="Draw")
    draw.get_by_role("button", name="Verify in this browser").click()
    expect(draw.locator(".checks .holds")).to_have_count(5)
    expect(draw.locator(".checks .fails")).to_have_count(0)


@pytest.mark.req("E05")
def test_a_draw_that_was_tampered_with_is_found_out(sign_in: SignIn) -> None:
    page = sign_in("demo")
    page.get_by_role("link", name="Rooftop garden").click()
    draw = page.get_by_role("region", name="Draw")
    for changed in ("seed", "winners", "waitingList", "entriesHash", "commitment"):
        page.route("**/draw", partial(tampered, changed))
        page.reload()
        draw.get_by_role("button", name="Verify in this browser").click()
        expect(draw.locator(".checks .fails").first).to_be_visible()
        page.unroute_all(behavior="wait")


def tampered(changed: str, route: Route) -> None:
    answer = route.fetch()
    body = answer.json()
    body[changed] = body[changed][::-1]
    route.fulfill(response=answer, json=body)


def test_on_a_phone_nothing_is_wider_than_the_screen(sign_in: SignIn, server: Server) -> None:
    event = create(server, "Pocket size")
    page = sign_in("boss", "operator", 390, 844)
    for at in ("#/", "#/mine", "#/operate", f"#/events/{event}", f"#/operate/{event}"):
        page.goto(f"{server.url}/events/{at}")
        expect(page.locator("h1:not(.loading)")).to_be_visible()
        for width in (390, 320):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_long_name_covers_no_link(sign_in: SignIn) -> None:
    """Playwright clicks a link only when nothing covers it."""
    page = sign_in("somebody-" + "x" * 90, "operator")
    for width in (1280, 768, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for name in ("Operate", "My requests", "Events"):
            link = page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True)
            link.click()
            expect(link).to_have_attribute("aria-current", "page")


def test_every_text_can_be_read(sign_in: SignIn, server: Server) -> None:
    page = sign_in("demo", "operator")
    for at in ("#/", "#/mine", "#/operate"):
        page.goto(f"{server.url}/events/{at}")
        expect(page.locator(".page a").first).to_be_visible()
        assert {scheme: page.evaluate(CONTRAST) for scheme in in_both_schemes(page)} == {"light": [], "dark": []}
    page.get_by_role("link", name="Rooftop garden").click()
    expect(page.locator(".requests .chip").first).to_be_visible()
    assert {scheme: page.evaluate(CONTRAST) for scheme in in_both_schemes(page)} == {"light": [], "dark": []}


def test_the_pages_load_nothing_from_elsewhere(sign_in: SignIn, server: Server) -> None:
    page = sign_in("demo")
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.reload()
    page.get_by_role("link", name="Opening night").click()
    expect(page.get_by_role("heading", name="Opening night")).to_be_visible()
    assert hosts == {urlsplit(server.url).netloc}


def test_the_console_names_both_of_its_queues(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/")
    note = page.locator(".card .note")
    expect(note).to_contain_text(re.compile(r"queue events: \d+ waiting .* queue events-notices: \d+ waiting"))
