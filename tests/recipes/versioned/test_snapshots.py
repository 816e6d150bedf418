"""Schema snapshots: which changes are compatible with stored items, and what a developer has to do about the others."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model
from tests.recipes.accounts import ACCOUNTS, TABLES

from partita import Entity, Index, Key, Registry, Table, get
from partita.errors import ModelError
from partita.recipes.versioned import (
    SchemaReport,
    Verdict,
    accept_schema,
    assert_snapshot,
    check_schema,
    frozen_file,
    frozen_items,
    schema_file,
    schema_snapshot,
)
from partita.recipes.versioned._migrations import Migrations
from partita.recipes.versioned._shapes import bare, differences
from partita.recipes.versioned._table import VersionedTable

COMMITTED = Path(__file__).parent / "schema"


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class MoreColours(StrEnum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class City(BaseModel):
    name: str


class Place(BaseModel):
    name: str
    country: str | None = None


class Town(BaseModel):
    title: str


class Options(BaseModel):
    theme: str = "light"


class Tree(BaseModel):
    children: list[Tree] = []


COMPATIBLE: list[tuple[Any, Any]] = [
    (int, int | None),
    (int, Decimal),
    (int, float),
    (str, str | int),
    (Colour, MoreColours),
    (Colour, str),
    (Literal["a"], Literal["a", "b"]),
    (date, str),
    (list[int], list[int | None]),
    (dict[str, int], dict[str, float]),
    (City, Place),
    (City | None, Place | None),
    (list[City], list[Place]),
    (Tree, Tree),
    (bytes, bytes | None),
    (timedelta, timedelta | str),
    (dict[str, bytes], dict[str, bytes | None]),
]
BREAKING: list[tuple[Any, Any]] = [
    (int, str),
    (str, int),
    (float, int),
    (int | None, int),
    (str | int, str),
    (MoreColours, Colour),
    (str, Colour),
    (str, date),
    (date, datetime),
    (list[int], int),
    (list[int | None], list[int]),
    (dict[str, str], dict[str, int]),
    (City, Town),
    (Place, City),
    (City, str),
    (list[City], list[Town]),
    (bytes, str),
    (timedelta, str),
    (list[bytes], list[str]),
    (dict[str, str], Options),
]


def schema_of_field(annotation: Any, **settings: Any) -> dict[str, Any]:
    return bare(create_model("Model", field=(annotation, Field(**settings))).model_json_schema())


def breaking(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return any(difference.breaking for difference in differences(old, new))


@pytest.mark.req("A05")
@pytest.mark.parametrize(("old", "new"), COMPATIBLE, ids=str)
def test_a_widened_field_is_compatible(old: Any, new: Any) -> None:
    assert not breaking(schema_of_field(old), schema_of_field(new))


@pytest.mark.req("A05")
@pytest.mark.parametrize(("old", "new"), BREAKING, ids=str)
def test_a_retyped_field_is_breaking(old: Any, new: Any) -> None:
    assert breaking(schema_of_field(old), schema_of_field(new))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"max_length": 9}, {"max_length": 10}, False),
        ({"max_length": 10}, {"max_length": 9}, True),
        ({"min_length": 2}, {"min_length": 1}, False),
        ({"min_length": 1}, {"min_length": 2}, True),
        ({"min_length": 2}, {}, False),
        ({}, {"min_length": 2}, True),
        ({"pattern": "a"}, {"pattern": "b"}, True),
        ({"description": "one"}, {"description": "other"}, False),
    ],
)
def test_limits_may_only_be_loosened(old: dict[str, Any], new: dict[str, Any], expected: bool) -> None:  # noqa: FBT001
    assert breaking(schema_of_field(str, **old), schema_of_field(str, **new)) is expected


def fields(**declared: Any) -> dict[str, Any]:
    return bare(create_model("Model", **declared).model_json_schema())


@pytest.mark.req("A05")
def test_each_kind_of_change_is_named() -> None:
    old = fields(
        kept=(int, ...), gone=(bool, ...), owner=(str, ...), relaxed=(int, ...), strict=(int, 1), moved=(int, 1)
    )
    new = fields(kept=(int, ...), name=(str, ...), relaxed=(int, 0), strict=(int, ...), moved=(int, 2), extra=(int, 0))
    assert sorted(map(str, differences(old, new))) == [
        "breaking: gone was removed",
        "breaking: moved changed its default from 1 to 2",
        "breaking: name was added without a default",
        "breaking: owner was removed (renamed to name?)",
        "breaking: strict no longer has a default",
        'compatible: extra was added, {"default": 0, "type": "integer"}',
        "compatible: relaxed was given a default",
    ]


@pytest.mark.req("A05")
def test_a_default_that_is_computed_differs_from_none() -> None:
    none, computed = fields(tags=(list[int] | None, None)), fields(tags=(list[int] | None, Field(default_factory=list)))
    assert [str(difference) for difference in differences(none, computed)] == [
        "breaking: tags changed its default from null to a computed value"
    ]
    assert breaking(computed, none)
    assert not breaking(computed, computed)


def test_a_change_inside_a_nested_model_is_named_by_its_path() -> None:
    assert [str(difference) for difference in differences(schema_of_field(Place), schema_of_field(City))] == [
        "breaking: field.country was removed"
    ]


@given(
    st.recursive(
        st.sampled_from([int, str, bool, float, date, Colour, City, Tree]),
        lambda inner: st.one_of(
            inner.map(lambda kind: list[kind]),  # type: ignore[valid-type]
            inner.map(lambda kind: dict[str, kind]),  # type: ignore[valid-type]
            inner.map(lambda kind: kind | None),
        ),
        max_leaves=4,
    )
)
def test_nothing_differs_from_itself(annotation: Any) -> None:
    schema = schema_of_field(annotation)
    assert differences(schema, json.loads(json.dumps(schema))) == ()


def test_a_property_called_title_is_not_an_annotation() -> None:
    assert "title" in fields(title=(str, ...), description=(str, ...))["properties"]


# Whole tables, in successive generations of one program.


def generation(
    data_version: int = 1, migrations: Migrations | None = None, key: str = "{pk}", **declared: Any
) -> VersionedTable[..., Any]:
    table = Table("things", hash="pk", range=None, indexes=[Index("GSI1", range=False)], registry=Registry())
    defaults = {"pk": "p", "name": "n", "title": "t", "size": 1, "colour": "red"}
    annotations = {"pk": str, "primary": ClassVar, **{name: kind for name, (kind, *_) in declared.items()}}
    namespace = {
        "__module__": __name__,
        "__qualname__": "ThingData",
        "__annotations__": annotations,
        "primary": Key("{pk}"),
        **{name: rest[0] for name, (_, *rest) in declared.items() if rest},
    }
    if key != "{pk}":
        namespace["by_name"] = Key(key, index="GSI1")
        annotations["by_name"] = ClassVar
    make: Any = type(Entity)
    entity: Any = make("ThingData", (Entity,), namespace, table=table)

    @get(entity)
    def thing_by_pk(pk: str) -> None: ...

    example = entity(**{name: value for name, value in defaults.items() if name in entity.model_fields})
    return VersionedTable(
        thing_by_pk, data_version=data_version, example=example, migrations=migrations or Migrations()
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    accept_schema(generation(name=(str,)), tmp_path / "schema")
    return tmp_path / "schema"


@pytest.mark.req("A05")
def test_an_accepted_schema_is_current(folder: Path) -> None:
    same = generation(name=(str,))
    assert check_schema(same, folder) == SchemaReport("ThingData", Verdict.CURRENT)
    assert_snapshot(same, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["thing_data.schema.json", "thing_data.v1.json"]


@pytest.mark.req("A05")
def test_without_a_snapshot_one_is_asked_for(tmp_path: Path) -> None:
    report = check_schema(generation(name=(str,)), tmp_path)
    assert (report.verdict, report.settled) == (Verdict.NEW, False)
    assert "Run `partita schema accept`, and commit" in str(report)


@pytest.mark.req("A05")
def test_a_compatible_change_needs_only_to_be_accepted(folder: Path) -> None:
    wider = generation(name=(str,), size=(int, 0))
    with pytest.raises(AssertionError, match="ThingData: compatible") as caught:
        assert_snapshot(wider, folder)
    assert "Stored items can be read as they are. Run `partita schema accept`" in str(caught.value)
    assert accept_schema(wider, folder) == (schema_file(wider, folder),)
    assert_snapshot(wider, folder)


@pytest.mark.req("A05")
def test_a_breaking_change_says_exactly_what_to_do_and_is_not_accepted(folder: Path) -> None:
    renamed = generation(title=(str,))
    before = schema_file(renamed, folder).read_text(encoding="utf-8")
    with pytest.raises(AssertionError) as caught:
        assert_snapshot(renamed, folder)
    message = str(caught.value)
    assert "breaking: name was removed (renamed to title?)" in message
    assert "1. Raise data_version of the VersionedTable of ThingData from 1 to 2." in message
    assert "2. Add a migration from 1 to 2 to it: Migrations({1: function})" in message
    assert "3. Run `partita schema accept`" in message
    with pytest.raises(ModelError, match="breaking"):
        accept_schema(renamed, folder)
    assert schema_file(renamed, folder).read_text(encoding="utf-8") == before


@pytest.mark.req("A05", "A06")
def test_with_a_raised_version_and_a_migration_a_breaking_change_is_accepted(folder: Path) -> None:
    renamed = generation(2, Migrations({1: lambda item: {"pk": item["pk"], "title": item["name"]}}), title=(str,))
    assert check_schema(renamed, folder).verdict is Verdict.MIGRATED
    accept_schema(renamed, folder)
    assert_snapshot(renamed, folder)
    (old,) = frozen_items(renamed, 1, folder)
    assert renamed.form.versioned(old).data.title == "n"


@pytest.mark.req("A06")
def test_a_migration_that_cannot_read_the_frozen_items_is_not_accepted(folder: Path) -> None:
    wrong = generation(2, Migrations({1: lambda item: item}), title=(str,))
    report = check_schema(wrong, folder)
    assert "thing_data.v1.json: an item can no longer be read" in str(report)
    with pytest.raises(ModelError):
        accept_schema(wrong, folder)


def test_a_frozen_file_that_was_removed_is_missed(folder: Path) -> None:
    renamed = generation(2, Migrations({1: lambda item: {"pk": item["pk"], "title": item["name"]}}), title=(str,))
    accept_schema(renamed, folder)
    frozen_file(renamed, 1, folder).unlink()
    assert "thing_data.v1.json is missing" in str(check_schema(renamed, folder))


def test_a_lowered_data_version_is_refused(folder: Path) -> None:
    accept_schema(generation(2, Migrations({1: lambda item: item}), name=(str,)), folder)
    report = check_schema(generation(name=(str,)), folder)
    assert (report.verdict, report.acceptable) == (Verdict.LOWERED, False)
    assert "never lower it" in str(report)


def test_a_new_index_key_is_breaking_because_stored_items_lack_it(folder: Path) -> None:
    indexed = generation(key="NAME#{name}", name=(str,))
    assert "breaking: key by_name was added: stored items get it only when rewritten" in str(
        check_schema(indexed, folder)
    )
    accept_schema(generation(2, Migrations({1: lambda item: item}), key="NAME#{name}", name=(str,)), folder)
    assert (
        check_schema(generation(2, Migrations({1: lambda item: item}), name=(str,)), folder).verdict
        is Verdict.COMPATIBLE
    )


def test_the_snapshot_is_a_json_schema_with_keys_and_data_version() -> None:
    assert schema_snapshot(generation(name=(str,), size=(int, 0))) == {
        "entity": "ThingData",
        "data_version": 1,
        "keys": {"primary": [None, "{pk}"]},
        "type": "object",
        "properties": {
            "pk": {"type": "string"},
            "name": {"type": "string"},
            "size": {"default": 0, "type": "integer"},
        },
        "required": ["name", "pk"],
    }


def test_frozen_items_keep_every_kind_of_value(tmp_path: Path) -> None:
    kinds = {
        "S": "x", "N": Decimal("1.5"), "B": b"\x00\xff", "BOOL": True, "NULL": None, "L": [1, "a"], "M": {"a": [None]},
        "SS": frozenset(("a", "b")), "NS": frozenset((1, 2)), "BS": frozenset((b"x",)),
    }  # fmt: skip
    from partita.store._dynamodb_json import wire_item

    table = generation(name=(str,))
    frozen_file(table, 1, tmp_path).write_text(json.dumps([wire_item(kinds)]), encoding="utf-8")
    assert frozen_items(table, 1, tmp_path) == [kinds]


@pytest.mark.req("A05")
def test_the_snapshots_of_these_tests_are_current() -> None:
    assert_snapshot(ACCOUNTS, COMMITTED)
    assert [table.name for table in TABLES] == ["accounts"]
