"""Planted mistakes: both type checkers must report every line marked as one, and no other line. Never run."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar

from fastapi import APIRouter

from partita import (
    AsyncSession,
    Derived,
    Entity,
    Index,
    Key,
    Page,
    Prefix,
    Procedure,
    Put,
    Rcu,
    Session,
    Shards,
    Span,
    Table,
    Wcu,
    all_of,
    any_of,
    batch_get,
    batch_write,
    check,
    collect,
    delete,
    f,
    get,
    insert,
    not_,
    pattern,
    put,
    query,
    reseal,
    transact,
    transact_get,
    update,
    upsert,
)
from partita.encryption import KmsKeys, LocalKeys
from partita.http import CurrentState, IfMatch, Once, Resources
from partita.recipes.audit import Trace
from partita.recipes.counter import Counter
from partita.recipes.idempotency import StoredResponse, Command, Plan
from partita.recipes.lifecycle import Lifecycle, Transition
from partita.recipes.versioned._migrations import Migrations
from partita.recipes.versioned._table import VersionedTable
from partita.service import Service, WorkerContext
from partita.store import PutItem, Store
from partita.testing import FakeClock, FaultyStore, assert_budget
from tests.types.correct import (
    AUDIT,
    LEASES,
    MINUTE,
    REQUESTS,
    SESSIONS,
    TABLE,
    Board,
    LoggedIn,
    LoginSession,
    Order,
    Reading,
    Status,
    Task,
    TaskLife,
    Title,
    Tools,
    User,
    Vault,
    board,
    count_tasks,
    create_task,
    latest_board,
    open_tools,
    readings_between,
    readings_on,
    rename,
    shown,
    task_by_id,
    tasks_due,
    tasks_with_prefix,
    tasks_with_status,
    task_title,
    titles_with_status,
    user_by_id,
)


def calling_patterns(user_id: str, day: date) -> None:
    task_by_id(user_id, "t")
    taks_by_id(user_id, "t")  # mistake: misspelt pattern
    task_by_id(user_id)  # mistake: an argument is missing
    task_by_id(user_id, "t", "x")  # mistake: an argument too many
    task_by_id(user_id, task="t")  # mistake: misspelt argument
    task_by_id(user_id, 7)  # mistake: wrong type of a key field
    task_by_id(user_id, None)  # mistake: None for a key field
    tasks_with_status(user_id, Status.OPEN)
    tasks_with_status(user_id, "open")  # mistake: a text where the enum is asked for
    tasks_with_status(user_id, Status.OPN)  # mistake: misspelt enum member
    tasks_due(user_id, Span.between(day, day))
    tasks_due(user_id, day)  # mistake: a value where a span is asked for
    tasks_due(user_id, Span.between(day, "2026"))  # mistake: one end of the span is not a date
    tasks_due(user_id, Span.since("2026-01-01"))  # mistake: a span of texts for a date
    tasks_with_prefix(user_id, Prefix("0"))
    tasks_with_prefix(user_id, "0")  # mistake: a text where a prefix is asked for
    tasks_with_prefix(user_id, Prefix(0))  # mistake: a prefix that is not text
    board(user_id)
    board(user_id, 10)  # mistake: an argument too many for a collection
    create_task(User)  # mistake: a class where an entity is asked for


def indexes(made: Reading, db: Session, day: date) -> None:
    made.day.isoformat()
    made.day.hour  # mistake: a derived part has the type that its function returns
    made.shard.lower()  # mistake: a shard is a number
    made.dya  # mistake: misspelt derived part
    readings_on("s", day)
    readings_on("s", "2026-01-01")  # mistake: a text for a derived date
    readings_on("s")  # mistake: a derived part is missing
    readings_between("s", "p", Status.OPEN, Span.since(5))
    readings_between("s", "p", Status.OPEN, 5)  # mistake: a value for a span of the last attribute
    readings_between("s", "p", Status.OPEN, Span.since("5"))  # mistake: a span of texts for a number attribute
    Derived(5)  # mistake: a derived part is not made of a value
    Derived("day")  # mistake: a derived part is not named
    Shards("8", "at")  # mistake: a number of shards that is a text
    Shards(8, 5)  # mistake: a field of a shard that is a number
    Key("A#{a}", 5)  # mistake: a sort key that is a number
    Key(["{a}", 5], "B")  # mistake: one template of several is a number
    Key("A", "B", when="open")  # mistake: a condition that is a text
    Key("A", "B", indx="GSI1")  # mistake: misspelt option of a key
    Index("many", hash=["a", ("b", "N")])
    Index("many", hash=["a", ("b", "X")])  # mistake: an attribute of a type that there is not
    Index("many", hash=["a", 5])  # mistake: an attribute that is a number
    collect(Board, "USER#{user_id}", limits={Task: 20})
    collect(Board, "USER#{user_id}", limits={Task: "20"})  # mistake: a limit that is a text
    collect(Board, "USER#{user_id}", limits={"Task": 20})  # mistake: a limit for a name
    collect(Board, 5)  # mistake: a partition that is a number
    latest_board("u").page("10")  # mistake: a page size of a collection that is a text
    latest_board("u").page(10, after=5)  # mistake: a cursor of a collection that is a number
    latest_board("u", 20)  # mistake: a limit where it is declared already
    db.run(latest_board("u").page()).result.tasks  # mistake: the result of a page may be None
    db.run(latest_board("u").page()).items  # mistake: a page of a collection has a result


def conditions(day: date) -> None:
    f(Task.status).eq(Status.OPEN)
    f(Task.statuss)  # mistake: misspelt field
    f(User.address.town)  # mistake: misspelt nested field
    f(Task.status).equals(Status.OPEN)  # mistake: misspelt comparison
    f(Task.status).eq("open")  # mistake: equal to a text instead of the enum
    f(Task.status).eq(None)  # mistake: equal to None, though the field is never None
    f(Task.due).eq(None)
    f(Task.due).ge("2026-01-01")  # mistake: a date compared with a text
    f(Task.points).gt("5")  # mistake: a number compared with a text
    f(Task.points).lt(f(Task.title))  # mistake: a number compared with a text field
    f(Task.points).between(1, 5)
    f(Task.points).between(1, "5")  # mistake: one end of between is not a number
    f(Task.points).between(1)  # mistake: between with one end
    f(Task.status).is_in([Status.OPEN])
    f(Task.status).is_in(["open"])  # mistake: in a list of texts instead of the enum
    f(Task.status).is_in(Status.OPEN)  # mistake: in one value instead of several
    f(Task.title).begins_with("a")
    f(Task.title).begins_with(1)  # mistake: begins with a number
    f(Task.points).begins_with("1")  # mistake: a number begins with nothing
    f(Task.due).contains("2026")  # mistake: a date contains nothing
    f(Task.tags).has("red")
    f(Task.tags).has(1)  # mistake: a set of texts has no number
    f(Task.title).has("a")  # mistake: a text has no members
    f(Task.notes).size().eq("3")  # mistake: a size compared with a text
    f(Task.title).eq(f(Task.notes).size())  # mistake: a text compared with a size
    f(Task.notes).size().exists()  # mistake: a size is always there
    f(Order.by_number["5"])  # mistake: a text for a key that is a number
    f(Order.lines[0].price)  # mistake: misspelt field of an element
    not_(f(Task.due).exists())
    not_(f(Task.due))  # mistake: a field is not a condition
    all_of(f(Task.points).le(3), f(Task.due).ge(day))
    all_of(f(Task.points).le(3), Task.points == 3)  # mistake: == makes no condition
    any_of([f(Task.points).le(3)])  # mistake: a list of conditions instead of several


def changes(task: Task) -> None:
    update(task, f(Task.title).set("x"))
    update(task)
    f(Task.title).set(1)  # mistake: a number set for a text
    f(Task.title).set(None)  # mistake: None set for a field that is never None
    f(Task.due).set(None)
    f(Task.due).set(0)  # mistake: a number set for a date
    f(Task.points).set(f(Task.title))  # mistake: a text field set for a number
    f(Task.points).add(1)
    f(Task.points).add("1")  # mistake: a text added to a number
    f(Task.title).add(1)  # mistake: a number added to a text
    f(Task.points).set(f(Task.points).plus("1"))  # mistake: a number plus a text
    f(Task.notes).size().set(3)  # mistake: a size that is set
    f(Task.notes).size().add(1)  # mistake: a size that is added to
    f(Task.notes).size().plus(1)  # mistake: a size that is a term
    f(Task.notes).size().remove()  # mistake: a size that is removed
    f(Task.points).set(f(Task.notes).size())  # mistake: a number set to a size
    f(Task.price).add(Decimal("0.5"))
    f(Task.tags).add_members({"red"})
    f(Task.tags).add_members({1})  # mistake: a number for a set of texts
    f(Task.tags).add_members("red")  # mistake: a text instead of a set
    f(Task.points).remove_members({1})  # mistake: a number has no members
    f(Task.notes).set(f(Task.notes).with_appended([1]))  # mistake: a number for a list of texts
    f(Task.title).with_appended(["x"])  # mistake: a text is not a list
    f(Task.notes).append(["x"])
    f(Task.notes).append([1])  # mistake: a number appended to a list of texts
    f(Task.notes).append("x")  # mistake: a text appended as if it were a list
    f(Task.title).append(["x"])  # mistake: a list appended to a text
    f(Task.points).prepend([1])  # mistake: a list put before a number
    f(Task.notes).set(f(Task.notes).or_default([]).with_appended(["x"]))
    f(Task.notes).set(f(Task.notes).or_default([]).with_appended([1]))  # mistake: a number appended to a default list
    f(Task.notes).or_default("x")  # mistake: a text as default of a list
    f(Task.points).set(f(Task.points).or_default(1).plus("1"))  # mistake: a default plus a text
    f(Task.title).or_default("x").with_appended(["x"])  # mistake: a default text is not a list
    f(Task.notes[0]).remove()
    f(Task.notes["x"]).remove()  # mistake: a list position that is a text
    upsert(task, f(Task.points).add(1))
    upsert(task, f(Task.title).eq("x"))  # mistake: a condition as a change of an upsert
    upsert("t", f(Task.title).set("x"))  # mistake: an upsert of a text
    upsert(tasks_with_status("u", Status.OPEN), f(Task.title).set("x"))  # mistake: an upsert of a query
    update(task, f(Task.title).eq("x"))  # mistake: a condition where a change is asked for
    update(task, title="x")  # mistake: changes are not keyword arguments
    update("t", f(Task.title).set("x"))  # mistake: an update of a text
    update(Task, f(Task.title).set("x"))  # mistake: an update of a class
    update(tasks_with_status("u", Status.OPEN), f(Task.title).set("x"))  # mistake: an update of a query
    update(task, f(Task.title).set("x")).when(f(Task.title).set("y"))  # mistake: a change where a condition is asked for


def entities(task: Task) -> None:
    Task(user_id="u", title="x")
    Task(user_id="u")  # mistake: a field is missing
    Task(user_id="u", titel="x")  # mistake: misspelt field of the constructor
    Task(user_id="u", title=1)  # mistake: a number for a text
    Task(user_id="u", title="x", status="open")  # mistake: a text for the enum
    Task("u", "x")  # mistake: fields by position
    task.title = "y"  # mistake: an entity is frozen
    task.with_changes(f(Task.title).set("y"))
    task.titel  # mistake: misspelt attribute
    insert(Title(task_id="t", title="x"))  # mistake: a view is not an entity
    put({"user_id": "u"})  # mistake: a dictionary is not an entity
    delete("t")  # mistake: a text is not an entity


def secrets(db: Session, vault: Vault, store: Store) -> None:
    Vault(owner="ada", pin="1234")
    Vault(owner="ada", pin=1234)  # mistake: a number for an encrypted text
    Vault(owner="ada")  # mistake: an encrypted field is missing
    vault.pin.upper()
    vault.pin.get_secret_value()  # mistake: an encrypted field is of its own type
    vault.story.upper()  # mistake: a compressed field may be None
    f(Vault.pin).set(b"1234")  # mistake: bytes for an encrypted text
    reseal("vault")  # mistake: a text is resealed
    Session(store, keys="keys.json")  # mistake: a path instead of keys
    Session(store, keys=LocalKeys)  # mistake: a class instead of keys
    LocalKeys({"1": "text"}, "1")  # mistake: a key that is text
    KmsKeys()  # mistake: keys of KMS without a name


def reading(db: Session) -> None:
    found = db.run(task_by_id("u", "t"))
    found.title  # mistake: the item may be missing
    if found is not None:
        found.title
    task: Task = db.run(task_by_id("u", "t"))  # mistake: the item may be missing, assigned
    user: User | None = db.run(task_by_id("u", "t"))  # mistake: another entity
    page = db.run(tasks_with_status("u", Status.OPEN))
    page.items[0].title
    page.title  # mistake: a page is not an entity
    page.cursor  # mistake: misspelt attribute of a page
    page.next_cursor.upper()  # mistake: the last page has no cursor
    wrong: Page[User] = db.run(tasks_with_status("u", Status.OPEN))  # mistake: a page of another entity
    tasks: list[Task] = db.run(tasks_with_status("u", Status.OPEN))  # mistake: a page is not a list
    tasks_with_status("u", Status.OPEN).page("20")  # mistake: a text as limit
    tasks_with_status("u", Status.OPEN).page(20, "cursor")  # mistake: the cursor by position
    tasks_with_status("u", Status.OPEN).walk()  # mistake: a walk without a maximum
    tasks_with_status("u", Status.OPEN).where("points > 3")  # mistake: a text where a condition is asked for
    titles = db.run(titles_with_status("u", Status.OPEN))
    titles.items[0].title
    titles.items[0].points  # mistake: a field that the view has not
    db.run(tasks_with_status("u", Status.OPEN).count()).items  # mistake: a count has no items
    db.run(tasks_with_status("u", Status.OPEN).first()).title  # mistake: there may be no first
    whole = db.run(board("u"))
    whole.tasks  # mistake: the collection may be missing
    if whole is not None:
        whole.tasks[0].title
        whole.user.title  # mistake: a user has no title
    task_by_id("u", "t").title  # mistake: an operation is not its result
    one = db.run(task_title("u", "t"))
    one.title  # mistake: a view of what may be missing
    if one is not None:
        one.points  # mistake: a field that the view of a get has not
    update(task_title("u", "t"), f(Task.title).set("x"))  # mistake: an update of a view
    upsert(task_title("u", "t"), f(Task.title).set("x"))  # mistake: an upsert of a view
    db.run(count_tasks("u", Status.OPEN)).items  # mistake: a declared count has no items
    count_tasks("u", "open")  # mistake: a text for the enum of a count
    count_tasks("u")  # mistake: an argument of a count is missing
    for each in db.stream(tasks_with_status("u", Status.OPEN), max_items=10):
        each.title
        each.titel  # mistake: misspelt attribute of a streamed item
    db.stream(tasks_with_status("u", Status.OPEN))  # mistake: a stream without a maximum
    db.stream(task_by_id("u", "t"), max_items=10)  # mistake: a stream of one item
    db.stream(tasks_with_status("u", Status.OPEN), max_items=10).title  # mistake: a stream is not an entity
    db.stream(tasks_with_status("u", Status.OPEN), max_items=10)[0]  # mistake: a stream has no positions


def writing(db: Session, task: Task, user: User) -> None:
    db.run(insert(task)).title
    db.run(insert(task)).titel  # mistake: misspelt attribute of what was written
    db.run(delete(task)).title  # mistake: there may have been nothing to delete
    wrong: User = db.run(insert(task))  # mistake: an insert gives its own entity
    db.run(put(task).images()).new.title
    db.run(put(task).images()).old.title  # mistake: a put may have replaced nothing
    db.run(upsert(task).images()).old.title  # mistake: an upsert may have created
    db.run(update(task, f(Task.title).set("x")).images()).old.title
    db.run(update(task, f(Task.title).set("x")).images()).title  # mistake: images are not an entity
    db.run(delete(task).images()).new.title  # mistake: nothing is left after a delete
    db.transact(put(task).images())  # mistake: a transaction has no images
    db.transact(upsert(task))
    batch_write([upsert(task)])  # mistake: an upsert in a batch
    db.run(task)  # mistake: an entity is not an operation
    db.run(task_by_id)  # mistake: a pattern that was not called
    db.transact(insert(task), put(user))
    db.transact([insert(task)])  # mistake: a list of writes instead of several
    db.transact(task_by_id("u", "t"))  # mistake: a read in a transaction of writes
    transact(insert(task), token=7)  # mistake: a token that is not text
    check(task)  # mistake: a check of an entity instead of a get
    check(task_by_id("u", "t"), True)  # mistake: a check of a truth value
    batch_write([put(user)])
    batch_write([update(task, f(Task.title).set("x"))])  # mistake: an update in a batch


def several(db: Session) -> None:
    both = db.run(transact_get(task_by_id("u", "t"), user_by_id("u")))
    both[2]  # mistake: a third result of two gets
    first, second = both
    first.title  # mistake: the first item may be missing
    if first is not None and second is not None:
        first.title
        second.title  # mistake: the second result is a user
    transact_get(tasks_with_status("u", Status.OPEN))  # mistake: a query in a transaction of gets
    many = db.run(batch_get([task_by_id("u", "t")]))
    many[0].title  # mistake: an item of the batch may be missing
    batch_get([insert(Task(user_id="u", title="x"))])  # mistake: a write in a batch of gets
    batch_get(task_by_id("u", "t"))  # mistake: a get instead of a list of gets


def close_task(task_id: str) -> Procedure[Task]:
    task = yield from task_by_id("u", task_id)
    yield from update(task, f(Task.title).set("x"))  # mistake: in a procedure, the item may be missing
    page = yield from tasks_with_status("u", Status.OPEN)
    page.title  # mistake: in a procedure, a page is not an entity
    renamed = yield from rename("u", task_id, "x")
    renamed.title  # mistake: a procedure's result may be None
    return task  # mistake: a procedure that returns what may be missing


def procedures(db: Session) -> None:
    db.run(close_task("t")).title
    db.run(close_task("t")).titel  # mistake: misspelt attribute of a procedure's result
    db.run(close_task())  # mistake: an argument of a procedure is missing
    db.run(close_task)  # mistake: a procedure that was not called


async def with_await(db: AsyncSession, task: Task) -> None:
    (await db.run(insert(task))).title
    db.run(insert(task)).title  # mistake: await is missing
    db.transact(insert(task))  # mistake: a transaction that nobody awaits
    found: Task | None = db.run(task_by_id("u", "t"))  # mistake: a coroutine is not a result
    (await db.run(task_by_id("u", "t"))).title  # mistake: the item may be missing, awaited


async def wrong_session(db: Session, task: Task) -> None:
    await db.run(insert(task))  # mistake: a result that cannot be awaited


def settings(db: Session, day: datetime) -> None:
    Session()  # mistake: a session without a store
    Session("tasks.db")  # mistake: a path is not a store
    Session(db.store, strict=True)  # mistake: misspelt setting
    db.create_tables([TABLE])
    db.create_tables(["typed"])  # mistake: names instead of tables
    db.create_tables([Task])  # mistake: an entity is not a table
    Table("years", hash=("year", "Number"))  # mistake: a key type that there is not
    Table("years", stream="NEW_AND_OLD")  # mistake: a stream view that there is not
    Index("GSI1", projection="KEYS-ONLY")  # mistake: a projection that there is not
    Rcu("5")  # mistake: a budget that is not a number
    day + Wcu(5)  # mistake: a budget added to a date


def in_tests(db: Session, store: Store) -> None:
    assert_budget(db, task_by_id("u", "t"))
    assert_budget(db, task_by_id("u", "t")).title  # mistake: what a budget is asserted of may be missing
    assert_budget(db, close_task("t"))  # mistake: a procedure has no budget
    FaultyStore(store).throttle(2, on=PutItem)
    FaultyStore(store).throttle(2, on="PutItem")  # mistake: a name instead of a request type
    FaultyStore(store).throtle(2)  # mistake: misspelt fault
    FakeClock().advance("90")  # mistake: seconds that are not a number


class Note(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "NOTE#{note_id}")
    user_id: str
    note_id: str


Key("USER#{user_id}", sort="NOTE")  # mistake: misspelt argument of a key
Key(7)  # mistake: a template that is not text


@get(Title)  # mistake: a view has no key
def title_by_id(task_id: str) -> None: ...


@query(Task, Task.by_color)  # mistake: misspelt key
def tasks_with_color(user_id: str) -> None: ...


@query(Task, "by_status")  # mistake: a text instead of a key
def tasks_by_name(user_id: str) -> None: ...


@query(Task)  # mistake: a query without a key
def tasks_somehow(user_id: str) -> None: ...


@get(Note, budget=5)  # mistake: a budget without a unit
def note_by_id(user_id: str, note_id: str) -> None: ...


@get(Note)  # mistake: the body of a pattern gives a result
def note_of(user_id: str, note_id: str) -> Note:
    return Note(user_id=user_id, note_id=note_id)


@collect(Board)  # mistake: a collection without its partition
def board_of(user_id: str) -> None: ...


@pattern(budget=Wcu(2))
def create_note(note: Note) -> Put[Note]:
    return insert(note)


@pattern()  # mistake: a pattern that builds no operation
def make_note(user_id: str) -> Note:
    return Note(user_id=user_id, note_id="n")


create_note(Task(user_id="u", title="x"))  # mistake: an entity of another type


@dataclass(frozen=True)
class Notes:
    notes: tuple[Note, ...]


@collect(Notes, "USER#{user_id}")
def notes_of(user_id: str) -> None: ...


def notes(db: Session) -> None:
    found = db.run(notes_of("u"))
    if found is not None:
        found.notes[0].note_id
        found.notes[0].title  # mistake: a note has no title


def versioned(db: Session, user: User, task: Task) -> None:
    users = VersionedTable(user_by_id, data_version=1, example=user)
    users.read("u")
    users.read(1)  # mistake: a number for the key of a versioned table
    users.read()  # mistake: the key of a versioned table is missing
    users.insert(task)  # mistake: data of another versioned table
    users.update(user)  # mistake: data without the version that was read
    users.change(lambda data: data, "u")
    users.change(lambda data: data.user_id, "u")  # mistake: a change that gives no data
    users.change(lambda data: data, 1)  # mistake: a change under a key of the wrong type
    users.delete_at("now", "u")  # mistake: a last write that is not a number
    db.run(users.read("u")).data  # mistake: a versioned item may be missing
    db.run(users.insert(user)).last_read  # mistake: misspelt bookkeeping
    VersionedTable(user_by_id, data_version=1, example=task)  # mistake: an example of another entity
    VersionedTable(user_by_id, data_version="1", example=user)  # mistake: a data version that is not a number
    Migrations({1: lambda item: item})
    Migrations({"1": lambda item: item})  # mistake: a migration under a version that is not a number
    Migrations({1: lambda item: 1})  # mistake: a migration that gives no item


def counting() -> None:
    points = Counter(Task, f(Task.points))
    points.up(task_by_id("u", "t"), 2)
    points.up(task_by_id("u", "t"), "2")  # mistake: a distance that is not a number
    points.down(user_by_id("u"))  # mistake: the counter of another entity
    Counter(Task, f(Task.title))  # mistake: a counter that is not a number


class WrongLife(Lifecycle[Task, Status]):
    state = f(Task.title)  # mistake: the state is not an enum
    start = "open"  # mistake: a text for the first state


class OtherStates(Lifecycle[Task, Status]):
    state = f(Task.status)
    start = Status.OPEN
    finish = Transition("open", to="done")  # mistake: states that are texts
    close = Transition(Status.OPEN, to=Status.CLOSED)  # mistake: a state that there is not


def lifecycles(db: Session, task: Task, user: User) -> None:
    TaskLife.finish(task)
    TaskLife.finnish(task)  # mistake: misspelt transition
    TaskLife.finish(user)  # mistake: a transition of another entity
    TaskLife.finish(user_by_id("u"))  # mistake: a transition at another entity's key
    TaskLife.finish(task, Status.DONE)  # mistake: a state where a change is asked for
    db.run(TaskLife.finish(task)).statuss  # mistake: misspelt field after a transition


def idempotency(db: Session, task: Task, user: User, command: Command) -> None:
    REQUESTS.run(command, Plan(task, insert(task)), shown)
    REQUESTS.run("key", Plan(task, insert(task)), shown)  # mistake: a key without its command
    REQUESTS.run(command, insert(task), shown)  # mistake: a write where a plan is asked for
    REQUESTS.run(command, Plan(user, insert(user)), shown)  # mistake: an answer to another result
    Plan(task, task)  # mistake: an entity where an action is asked for
    REQUESTS.begin(command, owner="w", lease=30)  # mistake: a lease in seconds
    REQUESTS.complete(command, "done", owner="w")  # mistake: a text where an answer is asked for
    StoredResponse.of("text")  # mistake: an answer that is not a model
    db.run(REQUESTS.record(command)).status  # mistake: a record may be missing


def leases(db: Session, session: LoginSession) -> None:
    lease = db.run(LEASES.acquire("sweep", owner="w", duration=MINUTE))
    LEASES.acquire("sweep", duration=MINUTE)  # mistake: a lease without its owner
    LEASES.renew(session, duration=MINUTE)  # mistake: a lease that is none
    db.run(LEASES.check(lease))  # mistake: a check outside a transaction
    lease.fences  # mistake: misspelt number of a lease


def web_sessions(db: Session) -> None:
    db.run(SESSIONS.resolve("cookie")).user_id  # mistake: a session may have ended
    SESSIONS.create("cookie")  # mistake: a session without its user
    SESSIONS.resolve(None)  # mistake: a cookie that is not there


def audits(task: Task, trace: Trace) -> None:
    AUDIT.append(LoggedIn(method="m"), user_id="u", trace=trace)
    AUDIT.append(task, user_id="u", trace=trace)  # mistake: an entity where an event is asked for
    AUDIT.append(LoggedIn(method="m"), user_id="u", trace="r")  # mistake: a text where a trace is asked for
    AUDIT.append(LoggedIn(method="m", cookie="c"), user_id="u", trace=trace)  # mistake: what the event does not declare
    AUDIT.append(LoggedIn(method="m"), trace=trace)  # mistake: an event of nobody


def work_with_text(context: WorkerContext[str]) -> None:
    context.resources.name  # mistake: an attribute that a text does not have


def services() -> None:
    Service("t", "T", "T.", (), APIRouter, resources=open_tools, worker=work_with_text)  # mistake: a worker with others


async def route(tools: Resources[Tools], state: CurrentState[Tools], once: Once, only: IfMatch, task: Task) -> None:
    tools.names  # mistake: misspelt attribute of what a service has opened
    state.resources.names  # mistake: the same in its state
    only.allows(1)  # mistake: a precondition may be missing
    once.command(Plan(1, insert(task)), shown)  # mistake: a response to another result
    (await state.session.run(once.command(Plan(task, insert(task)), shown))).result.title  # mistake: may be replayed
