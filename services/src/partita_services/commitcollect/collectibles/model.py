"""The stored items of a collectible model: the model, its parts, its picture, and its entry in the catalogue.

An operator loads them. Awards have copies of the names that they need, so the names of a model may change later.
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
"""How many parts a model may have. The limit allows awarding all parts in one transaction with their milestone."""
MAX_MODELS: Final = 100
MAX_PICTURE: Final = 60_000
"""The size of a picture, in bytes."""


class Model(Entity, table=TABLE):
    """A collectible model."""

    primary: ClassVar = Key("MODEL#{model_id}", "META")

    model_id: str
    name: str
    story: str
    parts_total: int | None = None
    """The number of parts. It never changes, because milestones depend on it."""
    retired_at: datetime | None = None
    """Since when no new milestone can use the model."""


class Part(Entity, table=TABLE):
    """A part of a model. Parts are earned in the order of their index, from 1."""

    primary: ClassVar = Key("MODEL#{model_id}", "PART#{part_index:03}")

    model_id: str
    part_index: int
    name: str
    svg: str
    """The id of the group in the model's picture."""


class Picture(Entity, table=TABLE):
    """The drawing of a model. It is not in the model's partition, because awarding parts does not need it."""

    primary: ClassVar = Key("PICTURE#{model_id}", "META")

    model_id: str
    svg: str


class CatalogueEntry(Entity, table=TABLE):
    """An entry for each model, so that all models are found by one key without a scan."""

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
    """The ids of all models, including retired ones."""


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
    """Write a model with its parts and picture, unless the stored model has another number of parts."""
    return transact(
        put(CatalogueEntry(model_id=model.model_id)), _same_parts(model), *(put(part) for part in parts), put(picture)
    )


@pattern(budget=Wcu(1))
def retire_model(model_id: str, at: datetime) -> Update[Model]:
    """Retire a model, so that no new milestone can use it."""
    return update(model_by_id(model_id), f(Model.retired_at).set(at))


def _same_parts(model: Model) -> Put[Model]:
    total = f(Model.parts_total)
    return put(model).when(any_of(total.missing(), total.eq(model.parts_total)))
