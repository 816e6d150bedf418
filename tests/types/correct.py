"""The types that checkers must infer for every public operation. Checked, never run."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar, assert_type

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from partita import (
    AsyncSession,
    BatchGet,
    BatchWrite,
    Change,
    Check,
    Collect,
    CollectionPage,
    Compressed,
    Condition,
    Count,
    Delete,
    Derived,
    Dimensions,
    Encrypted,
    Entity,
    Explanation,
    Get,
    Images,
    Index,
    ItemStream,
    Key,
    Meter,
    Operation,
    Page,
    Precondition,
    Prefix,
    Procedure,
    Put,
    Query,
    Rcu,
    Ref,
    Registry,
    Scored,
    SearchedKb,
    Session,
    Shards,
    Span,
    Table,
    Transaction,
    Update,
    Upsert,
    Usage,
    Vector,
    VectorIndex,
    Version,
    WalkResult,
    Wcu,
    absent,
    all_of,
    any_of,
    batch_get,
    batch_write,
    check,
    collect,
    count,
    delete,
    explain,
    f,
    get,
    insert,
    new_ulid,
    not_,
    pattern,
    put,
    query,
    reseal,
    search,
    transact,
    transact_get,
    update,
    upsert,
)
from partita.change import SqliteProjection
from partita.encryption import KeyChain, KmsKeys, LocalKeys
from partita.http import CurrentProjection, CurrentState, IfMatch, Once, Resources, response_of
from partita.model._fields import Comparable
from partita.operations import Scan, scan
from partita.recipes.audit import AuditEvent, AuditRecord, AuditTrail, Trace
from partita.recipes.idempotency import Command, CommandOutcome, Idempotency, IdempotencyRecord, Plan, StoredResponse
from partita.recipes.leases import LeaseRecord, Leases
from partita.recipes.lifecycle import Lifecycle, Move, Transition
from partita.recipes.web_sessions import WebSession, WebSessions
from partita.service import Installation, Service, WorkerContext
from partita.store import PutItem, Store, UpdateItem
from partita.testing import FakeClock, FaultyStore, assert_budget

TABLE = Table("typed", indexes=[Index("GSI1"), Index("GSI2")])


class Status(StrEnum):
    OPEN = "open"
    DONE = "done"


class Address(BaseModel):
    city: str
    zip_code: str | None = None


class User(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "USER")
    user_id: str
    address: Address


class Task(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "TASK#{task_id}")
    by_status: ClassVar = Key("STATUS#{user_id}", "STATUS#{status}#{task_id}", index="GSI1")
    by_due: ClassVar = Key("DUE#{user_id}", "DUE#{due}#{task_id}", index="GSI2")

    user_id: str
    task_id: str = Field(default_factory=new_ulid)
    title: str
    status: Status = Status.OPEN
    due: date | None = None
    points: int = 0
    price: Decimal = Decimal(0)
    tags: frozenset[str] = frozenset()
    notes: list[str] = Field(default_factory=list)
    version: Version = 0


class Line(BaseModel):
    sku: str


class Order(Entity, table=TABLE):
    primary: ClassVar = Key("ORDER#{order_id}", "ORDER")
    order_id: str
    lines: tuple[Line, ...] = ()
    by_number: dict[int, Line] = Field(default_factory=dict)


class Title(BaseModel):
    task_id: str
    title: str


@dataclass(frozen=True)
class Board:
    user: User
    tasks: tuple[Task, ...]


@collect(Board, "USER#{user_id}", newest_first=True, limits={Task: 20})
def latest_board(user_id: str) -> None: ...


def day_of(at: datetime) -> date:
    return at.date()


def is_open(status: Status) -> bool:
    return status is Status.OPEN


READINGS = Table(
    "readings",
    indexes=[
        Index("GSI1"),
        Index("inverted", hash="SK", range="PK"),
        Index("many", hash=["sensor", "PLACE"], range=["status", ("celsius", "N")]),
    ],
)


class Reading(Entity, table=READINGS):
    primary: ClassVar = Key("SENSOR#{sensor}#{day}#{shard}", "READING#{at}")
    open: ClassVar = Key("OPEN", "{celsius:-04}#{at}", index="GSI1", when=is_open)
    many: ClassVar = Key(["{sensor}", "PLACE#{place}"], ["{status}", "{celsius}"], index="many")

    day: ClassVar = Derived(day_of)
    shard: ClassVar = Shards(8, "at")

    sensor: str
    at: datetime
    place: str
    celsius: int
    status: Status = Status.OPEN


@get(Reading)
def reading(sensor: str, at: datetime) -> None: ...


@query(Reading, Reading.primary)
def readings_on(sensor: str, day: date) -> None: ...


@query(Reading, Reading.many)
def readings_between(sensor: str, place: str, status: Status, celsius: Span[int]) -> None: ...


def indexes(made: Reading, db: Session) -> None:
    assert_type(made.day, date)
    assert_type(made.shard, int)
    assert_type(Reading.day, Derived[date])
    assert_type(readings_on("s", date.min), Query[Reading])
    assert_type(db.run(readings_between("s", "p", Status.OPEN, Span.since(5))), Page[Reading])
    assert_type(db.run(reading("s", datetime.now(UTC))), Reading | None)
    assert_type(latest_board("u"), Collect[Board])
    page = db.run(latest_board("u").page(10, after=None))
    assert_type(page, CollectionPage[Board])
    assert_type(page.result, Board | None)
    assert_type(page.next_cursor, str | None)


@get(User)
def user_by_id(user_id: str) -> None: ...


@get(Task, budget=Rcu(0.5))
def task_by_id(user_id: str, task_id: str) -> None: ...


@get(Task, view=Title)
def task_title(user_id: str, task_id: str) -> None: ...


@count(Task, Task.by_status)
def count_tasks(user_id: str, status: Status) -> None: ...


@query(Task, Task.by_status, budget=Rcu(5))
def tasks_with_status(user_id: str, status: Status) -> None: ...


@query(Task, Task.by_due)
def tasks_due(user_id: str, due: Span[date]) -> None: ...


@query(Task, Task.primary)
def tasks_with_prefix(user_id: str, task_id: Prefix[str]) -> None: ...


@query(Task, Task.by_status, view=Title)
def titles_with_status(user_id: str, status: Status) -> None: ...


@collect(Board, "USER#{user_id}", limit=50)
def board(user_id: str) -> None: ...


@pattern(budget=Wcu(5))
def create_task(task: Task) -> Put[Task]:
    return insert(task)


@pattern(budget=Rcu(1) + Wcu(6))
def finish(task: Task) -> Update[Task]:
    return update(task, f(Task.status).set(Status.DONE))


def patterns(user_id: str, task: Task) -> None:
    assert_type(user_by_id(user_id), Get[User])
    assert_type(task_by_id(user_id, "t"), Get[Task])
    assert_type(task_by_id(user_id=user_id, task_id="t").consistent(), Get[Task])
    assert_type(task_title(user_id, "t"), Get[Title])
    assert_type(count_tasks(user_id, Status.OPEN), Count)
    assert_type(tasks_with_status(user_id, Status.OPEN), Query[Task])
    assert_type(tasks_with_status(user_id, status=Status.OPEN).page(20, after=None), Query[Task])
    assert_type(tasks_due(user_id, Span.between(date.min, date.max)), Query[Task])
    assert_type(tasks_due(user_id, Span.since(date.min)).reversed(), Query[Task])
    assert_type(tasks_with_prefix(user_id, Prefix("0")), Query[Task])
    assert_type(titles_with_status(user_id, Status.OPEN), Query[Title])
    assert_type(board(user_id), Collect[Board])
    assert_type(create_task(task), Put[Task])
    assert_type(delete(task), Delete[Task])
    assert_type(finish(task), Update[Task])


class Vault(Entity, table=TABLE):
    primary: ClassVar = Key("VAULT#{owner}", "VAULT")
    owner: str
    pin: Encrypted[str]
    story: Compressed[str | None] = None
    letters: Encrypted[Compressed[list[str]]] = Field(default_factory=list)
    version: Version = 0


def secrets(db: Session, vault: Vault, store: Store) -> None:
    assert_type(vault.pin, str)
    assert_type(vault.story, str | None)
    assert_type(vault.letters, list[str])
    assert_type(f(Vault.pin), Ref[str])
    assert_type(reseal(vault), Update[Vault])
    assert_type(db.run(reseal(vault)), Vault)
    Session(store, keys=LocalKeys.from_file("keys.json"))
    Session(store, keys=KeyChain(KmsKeys("alias/vaults"), LocalKeys({}, "1")))


def fields() -> None:
    assert_type(f(Task.status), Ref[Status])
    assert_type(f(Task.due), Ref[date | None])
    assert_type(f(User.address.city), Ref[str])
    assert_type(f(User.address.zip_code), Ref[str | None])
    assert_type(f(Task.notes[0]), Ref[str])
    assert_type(f(Order.lines[0].sku), Ref[str])
    assert_type(f(Order.by_number[5].sku), Ref[str])
    assert_type(f(Task.notes).size(), Comparable[int])


def conditions() -> tuple[Condition, ...]:
    return (
        f(Task.status).eq(Status.OPEN),
        f(Task.due).ne(None),
        f(Task.due).ge(date.min),
        f(Task.points).between(1, 5),
        f(Task.points).gt(f(Task.points)),
        f(Task.status).is_in([Status.OPEN, Status.DONE]),
        f(Task.title).begins_with("a"),
        f(User.address.zip_code).contains("0"),
        f(Task.tags).has("red"),
        f(Task.notes).size().lt(3),
        f(Task.notes).size().between(1, 3),
        f(Task.notes).size().is_in({1, 3}),
        f(Task.notes).size().ne(f(Task.points)),
        f(Task.points).ge(f(Task.notes).size()),
        not_(f(Task.due).exists()),
        all_of(f(Task.due).missing(), any_of(f(Task.points).le(3))),
    )


def changes() -> tuple[Change, ...]:
    return (
        f(Task.status).set(Status.DONE),
        f(Task.due).set(None),
        f(Task.due).remove(),
        f(Task.title).set_if_missing("x"),
        f(Task.title).set(f(Task.title).or_default("x")),
        f(Task.title).set(f(Task.user_id)),
        f(Task.points).add(1),
        f(Task.points).set(f(Task.points).plus(1)),
        f(Task.price).add(Decimal("0.5")),
        f(Task.price).set(f(Task.price).minus(Decimal(1))),
        f(Task.tags).add_members({"red"}),
        f(Task.tags).remove_members(frozenset({"red"})),
        f(Task.notes).set(f(Task.notes).with_appended(["x"])),
        f(Task.notes).set(f(Task.notes).with_prepended(["x"])),
        f(Task.notes).append(["x"]),
        f(Task.notes).set(f(Task.notes).or_default([]).with_appended(["x"])),
        f(Task.points).set(f(Task.points).or_default(3).minus(1)),
        f(Task.notes[0]).remove(),
    )


def results(db: Session, task: Task) -> None:
    assert_type(db.run(task_by_id("u", "t")), Task | None)
    assert_type(db.run(insert(task)), Task)
    assert_type(db.run(put(task).when(f(Task.points).lt(3))), Task)
    assert_type(db.run(update(task, *changes())), Task)
    assert_type(db.run(update(task_by_id("u", "t"), *changes())), Task)
    assert_type(db.run(delete(task)), Task | None)
    assert_type(upsert(task_by_id("u", "t"), *changes()), Upsert[Task])
    assert_type(db.run(upsert(task, f(Task.notes).append(["x"]))), Task)
    assert_type(db.run(put(task).images()), Images[Task | None, Task])
    assert_type(db.run(insert(task).images()).old, Task | None)
    assert_type(db.run(update(task, *changes()).images()).old, Task)
    assert_type(db.run(upsert(task, *changes()).images()).new, Task)
    assert_type(db.run(delete(task).images()), Images[Task | None, None])
    assert_type(db.run(delete(task_by_id("u", "t"))), Task | None)
    assert_type(db.run(tasks_with_status("u", Status.OPEN)), Page[Task])
    assert_type(db.run(tasks_with_status("u", Status.OPEN)).items, tuple[Task, ...])
    assert_type(db.run(tasks_with_status("u", Status.OPEN)).next_cursor, str | None)
    assert_type(db.run(tasks_with_status("u", Status.OPEN).where(f(Task.points).gt(1)).first()), Task | None)
    assert_type(db.run(tasks_with_status("u", Status.OPEN).count()), int)
    assert_type(db.run(tasks_with_status("u", Status.OPEN).walk(max_items=10)), WalkResult[Task])
    assert_type(db.run(titles_with_status("u", Status.OPEN)), Page[Title])
    assert_type(db.run(task_title("u", "t").consistent()), Title | None)
    assert_type(db.run(batch_get([task_title("u", "t")])), tuple[Title | None, ...])
    assert_type(db.run(transact_get(task_title("u", "t"), user_by_id("u"))), tuple[Title | None, User | None])
    assert_type(db.run(count_tasks("u", Status.OPEN)), int)
    assert_type(db.stream(tasks_with_status("u", Status.OPEN), max_items=10), ItemStream[Task])
    assert_type(next(iter(db.stream(titles_with_status("u", Status.OPEN), max_items=10))), Title)
    assert_type(db.maintenance("count").stream(scan(Task), max_items=10), ItemStream[Task])
    assert_type(db.run(titles_with_status("u", Status.OPEN).first()), Title | None)
    assert_type(db.run(board("u")), Board | None)
    assert_type(db.maintenance("count").run(scan(Task)), Page[Task])
    assert_type(scan(Task), Scan[Task])


def several(db: Session, task: Task) -> None:
    assert_type(batch_get([task_by_id("u", "t")]), BatchGet[Task])
    assert_type(batch_get([task_by_id("u", "t"), user_by_id("u")]), BatchGet[BaseModel])
    assert_type(db.run(batch_get([task_by_id("u", "t")])), tuple[Task | None, ...])
    assert_type(batch_write([put(task), delete(task_by_id("u", "t"))]), BatchWrite)
    assert_type(check(user_by_id("u"), f(User.address.city).eq("Bern")), Check)
    assert_type(transact(insert(task), absent(user_by_id("u")), token="t"), Transaction)
    assert_type(db.run(transact_get(user_by_id("u"))), tuple[User | None])
    assert_type(db.run(transact_get(user_by_id("u"), task_by_id("u", "t"))), tuple[User | None, Task | None])
    three = transact_get(user_by_id("u"), task_by_id("u", "t"), user_by_id("v"))
    assert_type(db.run(three), tuple[User | None, Task | None, User | None])
    db.transact(insert(task), check(user_by_id("u")), token="t")


def rename(user_id: str, task_id: str, title: str) -> Procedure[Task | None]:
    """A procedure: each `yield from` returns the result of its operation."""
    task = yield from task_by_id(user_id, task_id)
    assert_type(task, Task | None)
    if task is None:
        return None
    page = yield from tasks_with_status(user_id, task.status)
    assert_type(page, Page[Task])
    both = yield from transact_get(user_by_id(user_id), task_by_id(user_id, task_id))
    assert_type(both, tuple[User | None, Task | None])
    renamed = yield from update(task, f(Task.title).set(title))
    assert_type(renamed, Task)
    return renamed


def rename_twice(user_id: str, task_id: str) -> Procedure[int]:
    """A procedure that runs another procedure."""
    first = yield from rename(user_id, task_id, "a")
    assert_type(first, Task | None)
    return 1


def procedures(db: Session) -> None:
    assert_type(db.run(rename("u", "t", "x")), Task | None)
    assert_type(db.run(rename_twice("u", "t")), int)


async def with_await(db: AsyncSession, task: Task) -> AsyncIterator[Task]:
    assert_type(await db.run(task_by_id("u", "t")), Task | None)
    assert_type(await db.run(rename("u", "t", "x")), Task | None)
    await db.transact(insert(task))
    for found in await db.run(tasks_with_status("u", Status.OPEN)):
        yield found


def entities(task: Task) -> None:
    assert_type(Task(user_id="u", title="x").status, Status)
    assert_type(task.with_changes(f(Task.title).set("x")), Task)
    assert_type(Task.by_status, Key)


def costs(db: Session) -> None:
    assert_type(explain(board("u"), db), Explanation)
    assert_type(db.meter, Meter)
    assert_type(db.meter.usage(), tuple[Usage, ...])


def in_tests(db: Session, store: Store, task: Task) -> None:
    assert_type(assert_budget(db, task_by_id("u", "t")), Task | None)
    assert_type(assert_budget(db, create_task(task)), Task)
    faulty = FaultyStore(store)
    faulty.throttle(2, on=PutItem)
    faulty.conflict(on=(PutItem, UpdateItem))
    assert_type(Session(faulty, clock=FakeClock()).run(create_task(task)), Task)


def any_operation(operation: Operation[Any]) -> str:
    return operation.name


class TaskLife(Lifecycle[Task, Status]):
    state = f(Task.status)
    start = Status.OPEN
    finish = Transition(Status.OPEN, to=Status.DONE)


class Request(IdempotencyRecord, table=TABLE):
    primary: ClassVar = Key("IDEMPOTENCY#{scope}#{key}", "METADATA")


class WorkLease(LeaseRecord, table=TABLE):
    primary: ClassVar = Key("LEASE#{name}", "LEASE")


class LoginSession(WebSession, table=TABLE):
    primary: ClassVar = Key("SESSION#{session_hash}", "META")
    by_user: ClassVar = Key("USER#{user_id}", "SESSION#{session_hash}", index="GSI1")


class AuditEntry(AuditRecord, table=TABLE):
    primary: ClassVar = Key("AUDIT#{user_id}", "AUDIT#{occurred_at:012}#{request_id}#{sequence:03}")


class LoggedIn(AuditEvent):
    method: str


REQUESTS = Idempotency(Request)
LEASES = Leases(WorkLease)
SESSIONS = WebSessions(LoginSession, idle=timedelta(hours=1), absolute=timedelta(days=1))
AUDIT = AuditTrail(AuditEntry)
MINUTE = timedelta(minutes=1)


def shown(task: Task) -> StoredResponse:
    return StoredResponse.of(task)


task_named: Callable[[str, str], Get[Task]] = get(Task, name="task_named", doc="A task.")
tasks_named: Callable[[str], Query[Task]] = query(Task, Task.primary, name="tasks_named", doc="A user's tasks.")


def recipes(db: Session, task: Task, command: Command) -> None:
    assert_type(db.run(task_named("u", "t")), Task | None)
    assert_type(get(Task, name="task_again", doc="A task.")("u", "t"), Get[Task])
    assert_type(query(Task, Task.primary, name="tasks_again", doc="A user's tasks.")("u"), Query[Task])
    assert_type(update(task, f(Task.title).set("x")).labelled("Task.rename"), Update[Task])
    assert_type(TaskLife.finish, Move[Task])
    assert_type(TaskLife.finish(task, f(Task.title).set("x")), Update[Task])
    assert_type(db.run(TaskLife.finish(task_by_id("u", "t"))), Task)
    db.transact(TaskLife.finish(task))
    assert_type(db.run(Plan(task, insert(task)).run()), Task)
    assert_type(db.run(REQUESTS.run(command, Plan(task, insert(task)), shown)), CommandOutcome[Task])
    assert_type(db.run(REQUESTS.begin(command, owner="w", lease=MINUTE)), CommandOutcome[Any] | None)
    assert_type(db.run(REQUESTS.record(command)), Request | None)
    lease = db.run(LEASES.acquire("sweep", owner="w", duration=MINUTE))
    assert_type(lease, WorkLease)
    db.transact(insert(task), LEASES.check(lease), LEASES.release(lease))
    assert_type(db.run(SESSIONS.resolve("cookie")), LoginSession | None)
    assert_type(db.run(SESSIONS.rotate("old", "new")), LoginSession)
    assert_type(db.run(SESSIONS.of_user("u")), Page[LoginSession])
    db.transact(SESSIONS.create("new", "u"), SESSIONS.end("old"))
    assert_type(
        db.run(AUDIT.append(LoggedIn(method="m"), user_id="u", trace=Trace("r", "c"))),
        AuditEntry | None,
    )


MEANINGS = Table("meanings", indexes=[VectorIndex("by-meaning", "embedding", 3)], registry=Registry())


class Meaning(Entity, table=MEANINGS):
    """An entity with a vector."""

    primary: ClassVar = Key("{user_id}", "{number}")
    by_meaning: ClassVar = Key("{user_id}", index="by-meaning")

    user_id: str
    number: int
    embedding: Annotated[Vector, Dimensions(3)]


@search(Meaning, Meaning.by_meaning, budget=SearchedKb(1))
def alike(user_id: str, vector: Vector, top: int) -> None:
    """The meanings that are most similar to a vector."""


def searching(db: Session) -> None:
    found = db.run(alike("u", [1.0, 0.0, 0.0], 5))
    assert_type(found, tuple[Scored[Meaning], ...])
    assert_type(found[0].entity, Meaning)
    assert_type(found[0].score, float)
    Meaning(user_id="u", number=1, embedding=(1.0, 0.0, 0.0))


class Tools(BaseModel):
    """The resources that a service opens for its routes and workers."""

    name: str


@contextmanager
def open_tools(installation: Installation) -> Iterator[Tools]:
    yield Tools(name=installation.folder.name)


def work(context: WorkerContext[Tools]) -> None:
    assert_type(context.resources, Tools)


SERVICE = Service("tasks", "Tasks", "Tasks.", (TABLE,), APIRouter, resources=open_tools, worker=work)


async def route(
    tools: Resources[Tools],
    state: CurrentState[Tools],
    projection: CurrentProjection[SqliteProjection],
    once: Once,
    only: IfMatch,
    task: Task,
) -> None:
    assert_type(tools, Tools)
    assert_type(state.resources, Tools)
    assert_type(state.singleton(lambda state: state.resources.name), str)
    assert_type(projection.sink, SqliteProjection)
    assert_type(only, Precondition | None)
    outcome = await state.session.run(once.command(Plan(task, insert(task)), shown))
    assert_type(outcome.result, Task | None)
    assert_type(response_of(outcome), Response)
