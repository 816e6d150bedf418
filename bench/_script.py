"""What one writer of the kill test does, step after step.

The steps follow from the writer's random source and from what is stored at the start. So whoever knows how many
steps were acknowledged knows what must be stored: exactly what those steps left, or that and the step in flight.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final, TypeAlias

from msgspec import Struct

from partita import Compressed, Entity, Index, Key, LocalIndex, Registry, Table, f, upsert
from partita.expressions._ast import AddAction, Arithmetic, Compare, Path, SetAction, Update, Value
from partita.operations import Context
from partita.store._requests import (
    BatchWriteItem,
    DeleteItem,
    PutItem,
    Request,
    TransactWriteItems,
    UpdateItem,
)
from partita.store._schema import IndexSchema, KeyAttribute, TableSchema
from partita.values import Item

_WRITER: Final = KeyAttribute("writer")
_NUMBER: Final = KeyAttribute("n", "N")
TABLE: Final = TableSchema(
    "steps",
    _WRITER,
    KeyAttribute("slot"),
    indexes=(
        IndexSchema("by_group", (KeyAttribute("group"),), (_NUMBER,)),
        IndexSchema("by_number", (_WRITER,), (_NUMBER,), local=True),
    ),
    stream="NEW_AND_OLD_IMAGES",
)

MODEL: Final = Table(
    TABLE.name,
    hash="writer",
    range="slot",
    indexes=[Index("by_group", hash="group", range=("n", "N")), LocalIndex("by_number", range=("n", "N"))],
    registry=Registry(),
)


class Slot(Entity, table=MODEL):
    """The items of the table as the library writes them."""

    primary: ClassVar = Key("{writer}", "{slot}")
    by_group: ClassVar = Key("{group}", "{n}", index="by_group")
    by_number: ClassVar = Key("{writer}", "{n}", index="by_number")

    writer: str
    slot: str
    group: str
    n: int
    text: Compressed[str]


SHARED: Final = "shared"
TOTAL: Final = "total"
CREDIT: Final = "credit"
_SLOTS: Final = tuple(f"slot-{number:02}" for number in range(20))
_PAIRS: Final = tuple((f"left-{number}", f"right-{number}") for number in range(5))

State: TypeAlias = dict[str, int]
"""A writer's items: the number in each slot."""


class Step(Struct, frozen=True):
    """One request, and the numbers that it leaves; None where it deletes."""

    request: Request[Any]
    leaves: dict[str, int | None]

    def applied_to(self, state: State) -> State:
        """The state after this step."""
        after = {**state, **self.leaves}
        return {slot: number for slot, number in after.items() if number is not None}


def steps(writer: str, state: State, chance: random.Random) -> Iterator[Step]:
    """Everything that the writer will do, starting from a state."""
    while True:
        step = chance.choice(_KINDS)(writer, state, chance)
        state = step.applied_to(state)
        yield step


def _put(writer: str, state: State, chance: random.Random) -> Step:  # noqa: ARG001 - one signature for all kinds
    slot, number = chance.choice(_SLOTS), _number(chance)
    return Step(_put_request(writer, slot, number), {slot: number})


def _raise(writer: str, state: State, chance: random.Random) -> Step:
    slot = chance.choice(_SLOTS)
    if slot not in state:
        return _put(writer, state, chance)
    raised = Update(sets=(SetAction(_N, Arithmetic("+", _N, Value(1))),))
    return Step(UpdateItem(TABLE.name, _key(writer, slot), raised, _number_is(state[slot])), {slot: state[slot] + 1})


def _upsert(writer: str, state: State, chance: random.Random) -> Step:
    """Raise a number, or make the item with it: one request, which writes the keys of both indexes."""
    slot, amount = chance.choice(_SLOTS), chance.randint(1, 9)
    new = Slot(writer=writer, slot=slot, group=slot, n=1_000, text=writer * 20)
    request = upsert(new, f(Slot.n).add(amount)).action(Context())
    return Step(request, {slot: state.get(slot, 1_000) + amount})


def _delete(writer: str, state: State, chance: random.Random) -> Step:
    slot = chance.choice(_SLOTS)
    if slot not in state:
        return _put(writer, state, chance)
    return Step(DeleteItem(TABLE.name, _key(writer, slot), _number_is(state[slot])), {slot: None})


def _pair(writer: str, state: State, chance: random.Random) -> Step:  # noqa: ARG001
    left, right = chance.choice(_PAIRS)
    number = _number(chance)
    puts = (_put_request(writer, left, number), _put_request(writer, right, number))
    return Step(TransactWriteItems(puts), {left: number, right: number})


def _credit(writer: str, state: State, chance: random.Random) -> Step:
    amount = chance.randint(1, 9)
    added = Update(adds=(AddAction(_N, Value(amount)),))
    own, shared = _key(writer, CREDIT), _key(SHARED, TOTAL)
    updates = (UpdateItem(TABLE.name, own, added), UpdateItem(TABLE.name, shared, added))
    return Step(TransactWriteItems(updates), {CREDIT: state.get(CREDIT, 0) + amount})


def _batch(writer: str, state: State, chance: random.Random) -> Step:  # noqa: ARG001
    deleted, *put = chance.sample(_SLOTS, 6)
    leaves: dict[str, int | None] = {slot: _number(chance) for slot in put}
    puts = tuple(_put_request(writer, slot, leaves[slot]) for slot in put)
    return Step(BatchWriteItem((*puts, DeleteItem(TABLE.name, _key(writer, deleted)))), {**leaves, deleted: None})


_KINDS: Final[tuple[Callable[[str, State, random.Random], Step], ...]] = (
    _put,
    _put,
    _raise,
    _raise,
    _upsert,
    _upsert,
    _delete,
    _pair,
    _credit,
    _batch,
)

_N: Final = Path(("n",))


def _key(writer: str, slot: str) -> Item:
    return {"writer": writer, "slot": slot}


def _put_request(writer: str, slot: str, number: int | None) -> PutItem:
    return PutItem(TABLE.name, {**_key(writer, slot), "group": slot, "n": number, "text": writer * 20})


def _number_is(number: int) -> Compare:
    return Compare("=", _N, Value(number))


def _number(chance: random.Random) -> int:
    return chance.randrange(1_000_000)
