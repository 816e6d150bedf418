"""Tables: creating, describing, listing and deleting them."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from tests.contract.table import MakeTable, Table

from partita.errors import TableInUse, TableNotFound, ValidationFailed
from partita.store._interface import Store
from partita.store._requests import (
    CreateIndex,
    CreateTable,
    DeleteTable,
    DescribeTable,
    ListTables,
    PutItem,
    SetStream,
    SetTimeToLive,
)
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema

PK, SK, CITY = KeyAttribute("pk"), KeyAttribute("sk"), KeyAttribute("city")


def test_a_table_is_described_as_it_was_made(make_table: MakeTable) -> None:
    table = make_table(
        indexes=(
            IndexSchema("local", (PK,), (KeyAttribute("age", "N"),), projection=("name",), local=True),
            IndexSchema("global", (CITY,), (KeyAttribute("photo", "B"),), projection="KEYS_ONLY"),
        ),
        ttl="expires",
        stream="KEYS_ONLY",
    )
    assert table.describe().schema == table.schema


def test_a_hash_only_table_is_described_as_it_was_made(make_table: MakeTable) -> None:
    table = make_table(hash_type="N", range_type=None)
    assert table.describe().schema == table.schema


def test_items_are_counted_and_measured(table: Table) -> None:
    table.put({"pk": "a", "sk": "1"}, {"pk": "a", "sk": "2", "n": 10})
    table.delete("a", "1")
    description = table.describe()
    assert (description.item_count, description.size_bytes) == (1, 9)


def test_a_table_name_is_taken_once(table: Table) -> None:
    with pytest.raises(TableInUse, match="Table already exists"):
        table.store.execute(CreateTable(table.schema))


def test_tables_are_listed_by_name(make_table: MakeTable) -> None:
    names = {make_table().name for _ in range(3)}
    store = make_table().store
    listed = store.execute(ListTables())
    assert names <= set(listed)
    assert list(listed) == sorted(listed)


def test_a_deleted_table_is_gone(make_table: MakeTable) -> None:
    table, other = make_table(), make_table()
    table.put({"pk": "a", "sk": "1"})
    table.store.execute(DeleteTable(table.name))
    assert table.name not in table.store.execute(ListTables())
    assert other.name in table.store.execute(ListTables())
    with pytest.raises(TableNotFound):
        table.get("a", "1")


def test_a_table_made_again_is_empty(table: Table) -> None:
    table.put({"pk": "a", "sk": "1"})
    table.store.execute(DeleteTable(table.name))
    table.store.execute(CreateTable(table.schema))
    assert table.scan().items == []


def test_a_table_made_again_may_have_another_shape(table: Table) -> None:
    table.put({"pk": "a", "sk": "1"})
    table.store.execute(DeleteTable(table.name))
    other = TableSchema(table.name, KeyAttribute("id", "N"), indexes=(IndexSchema("by-city", (CITY,)),))
    table.store.execute(CreateTable(other))
    table.store.execute(PutItem(table.name, {"id": 1, "city": "C"}))
    assert table.scan(index="by-city").items == [{"id": 1, "city": "C"}]


MISSING: dict[str, Any] = {
    "describe": DescribeTable("no-such-table"),
    "delete": DeleteTable("no-such-table"),
    "create index": CreateIndex("no-such-table", IndexSchema("by-city", (CITY,))),
    "ttl": SetTimeToLive("no-such-table", "expires"),
    "stream": SetStream("no-such-table", "NEW_IMAGE"),
}


@pytest.mark.parametrize("request_", MISSING.values(), ids=MISSING.keys())
def test_a_missing_table_is_reported(store: Store, request_: Any) -> None:
    with pytest.raises(TableNotFound):
        store.execute(request_)


_names = count(1)


def refusable(*shape: Any) -> TableSchema:
    """Return a schema with a valid, unique name."""
    return TableSchema(f"refusable-{next(_names)}", *shape)


REFUSED: dict[str, TableSchema] = {
    "name too short": TableSchema("ab", PK),
    "name too long": TableSchema("n" * 256, PK),
    "name with a space": TableSchema("a table", PK),
    "empty name": TableSchema("", PK),
    "hash and range the same": refusable(PK, PK),
    "key name too long": refusable(KeyAttribute("k" * 256)),
    "empty key name": refusable(KeyAttribute("")),
    "one attribute of two types": refusable(PK, SK, (IndexSchema("idx", (KeyAttribute("sk", "N"),)),)),
    "index name too short": refusable(PK, SK, (IndexSchema("ab", (CITY,)),)),
    "index name with a slash": refusable(PK, SK, (IndexSchema("a/b", (CITY,)),)),
    "two indexes of one name": refusable(PK, SK, (IndexSchema("idx", (CITY,)), IndexSchema("idx", (SK,)))),
    "local index with another hash": refusable(PK, SK, (IndexSchema("idx", (CITY,), (SK,), local=True),)),
    "local index without a range": refusable(PK, SK, (IndexSchema("idx", (PK,), local=True),)),
    "local index on a hash-only table": refusable(PK, None, (IndexSchema("idx", (PK,), (CITY,), local=True),)),
    "include without attributes": refusable(PK, SK, (IndexSchema("idx", (CITY,), projection=()),)),
    "six local indexes": refusable(
        PK,
        SK,
        tuple(IndexSchema(f"idx{n}", (PK,), (KeyAttribute(f"a{n}"),), local=True) for n in range(6)),
    ),
    "twenty-one global indexes": refusable(
        PK, SK, tuple(IndexSchema(f"idx{n}", (KeyAttribute(f"a{n}"),)) for n in range(21))
    ),
    "five hash attributes": refusable(PK, SK, (IndexSchema("idx", tuple(KeyAttribute(f"a{n}") for n in range(5))),)),
    "five range attributes": refusable(
        PK, SK, (IndexSchema("idx", (CITY,), tuple(KeyAttribute(f"a{n}") for n in range(5))),)
    ),
    "projected name too long": refusable(PK, SK, (IndexSchema("idx", (CITY,), projection=("n" * 256,)),)),
}


@pytest.mark.rule(6, 8, 29, 30)
@pytest.mark.parametrize("schema", REFUSED.values(), ids=REFUSED.keys())
def test_a_schema_that_is_refused(store: Store, schema: TableSchema) -> None:
    with pytest.raises(ValidationFailed):
        store.execute(CreateTable(schema))
    assert schema.name not in store.execute(ListTables())


@pytest.mark.rule(8)
@pytest.mark.parametrize("name", ["abc", "n" * 255, "A-Z_a.z-09"], ids=["shortest", "longest", "all characters"])
def test_a_name_that_is_accepted(store: Store, name: str) -> None:
    store.execute(CreateTable(TableSchema(name, PK)))
    assert name in store.execute(ListTables())
    store.execute(DeleteTable(name))


def test_tables_do_not_see_each_other(make_table: MakeTable) -> None:
    one, two = make_table(), make_table()
    one.put({"pk": "a", "sk": "1", "from": "one"})
    two.put({"pk": "a", "sk": "1", "from": "two"})
    assert one.get("a", "1") == {"pk": "a", "sk": "1", "from": "one"}
    assert one.scan().count == 1
