"""The steps of one writer of the kill test.

The steps follow from the writer's random source and from the items stored at the start. So the number of acknowledged
steps determines what must be stored: the result of exactly those steps, or of those and the step in flight.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias

from msgspec import Struct

from partita import (
    Compressed,
    Derived,
    Encrypted,
    Entity,
    Index,
    Key,
    LocalIndex,
    Registry,
    Shards,
    Table,
    collect,
    f,
    put,
    query,
    update,
    upsert,
)
from partita.encryption import FieldKeys, KeyProvider
from partita.expressions._ast import AddAction, Arithmetic, Compare, Path, SetAction, Update, Value
from partita.operations import Context
from partita.runtime import run, system_clock
from partita.store._requests import (
    BatchWriteItem,
    DeleteItem,
    PutItem,
    Request,
    TransactWriteItems,
    UpdateItem,
)
from partita.values import Item

LATEST: Final = 3
MODEL: Final = Table(
    "steps",
    hash="writer",
    range="sk",
    indexes=[
        Index("by_group", hash="group", range=("n", "N")),
        LocalIndex("by_number", range=("n", "N")),
        Index("inverted", hash="sk", range="writer"),
        Index("by_all", hash=["writer", "group"], range=[("n", "N"), "slot"]),
        Index("opened"),
    ],
    stream="NEW_AND_OLD_IMAGES",
    registry=Registry(),
)
TABLE: Final = MODEL.schema


def _place(slot: str) -> str:
    return slot.rpartition("-")[2]


def _is_opened(is_open: bool) -> bool:  # noqa: FBT001 - a function of a field
    return is_open


class Slot(Entity, table=MODEL):
    """An item of the table as the library writes it."""

    primary: ClassVar = Key("{writer}", "SLOT#{slot}")
    by_group: ClassVar = Key("{group}", "{n}", index="by_group")
    by_number: ClassVar = Key("{writer}", "{n}", index="by_number")
    inverted: ClassVar = Key("SLOT#{slot}", "{writer}", index="inverted")
    by_all: ClassVar = Key(["{writer}", "{group}"], ["{n}", "{slot}"], index="by_all")
    opened: ClassVar = Key("OPEN#{writer}#{shard}", "{place}#{slot}", index="opened", when=_is_opened)

    place: ClassVar = Derived(_place)
    shard: ClassVar = Shards(2, "slot")

    writer: str
    slot: str
    group: str
    n: int
    text: Compressed[str]
    sealed_with: int
    """The number that the secret contains: both are written together."""
    secret: Encrypted[Compressed[str]]
    is_open: bool = False

    @property
    def told(self) -> str:
        """The expected secret."""
        return secret_of(self.writer, self.slot, self.sealed_with)


def secret_of(writer: str, slot: str, number: int) -> str:
    """A text that must not be readable in the file; long enough to be worth compressing."""
    return f"{writer} {slot} {number} " * 20


class Credit(Entity, table=MODEL):
    """The credit of a writer, in the same partition as the slots."""

    primary: ClassVar = Key("{writer}", "CREDIT")
    by_number: ClassVar = Key("{writer}", "{n}", index="by_number")
    inverted: ClassVar = Key("CREDIT", "{writer}", index="inverted")

    writer: str
    n: int


@dataclass(frozen=True)
class Belongings:
    """The items of a writer, of both kinds."""

    credit: Credit | None
    slots: tuple[Slot, ...]


@collect(Belongings, "{writer}")
def belongings_of(writer: str) -> None:
    """All items of a writer, in one query."""


@collect(Belongings, "{writer}", newest_first=True, limits={Slot: LATEST})
def latest_of(writer: str) -> None:
    """A writer's credit and last slots."""


@query(Slot, Slot.opened)
def opened_by(writer: str) -> None:
    """A writer's open items, from all shards."""


@query(Slot, Slot.by_all)
def all_of_group(writer: str, group: str) -> None:
    """A writer's items of a group, by number."""


SHARED: Final = "shared"
TOTAL: Final = "total"
CREDIT: Final = "CREDIT"
_SLOTS: Final = tuple(f"slot-{number:02}" for number in range(20))
_PAIRS: Final = tuple((f"left-{number}", f"right-{number}") for number in range(5))

State: TypeAlias = dict[str, int]
"""A writer's items: the number in each slot."""


class Step(Struct, frozen=True):
    """One request, and the number that it leaves in each slot; None if it deletes the slot."""

    request: Request[Any]
    leaves: dict[str, int | None]

    def applied_to(self, state: State) -> State:
        """The state after this step."""
        after = {**state, **self.leaves}
        return {slot: number for slot, number in after.items() if number is not None}


def sealing(provider: KeyProvider) -> Callable[[Step], Request[Any]]:
    """Return a function that encrypts the request of a step, as a session does, with a data key of its own."""
    keys = FieldKeys(provider, system_clock)
    return lambda step: run(keys.seal(step.request), lambda blocking: blocking.call())


def steps(writer: str, state: State, rng: random.Random) -> Iterator[Step]:
    """Yield all steps of the writer, starting from a state."""
    while True:
        step = rng.choice(_KINDS)(writer, state, rng)
        state = step.applied_to(state)
        yield step


def _put(writer: str, state: State, rng: random.Random) -> Step:  # noqa: ARG001 - one signature for all kinds
    slot, number = rng.choice(_SLOTS), _number(rng)
    return Step(_put_request(writer, slot, number), {slot: number})


def _raise(writer: str, state: State, rng: random.Random) -> Step:
    slot = rng.choice(_SLOTS)
    if slot not in state:
        return _put(writer, state, rng)
    if rng.random() < 0.5:  # through the library, which opens or closes the item as well
        is_open, number = rng.random() < 0.5, state[slot] + 1
        stored = _slot(writer, slot, state[slot], is_open=not is_open)
        secret = f(Slot.sealed_with).set(number), f(Slot.secret).set(secret_of(writer, slot, number))
        opened = update(stored, f(Slot.n).set(number), f(Slot.is_open).set(is_open), *secret).action(Context())
        return Step(opened, {slot: number})
    raised = Update(sets=(SetAction(_N, Arithmetic("+", _N, Value(1))),))
    return Step(UpdateItem(TABLE.name, _key(writer, slot), raised, _number_is(state[slot])), {slot: state[slot] + 1})


def _upsert(writer: str, state: State, rng: random.Random) -> Step:
    """Increase a number, or create the item with it: one request, which also writes the index keys."""
    slot, amount = rng.choice(_SLOTS), rng.randint(1, 9)
    new = _slot(writer, slot, 1_000)
    request = upsert(new, f(Slot.n).add(amount)).action(Context())
    return Step(request, {slot: state.get(slot, 1_000) + amount})


def _delete(writer: str, state: State, rng: random.Random) -> Step:
    slot = rng.choice(_SLOTS)
    if slot not in state:
        return _put(writer, state, rng)
    return Step(DeleteItem(TABLE.name, _key(writer, slot), _number_is(state[slot])), {slot: None})


def _pair(writer: str, state: State, rng: random.Random) -> Step:  # noqa: ARG001
    left, right = rng.choice(_PAIRS)
    number = _number(rng)
    puts = (_put_request(writer, left, number), _put_request(writer, right, number))
    return Step(TransactWriteItems(puts), {left: number, right: number})


def _credit(writer: str, state: State, rng: random.Random) -> Step:
    amount = rng.randint(1, 9)
    added = Update(adds=(AddAction(_N, Value(amount)),))
    own, shared = {"writer": writer, "sk": CREDIT}, {"writer": SHARED, "sk": TOTAL}
    updates = (UpdateItem(TABLE.name, own, added), UpdateItem(TABLE.name, shared, added))
    return Step(TransactWriteItems(updates), {CREDIT: state.get(CREDIT, 0) + amount})


def _batch(writer: str, state: State, rng: random.Random) -> Step:  # noqa: ARG001
    deleted, *stored = rng.sample(_SLOTS, 6)
    numbers = {slot: _number(rng) for slot in stored}
    puts = tuple(_put_request(writer, slot, number) for slot, number in numbers.items())
    return Step(BatchWriteItem((*puts, DeleteItem(TABLE.name, _key(writer, deleted)))), {**numbers, deleted: None})


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
    return {"writer": writer, "sk": f"SLOT#{slot}"}


def _slot(writer: str, slot: str, number: int, *, is_open: bool = False) -> Slot:
    return Slot(
        writer=writer,
        slot=slot,
        group=slot,
        n=number,
        text=writer * 20,
        sealed_with=number,
        secret=secret_of(writer, slot, number),
        is_open=is_open,
    )


def _put_request(writer: str, slot: str, number: int) -> PutItem:
    return put(_slot(writer, slot, number, is_open=number % 2 == 1)).action(Context())


def _number_is(number: int) -> Compare:
    return Compare("=", _N, Value(number))


def _number(rng: random.Random) -> int:
    return rng.randrange(1_000_000)
