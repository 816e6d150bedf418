"""A model with large and secret fields, and keys that are the same in every run."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from partita import Compressed, Encrypted, Entity, Index, Key, Rcu, Registry, Table, Version, Wcu, encrypted, get, query
from partita.encryption import DataKey
from partita.errors import UnknownKey

PEOPLE = Table("people", indexes=[Index("GSI1")], stream="NEW_AND_OLD_IMAGES", registry=Registry())


class Card(BaseModel):
    number: str
    limits: dict[str, int] = Field(default_factory=dict)


class Person(Entity, table=PEOPLE):
    primary: ClassVar = Key("PERSON#{name}", "PERSON")
    by_city: ClassVar = Key("CITY#{city}", "PERSON#{name}", index="GSI1")

    name: str
    city: str = "Rome"
    iban: Encrypted[str | None] = None
    card: Encrypted[Card | None] = None
    tags: Encrypted[frozenset[str]] = frozenset()
    story: Compressed[str] = ""
    letters: Encrypted[Compressed[list[str]]] = Field(default_factory=list)
    version: Version = 0


class Old(Entity, table=PEOPLE):
    """An entity of which some items were stored before its field was encrypted."""

    primary: ClassVar = Key("OLD#{name}", "OLD")

    name: str
    pin: Annotated[str, encrypted(reads_plain=True)]


@get(Person, budget=Rcu(0.5))
def person(name: str) -> None:
    """One person."""


@get(Old)
def old(name: str) -> None:
    """One old person."""


@query(Person, Person.by_city, budget=Rcu(5))
def people_in(city: str) -> None:
    """The people of a city."""


class FixedKeys:
    """A key provider with fixed data keys, which records its calls."""

    def __init__(self, *names: bytes) -> None:
        self.names = list(names or [b"one"])
        self.calls: list[str] = []

    def new_key(self) -> DataKey:
        self.calls.append("new")
        return DataKey(self.names[0][:1] * 64, b"F" + self.names[0])

    def unwrap(self, wrapped: bytes) -> bytes:
        self.calls.append("unwrap")
        if wrapped[1:] not in self.names:
            raise UnknownKey(f"There is no key {wrapped[1:].decode()!r}.")
        return wrapped[1:2] * 64


ADA = Person(
    name="ada",
    iban="DE02 1203",
    card=Card(number="4111", limits={"day": 500}),
    tags=frozenset({"vip"}),
    story="Once upon a time. " * 100,
    letters=["dear"] * 50,
)
BUDGET = Wcu(2)
