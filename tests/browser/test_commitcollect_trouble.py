"""CommitCollect in trouble: lost, slow and rejected requests, a killed server, two tabs, thousands of rows."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import PATIENCE, Server, serving
from tests.browser.pretended import Pretended, event, tell, workout
from tests.browser.streams import END_STREAMS, end_streams
from tests.browser.test_axe import violations
from tests.browser.test_commitcollect import ROBIN, commit, log_in, train

OpenPage = Callable[..., Page]

pytestmark = [pytest.mark.req("C30"), pytest.mark.req("X17")]

TO_THE_END = """([feed, last]) => {
    feed.scrollTop = feed.scrollHeight;  // again and again: what comes meanwhile is below it
    return feed.querySelector(".more").hidden && feed.textContent.includes(last);
}"""
TOP = "row => row.getBoundingClientRect().top"


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("commitcollect")


@pytest.fixture
def address(server: Server) -> str:
    return f"{server.url}/commitcollect/"


def feed(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def read_to_the_end(feed: Locator, last: str) -> None:
    feed.page.wait_for_function(TO_THE_END, arg=[feed.element_handle(), last], timeout=5 * PATIENCE)


def begin(page: Page, title: str) -> Locator:
    """Open the dialog for a new milestone, and enter a title."""
    page.get_by_role("button", name="New milestone").click()
    dialog = page.get_by_role("dialog", name="New milestone")
    dialog.get_by_label("Title").fill(title)
    return dialog


def looked(page: Page, times: int = 2) -> None:
    """Have the page refresh, twice by default: when the second response comes, the first refresh has been drawn."""
    for _ in range(times):
        with page.expect_response("**/api/workouts?*"):
            tell(page)


def test_of_thousands_those_near_the_screen_are_drawn_and_nothing_jumps(open_page: OpenPage, address: str) -> None:
    page = open_page()
    pretended = Pretended(page.context, workouts=5000, events=5000, past=150)
    page.goto(address)
    workouts = feed(page, "Your workouts")
    expect(workouts.get_by_text("Run 0", exact=True)).to_be_visible()
    assert workouts.locator("li").count() < 200
    read_to_the_end(workouts, "Run 4999")
    last = workouts.get_by_text("Run 4999", exact=True)
    expect(last).to_be_visible()
    assert workouts.locator("li").count() < 200
    workouts.focus()
    before = last.evaluate(TOP)
    pretended.workouts.insert(0, {**workout(0), "activity_id": "new", "name": "Brand new"})
    looked(page)
    assert last.evaluate(TOP) == pytest.approx(before, abs=2)  # ignore fractions of a pixel
    expect(workouts).to_be_focused()
    workouts.evaluate("feed => { feed.scrollTop = 0; }")
    expect(workouts.get_by_text("Brand new")).to_be_visible()

    page.get_by_text("What happened in this account", exact=True).click()
    trail = feed(page, "What happened in this account")
    expect(trail.get_by_text("Stone 0", exact=False).first).to_be_visible()
    read_to_the_end(trail, "Stone 4999")
    expect(trail.get_by_text("Earned a part of the lighthouse: Stone 4999")).to_be_visible()
    assert trail.locator("li").count() < 250
    pretended.events.insert(0, {**event(0), "request_id": "new"})
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280

    page.get_by_text("Past milestones").click()
    page.get_by_role("button", name="Show more").last.scroll_into_view_if_needed()
    expect(page.get_by_text("Past milestones (150)")).to_be_visible()


def test_an_answer_that_was_lost_makes_one_milestone(open_page: OpenPage, address: str) -> None:
    page = open_page()
    pretended = Pretended(page.context)
    page.goto(address)
    dialog = begin(page, "Once")
    pretended.lost = 2  # the page retries once
    dialog.get_by_role("button", name="Commit to it").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    expect(dialog.get_by_label("Title")).to_have_value("Once")
    dialog.get_by_role("button", name="Commit to it").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("article", name="Once")).to_have_count(1)
    assert len(pretended.keys) == 1
    expect(page.locator(".connection-bar")).to_be_empty()


def test_a_slow_look_shows_nothing_older_than_a_change_or_a_farewell(open_page: OpenPage, address: str) -> None:
    page = open_page()
    pretended = Pretended(page.context)
    pretended.held["workouts"] = []
    page.goto(address)
    expect(page.get_by_role("status").filter(has_text="Loading")).to_be_attached()  # placeholders while it loads
    page.wait_for_function("() => document.querySelector('.skeleton')")
    while not pretended.held["workouts"]:
        page.wait_for_timeout(20)
    pretended.release("workouts")
    expect(page.get_by_text("An empty shelf is a good beginning")).to_be_visible()

    pretended.held["me"] = []
    tell(page)
    while not pretended.held["me"]:
        page.wait_for_timeout(20)
    old = pretended.held.pop("me")  # requests that were sent before the change
    dialog = begin(page, "Newer")
    dialog.get_by_role("button", name="Commit to it").click()
    card = page.get_by_role("article", name="Newer")
    expect(card).to_be_visible()
    for route in old:
        route.fulfill(status=401, json={"code": "unauthenticated", "detail": "You are out."})
    looked(page)
    expect(card).to_be_visible()

    pretended.held["me"] = []
    tell(page)
    while not pretended.held["me"]:
        page.wait_for_timeout(20)
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    pretended.release("me", status=401, json={"code": "unauthenticated", "detail": "You are out."})
    page.wait_for_timeout(50)
    expect(page.get_by_text("You are signed out.")).to_be_visible()


def test_what_cannot_be_read_is_tried_again(open_page: OpenPage, address: str) -> None:
    page = open_page()
    pretended = Pretended(page.context)
    pretended.status["me"] = 503
    page.goto(address)
    expect(page.get_by_role("alert")).to_contain_text("The service is in trouble right now.")
    pretended.status.clear()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name="New milestone")).to_be_visible()
    pretended.status["workouts"] = 503  # during a refresh: the content stays, and a warning is shown
    tell(page)
    expect(page.locator(".stale")).to_contain_text("This may be out of date.")
    expect(page.get_by_role("button", name="New milestone")).to_be_visible()
    pretended.status.clear()
    expect(page.locator(".stale")).to_be_empty()


def test_what_one_tab_changes_the_other_shows(open_page: OpenPage, address: str) -> None:
    page = open_page()
    Pretended(page.context)
    other = page.context.new_page()
    for each in (page, other):
        each.goto(address)
        expect(each.get_by_role("button", name="New milestone")).to_be_visible()
    written = begin(other, "Half a word")  # text typed here must stay
    begin(page, "From the first").get_by_role("button", name="Commit to it").click()
    expect(other.get_by_role("article", name="From the first")).to_be_attached()
    expect(written.get_by_label("Title")).to_have_value("Half a word")
    written.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(other.get_by_text("You are signed out.")).to_be_visible()


def test_who_is_logged_out_meanwhile_logs_in_and_loses_no_word(
    open_page: OpenPage, server: Server, address: str
) -> None:
    page = open_page()
    page.add_init_script(END_STREAMS)
    log_in(page, address, ROBIN)
    dialog = begin(page, "Kept words")
    end_streams(page, 1, page.context.clear_cookies)
    dialog.get_by_role("button", name="Commit to it").click()
    expect(dialog.get_by_role("alert")).to_contain_text("You are not signed in.")
    assert violations(page) == {}
    dialog.get_by_role("button", name="Sign in again").click()
    again = page.get_by_role("dialog", name="Sign in again")
    with page.context.expect_page() as opened:
        again.get_by_role("button", name="Sign in with Strava").click()
    opened.value.get_by_label(ROBIN).check()
    opened.value.get_by_role("button", name="Authorize").click()
    expect(again).to_have_count(0)
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("article", name="Kept words")).to_have_count(1)
    train(page, server, 1002, sport_type="Ride", name="After the sign-in")  # the stream is open again
    expect(feed(page, "Your workouts").get_by_text("After the sign-in").first).to_be_visible()


def test_a_server_that_was_killed_comes_back(open_page: OpenPage, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("killed")
    page = open_page()
    with serving("commitcollect", data) as first:
        log_in(page, f"{first.url}/commitcollect/", ROBIN)
        commit(page, "Before", "Lighthouse", metric="Distance", target="5000", sport="Ride")
        dialog = begin(page, "While it is away")
        simulator, models = page.context.new_page(), page.context.new_page()
        simulator.goto(f"{first.url}/strava-simulator/")
        expect(simulator.get_by_role("article", name=ROBIN)).to_be_visible()
        models.add_init_script(f"sessionStorage.setItem('partita-token', '{first.token('boss', 'operator')}')")
        models.goto(f"{first.url}/commitcollect/operate.html")
        models.get_by_role("article", name="Lighthouse").get_by_role("button", name="Edit").click()
        models.get_by_label("Story").fill("It stood while the server was away.")
    for tab in (page, simulator):
        expect(tab.locator(".connection-bar")).to_contain_text("Connection lost")
    expect(simulator.get_by_role("article", name=ROBIN)).to_be_visible()  # the content stays
    dialog.get_by_role("button", name="Commit to it").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    assert violations(page) == {}
    models.get_by_role("button", name="Save").click()
    expect(models.get_by_role("dialog").get_by_role("alert")).to_contain_text("The server cannot be reached.")
    with serving("commitcollect", data, "--port", str(urlsplit(first.url).port)):
        for tab in (page, simulator, models):
            expect(tab.locator(".connection-bar")).to_be_empty()
        dialog.get_by_role("button", name="Commit to it").click()
        expect(page.get_by_role("article", name="While it is away")).to_be_visible()
        expect(page.get_by_role("article", name="Before")).to_be_visible()
        simulator.get_by_role("button", name="Reset counts").click()
        expect(simulator.get_by_text("The counts were reset to zero.")).to_be_visible()
        models.get_by_role("button", name="Save").click()
        expect(models.get_by_text("It stood while the server was away.")).to_be_visible()


@pytest.mark.req("C13")
def test_an_operator_who_is_not_known_any_more_signs_in_and_has_saved(
    open_page: OpenPage, server: Server, address: str
) -> None:
    page = open_page()
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('boss', 'operator')}')")
    page.route("**/api/models", lambda route: route.fulfill(status=503))
    page.goto(f"{address}operate.html")
    expect(page.get_by_role("alert")).to_contain_text("The service is in trouble right now.")
    page.unroute("**/api/models")
    page.get_by_role("button", name="Try again").click()
    other = page.context.new_page()
    other.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('boss', 'operator')}')")
    other.goto(f"{address}operate.html")
    expect(other.get_by_role("article", name="Lighthouse")).to_be_visible()
    page.get_by_role("article", name="Lighthouse").get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit Lighthouse")
    dialog.get_by_label("Story").fill("It stands where the land ends, still.")
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    dialog.get_by_role("button", name="Save").click()
    dialog.get_by_role("button", name="Sign in again").click()
    again = page.get_by_role("dialog", name="Sign in again")
    again.get_by_text("Use a token").click()
    again.get_by_role("textbox", name="Token").fill(server.token("ann"))
    again.get_by_role("button", name="Use token").click()
    expect(again.get_by_role("alert")).to_have_text("This is not the token of an operator.")
    again.get_by_role("textbox", name="Token").fill(server.token("boss", "operator"))
    again.get_by_role("button", name="Use token").click()
    expect(page.get_by_text("Lighthouse is saved.")).to_be_visible()
    for tab in (page, other):
        expect(tab.get_by_text("It stands where the land ends, still.")).to_be_visible()
