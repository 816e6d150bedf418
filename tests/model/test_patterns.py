"""A pattern or collection that its keys cannot serve is refused when it is declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import make_dataclass
from datetime import date
from types import GenericAlias
from typing import Any

import pytest
from pydantic import BaseModel
from tests.model.declare import Elsewhere, made, refused

from partita import (
    Prefix,
    Put,
    Span,
    collect,
    get,
    insert,
    pattern,
    query,
)
from partita._entity import schema_of

# --- patterns ---


def user_only(user_id: str) -> None: ...
def task_only(task_id: str) -> None: ...
def both(user_id: str, task_id: str) -> None: ...
def unknown_field(user_id: str, task: str) -> None: ...
def wrong_type(user_id: int, task_id: str) -> None: ...
def untyped(user_id, task_id) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001
def gap(user_id: str, task_id: str) -> None: ...
def span_first(user_id: str, due: Span[date], task_id: str) -> None: ...
def span_of_partition(user_id: Span[str]) -> None: ...
def span_of_text(user_id: str, due: Span[str]) -> None: ...
def span_in_get(user_id: str, task_id: Span[str]) -> None: ...
def prefix_of_date(user_id: str, due: Prefix[date]) -> None: ...


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (user_only, "does not cover the primary key of Made: task_id"),
        (unknown_field, "'task' is no field of Made.primary"),
        (wrong_type, "'user_id' is declared as <class 'int'>"),
        (untyped, "'user_id' is declared as None"),
        (span_in_get, "span_in_get"),
    ],
)
def test_a_get_that_does_not_fit_the_primary_key_is_refused(function: Callable[..., None], complaint: str) -> None:
    with refused(complaint):
        get(made())(function)


@pytest.mark.parametrize(
    ("key", "function", "complaint"),
    [
        ("primary", task_only, "does not cover the partition key 'USER#{user_id}': 'user_id' is missing"),
        ("primary", span_of_partition, "does not cover the partition key"),
        ("by_due", gap, "task_id cannot restrict the sort key"),
        ("by_due", span_first, "task_id cannot restrict the sort key"),
        ("by_due", span_of_text, "'due' is declared as <class 'str'>"),
        ("by_due", prefix_of_date, "prefix_of_date"),
        ("primary", unknown_field, "'task' is no field"),
    ],
)
def test_a_query_that_its_key_cannot_serve_is_refused(key: str, function: Callable[..., None], complaint: str) -> None:
    cls = made()
    with refused(complaint):
        query(cls, getattr(cls, key))(function)


def test_a_key_of_another_entity_is_refused() -> None:
    with refused("is no key of Made"):
        query(made(), Elsewhere.primary)


def test_a_query_on_an_index_that_lacks_the_entitys_fields_is_refused() -> None:
    cls = made()
    with refused("KEYS"):
        query(cls, cls.bare_bones)(user_only)


def test_a_view_of_an_index_may_have_only_what_the_index_projects() -> None:
    class TitleOnly(BaseModel):
        title: str

    cls = made()
    with refused("KEYS"):
        query(cls, cls.bare_bones, view=TitleOnly)(user_only)


def test_a_view_may_have_only_fields_of_the_entity() -> None:
    class Colors(BaseModel):
        color: str

    cls = made()
    with refused("The view Colors has 'color', which Made has not"):
        query(cls, cls.by_due, view=Colors)


def test_two_patterns_of_one_name_are_refused() -> None:
    cls = made()
    get(cls)(both)
    with refused("two access patterns named 'both'"):
        get(cls)(both)


def test_a_pattern_must_name_its_entity() -> None:
    def nameless(item: Any) -> Put[Any]:
        return insert(item)

    with refused("nameless: no entity is named in its parameters or result"):
        pattern()(nameless)


def test_a_pattern_knows_its_name_documentation_and_key() -> None:
    def due_on(user_id: str, due: date) -> None:
        """Tasks due on a day."""

    cls = made()
    query(cls, cls.by_due)(due_on)
    known = schema_of(cls).table.patterns["due_on"]
    assert (known.name, known.kind, known.doc, known.index) == ("due_on", "query", "Tasks due on a day.", "GSI1")
    assert known.entity is schema_of(cls)


# --- collections ---


def many(cls: type) -> GenericAlias:
    return GenericAlias(tuple, (cls, ...))


def result(**fields: Any) -> type:
    """A dataclass for the result of a collection."""
    return make_dataclass("Result", fields.items(), frozen=True)


def test_the_result_of_a_collection_is_a_dataclass() -> None:
    with refused("Elsewhere is no dataclass"):
        collect(Elsewhere, "USER#{user_id}")


@pytest.mark.parametrize("of", [list, set, dict])
def test_a_collection_holds_entities_alone_optional_or_in_tuples(of: Any) -> None:
    cls = made()
    kind = of[str, cls] if of is dict else of[cls]
    with refused("Result.found must be an entity, an optional entity, or a tuple of entities"):
        collect(result(found=kind), "USER#{user_id}")


@pytest.mark.parametrize("kind", [str, str | None, tuple[str, ...], tuple[Elsewhere, Elsewhere]])
def test_a_collection_of_what_is_no_entity_is_refused(kind: Any) -> None:
    with refused("Result.found must be an entity, an optional entity, or a tuple of entities"):
        collect(result(found=kind), "USER#{user_id}")


def test_a_collection_of_nothing_is_refused() -> None:
    with refused("Result"):
        collect(result(), "USER#{user_id}")(user_only)


def test_the_entities_of_a_collection_share_a_table() -> None:
    with refused("Result"):
        collect(result(one=many(made()), other=many(Elsewhere)), "USER#{user_id}")(user_only)


@pytest.mark.parametrize(("partition", "index"), [("PERSON#{user_id}", None), ("USER#{user_id}", "GSI2")])
def test_the_entities_of_a_collection_have_a_key_in_its_partition(partition: str, index: str | None) -> None:
    with refused(f"Result: Made has no key with the partition {partition!r}"):
        collect(result(found=many(made())), partition, index=index)


def test_a_collections_parameters_are_the_fields_of_its_partition() -> None:
    with refused("both: its parameters must be the fields of 'USER#{user_id}'"):
        collect(result(found=many(made())), "USER#{user_id}")(both)
