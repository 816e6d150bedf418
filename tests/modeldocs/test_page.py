"""The page that is generated from a model: its content, and that the committed pages are current."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import ClassVar

import pytest
from fastapi import APIRouter
from tests.cli.conftest import Run

from partita import (
    Entity,
    Index,
    Key,
    Prefix,
    Put,
    Rcu,
    Registry,
    Span,
    Table,
    Version,
    Wcu,
    f,
    get,
    insert,
    pattern,
    query,
)
from partita.change import SqliteProjection
from partita.cost._measure import measure
from partita.modeldocs import render_page
from partita.recipes.lifecycle import Lifecycle, Transition
from partita.service import Projection, Service, discover

ROOT = Path(__file__).parents[2]

TABLE = Table("parcels", indexes=[Index("GSI1")], ttl="ttl", stream="NEW_AND_OLD_IMAGES", registry=Registry())


class State(StrEnum):
    READY = "ready"
    SENT = "sent"


class Customer(Entity, table=TABLE):
    """Someone who sends | receives."""

    primary: ClassVar = Key("CUSTOMER#{customer}", "CUSTOMER")
    in_lake: ClassVar = False
    customer: str


class Parcel(Entity, table=TABLE):
    """Something that is sent."""

    primary: ClassVar = Key("CUSTOMER#{customer}", "PARCEL#{number:06}")
    by_state: ClassVar = Key("STATE#{state}", "{city}#{number:06}", index="GSI1")

    customer: str
    number: int
    pk: str = ""
    state: State = State.READY
    city: str | None = None
    ttl: int | None = None
    version: Version = 0


class ParcelLife(Lifecycle[Parcel, State]):
    state = f(Parcel.state)
    start = State.READY
    send = Transition(State.READY, to=State.SENT)


@get(Parcel, budget=Rcu(0.5))
def parcel_by_number(customer: str, number: int) -> None:
    """One parcel."""


@query(Parcel, Parcel.primary)
def parcels_between(customer: str, number: Span[int]) -> None:
    """Parcels by number."""


@query(Parcel, Parcel.by_state)
def parcels_in(state: State, city: str) -> None:
    """Parcels for one city."""


@query(Parcel, Parcel.by_state)
def parcels_near(state: State, city: Prefix[str]) -> None:
    """Parcels for cities that begin like this."""


@pattern(budget=Wcu(2))
def send_parcel(parcel: Parcel) -> Put[Parcel]:
    """Write a parcel."""
    return insert(parcel)


SERVICE = Service(
    "parcels",
    "Parcels",
    "What is on its way.",
    (TABLE,),
    APIRouter,
    lambda _: [send_parcel(Parcel(customer="ann", number=1, city="Bern"))],
    projection=Projection(TABLE, lambda path: SqliteProjection(path, tables="", apply=lambda *_: None)),
)

PAGE = """\
# Parcels: the model

*Reference, for people who use or change this model.*

What is on its way. `partita docs parcels` writes this page from `model.py`; do not edit it.

## Entities

```mermaid
erDiagram
    Customer ||--o{ Parcel : "customer"
    Customer {
        str customer PK
    }
    Parcel {
        str customer PK
        int number PK
        str *pk
        State state
        str city "may be absent"
        int ttl "may be absent"
        int version
    }
```

| entity | table | description | every write is guarded by | expires by |
| --- | --- | --- | --- | --- |
| `Customer` | `parcels` | Someone who sends \\| receives. |  |  |
| `Parcel` | `parcels` | Something that is sent. | `version` | `ttl` |

## Keys

`parcels`, with the key `PK`, `SK`; items expire by `ttl`; a stream of NEW_AND_OLD_IMAGES; \
index GSI1 (`GSI1PK`, `GSI1SK`).

| key | in | partition key | sort key |
| --- | --- | --- | --- |
| `Customer.primary` | table | `CUSTOMER#{customer}` | `CUSTOMER` |
| `Parcel.primary` | table | `CUSTOMER#{customer}` | `PARCEL#{number:06}` |
| `Parcel.by_state` | GSI1 | `STATE#{state}` | `{city}#{number:06}` |

## Access patterns

Measured once each on the sample data, in memory: `partita cost parcels`.

| pattern | description | served by | request | budget | measured |
| --- | --- | --- | --- | --- | --- |
| `parcel_by_number(customer, number)` | One parcel. | table \
| GetItem: `PK` is `CUSTOMER#{customer}`, `SK` is `PARCEL#{number:06}` | 0.5 RCU | 0.5 RCU |
| `parcels_between(customer, number)` | Parcels by number. | table \
| Query: `PK` is `CUSTOMER#{customer}`, `SK` is within a range of `PARCEL#{number}` |  | 0.5 RCU |
| `parcels_in(state, city)` | Parcels for one city. | GSI1 \
| Query: `GSI1PK` is `STATE#{state}`, `GSI1SK` begins with `{city}#` |  | 0.5 RCU |
| `parcels_near(state, city)` | Parcels for cities that begin like this. | GSI1 \
| Query: `GSI1PK` is `STATE#{state}`, `GSI1SK` begins with `{city}` |  | 0.5 RCU |
| `send_parcel(parcel)` | Write a parcel. | table | PutItem `CUSTOMER#{customer}` | 2 WCU | 2 WCU |

## Lifecycle of `Parcel.state`

```mermaid
stateDiagram-v2
    [*] --> READY
    READY --> SENT: send
    SENT --> [*]
```

## Stream consumers

| table | consumer | reads |
| --- | --- | --- |
| `parcels` | the projection `parcels-projection.db`, which `partita serve` updates | every change |
| `parcels` | the lake, which `partita cdc run parcels` and `partita serve --lake` fill | `Parcel` |
"""


def test_a_page_has_all_that_is_declared_and_what_was_measured() -> None:
    assert render_page(SERVICE, measure(SERVICE)) == PAGE


@pytest.mark.parametrize("service", discover(), ids=lambda service: service.name)
def test_the_committed_page_is_current(service: Service) -> None:
    page = ROOT / f"docs/services/{service.name}-model.md"
    assert page.read_text(encoding="utf-8") == render_page(service, measure(service)), "run `make docs`"


def test_the_command_writes_and_checks(run: Run, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "pages"))
    page = tmp_path / "pages/accounts-model.md"
    missing = run("docs", "accounts", "--check", *out)
    assert (missing.exit_code, page.exists()) == (1, False)
    assert missing.output.splitlines() == [
        f"{page}: not current",
        "Error: Run `partita docs` to update the pages.",
    ]
    assert run("docs", "accounts", *out).output == f"{page}: written\n"
    assert run("docs", "accounts", "--check", *out).output == "All pages are current.\n"
    page.write_text("changed by hand", encoding="utf-8")
    assert run("docs", "accounts", "--check", *out).exit_code == 1
