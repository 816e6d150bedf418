"""The documentation page of the service has every route and every setting."""

from __future__ import annotations

from pathlib import Path

from tests.services.commitcollect.test_openapi import SITE
from tests.services.routes import routes_of

from partita_services.commitcollect.http import ROUTER
from partita_services.commitcollect.strava import settings

ROUTES = routes_of(ROUTER)

PAGE = (Path(__file__).parents[3] / "docs/services/commitcollect.md").read_text(encoding="utf-8")


def test_every_route_is_on_the_page() -> None:
    assert [route for route in (*ROUTES, *SITE) if f"`{route}`" not in PAGE] == []


def test_every_setting_is_on_the_page() -> None:
    names = [value for value in vars(settings).values() if isinstance(value, str) and value.startswith("PARTITA_")]
    assert len(names) == 8
    assert [name for name in names if f"`{name}`" not in PAGE] == []
