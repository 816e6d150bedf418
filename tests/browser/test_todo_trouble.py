"""The board in trouble: offline, rejected, slow, killed, changed elsewhere. Nothing looks saved that is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Server, serving
from tests.browser.held import Held
from tests.browser.todo import add, client_of, column, said, tasks_of
from tests.browser.todo import open_board as board_of

OpenPage = Callable[..., Page]
OpenBoard = Callable[..., Page]

pytestmark = pytest.mark.req("T32")


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("todo")


@pytest.fixture
def open_board(open_page: OpenPage, server: Server) -> OpenBoard:
    """A function that opens the board of a signed-in user."""

    def open_it(user: str, *size: int) -> Page:
        return board_of(open_page(*size), server, user)

    return open_it


def cut(route: Route) -> None:
    route.abort("connectionrefused")


def test_every_message_is_seen_and_the_last_one_too(open_board: OpenBoard, server: Server) -> None:
    add(server, "t-messages", "Alpha", "Beta")
    page = open_board("t-messages")
    for title in ("Alpha", "Beta"):
        page.get_by_role("button", name=f"Complete {title}").click()
        expect(said(page)).to_have_text(f"Moved “{title}” to Completed.")
        expect(said(page)).to_be_visible()
        page.clock.install()
        page.clock.fast_forward(60_000)
        expect(page.locator(".toast")).to_have_count(0)
    expect(page.locator(".toasts[role=status][aria-live=polite]")).to_be_attached()


def test_a_move_that_fails_goes_back_and_can_be_tried_again(open_board: OpenBoard, server: Server) -> None:
    add(server, "t-offline", "Sweep")
    page = open_board("t-offline")
    page.route("**/healthz", cut)
    page.route("**/api/tasks/*", cut)
    page.get_by_role("button", name="Complete Sweep").click()
    expect(said(page)).to_contain_text("“Sweep” was not moved. The server cannot be reached.")
    expect(column(page, "To do").locator(".title")).to_have_text("Sweep")
    expect(column(page, "Completed").locator(".title")).to_have_count(0)
    expect(page.locator(".connection-bar")).to_contain_text("Connection lost.")
    page.unroute("**/healthz")
    page.unroute("**/api/tasks/*")
    expect(page.locator(".connection-bar")).to_be_empty()  # the page polls automatically
    page.get_by_role("button", name="Try again").click()
    expect(column(page, "Completed").locator(".title")).to_have_text("Sweep")
    assert [task["status"] for task in tasks_of(server, "t-offline")] == ["completed"]


def test_moves_that_wait_behind_a_failed_one_go_back_with_it(open_board: OpenBoard, server: Server) -> None:
    add(server, "t-behind", "Sweep")
    page = open_board("t-behind")
    page.route("**/api/tasks/*", cut)
    expect(page.locator(".card")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    expect(said(page)).to_contain_text("was not moved")
    expect(column(page, "To do").locator(".title")).to_have_text("Sweep")
    expect(page.locator(".card")).to_have_count(1)


def test_who_is_not_known_any_more_signs_in_and_goes_on(open_board: OpenBoard, server: Server) -> None:
    add(server, "t-expired", "Sweep")
    page = open_board("t-expired")
    expect(page.locator(".card")).to_have_count(1)
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")

    # a move
    page.get_by_role("button", name="Complete Sweep").click()
    expect(said(page)).to_contain_text("“Sweep” was not moved.")
    expect(column(page, "To do").locator(".title")).to_have_text("Sweep")

    # typed text is kept
    page.keyboard.press("n")
    editor = page.get_by_role("dialog", name="New task")
    editor.get_by_label("Title").fill("Typed with care")
    editor.get_by_role("button", name="Create").click()
    editor.get_by_role("button", name="Sign in again").click()
    again = page.get_by_role("dialog", name="Sign in again")
    again.get_by_text("Use a token").click()
    again.get_by_label("Token").fill(server.token("t-expired"))
    again.get_by_role("button", name="Use token").click()
    expect(editor).to_be_hidden()
    expect(page.get_by_role("button", name="Typed with care, To do")).to_be_visible()
    assert "rubbish" not in page.evaluate("sessionStorage.getItem('partita-token')")


EXPIRE = """() => {
    const token = sessionStorage.getItem("partita-token");
    sessionStorage.setItem("partita-token", `${token.slice(0, -6)}AAAAAA`);
}"""


def test_nothing_is_sent_in_the_name_of_somebody_else(open_board: OpenBoard, server: Server) -> None:
    page = open_board("t-else")
    page.keyboard.press("n")
    editor = page.get_by_role("dialog", name="New task")
    editor.get_by_label("Title").fill("Mine alone")
    page.evaluate(EXPIRE)
    again = page.get_by_role("dialog", name="Sign in again")
    for choice in ("Sign in as t-else", "Continue as demo"):
        editor.get_by_role("button", name="Create").click()
        editor.get_by_role("button", name="Sign in again").click()
        again.get_by_role("button", name="Sign in as a demo user").click()
        expect(again).to_contain_text("This page was opened by t-else, and you signed in as demo.")
        expect(again.get_by_role("button", name="Sign in as t-else")).to_be_focused()
        again.get_by_role("button", name=choice).click()
        if choice.startswith("Sign in"):
            expect(again.get_by_role("button", name="Sign in as a demo user")).to_be_focused()
            again.get_by_role("button", name="Not now").click()
    expect(page.locator(".who")).to_have_text("Demo Reader")
    expect(editor).to_have_count(0)
    assert "Mine alone" not in {task["title"] for task in tasks_of(server, "demo")}


def test_back_does_not_show_the_board_of_somebody_who_has_left(open_board: OpenBoard, server: Server) -> None:
    """The browser of the tests keeps no pages in memory, so that its events are sent by hand."""
    add(server, "t-back", "Sweep")
    page = open_board("t-back")
    expect(page.locator(".card")).to_have_count(1)
    back = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
    page.evaluate(f"dispatchEvent(new PageTransitionEvent('pagehide')); window.isKept = true; {back}")
    page.get_by_role("button", name="New task").click()
    page.keyboard.type("Not lost")
    assert page.evaluate("window.isKept")
    page.evaluate(f"sessionStorage.removeItem('partita-token'); {back}")
    expect(page.get_by_role("button", name="Sign in as a demo user")).to_be_visible()
    expect(page.locator(".card")).to_have_count(0)


def test_a_service_that_cannot_be_asked_is_asked_again(open_board: OpenBoard, server: Server) -> None:
    add(server, "t-later", "Sweep")
    page = open_board("t-later")
    problem = {"status": 503, "code": "store_unavailable", "detail": "The service is not available now."}

    # no API request succeeds
    page.route("**/api/**", lambda route: route.fulfill(status=503, json=problem))
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("The board cannot be shown")
    expect(page.get_by_text("Use a token")).to_have_count(0)
    page.unroute("**/api/**")

    # only the task lists fail
    page.route("**/api/tasks?*", lambda route: route.fulfill(status=503, json=problem))
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_contain_text("The tasks cannot be read")
    page.unroute("**/api/tasks?*")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name="Sweep, To do")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_lost_answers_make_one_task(open_board: OpenBoard, server: Server) -> None:
    page = open_board("t-lost")
    answers = 0

    def lose(route: Route) -> None:
        nonlocal answers
        answers += 1
        route.fetch()  # the task is created, and the response is lost
        route.abort("connectionreset")

    page.route("**/api/tasks", lose)
    page.keyboard.press("n")
    editor = page.get_by_role("dialog", name="New task")
    editor.get_by_label("Title").fill("Once")
    editor.get_by_role("button", name="Create").click()
    expect(editor.get_by_role("alert")).to_contain_text("cannot be reached")
    assert answers == 2
    page.unroute("**/api/tasks")
    editor.get_by_label("Title").fill("Once, and better")
    editor.get_by_role("button", name="Create").click()
    expect(editor).to_be_hidden()
    expect(page.get_by_role("button", name="Once, and better, To do")).to_be_visible()
    assert [task["title"] for task in tasks_of(server, "t-lost")] == ["Once, and better"]


def test_a_task_that_is_deleted_elsewhere_leaves_what_is_typed(open_board: OpenBoard, server: Server) -> None:
    (task,) = add(server, "t-gone", "Old words")
    page = open_board("t-gone")
    page.get_by_role("button", name="Old words, To do").click()
    editor = page.get_by_role("dialog", name="Edit task")
    editor.get_by_label("Title").fill("My words")
    with client_of(server, "t-gone") as client:
        client.delete(f"/tasks/{task['task_id']}")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_role("alert")).to_contain_text("deleted elsewhere")
    editor.get_by_role("button", name="Save").click()
    expect(editor).to_be_hidden()
    expect(page.get_by_role("button", name="My words, To do")).to_be_visible()


def test_a_slow_service_is_waited_for_with_shapes(open_board: OpenBoard, server: Server) -> None:
    add(server, "t-slow", "Sweep")
    page = open_board("t-slow")
    expect(page.get_by_role("button", name="Sweep, To do")).to_be_visible()
    held = Held(page, "**/api/tasks?*")
    page.reload()
    expect(column(page, "To do").get_by_text("Loading…")).to_be_attached()
    expect(page.get_by_text("Nothing to do.")).to_be_hidden()
    held.release()
    expect(page.get_by_role("button", name="Sweep, To do")).to_be_visible()
    expect(page.get_by_text("Loading…").first).to_be_hidden()


def test_what_is_wrong_is_said_at_the_field_in_peoples_words(open_board: OpenBoard) -> None:
    page = open_board("t-words")
    page.keyboard.press("n")
    editor = page.get_by_role("dialog", name="New task")
    editor.get_by_label("Title").fill("   ")
    editor.get_by_label("Title").evaluate("input => { input.required = false; }")
    problem = {
        "status": 422,
        "code": "invalid_request",
        "detail": "title: String should have at least 1 character",
        "errors": [{"location": "body", "field": "title", "message": "String should have at least 1 character"}],
    }
    page.route("**/api/tasks", lambda route: route.fulfill(status=422, json=problem))
    editor.get_by_role("button", name="Create").click()
    expect(editor.get_by_text("Fill this in.")).to_be_visible()
    expect(editor.get_by_label("Title")).to_be_focused()
    expect(editor.get_by_label("Title")).to_have_attribute("aria-invalid", "true")
    assert "String" not in editor.inner_text()


def test_a_server_that_was_killed_comes_back(open_page: OpenPage, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("killed")
    page = open_page()
    with serving("todo", data) as first:
        add(first, "t-killed", "Sweep")
        page.add_init_script(f"sessionStorage.setItem('partita-token', '{first.token('t-killed')}')")
        page.goto(f"{first.url}/todo/")
        expect(page.get_by_role("button", name="Sweep, To do")).to_be_visible()
        port = first.url.rpartition(":")[2]
    page.get_by_role("button", name="Complete Sweep").click()
    expect(said(page)).to_contain_text("was not moved")
    expect(page.locator(".connection-bar")).to_contain_text("Connection lost.")
    with serving("todo", data, "--port", port) as second:
        add(second, "t-killed", "Mop")
        expect(page.locator(".connection-bar")).to_be_empty()
        expect(page.get_by_role("button", name="Mop, To do")).to_be_visible()


HOLD_A_CHANGE = """() => {
    const fetched = window.fetch;
    const { promise, resolve } = Promise.withResolvers();
    window.release = resolve;
    window.fetch = async (address, request) => {
        const response = await fetched(address, request);
        if (request?.method !== "PATCH") return response;
        window.fetch = fetched;
        await promise;
        return response;
    };
}"""
"""Delays the page's next change until the test calls `release()`: the response is held back from the page."""


def test_ones_own_move_that_is_under_way_is_not_a_conflict(open_board: OpenBoard, server: Server) -> None:
    add(server, "t-own", "Sweep")
    page = open_board("t-own")
    page.evaluate(HOLD_A_CHANGE)
    with page.expect_response(lambda response: response.request.method == "PATCH"):
        page.get_by_role("button", name="Complete Sweep").click()
    page.locator(".title", has_text="Sweep").click()
    page.get_by_role("dialog").get_by_label("Title").fill("Sweep the yard")
    page.get_by_role("button", name="Save").click()
    page.evaluate("release()")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(column(page, "Completed").locator(".title")).to_have_text("Sweep the yard")
    assert [(task["title"], task["status"]) for task in tasks_of(server, "t-own")] == [("Sweep the yard", "completed")]
