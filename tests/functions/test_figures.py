"""The consumption of functions, printed as lines that CloudWatch reads, if that is configured."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.change.memory import MemorySink
from tests.change.model import TABLE
from tests.functions.recorded import Context, recorded
from tests.functions.test_handlers import SECRET, SERVICES, request, secret, seeded, stored, stream_event

from partita import Consumption, EmbeddedStore, Meter
from partita.change import Consumer, ItemChange
from partita.errors import OperationError, RebuildRequired
from partita.functions import DeliveredRecords, FunctionSettings, HttpHandler, StreamHandler
from partita.functions._figures import FigureLog, StreamFigureLog
from partita.functions._handlers import http_handler, stream_handler, worker_handler
from partita.functions._secret import secret_for
from partita.http import Caller, Identity

pytestmark = pytest.mark.req("X10")


@pytest.fixture
def settings(tmp_path: Path) -> FunctionSettings:
    found = FunctionSettings(
        ("todo",),
        store=str(tmp_path / "items.db"),
        queue=str(tmp_path),
        secret_id="secret",
        read_secret=secret,
        metrics="emf",
    )
    stored(found, "todo")
    return found


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_line_is_what_ran_since_the_last_one() -> None:
    meter, written = Meter(), list[str]()
    meter.record(Consumption("before", ("GetItem",), 1.0, 0.0, False, "shop"))
    log = FigureLog(meter, write=written.append, clock=lambda: 1_700_000_000.5)
    log()
    assert written == []
    for over in (False, True):
        meter.record(Consumption("order", ("PutItem",), 0.0, 2.0, over, "shop"))
    meter.record(Consumption("before", ("GetItem",), 0.5, 0.0, False, "shop"))
    log()
    first, second = sorted(map(json.loads, written), key=lambda line: line["pattern"])
    figures = {
        "partita_operations_total": 2,
        "partita_requests_total": 2,
        "partita_consumed_read_units_total": 0.0,
        "partita_consumed_write_units_total": 4.0,
        "partita_over_budget_total": 1,
        "partita_retries_total": 0,
        "partita_throttles_total": 0,
        "partita_conflicts_total": 0,
        "partita_failures_total": 0,
    }
    assert second == {
        "_aws": {
            "Timestamp": 1_700_000_000_500,
            "CloudWatchMetrics": [
                {
                    "Namespace": "Partita",
                    "Dimensions": [["job"], ["job", "pattern"]],
                    "Metrics": [{"Name": name, "Unit": "Count"} for name in figures],
                }
            ],
        },
        "job": "shop",
        "pattern": "order",
        **figures,
    }
    assert (first["partita_operations_total"], first["partita_consumed_read_units_total"]) == (1, 0.5)
    log()
    assert len(written) == 2


def test_a_request_is_counted_when_it_is_answered(
    settings: FunctionSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = http_handler(settings)
    token = Identity(secret_for("tokens", SECRET)).token(Caller("ann"))
    made = handler(request("POST", "/todo/api/tasks", {"title": "x"}, authorization=f"Bearer {token}"), Context())
    assert made["statusCode"] == 201
    counted = {line["pattern"]: line for line in lines(capsys) if line["job"] == "todo"}
    assert counted["create_task"]["partita_operations_total"] == 1
    assert counted["create_task"]["partita_consumed_write_units_total"] > 0
    handler.close()


def test_a_worker_is_counted_when_its_round_is_over(
    settings: FunctionSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(settings, "events")
    handler = worker_handler(replace(settings, services=("events",)))
    handler(recorded("schedule"), Context())
    assert {(line["job"], line["pattern"]) for line in lines(capsys)} >= {("events", "active_events")}
    handler.close()


def test_nothing_is_written_unless_it_is_wanted(settings: FunctionSettings, capsys: pytest.CaptureFixture[str]) -> None:
    stored(settings, "events")
    handler = worker_handler(replace(settings, services=("events",), metrics="off"))
    handler(recorded("schedule"), Context())
    assert lines(capsys) == []
    handler.close()


def test_a_request_that_fails_is_counted_too() -> None:
    counted: list[int] = []

    async def app(*_: Any) -> None:
        raise ZeroDivisionError

    handler = HttpHandler(app, after=lambda: counted.append(1))
    with pytest.raises(ZeroDivisionError):
        handler(request("GET", "/"), Context())
    assert counted == [1]
    handler.close()


def test_the_environment_says_it() -> None:
    found = [
        FunctionSettings.from_environment({"PARTITA_SERVICES": "todo", "PARTITA_METRICS": each})
        for each in ("emf", "off")
    ]
    assert [each.metrics for each in found] == ["emf", "off"]
    with pytest.raises(OperationError, match="Set it to emf or off"):
        FunctionSettings.from_environment({"PARTITA_SERVICES": "todo", "PARTITA_METRICS": "loud"})


def test_an_event_of_a_stream_is_counted_up_to_the_record_that_failed() -> None:
    written: list[str] = []
    log = StreamFigureLog({TABLE.name: "shop"}, write=written.append, clock=lambda: 1428537700.0)

    def fails_at_the_second(change: ItemChange) -> None:
        if change.kind == "modify":
            raise ZeroDivisionError

    StreamHandler({TABLE: [fails_at_the_second]}, after=log)(recorded("stream"))
    StreamHandler({TABLE: [lambda _change: None]}, after=log)(recorded("stream"))
    failed, done = map(json.loads, written)
    assert failed == {
        "_aws": {
            "Timestamp": 1428537700000,
            "CloudWatchMetrics": [
                {
                    "Namespace": "Partita",
                    "Dimensions": [["job"], ["job", "table"]],
                    "Metrics": [
                        {"Name": "partita_changes_received_total", "Unit": "Count"},
                        {"Name": "partita_changes_applied_total", "Unit": "Count"},
                        {"Name": "partita_shard_lag_seconds", "Unit": "Seconds"},
                    ],
                }
            ],
        },
        "job": "shop",
        "table": TABLE.name,
        "partita_changes_received_total": 3,
        "partita_changes_applied_total": 1,
        "partita_shard_lag_seconds": 98.5,
    }
    assert done["partita_changes_applied_total"] == 3


def test_an_event_that_a_sink_refuses_as_a_whole_is_counted_too() -> None:
    counted: list[DeliveredRecords] = []
    with pytest.raises(RebuildRequired):
        StreamHandler({TABLE: [MemorySink()]}, after=counted.append)(recorded("stream"))
    assert [(each.received, each.applied) for each in counted] == [(3, 0)]


def test_a_function_of_a_stream_writes_its_figures(
    settings: FunctionSettings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings = replace(settings, projections=str(tmp_path))
    service, handler = SERVICES["todo"], stream_handler(settings)
    assert service.projection is not None
    with EmbeddedStore(settings.store) as store:
        with closing(service.projection.open(tmp_path / "todo-projection.db")) as sink:
            Consumer(store, service.projection.table, sink).catch_up()
        seeded(store)
        event = stream_event(store, service.projection.table.name)
    handler(event, Context())
    (line,) = lines(capsys)
    assert (line["job"], line["table"]) == ("todo", service.projection.table.name)
    assert line["partita_changes_applied_total"] == len(event["Records"])
