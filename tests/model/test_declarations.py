"""A wrong declaration is refused when the class, table or pattern is made, with a message that names it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import make_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from types import GenericAlias
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, Field

from partita import (
    Entity,
    Index,
    Key,
    LocalIndex,
    Prefix,
    Put,
    Registry,
    Span,
    Table,
    Version,
    collect,
    get,
    insert,
    pattern,
    put,
    query,
)
from partita._entity import EntityMeta, schema_of
from partita.errors import ModelError


def table(**settings: Any) -> Table:
    return Table("table", registry=Registry(), **{"indexes": [Index("GSI1")], **settings})


def refused(complaint: str) -> Any:
    return pytest.raises(ModelError, match=re.escape(complaint))


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


def test_index_attributes_are_named_after_the_index() -> None:
    index = table().schema.index("GSI1")
    assert index is not None
    assert [attribute.name for attribute in index.key] == ["GSI1PK", "GSI1SK"]


# --- keys of an entity ---


def entity(
    primary: Any = None, *, on: Table | None = None, annotations: dict[str, Any] | None = None, **keys: Any
) -> Any:
    """Make an entity class with these keys and fields."""
    fields = {"user_id": str, "task_id": str, **(annotations or {})}
    defaults = {name: keys.pop(name) for name in list(keys) if name in fields}
    body = {
        "__module__": __name__,
        "__annotations__": {**fields, "primary": ClassVar, **dict.fromkeys(keys, ClassVar)},
        "primary": primary or Key("USER#{user_id}", "TASK#{task_id}"),
        **keys,
        **defaults,
    }
    return EntityMeta("Made", (Entity,), body, table=on or table())


@pytest.mark.parametrize(
    ("primary", "complaint"),
    [
        (Key("USER#{user}", "TASK#{task_id}"), "Made has no field 'user'"),
        (Key("USER#{user_id}"), "Table('table') has a sort key"),
        (Key("USER#{user_id}", "TASK#{task_id}", index="GSI9"), "has no index 'GSI9'"),
        (Key("U" * 2048 + "#{user_id}", "TASK"), "longer than a key may be"),
        (Key("USER#{user_id}", "T" * 1024 + "#{task_id}"), "longer than a key may be"),
        (Key("USER#{user_id}", "TASK#{number}"), "the number 'number' needs a width"),
        (Key("USER#{user_id}", "TASK#{price}"), "the number 'price' needs a width"),
        (Key("USER#{user_id}", "TASK#{due}"), "'due' may be None"),
        (Key("USER#{user_id}", "TASK#{tags}"), "cannot stand in a key"),
        (Key("USER#{user_id}", "TASK#{flag}"), "cannot stand in a key"),
        (Key("USER#{user_id}", "TASK#{either}"), "'either' must have one type"),
        (Key("{number}", "TASK"), "'number' gives a key of type N, but PK is of type S"),
        (Key("{blob}", "TASK"), "'blob' gives a key of type B, but PK is of type S"),
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
    with refused("'status' must have one type"):
        entity(Key("USER#{user_id}", "STATUS#{status}"), annotations={"status": Literal["open", 1]})


def test_a_key_on_a_number_attribute_must_be_a_bare_field() -> None:
    with refused("PK is no string, so its template must be one bare field"):
        entity(Key("USER#{user_id}", "X"), on=table(hash=("PK", "N")))


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
    with refused("a local index has the table's partition key 'USER#{user_id}'"):
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

    with refused("Abstract is bound to no table"):
        put(Abstract(user_id="u"))


def test_a_subclass_is_an_entity_of_its_own() -> None:
    class Derived(Elsewhere):
        more: str = ""

    with refused("Derived is bound to no table"):
        put(Derived(user_id="u", place="p"))


@pytest.mark.parametrize("place", ["table", 7])
def test_what_is_no_table_is_refused_as_one(place: Any) -> None:
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


# --- patterns ---


def made() -> Any:
    """A new class each time, so that no pattern of one test is in the way of another's."""

    class Made(Entity, table=table(indexes=[Index("GSI1"), Index("KEYS", projection="KEYS_ONLY")])):
        primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}")
        by_due: ClassVar = Key("USER#{user_id}", "DUE#{due}#{task_id}", index="GSI1")
        bare_bones: ClassVar = Key("USER#{user_id}", "KEYS#{task_id}", index="KEYS")
        user_id: str
        task_id: str
        due: date | None = None
        title: str = ""

    return Made


class Elsewhere(Entity, table=Table("elsewhere", registry=Registry())):
    primary: ClassVar = Key("USER#{user_id}", "PLACE#{place}")
    user_id: str
    place: str


def user_only(user_id: str) -> None: ...
def task_only(task_id: str) -> None: ...
def both(user_id: str, task_id: str) -> None: ...
def unknown_field(user_id: str, task: str) -> None: ...
def wrong_type(user_id: int, task_id: str) -> None: ...
def untyped(user_id, task_id) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001
def gap(user_id: str, task_id: str) -> None: ...
def span_first(user_id: str, due: Span[date], task_id: str) -> None: ...
def span_of_partition(user_id: Span[str]) -> None: ...
def span_of_text(user_id: str, due: Span[str]) -> None: ...
def span_in_get(user_id: str, task_id: Span[str]) -> None: ...
def prefix_of_date(user_id: str, due: Prefix[date]) -> None: ...


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (user_only, "does not cover the primary key of Made: task_id"),
        (unknown_field, "'task' is no field of Made.primary"),
        (wrong_type, "'user_id' is declared as <class 'int'>"),
        (untyped, "'user_id' is declared as None"),
        (span_in_get, "span_in_get"),
    ],
)
def test_a_get_that_does_not_fit_the_primary_key_is_refused(function: Callable[..., None], complaint: str) -> None:
    with refused(complaint):
        get(made())(function)


@pytest.mark.parametrize(
    ("key", "function", "complaint"),
    [
        ("primary", task_only, "does not cover the partition key 'USER#{user_id}': 'user_id' is missing"),
        ("primary", span_of_partition, "does not cover the partition key"),
        ("by_due", gap, "task_id cannot restrict the sort key"),
        ("by_due", span_first, "task_id cannot restrict the sort key"),
        ("by_due", span_of_text, "'due' is declared as <class 'str'>"),
        ("by_due", prefix_of_date, "prefix_of_date"),
        ("primary", unknown_field, "'task' is no field"),
    ],
)
def test_a_query_that_its_key_cannot_serve_is_refused(key: str, function: Callable[..., None], complaint: str) -> None:
    cls = made()
    with refused(complaint):
        query(cls, getattr(cls, key))(function)


def test_a_key_of_another_entity_is_refused() -> None:
    with refused("is no key of Made"):
        query(made(), Elsewhere.primary)


def test_a_query_on_an_index_that_lacks_the_entitys_fields_is_refused() -> None:
    cls = made()
    with refused("KEYS"):
        query(cls, cls.bare_bones)(user_only)


def test_a_view_of_an_index_may_have_only_what_the_index_projects() -> None:
    class TitleOnly(BaseModel):
        title: str

    cls = made()
    with refused("KEYS"):
        query(cls, cls.bare_bones, view=TitleOnly)(user_only)


def test_a_view_may_have_only_fields_of_the_entity() -> None:
    class Colors(BaseModel):
        color: str

    cls = made()
    with refused("The view Colors has 'color', which Made has not"):
        query(cls, cls.by_due, view=Colors)


def test_two_patterns_of_one_name_are_refused() -> None:
    cls = made()
    get(cls)(both)
    with refused("two access patterns named 'both'"):
        get(cls)(both)


def test_a_pattern_must_name_its_entity() -> None:
    def nameless(item: Any) -> Put[Any]:
        return insert(item)

    with refused("nameless: no entity is named in its parameters or result"):
        pattern()(nameless)


def test_a_pattern_knows_its_name_documentation_and_key() -> None:
    def due_on(user_id: str, due: date) -> None:
        """Tasks due on a day."""

    cls = made()
    query(cls, cls.by_due)(due_on)
    known = schema_of(cls).table.patterns["due_on"]
    assert (known.name, known.kind, known.doc, known.index) == ("due_on", "query", "Tasks due on a day.", "GSI1")
    assert known.entity is schema_of(cls)


# --- collections ---


def many(cls: type) -> GenericAlias:
    return GenericAlias(tuple, (cls, ...))


def result(**fields: Any) -> type:
    """A dataclass for the result of a collection."""
    return make_dataclass("Result", fields.items(), frozen=True)


def test_the_result_of_a_collection_is_a_dataclass() -> None:
    with refused("Elsewhere is no dataclass"):
        collect(Elsewhere, "USER#{user_id}")


@pytest.mark.parametrize("of", [list, set, dict])
def test_a_collection_holds_entities_alone_optional_or_in_tuples(of: Any) -> None:
    cls = made()
    kind = of[str, cls] if of is dict else of[cls]
    with refused("Result.found must be an entity, an optional entity, or a tuple of entities"):
        collect(result(found=kind), "USER#{user_id}")


@pytest.mark.parametrize("kind", [str, str | None, tuple[str, ...], tuple[Elsewhere, Elsewhere]])
def test_a_collection_of_what_is_no_entity_is_refused(kind: Any) -> None:
    with refused("Result.found must be an entity, an optional entity, or a tuple of entities"):
        collect(result(found=kind), "USER#{user_id}")


def test_a_collection_of_nothing_is_refused() -> None:
    with refused("Result"):
        collect(result(), "USER#{user_id}")(user_only)


def test_the_entities_of_a_collection_share_a_table() -> None:
    with refused("Result"):
        collect(result(one=many(made()), other=many(Elsewhere)), "USER#{user_id}")(user_only)


@pytest.mark.parametrize(("partition", "index"), [("PERSON#{user_id}", None), ("USER#{user_id}", "GSI2")])
def test_the_entities_of_a_collection_have_a_key_in_its_partition(partition: str, index: str | None) -> None:
    with refused(f"Result: Made has no key with the partition {partition!r}"):
        collect(result(found=many(made())), partition, index=index)


def test_a_collections_parameters_are_the_fields_of_its_partition() -> None:
    with refused("both: its parameters must be the fields of 'USER#{user_id}'"):
        collect(result(found=many(made())), "USER#{user_id}")(both)


def test_every_declaration_error_says_where_it_is() -> None:
    with pytest.raises(ModelError) as caught:
        entity(Key("USER#{user}", "TASK"))
    assert caught.value.hint == "It has: user_id, task_id."
    assert caught.value.code == "model"
