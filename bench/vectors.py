"""Searches of vectors over the wire, beside the other servers that have them: the same data and the same requests.

BENCH_VECTORS says how many vectors there are. Emulators that compare in Python get a hundredth of them.
"""

from __future__ import annotations

import json
import os
import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.referee import ministack

from bench._compare import Bar, Comparison, Side, Skipped, compare
from bench._servers import PEERS, partita, started
from partita import EmbeddedStore
from partita.store import BatchWriteItem, CreateTable, KeyAttribute, PutItem, TableSchema, VectorIndexSchema

VECTORS: Final = int(os.environ.get("BENCH_VECTORS", "100000"))
DIMENSIONS: Final = 384
QUERIES: Final = 10
BATCH: Final = 25
HUNDREDTH: Final = max(BATCH, VECTORS // 100)
TOP: Final = 10
SIGNATURE: Final = (
    "authorization: AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=0\r\nx-amz-date: 20260101T000000Z\r\n"
)
DEFINITION: Final[dict[str, Any]] = {
    "TableName": "vectors",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "VectorIndexes": [
        {
            "IndexName": "nearest",
            "VectorAttribute": {"AttributeName": "v"},
            "Projection": {"ProjectionType": "KEYS_ONLY"},
            "Dimensions": DIMENSIONS,
            "DistanceFunction": "COSINE",
        }
    ],
}


def comparisons(folder: Path) -> Iterator[Comparison | Skipped]:
    """All measurements of this module; of the peers, those that are installed."""
    _fill_file(folder / "wire", VECTORS)
    with started(partita(folder), folder) as port:
        ours = _side(port, QUERIES)
        with ministack(folder) as endpoint:
            theirs = int(endpoint.rpartition(":")[2])
            _fill(theirs, HUNDREDTH)
            name = f"SearchVectors in {VECTORS:,} of {DIMENSIONS}, to ministack's in {HUNDREDTH:,}"
            yield compare(name, Bar("at least", 1), ours, _side(theirs, 1), repetitions=5)
        yield from _beside_dynoxide(folder, ours)


def _beside_dynoxide(folder: Path, ours: Side) -> Iterator[Comparison | Skipped]:
    name = f"SearchVectors in {VECTORS:,} of {DIMENSIONS}, to dynoxide's"
    peer = next(peer for peer in PEERS if peer.name == "dynoxide")
    command = peer.command(folder)
    if command is None:
        yield Skipped(name, peer.hint)
        return
    with started(command, folder) as port:
        _fill(port, VECTORS)
        yield compare(name, Bar("at least", 1), ours, _side(port, QUERIES), repetitions=5)


def _vector(number: int) -> list[int]:
    numbers = random.Random(number)
    return [byte - 128 for byte in numbers.randbytes(DIMENSIONS)]


def _fill_file(folder: Path, count: int) -> None:
    """Our own vectors, written to the file that is then served."""
    folder.mkdir(parents=True, exist_ok=True)
    index = VectorIndexSchema("nearest", "v", DIMENSIONS, projection="KEYS_ONLY")
    with EmbeddedStore(folder / "partita.db", durable=False) as store:
        store.execute(CreateTable(TableSchema("vectors", KeyAttribute("id"), vectors=(index,))))
        for start in range(0, count, BATCH):
            numbers = range(start, min(start + BATCH, count))
            store.execute(BatchWriteItem(tuple(PutItem("vectors", {"id": f"k{n}", "v": _vector(n)}) for n in numbers)))


def _fill(port: int, count: int) -> None:
    with _connected(port) as wire:
        _call(wire, port, "CreateTable", DEFINITION)
        for start in range(0, count, BATCH):
            puts = [
                {"PutRequest": {"Item": {"id": {"S": f"k{n}"}, "v": {"L": _tagged(_vector(n))}}}}
                for n in range(start, min(start + BATCH, count))
            ]
            _call(wire, port, "BatchWriteItem", {"RequestItems": {"vectors": puts}})


def _tagged(vector: list[int]) -> list[dict[str, str]]:
    return [{"N": str(number)} for number in vector]


def _side(port: int, queries: int) -> Side:
    """A side that sends searches one after another; the seconds are those of one search."""
    requests = [
        {"TableName": "vectors", "IndexName": "nearest", "SearchVector": _tagged(_vector(-1 - n)), "TopK": TOP}
        for n in range(queries)
    ]

    def measure() -> float:
        with _connected(port) as wire:
            start = time.perf_counter()
            for request in requests:
                _call(wire, port, "SearchVectors", request)
            return (time.perf_counter() - start) / queries

    return measure


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=600)


def _call(wire: socket.socket, port: int, operation: str, parameters: dict[str, Any]) -> None:
    body = json.dumps(parameters).encode()
    head = (
        f"POST / HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-amz-target: DynamoDB_20120810.{operation}\r\n{SIGNATURE}"
        f"content-type: application/x-amz-json-1.0\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    wire.sendall(head.encode() + body)
    with wire.makefile("rb") as lines:
        status, length = lines.readline(), 0
        while (line := lines.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        answer = lines.read(length)
    if b" 200 " not in status:
        raise RuntimeError(f"{operation}: {status!r} {answer[:300]!r}")
