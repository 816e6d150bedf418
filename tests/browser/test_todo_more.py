"""More of the board: undo, two tabs, links, adding in a column, touch, the profile, and text of any kind."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Server
from tests.browser.todo import add, client_of, column, open_board, said, tasks_of

from partita import Session, insert
from partita.cli import DataFolder
from partita_services.todo.model import Task

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("T32")


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("todo")


def undo(page: Page) -> None:
    page.locator(".toast").last.get_by_role("button", name="Undo").click()


def test_a_move_a_change_and_a_deletion_are_undone(open_page: OpenPage, server: Server) -> None:
    add(server, "m-undo", "Sweep", "Mop", priority="high", description="twice", category="home")
    page = open_board(open_page(), server, "m-undo")
    page.get_by_role("button", name="Complete Sweep").click()
    expect(said(page)).to_have_text("Moved “Sweep” to Completed.")
    undo(page)
    expect(column(page, "To do").locator(".title")).to_have_count(2)

    page.locator(".title", has_text="Sweep").click()
    page.get_by_role("dialog").get_by_label("Title").fill("Sweep the yard")
    page.get_by_role("button", name="Save").click()
    expect(said(page)).to_have_text("Saved “Sweep the yard”.")
    undo(page)
    expect(page.locator(".title", has_text="Sweep the yard")).to_have_count(0)
    expect(page.locator(".title", has_text="Sweep")).to_have_count(1)

    page.locator(".title", has_text="Sweep").focus()
    page.keyboard.press("Delete")
    expect(said(page)).to_have_text("Deleted “Sweep”.")
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".title", has_text="Mop")).to_be_focused()
    undo(page)
    expect(page.locator(".card")).to_have_count(2)
    (sweep,) = (task for task in tasks_of(server, "m-undo") if task["title"] == "Sweep")
    assert (sweep["priority"], sweep["description"], sweep["category"]) == ("high", "twice", "home")


def test_a_move_of_many_is_undone(open_page: OpenPage, server: Server) -> None:
    add(server, "m-many", "Sweep", "Mop")
    page = open_board(open_page(), server, "m-many")
    page.get_by_role("button", name="Select").click()
    page.get_by_label("Select Sweep").check()
    page.get_by_label("Select Mop").check()
    page.get_by_role("button", name="Cancelled", exact=True).click()
    expect(column(page, "Cancelled").locator(".card")).to_have_count(2)
    undo(page)
    expect(column(page, "To do").locator(".card")).to_have_count(2)


@pytest.mark.parametrize("width", [320, 390])
def test_all_that_one_does_with_several_tasks_is_on_a_phone(open_page: OpenPage, server: Server, width: int) -> None:
    add(server, "m-phone", "Sweep")
    page = open_board(open_page(width), server, "m-phone")
    page.get_by_role("button", name="Select").click()
    page.get_by_label("Select Sweep").first.check()
    buttons = page.locator(".bulk").get_by_role("button")
    expect(buttons).to_have_count(6)
    for button in buttons.all():
        expect(button).to_be_in_viewport(ratio=1)


def test_what_cannot_be_undone_is_asked_and_starts_at_keeping(open_page: OpenPage, server: Server) -> None:
    add(server, "m-ask", "Sweep", status="completed")
    page = open_board(open_page(), server, "m-ask")
    page.get_by_role("button", name="Delete all completed tasks").click()
    expect(page.get_by_role("button", name="Keep", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_role("button", name="Select").click()
    page.get_by_label("Select Sweep").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(said(page)).to_have_text("Deleted 1 task.")
    assert tasks_of(server, "m-ask") == []


@pytest.mark.req("T34")
def test_two_tabs_show_the_same(open_page: OpenPage, server: Server) -> None:
    add(server, "m-tabs", "Sweep")
    first = open_board(open_page(), server, "m-tabs")
    second = open_board(first.context.new_page(), server, "m-tabs")
    elsewhere = open_board(open_page(), server, "m-tabs")  # another browser
    tabs = (first, second, elsewhere)
    for page in tabs:
        expect(page.locator(".card")).to_have_count(1)
    first.get_by_role("button", name="Complete Sweep").click()
    for page in tabs:
        expect(column(page, "Completed").locator(".title")).to_have_text("Sweep")
    (mop,) = add(server, "m-tabs", "Mop")
    for page in tabs:
        expect(column(page, "To do").locator(".title")).to_have_text("Mop")
    first.close()  # it may be the tab that reads the stream
    with client_of(server, "m-tabs") as client:
        client.delete(f"/tasks/{mop['task_id']}")
    for page in tabs[1:]:
        expect(column(page, "To do").locator(".card")).to_have_count(0)
        expect(page.get_by_label("Tasks by priority")).to_contain_text("1 task")


def test_filters_and_search_are_in_the_address(open_page: OpenPage, server: Server) -> None:
    add(server, "m-link", "Sweep", "Mop", category="home", priority="urgent")
    add(server, "m-link", "Report", category="work")
    page = open_board(open_page(), server, "m-link")
    expect(page.get_by_label("Tasks by priority")).to_contain_text("3 tasks")  # so the search index is current
    page.get_by_label("Category", exact=True).select_option("home")
    expect(page.locator(".card")).to_have_count(2)
    page.get_by_label("Search title and description").fill("mop")
    expect(page.locator(".title")).to_have_text(["Mop"])
    assert parse_qs(urlsplit(page.url).query) == {"category": ["home"], "q": ["mop"]}
    other = open_board(open_page(), server, "m-link", f"?{urlsplit(page.url).query}")
    expect(other.locator(".title")).to_have_text(["Mop"])
    expect(other.get_by_label("Category", exact=True)).to_have_value("home")
    page.go_back()
    expect(page.locator(".card")).to_have_count(3)
    expect(page.get_by_label("Search title and description")).to_have_value("")
    nonsense = open_board(open_page(), server, "m-link", "?priority=gigantic&due=never&column=none")
    expect(nonsense.locator(".card")).to_have_count(3)


def test_tasks_are_added_in_a_column(open_page: OpenPage, server: Server) -> None:
    page = open_board(open_page(), server, "m-quick")
    page.get_by_role("button", name="Add a task in In progress").click()
    for title in ("Sweep", "Mop"):
        page.keyboard.type(title)
        page.keyboard.press("Enter")
        expect(column(page, "In progress").locator(".title", has_text=title)).to_be_visible()
        expect(page.get_by_label("New task in In progress")).to_have_value("")
    expect(page.get_by_label("New task in In progress")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_label("New task in In progress")).to_be_hidden()
    assert [task["status"] for task in tasks_of(server, "m-quick")] == ["in_progress"] * 2


def test_a_finger_moves_a_card(open_page: OpenPage, server: Server) -> None:
    add(server, "m-touch", "Sweep")
    page = open_board(open_page(390, 844), server, "m-touch")
    touch = page.context.new_cdp_session(page)

    def finger(kind: str, at: Locator | None = None) -> None:
        box = at.bounding_box() if at else None
        points = [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}] if box else []
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    card, tab = page.locator(".card"), page.get_by_role("navigation", name="Columns").get_by_text("Completed")
    expect(card).to_have_count(1)
    finger("touchStart", card)
    expect(page.locator(".card.dragged")).to_have_count(1)  # the touch is long enough to start dragging
    finger("touchMove", tab)
    expect(page.locator(".tabs .over")).to_have_text("Completed0")
    finger("touchEnd")
    expect(page.locator(".ghost")).to_have_count(0)
    expect(said(page)).to_have_text("Moved “Sweep” to Completed.")
    assert [task["status"] for task in tasks_of(server, "m-touch")] == ["completed"]


def test_the_profile_has_reminders_and_a_choice_to_see_costs(open_page: OpenPage, server: Server) -> None:
    page = open_board(open_page(), server, "m-me")
    page.get_by_title("Your profile").click()
    dialog = page.get_by_role("dialog", name="Your profile")
    dialog.get_by_label("Name").fill("Mia")
    dialog.get_by_label("Email").fill("mia@example.org")
    dialog.get_by_label("Remind me every day").check()
    dialog.get_by_label("Time zone").fill("Europe/Nowhere")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("This is not a time zone")).to_be_visible()
    dialog.get_by_label("Time zone").fill("Europe/Berlin")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_title("Your profile")).to_have_text("Mia")
    with client_of(server, "m-me") as client:
        assert client.get("/me").json()["time_zone"] == "Europe/Berlin"
    page.get_by_title("Your profile").click()
    expect(page.locator(".cost")).to_be_hidden()
    page.get_by_label("Show what each request costs").check()
    expect(page.locator(".cost")).to_contain_text("RCU")


def test_the_profile_gives_all_that_is_kept_and_deletes_it(open_page: OpenPage, server: Server) -> None:
    add(server, "m-end", "Sweep")
    page = open_board(open_page(), server, "m-end")
    page.get_by_title("Your profile").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download my data").click()
    assert "Sweep" in download.value.path().read_text()
    page.get_by_role("button", name="Delete my account").click()
    ask = page.get_by_role("dialog", name="Delete your account?")
    ask.get_by_label("Type “delete” to confirm").fill("delete")
    ask.get_by_role("button", name="Delete my account").click()
    expect(page.get_by_role("button", name="Sign in as a demo user")).to_be_visible()
    headers = {"Authorization": f"Bearer {server.token('m-end')}"}
    assert httpx.get(f"{server.url}/todo/api/tasks", headers=headers).json()["items"] == []


def test_text_of_any_kind_has_its_place(open_page: OpenPage, server: Server) -> None:
    with closing(DataFolder(server.data).open_store()) as store:  # from before such titles were refused
        Session(store).run(insert(Task(user_id="m-text", title="\u200b\u200b", created_at=1, updated_at=1)))
    add(server, "m-text", "\u0645\u0631\u062d\u0628\u0627", "x" * 200)
    page = open_board(open_page(320, 700), server, "m-text")
    expect(page.locator(".title", has_text="(untitled)")).to_be_visible()
    arabic = page.locator(".title", has_text="\u0645")
    assert arabic.evaluate("title => getComputedStyle(title).direction") == "rtl"
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_a_late_task_is_named_in_a_correct_sentence(open_page: OpenPage, server: Server) -> None:
    due = [(datetime.now(UTC) - timedelta(days=days)).date().isoformat() for days in (1, 3)]
    for title, day in zip(("Sweep", "Mop"), due, strict=True):
        add(server, "m-late", title, due_date=day)
    page = open_board(open_page(), server, "m-late")
    expect(page.get_by_role("button", name="Sweep, To do, overdue, yesterday", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Mop, To do, overdue, 3 days late", exact=True)).to_be_visible()


def test_the_buttons_of_a_column_stay_in_it(open_page: OpenPage, server: Server) -> None:
    add(server, "m-wide", *(f"Done {number}" for number in range(10)), status="completed")
    page = open_board(open_page(), server, "m-wide")
    header = page.locator(".column[data-status=completed] header")
    expect(header.get_by_role("button", name="Delete all completed tasks")).to_be_visible()
    beyond = """header => header.lastElementChild.getBoundingClientRect().right
      + parseFloat(getComputedStyle(header).paddingRight) - header.getBoundingClientRect().right"""
    assert header.evaluate(beyond) < 1


def test_on_a_phone_the_rows_above_the_board_begin_at_the_same_edge(open_page: OpenPage, server: Server) -> None:
    page = open_board(open_page(390, 844), server, "m-edge")
    edges = [
        page.locator(part).evaluate("part => part.getBoundingClientRect().left")
        for part in (".filters", ".tools > .button >> nth=0")
    ]
    assert edges[0] == edges[1]
