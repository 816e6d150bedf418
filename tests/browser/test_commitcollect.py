"""CommitCollect in a real browser: from the sign-in through the simulator to a finished model and a deleted account."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Server, in_both_schemes
from tests.browser.test_axe import violations
from tests.browser.test_countries import CONTRAST

OpenPage = Callable[..., Page]
ALEX, ROBIN, SAM = "Alex Runner", "Robin Rider", "Sam Hiker"

pytestmark = pytest.mark.req("C30")


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("commitcollect")


@pytest.fixture
def address(server: Server) -> str:
    return f"{server.url}/commitcollect/"


def log_in(page: Page, address: str, athlete: str) -> None:
    """Sign in through the simulator, and wait for the dashboard."""
    page.goto(address)
    page.get_by_role("link", name="Connect with Strava").click()
    page.get_by_label(athlete).check()
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_role("button", name="New milestone")).to_be_visible()
    expect(page.locator(".connection .who")).to_have_text(athlete)


def commit(page: Page, title: str, model: str, *, metric: str, target: str, sport: str) -> Locator:
    """Create a milestone that began a month ago, and return its card."""
    page.get_by_role("button", name="New milestone").click()
    dialog = page.get_by_role("dialog", name="New milestone")
    dialog.get_by_label("Title").fill(title)
    dialog.locator(".models label").filter(has_text=model).click()
    dialog.locator(".segments label").filter(has_text=metric).first.click()
    dialog.get_by_label("Target").fill(target)
    dialog.get_by_label("From").fill((datetime.now(UTC).date() - timedelta(days=30)).isoformat())
    dialog.locator(".sports").get_by_label(sport, exact=True).check()
    dialog.get_by_role("button", name="Commit to it").click()
    expect(dialog).to_have_count(0)
    card = page.get_by_role("article", name=title)
    expect(card).to_be_visible()
    return card


def train(page: Page, server: Server, athlete: int, **fields: Any) -> None:
    """Add a workout of an athlete through the simulator's API."""
    response = page.request.post(f"{server.url}/strava-simulator/control/athletes/{athlete}/activities", data=fields)
    assert response.status == 201


def earned(card: Locator) -> list[str]:
    return [text.strip() for text in card.locator(".parts .earned").all_text_contents()]


def read_whole_trail(page: Page) -> None:
    """Read older pages until there are none; how many there are depends on how often a repeated event was ingested."""
    expect(page.locator(".audit li")).not_to_have_count(0)
    page.wait_for_function("""() => {
        const trail = document.querySelector(".account .feed");
        trail.scrollTop = trail.scrollHeight;
        return trail.querySelector(".more").hidden;
    }""")


def test_the_whole_story(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    log_in(page, address, ALEX)

    # The workouts of the last 30 days are read, and the page says why some of them do not count.
    expect(page.locator(".connection")).to_contain_text("workouts read since")
    expect(page.locator(".workouts")).to_contain_text("Treadmill, from memory")
    expect(page.locator(".workouts li.not").filter(has_text="Treadmill")).to_contain_text(
        "Does not count: entered by hand"
    )
    expect(page.locator(".workouts li.not").filter(has_text="on the bus")).to_contain_text("flagged on Strava")

    # A new milestone, for which past workouts do not count.
    card = commit(page, "Eight swims", "Sailing boat", metric="Workouts", target="8", sport="Swim")
    expect(card.get_by_role("img")).to_have_attribute("aria-label", "Sailing boat: 0 of 8 parts earned")
    expect(card).to_contain_text("1 workout to the next part: Hull")

    # The simulator sends every event three times; one swim earns one part, and the page updates automatically.
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open Strava").click()
    strava = opened.value
    strava.get_by_label("Each message is sent").select_option("three times")
    events = strava.locator(".events li").filter(has_text="New workout")
    before = events.count()
    alex = strava.get_by_role("article", name=ALEX)
    alex.get_by_label("Sport of Alex's next workout").select_option("Swim")
    alex.get_by_role("button", name="Add a workout").click()
    expect(page.locator(".toasts")).to_contain_text("You earned a part of your sailing boat: Hull")
    expect(card.get_by_role("img")).to_have_attribute("aria-label", "Sailing boat: 1 of 8 parts earned")
    assert earned(card) == ["Hull"]
    expect(events).to_have_count(before + 3)

    # More swims, until the model is complete.
    for _ in range(7):
        alex.get_by_role("button", name="Add a workout").click()
    expect(page.locator(".toasts")).to_contain_text("Sailing boat is complete")
    expect(card.locator(".chip")).to_have_text("Completed")
    expect(card.get_by_role("img")).to_have_attribute("aria-label", "Sailing boat: 8 of 8 parts earned")
    assert earned(card) == ["Hull", "Deck", "Cabin", "Mast", "Boom", "Mainsail", "Jib", "Pennant"]

    # The account's audit trail has the events.
    page.get_by_text("What happened in this account").click()
    read_whole_trail(page)
    expect(page.locator(".audit li").filter(has_text="Earned a part of the sailing boat: Boom")).to_have_count(1)
    expect(page.locator(".audit li").filter(has_text="Eight swims")).to_have_count(0)  # not the user's own words
    expect(page.locator(".audit li").nth(8)).to_be_visible()

    # After a sign-out and a sign-in, the collection is still there.
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    log_in(page, address, ALEX)
    expect(page.get_by_role("article", name="Eight swims").locator(".chip")).to_have_text("Completed")

    # Delete the account.
    page.get_by_role("button", name="Delete account").click()
    dialog = page.get_by_role("dialog", name="Delete your account?")
    dialog.get_by_role("button", name="Delete everything").click()
    expect(dialog).to_be_visible()  # the confirmation is missing
    dialog.get_by_label("Type “delete” to confirm").fill("delete")
    dialog.get_by_role("button", name="Delete everything").click()
    expect(page.get_by_text("Your account is being deleted")).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name="Connect with Strava")).to_be_visible()


def test_what_was_earned_stays_when_its_workout_is_deleted(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    log_in(page, address, ROBIN)
    card = commit(page, "Four hikes", "Lighthouse", metric="Workouts", target="4", sport="Hike")
    train(page, server, 1002, sport_type="Hike", name="<b>Ridge</b> & creek")
    expect(page.locator(".workouts")).to_contain_text("<b>Ridge</b> & creek")  # shown as text, not as markup
    expect(card.locator(".amount")).to_have_text("1 workout of 4 workouts")
    expect(card.locator(".parts .earned")).to_have_count(2)

    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open Strava").click()
    robin = opened.value.get_by_role("article", name=ROBIN)
    robin.get_by_text("Workouts", exact=True).click()
    robin.get_by_role("listitem").filter(has_text="Ridge").get_by_role("button", name="Delete").click()
    opened.value.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    expect(card.locator(".amount")).to_have_text("0 workouts of 4 workouts")
    assert earned(card) == ["Rocks", "Keeper's cottage"]
    expect(page.locator(".workouts")).not_to_contain_text("Ridge")


def test_a_stale_edit_is_explained_and_may_be_made_again(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    log_in(page, address, ROBIN)
    card = commit(page, "Walk on", "Lighthouse", metric="Distance", target="50", sport="Walk")
    card.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit milestone")
    dialog.get_by_label("Title").fill("Walk further")

    listed = page.request.get(f"{address}api/milestones").json()["items"]
    (milestone,) = (one for one in listed if one["title"] == "Walk on")
    change = {"version": milestone["version"], "title": "Walk elsewhere"}
    changed = page.request.patch(f"{address}api/milestones/{milestone['milestone_id']}", data=change)
    assert changed.status == 200

    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("This milestone changed while you were writing")
    assert violations(page) == {}
    dialog.get_by_role("button", name="Show what is there now").click()
    expect(dialog.get_by_label("Title")).to_have_value("Walk elsewhere")
    dialog.get_by_label("Title").fill("Walk home")
    dialog.get_by_role("button", name="Save").click()
    card = page.get_by_role("article", name="Walk home")
    expect(card).to_be_visible()

    card.get_by_role("button", name="Cancel milestone").click()
    page.get_by_role("button", name="Cancel the milestone").click()
    expect(page.get_by_text("“Walk home” is cancelled.")).to_be_visible()
    page.get_by_text("Past milestones").click()
    expect(page.get_by_role("article", name="Walk home").locator(".chip")).to_have_text("Cancelled")


def test_an_athlete_who_takes_the_access_back_may_connect_again(
    open_page: OpenPage, server: Server, address: str
) -> None:
    page = open_page()
    log_in(page, address, SAM)
    expect(page.locator(".workouts .sport").first).to_be_visible()
    page.request.post(f"{server.url}/strava-simulator/control/athletes/1003/deauthorize", data={})
    expect(page.locator(".connection .chip")).to_have_text("Not connected")
    expect(page.get_by_text("No workouts yet. Go out and come back.")).to_be_visible()
    page.get_by_role("link", name="Connect Strava").click()
    page.get_by_label(SAM).check()
    page.get_by_role("button", name="Authorize").click()
    expect(page.locator(".connection .chip")).to_have_text("Connected")
    expect(page.locator(".workouts .sport").first).to_be_visible()


def test_who_disconnects_keeps_what_was_earned(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    log_in(page, address, ROBIN)
    card = commit(page, "One swim", "Sailing boat", metric="Workouts", target="1", sport="Swim")
    train(page, server, 1002, sport_type="Swim", name="Across the bay")
    expect(card.locator(".chip")).to_have_text("Completed")
    page.get_by_role("button", name="Disconnect").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect", exact=True).click()
    expect(page.locator(".connection .chip")).to_have_text("Not connected")
    expect(page.get_by_text("No workouts yet. Go out and come back.")).to_be_visible()
    expect(card.locator(".percent")).to_have_text("100%")
    expect(card.locator(".amount")).to_have_text(re.compile(r"^\d+ workouts? of 1 workout$"))
    page.reload()
    card = page.get_by_role("article", name="One swim")
    expect(card.locator(".percent")).to_have_text("100%")
    page.get_by_role("link", name="Connect Strava").click()
    page.get_by_label(ROBIN).check()
    page.get_by_role("button", name="Authorize").click()
    expect(page.locator(".connection .chip")).to_have_text("Connected")


def test_who_is_logged_in_is_told_what_went_wrong_at_strava(open_page: OpenPage, address: str) -> None:
    other = open_page()
    log_in(other, address, SAM)
    page = open_page()
    log_in(page, address, ROBIN)
    page.goto(f"{address}auth/login")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("You did not allow the connection")
    expect(page.get_by_role("button", name="New milestone")).to_be_visible()
    page.goto(f"{address}auth/login")
    page.get_by_label(SAM).check()
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_role("alert")).to_contain_text("This athlete is connected to another account already.")
    expect(page.locator(".connection .who")).to_have_text(ROBIN)


def test_logging_out_everywhere_ends_all_browsers(open_page: OpenPage, address: str) -> None:
    one, other = open_page(), open_page()
    for page in (one, other):
        log_in(page, address, ROBIN)
    one.get_by_role("button", name="Sign out everywhere").click()
    expect(one.get_by_text("You are signed out in all browsers.")).to_be_visible()
    expect(other.get_by_role("link", name="Connect with Strava")).to_be_visible()


@pytest.mark.req("C13")
def test_an_operator_loads_a_model_and_retires_it(open_page: OpenPage, address: str, tmp_path: Path) -> None:
    svg = tmp_path / "kite.svg"
    groups = '<g id="part-1"><path d="M10 10h50v50z" fill="#b33"/></g><g id="part-2"><circle cx="9" cy="9" r="5"/></g>'
    svg.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 90">{groups}</svg>')
    page = open_page()
    page.goto(f"{address}operate.html")
    page.get_by_role("button", name="Sign in as a demo operator").click()
    page.get_by_role("button", name="New model").click()
    dialog = page.get_by_role("dialog", name="New model")
    dialog.get_by_label("Identifier").fill("kite")
    dialog.get_by_label("Name").fill("Kite")
    dialog.get_by_label("Parts").fill("Sail")
    dialog.get_by_label("Picture").set_input_files(svg)
    dialog.get_by_label("Parts").fill("Sail\nTail\nLine")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.locator("[data-field=picture] .wrong")).to_contain_text("no group with the id part-3")
    dialog.get_by_label("Parts").fill("Sail\nTail")
    dialog.get_by_role("button", name="Create").click()
    kite = page.get_by_role("article", name="Kite")
    expect(kite.get_by_role("img")).to_have_attribute("aria-label", "Kite: 2 of 2 parts earned")
    assert page.evaluate(CONTRAST) == []

    user = open_page()
    log_in(user, address, ROBIN)
    card = commit(user, "Fly", "Kite", metric="Workouts", target="100", sport="Hike")
    expect(card.get_by_role("img")).to_have_attribute("aria-label", re.compile("Kite: . of 2 parts earned"))

    kite.get_by_role("button", name="Retire").click()
    expect(kite.locator(".chip")).to_contain_text("Retired")
    page.get_by_role("button", name="Undo").click()
    expect(kite.locator(".chip")).to_have_count(0)
    kite.get_by_role("button", name="Retire").click()
    expect(kite.locator(".chip")).to_contain_text("Retired")
    user.reload()
    expect(user.get_by_role("article", name="Fly")).to_contain_text("Tail")
    user.get_by_role("button", name="New milestone").click()
    expect(user.get_by_role("dialog").locator(".models label")).to_have_count(3)


def test_a_key_that_strava_takes_no_more_is_asked_for_again(open_page: OpenPage, server: Server, address: str) -> None:
    control = f"{server.url}/strava-simulator/control"
    page = open_page()
    log_in(page, address, SAM)
    expect(page.locator(".connection")).to_contain_text("workouts read since")
    network = page.request.get(control).json()["chaos"]
    page.request.put(f"{control}/chaos", data={"duplicates": 0, "spread": 0, "failures": 1})  # all events get lost
    page.request.post(f"{control}/athletes/1003/deauthorize", data={})
    page.get_by_role("button", name="Sync again").click()
    # If the subscription was created after the sign-in, the service checks with Strava, and the user is not connected.
    expect(page.locator(".connection .chip")).to_have_text(re.compile("Needs you|Not connected"))
    page.get_by_role("link", name=re.compile("^(Reconnect|Connect Strava)$")).click()
    page.get_by_label(SAM).wait_for()
    page.request.put(f"{control}/chaos", data=network)  # events that arrive from now on find the new connection
    page.get_by_label(SAM).check()
    page.get_by_role("button", name="Authorize").click()
    expect(page.locator(".connection .chip")).to_have_text("Connected")
    expect(page.locator(".connection")).to_contain_text("workouts read since")


def test_who_wants_less_motion_sees_the_whole_at_once(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.emulate_media(reduced_motion="reduce")
    page.goto(address)
    expect(page.get_by_role("img")).to_have_attribute("aria-label", "Lighthouse: 10 of 10 parts earned")
    assert page.evaluate("document.getAnimations().length") == 0


def test_an_athlete_who_does_not_agree_is_told_what_that_means(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.goto(address)
    page.get_by_role("link", name="Connect with Strava").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("You did not allow the connection")
    page.get_by_role("link", name="Connect with Strava").click()
    page.get_by_label("View data about your activities").uncheck()
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_role("alert")).to_contain_text("has to see your activities")


def test_a_milestone_is_made_with_the_keyboard_alone(open_page: OpenPage, address: str) -> None:
    page = open_page()
    log_in(page, address, ROBIN)
    page.get_by_role("button", name="New milestone").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("By keys")
    page.keyboard.press("Tab")  # the choice of models
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")  # the choice of metrics
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    card = page.get_by_role("article", name="By keys")
    expect(card.get_by_role("img")).to_have_attribute("aria-label", re.compile("Steam locomotive: .* of 12 parts"))
    expect(card).to_contain_text("Move for 20 h")


def test_nothing_is_loaded_from_outside(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    log_in(page, address, ROBIN)
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(server.url).netloc}


@pytest.mark.parametrize("is_logged_in", [False, True])
def test_it_fits_a_phone(open_page: OpenPage, address: str, is_logged_in: bool) -> None:  # noqa: FBT001
    page = open_page(390, 844, dark=True)
    page.goto(address)
    if is_logged_in:
        log_in(page, address, ROBIN)
        page.get_by_role("button", name="New milestone").click()
    expect(page.locator(".stage").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.req("C08")
def test_names_stand_on_one_line_at_the_simulator_on_a_phone(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page(390, 844)
    log_in(page, address, ROBIN)
    page.goto(f"{server.url}/strava-simulator/")
    expect(page.get_by_role("article", name=ROBIN).locator("header .chip")).to_have_text("Access to workouts")
    heights = page.locator(".athlete h2").evaluate_all("all => all.map((name) => name.getBoundingClientRect().height)")
    assert [height < 30 for height in heights] == [True] * 3, heights
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_text_can_be_read_and_controls_have_names(open_page: OpenPage, address: str) -> None:
    page = open_page()
    log_in(page, address, ROBIN)
    commit(page, "Readable", "Lighthouse", metric="Elevation", target="500", sport="Ride")
    assert {scheme: page.evaluate(CONTRAST) for scheme in in_both_schemes(page)} == {"light": [], "dark": []}
    nameless = page.locator("input, button, a").evaluate_all(
        "all => all.filter(c => !(c.labels?.length || c.textContent.trim() || c.ariaLabel)).map(c => c.outerHTML)"
    )
    assert nameless == []
