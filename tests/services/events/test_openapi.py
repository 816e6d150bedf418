"""The OpenAPI description is correct: generated requests get only responses that it describes."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.services.described import CONFIG, Case, made_up, routes_in
from tests.services.routes import routes_of

from partita import AsyncSession, EmbeddedStore, Session
from partita.app import build_app
from partita.change import Consumer
from partita.http import AppState, Caller, Identity, Role
from partita.queue.embedded import EmbeddedQueue
from partita.service import OpenProjection
from partita.testing import FakeClock
from partita_services.events.bootstrap import SERVICE
from partita_services.events.figures import live
from partita_services.events.figures.projection import RequestProjection
from partita_services.events.http import ROUTER
from partita_services.events.model import TABLE, events_by_ids, listed_events, requests_of_event
from partita_services.events.queueing.tools import Tools
from partita_services.events.samples.data import seed as samples

pytestmark = pytest.mark.slow

ROUTES = routes_of(ROUTER)

IDENTITY = Identity(b"k" * 32)
OPEN_EVENT = "Opening night, front rows"
HEADERS = {"Authorization": f"Bearer {IDENTITY.token(Caller('ada', Role.OPERATOR))}"}


def may_be_refused(case: Case) -> bool:
    """Whether a request may break a rule on cursors, keys, states or times that no schema can express."""
    asked = case.query.keys() | {name.lower() for name in case.headers}
    return bool(asked & {"cursor", "idempotency-key"}) or case.path == "/events" or case.method in ("DELETE", "PATCH")


def ids_of_samples(session: Session) -> dict[str, str]:
    """Return the ids of an open first-come event, and of a request for it."""
    events = session.run(listed_events().page(100))
    found = [event for event in session.run(events_by_ids([listed.event_id for listed in events])) if event is not None]
    event = next(event for event in found if event.name == OPEN_EVENT)
    (request, *_) = session.run(requests_of_event(event.event_id).page(1))
    return {"event_id": event.event_id, "request_id": request.request_id}


async def once(
    look: Callable[[], Any], is_last: Callable[[Any], bool], is_valid: Callable[[], Any], stopping: threading.Event
) -> AsyncIterator[str]:
    """Yield the first event of a stream that otherwise does not end."""
    yield f"data: {(await look()).model_dump_json(by_alias=True)}\n\n"


@pytest.mark.req("X08")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("mode", [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE])
def test_every_response_is_described(
    route: str, mode: schemathesis.GenerationMode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "news", once)
    clock = FakeClock()
    with (
        EmbeddedStore(":memory:", clock=clock) as store,
        closing(RequestProjection(tmp_path / "p.db")) as sink,
        EmbeddedQueue(tmp_path / "q.db", "events", clock=clock, durable=False) as queue,
    ):
        session = Session(store, clock=clock)
        session.create_tables(SERVICE.tables)
        for write in samples(clock()):
            session.run(write)
        projection = OpenProjection(sink, Consumer(store, TABLE, sink, clock=clock))
        projection.consumer.catch_up()
        ids = ids_of_samples(session)
        calls = AsyncSession(store, clock=clock)
        app = build_app([SERVICE], AppState(calls, IDENTITY, {"events": Tools(queue, queue)}, {"events": projection}))
        method, path = route.split()
        refusals = {"checks": {"negative_data_rejection": CONFIG["checks"]["negative_data_rejection"]}}
        config = SchemathesisConfig.from_dict(refusals)
        operation = schemathesis.openapi.from_asgi("/events/api/openapi.json", app, config=config)[path][method]

        @made_up(operation, mode, examples=8)
        def responses_are_described(case: Case) -> None:
            if mode is schemathesis.GenerationMode.POSITIVE:
                case.path_parameters.update({name: ids[name] for name in case.path_parameters})
            excluded: list[Any] = [positive_data_acceptance] if may_be_refused(case) else []
            case.call_and_validate(headers=HEADERS, excluded_checks=excluded)

        responses_are_described()


@pytest.mark.req("X08")
def test_the_description_has_every_route() -> None:
    with EmbeddedStore(":memory:") as store:
        app = build_app([SERVICE], AppState(AsyncSession(store), IDENTITY))
        description = schemathesis.openapi.from_asgi("/events/api/openapi.json", app).raw_schema
    assert routes_in(description) == sorted(ROUTES)
