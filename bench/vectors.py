"""Vector searches over the wire, compared with other servers that support them: the same data and the same requests.

BENCH_VECTORS sets the number of vectors. dynoxide has all of them. ministack, which compares in Python, has as many as
it stores within BENCH_LOADING_SECONDS, and executes one search; if it does not respond within two minutes, that time is
a lower bound. The results of the servers are compared, too.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import socket
import subprocess
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, Final

from tests.referee import ministack

from bench._compare import Bar, Comparison, Side, Skipped, compare
from bench._servers import PEERS, partita, started
from partita import EmbeddedStore
from partita.store import BatchWriteItem, CreateTable, KeyAttribute, PutItem, TableSchema, VectorIndexSchema

VECTORS: Final = int(os.environ.get("BENCH_VECTORS", "100000"))
DIMENSIONS: Final = 384
QUERIES: Final = 5
BATCH: Final = 25
PER_CONNECTION: Final = 500
"""Batches sent on one connection: ministack closes a connection after 1,000 requests."""
ROUNDS: Final = 3
LOADING_SECONDS: Final = float(os.environ.get("BENCH_LOADING_SECONDS", "300"))
LONGEST_SEARCH: Final = 120.0
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
    """All measurements of this module, with the peers that are installed."""
    _fill_file(folder / "wire", VECTORS)
    with started(partita(folder), folder) as port:
        yield from _beside_dynoxide(folder, port)
        with ministack(folder) as endpoint:
            yield _beside_ministack(port, int(endpoint.rpartition(":")[2]))


def _beside_dynoxide(folder: Path, ours: int) -> Iterator[Comparison | Skipped]:
    """The same vectors, which dynoxide's own command imports, because over the wire that would take an hour."""
    name = f"SearchVectors in {VECTORS:,} of {DIMENSIONS}, to dynoxide's"
    peer = next(peer for peer in PEERS if peer.name == "dynoxide")
    command = peer.command(folder)
    if command is None:
        yield Skipped(name, peer.hint)
        return
    _import(command[0], folder, folder / "dynoxide.db")
    with started(command, folder) as theirs:
        for number in range(QUERIES):
            _same(_found(ours, _request(number)), _found(theirs, _request(number)))
        yield compare(name, Bar("at least", 1), _side(ours, QUERIES), _side(theirs, 1), repetitions=5)


def _beside_ministack(ours: int, theirs: int) -> Comparison:
    """As many vectors as ministack stores in some minutes, and one search, because it compares in Python."""
    count = _fill(theirs, VECTORS, LOADING_SECONDS)
    _fill(ours, count, table="fewer")
    side = _side(ours, QUERIES)
    start = time.perf_counter()
    found = _found(theirs, _request(0), LONGEST_SEARCH)
    seconds = time.perf_counter() - start
    if found is not None:
        _same(_found(ours, _request(0, "fewer")), found)
    note = "" if found is not None else f"no response within {LONGEST_SEARCH:.0f} s, so this is a lower bound"
    taken = median(side() for _ in range(ROUNDS))
    name = f"SearchVectors in {VECTORS:,} of {DIMENSIONS}, to ministack's in {count:,}"
    return Comparison(name, taken, seconds, seconds / taken, Bar("at least", 1), note)


def _same(ours: list[tuple[str, float]] | None, theirs: list[tuple[str, float]] | None) -> None:
    """Refuse to measure servers that do not find the same items."""
    if ours is None or theirs is None or [key for key, _ in ours] != [key for key, _ in theirs]:
        raise RuntimeError(f"The servers do not find the same items: {ours} and {theirs}")


def _import(program: str, folder: Path, target: Path) -> None:
    """Let dynoxide create its file from an export."""
    source = folder / "export"
    data = source / "vectors" / "data"
    data.mkdir(parents=True)
    with gzip.open(data / "all.json.gz", "wt", compresslevel=1) as file:
        file.writelines(json.dumps({"Item": _item(number)}) + "\n" for number in range(VECTORS))
    schema = folder / "schema.json"
    schema.write_text(json.dumps([{"Table": DEFINITION | {"TableStatus": "ACTIVE"}}]), encoding="utf-8")
    named = ["--source", str(source), "--schema", str(schema), "--output", str(target)]
    subprocess.run([program, "import", *named], check=True, capture_output=True)


def _vector(number: int) -> list[int]:
    numbers = random.Random(number)
    return [byte - 128 for byte in numbers.randbytes(DIMENSIONS)]


def _fill_file(folder: Path, count: int) -> None:
    """Write our own vectors to the file that is then served."""
    folder.mkdir(parents=True, exist_ok=True)
    index = VectorIndexSchema("nearest", "v", DIMENSIONS, projection="KEYS_ONLY")
    with EmbeddedStore(folder / "partita.db", durable=False) as store:
        store.execute(CreateTable(TableSchema("vectors", KeyAttribute("id"), vectors=(index,))))
        for start in range(0, count, BATCH):
            numbers = range(start, min(start + BATCH, count))
            store.execute(BatchWriteItem(tuple(PutItem("vectors", {"id": f"k{n}", "v": _vector(n)}) for n in numbers)))


def _fill(port: int, count: int, seconds: float = inf, table: str = "vectors") -> int:
    """Create the table, put vectors into it for at most `seconds`, and return their number."""
    end = time.perf_counter() + seconds
    with _connected(port) as wire:
        _call(wire, port, "CreateTable", DEFINITION | {"TableName": table})
    for first in range(0, count, BATCH * PER_CONNECTION):
        with _connected(port) as wire:
            for start in range(first, min(first + BATCH * PER_CONNECTION, count), BATCH):
                if time.perf_counter() > end:
                    return start
                puts = [{"PutRequest": {"Item": _item(n)}} for n in range(start, min(start + BATCH, count))]
                _call(wire, port, "BatchWriteItem", {"RequestItems": {table: puts}})
    return count


def _item(number: int) -> dict[str, Any]:
    return {"id": {"S": f"k{number}"}, "v": {"L": _tagged(_vector(number))}}


def _tagged(vector: list[int]) -> list[dict[str, str]]:
    return [{"N": str(number)} for number in vector]


def _request(number: int, table: str = "vectors") -> dict[str, Any]:
    return {"TableName": table, "IndexName": "nearest", "SearchVector": _tagged(_vector(10**9 + number)), "TopK": TOP}


def _side(port: int, queries: int) -> Side:
    """A side that sends searches one after another, and returns the seconds per search."""

    def measure() -> float:
        with _connected(port) as wire:
            start = time.perf_counter()
            for number in range(queries):
                _call(wire, port, "SearchVectors", _request(number))
            return (time.perf_counter() - start) / queries

    return measure


def _found(port: int, request: dict[str, Any], seconds: float = 600) -> list[tuple[str, float]] | None:
    """The keys and scores that a search returns; None if it takes too long."""
    with _connected(port) as wire:
        wire.settimeout(seconds)
        try:
            body = _call(wire, port, "SearchVectors", request)
        except TimeoutError:
            return None
    return [(match["Item"]["id"]["S"], match["Score"]) for match in json.loads(body)["SearchResults"]]


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=600)


def _call(wire: socket.socket, port: int, operation: str, parameters: dict[str, Any]) -> bytes:
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
    return answer
