"""A versioned table that belongs to no service; its data version is the first."""

from __future__ import annotations

from typing import ClassVar, Final

from partita import Entity, Key, Rcu, Registry, Table, get
from partita.recipes.versioned import VersionedTable

TABLE: Final = Table("visitors", hash="pk", range=None, registry=Registry())


class Visitor(Entity, table=TABLE):
    """A visitor."""

    primary: ClassVar = Key("{pk}")

    pk: str
    name: str


@get(Visitor, budget=Rcu(0.5))
def visitor_by_pk(pk: str) -> None:
    """One visitor."""


VISITORS: Final = VersionedTable(visitor_by_pk, data_version=1, example=Visitor(pk="v1", name="Ada"))
