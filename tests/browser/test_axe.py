"""Every page and state without a violation that axe knows, on a phone and a desktop, in light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server, serving

OpenPage = Callable[..., Page]
Steps = Callable[[Page], None]

pytestmark = pytest.mark.req("X17")

AXE: Final = Path(__file__).parents[2] / ".venv" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
RUN: Final = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(" ")).slice(0, 3)])"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of all services with their sample data."""
    with serving("--all", tmp_path_factory.mktemp("all")) as server:
        yield server


def violations(page: Page) -> dict[str, Any]:
    """What axe finds in the state that the page is in, by width and scheme."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found = {}
    for width, scheme in ((1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        found[f"{width} {scheme}"] = page.evaluate(RUN)
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


def fails_to_move(page: Page) -> None:
    page.route("**/api/tasks/*", lambda route: route.abort("connectionrefused"))
    page.locator(".ring").first.click()
    expect(page.locator(".toast.wrong")).to_be_visible()


def makes_an_event(page: Page) -> None:
    page.get_by_role("button", name="New event").click()
    expect(page.get_by_role("dialog", name="New event")).to_be_visible()


def opens_the_menu(page: Page) -> None:
    page.get_by_label("Services", exact=True).first.click()


STATES: Final[list[tuple[str, str | None, str, Steps | None]]] = [
    ("/todo/", None, ".choices .button", None),
    ("/todo/", "user", ".card", None),
    ("/todo/", "user", ".card", edits_a_task),
    ("/todo/", "user", ".card", selects_tasks),
    ("/todo/", "user", ".card", asks_for_the_profile),
    ("/todo/", "user", ".card", fails_to_move),
    ("/todo/?q=nothing", "user", ".found:not(:empty)", opens_the_menu),
    ("/events/", "user", ".card", None),
    ("/events/#/mine", "user", "h1", None),
    ("/events/#/operate", "operator", ".card", makes_an_event),
    ("/events/", None, ".choices .button", None),
    ("/console/", None, "main h1", None),
    ("/console/#/todo", None, "main h1", None),
    ("/accounts/", None, ".choices .button", None),
    ("/accounts/", "user", "main h1, main h2", None),
    ("/accounts/#/acc-1001", "user", ".entries", None),
    ("/countries/", None, "#list a", None),
    ("/countries/#/CH", "operator", "#content h1", None),
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
