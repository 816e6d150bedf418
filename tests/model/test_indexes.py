"""Inverted indexes, indexes with shared attributes, and indexes with several attributes in a key."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import pytest
from tests.model.declare import entity, refused, table

from partita import (
    Entity,
    Index,
    Key,
    LocalIndex,
    Prefix,
    Query,
    Registry,
    Session,
    Span,
    Table,
    f,
    get,
    insert,
    query,
    update,
    upsert,
)
from partita.errors import ModelError
from partita.model._entity import schema_of
from partita.patterns import key_matches, layout

GRAPH = Table(
    "graph",
    registry=Registry(),
    indexes=[
        Index("inverted", hash="SK", range="PK"),
        Index("by-kind", hash="GSI1PK", range="SK"),
        Index("by-weight", hash="GSI1PK", range="GSI2SK"),
    ],
)


class Edge(Entity, table=GRAPH):
    primary: ClassVar = Key("NODE#{start}", "NODE#{end}")
    reverse: ClassVar = Key("NODE#{end}", "NODE#{start}", index="inverted")
    by_kind: ClassVar = Key("KIND#{kind}", "NODE#{end}", index="by-kind")
    by_weight: ClassVar = Key("KIND#{kind}", "{weight:04}", index="by-weight")

    start: str
    end: str
    kind: str | None = None
    weight: int | None = None


class Note(Entity, table=GRAPH):
    primary: ClassVar = Key("NODE#{node}", "NOTE#{note}")

    node: str
    note: str


@get(Edge)
def edge(start: str, end: str) -> None: ...
@query(Edge, Edge.reverse)
def edges_into(end: str) -> None: ...
@query(Edge, Edge.by_kind)
def edges_of_kind(kind: str) -> None: ...
@query(Edge, Edge.by_weight)
def heavy(kind: str, weight: Span[int]) -> None: ...


@pytest.fixture
def graph(partita_db: Session) -> Session:
    partita_db.create_tables([GRAPH, ORDERS])
    return partita_db


def item(thing: Entity) -> dict[str, Any]:
    return schema_of(type(thing)).item(thing)


def stored(db: Session, thing: Edge) -> dict[str, Any]:
    response = db.store.execute(edge(thing.start, thing.end).request())
    assert response.item is not None
    return response.item


def test_an_inverted_index_writes_nothing_of_its_own() -> None:
    assert item(Edge(start="a", end="b")) == {"start": "a", "end": "b", "PK": "NODE#a", "SK": "NODE#b"}


def test_an_inverted_index_reads_what_leads_to_a_node(graph: Session) -> None:
    edges = [graph.run(insert(Edge(start=start, end=end))) for start, end in ("ab", "cb", "bd")]
    graph.run(insert(Note(node="a", note="b")))
    assert list(graph.run(edges_into("b"))) == edges[:2]
    assert graph.run(edges_into("b").count()) == 2


def test_an_entity_without_a_key_for_it_is_in_an_inverted_index_too() -> None:
    schema = schema_of(Edge)
    assert schema_of(Note).may_be_in("inverted")
    assert not schema_of(Note).may_be_in("by-weight")
    assert not schema.alone_in(schema.keys["reverse"])
    assert schema.alone_in(schema.keys["by_weight"])


def test_a_count_on_an_inverted_index_looks_at_each_item() -> None:
    assert edges_into("b").count().request().count_only is False


def test_a_shared_attribute_is_there_while_one_of_its_keys_is(graph: Session) -> None:
    thing = graph.run(insert(Edge(start="a", end="b", kind="road", weight=7)))
    assert [graph.run(each).items for each in (edges_of_kind("road"), heavy("road", Span.since(7)))] == [(thing,)] * 2
    light = graph.run(update(edge("a", "b"), f(Edge.weight).remove()))
    assert stored(graph, light) == item(light)
    assert list(graph.run(edges_of_kind("road"))) == [light]
    assert list(graph.run(heavy("road", Span.since(0)))) == []
    gone = graph.run(update(light, f(Edge.kind).remove()))
    assert stored(graph, gone) == item(gone) == {"start": "a", "end": "b", "PK": "NODE#a", "SK": "NODE#b"}


def test_an_upsert_writes_a_shared_attribute_once(graph: Session) -> None:
    made = graph.run(upsert(Edge(start="a", end="b", kind="road", weight=7)))
    assert stored(graph, made) == item(made)
    graph.run(update(made, f(Edge.weight).remove()))
    kept = graph.run(upsert(Edge(start="a", end="b", kind="road", weight=7)))
    assert stored(graph, kept) == item(kept)


def test_an_update_never_sets_an_attribute_of_the_tables_own_key() -> None:
    changed = update(edge("a", "b"), f(Edge.kind).set("road"), f(Edge.weight).set(3)).plan()
    assert changed is not None
    assert {each.path.parts[0] for each in changed.update.sets} == {"kind", "weight", "GSI1PK", "GSI2SK"}


def test_a_shared_attribute_has_one_template() -> None:
    shared = table(indexes=[Index("GSI1"), Index("GSI2", hash="GSI1PK")])
    with refused("two keys write the attribute 'GSI1PK', as 'A#{user_id}' and as 'B#{user_id}'"):
        entity(
            on=shared,
            one=Key("A#{user_id}", "{task_id}", index="GSI1"),
            two=Key("B#{user_id}", "{task_id}", index="GSI2"),
        )


def test_an_index_with_the_tables_sort_key_has_its_template() -> None:
    with refused("two keys write the attribute 'SK', as 'TASK#{task_id}' and as 'T#{task_id}'"):
        entity(on=table(indexes=[Index("GSI1", range="SK")]), one=Key("A#{user_id}", "T#{task_id}", index="GSI1"))


# --- sort keys of one padded number ---


def test_a_sort_key_may_be_one_padded_number(graph: Session) -> None:
    things = [graph.run(insert(Edge(start="a", end=str(n), kind="road", weight=n))) for n in (5, 40, 300)]
    assert item(things[0])["GSI2SK"] == "0005"
    assert list(graph.run(heavy("road", Span.until(40)))) == things[:2]
    assert list(graph.run(heavy("road", Span.after(5)))) == things[1:]
    assert list(graph.run(heavy("road", Span.before(40)))) == things[:1]
    assert list(graph.run(heavy("road", Span.between(6, 40)))) == things[1:2]
    assert list(graph.run(heavy("road", Span()))) == things


def test_a_bare_number_in_a_text_attribute_is_told_of_its_width() -> None:
    with pytest.raises(ModelError, match=re.escape("{n:06}, a padded number")):
        entity(Key("A#{user_id}", "{n}"), annotations={"n": int})


# --- several attributes ---

ORDERS = Table(
    "orders",
    registry=Registry(),
    indexes=[
        Index("by-region", hash=["tenant", "region"], range=["status", ("cents", "N"), "order_id"]),
        Index("by-day", hash=["tenant", "DAY"], range=["KIND", "order_id"]),
    ],
)


class Order(Entity, table=ORDERS):
    primary: ClassVar = Key("TENANT#{tenant}", "ORDER#{order_id}")
    by_region: ClassVar = Key(["{tenant}", "{region}"], ["{status}", "{cents}", "{order_id}"], index="by-region")
    by_day: ClassVar = Key(["{tenant}", "DAY#{day}"], ["ORDER", "{order_id}"], index="by-day")

    tenant: str
    order_id: str
    region: str | None = None
    status: str = "open"
    cents: int = 0
    day: str | None = None


class Member(Entity, table=ORDERS):
    """An entity that has only some attributes of an index, so that it is not in the index."""

    primary: ClassVar = Key("TENANT#{tenant}", "MEMBER#{name}")

    tenant: str
    name: str
    status: str = "active"


@query(Order, Order.by_region)
def in_region(tenant: str, region: str) -> None: ...
@query(Order, Order.by_region)
def in_state(tenant: str, region: str, status: str) -> None: ...
@query(Order, Order.by_region)
def worth(tenant: str, region: str, status: str, cents: Span[int]) -> None: ...
@query(Order, Order.by_region)
def begins(tenant: str, region: str, status: Prefix[str]) -> None: ...
@query(Order, Order.by_region)
def one(tenant: str, region: str, status: str, cents: int, order_id: str) -> None: ...
@query(Order, Order.by_day)
def on_day(tenant: str, day: str) -> None: ...


def test_attributes_that_are_fields_are_stored_once() -> None:
    order = Order(tenant="acme", order_id="o1", region="eu", day="2026-01-02")
    assert item(order) == {
        "tenant": "acme",
        "order_id": "o1",
        "region": "eu",
        "status": "open",
        "cents": 0,
        "day": "2026-01-02",
        "PK": "TENANT#acme",
        "SK": "ORDER#o1",
        "DAY": "DAY#2026-01-02",
        "KIND": "ORDER",
    }
    assert "DAY" not in item(Order(tenant="acme", order_id="o1"))


@pytest.mark.parametrize(
    ("asked", "equal", "span"),
    [
        (in_region("acme", "eu"), ["tenant", "region"], None),
        (in_state("acme", "eu", "open"), ["tenant", "region", "status"], None),
        (worth("acme", "eu", "open", Span.since(5)), ["tenant", "region", "status"], ("cents", ">=", (5,))),
        (begins("acme", "eu", Prefix("o")), ["tenant", "region"], ("status", "BEGINS_WITH", ("o",))),
        (one("acme", "eu", "open", 5, "o1"), ["tenant", "region", "status", "cents", "order_id"], None),
        (on_day("acme", "d"), ["tenant", "DAY", "KIND"], None),
    ],
)
def test_a_query_asks_from_the_left_with_a_range_on_the_last(asked: Query[Order], equal: list[str], span: Any) -> None:
    condition = asked.key_condition
    found = None if condition.range is None else (condition.range.name, condition.range.op, condition.range.values)
    assert ([name for name, _ in condition.equal], found) == (equal, span)


def test_several_attributes_sort_by_each_in_its_own_type(graph: Session) -> None:
    orders = [
        graph.run(insert(Order(tenant="acme", order_id=f"o{cents}", region="eu", status=status, cents=cents)))
        for status, cents in (("open", 9), ("open", 10), ("paid", 1), ("open", 100))
    ]
    graph.run(insert(Order(tenant="other", order_id="o", region="eu")))
    graph.run(insert(Order(tenant="acme", order_id="nowhere")))
    graph.run(insert(Member(tenant="acme", name="ada")))
    in_order = [orders[n] for n in (0, 1, 3, 2)]
    assert list(graph.run(in_region("acme", "eu"))) == in_order
    assert list(graph.run(in_region("acme", "eu").reversed())) == in_order[::-1]
    assert list(graph.run(worth("acme", "eu", "open", Span.between(10, 100)))) == in_order[1:3]
    assert list(graph.run(begins("acme", "eu", Prefix("p")))) == in_order[3:]
    assert graph.run(in_region("acme", "eu").count()) == 4


def test_pages_go_on_over_several_attributes(graph: Session) -> None:
    made = [graph.run(insert(Order(tenant="acme", order_id=f"{n:02}", region="eu", cents=n % 2))) for n in range(7)]
    seen: list[Order] = []
    cursor: str | None = None
    while True:
        page = graph.run(in_region("acme", "eu").page(2, after=cursor))
        seen += page.items
        if (cursor := page.next_cursor) is None:
            break
    assert seen == sorted(made, key=lambda order: (order.cents, order.order_id))


def test_an_update_moves_an_item_within_the_index(graph: Session) -> None:
    order = graph.run(insert(Order(tenant="acme", order_id="o1", region="eu")))
    moved = graph.run(update(order, f(Order.status).set("paid"), f(Order.cents).add(5), f(Order.day).set("d")))
    assert list(graph.run(in_state("acme", "eu", "paid"))) == list(graph.run(on_day("acme", "d"))) == [moved]
    graph.run(update(moved, f(Order.region).remove()))
    assert list(graph.run(in_region("acme", "eu"))) == []


def test_an_item_with_an_index_key_of_somebody_elses_is_not_seen(graph: Session) -> None:
    forged = {**item(Order(tenant="acme", order_id="o1", region="eu")), "PK": "TENANT#other"}
    graph.store.execute(insert(Order(tenant="x", order_id="y")).action(graph.context).__class__("orders", forged))
    assert list(graph.run(in_region("acme", "eu"))) == []


def gap(tenant: str, region: str, cents: int) -> None: ...
def partial(tenant: str) -> None: ...
def range_first(tenant: str, region: str, status: Span[str], cents: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (gap, "cents cannot restrict the sort key '{status}, {cents}, {order_id}'"),
        (partial, "does not cover the partition key '{tenant}, {region}': 'region' is missing"),
        (range_first, "cents cannot restrict the sort key"),
    ],
)
def test_a_query_that_does_not_ask_from_the_left_is_refused(function: Any, complaint: str) -> None:
    with refused(complaint):
        query(Order, Order.by_region)(function)


def test_keys_of_several_attributes_are_described() -> None:
    shown = next(key for key in layout(ORDERS) if key.key == "by_region")
    assert (shown.hash, shown.range) == ("{tenant}, {region}", "{status}, {cents}, {order_id}")
    matches = key_matches(ORDERS.patterns["worth"])
    assert [(match.attribute, match.relation) for match in matches] == [
        ("tenant", "is"),
        ("region", "is"),
        ("status", "is"),
        ("cents", "is within a range of"),
    ]


@pytest.mark.parametrize(
    ("hash_key", "range_key", "complaint"),
    [
        ("{user_id}", ["{task_id}"], "the partition key of the index 'many' has 2 attributes, not 1: a, b"),
        (["{user_id}", "{task_id}"], ["{task_id}", "{user_id}"], "the sort key of the index 'many' has 1 attributes"),
        (["{user_id}", "{task_id}"], None, "the index 'many' has a sort key"),
        (["{user_id}", "{n}"], ["{task_id}"], "'n' makes a key of type N, but b is of type S"),
    ],
)
def test_each_attribute_has_a_template(hash_key: Any, range_key: Any, complaint: str) -> None:
    with refused(complaint):
        entity(
            on=table(indexes=[Index("many", hash=["a", "b"], range=["c"])]),
            annotations={"n": int},
            one=Key(hash_key, range_key, index="many"),
        )


@pytest.mark.parametrize("attributes", [[], ["a", "b", "c", "d", "e"]])
def test_a_key_has_one_to_four_attributes(attributes: Any) -> None:
    with refused("a partition or sort key has 1 to 4 attributes"):
        table(indexes=[Index("many", hash=attributes)])
    with refused("uses one attribute twice"):
        table(indexes=[Index("many", hash=["a", "b"], range=["b"])])


def test_a_field_of_another_type_than_the_index_has_is_refused() -> None:
    many = table(indexes=[Index("many", hash=["a", "b"])])
    with refused("the field stored as 'a' clashes with a key attribute"):
        entity(on=many, annotations={"a": int})
    with refused("the field stored as 'a' clashes with a key attribute"):
        entity(on=table(indexes=[Index("many", hash=["a", "b"], range=False)]), annotations={"a": str, "b": str})


def test_the_table_and_local_indexes_have_one_attribute_each() -> None:
    with refused("is not a key attribute"):
        table(hash=["a", "b"])
    with refused("is not a key attribute"):
        table(indexes=[LocalIndex("local", range=["a", "b"])])  # type: ignore[arg-type]
