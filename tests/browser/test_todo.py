"""The To-Do board in a real browser: a day's work with mouse and keyboard, on a phone, and without other hosts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.browser.conftest import Server, in_both_schemes
from tests.browser.held import Held
from tests.browser.test_countries import CONTRAST

OpenPage = Callable[..., Page]
SignIn = Callable[..., Page]

pytestmark = pytest.mark.req("T32")


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("todo")


@pytest.fixture
def address(server: Server) -> str:
    return f"{server.url}/todo/"


@pytest.fixture
def sign_in(open_page: OpenPage, server: Server, address: str) -> SignIn:
    """A function that opens the board of a signed-in user."""

    def sign_in(user: str, *size: int, dark: bool = False) -> Page:
        page = open_page(*size, dark=dark)
        page.goto(address)
        page.get_by_text("Use a token").click()
        page.get_by_label("Token").fill(server.token(user))
        page.get_by_role("button", name="Use token").click()
        expect(page.get_by_role("button", name="New task")).to_be_visible()
        return page

    return sign_in


def add(server: Server, user: str, *titles: str, **fields: Any) -> None:
    with httpx.Client(headers={"Authorization": f"Bearer {server.token(user)}"}) as client:
        for title in titles:
            response = client.post(f"{server.url}/todo/api/tasks", json={"title": title} | fields)
            assert response.status_code == 201


def column(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title, exact=True)


def said(page: Page) -> Locator:
    """The latest message."""
    return page.locator(".toast .text").last


def titles(page: Page, of: str) -> list[str]:
    return column(page, of).locator(".title").all_text_contents()


def day(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


def test_a_dialog_that_opens_as_another_closes_keeps_its_fields(sign_in: SignIn) -> None:
    page = sign_in("quick")
    page.keyboard.press("n")
    page.evaluate("""async () => {
        document.querySelector("dialog[open]").close();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }));
        await new Promise((passed) => setTimeout(passed));  // the event of the first closing comes meanwhile
    }""")
    expect(page.get_by_role("dialog", name="New task").get_by_label("Title")).to_be_focused()


def test_a_days_work(sign_in: SignIn, server: Server) -> None:
    page = sign_in("ada")
    expect(column(page, "To do")).to_contain_text("Nothing to do.")

    # create
    for title, priority, due in (
        ("Water the plants", "Low", ""),
        ("Pay the rent", "Urgent", day(-1)),
        ("Book the train to Zürich", "High", day(3)),
    ):
        page.keyboard.press("n")
        dialog = page.get_by_role("dialog", name="New task")
        dialog.get_by_label("Title").fill(title)
        dialog.get_by_label(priority).check()
        dialog.get_by_label("Due date").fill(due)
        dialog.get_by_label("Category").fill("home")
        dialog.get_by_role("button", name="Create").click()
        expect(said(page)).to_have_text(f"Created “{title}”.")
        expect(dialog).to_be_hidden()
    assert titles(page, "To do") == ["Pay the rent", "Book the train to Zürich", "Water the plants"]
    expect(column(page, "To do").locator(".late")).to_have_text("Yesterday")
    expect(column(page, "To do").locator(".number")).to_have_text("3")
    expect(page.get_by_label("Tasks by priority")).to_contain_text("3 tasks1 urgent1 high1 low")

    # filter
    page.get_by_label("Due date").select_option("Overdue")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".card")).to_have_count(3)
    page.get_by_label("Priority", exact=True).select_option("High")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".card")).to_have_count(3)

    # search
    page.keyboard.press("/")
    page.keyboard.type("zuri")
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".title")).to_have_text("Book the train to Zürich")
    page.keyboard.press("Escape")
    expect(page.locator(".card")).to_have_count(3)

    # move with the keyboard
    expect(page.locator(".title").first).to_be_focused()
    page.keyboard.press("Shift+ArrowRight")
    expect(column(page, "In progress").locator(".title")).to_have_text("Pay the rent")
    expect(column(page, "In progress").locator(".title")).to_be_focused()
    page.keyboard.press("c")
    expect(column(page, "Completed").locator(".title")).to_have_text("Pay the rent")

    # complete the others together
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("button", name="Complete", exact=True).click()
    expect(said(page)).to_have_text("Moved 2 tasks to Completed.")
    expect(column(page, "Completed").locator(".number")).to_have_text("3")

    # delete the completed tasks
    page.get_by_role("button", name="Delete all completed tasks").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(said(page)).to_have_text("Deleted 3 tasks.")
    expect(page.locator(".card")).to_have_count(0)
    expect(column(page, "Completed").locator(".number")).to_have_text("0")


def test_a_card_is_dragged_to_another_column(sign_in: SignIn, server: Server) -> None:
    add(server, "bea", "Sweep", "Mop")
    page = sign_in("bea")
    expect(column(page, "To do").locator(".number")).to_have_text("2")
    page.locator(".card", has_text="Sweep").drag_to(column(page, "Cancelled"))
    expect(column(page, "Cancelled").locator(".title")).to_have_text("Sweep")
    page.reload()
    expect(column(page, "Cancelled").locator(".title")).to_have_text("Sweep")
    expect(column(page, "To do").locator(".title")).to_have_text("Mop")


def test_moves_in_quick_succession_all_happen(sign_in: SignIn, server: Server) -> None:
    add(server, "fay", "Cross the board")
    page = sign_in("fay")
    expect(page.locator(".card")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    expect(said(page)).to_have_text("Moved “Cross the board” to Cancelled.")
    page.reload()
    expect(column(page, "Cancelled").locator(".title")).to_have_text("Cross the board")


def test_a_task_is_edited_and_deleted(sign_in: SignIn, server: Server) -> None:
    add(server, "cem", "Write to Noor")
    page = sign_in("cem")
    expect(page.locator(".card")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Edit task")
    dialog.get_by_label("Description").fill("about the <b>books</b>")
    dialog.get_by_label("In progress").check()
    dialog.get_by_role("button", name="Save").click()
    expect(column(page, "In progress").locator(".text")).to_have_text("about the <b>books</b>")
    page.locator(".title").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator(".card")).to_have_count(0)


def test_a_change_from_elsewhere_is_not_overwritten(sign_in: SignIn, server: Server) -> None:
    add(server, "dov", "Fix the roof")
    page = sign_in("dov")
    headers = {"Authorization": f"Bearer {server.token('dov')}"}
    api = f"{server.url}/todo/api/tasks"
    task = httpx.get(api, headers=headers).json()["items"][0]
    page.get_by_role("button", name="Fix the roof, To do").click()
    httpx.patch(f"{api}/{task['task_id']}", json={"title": "Fix the whole roof"}, headers=headers)
    dialog = page.get_by_role("dialog", name="Edit task")
    dialog.get_by_label("Description").fill("mine")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("changed elsewhere while you were writing")
    expect(dialog.get_by_label("Description")).to_have_value("mine")
    dialog.get_by_role("button", name="Show what is there now").click()
    expect(dialog.get_by_label("Title")).to_have_value("Fix the whole roof")
    expect(dialog.get_by_label("Description")).to_have_value("")
    dialog.get_by_label("Description").fill("mine, again")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(column(page, "To do").locator(".text")).to_have_text("mine, again")


def test_more_tasks_than_a_page_are_reached(sign_in: SignIn, server: Server) -> None:
    add(server, "eli", *(f"Task {number}" for number in range(101)))
    page = sign_in("eli")
    expect(page.locator(".card")).to_have_count(100)
    page.get_by_role("button", name="Show more").scroll_into_view_if_needed()  # scrolling it into view loads more
    expect(page.locator(".card")).to_have_count(101)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


def test_a_search_goes_on_after_its_first_page(sign_in: SignIn, server: Server) -> None:
    add(server, "gus", *(f"Report {number}" for number in range(120)))
    add(server, "gus", *(f"Last report {n}" for n in range(5)), priority="urgent", description="in many words " * 20)
    page = sign_in("gus")
    expect(page.get_by_label("Tasks by priority")).to_contain_text("125 tasks")  # so the search index is current
    page.get_by_label("Search title and description").fill("report")
    expect(page.locator(".found")).to_have_text("100 tasks found so far.")
    expect(page.locator(".card")).to_have_count(100)
    expect(column(page, "To do").locator(".number")).to_have_text("100+")
    expect(page.locator(".card .urgent")).to_have_count(0)

    # filters apply to all results
    page.get_by_label("Priority", exact=True).select_option("Urgent")
    expect(page.locator(".found")).to_have_text("5 tasks found.")
    expect(page.locator(".card .urgent")).to_have_count(5)
    expect(column(page, "To do").locator(".number")).to_have_text("5")
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".card")).to_have_count(100)

    page.get_by_role("button", name="Show more").press("Enter")
    expect(page.locator(".found")).to_have_text("125 tasks found.")
    expect(page.locator(".card")).to_have_count(125)
    expect(column(page, "To do").locator(".number")).to_have_text("125")
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    expect(page.locator(".title").first).to_be_focused()


def test_filters_look_at_a_thousand_found_tasks_and_then_ask(sign_in: SignIn) -> None:
    page = sign_in("ivo")
    pages = 0

    def answer(route: Route) -> None:
        nonlocal pages
        pages += 1
        task = {"title": f"Page {pages}", "status": "pending", "priority": "urgent" if pages > 10 else "low"}
        items = [task | {"task_id": f"{pages}-{number}", "version": 1} for number in range(100)]
        more = {"next_cursor": str(pages), "complete": False, "lag": {"records": 0, "seconds": 0}}
        route.fulfill(json={"items": items} | more)

    page.route("**/api/tasks/search?*", answer)
    page.get_by_label("Priority", exact=True).select_option("Urgent")
    page.get_by_label("Search title and description").fill("page")
    cut = "More than 1,000 tasks match: only those that changed last were searched. Add a word to find the others."
    expect(page.locator(".found")).to_have_text(f"0 tasks found so far. {cut}")
    expect(column(page, "To do")).to_contain_text("Nothing here so far.")
    assert pages == 10
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".found")).to_have_text(f"100 tasks found so far. {cut}")
    assert pages == 11
    page.get_by_label("Search title and description").fill("")
    expect(page.locator(".found")).to_have_text("0 tasks found.")  # the filters still apply


def test_the_keyboard_stays_at_the_card_that_is_written(sign_in: SignIn, server: Server) -> None:
    add(server, "jan", "Alpha", "Beta", "Gamma")
    page = sign_in("jan")
    expect(page.locator(".card")).to_have_count(3)

    # the focus after saving
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type("Better")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Better, To do")).to_be_focused()

    # after creating with the keyboard, the next key moves the new card
    page.keyboard.press("n")
    page.keyboard.type("Delta")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Delta, To do", exact=True)).to_be_focused()
    page.keyboard.press("Shift+ArrowRight")
    expect(page.get_by_role("button", name="Delta, In progress")).to_be_focused()

    # after creating with the mouse
    page.get_by_role("button", name="New task").click()
    page.get_by_label("Title", exact=True).fill("Epsilon")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("button", name="Epsilon, To do")).to_be_focused()

    # after deleting in the dialog
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="Gamma, To do")).to_be_focused()


def test_the_keyboard_goes_to_the_nearest_card_where_filters_hide_the_one_written(
    sign_in: SignIn, server: Server
) -> None:
    add(server, "kim", "Alpha", "Beta", priority="urgent")
    page = sign_in("kim")
    page.get_by_label("Priority", exact=True).select_option("Urgent")
    expect(page.locator(".found")).to_have_text("2 tasks found.")
    page.get_by_role("button", name="Beta, To do").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Low").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".card")).to_have_count(1)
    expect(page.get_by_role("button", name="Alpha, To do")).to_be_focused()
    page.keyboard.press("n")
    page.keyboard.type("Gamma")
    page.keyboard.press("Enter")
    expect(said(page)).to_have_text("Created “Gamma”.")
    expect(page.get_by_role("button", name="Alpha, To do")).to_be_focused()


def test_the_keyboard_comes_back_to_a_card_that_was_drawn_anew_behind_its_dialog(
    sign_in: SignIn, server: Server
) -> None:
    add(server, "lea", "Alpha")
    page = sign_in("lea")
    expect(page.locator(".card")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".card").evaluate("card => card.classList.add('old')")
    page.locator("#find").evaluate("form => form.requestSubmit()")
    expect(page.locator(".card.old")).to_have_count(0)
    expect(page.locator(".card")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Alpha, To do")).to_be_focused()


def test_a_task_that_is_saved_late_leaves_the_dialog_of_another_open(sign_in: SignIn, server: Server) -> None:
    add(server, "max", "Alpha", "Beta")
    page = sign_in("max")
    held = Held(page, "**/api/tasks/0*")
    page.get_by_role("button", name="Alpha, To do").click()
    page.keyboard.type("Late")
    page.keyboard.press("Enter")
    held.wait()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Beta, To do").click()
    page.keyboard.type("Being written")
    held.release()
    expect(said(page)).to_have_text("Saved “Late”.")
    expect(page.get_by_role("dialog", name="Edit task").get_by_label("Title")).to_have_value("Being written")


def test_who_presses_enter_twice_makes_one_task(sign_in: SignIn, server: Server) -> None:
    page = sign_in("eve")
    held = Held(page, "**/api/tasks")
    page.keyboard.press("n")
    page.keyboard.type("Once")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    held.wait()
    expect(page.get_by_role("dialog", name="New task")).to_be_visible()
    assert len(held) == 1
    held.release()
    expect(page.get_by_role("button", name="Once, To do")).to_be_visible()


def test_a_wrong_token_is_refused_and_a_right_one_kept(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    page.goto(address)
    page.get_by_text("Use a token").click()
    expect(page.get_by_text("partita token --user demo")).to_be_visible()
    page.get_by_label("Token").fill("nonsense")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This token is not accepted here")
    page.get_by_label("Token").fill(server.token("demo"))
    page.get_by_role("button", name="Use token").click()
    expect(page.get_by_text("Demo Reader")).to_be_visible()
    page.reload()
    expect(page.locator(".card").first).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in as a demo user")).to_be_visible()


def test_it_fits_a_phone(sign_in: SignIn) -> None:
    page = sign_in("demo", 390, 844)
    expect(page.locator(".card:visible").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("navigation", name="Columns").get_by_text("Completed").click()
    expect(page.locator(".column:visible")).to_have_count(1)
    expect(column(page, "Completed").locator(".card").first).to_be_visible()
    page.get_by_role("button", name="New task").click()
    expect(page.get_by_role("button", name="Create")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_nothing_is_loaded_from_outside(sign_in: SignIn, open_page: OpenPage, server: Server) -> None:
    page = sign_in("demo")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    expect(page.locator(".card").first).to_be_visible()
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(server.url).netloc}


def test_text_can_be_read_in_light_and_dark(sign_in: SignIn) -> None:
    page = sign_in("demo")
    expect(page.locator(".card").first).to_be_visible()
    page.get_by_role("button", name="Select").click()
    page.get_by_label("Select Call grandmother").check()
    assert {scheme: page.evaluate(CONTRAST) for scheme in in_both_schemes(page)} == {"light": [], "dark": []}
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert {scheme: page.evaluate(CONTRAST) for scheme in in_both_schemes(page)} == {"light": [], "dark": []}


def test_every_control_has_a_name(sign_in: SignIn) -> None:
    page = sign_in("demo")
    page.locator(".title").first.click()
    nameless = page.locator("input, button, select, textarea, a").evaluate_all(
        "all => all.filter(c => !(c.labels?.length || c.textContent.trim() || c.ariaLabel)).map(c => c.outerHTML)"
    )
    assert nameless == []
