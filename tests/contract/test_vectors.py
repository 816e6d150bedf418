"""Vector indexes: which items they contain, what a search finds, and what it costs."""

from __future__ import annotations

from decimal import Decimal
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from partita.errors import TableNotFound, ValidationFailed
from partita.expressions import KeyCondition, Path, SetAction, Update, Value
from partita.store import (
    BatchWriteItem,
    CreateTable,
    CreateVectorIndex,
    DeleteItem,
    DeleteTable,
    DeleteVectorIndex,
    DescribeTable,
    KeyAttribute,
    PutItem,
    QueryTable,
    ScanTable,
    SearchVectors,
    Store,
    TableSchema,
    TransactWriteItems,
    UpdateItem,
    VectorIndexSchema,
    WriteResponse,
)

_numbers = count(1)
OUT_OF_RANGE = "Provided TopK value '101' is out of valid range."
PLAIN = VectorIndexSchema("plain", "embedding", 3)
SCOPED = VectorIndexSchema(
    "scoped", "embedding", 3, "EUCLIDEAN", KeyAttribute("tenant"), (KeyAttribute("rank", "N"),), ("label",)
)


class Vectors:
    """A table with vector indexes."""

    def __init__(self, store: Store, *indexes: VectorIndexSchema) -> None:
        self.store = store
        self.name = f"vectors-{next(_numbers)}"
        self.description = store.execute(CreateTable(TableSchema(self.name, KeyAttribute("pk"), vectors=indexes)))

    def put(self, key: str, *vector: float, **attributes: Any) -> WriteResponse:
        return self.store.execute(PutItem(self.name, {"pk": key, "embedding": numbers(*vector), **attributes}))

    def found(self, *vector: float, index: str = "plain", top: int = 10, **equal: Any) -> list[tuple[str, float]]:
        response = self.store.execute(SearchVectors(self.name, index, vector, top, tuple(equal.items())))
        return [(item["pk"], score) for item, score in response.matches]

    def keys(self, *vector: float, **options: Any) -> list[str]:
        return [key for key, _ in self.found(*vector, **options)]


def numbers(*vector: float) -> list[Any]:
    return [Decimal(str(each)) for each in vector]


@pytest.fixture
def table(store: Store) -> Vectors:
    return Vectors(store, PLAIN, SCOPED)


def refused(table: Vectors, message: str, item: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed) as caught:
        table.store.execute(PutItem(table.name, {"pk": "bad", **item}))
    assert caught.value.message == message


@pytest.mark.rule(67)
@pytest.mark.parametrize(
    ("distance", "scores"),
    [
        ("COSINE", [("a", 0.0), ("d", 0.4), ("b", 1.0), ("c", 2.0)]),
        ("EUCLIDEAN", [("a", 0.0), ("d", 0.894427), ("b", 1.414214), ("c", 2.0)]),
        ("DOT_PRODUCT", [("a", 1.0), ("d", 0.6), ("b", 0.0), ("c", -1.0)]),
    ],
)
def test_the_most_alike_come_first_with_their_scores(
    store: Store, distance: Any, scores: list[tuple[str, float]]
) -> None:
    table = Vectors(store, VectorIndexSchema("plain", "embedding", 3, distance))
    for key, vector in {"b": (0, 1, 0), "c": (-1, 0, 0), "d": (0.6, 0.8, 0), "a": (1, 0, 0)}.items():
        table.put(key, *vector)
    found = table.found(1, 0, 0)
    assert [key for key, _ in found] == [key for key, _ in scores]
    assert [score for _, score in found] == pytest.approx([score for _, score in scores], abs=1e-6)
    assert table.keys(1, 0, 0, top=1) == ["a"]


@pytest.mark.rule(67)
def test_a_search_is_within_a_partition_and_compares_values(table: Vectors) -> None:
    for number in range(6):
        table.put(f"k{number}", number, 0, 1, tenant=f"t{number % 2}", rank=number // 2, label="x")
    assert table.keys(0, 0, 1, index="scoped", tenant="t0") == ["k0", "k2", "k4"]
    assert table.keys(0, 0, 1, index="scoped", tenant="t0", rank=1) == ["k2"]
    assert table.keys(0, 0, 1, index="scoped", tenant="nobody") == []


@pytest.mark.rule(67)
@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            {"top": 101},
            "Provided TopK value '101' is out of valid range. The value must be between 1 and 100 inclusive",
        ),
        ({"vector": (1.0, 0.0)}, "Input search vector dimension 2 does not match vector index dimension 3"),
        ({"index": "none"}, "The table does not have the specified index: none"),
        ({"index": "scoped"}, "SearchConditionExpression must be provided when SearchSchema has a HASH key"),
        (
            {"equal": (("tenant", "t"),)},
            (
                "SearchConditionExpression must not contain any attributes that is not in SearchSchema. "
                "Invalid attribute: tenant"
            ),
        ),
        (
            {"vector": (1e39, 0.0, 0.0)},
            (
                "Search vector contains invalid values. All values in the search vector must be a 32-bit "
                "floating-point number attribute"
            ),
        ),
    ],
)
def test_a_search_that_does_not_fit_the_index_is_refused(
    table: Vectors, request_: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationFailed) as caught:
        table.store.execute(replace(SearchVectors(table.name, "plain", (1.0, 0.0, 0.0), 1), **request_))
    assert caught.value.message == message


@pytest.mark.rule(66)
def test_a_vector_that_does_not_fit_the_index_is_refused(table: Vectors) -> None:
    start = "One or more parameter values were invalid. Invalid"
    refused(
        table,
        f"{start} size for parameter embedding, Expected: 3, Actual: 2 IndexName: plain",
        {"embedding": numbers(1, 0)},
    )
    element = "type for parameter embedding[1], Expected: 32-bit floating point number, Actual: S. IndexName: plain"
    refused(table, f"{start} {element}", {"embedding": [1, "oops", 0]})
    whole = "type for parameter embedding, Expected: 32-bit floating point number list IndexName: plain"
    refused(table, f"{start} {whole}", {"embedding": "not a vector"})
    large = "type for parameter embedding[2], Expected: 32-bit floating point number, Actual: N. IndexName: plain"
    refused(table, f"{start} {large}", {"embedding": [1, 0, Decimal("1e39")]})


@pytest.mark.rule(66)
def test_a_search_attribute_of_another_type_or_empty_is_refused(table: Vectors) -> None:
    mismatch = "One or more parameter values were invalid: Type mismatch for Index Key tenant Expected: S Actual: N"
    refused(table, f"{mismatch} IndexName: scoped", {"embedding": numbers(1, 0, 0), "tenant": 3})
    refused(
        table,
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value. IndexName: scoped, "
        "IndexKey: tenant",
        {"embedding": numbers(1, 0, 0), "tenant": ""},
    )


@pytest.mark.rule(66)
def test_an_item_without_vector_or_partition_is_not_in_the_index(table: Vectors) -> None:
    table.put("whole", 1, 0, 0, tenant="t", rank=1)
    table.put("unranked", 1, 0, 0, tenant="t")
    table.put("unscoped", 1, 0, 0)
    table.store.execute(PutItem(table.name, {"pk": "bare", "tenant": "t"}))
    assert sorted(table.keys(1, 0, 0)) == ["unranked", "unscoped", "whole"]
    assert table.keys(1, 0, 0, index="scoped", tenant="t") == ["unranked", "whole"]
    table.store.execute(UpdateItem(table.name, {"pk": "whole"}, Update((), (Path(("embedding",)),), (), ())))
    assert table.keys(1, 0, 0, index="scoped", tenant="t") == ["unranked"]


@pytest.mark.rule(66)
def test_every_kind_of_write_is_seen_by_the_next_search(table: Vectors) -> None:
    table.put("put", 1, 0, 0)
    items = [PutItem(table.name, {"pk": key, "embedding": numbers(1, 0, 0)}) for key in ("batch", "transaction")]
    table.store.execute(BatchWriteItem((items[0],)))
    table.store.execute(TransactWriteItems((items[1],)))
    moved = Update((SetAction(Path(("embedding",)), Value(numbers(0, 1, 0))),), (), (), ())
    table.store.execute(UpdateItem(table.name, {"pk": "put"}, moved))
    assert table.found(0, 1, 0) == [("put", 0.0), ("batch", 1.0), ("transaction", 1.0)]
    table.store.execute(TransactWriteItems((DeleteItem(table.name, {"pk": "put"}),)))
    table.store.execute(BatchWriteItem((DeleteItem(table.name, {"pk": "batch"}),)))
    assert table.keys(0, 1, 0) == ["transaction"]


@pytest.mark.rule(68)
def test_a_match_has_what_is_projected_without_the_vector(table: Vectors) -> None:
    table.put("k", 0.1, 16777217, 1, tenant="t", label="x", other="y")
    everything = table.store.execute(SearchVectors(table.name, "plain", (1.0, 0.0, 0.0), 1)).matches[0][0]
    assert everything == {"pk": "k", "tenant": "t", "label": "x", "other": "y"}
    scoped = SearchVectors(table.name, "scoped", (1.0, 0.0, 0.0), 1, (("tenant", "t"),))
    assert table.store.execute(scoped).matches[0][0] == {"pk": "k", "tenant": "t", "label": "x"}
    asked = tuple(Path((name,)) for name in ("pk", "embedding", "other"))
    shown = SearchVectors(table.name, "scoped", (1.0, 0.0, 0.0), 1, (("tenant", "t"),), asked)
    item = table.store.execute(shown).matches[0][0]
    assert item == {"pk": "k", "embedding": [Decimal("0.1"), 16777216, 1]}


@pytest.mark.rule(68)
def test_a_vector_index_is_neither_queried_nor_scanned(table: Vectors) -> None:
    key = KeyCondition((("tenant", "t"),))
    for request, word in ((QueryTable(table.name, key, "scoped"), "Query"), (ScanTable(table.name, "plain"), "Scan")):
        with pytest.raises(ValidationFailed, match=f"{word} operation not supported on this index type"):
            table.store.execute(request)


@pytest.mark.rule(65)
def test_an_index_that_is_added_has_the_items_that_fit(store: Store) -> None:
    table = Vectors(store)
    table.put("a", 1, 0, 0)
    table.put("short", 1, 0)
    description = store.execute(CreateVectorIndex(table.name, PLAIN))
    assert description.schema.vectors == (PLAIN,)
    assert table.keys(1, 0, 0) == ["a"]
    store.execute(
        UpdateItem(table.name, {"pk": "short"}, Update((SetAction(Path(("label",)), Value("x")),), (), (), ()))
    )  # an invalid vector from before the index stays if the update does not change it
    with pytest.raises(ValidationFailed):
        store.execute(CreateVectorIndex(table.name, PLAIN))
    assert store.execute(DeleteVectorIndex(table.name, "plain")).schema.vectors == ()
    with pytest.raises(TableNotFound):
        store.execute(DeleteVectorIndex(table.name, "plain"))
    store.execute(DeleteTable(table.name))


@pytest.mark.rule(65)
def test_a_table_is_described_with_its_vector_indexes(table: Vectors) -> None:
    assert table.store.execute(DescribeTable(table.name)).schema.vectors == (PLAIN, SCOPED)


@pytest.mark.rule(65)
@pytest.mark.parametrize(
    ("indexes", "message"),
    [
        ([VectorIndexSchema("one", "v", 4097)], "Number of dimensions must be between 1 and 4096 inclusive."),
        (
            [VectorIndexSchema(f"index-{n}", "v", 3) for n in range(6)],
            "VectorIndex count exceeds the per-table limit of 5",
        ),
        (
            [VectorIndexSchema("one", "v", 3), VectorIndexSchema("two", "v", 4)],
            (
                "Conflicting attribute definition for 'v'. All VectorIndexes on the same vector attribute must use "
                "the same dimensions."
            ),
        ),
        ([VectorIndexSchema("one", "v", 3), VectorIndexSchema("one", "w", 3)], "Duplicate index name: one"),
    ],
)
def test_a_definition_that_breaks_a_rule_is_refused(
    store: Store, indexes: list[VectorIndexSchema], message: str
) -> None:
    with pytest.raises(ValidationFailed) as caught:
        Vectors(store, *indexes)
    assert caught.value.message == f"One or more parameter values were invalid: {message}"


@pytest.mark.rule(69)
def test_a_write_is_charged_for_what_changes_in_the_index(store: Store) -> None:
    table = Vectors(store, VectorIndexSchema("wide", "embedding", 300))
    vector = [0.5] * 300
    first = table.put("key", *vector, label="x" * 20)
    assert first.capacity.vectors == (("wide", 0.0, 4 * 300 + len("embedding") + len("pkkey") + len("label") + 20),)
    assert table.put("key", *vector, label="x" * 20).capacity.vectors == ()
    small = Vectors(store, PLAIN).put("k", 1, 0, 0)
    assert small.capacity.vectors == (("plain", 0.0, 1024.0),)
    bare = store.execute(PutItem(table.name, {"pk": "bare"}))
    assert bare.capacity.vectors == ()


@pytest.mark.rule(69)
def test_a_search_is_charged_for_the_vectors_that_it_compares(table: Vectors) -> None:
    request = SearchVectors(table.name, "plain", (1.0, 0.0, 0.0), 1)
    few = table.store.execute(request).capacity
    assert (few.total_read, few.searched) == (0.0, 1024.0)
    for number in range(100):
        table.put(f"k{number}", number, 0, 1)
    assert 1200 <= table.store.execute(request).capacity.searched <= 1300
