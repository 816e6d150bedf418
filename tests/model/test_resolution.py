"""Types that are written as text, as all are under `from __future__ import annotations`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest
from pydantic import BaseModel

from partita import Entity, Key, Registry, Table
from partita.errors import ModelError

if TYPE_CHECKING:
    from datetime import date


def table() -> Table:
    return Table("fresh", registry=Registry())


def test_a_type_that_is_imported_for_type_checkers_only_is_named() -> None:
    with pytest.raises(ModelError) as raised:

        class Thing(Entity, table=table()):
            primary: ClassVar = Key("A#{name}", "B")
            name: str
            day: date

    assert str(raised.value) == (
        "Thing: the type 'date' is not defined. "
        "Import it outside `if TYPE_CHECKING`, and declare a class before the entity that uses it."
    )


def test_a_class_that_is_declared_later_is_named() -> None:
    with pytest.raises(ModelError, match="Thing: the type 'Later' is not defined"):

        class Thing(Entity, table=table()):
            primary: ClassVar = Key("A#{name}", "B")
            name: str
            later: Later

    class Later(BaseModel):
        n: int


def test_a_type_of_the_same_function_is_found() -> None:
    class Part(BaseModel):
        n: int

    class Thing(Entity, table=table()):
        primary: ClassVar = Key("A#{name}", "B")
        name: str
        part: Part
        parts: tuple[Part, ...] = ()

    thing = Thing(name="a", part=Part(n=1), parts=(Part(n=2),))
    schema = Thing.__entity__
    assert schema.entity(schema.item(thing)) == thing


def test_an_entity_may_contain_its_own_kind() -> None:
    class Thing(Entity, table=table()):
        primary: ClassVar = Key("A#{name}", "B")
        name: str
        inner: Thing | None = None

    thing = Thing(name="a", inner=Thing(name="b"))
    schema = Thing.__entity__
    assert schema.entity(schema.item(thing)) == thing
