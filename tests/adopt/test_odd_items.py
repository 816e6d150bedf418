"""A few odd items of a table: the model describes all others as if they were not there, and names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.adopt.tables import index, schema

from partita.adopt import Adoption, adopt_items
from partita.store import TableSchema

SHOP = schema("shop", key=("PK", "SK"))
GOOD = {
    "Order": ("USER#{user_id}", "ORDER#{order_id}"),
    "UserProfile": ("USER#{user_id}", "PROFILE"),
}
Items = list[dict[str, Any]]


def shop(users: int = 20, **others: Any) -> Items:
    """Users with two orders each."""
    items: Items = []
    for user in range(users):
        key = {"PK": f"USER#u{user}"}
        items.append({**key, "SK": "PROFILE", "name": f"Name {user}", "email": f"{user}@x.de"})
        items += [{**key, "SK": f"ORDER#{n}-2026", "total": n * 5, "status": "open"} for n in range(2)]
    return [{**item, **others} for item in items]


def odd(hash_key: str, range_key: str, **others: Any) -> dict[str, Any]:
    return {"PK": hash_key, "SK": range_key, **others}


def adopted(items: Items, folder: Path, table: TableSchema = SHOP) -> Adoption:
    return adopt_items(table, items, folder / "model.py")


def keys(adoption: Adoption) -> dict[str, tuple[str, str | None]]:
    return {entity.name: (entity.keys[0].hash, entity.keys[0].range) for entity in adoption.draft.entities}


@pytest.mark.parametrize(
    "item",
    [
        odd("misc", "x"),
        odd("migration", "2024-01-01-add-email", done=True),
        odd("USER#u1", "junk", owner="me"),
        odd("USER#u1", "2026-01-01", total=5, status="open"),
        odd("3f2b1c9e-0b7e-4d0e-9d1a-1a2b3c4d5e6f", "3f2b1c9e-0b7e-4d0e-9d1a-1a2b3c4d5e6f"),
        odd('{"id":1}', '{"id":2}'),
    ],
)
def test_an_odd_item_does_not_change_the_model_of_the_others(item: dict[str, Any], tmp_path: Path) -> None:
    adoption = adopted([*shop(), item], tmp_path)

    assert keys(adoption) == GOOD
    key = f"PK={item['PK']!r}, SK={item['SK']!r}"
    assert adoption.draft.notes == (
        f"1 item ({key}) is left out: an entity with such keys could also have the keys of Order.",
    )
    assert [(each.key, each.written) for each in adoption.proof.differences] == [(key, "no entity claims it")]


@pytest.mark.parametrize(
    ("item", "name", "key"),
    [
        (odd("COUNTER", "orders", n=5), "Counter", ("COUNTER", "{sk}")),
        (odd("LOCK#job", "LOCK#job", owner="h", expires="1699999999"), "Lock", ("LOCK#{lock_id}", "LOCK#{lock_id}")),
        (odd("USER#", "PROFILE", name="nobody"), "UserProfile2", ("USER#", "PROFILE")),
        (odd("USER#u1", "ORDER#", total=1), "Order2", ("USER#{user_id}", "ORDER#")),
    ],
)
def test_an_odd_item_with_keys_of_its_own_is_an_entity(
    item: dict[str, Any], name: str, key: tuple[str, str], tmp_path: Path
) -> None:
    adoption = adopted([*shop(), item], tmp_path)
    assert keys(adoption) == {**GOOD, name: key}
    assert (adoption.draft.notes, adoption.proof.differences) == ((), ())


def test_odd_items_of_several_shapes_are_named_together(tmp_path: Path) -> None:
    items = [odd("misc", "x"), odd("USER#u1", "junk"), odd("other", "y:z")]
    adoption = adopted([*shop(66), *items], tmp_path)
    assert keys(adoption) == GOOD
    assert len(adoption.proof.differences) == 3
    (note,) = adoption.draft.notes
    assert note.startswith("3 items (PK='misc', SK='x'; ")


def test_an_odd_item_does_not_cost_rare_items_their_entity(tmp_path: Path) -> None:
    items = [odd("other", "y#z"), odd("ORDERS", "latest", at=1)]
    adoption = adopted([*shop(), *items], tmp_path)
    assert keys(adoption) == {**GOOD, "Orders": ("ORDERS", "{sk}")}
    assert [each.key for each in adoption.proof.differences] == ["PK='other', SK='y#z'"]


def test_rare_items_that_one_key_can_write_are_one_entity(tmp_path: Path) -> None:
    items = [odd("CONFIG", "LIMITS", a=1), odd("CONFIG", "FLAGS", b=1), odd("CONFIG", "smtp", c=1)]
    adoption = adopted([*shop(), *items], tmp_path)
    assert keys(adoption) == {**GOOD, "ConfigLimits": ("CONFIG", "{sk}")}
    assert adoption.proof.holds


def test_only_the_first_of_many_odd_items_are_named(tmp_path: Path) -> None:
    adoption = adopted([*shop(), *(odd(f"x{number}", f"y{number}") for number in range(6))], tmp_path)
    assert keys(adoption) == GOOD
    assert "; PK='x4', SK='y4'; and 1 more) are left out" in adoption.draft.notes[0]


def test_where_many_items_are_odd_one_entity_has_all(tmp_path: Path) -> None:
    adoption = adopted([*shop(), *(odd(f"x{number}", f"y{number}") for number in range(7))], tmp_path)
    assert list(keys(adoption).values()) == [("{pk}", "{sk}")]
    assert adoption.proof.holds


def test_kinds_that_are_few_each_and_many_together_are_not_left_out(tmp_path: Path) -> None:
    items = [odd(f"x{number}", f"y{number}") for number in range(4)]
    items += [odd(f"USER#u{number}", f"y{number}z", a=1) for number in range(4)]
    adoption = adopted([*shop(), *items], tmp_path)
    assert adoption.proof.holds


USERS = [{"id": f"u{number:032x}", "name": f"Name {number}", "email": "x"} for number in range(60)]
BY_ID = TableSchema("users", schema("x", key=("id", "x")).hash)


def test_an_odd_item_that_an_entity_claims_is_named(tmp_path: Path) -> None:
    adoption = adopted([*USERS, {"id": "COUNTER", "n": 5}], tmp_path, BY_ID)
    (user,) = adoption.draft.entities
    assert user.field("name").annotation == "str"
    assert adoption.draft.notes == (
        "1 item (id='COUNTER') is left out: keys like those of User, but without name, email.",
    )
    (difference,) = adoption.proof.differences
    assert "is not a valid User: name: Field required; email: Field required" in difference.written


def test_an_item_with_an_unusual_identifier_is_not_odd(tmp_path: Path) -> None:
    adoption = adopted([*USERS, {"id": "BOB", "name": "Bob"}], tmp_path, BY_ID)
    (user,) = adoption.draft.entities
    assert (user.count, user.field("email").default) == (61, "None")
    assert (adoption.draft.notes, adoption.proof.differences) == ((), ())


def typed(name: str) -> Items:
    return [{**item, name: "user" if item["SK"] == "PROFILE" else "order"} for item in shop()]


@pytest.mark.parametrize("name", ["_type", "type"])
def test_an_odd_key_does_not_change_the_template_of_its_type(name: str, tmp_path: Path) -> None:
    adoption = adopted([*typed(name), odd("USER#u3", "junk", total=7, status="x", **{name: "order"})], tmp_path)
    assert adoption.draft.type_attribute == name
    assert list(keys(adoption).values()) == list(GOOD.values())
    assert adoption.draft.notes == (
        "1 item (PK='USER#u3', SK='junk') is left out: other items of the type order have keys of another form.",
    )
    assert [each.key for each in adoption.proof.differences] == ["PK='USER#u3', SK='junk'"]


def test_an_item_without_a_type_does_not_change_the_model(tmp_path: Path) -> None:
    adoption = adopted([*typed("_type"), odd("migration", "1")], tmp_path)
    assert list(keys(adoption).values()) == list(GOOD.values())
    assert [each.key for each in adoption.proof.differences] == ["PK='migration', SK='1'"]


def test_an_unusual_key_that_the_template_of_its_type_writes_is_not_odd(tmp_path: Path) -> None:
    items = [odd("ACCOUNT", f"{number:x}z", _type="user", n=number) for number in range(60)]
    adoption = adopted([*items, odd("ACCOUNT", "ADMIN", _type="user", n=1)], tmp_path)
    assert keys(adoption) == {"User": ("ACCOUNT", "{sk}")}
    assert (adoption.draft.notes, adoption.proof.differences) == ((), ())


def session(number: int, expires: object) -> dict[str, Any]:
    return odd(f"SESSION#{number}z", "INFO", user="x", expires=expires)


def test_an_odd_time_to_live_does_not_cost_the_others_their_field(tmp_path: Path) -> None:
    items = [*(session(number, 1_700_000_000 + number) for number in range(20)), session(99, "1700000000")]
    adoption = adopted(items, tmp_path, schema("sessions", key=("PK", "SK"), ttl="expires"))
    assert adoption.draft.entities[0].field("expires").annotation == "datetime"
    (note,) = adoption.draft.notes
    assert "expires has another type in 1 item (PK='SESSION#99z', SK='INFO'), so DynamoDB never removes it" in note
    (difference,) = adoption.proof.differences
    assert (difference.stored, difference.written) == ('{"S":"1700000000"}', '{"N":"1700000000"}')


def test_an_item_that_widens_a_type_is_named(tmp_path: Path) -> None:
    adoption = adopted([*shop(), odd("USER#u1", "ORDER#9-2026", total="12.50", status="open")], tmp_path)
    assert adoption.draft.entities[0].field("total").annotation == "Any"
    assert adoption.draft.notes == (
        "Order: total has another type in 1 item (PK='USER#u1', SK='ORDER#9-2026'), so its field is Any.",
    )
    assert adoption.proof.holds


def test_literal_text_that_an_index_repeats_stays_literal(tmp_path: Path) -> None:
    items = [odd(f"USER#u{n}", "PROFILE", email=f"{n}@x.de", GSI1PK="USER", GSI1SK="PROFILE") for n in range(20)]
    items += [odd(f"USER#u{n}", f"ORDER#{n}a", total=n) for n in range(20)]
    table = schema("shop", index("GSI1", "GSI1PK", "GSI1SK"), key=("PK", "SK"))
    assert set(keys(adopted(items, tmp_path, table)).values()) == set(GOOD.values())
