"""A wire server in a thread, a bare client for it, and a caller that runs operations without either."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from partita.buckets import Buckets
from partita.errors import ValidationFailed
from partita.runtime import AllowedHosts, run
from partita.store._interface import Store
from partita.wire import AccessKey, Limits, RegionStores, WireServer
from partita.wire._operations import operations
from partita.wire._parameters import Parameters
from partita.wire._wording import worded
from partita.wire.bulk import BulkRunner

Json = dict[str, Any]

TASKS: Json = {
    "TableName": "tasks",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "user", "AttributeType": "S"},
        {"AttributeName": "task", "AttributeType": "S"},
        {"AttributeName": "status", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "user", "KeyType": "HASH"}, {"AttributeName": "task", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_status",
            "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


def task(user: str, task: str, **texts: str) -> Json:
    return {name: {"S": text} for name, text in {"user": user, "task": task, **texts}.items()}


@contextmanager
def serving(
    store: Store,
    *,
    key: AccessKey | None = None,
    limits: Limits | None = None,
    allowed_hosts: AllowedHosts | None = None,
    regions: RegionStores | None = None,
    buckets: Buckets | None = None,
) -> Iterator[tuple[str, int]]:
    """Serve the store while the block runs; yield host and port."""
    listener = socket.create_server(("127.0.0.1", 0))
    loop = asyncio.new_event_loop()
    allowed = allowed_hosts or AllowedHosts()
    server = WireServer(store, key=key, limits=limits or Limits(), allowed_hosts=allowed, regions=regions)
    if buckets is not None:
        server.use_buckets(buckets)
    loop.run_until_complete(server.start(listener))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield listener.getsockname()
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        listener.close()


def http(target: str, body: bytes, **headers: str) -> bytes:
    """Return the bytes of an HTTP request for an operation."""
    lines = [f"x-amz-target: DynamoDB_20120810.{target}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(["POST / HTTP/1.1", "host: localhost", *lines, "", ""]).encode() + body


class Client:
    """A bare connection to a server."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=60)
        self._file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive_line(self) -> bytes:
        """Read the next line of a response head."""
        return self._file.readline().rstrip(b"\r\n")

    def receive(self) -> tuple[int, dict[str, str], Json]:
        """Read the next response; return its status, headers and body."""
        status = int(self._file.readline().split()[1])
        headers: dict[str, str] = {}
        while (line := self._file.readline().strip().decode()) != "":
            name, _, value = line.partition(": ")
            headers[name] = value
        return status, headers, json.loads(self._file.read(int(headers["content-length"])))

    def is_closed(self) -> bool:
        """Wait for the next byte; return True if the server closed or reset the connection instead."""
        with suppress(ConnectionResetError):
            return self._file.read(1) == b""
        return True

    def close(self) -> None:
        self._file.close()
        self.socket.close()


@contextmanager
def connected(address: tuple[str, int]) -> Iterator[Client]:
    client = Client(address)
    try:
        yield client
    finally:
        client.close()


class Caller:
    """Runs operations on a store, without a server."""

    def __init__(self, store: Store, region: str = "us-east-1", bulk: BulkRunner | None = None) -> None:
        self.now = 1_000_000.0
        self._store = store
        self._region = region
        self._operations = operations(lambda: self.now, bulk=bulk)

    def __call__(self, operation: str, **parameters: Any) -> Json:
        signed = {"authorization": f"Credential=local/20260101/{self._region}/dynamodb/aws4_request"}
        try:
            body = run(self._operations[operation](Parameters(parameters, signed)), self._store.execute)
            return msgspec.to_builtins(body or {})  # type: ignore[no-any-return]
        except ValidationFailed as error:
            raise worded(error, operation, json.dumps(parameters).encode()) from None

    def in_region(self, region: str) -> Caller:
        """Return a caller on the same store for another region."""
        return Caller(self._store, region)
