"""Functions that declare temporary tables, entities and patterns, and expect that a declaration is refused."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, ClassVar

import pytest

from partita import (
    Entity,
    Index,
    Key,
    Registry,
    Table,
)
from partita.errors import ModelError
from partita.model._entity import EntityMeta


def table(**settings: Any) -> Table:
    return Table("table", registry=Registry(), **{"indexes": [Index("GSI1")], **settings})


def refused(complaint: str) -> Any:
    return pytest.raises(ModelError, match=re.escape(complaint))


def entity(
    primary: Any = None, *, on: Table | None = None, annotations: dict[str, Any] | None = None, **keys: Any
) -> Any:
    """Create an entity class with these keys and fields."""
    fields = {"user_id": str, "task_id": str, **(annotations or {})}
    defaults = {name: keys.pop(name) for name in list(keys) if name in fields}
    body = {
        "__module__": __name__,
        "__annotations__": {**fields, "primary": ClassVar, **dict.fromkeys(keys, ClassVar)},
        "primary": primary or Key("USER#{user_id}", "TASK#{task_id}"),
        **keys,
        **defaults,
    }
    return EntityMeta("Made", (Entity,), body, table=on or table())


def made() -> Any:
    """Return a new class on each call, so that the patterns of different tests do not clash."""

    class Made(Entity, table=table(indexes=[Index("GSI1"), Index("KEYS", projection="KEYS_ONLY")])):
        primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}")
        by_due: ClassVar = Key("USER#{user_id}", "DUE#{due}#{task_id}", index="GSI1")
        bare_bones: ClassVar = Key("USER#{user_id}", "KEYS#{task_id}", index="KEYS")
        user_id: str
        task_id: str
        due: date | None = None
        title: str = ""

    return Made


class Elsewhere(Entity, table=Table("elsewhere", registry=Registry())):
    primary: ClassVar = Key("USER#{user_id}", "PLACE#{place}")
    user_id: str
    place: str
