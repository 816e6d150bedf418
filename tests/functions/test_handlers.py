"""The three handlers that templates name, for real services, configured by the environment."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.functions.recorded import Context, recorded

from partita import EmbeddedStore, Session, functions
from partita.change import Consumer
from partita.errors import OperationError
from partita.functions import FunctionSettings
from partita.functions._handlers import http_handler, stream_handler, worker_handler
from partita.functions._secret import secret_for
from partita.http import Caller, Identity
from partita.queue import GetStats, QueuePolicy
from partita.service import discover
from partita.store import DescribeStream, ReadStream, wire_item

SERVICES = {service.name: service for service in discover()}
SECRET = b"s" * 32


def secret(*_: Any, **__: Any) -> bytes:
    return SECRET


@pytest.fixture
def settings(tmp_path: Path) -> FunctionSettings:
    return FunctionSettings(
        ("todo",),
        store=str(tmp_path / "items.db"),
        queue=str(tmp_path),
        secret_id="secret",
        projections=str(tmp_path),
        read_secret=secret,
    )


def stored(settings: FunctionSettings, name: str) -> None:
    """Create the tables of a service, as a template does."""
    with EmbeddedStore(settings.store) as store:
        Session(store).create_tables(SERVICES[name].tables)


def of(settings: FunctionSettings, name: str) -> FunctionSettings:
    return replace(settings, services=(name,))


def request(method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
    event = recorded("function-url")
    event["requestContext"]["http"] |= {"method": method, "path": path}
    event["rawPath"] = path
    event["headers"] |= {"content-type": "application/json", **headers}
    return event | {"body": None if body is None else json.dumps(body)}


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_served(settings: FunctionSettings, name: str) -> None:
    stored(settings, name)
    handler = http_handler(of(settings, name))
    response = handler(request("GET", f"/{name}/api/openapi.json"), Context())
    assert response["statusCode"] == 200
    assert json.loads(response["body"])["info"]["title"] == SERVICES[name].title
    assert handler(request("GET", "/healthz"), Context())["statusCode"] == 200
    handler.close()


def test_callers_are_known_by_tokens_of_the_same_secret(settings: FunctionSettings) -> None:
    stored(settings, "todo")
    handler = http_handler(settings)
    assert handler(request("GET", "/todo/api/tasks"), Context())["statusCode"] == 401
    token = Identity(secret_for("tokens", SECRET)).token(Caller("ann"))
    authorization = {"authorization": f"Bearer {token}"}
    made = handler(request("POST", "/todo/api/tasks", {"title": "Zoë"}, **authorization), Context())
    assert made["statusCode"] == 201, made["body"]
    listed = handler(request("GET", "/todo/api/tasks", **authorization), Context())
    assert [task["title"] for task in json.loads(listed["body"])["items"]] == ["Zoë"]
    handler.close()


@pytest.mark.parametrize("name", [name for name, service in SERVICES.items() if service.worker is not None])
def test_every_worker_does_a_round_on_a_schedule(settings: FunctionSettings, name: str) -> None:
    stored(settings, name)
    handler = worker_handler(of(settings, name))
    assert handler(recorded("schedule"), Context()) == {}
    handler.close()


def test_a_worker_decides_the_requests_of_an_event(settings: FunctionSettings) -> None:
    """A worker gets messages as SQS passes them to a function, and reports those that it cannot read."""
    name = "events"
    stored(settings, name)
    settings = of(settings, name)
    handler = worker_handler(settings)
    event = _sqs_event(name, '{"v": 1, "kind": "unknown"}')
    failed = handler(event, Context())
    assert failed == {"batchItemFailures": [{"itemIdentifier": event["Records"][0]["messageId"]}]}
    handler.close()


def _sqs_event(service: str, body: str) -> dict[str, Any]:
    event = recorded("sqs-fifo")
    queue = next(iter(SERVICES[service].queues))
    record = event["Records"][0] | {"body": body, "eventSourceARN": f"arn:aws:sqs:eu-west-1:1:{queue}.fifo"}
    return {"Records": [record]}


def test_records_reach_the_projection_that_was_loaded(settings: FunctionSettings, tmp_path: Path) -> None:
    stored(settings, "todo")
    service, handler = SERVICES["todo"], stream_handler(settings)
    assert service.projection is not None
    with EmbeddedStore(settings.store) as store:
        with closing(service.projection.open(tmp_path / "todo-projection.db")) as sink:
            Consumer(store, service.projection.table, sink).catch_up()
        seeded(store)
        event = stream_event(store, service.projection.table.name)
    assert handler(event, Context()) == {"batchItemFailures": [], "state": {}}
    with closing(service.projection.open(tmp_path / "todo-projection.db")) as sink:
        assert sink.positions() == {event["shardId"]: int(event["Records"][-1]["dynamodb"]["SequenceNumber"])}


def seeded(store: EmbeddedStore) -> None:
    db, seed = Session(store), SERVICES["todo"].seed
    assert seed is not None
    for write in seed(1_700_000_000.0):
        db.run(write)


def stream_event(store: EmbeddedStore, table: str) -> dict[str, Any]:
    shard = store.execute(DescribeStream(table)).shards[-1].id
    page = store.execute(ReadStream(table, shard, 0, 1_000))
    arn = f"arn:aws:dynamodb:eu-west-1:1:table/{table}/stream/2026"
    records = [
        {
            "eventName": record.event,
            "eventSourceARN": arn,
            "dynamodb": {
                "Keys": wire_item(record.keys),
                "SequenceNumber": str(record.sequence),
                "ApproximateCreationDateTime": record.at,
                "SizeBytes": record.size,
                **({} if record.new is None else {"NewImage": wire_item(record.new)}),
                **({} if record.old is None else {"OldImage": wire_item(record.old)}),
            },
        }
        for record in page.records
    ]
    return recorded("stream") | {"Records": records, "shardId": shard}


def test_the_environment_says_all_of_it() -> None:
    found = FunctionSettings.from_environment(
        {
            "PARTITA_SERVICES": "todo events",
            "PARTITA_STORE": "https://dynamodb.eu-west-1.amazonaws.com",
            "PARTITA_QUEUE": "https://sqs.eu-west-1.amazonaws.com",
            "PARTITA_TABLE_PREFIX": "dev-",
            "PARTITA_SECRET_ID": "arn:aws:secretsmanager:eu-west-1:1:secret:x",
            "PARTITA_ISSUER": "https://issuer.test",
            "PARTITA_AUDIENCE": "todo",
            "AWS_LAMBDA_LOG_STREAM_NAME": "2026/01/01/[$LATEST]abc",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "hidden",
            "AWS_SESSION_TOKEN": "token",
        }
    )
    assert (found.services, found.queue_name("q"), found.name) == (
        ("todo", "events"),
        "dev-q",
        "2026/01/01/[$LATEST]abc",
    )
    assert found.credentials is not None
    assert (found.credentials.secret_key, found.credentials.session_token) == ("hidden", "token")
    assert "hidden" not in repr(found)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "Set PARTITA_SERVICES"),
        ({"PARTITA_SERVICES": "nothing"}, "There is no service 'nothing'"),
        ({"PARTITA_SERVICES": "countries", "PARTITA_STORE": "x.db"}, "Set PARTITA_SECRET_ID"),
    ],
)
def test_what_is_missing_is_said(
    environment: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OperationError, match=message):
        http_handler(FunctionSettings.from_environment(environment))


def test_an_issuer_needs_an_audience(settings: FunctionSettings) -> None:
    stored(settings, "todo")
    with pytest.raises(OperationError, match="Set PARTITA_AUDIENCE"):
        http_handler(replace(settings, issuer="https://issuer.test"))


def test_importing_makes_nothing_and_asking_for_a_handler_makes_it(tmp_path: Path) -> None:
    """AWS imports the module first, and then gets the handler from it."""
    stored(FunctionSettings((), store=str(tmp_path / "items.db")), "todo")
    code = (
        "import sys, partita.functions as module\n"
        "assert 'fastapi' not in sys.modules and 'botocore' not in sys.modules\n"
        "handler = module.worker\n"
        "assert handler is module.worker\n"
        "assert handler({'source': 'aws.events'}, None) == {}\n"
        "assert 'fastapi' not in sys.modules and 'botocore' not in sys.modules\n"
    )
    environment = {"PARTITA_SERVICES": "todo", "PARTITA_STORE": "items.db", "PARTITA_QUEUE": "."}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)


def test_there_is_no_other_handler() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'ftp'"):
        functions.ftp  # noqa: B018 - it raises


def test_a_queue_of_a_stage_has_the_prefix(settings: FunctionSettings, tmp_path: Path) -> None:
    with closing(replace(settings, table_prefix="dev-").open_queue("letters", QueuePolicy())) as queue:
        assert (queue.name, queue.execute(GetStats()).waiting) == ("dev-letters", 0)
