"""Requests of a page that wait until the test lets them go."""

from __future__ import annotations

from playwright.sync_api import Page, Route

LOOK = 10
"""In milliseconds, between two looks for a request; the page goes on meanwhile."""


class Held:
    """Holds every request of a page to addresses like `pattern`, until they are released."""

    def __init__(self, page: Page, pattern: str) -> None:
        self._page = page
        self._routes: list[Route] = []
        self._is_open = False
        page.route(pattern, self._hold)

    def _hold(self, route: Route) -> None:
        if self._is_open:
            route.continue_()
        else:
            self._routes.append(route)

    def __len__(self) -> int:
        return len(self._routes)

    def wait(self) -> None:
        """Until a request has come."""
        while not self._routes:
            self._page.wait_for_timeout(LOOK)

    def release(self) -> None:
        """Let those go that have come, at least one, and those that will come."""
        self.wait()
        self._is_open = True
        for route in self._routes:
            route.continue_()
