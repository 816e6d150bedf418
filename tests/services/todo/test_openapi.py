"""The OpenAPI description is correct: generated requests get only responses that it describes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.services.described import Case, made_up, routes_in
from tests.services.routes import routes_of

from partita import AsyncSession, EmbeddedStore, Session
from partita.app import build_app
from partita.change import Consumer
from partita.http import AppState, Caller, Identity
from partita.service import OpenProjection
from partita.testing import FakeClock
from partita_services.todo import http
from partita_services.todo.bootstrap import SAMPLE_USER, SERVICE
from partita_services.todo.bootstrap import seed as samples
from partita_services.todo.http import ROUTER
from partita_services.todo.model import TABLE, tasks_of_user
from partita_services.todo.projection import TaskProjection

pytestmark = pytest.mark.slow

ROUTES = routes_of(ROUTER)

IDENTITY = Identity(b"k" * 32)
HEADERS = {"Authorization": f"Bearer {IDENTITY.token(Caller(SAMPLE_USER))}"}


def may_be_refused(case: Case) -> bool:
    """Whether a request may break a rule on cursors, keys, versions, time zones or dates that no schema can express."""
    asked = case.query.keys() | {name.lower() for name in case.headers}
    invented = {"cursor", "idempotency-key", "if-match", "time_zone", "x-time-zone"}
    in_body = isinstance(case.body, dict) and case.body.get("time_zone") is not None
    return bool(asked & invented) or {"due_from", "due_to"} <= asked or in_body


async def once(*_: object) -> AsyncIterator[str]:
    """Yield the first event of a stream that otherwise does not end."""
    yield "event: ready\nid: 1\ndata: {}\n\n"


@pytest.mark.req("X08")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("mode", [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE])
def test_every_response_is_described(
    route: str, mode: schemathesis.GenerationMode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "change_news", once)
    clock = FakeClock()
    with EmbeddedStore(":memory:", clock=clock) as store, closing(TaskProjection(tmp_path / "p.db")) as sink:
        session = Session(store, clock=clock)
        session.create_tables(SERVICE.tables)
        for step in samples(clock()):
            session.run(step)
        projection = OpenProjection(sink, Consumer(store, TABLE, sink, clock=clock))
        projection.consumer.catch_up()
        (task, *_) = session.run(tasks_of_user(SAMPLE_USER).page(1))
        app = build_app(
            [SERVICE], AppState(AsyncSession(store, clock=clock), IDENTITY, projections={"todo": projection})
        )
        method, path = route.split()
        operation = schemathesis.openapi.from_asgi("/todo/api/openapi.json", app)[path][method]

        @made_up(operation, mode, examples=15)
        def responses_are_described(case: Case) -> None:
            if mode is schemathesis.GenerationMode.POSITIVE and "task_id" in case.path_parameters:
                case.path_parameters["task_id"] = task.task_id
            excluded: list[Any] = [positive_data_acceptance] if may_be_refused(case) else []
            case.call_and_validate(headers=HEADERS, excluded_checks=excluded)

        responses_are_described()


@pytest.mark.req("X08")
def test_the_description_has_every_route() -> None:
    with EmbeddedStore(":memory:") as store:
        app = build_app([SERVICE], AppState(AsyncSession(store), IDENTITY))
        description = schemathesis.openapi.from_asgi("/todo/api/openapi.json", app).raw_schema
    assert routes_in(description) == sorted(ROUTES)
