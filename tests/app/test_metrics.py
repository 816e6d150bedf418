"""`/metrics` reports requests, operations and failures in the text format of Prometheus."""

from __future__ import annotations

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.http.toy import RAISED

from partita import AsyncSession, Meter
from partita.app._front import Front
from partita.app._limits import Limits
from partita.app._metrics import BUCKETS, RequestMetrics, metrics_text
from partita.app.direct import DirectRoutes
from partita.errors import AlreadyExists, Throttled
from partita.http import BackgroundFigures
from partita.reports import FleetFigures

pytestmark = pytest.mark.req("X10")

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]
IDLE = BackgroundFigures(FleetFigures(), {}, {}, is_complete=True)
DURATION = "partita_http_request_duration_seconds"


def parsed(text: bytes) -> Samples:
    """Return every sample of the text, as parsed by Prometheus' own parser."""
    families = text_string_to_metric_families(text.decode())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value for found in families for sample in found.samples
    }


async def scrape(client: httpx.AsyncClient) -> Samples:
    response = await client.get("/metrics")
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return parsed(response.content)


def of(samples: Samples, name: str, **labels: str) -> float | None:
    return samples.get((name, frozenset(labels.items())))


async def test_requests_are_counted_by_the_template_of_their_route(client: httpx.AsyncClient) -> None:
    for note_id in ("n1", "n2", "n3"):
        await client.put(f"/toy/api/notes/{note_id}")
    await client.get("/toy/api/me", headers={"Authorization": ""})
    samples = await scrape(client)
    put = {"method": "PUT", "route": "/toy/api/notes/{note_id}", "status": "200"}
    assert of(samples, f"{DURATION}_count", **put) == 3
    assert of(samples, f"{DURATION}_bucket", **put, le="+Inf") == 3
    assert of(samples, f"{DURATION}_count", method="GET", route="/toy/api/me", status="401") == 1


async def test_paths_that_nobody_serves_are_not_told_apart(client: httpx.AsyncClient) -> None:
    for path in ("/a", "/b", "/toy/api/c"):
        await client.get(path)
    assert of(await scrape(client), f"{DURATION}_count", method="GET", route="none", status="404") == 3


async def test_methods_that_no_route_has_are_not_told_apart(client: httpx.AsyncClient) -> None:
    for place in range(500):
        await client.request(f"MADE{place}", "/toy/api/me")
    counts = {labels: value for (name, labels), value in (await scrape(client)).items() if name == f"{DURATION}_count"}
    assert [dict(labels)["method"] for labels in counts] == ["other"]
    assert list(counts.values()) == [500]


async def test_requests_that_a_limit_refuses_are_counted_together(client: httpx.AsyncClient) -> None:
    for place in range(3):
        await client.get(f"/toy/api/notes/{place}{'x' * 9_000}")
        await client.get(f"/toy/api/{place}", headers={f"X-{place}": "x" * 40_000})
    samples = await scrape(client)
    found = [of(samples, f"{DURATION}_count", method="GET", route="none", status=each) for each in ("414", "431")]
    assert found == [3, 3]
    assert sum(name == f"{DURATION}_count" for name, _ in samples) == 2


async def test_a_failure_is_counted_as_one(client: httpx.AsyncClient) -> None:
    RAISED["metrics-fault"] = ZeroDivisionError("secret")
    await client.get("/toy/api/raise/metrics-fault")
    labels = {"method": "GET", "route": "/toy/api/raise/{name}", "status": "500"}
    assert of(await scrape(client), f"{DURATION}_count", **labels) == 1


async def test_operations_are_counted_by_access_pattern(client: httpx.AsyncClient) -> None:
    for _ in range(2):
        await client.put("/toy/api/notes/n1")
    samples = await scrape(client)
    expected = {
        ("partita_operations_total", "write_note"): 2,
        ("partita_operations_total", "note_by_id"): 4,
        ("partita_requests_total", "note_by_id"): 4,
        ("partita_consumed_read_units_total", "note_by_id"): 2,
        ("partita_consumed_write_units_total", "write_note"): 2,
        ("partita_over_budget_total", "write_note"): 0,
        ("partita_retries_total", "write_note"): 0,
        ("partita_throttles_total", "write_note"): 0,
        ("partita_conflicts_total", "write_note"): 0,
        ("partita_failures_total", "write_note"): 0,
    }
    assert {key: of(samples, key[0], service="toy", pattern=key[1], process="server") for key in expected} == expected


async def test_throttles_conflicts_and_failures_show(client: httpx.AsyncClient, session: AsyncSession) -> None:
    session.meter.record_retry("s", "p", Throttled("slow"))
    session.meter.record_failure("s", "p", AlreadyExists("twice"))
    samples = await scrape(client)
    names = ["partita_retries_total", "partita_throttles_total", "partita_conflicts_total", "partita_failures_total"]
    assert [of(samples, name, service="s", pattern="p", process="server") for name in names] == [1, 1, 1, 1]


def test_replays_are_counted_by_route() -> None:
    requests = RequestMetrics()
    for replayed in (False, True, True):
        requests.record("POST", "/shop/api/orders", 201, 0.1, replayed=replayed)
    assert (
        of(
            parsed(metrics_text(requests.figures(), [], IDLE)),
            "partita_idempotent_replays_total",
            route="/shop/api/orders",
        )
        == 2
    )


def test_latencies_fall_into_every_bucket_that_reaches_them() -> None:
    requests = RequestMetrics()
    for seconds in (0.0005, 0.001, 0.0011, 0.3, 11.0):
        requests.record("GET", "/x", 200, seconds, replayed=False)
    samples = parsed(metrics_text(requests.figures(), [], IDLE))
    labels = {"method": "GET", "route": "/x", "status": "200"}
    found = [of(samples, f"{DURATION}_bucket", **labels, le=str(le)) for le in (*BUCKETS, "+Inf")]
    assert found == [2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5]
    assert of(samples, f"{DURATION}_sum", **labels) == pytest.approx(11.3026)


def test_any_name_can_be_a_label() -> None:
    requests = RequestMetrics()
    requests.record("GET", 'a"b\\c\nd', 200, 0.1, replayed=False)
    samples = parsed(metrics_text(requests.figures(), [], IDLE))
    assert of(samples, f"{DURATION}_count", method="GET", route='a"b\\c\nd', status="200") == 1


async def test_the_time_is_from_the_request_to_its_end() -> None:
    ticks = iter([100.0, 100.2])

    async def app(scope: object, receive: object, send: object) -> None:
        """Send nothing at all."""

    async def nothing(*_: object) -> dict[str, object]:
        return {}

    requests = RequestMetrics()
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [], "root_path": ""}
    front = Front(
        app, limits=Limits(), meter=Meter(), metrics=requests, direct=DirectRoutes(), timer=lambda: next(ticks)
    )
    await front(scope, nothing, nothing)  # type: ignore[arg-type]
    samples = parsed(metrics_text(requests.figures(), [], IDLE))
    assert of(samples, f"{DURATION}_sum", method="GET", route="none", status="500") == pytest.approx(0.2)
