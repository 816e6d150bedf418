"""axe finds no violation on any page in any state, on a phone and a desktop, in light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server, serving
from tests.browser.todo import client_of, tasks_of

OpenPage = Callable[..., Page]
Steps = Callable[[Page], None]
Story = Callable[[Page, Server], Iterator[str]]

pytestmark = pytest.mark.req("X17")

AXE: Final = Path(__file__).parents[2] / ".venv" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
RUN: Final = """async () => (
        await axe.run(document, { resultTypes: ["violations"], preload: { assets: ["media"] } })
    ).violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(" ")).slice(0, 3)])"""
"""Only media are preloaded: the one rule that reads style sheets is experimental, and axe does not run it."""

WORDS: Final = r"""() => {
    const names = ["ETag", "If-Match", "Idempotency", "Bearer", "Authorization", "cursor", "[RW]CU", "capacity unit"];
    const forPrograms = new RegExp(`\\b(${names.join("|")})\\b|token is|[a-z]_[a-z]`);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const { parentElement: holder, textContent: text } = walker.currentNode;
        if (holder.closest("code, pre, script, .by-token") || !holder.checkVisibility()) continue;
        if (forPrograms.test(text.replace(/@\w+/g, ""))) found.push(text.trim()); // but for names of people
    }
    return found;
}"""
"""Returns technical terms that a page shows. The console and the API descriptions are exempt: programmers use them."""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of all services with their sample data."""
    with serving("--all", tmp_path_factory.mktemp("all")) as server:
        yield server


def violations(page: Page) -> dict[str, Any]:
    """Return the violations that axe finds in the current state, by width and scheme, and the technical terms shown."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found = {}
    for width, scheme in ((1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        found[f"{width} {scheme}"] = page.evaluate(RUN)
    if not urlsplit(page.url).path.startswith(("/console", "/api-docs")):
        found["words"] = page.evaluate(WORDS)
    return {state: what for state, what in found.items() if what}


def open_as(page: Page, server: Server, role: str | None, path: str) -> Page:
    if role:
        page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('demo', role)}')")
    page.goto(server.url + path)
    return page


def edits_a_task(page: Page) -> None:
    page.locator(".title").first.click()
    expect(page.get_by_role("dialog", name="Edit task")).to_be_visible()


def selects_tasks(page: Page) -> None:
    page.get_by_role("button", name="Select").click()
    page.locator(".box").first.check()


def asks_for_the_profile(page: Page) -> None:
    page.get_by_title("Your profile").click()
    expect(page.get_by_role("dialog", name="Your profile")).to_be_visible()


def makes_an_event(page: Page) -> None:
    page.get_by_role("button", name="New event").click()
    expect(page.get_by_role("dialog", name="New event")).to_be_visible()


def opens_the_menu(page: Page) -> None:
    page.get_by_label("Services", exact=True).first.click()


STATES: Final[list[tuple[str, str | None, str, Steps | None]]] = [
    ("/todo/", None, ".choices .button", None),
    ("/todo/?q=nothing", "user", ".found:not(:empty)", opens_the_menu),
    ("/events/#/operate", "operator", ".card", makes_an_event),
    ("/events/", None, ".choices .button", None),
    ("/console/", None, "main h1", None),
    ("/console/#/todo", None, "main h1", None),
    ("/accounts/", None, ".choices .button", None),
    ("/countries/", None, "#list a", None),
    ("/commitcollect/", "user", "main h1, main h2", None),
    ("/signin/", None, ".signin", None),
]


@pytest.mark.parametrize(("path", "role", "ready", "steps"), STATES)
def test_axe_finds_nothing(
    open_page: OpenPage, everything: Server, path: str, role: str | None, ready: str, steps: Steps | None
) -> None:
    page = open_as(open_page(), everything, role, path)
    expect(page.locator(ready).first).to_be_visible()
    if steps:
        steps(page)
    assert violations(page) == {}


def unavailable(page: Page, *paths: str) -> None:
    for path in paths:
        page.route(path, lambda route: route.fulfill(status=503, json={"status": 503, "code": "store_unavailable"}))


def a_reader_of_countries(page: Page, server: Server) -> Iterator[str]:
    """The public pages. A search keeps the list short, and axe fast."""
    open_as(page, server, None, "/countries/#/CS?as_of=1999-12-31&list=withdrawn&q=serb")
    expect(page.locator(".answer strong")).to_have_text("No country had the code CS")
    expect(page.locator(".differences")).to_be_visible()
    yield "as of, versions and comparison"
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("dialog").locator(".choices .button").first).to_be_visible()
    yield "sign-in"
    page.get_by_role("button", name="Not now").click()
    page.goto(f"{server.url}/countries/#/QZ?q=zzzz")
    expect(page.get_by_text("No country of this list has such a name or code.")).to_be_visible()
    expect(page.get_by_role("heading", name="Create QZ")).to_be_visible()
    yield "nothing found"
    page.goto(f"{server.url}/countries/#/changes?q=norw")
    expect(page.locator(".latest li").first).to_be_visible()
    yield "changes"
    unavailable(page, "**/api/countries.json", "**/history?*")
    page.goto(f"{server.url}/countries/#/SE?list=current&q=norw")
    page.reload()
    expect(page.locator(".in-place.failed")).to_have_count(2)
    yield "errors"


def an_operator_of_countries(page: Page, server: Server) -> Iterator[str]:
    """What only operators see."""
    open_as(page, server, "operator", "/countries/#/TR?q=turkey")
    expect(page.locator(".former a")).to_be_visible()
    page.get_by_label("Alpha-3").fill("DEU")
    page.get_by_role("button", name="Save version").click()
    expect(page.get_by_text("Another country has DEU.")).to_be_visible()
    yield "refused edit and former names"
    page.get_by_role("button", name="Withdraw", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    yield "withdraw"
    page.get_by_role("button", name="Keep it").click()
    page.goto(f"{server.url}/countries/#/SE?q=swed")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Sweden")
    page.get_by_label("Name", exact=True).fill("Mine")
    theirs = {"name": "Theirs", "alpha3Code": "SWE", "numericCode": "752"}
    headers = {"Authorization": f"Bearer {server.token('bob', 'operator')}"}
    httpx.put(f"{server.url}/countries/api/countries/SE", json=theirs, headers=headers).raise_for_status()
    page.get_by_role("button", name="Save version").click()
    expect(page.get_by_role("alert").filter(has_text="changed elsewhere while you were writing")).to_be_visible()
    yield "conflict"
    page.get_by_role("button", name="Show what is there now").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Theirs")
    page.goto(f"{server.url}/countries/#/import?q=norw")
    table = "alpha2Code,alpha3Code,numericCode,name\nTR,TUR,792,Turkey\n"
    page.get_by_label("CSV file").set_input_files(
        {"name": "list.csv", "mimeType": "text/csv", "buffer": table.encode()}
    )
    page.get_by_role("button", name="Show changes").click()
    expect(page.locator(".proposals li")).to_be_visible()
    yield "import"


def expires(page: Page, press: Callable[[], None]) -> Iterator[str]:
    """An expired sign-in: the page says so, and opens the sign-in in a dialog."""
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    press()
    expect(page.locator(".toast.wrong").first).to_be_visible()
    yield "expired"
    page.get_by_role("button", name="Sign in", exact=True).first.click()
    expect(page.get_by_role("dialog").locator(".choices .button").first).to_be_visible()
    yield "sign-in again"
    page.get_by_role("button", name="Not now").click()


def a_user_of_todo(page: Page, server: Server) -> Iterator[str]:
    """The board, its dialogs and its messages."""
    open_as(page, server, "user", "/todo/")
    expect(page.locator(".card").first).to_be_visible()
    yield "board"
    edits_a_task(page)
    yield "edit"
    dialog = page.get_by_role("dialog")
    (task,) = (each for each in tasks_of(server, "demo") if each["title"] == dialog.get_by_label("Title").input_value())
    with client_of(server, "demo") as client:
        client.patch(f"/tasks/{task['task_id']}", json={"description": "Theirs"}).raise_for_status()
    dialog.get_by_label("Description").fill("Mine")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("changed elsewhere while you were writing")
    yield "conflict"
    dialog.get_by_role("button", name="Show what is there now").click()
    expect(dialog.get_by_label("Description")).to_have_value("Theirs")
    page.keyboard.press("Escape")
    asks_for_the_profile(page)
    yield "profile"
    page.keyboard.press("Escape")
    page.locator(".title").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").focus()  # with the focus on it, the message stays while axe examines it
    yield "undo"
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    page.route("**/api/tasks/*", lambda route: route.abort("connectionrefused"))
    page.locator(".ring").first.click()
    expect(page.locator(".toast.wrong")).to_be_visible()
    yield "a move that failed"
    page.unroute_all()
    page.locator(".toast .close").click()
    yield from expires(page, page.locator(".ring").first.click)
    page.reload()
    selects_tasks(page)
    yield "selection"


def an_applicant(page: Page, server: Server) -> Iterator[str]:
    """The list of events, an event, and the user's own requests."""
    open_as(page, server, "user", "/events/")
    expect(page.locator(".card").first).to_be_visible()
    yield "list"
    page.goto(f"{server.url}/events/#/mine")
    expect(page.get_by_role("heading", name="My requests")).to_be_visible()
    yield "mine"
    page.goto(f"{server.url}/events/")
    page.get_by_role("link", name="Signed first editions").click()
    expect(page.get_by_role("heading", level=1, name="Signed first editions")).to_be_visible()
    yield "event"
    yield from expires(page, page.get_by_role("button", name="Apply", exact=True).click)


def an_owner_of_accounts(page: Page, server: Server) -> Iterator[str]:
    """Accounts, from the list to an expired sign-in, errors, and a user without accounts."""
    open_as(page, server, "user", "/accounts/")
    expect(page.locator(".accounts a").first).to_be_visible()
    yield "list"
    page.get_by_role("link", name="Ada Lovelace").click()
    expect(page.locator(".entries tbody tr").first).to_be_visible()
    expect(page.locator(".versions tbody tr").first).to_be_visible()
    page.get_by_role("radio", name="Withdraw", exact=True).check()
    page.get_by_label("Amount").fill("1000000")
    page.get_by_role("button", name="Move money").click()
    expect(page.get_by_text("The balance of this account is 200.00.")).to_be_visible()
    yield "statement, versions and a refused order"
    page.get_by_role("button", name="Close account").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    yield "close"
    page.get_by_role("button", name="Keep it").click()
    page.set_viewport_size({"width": 1280, "height": 844})
    page.get_by_role("button", name="Open an account").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    yield "open"
    page.get_by_role("button", name="Close", exact=True).click()
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    page.get_by_label("Month").select_option(index=1)
    expect(page.locator(".toast.wrong")).to_be_visible()
    yield "expired"
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("dialog").locator(".choices .button").first).to_be_visible()
    yield "sign-in again"
    unavailable(page, "**/api/accounts?*", "**/statements", "**/versions?*", "**/grants?*")
    page.reload()
    expect(page.locator(".in-place.failed")).to_have_count(4)
    yield "errors"
    page.unroute_all()
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('newcomer')}')")
    page.reload()
    expect(page.get_by_text("You have none yet")).to_be_attached()
    expect(page.get_by_role("heading", name="There is no account acc-1001")).to_be_visible()
    yield "nothing"


STORIES: Final = [
    a_reader_of_countries,
    an_operator_of_countries,
    an_owner_of_accounts,
    a_user_of_todo,
    an_applicant,
]


@pytest.mark.parametrize("story", STORIES)
def test_axe_finds_nothing_in_any_state_of(open_page: OpenPage, everything: Server, story: Story) -> None:
    page = open_page()
    assert {state: found for state in story(page, everything) if (found := violations(page))} == {}
