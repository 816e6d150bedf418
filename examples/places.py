"""Places in a hierarchy: one key serves queries by country, state, city and postcode.

    pip install partita
    python places.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `open_store(place)` | write a new place | 4 WCU |
| `place(country, state, city, postcode, place_id)` | one place | 0.5 RCU |
| `in_country(country)`, `in_state(…)`, `in_city(…)` | all places of a country, state or city, in order | 13 RCU |
| `near(country, state, city, postcode)` | places of a city whose postcode begins with a prefix | 13 RCU |
| `manager_of(manager)` | the places of a manager, by country | 13 RCU |

The country is the partition key; each smaller level is a part of the sort key, from large to small. A query specifies
parts from left to right, and the last of them may be a prefix or a range. Values in keys are escaped (`New York` is
written as `New%20York`), so no value can contain the separator of the parts.

It prints:

    in the US: Albany, New York, New York, Seattle
    in New York state: Albany, New York, New York
    in New York city, postcode 100…: Broadway
    Ada looks after: Broadway, Market
    how many in the US: 4
    near: Query on the table
      predicted: 12.5 RCU (with items of 1,024 bytes)
      budget:    13 RCU
"""

from __future__ import annotations

from typing import ClassVar

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    Prefix,
    Put,
    Rcu,
    Session,
    Table,
    Wcu,
    explain,
    get,
    insert,
    pattern,
    query,
)

TABLE = Table("places", indexes=[Index("GSI1")])


class Place(Entity, table=TABLE):
    """A shop, with its location and its manager."""

    primary: ClassVar = Key("COUNTRY#{country}", "{state}#{city}#{postcode}#{place_id}")
    by_manager: ClassVar = Key("MANAGER#{manager}", "{country}#{state}#{city}#{place_id}", index="GSI1")

    country: str
    state: str
    city: str
    postcode: str
    place_id: str
    manager: str | None = None


@pattern(budget=Wcu(4))
def open_store(new: Place) -> Put[Place]:
    """Write a new place."""
    return insert(new)


@get(Place, budget=Rcu(0.5))
def place(country: str, state: str, city: str, postcode: str, place_id: str) -> None:
    """One place."""


@query(Place, Place.primary, budget=Rcu(13))
def in_country(country: str) -> None:
    """All places of a country."""


@query(Place, Place.primary, budget=Rcu(13))
def in_state(country: str, state: str) -> None:
    """All places of a state."""


@query(Place, Place.primary, budget=Rcu(13))
def in_city(country: str, state: str, city: str) -> None:
    """All places of a city: New York does not include New York Mills."""


@query(Place, Place.primary, budget=Rcu(13))
def near(country: str, state: str, city: str, postcode: Prefix[str]) -> None:
    """Places of a city whose postcode begins with a prefix."""


@query(Place, Place.by_manager, budget=Rcu(13))
def manager_of(manager: str) -> None:
    """The places of a manager, by country."""


EXPLAINED = near("US", "NY", "New York", Prefix("100"))


def tell(db: Session) -> None:
    """Open four shops, and print what the patterns return."""
    shops = [
        ("WA", "Seattle", "98101", "Market", "ada"),
        ("NY", "New York", "10012", "Broadway", "ada"),
        ("NY", "New York", "11211", "Bridge", None),
        ("NY", "Albany", "12207", "State", "ben"),
    ]
    for state, city, postcode, place_id, manager in shops:
        new = Place(country="US", state=state, city=city, postcode=postcode, place_id=place_id, manager=manager)
        db.run(open_store(new))

    print("in the US:", ", ".join(each.city for each in db.run(in_country("US"))))
    print("in New York state:", ", ".join(each.city for each in db.run(in_state("US", "NY"))))
    found = db.run(near("US", "NY", "New York", Prefix("100")))
    print("in New York city, postcode 100…:", ", ".join(each.place_id for each in found))
    print("Ada looks after:", ", ".join(each.place_id for each in db.run(manager_of("ada"))))
    print("how many in the US:", db.run(in_country("US").count()))
    print(str(explain(EXPLAINED)).partition("\n{")[0])


def main() -> None:
    """Run it on a store in memory."""
    with EmbeddedStore(":memory:") as store:
        db = Session(store, strict_budgets=True)
        db.create_tables([TABLE])
        tell(db)


if __name__ == "__main__":
    main()
