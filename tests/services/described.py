"""Requests made up from the description of a service (Schemathesis), whose responses it must allow."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Final, TypeAlias

import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.config import SchemathesisConfig

from partita import AsyncSession, EmbeddedStore, Session
from partita.app import build_app
from partita.http import AppState, Caller, Identity
from partita.service import Service
from partita.testing import FakeClock

Case: TypeAlias = schemathesis.Case[Any]

MODES: Final = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
"""Requests that follow the description, and requests that do not."""

CONFIG: Final = {
    "checks": {
        "positive_data_acceptance": {
            # What no schema can say: a cursor of this list, the version that is there, a state that allows it.
            "expected-statuses": ["2xx", "3xx", 400, 401, 403, 404, 409, 410, 412, 428, "5xx"]
        },
        "negative_data_rejection": {
            # With the bound on the target: a long query is refused before it is looked at.
            "expected-statuses": [400, 401, 403, 404, 405, 406, 409, 414, 415, 422, 428, 429, "5xx"]
        },
    }
}
IDENTITY: Final = Identity(b"k" * 32)


def made_up(
    operation: Any, mode: schemathesis.GenerationMode, *, examples: int
) -> Callable[[Callable[[Case], None]], Callable[[], None]]:
    """Makes a check of one request into one of many that are made up for an operation, the same in every run."""

    def decorate(check: Callable[[Case], None]) -> Callable[[], None]:
        steady = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]
        )
        return steady(seed(8)(given(case=operation.as_strategy(generation_mode=mode))(check)))

    return decorate


def routes_in(description: dict[str, Any]) -> list[str]:
    """Every route of a description (`POST /tasks`), in order."""
    return sorted(f"{method.upper()} {path}" for path, methods in description["paths"].items() for method in methods)


def check_responses(
    service: Service,
    route: str,
    mode: schemathesis.GenerationMode,
    *,
    caller: Caller = Caller("ann"),  # noqa: B008 - frozen
    samples: int | None = None,
    assuming: Callable[[Case], bool] = lambda _: True,
) -> None:
    """Call one route (`POST /tasks`) with made-up requests, and fail on a response that is not described.

    Args:
        service: on an empty store with sample data.
        route: method and path.
        mode: requests that follow the description, or that do not.
        caller: who calls.
        samples: how many steps of the sample data there are; all of them unless said otherwise.
        assuming: leaves requests out that break a rule which the description cannot tell.
    """
    clock = FakeClock()
    with EmbeddedStore(":memory:", clock=clock, sweep_every=None) as store:
        session = Session(store, clock=clock)
        session.create_tables(service.tables)
        for step in (service.seed(clock()) if service.seed else ())[:samples]:
            session.run(step)
        app = build_app([service], AppState(AsyncSession(store, clock=clock), IDENTITY))
        method, path = route.split()
        config = SchemathesisConfig.from_dict(CONFIG)
        operation = schemathesis.openapi.from_asgi(f"/{service.name}/api/openapi.json", app, config=config)[path][
            method
        ]
        headers = {"Authorization": f"Bearer {IDENTITY.token(caller)}"}
        keys = count()

        @made_up(operation, mode, examples=15)
        def responses_are_described(case: Case) -> None:
            assume(assuming(case))
            # A key that came before with another request is refused, however valid it is.
            fresh = {"Idempotency-Key": f"key-{next(keys)}"} if mode is MODES[0] and _takes_a_key(case) else {}
            case.call_and_validate(headers=headers | fresh)

        try:
            responses_are_described()
        except Unsatisfiable:
            assert mode is MODES[1], f"{route} cannot be called"  # a route without parameters cannot be called wrongly


def _takes_a_key(case: Case) -> bool:
    return any(parameter.name == "idempotency-key" for parameter in case.operation.headers)
