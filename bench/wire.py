"""The wire server compared with other local servers: reads and writes, with the same load over four connections."""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from tests.referee import ministack

from bench._compare import Bar, Comparison, Side, Skipped, compare
from bench._load import loaded
from bench._servers import PEERS, Peer, partita, started

CLIENTS: Final = 4
ITEMS: Final = 100
REQUESTS: Final = 2_000
WRITES: Final = 600
LOAD: Final = 4_096
"""The requests per round when two processes are compared with one."""
IN_TRANSACTION: Final = 4
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


def comparisons(folder: Path) -> Iterator[Comparison | Skipped]:
    """All measurements of this module, with the peers that are installed."""
    with started(partita(folder), folder) as port:
        _fill(port)
        ours = _side(port, _gets(port), REQUESTS)
        with ministack(folder) as endpoint:
            their_port = int(endpoint.rpartition(":")[2])
            _fill(their_port)
            theirs = _side(their_port, _gets(their_port), REQUESTS)
            yield compare("GetItem over the wire, to ministack's", Bar("at least", 2), ours, theirs, repetitions=7)
        for peer in PEERS:
            name, command = f"GetItem over the wire, to {peer.name}'s", peer.command(folder)
            if command is None:
                yield Skipped(name, peer.hint)
                continue
            with started(command, folder) as their_port:
                _fill(their_port)
                theirs = _side(their_port, _gets(their_port), REQUESTS // peer.slower)
                yield compare(name, peer.bar, ours, theirs, repetitions=7)
                yield from _writes(peer, port, their_port)
        yield from _two_processes(folder, port)


def _two_processes(folder: Path, port: int) -> Iterator[Comparison]:
    """Two processes compared with one, on the same file."""
    with started(partita(folder, processes=2), folder) as both:
        for what, messages, bar in (("GetItem", _gets, Bar("at least", 1.7)), ("PutItem", _puts, Bar("at least", 1))):
            one, two = (loaded(each, messages(each)[0], LOAD) for each in (port, both))
            yield compare(f"{what} by two processes, to one", bar, two, one, repetitions=7)


def _writes(peer: Peer, port: int, their_port: int) -> Iterator[Comparison]:
    """Puts and transactions, compared only with peers that write to a file as we do."""
    if peer.writes is None:
        return
    for what, messages, bar in (
        ("PutItem over the wire", _puts, peer.writes.puts),
        ("a transaction of 4 puts", _transactions, peer.writes.transactions),
    ):
        ours = _side(port, messages(port), WRITES)
        theirs = _side(their_port, messages(their_port), WRITES // peer.writes.slower)
        yield compare(f"{what}, to {peer.name}'s", bar, ours, theirs, repetitions=7)


def _side(port: int, messages: list[bytes], requests: int) -> Side:
    """A side that sends messages over all connections at once, and returns the seconds per request."""

    def measure() -> float:
        start = time.perf_counter()
        _play(port, messages, requests)
        return (time.perf_counter() - start) / requests

    return measure


def _key(number: int) -> dict[str, Any]:
    return {"id": {"S": f"item-{number}"}}


def _item(number: int) -> dict[str, Any]:
    return {**_key(number), "text": {"S": "x" * 300}, "number": {"N": "5"}, "list": {"L": [{"S": "a"}] * 5}}


def _gets(port: int) -> list[bytes]:
    return [_message(port, "GetItem", {"TableName": "bench", "Key": _key(n)}) for n in range(ITEMS)]


def _puts(port: int) -> list[bytes]:
    return [_message(port, "PutItem", {"TableName": "bench", "Item": _item(n)}) for n in range(ITEMS)]


def _transactions(port: int) -> list[bytes]:
    """Transactions that share no items with others that are sent at the same time."""
    return [_message(port, "TransactWriteItems", {"TransactItems": _actions(n)}) for n in range(ITEMS)]


def _actions(number: int) -> list[dict[str, Any]]:
    first = number * IN_TRANSACTION
    puts = [_item(n % ITEMS) for n in range(first, first + IN_TRANSACTION)]
    return [{"Put": {"TableName": "bench", "Item": item}} for item in puts]


def _fill(port: int) -> None:
    _play(port, [_message(port, "CreateTable", TABLE)], 1)
    _play(port, _puts(port), ITEMS)


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
    """Keep each connection busy with one request at a time until all responses have arrived."""
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
    """Send the next request, on a new connection if the server closes each one (as moto does)."""
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
