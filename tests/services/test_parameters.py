"""Every route of every service refuses a query parameter that it does not have, and a key that it would ignore."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts

from partita.http import known_parameters, refuse_key
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


def reads_key(dependant: Dependant) -> bool:
    """Whether a route or one of its dependencies has the header `Idempotency-Key` as a parameter."""
    names = [each.alias for each in dependant.header_params]
    return "idempotency-key" in names or any(map(reads_key, dependant.dependencies))


@pytest.mark.req("X05")
@pytest.mark.parametrize("service", discover(), ids=lambda service: service.name)
def test_no_route_that_writes_ignores_an_idempotency_key(service: Service) -> None:
    assert service.router is not None
    unsafe = [
        each for each in iter_route_contexts(service.router().routes) if {"GET", "HEAD"}.isdisjoint(each.methods or ())
    ]
    assert len(unsafe) > 3
    assert [(each.methods, each.path) for each in unsafe if not reads_key(each.dependant)] == []
    assert any(refuse_key in called(each.dependant) for each in unsafe)
