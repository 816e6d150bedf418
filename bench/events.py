"""Requests decided per second, compared with the source document taken literally: two boto3 updates per request.

Both sides have a backlog of stored requests for one event, with seats for a tenth of them, and nothing else to do.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from tests.referee import ministack

from bench._compare import Bar, Comparison, Side, compare
from partita import EmbeddedStore, Session
from partita.queue import Create, Queue, open_queue
from partita.queue.sqs import SqsQueue
from partita.recipes.idempotency import run_plan
from partita.runtime import chunks
from partita.store import Store
from partita.store.remote import Credentials, RemoteStore
from partita_services.events import handlers, model
from partita_services.events.changes.drafts import EventDraft
from partita_services.events.queueing.messages import MAX_IN_MESSAGE, sending
from partita_services.events.queueing.worker import Worker
from partita_services.events.terms import EventType

REQUESTS: Final = 2_000
REMOTE_REQUESTS: Final = 500
SEATS: Final = 10
"""One in this many requests gets a seat."""
THREADS: Final = 8
TABLE: Final = "AsyncEventTableOfTheDocument"

_numbers = count()


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module."""
    (folder / "server").mkdir()
    with ministack(folder / "server") as url:
        naive = Naive(url)
        with EmbeddedStore(folder / "events.db") as store, closing(open_queue(folder, "events")) as queue:
            ours = decided(store, queue, REQUESTS)
            yield compare(
                "a decision, to two updates by boto3", Bar("at least", 10), ours, naive.decided, repetitions=3
            )
        with (
            RemoteStore(url, credentials=Credentials("test", "test")) as remote,
            SqsQueue("events", url, credentials=Credentials("test", "test")) as sqs,
        ):
            ours = decided(remote, sqs, REMOTE_REQUESTS)
            yield compare(
                "a decision on that server, to the same", Bar("at least", 2), ours, naive.decided, repetitions=3
            )


def decided(store: Store, queue: Queue, requests: int) -> Side:
    """Our workers, only one of which works on the event: in batches, each of which is one transaction."""
    session = Session(store)
    session.create_tables([model.TABLE])
    queue.execute(Create())
    worker = Worker(session, queue, "bench")

    def measure() -> float:
        _fill(session, queue, requests)
        start = time.perf_counter()
        while worker.serve():
            pass
        return (time.perf_counter() - start) / requests

    return measure


def _fill(session: Session, queue: Queue, requests: int) -> None:
    """Store an event with its requests, and put them into the queue."""
    now = datetime.now(UTC)
    draft = EventDraft(
        name="Bench",
        event_type=EventType.FIRST_COME,
        capacity_total=requests // SEATS,
        opens_at=now - timedelta(hours=1),
        closes_at=now + timedelta(hours=1),
    )
    plan = handlers.open_event(draft, now, b"seed")
    session.transact(*plan.actions)
    users = (f"user-{next(_numbers)}" for _ in range(requests))
    stored = [session.run(handlers.apply(plan.result.event, user, now, run_plan)).request for user in users]
    for together in chunks(stored, MAX_IN_MESSAGE):
        queue.execute(sending(together))


class Naive:
    """The source document taken literally: a conditional update of the capacity, then the status of the request."""

    def __init__(self, url: str) -> None:
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        config = Config(max_pool_connections=THREADS)
        self._client = boto3.client("dynamodb", endpoint_url=url, region_name="us-east-1", config=config, **keys)
        names = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")
        self._client.create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
            KeySchema=_keys("PK", "SK"),
            GlobalSecondaryIndexes=[
                {
                    "IndexName": index,
                    "KeySchema": _keys(f"{index}PK", f"{index}SK"),
                    "Projection": {"ProjectionType": "ALL"},
                }
                for index in ("GSI1", "GSI2")
            ],
        )

    def decided(self) -> float:
        """Decide a backlog with as many workers as the document allows, and return the seconds per request."""
        event = f"event-{next(_numbers)}"
        requests = [f"request-{next(_numbers)}" for _ in range(REMOTE_REQUESTS)]
        self._put({**_key(f"EVENT#{event}", "CAPACITY"), "capacityRemaining": {"N": str(len(requests) // SEATS)}})
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(lambda request: self._put(_request(event, request)), requests))
            start = time.perf_counter()
            statuses = list(pool.map(lambda request: self._decide(event, request), requests))
            seconds = time.perf_counter() - start
        assert statuses.count("SUCCEEDED") == len(requests) // SEATS
        return seconds / len(requests)

    def _put(self, item: dict[str, Any]) -> None:
        self._client.put_item(TableName=TABLE, Item=item)

    def _decide(self, event: str, request: str) -> str:
        status = "SUCCEEDED" if self._take_seat(event) else "REJECTED"
        self._client.update_item(
            TableName=TABLE,
            Key=_key(f"REQ#{request}", "META"),
            UpdateExpression="SET #status = :status, finishedAt = :now",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":status": {"S": status}, ":now": {"S": datetime.now(UTC).isoformat()}},
        )
        return status

    def _take_seat(self, event: str) -> bool:
        try:
            self._client.update_item(
                TableName=TABLE,
                Key=_key(f"EVENT#{event}", "CAPACITY"),
                UpdateExpression="SET capacityRemaining = capacityRemaining - :one",
                ConditionExpression="capacityRemaining > :none",
                ExpressionAttributeValues={":one": {"N": "1"}, ":none": {"N": "0"}},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            return False
        return True


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


def _key(partition: str, sort: str) -> dict[str, Any]:
    return {"PK": {"S": partition}, "SK": {"S": sort}}


def _request(event: str, request: str) -> dict[str, Any]:
    queued = f"QAT#{datetime.now(UTC).isoformat()}#REQ#{request}"
    texts = {
        "GSI1PK": f"USER#{request}",
        "GSI1SK": queued,
        "GSI2PK": f"EVENT#{event}",
        "GSI2SK": queued,
        "requestId": request,
        "eventId": event,
        "userId": request,
        "eventType": "FIRST_COME",
        "status": "QUEUED",
        "idempotencyKey": f"IDEMP#{event}#{request}",
    }
    return {**_key(f"REQ#{request}", "META"), **{name: {"S": text} for name, text in texts.items()}}
