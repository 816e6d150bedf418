"""How long a person waits for a page: the first card of a board with 5,000 tasks and with 50, in a real browser."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx
from playwright.sync_api import Browser, sync_playwright
from tests.browser.conftest import FLAGS, NAMES, PATIENCE, Server, serving

from bench._compare import Bar, Comparison, Skipped

NAME: Final = "first card of 5,000 tasks, to that of 50"
TASKS: Final = {"few": 50, "many": 5000}
ROUNDS: Final = 15
CALLERS: Final = 8
PRIORITIES: Final = ("urgent", "high", "medium", "low", None)

_NOTE_THE_FIRST: Final = """document.addEventListener("DOMContentLoaded", () => {
    const noted = new MutationObserver(() => {
        if (!document.querySelector(".card .title")) return;
        window.firstCard = performance.now();
        noted.disconnect();
    });
    noted.observe(document.body, { childList: true, subtree: true });
})"""


def comparisons(folder: Path) -> Iterator[Comparison | Skipped]:
    """All measurements of this module."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        yield Skipped(NAME, "no browser is installed on this machine")
        return
    with serving("todo", folder / "pages", "--rate-limit", "off") as server, sync_playwright() as driver:
        for user, number in TASKS.items():
            _fill(server, user, number)
        browser = driver.chromium.launch(executable_path=found, args=FLAGS)
        for user in TASKS:
            _first_card(browser, server, user)  # the first page of a browser is slower than later ones
        rounds = [{user: _first_card(browser, server, user) for user in TASKS} for _ in range(ROUNDS)]
        browser.close()
    yield _compared(rounds)


def _compared(rounds: list[dict[str, float]]) -> Comparison:
    few, many = (statistics.median(each[user] for each in rounds) for user in ("few", "many"))
    low, middle, high = statistics.quantiles([each["many"] / each["few"] for each in rounds], n=4)
    return Comparison(NAME, many, few, middle, Bar("at most", 1.5), low=low, high=high, rounds=len(rounds))


def _fill(server: Server, user: str, number: int) -> None:
    headers = {"Authorization": f"Bearer {server.token(user)}"}
    with (
        httpx.Client(base_url=f"{server.url}/todo/api", headers=headers, timeout=PATIENCE / 1000) as client,
        ThreadPoolExecutor(CALLERS) as callers,
    ):

        def create(at: int) -> None:
            client.post("/tasks", json=_task(at)).raise_for_status()

        list(callers.map(create, range(number)))


def _task(at: int) -> dict[str, Any]:
    priority = PRIORITIES[at % len(PRIORITIES)]
    return {"title": f"Task {at}"} | ({"priority": priority} if priority else {})


def _first_card(browser: Browser, server: Server, user: str) -> float:
    """The seconds from the navigation to the first card, in a browser with an empty cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token(user)}')")
    page.add_init_script(_NOTE_THE_FIRST)
    page.goto(f"{server.url}/todo/")
    taken: float = page.wait_for_function("() => window.firstCard").json_value() / 1000
    context.close()
    return taken
