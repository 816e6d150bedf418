"""The requests of declared patterns, as a policy has to allow them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar

import pytest

from partita import (
    BatchGet,
    Budget,
    Delete,
    DeleteImages,
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Operation,
    Put,
    PutImages,
    Query,
    Rcu,
    Registry,
    Session,
    Table,
    Transaction,
    Update,
    UpdateImages,
    Upsert,
    UpsertImages,
    Wcu,
    batch_get,
    delete,
    get,
    insert,
    pattern,
    put,
    query,
    transact,
    upsert,
)
from partita.errors import GuardrailError, ModelError
from partita.patterns import Permission
from partita.store import ConditionCheck, CreateTable, DeleteItem, PutItem, UpdateItem

TABLE = Table("access", indexes=[Index("GSI1")], registry=Registry())


class Room(Entity, table=TABLE):
    primary: ClassVar = Key("ROOM#{room_id}", "ROOM")
    by_floor: ClassVar = Key("FLOOR#{floor:03}", "ROOM#{room_id}", index="GSI1")

    room_id: str
    floor: int


class Door(Entity, table=TABLE):
    primary: ClassVar = Key("DOOR#{door_id}", "DOOR")

    door_id: str


@get(Room, budget=Rcu(0.5))
def room_by_id(room_id: str) -> None: ...


@query(Room, Room.by_floor)
def rooms_on(floor: int) -> None: ...


@pattern(budget=Wcu(2))
def build(room: Room) -> Put[Room]:
    return insert(room)


@pattern(budget=Wcu(1))
def hang(door: Door) -> Put[Door]:
    return put(door)


@pattern()
def unbudgeted(door: Door) -> Put[Door]:
    return put(door)


@pattern()
def rooms_by_id(room_ids: Sequence[str]) -> BatchGet[Room]:
    return batch_get([room_by_id(room_id) for room_id in room_ids])


@pattern()
def build_or_tear(room: Room, *, tear: bool) -> Put[Room] | Delete[Room]:
    return delete(room) if tear else insert(room)


@pattern()
def count_visit(room: Room) -> Upsert[Room]:
    return upsert(room)


@pattern()
def replaced(room: Room) -> PutImages[Room]:
    return put(room).images()


@pattern()
def moved(room: Room) -> UpdateImages[Room] | UpsertImages[Room]:
    return upsert(room).images()


@pattern()
def torn(room: Room) -> DeleteImages[Room]:
    return delete(room).images()


@pattern(via=rooms_on)
def ground_floor() -> Query[Room]:
    return rooms_on(0)


@pattern()
def narrowed(rooms: Query[Room]) -> Query[Room]:
    return rooms


@pattern()
def unsaid(room: Room) -> Transaction:
    return transact(build(room))


@pattern(via=(build, hang), writes={Door: (ConditionCheck, DeleteItem)})
def rebuild(room: Room) -> Transaction:
    return transact(build(room), hang(Door(door_id="d")))


@pattern(via=unsaid)
def via_unsaid(room: Room) -> Transaction:
    return transact(build(room))


@pytest.mark.req("A07")
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (room_by_id, {("GetItem", None, "ROOM#{room_id}")}),
        (rooms_on, {("Query", "GSI1", "FLOOR#{floor:03}")}),
        (build, {("PutItem", None, "ROOM#{room_id}")}),
        (rooms_by_id, {("BatchGetItem", None, "ROOM#{room_id}")}),
        (build_or_tear, {("PutItem", None, "ROOM#{room_id}"), ("DeleteItem", None, "ROOM#{room_id}")}),
        (count_visit, {("UpdateItem", None, "ROOM#{room_id}")}),
        (replaced, {("PutItem", None, "ROOM#{room_id}")}),
        (moved, {("UpdateItem", None, "ROOM#{room_id}")}),
        (torn, {("DeleteItem", None, "ROOM#{room_id}")}),
        (ground_floor, {("Query", "GSI1", "FLOOR#{floor:03}")}),
        (narrowed, set()),
        (
            rebuild,
            {
                ("PutItem", None, "ROOM#{room_id}"),
                ("PutItem", None, "DOOR#{door_id}"),
                ("ConditionCheckItem", None, "DOOR#{door_id}"),
                ("DeleteItem", None, "DOOR#{door_id}"),
            },
        ),
        (unsaid, None),
        (via_unsaid, None),
    ],
)
def test_what_a_pattern_sends_follows_from_its_declaration(
    function: Callable[..., Operation[Any]], expected: set[tuple[str, str | None, str]] | None
) -> None:
    sends: tuple[Permission, ...] | None = TABLE.patterns[function.__name__].sends
    assert expected == (None if sends is None else {(each.action, each.index, each.partition) for each in sends})


def test_via_names_declared_patterns() -> None:
    with pytest.raises(ModelError, match="is not a declared access pattern"):

        @pattern(via=batch_get)
        def undeclared(room: Room) -> Transaction:
            raise NotImplementedError


def test_writes_names_requests_for_items() -> None:
    with pytest.raises(ModelError, match="is not a request for items"):

        @pattern(writes={Room: (UpdateItem, CreateTable)})
        def wrong(room: Room) -> Update[Room]:
            raise NotImplementedError


ROOM, DOOR = Room(room_id="r", floor=1), Door(door_id="d")


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (room_by_id("r"), Rcu(0.5)),
        (transact(build(ROOM), hang(DOOR)), Wcu(6)),
        (transact(build(ROOM), unbudgeted(DOOR)), None),
        (transact(build(ROOM), put(DOOR)), None),
        (put(DOOR), None),
    ],
)
def test_a_transaction_may_consume_twice_what_its_parts_declare(
    operation: Operation[Any], expected: Budget | None
) -> None:
    assert expected == operation.budget


@pattern(writes={Door: (PutItem,)})
def move(room: Room) -> Transaction:
    return transact(insert(room), delete(Door(door_id="d")))


@pytest.mark.parametrize(("strict", "expected"), [(True, None), (False, ROOM)])
def test_a_strict_session_refuses_what_a_pattern_does_not_declare(*, strict: bool, expected: Room | None) -> None:
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=strict)
        db.create_tables([TABLE])
        message = "move sends a DeleteItem to 'access', which it does not declare"
        with pytest.raises(GuardrailError, match=message) if strict else nullcontext():
            db.run(move(ROOM))
        assert expected == db.run(room_by_id("r"))
