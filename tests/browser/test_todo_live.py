"""A page misses no change of a task between reading the list and opening the stream of changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect
from tests.browser.conftest import Server
from tests.browser.streams import END_STREAMS, end_streams, forget_token
from tests.browser.todo import add, client_of, open_board

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("todo")


def test_a_change_that_is_heard_before_an_older_list_comes_is_kept(open_page: OpenPage, server: Server) -> None:
    (task,) = add(server, "l-older", "Old name")
    page = open_page()
    held: list[tuple[Route, APIResponse]] = []
    page.route(
        lambda url: "/api/tasks?" in url and "status=pending" in url,
        lambda route: held.append((route, route.fetch())),
        times=1,
    )
    open_board(page, server, "l-older")
    while not held:
        page.wait_for_timeout(20)
    page.evaluate("""() => {
        const channel = new BroadcastChannel("partita l-older /todo/api/tasks/stream");
        window.heard = new Promise((resolve) => {
            channel.onmessage = ({ data }) => data.event === "task" && resolve(data.data.task.title);
        });
    }""")
    with client_of(server, "l-older") as client:
        changed = client.patch(f"/tasks/{task['task_id']}", json={"title": "New name"}, headers={"If-Match": "*"})
    assert changed.status_code == 200
    assert page.evaluate("() => window.heard") == "New name"
    route, older = held[0]
    route.fulfill(response=older)
    expect(page.get_by_text("New name")).to_be_visible()
    expect(page.get_by_text("Old name")).to_have_count(0)


def test_a_change_between_the_list_and_a_late_stream_is_shown(open_page: OpenPage, server: Server) -> None:
    add(server, "l-late", "Was there")
    page = open_page()
    streams: list[Route] = []
    page.route("**/api/tasks/stream", lambda route: streams.append(route), times=1)  # noqa: PLW0108 - Playwright inspects it
    open_board(page, server, "l-late")
    expect(page.get_by_text("Was there")).to_be_visible()
    add(server, "l-late", "Came meanwhile")
    with client_of(server, "l-late") as client:
        while client.get("/tasks/counts").json()["lag"]["records"]:
            page.wait_for_timeout(20)
    streams[0].continue_()
    expect(page.get_by_text("Came meanwhile")).to_be_visible()


def test_after_a_new_sign_in_the_stream_goes_on_with_what_was_missed(open_page: OpenPage, server: Server) -> None:
    add(server, "l-again", "Was there")
    page = open_page()
    page.add_init_script(END_STREAMS)
    ends: list[Route] = []

    def end(route: Route) -> None:
        """Let the stream through with a valid token; respond 401 with an invalid one."""
        if not route.request.headers["authorization"].endswith("rubbish"):
            ends.append(route)
            route.continue_()
        else:
            route.fulfill(status=401, json={"code": "unauthenticated", "detail": "The token has expired."})

    open_board(page, server, "l-again")
    expect(page.get_by_text("Was there")).to_be_visible()
    page.route("**/api/tasks/stream", end)
    end_streams(page, 1, lambda: forget_token(page))
    expect(page.locator(".toast.wrong")).to_contain_text("What you see may be out of date. Your sign-in has expired.")
    add(server, "l-again", "Missed meanwhile")
    page.get_by_role("button", name="Sign in", exact=True).click()
    again = page.get_by_role("dialog", name="Sign in again")
    again.get_by_text("Use a token").click()
    again.get_by_role("textbox", name="Token").fill(server.token("l-again"))
    again.get_by_role("button", name="Use token").click()
    expect(page.get_by_text("Missed meanwhile")).to_be_visible()
    expect(page.locator(".toast.wrong")).to_have_count(0)
    add(server, "l-again", "Heard since")
    expect(page.get_by_text("Heard since")).to_be_visible()
    assert ends[-1].request.headers["last-event-id"]
