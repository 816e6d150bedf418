"""Spans: one for each request if OpenTelemetry is configured."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import ProxyTracerProvider, SpanKind, StatusCode
from tests.http.toy import RAISED

from partita import AsyncSession
from partita.app import _tracing as tracing
from partita.http import Caller, Identity

pytestmark = pytest.mark.req("X10")


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
async def client(
    app: FastAPI, session: AsyncSession, identity: Identity, spans: InMemorySpanExporter
) -> AsyncIterator[httpx.AsyncClient]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    traced = tracing.TracedRequests(app, session.meter, provider)
    headers = {"Authorization": f"Bearer {identity.token(Caller('ann'))}"}
    transport = httpx.ASGITransport(traced, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        yield client


def only(spans: InMemorySpanExporter) -> ReadableSpan:
    (span,) = spans.get_finished_spans()
    return span


async def test_a_request_is_a_span_with_its_route_and_operations(
    client: httpx.AsyncClient, spans: InMemorySpanExporter
) -> None:
    await client.put("/toy/api/notes/n1")
    span = only(spans)
    assert (span.name, span.kind) == ("PUT /toy/api/notes/{note_id}", SpanKind.SERVER)
    assert dict(span.attributes or {}) == {
        "http.request.method": "PUT",
        "http.route": "/toy/api/notes/{note_id}",
        "http.response.status_code": 200,
    }
    consumed = [dict(event.attributes or {}) for event in span.events]
    assert consumed == [
        {"partita.pattern": "write_note", "partita.rcu": 0.0, "partita.wcu": 1.0},
        {"partita.pattern": "note_by_id", "partita.rcu": 0.5, "partita.wcu": 0.0},
        {"partita.pattern": "note_by_id", "partita.rcu": 0.5, "partita.wcu": 0.0},
    ]


async def test_it_continues_the_callers_trace(client: httpx.AsyncClient, spans: InMemorySpanExporter) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    await client.get("/healthz", headers={"traceparent": f"00-{trace}-{parent}-01"})
    span = only(spans)
    assert span.context is not None
    assert span.parent is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (trace, parent)


async def test_a_made_up_method_is_not_a_name(client: httpx.AsyncClient, spans: InMemorySpanExporter) -> None:
    await client.request("MADEUP", "/healthz")
    span = only(spans)
    assert span.name.startswith("other ")
    assert (span.attributes or {})["http.request.method"] == "other"


@pytest.mark.parametrize(
    ("error", "status"), [(ZeroDivisionError("secret"), StatusCode.ERROR), (None, StatusCode.UNSET)]
)
async def test_only_a_fault_is_an_error(
    client: httpx.AsyncClient, spans: InMemorySpanExporter, error: Exception | None, status: StatusCode
) -> None:
    if error is None:
        await client.get("/toy/api/nothing")
    else:
        RAISED["traced-fault"] = error
        await client.get("/toy/api/raise/traced-fault")
    assert only(spans).status.status_code is status


def test_without_the_package_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tracing.can_trace()
    monkeypatch.setattr(tracing, "find_spec", lambda _: None)
    assert not tracing.can_trace()


async def test_whether_spans_are_wanted_is_asked_once_a_second(
    app: FastAPI, session: AsyncSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[TracerProvider | ProxyTracerProvider] = []
    provider: TracerProvider | ProxyTracerProvider = ProxyTracerProvider()

    def current() -> TracerProvider | ProxyTracerProvider:
        asked.append(provider)
        return provider

    monkeypatch.setattr(trace, "get_tracer_provider", current)
    now = 5.0
    traced = tracing.TracedRequests(app, session.meter, clock=lambda: now)
    asked.clear()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(traced), base_url="http://test") as client:
        for _ in range(3):
            await client.get("/healthz")
        assert len(asked) == 1
        provider = TracerProvider()
        for _ in range(3):
            now += 1
            await client.get("/healthz")
        assert len(asked) == 2  # a configured provider is remembered, and not looked up again
