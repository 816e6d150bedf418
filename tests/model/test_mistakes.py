"""Common mistakes, and the exact error message for each of them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import HttpUrl, IPvAnyAddress, JsonValue, SecretStr

from partita import (
    EmbeddedStore,
    Entity,
    Index,
    Key,
    KeyFormat,
    KeyOnly,
    Put,
    Rcu,
    Registry,
    Session,
    Span,
    Table,
    Transaction,
    Version,
    batch_get,
    delete,
    explain,
    f,
    get,
    insert,
    pattern,
    put,
    query,
    transact,
    update,
)
from partita.errors import PartitaError
from partita.store import PutItem


class Status(StrEnum):
    OPEN = "open"
    DONE = "done"


TABLE = Table("tasks", indexes=(Index("GSI1"),), registry=Registry())


class Task(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user}", "TASK#{task_id}")
    by_status: ClassVar = Key("USER#{user}", "STATUS#{status}#{task_id}", index="GSI1")
    user: str
    task_id: str
    n: int = 0
    status: Status = Status.OPEN
    version: Version = 0


class Other(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user}", "OTHER")
    user: str
    color: str = ""


@get(Task)
def task_by_id(user: str, task_id: str) -> None:
    """A task."""


@query(Task, Task.primary)
def tasks_of(user: str) -> None:
    """A user's tasks."""


@query(Task, Task.by_status)
def tasks_by_status(user: str, status: Status) -> None:
    """A user's tasks in one status."""


TASK = Task(user="ada", task_id="t1")


def fresh() -> Table:
    return Table("fresh", registry=Registry())


def session() -> Session:
    db = Session(EmbeddedStore(":memory:"))
    db.create_tables([TABLE])
    return db


def declared(fields: dict[str, Any], primary: Key, table: Table | None = None, **options: Any) -> Any:
    namespace = {"primary": primary, "__annotations__": {"primary": ClassVar[Key], **fields}, "__module__": __name__}
    made: Any = type(Entity)
    return made("Thing", (Entity,), namespace, table=table or fresh(), **options)


def key_as_a_field() -> None:
    class Thing(Entity, table=fresh()):
        primary: Key = Key("A#{name}", "B")
        name: str


def loop_over_a_query() -> None:
    for _ in tasks_of("ada"):
        pass


def async_pattern() -> None:
    @get(Task)  # type: ignore[arg-type]
    async def task_later(user: str, task_id: str) -> None:
        """A task."""


def pattern_with_a_body() -> None:
    @get(Task)
    def task_printed(user: str, task_id: str) -> None:
        """A task."""
        print(user, task_id)  # noqa: T201 - the mistake to detect


def budget_of_nothing() -> None:
    @get(Task, budget=5)  # type: ignore[call-overload, untyped-decorator]
    def task_for_five(user: str, task_id: str) -> None:
        """A task."""


def parameter_without_a_type() -> None:
    @query(Task, Task.primary)
    def tasks_untyped(user) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - the mistake to detect
        """Tasks."""


def pattern_without_its_entity() -> None:
    @get  # type: ignore[call-overload]
    def task_alone(user: str, task_id: str) -> None:
        """A task."""


def index_that_is_not_there() -> None:
    db = Session(EmbeddedStore(":memory:"))
    db.create_tables([Table("tasks", registry=Registry())])
    db.run(tasks_by_status("ada", Status.OPEN))


def key_not_covered() -> None:
    @get(Task)
    def task_of(user: str) -> None:
        """A task."""


def parameter_not_in_the_key() -> None:
    @query(Task, Task.primary)
    def tasks_with(user: str, n: int) -> None:
        """Tasks."""


def partition_by_range() -> None:
    @query(Task, Task.primary)
    def tasks_between(user: Span[str]) -> None:
        """Tasks."""


def pattern_of_nothing() -> None:
    @pattern()
    def nothing(count: int) -> Transaction:
        return transact(put(TASK))


def second_table() -> None:
    registry = Registry()
    Table("twice", registry=registry)
    Table("twice", registry=registry)


def failed_condition() -> None:
    db = session()
    db.run(put(TASK))
    db.run(update(task_by_id("ada", "t1"), f(Task.n).set(1)).when(f(Task.n).eq(7)))


def invalid_item() -> None:
    db = session()
    db.store.execute(PutItem("tasks", {"PK": "USER#ada", "SK": "TASK#t1", "user": "ada", "task_id": "t1", "n": "x"}))
    db.run(task_by_id("ada", "t1"))


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    # Conditions and changes.
    (lambda: put(TASK).when(Task.n == 3), "n == 3 does not compare a stored value. Write f(Task.field).eq(value)."),  # type: ignore[arg-type]
    (
        lambda: put(TASK).when(True),  # type: ignore[arg-type]
        "True is not a condition. Build conditions with f(): when(f(Task.field).eq(value)).",
    ),
    (
        lambda: put(TASK).when(f(Other.color).eq("red")),
        "Task has no attribute 'color'. The condition or change was made with another entity's field.",
    ),
    (
        lambda: update(TASK, f(Other.color).set("red")),
        "Task has no attribute 'color'. The condition or change was made with another entity's field.",
    ),
    (lambda: update(TASK), "An update needs at least one change."),
    (
        lambda: update(TASK, f(Task.user).set("bob")),
        "Task.user is the key and cannot be updated. Delete the item and insert another to move it to another key.",
    ),
    (
        lambda: update(TASK, f(Task.version).set(4)),
        "Task.version is the version and cannot be updated. Every write increments it.",
    ),
    (lambda: update(TASK, f(Task.user).remove()), "Task.user is the key and cannot be updated. Delete the item and "),
    (
        lambda: update(TASK, f(Task.n).set("x")),  # type: ignore[arg-type]
        "Task.n cannot be set to this value: Input should be a valid integer, unable to parse string as an integer.",
    ),
    (lambda: f("status"), "'status' is not a field. Access the field on the class, as in f(Task.status)."),
    (
        lambda: TASK.with_changes(f(Task.status).set("opne")),  # type: ignore[arg-type]
        "Task cannot be changed like this: status: Input should be 'open' or 'done'.",
    ),
    (
        lambda: TASK.model_copy(update={"n": "oops"}),
        "Task cannot be copied like this: n: Input should be a valid integer, unable to parse string as an integer.",
    ),
    (lambda: TASK.model_copy(update={"nn": 1}), "Task has no field 'nn'."),
    # Writes.
    (
        lambda: update(None, f(Task.n).set(1)),
        "There is nothing to update: None was given. A get returns None if there is no item.",
    ),
    (
        lambda: delete(None),
        "There is nothing to delete: None was given. A get returns None if there is no item.",
    ),
    (
        lambda: put(None),
        "There is nothing to put: None was given. A get returns None if there is no item.",
    ),
    (
        lambda: insert(Task(user="ada", task_id="t1", version=3)),
        "This Task has version 3, so it is already stored. Use put().",
    ),
    (failed_condition, "The condition on this Task is false."),
    (lambda: session().run(update(task_by_id("ada", "t9"), f(Task.n).set(1))), "There is no such Task."),
    (
        lambda: session().run(put(Task(user="", task_id="t1"))),
        "Task.primary: 'user' is empty. A part of the table's key needs a value.",
    ),
    (
        lambda: session().run(put(Task(user="ada", task_id="t" * 2_000))),
        "Task.primary: The key SK has 2005 bytes; at most 1024 are allowed.",
    ),
    (
        lambda: session().run(put(Other(user="ada", color="x" * 409_600))),
        "Item size has exceeded the maximum allowed size. It has 409,629 bytes; 409,600 are allowed.",
    ),
    (
        lambda: Session(EmbeddedStore(":memory:")).run(task_by_id("ada", "t1")),
        (
            "Requested resource not found: Table: tasks not found. "
            "Create it with `session.create_tables()` or `partita tables create`."
        ),
    ),
    # Sessions.
    (
        lambda: Session("tasks.db"),  # type: ignore[arg-type]
        "'tasks.db' is not a store. Pass a store, as in Session(EmbeddedStore(path)).",
    ),
    (
        lambda: session().create_tables(TABLE),  # type: ignore[arg-type]
        "Table('tasks') is not a list of tables. Pass a list of tables, as in create_tables([TABLE]).",
    ),
    (
        lambda: Session(EmbeddedStore(":memory:")).create_tables(None),  # type: ignore[arg-type]
        "None is not a list of tables. Pass a list of tables, as in create_tables([TABLE]).",
    ),
    (
        lambda: session().create_tables([Task]),  # type: ignore[list-item]
        "Task is not a table. Pass a list of tables, as in create_tables([TABLE]).",
    ),
    (lambda: explain(task_by_id), "task_by_id is not an operation. Call it with its arguments."),  # type: ignore[arg-type]
    # Reads.
    (loop_over_a_query, "tasks_of was not run. Loop over the result of session.run(…)."),
    (
        lambda: tasks_by_status("ada", "opne"),  # type: ignore[arg-type]
        "tasks_by_status: 'opne' is not a Status. Use one of: open, done.",
    ),
    (
        lambda: task_by_id(b"ada", "t1"),  # type: ignore[arg-type]
        (
            "A value of type bytes cannot be part of a key: b'ada'. Pass text, a whole number, a Decimal, a date, "
            "an aware datetime, a UUID or an enum, as the field declares it."
        ),
    ),
    (lambda: tasks_of("ada").page(0), "A page has 1 to 1000 items, not 0."),
    (
        lambda: session().run(tasks_of),  # type: ignore[arg-type]
        "tasks_of is neither an operation nor a procedure. Call it with its arguments.",
    ),
    (
        lambda: session().run(tasks_of("ada").page(10, after="x")),
        "This is not a cursor. Start again from the first page.",
    ),
    (
        invalid_item,
        (
            "The item at PK 'USER#ada', SK 'TASK#t1' is not a valid Task: "
            "n: Input should be a valid integer, unable to parse string as an integer. "
            "Give new fields a default, or migrate the stored items."
        ),
    ),
    # Patterns.
    (async_pattern, "task_later is async. Write def; AsyncSession awaits its operation."),
    (
        pattern_with_a_body,
        (
            "task_printed has a body, which would never run. "
            "Keep only its docstring; use @pattern for a function with a body."
        ),
    ),
    (budget_of_nothing, "task_for_five: budget=5 has no unit. Write Rcu(5) or Wcu(5)."),
    (
        parameter_without_a_type,
        "tasks_untyped: 'user' has no type. Annotate it with the type of the field: <class 'str'>.",
    ),
    (
        pattern_without_its_entity,
        "task_alone is not an entity. Pass an entity class, as in @get(Task), or an entity, as in put(task).",
    ),
    (
        index_that_is_not_there,
        (
            "The table does not have the specified index: GSI1. "
            "Create it with `session.create_tables()` or `partita tables update`."
        ),
    ),
    (
        key_not_covered,
        "task_of does not cover the primary key of Task: task_id. Add these parameters, or declare a @query.",
    ),
    (
        parameter_not_in_the_key,
        "tasks_with: 'n' is not a field of Task.primary. Its fields are: user, task_id.",
    ),
    (
        partition_by_range,
        (
            "tasks_between does not cover the partition key 'USER#{user}': 'user' is missing. "
            "A query needs all fields of the partition key, each with a single value."
        ),
    ),
    (
        pattern_of_nothing,
        (
            "nothing: no entity is named in its parameters or result. "
            "Annotate it, as in def create_task(task: Task) -> Put[Task]."
        ),
    ),
    # Models.
    (
        second_table,
        (
            f"Two tables are named 'twice': one in {__name__}, one in {__name__}. "
            "Rename one, or give it its own Registry()."
        ),
    ),
    (
        lambda: declared({"name": str}, Key("A#{nme}", "B")),
        "Thing.primary: Thing has no field 'nme'. It has: name.",
    ),
    (
        lambda: declared({"name": str, "n": int}, Key("A#{name}", "N#{n}")),
        (
            "Thing.primary: the number 'n' needs a width to sort correctly. "
            "Write {n:06} (digits), {n:+06} if it may be negative, {n:09.2}, or {n:d}."
        ),
    ),
    (
        lambda: declared({"name": str, "n": int}, Key("A#{name}{n}", "B")),
        (
            "'A#{name}{n}': the placeholder {name} is not followed by '#'. "
            "Put it between placeholders, so that keys are unambiguous. KeyFormat sets another separator."
        ),
    ),
    (
        lambda: declared({"name": str | None}, Key("A#{name}", "B")),
        "Thing.primary: 'name' may be None, but the table's key is never absent.",
    ),
    (
        lambda: declared({"name": str, "tags": set[str]}, Key("A#{name}", "B")),
        (
            "Thing.tags: DynamoDB has no empty set, so a set needs an empty default. "
            "Write Field(default_factory=frozenset)."
        ),
    ),
    (
        lambda: declared({"name": str, "pin": SecretStr}, Key("A#{name}", "B")),
        (
            "Thing.pin is a SecretStr, which would be stored as asterisks. "
            "Declare it as Encrypted[str], or add a serializer."
        ),
    ),
    (
        lambda: declared({"name": str, "at": Path}, Key("A#{name}", "B")),
        (
            "Thing.at: a Path cannot be stored as an attribute. "
            "Add a Pydantic serializer to the field, or use another type."
        ),
    ),
    (
        lambda: declared({"name": str, "grid": dict[tuple[int, int], str]}, Key("A#{name}", "B")),
        (
            "Thing.grid: the keys of a map are stored as text, from which a tuple[int, int] cannot be read. "
            "Use text, numbers, dates or enums as keys."
        ),
    ),
    (
        lambda: declared({"name": str, "other": KeyOnly[str]}, Key("A#{name}", "B")),
        "Thing.other is KeyOnly, but the primary key (A#{name}, B) does not contain it.",
    ),
    (
        key_as_a_field,
        "A Key is not a field. Write primary: ClassVar = Key(…).",
    ),
    (
        lambda: Table("fresh", indexes=["GSI1"], registry=Registry()),  # type: ignore[list-item]
        "Table('fresh'): 'GSI1' is not an index. Pass a list of indexes, as in indexes=[Index(\"GSI1\")].",
    ),
    (
        lambda: KeyFormat("|"),
        "Escaped values are separated by '#', not by '|'. Write KeyFormat('|', values=\"raw\").",
    ),
]


@pytest.mark.parametrize(("mistake", "told"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_explained(mistake: Callable[[], Any], told: str) -> None:
    with pytest.raises(PartitaError) as caught:
        mistake()
    assert str(caught.value).startswith(told)
    assert str(caught.value) == told or told.endswith(" ")


def test_there_are_forty() -> None:
    assert len(MISTAKES) >= 40


def test_a_misspelt_field_is_named_with_those_that_there_are() -> None:
    with pytest.raises(AttributeError) as caught:
        f(Task.nn)  # type: ignore[attr-defined]
    assert str(caught.value) == "Task has no field 'nn'. It has: user, task_id, n, status, version."
    assert not hasattr(Task, "nn")


def test_arguments_that_are_missing_are_those_of_a_named_pattern() -> None:
    with pytest.raises(TypeError) as caught:
        task_by_id("ada")  # type: ignore[call-arg]
    assert str(caught.value) == "task_by_id(user, task_id): missing a required argument: 'task_id'"


def test_a_pattern_of_scalars_names_its_entity_by_what_it_writes() -> None:
    @pattern(writes={Task: (PutItem,)})
    def add_task(user: str, task_id: str) -> Transaction:
        return transact(insert(Task(user=user, task_id=task_id)))

    @pattern(via=add_task)
    def add_first(user: str) -> Transaction:
        return add_task(user, "first")

    db = session()
    db.run(add_first("ada"))
    assert len(db.run(tasks_of("ada"))) == 1


def test_the_types_of_a_procedure_can_be_read() -> None:
    from typing import get_type_hints

    from tests.model import procedures

    assert "return" in get_type_hints(procedures.count_twice)


def test_a_delete_of_an_item_that_does_not_fit_is_done() -> None:
    db = session()
    db.store.execute(PutItem("tasks", {"PK": "USER#ada", "SK": "TASK#t1", "user": "ada", "task_id": "t1", "n": "x"}))
    assert db.run(delete(task_by_id("ada", "t1"))) is None
    assert db.run(task_by_id("ada", "t1")) is None


def test_gets_of_two_entities_make_one_batch() -> None:
    table = Table("both", registry=Registry())

    class One(Entity, table=table):
        primary: ClassVar = Key("A#{name}", "ONE")
        name: str

    class Two(Entity, table=table):
        primary: ClassVar = Key("A#{name}", "TWO")
        name: str

    @get(One)
    def one(name: str) -> None:
        """One."""

    @get(Two)
    def two(name: str) -> None:
        """Two."""

    db = Session(EmbeddedStore(":memory:"))
    db.create_tables([table])
    db.run(put(One(name="a")))
    db.run(put(Two(name="a")))
    assert db.run(batch_get([one("a"), two("a"), two("b")])) == (One(name="a"), Two(name="a"), None)


def test_json_and_addresses_read_back() -> None:
    table = fresh()

    class Page(Entity, table=table):
        primary: ClassVar = Key("A#{name}", "B")
        name: str
        data: JsonValue
        home: HttpUrl
        host: IPvAnyAddress
        prices: dict[str, Decimal]

    @get(Page, budget=Rcu(0.5))
    def page(name: str) -> None:
        """A page."""

    db = Session(EmbeddedStore(":memory:"))
    db.create_tables([table])
    data = {"ratio": 2.5, "deep": [1, {"more": [0.1, True, None]}]}
    stored = Page.model_validate(
        {"name": "a", "data": data, "home": "https://example.com/", "host": "::1", "prices": {"x": "1.5"}}
    )
    db.run(insert(stored))
    assert db.run(page("a")) == stored


def test_a_validated_copy_keeps_what_was_not_changed() -> None:
    copied = TASK.model_copy(update={"status": "done", "n": 3})
    assert copied == Task(user="ada", task_id="t1", n=3, status=Status.DONE)
    assert copied.status is Status.DONE
    written: Put[Task] = put(copied)
    assert written.saved.version == 1
