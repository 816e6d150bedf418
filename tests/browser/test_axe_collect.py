"""axe finds no violation in any state of CommitCollect's pages and its simulator, which fit 320 pixels."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server
from tests.browser.held import Held
from tests.browser.pretended import Pretended, milestone, tell
from tests.browser.test_axe import violations

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("commitcollect")


def check(page: Page, state: str) -> None:
    """Check that axe finds no violation in the page's current state, and that it fits the narrowest phone."""
    assert (state, violations(page)) == (state, {})
    page.set_viewport_size({"width": 320, "height": 700})
    page.wait_for_function("() => document.documentElement.scrollWidth <= 320")  # scripts react to the new width later
    page.set_viewport_size({"width": 1280, "height": 844})


def test_the_dashboard(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/commitcollect/?problem=access_denied")
    expect(page.get_by_role("link", name="Connect with Strava")).to_be_visible()
    check(page, "signed out, with a problem")
    pretended = Pretended(page.context, workouts=250, events=250, past=3)
    pretended.held["me"] = []
    page.reload()
    expect(page.locator(".skeleton")).to_be_visible()
    check(page, "loading")
    pretended.held.clear()
    pretended.status["me"] = 503
    page.reload()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    check(page, "error")
    pretended.status.clear()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("An empty shelf is a good beginning")).to_be_visible()
    check(page, "empty")
    page.get_by_role("button", name="New milestone").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page, "new milestone")
    page.keyboard.press("Escape")
    done = milestone(12, "COMPLETED", "عشرون كيلومترا") | {"parts_earned": 10}
    pretended.milestones[:0] = [milestone(11, title="A title without a blank: " + "x" * 55), done]
    pretended.me["connection"] = None
    tell(page)
    page.get_by_text("What happened in this account").click()
    page.get_by_text("Past milestones").click()
    expect(page.get_by_role("button", name="Edit")).to_be_visible()
    expect(page.get_by_role("region", name="What happened in this account")).to_be_visible()
    check(page, "milestones, trail and past")
    page.get_by_role("button", name="Edit").first.click()
    pretended.status["milestones/m00011"] = 503
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).not_to_be_empty()
    check(page, "editor that was refused")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Delete account").click()
    expect(page.get_by_role("dialog", name="Delete your account?")).to_be_visible()
    check(page, "question")
    page.keyboard.press("Escape")
    pretended.status["workouts"] = 503
    tell(page)
    expect(page.locator(".stale")).not_to_be_empty()
    page.route("**/auth/logout-everywhere", lambda route: route.abort())
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page.locator(".toast.wrong")).to_be_visible()
    check(page, "out of date, with a message")


def test_the_operators_page(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.route("**/api/models", lambda route: route.fulfill(status=503))
    page.goto(f"{server.url}/commitcollect/operate.html")
    page.get_by_role("button", name="Sign in as a demo operator").wait_for()
    check(page, "signed out")
    page.get_by_role("button", name="Sign in as a demo operator").click()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    check(page, "error")
    page.unroute("**/api/models")
    page.route("**/api/models", lambda route: route.fulfill(json={"items": []}))
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("There are no models yet.")).to_be_visible()
    check(page, "empty")
    page.unroute("**/api/models")
    page.reload()
    expect(page.get_by_role("article")).not_to_have_count(0)
    check(page, "models")
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    page.get_by_role("article").get_by_role("button", name="Retire").first.click()
    expect(page.locator(".toast.wrong")).to_be_visible()
    check(page, "expired")
    page.get_by_role("button", name="New model").click()
    check(page, "editor")


@pytest.mark.req("C08")
def test_the_simulator(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/commitcollect/auth/login")
    expect(page.get_by_role("button", name="Authorize")).to_be_visible()
    check(page, "authorization")
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_role("button", name="New milestone")).to_be_visible()
    held = Held(page, "**/control")
    page.goto(f"{server.url}/strava-simulator/")
    held.wait()
    expect(page.locator(".skeleton")).to_be_visible()
    check(page, "loading")
    held.release()
    expect(page.get_by_role("article", name="Alex Runner")).to_be_visible()  # also on a slow machine
    page.unroute("**/control")
    page.route("**/control", lambda route: route.fulfill(status=503))
    page.reload()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    check(page, "error")
    page.unroute("**/control")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Workouts", exact=True).first).to_be_visible()
    for athlete in page.get_by_text("Workouts", exact=True).all():
        athlete.click()
    page.get_by_role("button", name="Add a workout").first.click()
    expect(page.locator(".toast")).to_be_visible()
    check(page, "workouts and a message")
    page.get_by_role("button", name="Rename").first.click()
    check(page, "dialog")


def test_the_console_of_a_service_with_two_queues(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    page.goto(f"{server.url}/console/#/commitcollect/keys")
    expect(page.get_by_text("Queue commitcollect-notices")).to_be_visible()
    check(page, "keys")
