"""Requests of a page that are held until the test releases them."""

from __future__ import annotations

from playwright.sync_api import Page, Route

LOOK = 10
"""The milliseconds between two checks for a request; the page runs meanwhile."""


class Held:
    """Holds every request of a page whose address matches a pattern, until they are released."""

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
        """Wait until a request is held."""
        while not self._routes:
            self._page.wait_for_timeout(LOOK)

    def release(self) -> None:
        """Wait for at least one request; then continue the held requests, and all later ones."""
        self.wait()
        self._is_open = True
        for route in self._routes:
            route.continue_()
