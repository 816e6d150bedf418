"""Other servers return the same results of vector searches: ministack, and dynoxide if it is installed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from bench._servers import PEERS, started
from tests.wire.test_boto3 import connect
from tests.wire.test_vectors import definition, index, item, vector

DIMENSIONS = 16
DISTANCES = ("COSINE", "EUCLIDEAN", "DOT_PRODUCT")
ITEMS = 75
BATCH = 25
TOP = 9
CONDITIONS: tuple[dict[str, Any], ...] = (
    {"SearchConditionExpression": "tenant = :t", "ExpressionAttributeValues": {":t": {"S": "x"}}},
    {
        "SearchConditionExpression": "tenant = :t AND #r = :r",
        "ExpressionAttributeNames": {"#r": "rank"},
        "ExpressionAttributeValues": {":t": {"S": "x"}, ":r": {"N": "1"}},
    },
)


@pytest.fixture(params=("ministack", "dynoxide"))
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A client of the other server."""
    if request.param == "ministack":
        with connected(int(request.getfixturevalue("ministack_url").rpartition(":")[2])) as client:
            yield client
        return
    command = next(peer for peer in PEERS if peer.name == "dynoxide").installed(tmp_path)
    if command is None:
        pytest.skip("dynoxide is not installed: python -m bench vectors installs it")
    with started(command, tmp_path) as port, connected(port) as client:
        yield client


@contextmanager
def connected(port: int) -> Iterator[Any]:
    client = connect("dynamodb", ("127.0.0.1", port))
    yield client
    client.close()


@pytest.fixture
def client(address: tuple[str, int]) -> Iterator[Any]:
    client = connect("dynamodb", address)
    yield client
    client.close()


def numbers(rng: random.Random, place: int) -> list[float]:
    """Return zeros at place 0, only 0 and 1 at every third place, so that scores are equal, else random numbers."""
    if place == 0:
        return [0] * DIMENSIONS
    if place % 3 == 0:
        return [rng.choice((0, 1)) for _ in range(DIMENSIONS)]
    return [round(rng.gauss(0, 1), 6) for _ in range(DIMENSIONS)]


def filled(client: Any, rng: random.Random, name: str) -> None:
    """Create a table whose items are not in the order of their keys; replace and delete some, and omit some vectors."""
    indexes = [index(each.lower(), DistanceFunction=each, Dimensions=DIMENSIONS) for each in DISTANCES]
    client.create_table(**definition(*indexes, TableName=name))
    items = [
        item(f"k{place * 37 % 100:02}", *numbers(rng, place), tenant="xxxy"[place % 4])
        | {"rank": {"N": str(place % 5 % 2)}}
        for place in range(ITEMS)
    ]
    items.append({"pk": {"S": "bare"}, "tenant": {"S": "x"}})
    for start in range(0, len(items), BATCH):
        puts = [{"PutRequest": {"Item": each}} for each in items[start : start + BATCH]]
        client.batch_write_item(RequestItems={name: puts})
    client.put_item(TableName=name, Item=items[1] | {"v": {"L": vector(*numbers(rng, 1))}})
    client.update_item(TableName=name, Key={"pk": items[2]["pk"]}, UpdateExpression="REMOVE v")
    client.delete_item(TableName=name, Key={"pk": items[5]["pk"]})


def searched(client: Any, **given: Any) -> list[tuple[dict[str, Any], float]]:
    found = client.search_vectors(TopK=TOP, **given)["SearchResults"]
    return [(match["Item"], match["Score"]) for match in found]


def compared(ours: list[tuple[dict[str, Any], float]], theirs: list[tuple[dict[str, Any], float]]) -> None:
    """Check that both have the same scores and items; AWS promises nothing about items that tie with the last score."""
    assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-6)
    last = ours[-1][1] if len(ours) == TOP else None
    certain = [
        sorted(match["pk"]["S"] for match, score in side if last is None or abs(score - last) > 1e-6)
        for side in (ours, theirs)
    ]
    assert certain[0] == certain[1]
    items = [{match["pk"]["S"]: match for match, _ in side} for side in (ours, theirs)]
    assert all(items[0][key] == items[1][key] for key in certain[0])


@pytest.mark.rule(67)
@pytest.mark.xdist_group("referee")
def test_another_server_finds_the_same(client: Any, other: Any) -> None:
    """Search with all three distances, one filter and two, equal scores, a zero vector, and after changes."""
    for each in (client, other):
        filled(each, random.Random(5), "twice")
    rng = random.Random(6)
    queries = [numbers(rng, place) for place in range(3)]
    for query, name, condition in product(queries, DISTANCES, CONDITIONS):
        given = {"TableName": "twice", "IndexName": name.lower(), "SearchVector": vector(*query), **condition}
        compared(searched(client, **given), searched(other, **given))
    other.delete_table(TableName="twice")
