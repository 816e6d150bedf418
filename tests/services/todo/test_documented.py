"""The documentation page of the service has every route, every access pattern with its budget, and the setting."""

from __future__ import annotations

import re
from pathlib import Path

from tests.services.routes import routes_of

from partita_services.todo.http import ROUTER
from partita_services.todo.model import TABLE
from partita_services.todo.settings import KEEP_COMPLETED_DAYS

ROUTES = routes_of(ROUTER)

PAGE = (Path(__file__).parents[3] / "docs/services/todo.md").read_text(encoding="utf-8")


def test_every_route_is_on_the_page() -> None:
    assert [route for route in ROUTES if f"`{route}`" not in PAGE] == []


def test_every_pattern_is_on_the_page_with_its_budget() -> None:
    documented = re.findall(r"^\| `(\w+)` \| .* \| ([\d.]+ [RW]CU) \|$", PAGE, re.MULTILINE)
    assert sorted(documented) == sorted((name, str(pattern.budget)) for name, pattern in TABLE.patterns.items())


def test_the_setting_is_on_the_page() -> None:
    assert f"`{KEEP_COMPLETED_DAYS}=" in PAGE
