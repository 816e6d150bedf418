"""Collections: several entities of one partition in one read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

import pytest
from tests.model.sample import Board, Comment, MaybeBoard, Step, Task, User, board, maybe_board

from partita import Entity, Index, Key, Registry, Session, Table, collect, insert, put
from partita.errors import LimitExceeded
from partita.testing import FakeClock

ADA = User(user_id="u", name="Ada")


def test_a_collection_is_read_into_its_declared_result(db: Session) -> None:
    db.run(insert(ADA))
    tasks = tuple(db.run(insert(Task(user_id="u", task_id=task_id))) for task_id in "ab")
    db.run(put(Step(user_id="u", task_id="a", number=1)))
    db.run(put(Comment(user_id="u", comment_id="c")))
    db.run(insert(User(user_id="v", name="Eve")))
    with db.meter.watch() as seen:
        assert db.run(board("u")) == Board(ADA, tasks)
    assert seen[0].requests == ("QueryTable",)


def test_a_collection_without_its_required_entity_is_none(db: Session) -> None:
    db.run(insert(Task(user_id="u", task_id="t")))
    assert db.run(board("u")) is None


def test_an_optional_entity_may_be_missing(db: Session) -> None:
    comment = db.run(put(Comment(user_id="u", comment_id="c")))
    assert db.run(maybe_board("u")) == MaybeBoard(None, (comment,))
    assert db.run(maybe_board("nobody")) == MaybeBoard(None, ())


def test_expired_items_are_in_no_collection(db: Session, fake_clock: FakeClock) -> None:
    db.run(insert(ADA))
    at = datetime.fromtimestamp(fake_clock() + 5, UTC)
    db.run(insert(Task(user_id="u", task_id="t", expires_at=at)))
    fake_clock.advance(5)
    assert db.run(board("u")) == Board(ADA, ())


@pytest.mark.parametrize(("tasks", "fits"), [(49, True), (50, False)])
def test_a_partition_larger_than_the_limit_is_refused_rather_than_cut(db: Session, tasks: int, fits: bool) -> None:  # noqa: FBT001
    db.run(insert(ADA))
    for n in range(tasks):
        db.run(insert(Task(user_id="u", task_id=str(n))))
    if fits:
        found = db.run(board("u"))
        assert found is not None
        assert len(found.tasks) == tasks
    else:
        with pytest.raises(LimitExceeded, match="board has more than 50 items in one partition"):
            db.run(board("u"))


def test_a_collection_goes_on_over_pages_of_one_megabyte(db: Session) -> None:
    db.run(insert(ADA))
    titles = [str(n) + "x" * 300_000 for n in range(6)]
    for n, title in enumerate(titles):
        db.run(insert(Task(user_id="u", task_id=str(n), title=title)))
    found = db.run(board("u"))
    assert found is not None
    assert [task.title for task in found.tasks] == titles


def test_a_consistent_collection_costs_twice_as_much(db: Session) -> None:
    db.run(insert(ADA))
    with db.meter.watch() as seen:
        db.run(board("u"))
        db.run(board("u").consistent())
    assert [run.read for run in seen] == [0.5, 1.0]


ZOO = Table("zoo", indexes=[Index("GSI1")], registry=Registry())


class Cat(Entity, table=ZOO):
    primary: ClassVar = Key("CAT#{name}", "CAT")
    by_cage: ClassVar = Key("CAGE#{cage}", "CAT#{name}", index="GSI1")
    name: str
    cage: str


class Dog(Entity, table=ZOO):
    primary: ClassVar = Key("DOG#{name}", "DOG")
    by_cage: ClassVar = Key("CAGE#{cage}", "DOG#{name}", index="GSI1")
    name: str
    cage: str


@dataclass(frozen=True)
class Cage:
    cats: tuple[Cat, ...]
    dogs: tuple[Dog, ...]


@collect(Cage, "CAGE#{cage}", index="GSI1")
def cage_named(cage: str) -> None:
    """All animals of a cage."""


def test_a_collection_of_an_index_gathers_items_of_many_partitions(partita_db: Session) -> None:
    partita_db.create_tables([ZOO])
    cats = tuple(partita_db.run(insert(Cat(name=name, cage="1"))) for name in ("Mia", "Tom"))
    dogs = (partita_db.run(insert(Dog(name="Rex", cage="1"))),)
    partita_db.run(insert(Dog(name="Max", cage="2")))
    assert partita_db.run(cage_named("1")) == Cage(cats, dogs)
