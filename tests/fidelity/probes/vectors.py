"""Vector indexes: their contents, the results of searches, and what is refused."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, holds, probe, refused, same
from tests.fidelity._attributes import Json, n
from tests.fidelity._shapes import shape

HASH = shape(("pk",), {"pk": "S"})
VECTOR = {
    "IndexName": "vectors",
    "VectorAttribute": {"AttributeName": "v"},
    "Projection": {"ProjectionType": "ALL"},
    "Dimensions": 2,
    "DistanceFunction": "COSINE",
}
INVALID = "One or more parameter values were invalid"


def _vectors(api: Api) -> str:
    return api.shared_table("vectors", {**HASH, "VectorIndexes": [VECTOR]})


def _put(api: Api, name: str, *vector: Any, **options: Any) -> Json:
    item = {"pk": {"S": name}, "v": {"L": [n(part) for part in vector]}}
    return api("PutItem", TableName=_vectors(api), Item=item, **options)


def _query(**changed: Any) -> dict[str, Any]:
    return {"IndexName": "vectors", "SearchVector": [n(1), n("0.1")], "TopK": 100} | changed


def _found(api: Api, *names: str) -> list[Json]:
    """Return the results of a search that have these names, once all of them are found."""

    def search() -> list[Json]:
        found: list[Json] = api("SearchVectors", TableName=_vectors(api), **_query())["SearchResults"]
        return [each for each in found if each["Item"]["pk"]["S"] in names]

    return api.eventually(search, lambda found: len(found) == len(names))


@probe(rule=65, tier=2, billed=True)
def a_vector_index_is_described(api: Api) -> None:
    """The description has the values of its definition."""
    index = api("DescribeTable", TableName=_vectors(api))["Table"]["VectorIndexes"][0]
    same((index["IndexName"], index["Dimensions"], index["DistanceFunction"]), ("vectors", 2, "COSINE"))


@probe(rule=65, tier=3)
def a_vector_index_of_too_many_dimensions_is_refused(api: Api) -> None:
    """The maximum is 4,096."""
    message = f"{INVALID}: Number of dimensions must be between 1 and 4096 inclusive."
    indexes = [VECTOR | {"Dimensions": 4097}]
    given = {**HASH, "TableName": f"{api.prefix}dims", "BillingMode": "PAY_PER_REQUEST", "VectorIndexes": indexes}
    refused(api, "CreateTable", message=message, **given)


@probe(rule=66, tier=3, billed=True)
def a_vector_of_another_length_is_refused(api: Api) -> None:
    """The message has both lengths."""
    message = f"{INVALID}. Invalid size for parameter v, Expected: 2, Actual: 1 IndexName: vectors"
    refused(api, "PutItem", message=message, TableName=_vectors(api), Item={"pk": {"S": "one"}, "v": {"L": [n(1)]}})


@probe(rule=66, tier=2, billed=True)
def an_item_without_a_vector_is_stored(api: Api) -> None:
    """A search does not find the item."""
    api("PutItem", TableName=_vectors(api), Item={"pk": {"S": "bare"}})
    _put(api, "there", 1, 1)
    same([each["Item"]["pk"]["S"] for each in _found(api, "there")], ["there"])


@probe(rule=67, tier=2, billed=True)
def the_nearest_vector_is_found_first(api: Api) -> None:
    """The distance is the angle."""
    _put(api, "east", 1, 0)
    _put(api, "north", 0, 1)
    same([each["Item"]["pk"]["S"] for each in _found(api, "east", "north")], ["east", "north"])


@probe(rule=67, tier=3, billed=True)
def a_search_for_too_many_is_refused(api: Api) -> None:
    """The message has the limits."""
    message = "Provided TopK value '101' is out of valid range. The value must be between 1 and 100 inclusive"
    refused(api, "SearchVectors", message=message, TableName=_vectors(api), **_query(TopK=101))


@probe(rule=67, tier=3, billed=True)
def a_search_with_a_vector_of_another_length_is_refused(api: Api) -> None:
    """The message has both lengths."""
    message = "Input search vector dimension 1 does not match vector index dimension 2"
    refused(api, "SearchVectors", message=message, TableName=_vectors(api), **_query(SearchVector=[n(1)]))


@probe(rule=68, tier=2, billed=True)
def a_match_is_without_its_vector(api: Api) -> None:
    """The vector is not returned unless the search asks for it."""
    _put(api, "plain", 1, 2)
    same(sorted(_found(api, "plain")[0]["Item"]), ["pk"])


@probe(rule=69, tier=2, billed=True)
def a_write_of_a_vector_is_charged_in_bytes(api: Api) -> None:
    """The minimum is 1,024 bytes; a write that changes nothing costs nothing."""
    first = _put(api, "charged", 3, 4, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    same(first["VectorIndexes"], {"vectors": {"VectorWriteRequestBytes": 1024.0}})
    again = _put(api, "charged", 3, 4, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    holds("VectorIndexes" not in again, "a write that changes nothing is charged for its vector")


@probe(tier=2)
def a_search_of_a_missing_table_is_not_found(api: Api) -> None:
    """The error is that of other reads."""
    refused(api, "SearchVectors", kind="ResourceNotFoundException", TableName=f"{api.prefix}nowhere", **_query(TopK=1))
