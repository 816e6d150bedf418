"""Inferring whole models from samples."""

from __future__ import annotations

from typing import Any

from tests.adopt.tables import PROJECTED, SINGLE, TIMED, TYPED, index, projected, schema, single, timed, typed

from partita.adopt import EntityDraft, ModelDraft, infer_model, render
from partita.store import IndexSchema, KeyAttribute


def keys(model: ModelDraft) -> dict[str, dict[str | None, tuple[str, str | None]]]:
    return {entity.name: {key.index: (key.hash, key.range) for key in entity.keys} for entity in model.entities}


def fields(entity: EntityDraft) -> dict[str, str]:
    return {field.name: field.annotation for field in entity.fields}


def test_entities_of_a_single_table_are_told_apart_by_their_keys() -> None:
    model = infer_model(SINGLE, single())

    assert (model.separator, model.values, model.type_attribute) == ("#", "raw", None)
    assert keys(model) == {
        "Order": {
            None: ("USER#{user_id}", "ORDER#{number:05}"),
            "GSI1": ("STATUS#{status}", "{placed}#{number:05}"),
            "inverted": ("ORDER#{number:05}", "USER#{user_id}"),
            "LSI1": ("USER#{user_id}", "TOTAL#{number:05}"),
        },
        "Line": {None: ("ORDER#{order_id}", "LINE#{line_id}"), "inverted": ("LINE#{line_id}", "ORDER#{order_id}")},
        "UserProfile": {None: ("USER#{user_id}", "PROFILE"), "inverted": ("PROFILE", "USER#{user_id}")},
    }
    order, line, _ = model.entities
    assert fields(order) == {
        "user_id": "str",
        "placed": "date",
        "number": "int",
        "total": "Decimal",
        "status": "str | None",
    }
    assert [field.name for field in order.fields if field.key_only] == ["user_id"]
    assert line.field("first_name").attribute == "first-name"
    assert line.field("expires").annotation == "datetime"


def test_what_a_model_cannot_say_is_noted() -> None:
    assert infer_model(SINGLE, single()).notes == (
        "Line: nothing is always NULL; it has no field, and is kept as it is.",
    )


def test_entities_with_a_type_may_share_a_shape_of_keys() -> None:
    model = infer_model(TYPED, typed())

    assert model.type_attribute == "entityType"
    assert keys(model) == {
        "User": {None: ("ACCOUNT|{email:lower}", "ACCOUNT"), "by-email": ("{email}", None)},
        "BigTeam": {None: ("ACCOUNT|{account_id}", "ACCOUNT")},
    }
    assert [entity.type_name for entity in model.entities] == ["user", "big-team"]
    user, team = model.entities
    assert [(each.name, each.attribute) for each in user.fields if each.name != each.attribute] == [
        ("class_", "class"),
        ("json_", "json"),
    ]
    assert team.field("field_model_x").attribute == "model_x"


def test_keys_may_be_attributes() -> None:
    (entity,) = infer_model(PROJECTED, projected()).entities

    assert entity.name == "Doc"
    assert [(key.hash, key.range) for key in entity.keys] == [
        ("{owner}", "{doc}"),
        ("{state}", "{changed}"),
        ("{kind}", None),
    ]
    assert entity.field("changed").annotation == "datetime"
    assert entity.field("mixed").annotation == "Any"


def test_an_instant_that_is_the_sort_key_is_one_in_the_model() -> None:
    (entity,) = infer_model(TIMED, timed()).entities
    assert entity.keys[0].range == "{created_at:%Y-%m-%dT%H:%M:%S.%f+0000}"
    assert entity.field("created_at").annotation == "datetime"


def item(number: int, **others: Any) -> dict[str, Any]:
    return {"pk": f"A#{number}", "sk": "INFO", **others}


TABLE = schema("table", index("gsi", "gpk", "gsk"))


def test_an_index_whose_key_no_field_makes_is_kept_as_it_is() -> None:
    model = infer_model(TABLE, [item(n, gpk=f"B#{n * 7}", gsk="x", n=n) for n in range(3)])
    assert keys(model)["AInfo"]["gsi"] == ("{gpk}", "{gsk}")
    (note,) = model.notes
    assert note.startswith("AInfo: no template writes gpk and gsk of every item from other fields, so they are fields")


def test_an_index_that_has_not_all_items_with_its_fields_is_kept_as_it_is() -> None:
    items = [item(n, n=n, **({"gpk": f"B#{n}", "gsk": "X"} if n else {})) for n in range(3)]
    (entity,) = infer_model(TABLE, items).entities
    assert [(field.name, field.annotation, field.default) for field in entity.fields if "g" in field.name] == [
        ("gpk", "str | None", "None"),
        ("gsk", "str | None", "None"),
    ]


def test_a_number_stands_in_the_keys_of_an_index_as_it_is() -> None:
    items = [item(n, n=n, gpk=f"B#{n}", gsk=f"{n}") for n in range(3)]
    assert keys(infer_model(TABLE, items))["AInfo"]["gsi"] == ("B#{n:d}", "{n:d}")


def test_a_key_that_nearly_all_fields_make_must_have_its_form_everywhere() -> None:
    names = [f"n{number}" for number in range(40)]
    items = [{"pk": f"A#x_{name}", "sk": "INFO", "name": name} for name in names]
    items[7]["name"] = "other"
    assert keys(infer_model(TABLE, items))["AInfo"] == {None: ("A#x_{name}", "INFO")}
    items[7]["pk"] = "A#y_n7"
    assert keys(infer_model(TABLE, items))["AInfo"] == {None: ("A#{a_id}", "INFO")}


def test_entities_whose_keys_cannot_be_told_apart_are_one() -> None:
    items = [{"pk": "A#1", "sk": "X"}, {"pk": "A#1", "sk": "2026"}, {"pk": "A#2", "sk": "y"}]
    assert list(keys(infer_model(TABLE, items)).values()) == [{None: ("A#{a_id}", "{sk}")}]


def test_an_index_of_several_attributes_is_noted() -> None:
    many = IndexSchema("many", (KeyAttribute("a"), KeyAttribute("b")), (KeyAttribute("c"),))
    model = infer_model(schema("table", many), [item(n, a="x", b="y", c="z") for n in range(2)])
    assert model.indexes == ()
    assert {"a", "b", "c"} <= fields(model.entities[0]).keys()
    assert model.notes == ("The index many has a key of several attributes: declare it by hand.",)


def test_null_in_one_item_and_nothing_in_another_needs_no_field() -> None:
    model = infer_model(TABLE, [item(1, note=None), item(2), item(3, note="x", other=None), item(4, other="y")])
    assert not {"note", "other"} & fields(model.entities[0]).keys()
    assert len(model.notes) == 2


def test_a_value_that_may_be_null_is_optional_without_a_default() -> None:
    (entity,) = infer_model(TABLE, [item(1, note=None), item(2, note="x")]).entities
    assert (entity.field("note").annotation, entity.field("note").default) == ("str | None", None)


def test_what_a_tool_writes_into_every_item_has_a_default() -> None:
    (entity,) = infer_model(TABLE, [item(n, __edb_v__="1") for n in range(2)]).entities
    assert (entity.field("edb_v").attribute, entity.field("edb_v").default) == ("__edb_v__", '"1"')


def test_attributes_of_few_items_have_no_field_where_there_are_many() -> None:
    items = [item(n, **{f"always{m}": m for m in range(30)}, **({"rare": 1} if n == 0 else {})) for n in range(40)]
    model = infer_model(TABLE, items)
    assert "rare" not in fields(model.entities[0])
    assert model.notes == ("AInfo: attributes without a field, which are kept as they are: 1.",)


def test_items_without_a_type_are_noted() -> None:
    items = [*(item(n, _type="a") for n in range(40)), item(40)]
    assert infer_model(TABLE, items).notes == ("Items without _type, which belong to no entity: 1.",)


def test_an_index_that_does_not_hold_the_type_has_no_access_pattern() -> None:
    keys_only = schema("table", index("gsi", "gpk", "gsk", projection="KEYS_ONLY"))
    model = infer_model(keys_only, [item(n, _type="a", gpk=f"B#{n}", gsk="INFO", n=n) for n in range(2)])
    assert model.notes == ("A: the index gsi does not hold the type of an item, so it has no access pattern.",)
    assert "@query" not in render(model)


def test_an_index_that_shares_an_attribute_with_another_index_is_noted() -> None:
    first, second = (IndexSchema(f"GSI{n}", (KeyAttribute("GSI1PK"),), (KeyAttribute(f"GSI{n}SK"),)) for n in (1, 2))
    items = [item(n, GSI1PK=f"B#{n}", GSI1SK=f"C#{n}", GSI2SK=f"D#{n}", n=str(n)) for n in range(10, 20)]
    (note,) = infer_model(schema("table", first, second), items).notes
    assert note == "The index GSI2 shares an attribute with another index (GSI1PK and GSI2SK): declare it by hand."
