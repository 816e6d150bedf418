"""A stream's function with a lake in a bucket: each record is stored once, however often its batch is delivered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.change.lake.conftest import KEYS, bucket_at
from tests.functions.recorded import Context
from tests.functions.test_handlers import SERVICES, seeded, stored, stream_event
from tests.referee import moto

from partita import EmbeddedStore
from partita.change import Consumer
from partita.change.lake import Lake, S3Location, query_lake
from partita.errors import RebuildRequired
from partita.functions import FunctionSettings
from partita.functions._handlers import stream_handler

pytestmark = [pytest.mark.xdist_group("function-lake"), pytest.mark.req("T41")]

DONE: dict[str, Any] = {"batchItemFailures": [], "state": {}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with moto(tmp_path_factory.mktemp("moto")) as url:
        yield url


@pytest.fixture
def place(server: str) -> S3Location:
    return bucket_at(server)


@pytest.fixture
def settings(place: S3Location, tmp_path: Path, server: str) -> FunctionSettings:
    """Settings from the environment of a function, with the credentials that AWS puts there."""
    found = FunctionSettings.from_environment(
        {
            "PARTITA_SERVICES": "todo",
            "PARTITA_STORE": str(tmp_path / "items.db"),
            "PARTITA_LAKE": f"{place.uri}?endpoint={server}&region=us-east-1",
            "AWS_ACCESS_KEY_ID": KEYS.access_key,
            "AWS_SECRET_ACCESS_KEY": KEYS.secret_key,
        }
    )
    stored(found, "todo")
    return found


def table() -> Any:
    return SERVICES["todo"].tables[0]


def load(store: EmbeddedStore, place: S3Location) -> None:
    """Load the lake, as `partita cdc run --once` does."""
    lake = Lake(place, table())
    Consumer(store, table(), lake).catch_up()
    lake.close()


def logged(place: S3Location) -> list[int]:
    found = query_lake(place, "SELECT _sequence FROM changes WHERE _kind <> 'snapshot' ORDER BY 1").read_all()
    return [int(row["_sequence"]) for row in found.to_pylist()]


def sequences(event: dict[str, Any]) -> list[int]:
    return [int(record["dynamodb"]["SequenceNumber"]) for record in event["Records"]]


def part(event: dict[str, Any], records: slice) -> dict[str, Any]:
    return event | {"Records": event["Records"][records]}


def test_each_record_counts_once_however_often_a_batch_comes(settings: FunctionSettings, place: S3Location) -> None:
    with EmbeddedStore(settings.store) as store:
        load(store, place)
        seeded(store)
        event = stream_event(store, table().name)
    handle = stream_handler(settings)
    assert handle(part(event, slice(10)), Context()) == DONE
    assert handle(part(event, slice(10)), Context()) == DONE  # the response was lost
    assert handle(event, Context()) == DONE  # AWS has merged the batches
    assert handle(part(event, slice(5, 12)), Context()) == DONE  # a late delivery
    assert logged(place) == sequences(event)
    (counted,) = query_lake(place, "SELECT count(*) AS tasks FROM task").read_all().to_pylist()
    assert counted == {"tasks": sum("TASK#" in str(record["dynamodb"]["Keys"]["SK"]) for record in event["Records"])}


def test_it_lets_go_of_the_lake_after_each_event(settings: FunctionSettings, place: S3Location) -> None:
    with EmbeddedStore(settings.store) as store:
        load(store, place)
        seeded(store)
        event = stream_event(store, table().name)
    assert stream_handler(settings)(event, Context()) == DONE
    Lake(place, table()).close()


def test_a_lake_that_was_never_loaded_is_refused_and_the_records_wait(
    settings: FunctionSettings, place: S3Location
) -> None:
    with EmbeddedStore(settings.store) as store:
        seeded(store)
        event = stream_event(store, table().name)
    with pytest.raises(RebuildRequired, match="never loaded"):
        stream_handler(settings)(event, Context())
