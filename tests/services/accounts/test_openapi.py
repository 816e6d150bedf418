"""The description of the API is true: generated requests find no answer that it does not describe."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, seed, settings

from partita import AsyncSession, EmbeddedStore, Session
from partita.http import Caller, Identity, build_app
from partita.testing import FakeClock
from partita_services.accounts.bootstrap import SERVICE
from partita_services.accounts.bootstrap import seed as samples
from partita_services.accounts.handlers import HANDLERS

IDENTITY = Identity(b"k" * 32)
HEADERS = {"Authorization": f"Bearer {IDENTITY.token(Caller('ann'))}"}


@pytest.mark.req("X08")
@pytest.mark.parametrize("route", HANDLERS)
@pytest.mark.parametrize("mode", [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE])
def test_every_answer_is_described(route: str, mode: schemathesis.GenerationMode) -> None:
    clock = FakeClock()
    with EmbeddedStore(":memory:", clock=clock) as store:
        session = Session(store, clock=clock)
        session.create_tables(SERVICE.tables)
        for step in samples(clock()):
            session.run(step)
        app = build_app([SERVICE], AsyncSession(store, clock=clock), IDENTITY)
        method, path = route.split()
        keys = count()  # a key that came before with another request is refused, however valid it is
        operation = schemathesis.openapi.from_asgi("/accounts/api/openapi.json", app)[path][method]

        @given(case=operation.as_strategy(generation_mode=mode))
        @seed(8)
        @settings(
            max_examples=30,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def answers_are_described(case: schemathesis.Case[Any]) -> None:
            body = case.body if isinstance(case.body, dict) else {}
            assume(body.get("from", 0) != body.get("to", 1))  # what the description cannot say
            key = {"Idempotency-Key": f"key-{next(keys)}"} if mode is schemathesis.GenerationMode.POSITIVE else {}
            case.call_and_validate(headers=HEADERS | key)

        answers_are_described()


@pytest.mark.req("X08")
def test_the_description_has_every_route_and_an_example_of_every_body() -> None:
    with EmbeddedStore(":memory:") as store:
        app = build_app([SERVICE], AsyncSession(store), IDENTITY)
        description = schemathesis.openapi.from_asgi("/accounts/api/openapi.json", app).raw_schema
    routes = [f"{method.upper()} {path}" for path, methods in description["paths"].items() for method in methods]
    assert sorted(routes) == sorted(HANDLERS)
    for name in ("AccountDraft", "AccountContent", "AccountView", "Movement", "TransferOrder"):
        fields = description["components"]["schemas"][name]["properties"]
        assert [field for field, shape in fields.items() if "examples" not in shape] == []
