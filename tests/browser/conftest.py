"""A real browser and a real server: the Chromium of this machine, and `partita serve` on a free port."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from msgspec import Struct
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, ViewportSize, expect, sync_playwright
from tests.browser.server import LOADED
from tests.template import Template

from partita.cli import DataFolder, identity_of
from partita.http import Caller, Role

PATIENCE = 60_000
"""The timeout in milliseconds: long, so that no test fails only because the machine is busy."""
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first opens pages in half the time, because it draws no window."""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Server(Struct, frozen=True):
    """A running `partita serve`: its address, and its data folder."""

    url: str
    data: Path

    def token(self, user: str, role: str = "user") -> str:
        """Return a token of a user."""
        return identity_of(DataFolder(self.data)).token(Caller(user, Role(role)))


@cache
def template() -> Template:
    """The process from which servers are forked, so that each starts with all modules loaded."""
    return Template("tests.browser.server", *LOADED)


@contextmanager
def serving(service: str, data: Path, *options: str) -> Iterator[Server]:
    """Serve a service, or all services with `--all`, with sample data until the block ends."""
    process = template().start("serve", service, "--port", "0", "--data", str(data), *options)
    said = ""
    with process.stdout:
        for line in process.stdout:
            said += line.decode()
            if address := re.search(r"serves at (http://\S+)/", said):
                break
        else:
            raise AssertionError(f"The server did not start:\n{said}")
        try:
            yield Server(address[1], data)
        finally:
            os.kill(process.pid, signal.SIGTERM)
            process.stdout.read()
            template().wait(process.pid)


HERE = Path(__file__).parent
SLOWER = 4
"""The factor by which the processor is slowed with `--unsteady`."""
LATE = (HERE / "late.js").read_text()


TOGETHER = {
    "browser-todo": ("todo", "console", "front", "kit", "signin"),
    "browser-events": ("events", "commitcollect", "collect", "simulator"),
    "browser": ("",),
}
"""The files of each group share a browser and a server of each service, which take a second to start."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the files of a group in one worker."""
    for item in items:
        if item.nodeid.startswith("tests/browser/"):
            item.add_marker(pytest.mark.xdist_group(_group(item.path.stem)))


def _group(name: str) -> str:
    return next(group for group, words in TOGETHER.items() if any(word in name for word in words))


@pytest.fixture(scope="package", autouse=True)
def _template_ends() -> Iterator[None]:
    """Close the template after all servers have stopped: fixtures are torn down in reverse order."""
    yield
    if template.cache_info().currsize:
        template().close()
        template.cache_clear()


# The scope is this package, not the session: while the driver is open, its event loop runs, and other asynchronous
# tests could not run.
@pytest.fixture(scope="package")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """A function that returns the server of a service; it starts each server once."""
    running: dict[str, Server] = {}
    open_ones = []

    def start(service: str) -> Server:
        if service not in running:
            context = serving(service, tmp_path_factory.mktemp(service))
            running[service] = context.__enter__()
            open_ones.append(context)
        return running[service]

    yield start
    for context in open_ones:
        context.__exit__(None, None, None)


@pytest.fixture(scope="package")
def driver() -> Iterator[Playwright]:
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(driver: Playwright) -> Iterator[Browser]:
    """Chromium; tests are skipped if this machine has none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"there is no browser on this machine: none of {', '.join(NAMES)} is installed")
    browser = driver.chromium.launch(executable_path=found, args=FLAGS, env={**os.environ, "TZ": "UTC"})
    yield browser
    browser.close()


def make_unsteady(page: Page, seed: int) -> None:
    """Slow the page's processor, and delay its requests and responses so that they arrive in another order."""
    page.add_init_script(LATE.replace("SEED", str(seed)))
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})


def in_both_schemes(page: Page) -> Iterator[str]:
    """Yield for the light and then for the dark scheme, with animations off."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        yield scheme


@pytest.fixture
def open_page(browser: Browser, pytestconfig: pytest.Config) -> Iterator[Callable[..., Page]]:
    """A function that opens an empty page. The test fails if a script of such a page raises an error."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []
    seed: int | None = pytestconfig.getoption("--unsteady")

    def new_page(width: int = 1280, height: int = 860, *, dark: bool = False) -> Page:
        size = ViewportSize(width=width, height=height)
        context = browser.new_context(viewport=size, color_scheme="dark" if dark else "light")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        if seed is not None:
            make_unsteady(page, seed)
        return page

    yield new_page
    for context in contexts:
        for page in context.pages:  # a route that still waits for the server would fail in a later test
            page.unroute_all(behavior="ignoreErrors")
        context.close()
    assert errors == []
