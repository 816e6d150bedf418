"""Every route of every service refuses a query parameter that it does not have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts

from partita.http import known_parameters
from partita.service import Service, discover

pytestmark = pytest.mark.req("X04")


def called(dependant: Dependant) -> Iterator[object]:
    """Yield the functions that a route or dependency calls before it."""
    for each in dependant.dependencies:
        yield each.call
        yield from called(each)


@pytest.mark.parametrize("service", discover(), ids=lambda service: service.name)
def test_every_route_checks_its_parameters(service: Service) -> None:
    assert service.router is not None
    routes = list(iter_route_contexts(service.router().routes))
    assert len(routes) > 5
    assert [each.path for each in routes if known_parameters not in called(each.dependant)] == []
