"""A wrong table or entity is refused at declaration, with a message that names it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, Literal

import pytest
from pydantic import Field
from tests.model.declare import Elsewhere, entity, refused, table

from partita import (
    Entity,
    Index,
    Key,
    LocalIndex,
    Registry,
    Table,
    Version,
    put,
    query,
)
from partita.errors import ModelError
from partita.model._entity import EntityMeta, schema_of

# --- tables ---


def test_two_tables_of_one_name_are_refused() -> None:
    registry = Registry()
    Table("table", registry=registry)
    with refused("Two tables are named 'table'"):
        Table("table", registry=registry)


def test_a_registry_gives_its_tables_in_order() -> None:
    registry = Registry()
    tables = [Table(name, registry=registry) for name in ("bbb", "aaa")]
    assert list(registry) == tables
    assert registry["aaa"] is tables[1]
    assert "aaa" in registry
    assert "ccc" not in registry


@pytest.mark.parametrize("name", ["", "ab", "a" * 256, "a b c", "a/b/c", "tâble"])
def test_a_name_that_no_store_would_take_is_refused(name: str) -> None:
    with refused("name"):
        Table(name, registry=Registry())
    with refused("name"):
        table(indexes=[Index(name)])


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"indexes": [Index("GSI1"), Index("GSI1")]}, "two indexes are named 'GSI1'"),
        ({"indexes": [Index("GSI1", "x", "x")]}, "uses one attribute twice"),
        ({"indexes": [Index("GSI1", ("PK", "N"))]}, "'PK' has two types"),
        ({"ttl": "GSI1SK"}, "the TTL attribute 'GSI1SK' is a key attribute"),
        ({"ttl": "SK"}, "the TTL attribute 'SK' is a key attribute"),
        ({"hash": "x", "range": "x"}, "uses one attribute twice"),
    ],
)
def test_a_table_that_no_store_would_take_is_refused(settings: dict[str, Any], complaint: str) -> None:
    with refused(complaint):
        table(**settings)


KEY_TYPES = 'one of "S", "N" and "B"'
PROJECTIONS = 'Use "ALL", "KEYS_ONLY" or the names of attributes'
VIEWS = "Use one of KEYS_ONLY, NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES"
odd: Any = Index  # typed as Any, because type checkers know the allowed words
odd_local: Any = LocalIndex
INDEX = "The index 'GSI1'"


@pytest.mark.parametrize(
    ("settings", "complaint", "allowed"),
    [
        ({"hash": ("year", "Number")}, "Table('table'): ('year', 'Number') is not a key attribute", KEY_TYPES),
        ({"range": ("year", "n")}, "Table('table'): ('year', 'n') is not a key attribute", KEY_TYPES),
        ({"hash": ("year", "N", "S")}, "('year', 'N', 'S') is not a key attribute", KEY_TYPES),
        ({"range": False}, "False is not a key attribute", KEY_TYPES),
        ({"indexes": [odd("GSI1", ("year", "Number"))]}, f"{INDEX}: ('year', 'Number') is not a key", KEY_TYPES),
        ({"indexes": [odd_local("GSI1", ("year", "SS"))]}, f"{INDEX}: ('year', 'SS') is not a key", KEY_TYPES),
        ({"indexes": [odd("GSI1", projection="KEYS-ONLY")]}, f"{INDEX}: 'KEYS-ONLY' is not a proj", PROJECTIONS),
        ({"indexes": [odd_local("GSI1", projection="all")]}, f"{INDEX}: 'all' is not a projection", PROJECTIONS),
        ({"indexes": [odd("GSI1", projection=())]}, f"{INDEX}: () is not a projection", PROJECTIONS),
        ({"indexes": [odd("GSI1", projection=("title", 1))]}, "('title', 1) is not a projection", PROJECTIONS),
        ({"stream": "NEW_AND_OLD"}, "Table('table'): 'NEW_AND_OLD' is not a view of a stream", VIEWS),
        ({"stream": "new_image"}, "Table('table'): 'new_image' is not a view of a stream", VIEWS),
        ({"stream": True}, "True is not a view of a stream", VIEWS),
    ],
)
def test_a_word_that_no_store_knows_is_refused(settings: dict[str, Any], complaint: str, allowed: str) -> None:
    with refused(complaint) as caught:
        table(**settings)
    assert allowed in caught.value.hint


def test_the_names_of_a_projection_may_stand_in_a_list() -> None:
    index = table(indexes=[odd("GSI1", projection=["title"])]).schema.index("GSI1")
    assert index is not None
    assert index.projection == ("title",)


def test_index_attributes_are_named_after_the_index() -> None:
    index = table().schema.index("GSI1")
    assert index is not None
    assert [attribute.name for attribute in index.key] == ["GSI1PK", "GSI1SK"]


# --- keys of an entity ---


@pytest.mark.parametrize(
    ("primary", "complaint"),
    [
        (Key("USER#{user}", "TASK#{task_id}"), "Made has no field 'user'"),
        (Key("USER#{user_id}"), "Table('table') has a sort key"),
        (Key("USER#{user_id}", "TASK#{task_id}", index="GSI9"), "has no index 'GSI9'"),
        (Key("U" * 2048 + "#{user_id}", "TASK"), "exceeds the maximum length of a key"),
        (Key("USER#{user_id}", "T" * 1024 + "#{task_id}"), "exceeds the maximum length of a key"),
        (Key("USER#{user_id}", "TASK#{number}"), "the number 'number' needs a width"),
        (Key("USER#{user_id}", "TASK#{price}"), "the number 'price' needs a width"),
        (Key("USER#{user_id}", "TASK#{due}"), "'due' may be None"),
        (Key("USER#{user_id}", "TASK#{tags}"), "cannot be part of a key"),
        (
            Key("USER#{user_id}", "TASK#{flag}"),
            "a bool such as 'flag' cannot be part of a key. Use text, a whole number",
        ),
        (Key("USER#{user_id}", "TASK#{either}"), "'either' must have a single type"),
        (Key("{number}", "TASK"), "'number' makes a key of type N, but PK is of type S"),
        (Key("{blob}", "TASK"), "'blob' makes a key of type B, but PK is of type S"),
        (Key("{tags}", "TASK"), "cannot be a key"),
    ],
)
def test_a_key_that_its_fields_cannot_make_is_refused(primary: Key, complaint: str) -> None:
    annotations = {
        "number": int,
        "price": Decimal,
        "due": date | None,
        "tags": list,
        "flag": bool,
        "either": str | int,
        "blob": bytes,
    }
    with refused(complaint):
        entity(primary, annotations=annotations)


class Size(Enum):
    SMALL = 2
    LARGE = 10


def test_an_enum_of_numbers_needs_a_width_to_sort_rightly() -> None:
    with refused("the number 'size' needs a width"):
        entity(Key("USER#{user_id}", "SIZE#{size}"), annotations={"size": Size})
    entity(Key("USER#{user_id}", "SIZE#{size:02}"), annotations={"size": Size})


def test_a_literal_type_may_stand_in_a_key() -> None:
    cls = entity(Key("USER#{user_id}", "STATUS#{status}"), annotations={"status": Literal["open", "done"]})
    made_ = cls(user_id="u", task_id="t", status="done")
    assert schema_of(cls).item(made_)["SK"] == "STATUS#done"

    @query(cls, cls.primary)
    def with_status(user_id: str, status: Literal["open", "done"]) -> None: ...

    assert with_status("u", "open").key_condition.equal == (("PK", "USER#u"), ("SK", "STATUS#open"))


def test_a_literal_of_several_types_may_not_stand_in_a_key() -> None:
    with refused("'status' must have a single type"):
        entity(Key("USER#{user_id}", "STATUS#{status}"), annotations={"status": Literal["open", 1]})


def test_a_key_on_a_number_attribute_must_be_a_bare_field() -> None:
    with refused("PK is not a string, so its template must be one bare field"):
        entity(Key("USER#{user_id}", "X"), on=table(hash=("PK", "N")))


def test_a_refused_key_carries_the_class_that_was_being_made() -> None:
    with refused("Made has no field 'city'") as caught:
        entity(Key("USER#{city}", "TASK#{task_id}"))
    assert caught.value.owner.__name__ == "Made"


def test_an_entity_needs_a_primary_key() -> None:
    with refused("Homeless has no primary key"):

        class Homeless(Entity, table=table()):
            user_id: str


def test_an_index_without_a_sort_key_takes_none() -> None:
    with refused("the index 'GSI1' has no sort key"):
        entity(other=Key("A#{user_id}", "B", index="GSI1"), on=table(indexes=[Index("GSI1", range=False)]))


def test_two_keys_for_one_index_are_refused() -> None:
    keys: dict[str, Any] = {"one": Key("A#{user_id}", "B", index="GSI1"), "two": Key("C#{user_id}", "D", index="GSI1")}
    with refused("Made has two keys for the index 'GSI1'"):
        entity(**keys)


def test_two_keys_for_the_table_are_refused() -> None:
    with refused("Made has two keys for the table"):
        entity(other=Key("A#{user_id}", "B"))


def test_two_keys_that_write_one_attribute_are_refused() -> None:
    shared = table(indexes=[Index("GSI1", "one", "shared"), Index("GSI2", "two", "shared")])
    keys: dict[str, Any] = {"one": Key("A#{user_id}", "1", index="GSI1"), "two": Key("B#{user_id}", "2", index="GSI2")}
    with refused("two keys write the attribute 'shared'"):
        entity(on=shared, **keys)


def test_a_local_index_has_the_partition_of_the_table() -> None:
    with refused("a local index must have the table's partition key 'USER#{user_id}'"):
        entity(on=table(indexes=[LocalIndex("LSI1")]), other=Key("A#{user_id}", "B", index="LSI1"))


@pytest.mark.parametrize("name", ["PK", "SK", "GSI1PK"])
def test_a_field_that_clashes_with_a_key_attribute_is_refused(name: str) -> None:
    with refused(f"the field stored as {name!r} clashes with a key attribute"):
        entity(annotations={name: str})


def test_an_alias_that_clashes_with_a_key_attribute_is_refused() -> None:
    with refused("the field stored as 'GSI1SK' clashes"):

        class Clashing(Entity, table=table()):
            primary: ClassVar = Key("USER#{user_id}", "X")
            user_id: str
            sort: str = Field(alias="GSI1SK")


@pytest.mark.parametrize("kind", [set[str], frozenset[str], frozenset[int] | None])
def test_a_set_needs_an_empty_default(kind: Any) -> None:
    with refused("a set needs an empty default"):
        entity(annotations={"tags": kind})


def test_two_version_fields_are_refused() -> None:
    with refused("Twice has two version fields: version, revision"):

        class Twice(Entity, table=table()):
            primary: ClassVar = Key("USER#{user_id}", "X")
            user_id: str
            version: Version = 0
            revision: Version = 0


@pytest.mark.parametrize("default", [1, ...])
def test_a_version_starts_at_zero(default: Any) -> None:
    with refused("a version starts at 0"):
        entity(annotations={"version": Version}, version=Field(default))


def test_a_class_without_a_table_has_no_items() -> None:
    class Abstract(Entity):
        user_id: str

    with refused("Abstract is not bound to a table"):
        put(Abstract(user_id="u"))


def test_a_subclass_is_an_entity_of_its_own() -> None:
    class Derived(Elsewhere):
        more: str = ""

    with refused("Derived is not bound to a table"):
        put(Derived(user_id="u", place="p"))


@pytest.mark.parametrize("place", ["table", 7])
def test_what_is_not_a_table_is_refused_as_one(place: Any) -> None:
    with refused("table"):
        entity(on=place)


# --- two entities in one table ---


def declare(on: Table, name: str, key: Key) -> None:
    body = {"__module__": __name__, "__annotations__": {"a": str, "b": str, "primary": ClassVar}, "primary": key}
    EntityMeta(name, (Entity,), body, table=on)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Key("USER#{a}", "TASK#{b}"), Key("USER#{b}", "TASK#{a}")),
        (Key("USER#{a}", "TASK#{b}"), Key("USER#{a}", "TASK#x")),
        (Key("{a}", "TASK#{b}"), Key("USER#{a}", "TASK#{b}")),
        (Key("{a}#X", "TASK"), Key("USER#{a}", "TASK")),
        (Key("USER#{a}", "{b}"), Key("USER#{a}", "TASK#{b}")),
    ],
)
def test_two_entities_that_could_share_a_key_are_refused(one: Key, other: Key) -> None:
    shared = table()
    declare(shared, "One", one)
    with refused("Other and One could both have the same key"):
        declare(shared, "Other", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Key("USER#{a}", "TASK#{b}"), Key("USER#{a}", "TASKS#{b}")),
        (Key("USER#{a}", "TASK#{b}"), Key("USER#{a}", "TASK#{b}#STEP")),
        (Key("USER#{a}", "TASK#{b}"), Key("TASK#{a}", "TASK#{b}")),
        (Key("USER#{a}", "TASK#{b}"), Key("USER#{a}", "TASK")),
    ],
)
def test_two_entities_that_can_never_share_a_key_live_together(one: Key, other: Key) -> None:
    shared = table()
    declare(shared, "One", one)
    declare(shared, "Other", other)
    assert [known.name for known in shared.entities] == ["One", "Other"]


def test_every_declaration_error_says_where_it_is() -> None:
    with pytest.raises(ModelError) as caught:
        entity(Key("USER#{user}", "TASK"))
    assert caught.value.hint == "It has: user_id, task_id."
    assert caught.value.code == "model"
