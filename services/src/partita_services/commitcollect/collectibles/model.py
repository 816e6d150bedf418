"""What is stored of a collectible model: the model, its parts, its picture, and its entry in the catalogue.

They are data: an operator loads them. Awards have copies of what they need, so a model may change its names later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from partita import (
    Entity,
    Key,
    Put,
    Rcu,
    Transaction,
    Update,
    Wcu,
    any_of,
    collect,
    f,
    get,
    pattern,
    put,
    query,
    transact,
    update,
)
from partita.store import PutItem
from partita_services.commitcollect.model import TABLE

MAX_PARTS: Final = 24
"""How many parts a model may have: all may be awarded in one transaction, next to their milestone."""
MAX_MODELS: Final = 100
MAX_PICTURE: Final = 60_000
"""The size of a picture, in bytes."""


class Model(Entity, table=TABLE):
    """Something worth collecting."""

    primary: ClassVar = Key("MODEL#{model_id}", "META")

    model_id: str
    name: str
    story: str
    parts_total: int | None = None
    """It never changes: milestones count by it."""
    retired_at: datetime | None = None
    """Since when no milestone can begin with it."""


class Part(Entity, table=TABLE):
    """A part of a model; they are earned in the order of their index, from 1."""

    primary: ClassVar = Key("MODEL#{model_id}", "PART#{part_index:03}")

    model_id: str
    part_index: int
    name: str
    svg: str
    """The element of the model's picture."""


class Picture(Entity, table=TABLE):
    """A model as a drawing. Not in the model's own partition: who awards parts does not read it."""

    primary: ClassVar = Key("PICTURE#{model_id}", "META")

    model_id: str
    svg: str


class CatalogueEntry(Entity, table=TABLE):
    """That there is a model: so all of them are found by one key, and nothing is scanned."""

    primary: ClassVar = Key("CATALOGUE", "MODEL#{model_id}")

    model_id: str


@dataclass(frozen=True)
class Collectible:
    """A model with all its parts."""

    model: Model
    parts: tuple[Part, ...]


@collect(Collectible, "MODEL#{model_id}", limit=50, budget=Rcu(2))
def collectible(model_id: str) -> None:
    """A model with all its parts."""


@query(CatalogueEntry, CatalogueEntry.primary, budget=Rcu(2))
def catalogue() -> None:
    """The models that there are, retired ones too."""


@get(Model, budget=Rcu(1))
def model_by_id(model_id: str) -> None:
    """A model without its parts."""


@get(Picture, budget=Rcu(15))
def picture_of(model_id: str) -> None:
    """The picture of a model, of up to 60 KB."""


@pattern(
    budget=Wcu(180),
    writes={CatalogueEntry: (PutItem,), Model: (PutItem,), Part: (PutItem,), Picture: (PutItem,)},
)
def save_model(model: Model, parts: Sequence[Part], picture: Picture) -> Transaction:
    """Write a model with all that belongs to it, unless there is one with another number of parts."""
    return transact(
        put(CatalogueEntry(model_id=model.model_id)), _same_parts(model), *(put(part) for part in parts), put(picture)
    )


@pattern(budget=Wcu(1))
def retire_model(model_id: str, at: datetime) -> Update[Model]:
    """Let no milestone begin with a model any more."""
    return update(model_by_id(model_id), f(Model.retired_at).set(at))


def _same_parts(model: Model) -> Put[Model]:
    total = f(Model.parts_total)
    return put(model).when(any_of(total.missing(), total.eq(model.parts_total)))
