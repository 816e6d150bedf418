"""Tasks by meaning: a vector index, with an embedder of your choice or a small one that needs no model.

    pip install 'partita[vectors]'
    python meanings.py

| access pattern | what it reads or writes | budget |
| --- | --- | --- |
| `add_task(task)` | write a new task | 3 WCU |
| `similar_tasks(user_id, vector, top)` | a user's tasks that are most similar to a vector | 16 KB searched |
| `similar_open_tasks(user_id, status, vector, top)` | the same for tasks with one status | 16 KB searched |

An embedder is a function from a text to a vector. It may call a model; `by_letters` counts sequences of three letters
instead, so it finds other forms of a word and words with typing errors, but not synonyms. The vector is a field of the
task. The partition is the user, so a search never finds another user's tasks.

It prints:

    like "bok a flight": Book a flight to Perth, Flights: ask for a refund, Buy milk and bread
    open, like "milk": Buy milk and bread
    similar_tasks: SearchVectors on by-meaning
      budget:    16 KB searched
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, ClassVar, TypeAlias

from partita import (
    Dimensions,
    EmbeddedStore,
    Entity,
    Key,
    Put,
    SearchedKb,
    Session,
    Table,
    Vector,
    VectorIndex,
    Wcu,
    explain,
    insert,
    pattern,
    search,
)

DIMENSIONS = 256
TABLE = Table("meanings", indexes=[VectorIndex("by-meaning", "embedding", DIMENSIONS, filters=("status",))])

Embedder: TypeAlias = Callable[[str], Vector]
"""Returns the vector of a text. All vectors of an index must come from the same embedder."""


class Status(StrEnum):
    """Whether a task is open or done."""

    OPEN = "open"
    DONE = "done"


class Task(Entity, table=TABLE):
    """A task, with the vector of its title."""

    primary: ClassVar = Key("TASK#{user_id}", "{task_id}")
    by_meaning: ClassVar = Key("TASK#{user_id}", index="by-meaning")

    user_id: str
    task_id: str
    title: str
    status: Status = Status.OPEN
    embedding: Annotated[Vector, Dimensions(DIMENSIONS)]


@pattern(budget=Wcu(3))
def add_task(task: Task) -> Put[Task]:
    """Write a new task."""
    return insert(task)


@search(Task, Task.by_meaning, budget=SearchedKb(16))
def similar_tasks(user_id: str, vector: Vector, top: int) -> None:
    """A user's tasks that are most similar to a vector."""


@search(Task, Task.by_meaning, budget=SearchedKb(16))
def similar_open_tasks(user_id: str, status: Status, vector: Vector, top: int) -> None:
    """A user's tasks with one status that are most similar to a vector."""


def by_letters(text: str) -> Vector:
    """Count each sequence of three letters in a text, at an index that is its hash: the same in every process."""
    places = [0.0] * DIMENSIONS
    for word in text.lower().split():
        marked = f"<{''.join(filter(str.isalnum, word))}>"
        for start in range(len(marked) - 2):
            places[zlib.crc32(marked[start : start + 3].encode()) % DIMENSIONS] += 1.0
    return tuple(places)


def tell(db: Session, embed: Embedder = by_letters) -> None:
    """Add some tasks, search them, and print the results."""
    titles = {
        "Book a flight to Perth": Status.OPEN,
        "Buy milk and bread": Status.OPEN,
        "Flights: ask for a refund": Status.DONE,
        "Milk the goat": Status.DONE,
    }
    for number, (title, status) in enumerate(titles.items()):
        task = Task(user_id="ann", task_id=f"t{number}", title=title, status=status, embedding=embed(title))
        db.run(add_task(task))
    found = db.run(similar_tasks("ann", embed("bok a flight"), 3))
    print('like "bok a flight":', ", ".join(match.entity.title for match in found))
    is_open = db.run(similar_open_tasks("ann", Status.OPEN, embed("milk"), 1))
    print('open, like "milk":', ", ".join(match.entity.title for match in is_open))
    name, _, budget, *_ = str(explain(similar_tasks("ann", embed("milk"), 3))).splitlines()
    print(name, budget, sep="\n")


if __name__ == "__main__":
    with EmbeddedStore(":memory:") as store:
        session = Session(store)
        session.create_tables([TABLE])
        tell(session)
