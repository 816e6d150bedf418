"""The wire server beside other local servers: the same load generator, four connections, GetItem."""

from __future__ import annotations

import json
import selectors
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

from tests.referee import ministack

from bench._compare import Bar, Comparison, Side, compare

CLIENTS: Final = 4
ITEMS: Final = 100
REQUESTS: Final = 2_000
START_SECONDS: Final = 60.0
COMMAND: Final = 'from partita.cli import main; main(prog_name="partita")'
SIGNATURE: Final = (
    "authorization: AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=0\r\nx-amz-date: 20260101T000000Z\r\n"
)
TABLE: Final = {
    "TableName": "bench",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
}


def comparisons(folder: Path) -> Iterator[Comparison]:
    """All measurements of this module; dynoxide only where it is installed."""
    with _partita(folder / "wire") as port:
        ours = _gets(port)
        with ministack(folder) as endpoint:
            theirs = _gets(int(endpoint.rpartition(":")[2]))
            yield compare("GetItem over the wire, to ministack's", Bar("at least", 2), ours, theirs, repetitions=7)
        with _started([sys.executable, "-m", "moto.server", "-p"], folder) as moto:
            theirs = _gets(moto, requests=REQUESTS // 10)
            yield compare("GetItem over the wire, to moto's", Bar("at least", 5), ours, theirs, repetitions=3)
        if dynoxide := shutil.which("dynoxide"):
            command = [dynoxide, "--db-path", str(folder / "dynoxide.db"), "--port"]
            with _started(command, folder) as port_of_dynoxide:
                theirs = _gets(port_of_dynoxide)
                yield compare("GetItem over the wire, to dynoxide's", Bar("at least", 0.8), ours, theirs, repetitions=7)


@contextmanager
def _partita(folder: Path) -> Iterator[int]:
    command = [sys.executable, "-c", COMMAND, "dynamodb", "--data", str(folder), "--port"]
    with _started(command, folder.parent) as port:
        yield port


@contextmanager
def _started(command: Sequence[str], folder: Path) -> Iterator[int]:
    """A server on a free port, which is the command's last argument."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with (folder / f"server-{port}.log").open("wb") as log:
        server = subprocess.Popen([*command, str(port)], cwd=folder, stdout=log, stderr=log)
    try:
        _wait_until_it_listens(port)
        yield port
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait_until_it_listens(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"Nothing listens on port {port}.")


def _gets(port: int, requests: int = REQUESTS) -> Side:
    """A side that reads items with all connections at once; the seconds are those of one request."""
    _fill(port)
    messages = [_message(port, "GetItem", {"TableName": "bench", "Key": _key(n)}) for n in range(ITEMS)]

    def measure() -> float:
        start = time.perf_counter()
        _play(port, messages, requests)
        return (time.perf_counter() - start) / requests

    return measure


def _key(number: int) -> dict[str, Any]:
    return {"id": {"S": f"item-{number}"}}


def _fill(port: int) -> None:
    puts = []
    for number in range(ITEMS):
        item = {**_key(number), "text": {"S": "x" * 300}, "number": {"N": "5"}, "list": {"L": [{"S": "a"}] * 5}}
        puts.append(_message(port, "PutItem", {"TableName": "bench", "Item": item}))
    _play(port, [_message(port, "CreateTable", TABLE)], 1)
    _play(port, puts, ITEMS)


def _connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _message(port: int, operation: str, parameters: Any) -> bytes:
    body = json.dumps(parameters).encode()
    head = (
        f"POST / HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-amz-target: DynamoDB_20120810.{operation}\r\n"
        f"content-type: application/x-amz-json-1.0\r\n{SIGNATURE}content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _is_whole(received: bytearray) -> bool:
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return False
    lower = head.lower()
    start = lower.index(b"content-length:") + 15
    length = int(lower[start:].split(b"\r\n", 1)[0])
    return len(body) >= length


def _play(port: int, messages: list[bytes], requests: int) -> None:
    """Keep each connection busy with one request at a time until all are answered."""
    with selectors.DefaultSelector() as selector:
        for number in range(min(CLIENTS, requests)):
            connection = _connect(port)
            connection.sendall(messages[number])
            selector.register(connection, selectors.EVENT_READ, bytearray())
        sent, answered = min(CLIENTS, requests), 0
        while answered < requests:
            for key, _ in selector.select():
                if _is_answered(key):
                    answered += 1
                    _end(selector, key) if sent == requests else _go_on(selector, key, messages[sent % ITEMS], port)
                    sent = min(sent + 1, requests)


def _is_answered(key: selectors.SelectorKey) -> bool:
    connection, received = cast("socket.socket", key.fileobj), key.data
    received += connection.recv(65_536)
    if not _is_whole(received):
        return False
    assert b" 200 " in received[:20], received
    return True


def _go_on(selector: selectors.BaseSelector, key: selectors.SelectorKey, message: bytes, port: int) -> None:
    """Send the next request, on a new connection where the server closes each (moto's does)."""
    connection = cast("socket.socket", key.fileobj)
    if b"connection: close" in key.data[:1_000].lower():
        _end(selector, key)
        connection = _connect(port)
        selector.register(connection, selectors.EVENT_READ, bytearray())
    key.data.clear()
    connection.sendall(message)


def _end(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    selector.unregister(key.fileobj)
    cast("socket.socket", key.fileobj).close()
