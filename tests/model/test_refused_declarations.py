"""Declarations that would fail or do nothing later, which are refused at once, with their messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, Field, RootModel

from partita import Entity, Index, Key, LocalIndex, Registry, Table, Version
from partita.errors import ModelError


class Part(BaseModel, frozen=True):
    n: int


class Word(RootModel[str], frozen=True):
    pass


def table(**options: Any) -> Table:
    return Table("fresh", registry=Registry(), **options)


def declared(primary: Key, own: Table | None = None, **fields: Any) -> Any:
    annotations = {"primary": ClassVar[Key], "name": str, **{name: kind for name, (kind, _) in fields.items()}}
    defaults = {name: default for name, (_, default) in fields.items()}
    namespace = {"primary": primary, "__annotations__": annotations, "__module__": __name__, **defaults}
    made: Any = type(Entity)
    return made("Thing", (Entity,), namespace, table=own or table())


PRIMARY = Key("A#{name}", "B")
EMPTY: Any = Field(default_factory=frozenset)


def two_keys_of_the_table() -> None:
    class Thing(Entity, table=table(indexes=[Index("GSI1")])):
        primary: ClassVar = PRIMARY
        by_name: ClassVar = Key("B#{name}", "B")
        name: str


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: table(indexes=Index("GSI1")),
        (
            "Table('fresh'): Index(name='GSI1', hash=None, range=None, projection='ALL') is not a list of indexes. "
            "Pass a list, as in indexes=[Index('GSI1')]."
        ),
    ),
    (
        lambda: table(indexes=[LocalIndex(f"LSI{n}") for n in range(6)]),
        "Table('fresh') has 6 local indexes; it may have 5. Use Index instead of LocalIndex for the others.",
    ),
    (
        lambda: table(range=None, indexes=[LocalIndex("LSI1")]),
        (
            "Table('fresh'): the local index 'LSI1' needs a table with a sort key. "
            "Declare a sort key, or use Index instead of LocalIndex."
        ),
    ),
    (
        two_keys_of_the_table,
        'Thing has two keys for the table: primary and by_name. Write Key(…, index="…") for a key of an index.',
    ),
    (
        lambda: declared(Key("A#{name}")),
        (
            "Thing.primary: Table('fresh') has a sort key. "
            'Write a template for SK, too, as in Key("USER#{user_id}", "PROFILE").'
        ),
    ),
    (
        lambda: declared(PRIMARY, table(range=None)),
        "Thing.primary: Table('fresh') has no sort key. Remove the second template.",
    ),
    # It would have counted nothing, and checked nothing.
    (
        lambda: declared(PRIMARY, version=(Version | None, None)),
        "Thing.version: a version starts at 0. Write version: Version = 0.",
    ),
    (
        lambda: declared(PRIMARY, version=(Version | None, 0)),
        "Thing.version: a version starts at 0. Write version: Version = 0.",
    ),
    (
        lambda: declared(PRIMARY, parts=(frozenset[Part], EMPTY)),
        "Thing.parts: a set holds text, numbers or bytes, and not a Part. Use a list.",
    ),
    (
        lambda: declared(PRIMARY, parts=(set[bool], Field(default_factory=set))),
        "Thing.parts: a set holds text, numbers or bytes, and not a bool. Use a list.",
    ),
    (
        lambda: declared(PRIMARY, parts=(frozenset[tuple[int, int]], EMPTY)),
        "Thing.parts: a set holds text, numbers or bytes, and not a tuple. Use a list.",
    ),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[message[:60] for _, message in MISTAKES])
def test_a_declaration_is_refused_with_a_reason(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(ModelError) as raised:
        mistake()
    assert str(raised.value) == message


def test_a_set_may_hold_models_of_text() -> None:
    words = declared(PRIMARY, words=(frozenset[Word], EMPTY))
    item = words.__entity__.item(words(name="a", words=frozenset({Word("b")})))
    assert item["words"] == frozenset({"b"})
    assert words.__entity__.entity(item).words == {Word("b")}
