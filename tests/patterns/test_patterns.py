"""Patterns and collections are refused at declaration if their keys cannot serve them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import make_dataclass
from datetime import date
from types import GenericAlias
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, Field
from tests.model.declare import Elsewhere, made, refused, table

from partita import (
    Entity,
    Index,
    Key,
    LocalIndex,
    Prefix,
    Put,
    Session,
    Span,
    collect,
    get,
    insert,
    pattern,
    query,
)
from partita.model._entity import schema_of

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
        (unknown_field, "'task' is not a field of Made.primary"),
        (wrong_type, "'user_id' is declared as <class 'int'>"),
        (untyped, "'user_id' has no type"),
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
        ("primary", unknown_field, "'task' is not a field"),
    ],
)
def test_a_query_that_its_key_cannot_serve_is_refused(key: str, function: Callable[..., None], complaint: str) -> None:
    cls = made()
    with refused(complaint):
        query(cls, getattr(cls, key))(function)


def test_a_key_of_another_entity_is_refused() -> None:
    with refused("is not a key of Made"):
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


def partly_projected(index: type[Index | LocalIndex], *names: str, ttl: str | None = None) -> Any:
    """Return an entity with an index that projects only some of its fields; `note` is stored as `n`."""

    class Made(Entity, table=table(indexes=[index("SOME", projection=names or "KEYS_ONLY")], ttl=ttl)):
        primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}")
        by_title: ClassVar = Key("USER#{user_id}", "TITLE#{title}", index="SOME")
        user_id: str
        task_id: str
        title: str = ""
        note: str = Field("", alias="n")
        expires_at: int | None = None

    return Made


class Noted(BaseModel):
    task_id: str
    note: str = Field("", alias="n")


EVERY = ("user_id", "task_id", "title", "n", "expires_at")


@pytest.mark.parametrize("index", [Index, LocalIndex])
@pytest.mark.parametrize("absent", EVERY)
def test_a_query_for_entities_needs_an_index_that_projects_every_field(
    index: type[Index | LocalIndex], absent: str
) -> None:
    cls = partly_projected(index, *(name for name in EVERY if name != absent))
    with refused(f"The index 'SOME' does not project {absent}, which Made needs. Project them, or declare a view"):
        query(cls, cls.by_title)(user_only)
    with refused(f"The index 'SOME' does not project {absent}"):
        collect(result(found=many(cls)), "USER#{user_id}", index="SOME")


@pytest.mark.parametrize("index", [Index, LocalIndex])
def test_an_index_that_projects_every_field_gives_entities(
    partita_db: Session, index: type[Index | LocalIndex]
) -> None:
    cls = partly_projected(index, *EVERY)
    found = query(cls, cls.by_title)(user_only)
    partita_db.create_tables([schema_of(cls).table])
    made_ = partita_db.run(insert(cls(user_id="u", task_id="t", title="a", n="kept", expires_at=9)))
    assert partita_db.run(found("u")).items == (made_,)


def test_a_view_of_a_global_index_may_leave_nothing_to_its_defaults() -> None:
    cls = partly_projected(Index, "task_id", "title")
    with refused("The index 'SOME' does not project n, which Noted needs"):
        query(cls, cls.by_title, view=Noted)(user_only)


def test_a_view_of_a_global_index_needs_the_ttl_that_every_read_looks_at() -> None:
    cls = partly_projected(Index, "task_id", "n", ttl="expires_at")
    with refused("The index 'SOME' does not project expires_at, which Noted needs"):
        query(cls, cls.by_title, view=Noted)(user_only)


@pytest.mark.parametrize(
    ("index", "projected"), [(Index, ("task_id", "n", "expires_at")), (LocalIndex, ())], ids=["global", "local"]
)
def test_a_view_that_its_index_can_serve_is_read_whole(
    partita_db: Session, index: type[Index | LocalIndex], projected: tuple[str, ...]
) -> None:
    cls = partly_projected(index, *projected, ttl="expires_at")
    found = query(cls, cls.by_title, view=Noted)(user_only)
    partita_db.create_tables([schema_of(cls).table])
    partita_db.run(insert(cls(user_id="u", task_id="t", title="a", n="kept")))
    assert partita_db.run(found("u")).items == (Noted(task_id="t", n="kept"),)


def test_a_view_may_have_only_fields_of_the_entity() -> None:
    class Colors(BaseModel):
        color: str

    cls = made()
    with refused("The view Colors has 'color', which Made does not have"):
        query(cls, cls.by_due, view=Colors)


def test_two_patterns_of_one_name_are_refused() -> None:
    cls = made()
    get(cls)(both)
    with refused(
        "two access patterns named 'both'. Rename one of them. A recipe declares its patterns: create it once"
    ):
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


class TestNamedByArguments:
    """Patterns that are declared with a name and a doc instead of a function, as recipes do."""

    def test_they_are_what_a_function_declares(self) -> None:
        class Named(Entity, table=table()):
            primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id:03}")
            user_id: str
            task_id: int

        by_id = get(Named, name="named_by_id", doc="One of them.")
        of_user = query(Named, Named.primary, name="named_of_user", doc="A user's.", newest_first=True)

        @get(Named)
        def decorated(user_id: str, task_id: int) -> None: ...

        @query(Named, Named.primary, newest_first=True)
        def decorated_query(user_id: str) -> None: ...

        assert by_id("u", 7).key == by_id(task_id=7, user_id="u").key == decorated("u", 7).key
        assert of_user("u").request() == decorated_query("u").request()
        patterns = schema_of(Named).table.patterns
        assert (patterns["named_by_id"].doc, patterns["named_of_user"].doc) == ("One of them.", "A user's.")
        assert patterns["named_by_id"].hints == patterns["decorated"].hints == {"user_id": str, "task_id": int}
        assert patterns["named_by_id"].sends == patterns["decorated"].sends

    def test_their_parameters_have_the_order_that_was_given(self) -> None:
        class Ordered(Entity, table=table()):
            primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}")
            user_id: str
            task_id: str

        by_id = get(Ordered, name="ordered_by_id", doc="", parameters=["task_id", "user_id"])
        assert by_id("t", "u").values == ("u", "t")

    @pytest.mark.parametrize(
        ("parameters", "problem"),
        [
            (["user_id"], "does not cover the primary key"),
            (["user_id", "task_id", "title"], "'title' is not a field of Refused.primary"),
            (["user_id", "task"], "Refused has no field 'task'"),
        ],
    )
    def test_they_are_proved_against_the_key(self, parameters: list[str], problem: str) -> None:
        class Refused(Entity, table=table()):
            primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}")
            user_id: str
            task_id: str
            title: str = ""

        with refused(problem):
            get(Refused, name="refused_by_id", doc="", parameters=parameters)


# --- collections ---


def many(cls: type) -> GenericAlias:
    return GenericAlias(tuple, (cls, ...))


def result(**fields: Any) -> type:
    """Return a dataclass for the result of a collection."""
    return make_dataclass("Result", fields.items(), frozen=True)


def test_the_result_of_a_collection_is_a_dataclass() -> None:
    with refused("Elsewhere is not a dataclass"):
        collect(Elsewhere, "USER#{user_id}")


@pytest.mark.parametrize("of", [list, set, dict])
def test_a_collection_holds_entities_alone_optional_or_in_tuples(of: Any) -> None:
    cls = made()
    kind = of[str, cls] if of is dict else of[cls]
    with refused("Result.found must be an entity, an optional entity, or a tuple of entities"):
        collect(result(found=kind), "USER#{user_id}")


@pytest.mark.parametrize("kind", [str, str | None, tuple[str, ...], tuple[Elsewhere, Elsewhere]])
def test_a_collection_of_what_is_not_an_entity_is_refused(kind: Any) -> None:
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
    with refused("task_only: its parameters must be the fields of 'USER#{user_id}', each with a single value"):
        collect(result(found=many(made())), "USER#{user_id}")(task_only)
    with refused("unknown_field: task cannot restrict a sort key of Result"):
        collect(result(found=many(made())), "USER#{user_id}")(unknown_field)
    with refused("'user_id' is declared as <class 'int'>"):
        collect(result(found=many(made())), "USER#{user_id}")(wrong_type)
    with refused("its parameters must be the fields of"):
        collect(result(found=many(made())), "USER#{user_id}")(span_of_partition)


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ({Elsewhere: 1}, "Elsewhere has a limit, but no field is a tuple of it"),
        ({"Made": 1}, "Made has a limit, but no field is a tuple of it"),
    ],
)
def test_limits_are_of_entities_that_are_tuples(limits: Any, complaint: str) -> None:
    with refused(complaint):
        collect(result(found=many(made())), "USER#{user_id}", limits=limits)


@pytest.mark.parametrize("count", [0, -1, True, "20"])
def test_a_limit_is_a_number_from_one(count: Any) -> None:
    entity = made()
    with refused(f"the limit of Made must be a positive integer, not {count!r}"):
        collect(result(found=many(entity)), "USER#{user_id}", limits={entity: count})
