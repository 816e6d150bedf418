"""A projection of the change stream: counts by status and priority, the words of tasks, and their latest changes.

There is one row for each task; triggers keep the counts and the words in step with it, so all change in one commit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import apsw
from pydantic import BaseModel, Field

from partita.change import RECENT_CHANGES, ItemChange, SqliteProjection, note_change
from partita_services.todo.model import Priority, Status, Task
from partita_services.todo.search import Found, search_words

NO_PRIORITY: Final = "none"
_EVERYBODY: Final = ""  # no user's id is empty

_TABLES: Final = """
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY, pk TEXT NOT NULL, sk TEXT NOT NULL,
    user_id TEXT NOT NULL, task_id TEXT NOT NULL, owner TEXT NOT NULL,
    status TEXT NOT NULL, priority TEXT NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL,
    UNIQUE (pk, sk)
);
CREATE TABLE counts (
    user_id TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, tasks INTEGER NOT NULL,
    PRIMARY KEY (user_id, field, value)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    owner, title, description, content = 'tasks', content_rowid = 'number',
    tokenize = "unicode61 remove_diacritics 2", prefix = '1 2 3 4 5 6 7 8'
);
CREATE TRIGGER task_added AFTER INSERT ON tasks BEGIN
    INSERT INTO words (rowid, owner, title, description) VALUES (new.number, new.owner, new.title, new.description);
    INSERT INTO counts VALUES
        (new.user_id, 'status', new.status, 1), (new.user_id, 'priority', new.priority, 1),
        ('', 'status', new.status, 1), ('', 'priority', new.priority, 1)
        ON CONFLICT DO UPDATE SET tasks = tasks + 1;
END;
CREATE TRIGGER task_removed AFTER DELETE ON tasks BEGIN
    INSERT INTO words (words, rowid, owner, title, description)
        VALUES ('delete', old.number, old.owner, old.title, old.description);
    UPDATE counts SET tasks = tasks - 1
        WHERE user_id IN (old.user_id, '')
        AND ((field = 'status' AND value = old.status) OR (field = 'priority' AND value = old.priority));
END;
"""


_ADD: Final = "INSERT INTO tasks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_REMOVE: Final = "DELETE FROM tasks WHERE pk = ? AND sk = ?"


class Counts(BaseModel):
    """How many tasks there are, by status and by priority."""

    by_status: dict[Status, int] = Field(examples=[{"pending": 3, "in_progress": 1, "completed": 9, "cancelled": 0}])
    by_priority: dict[str, int] = Field(
        description=f"`{NO_PRIORITY}` counts tasks without a priority",
        examples=[{"urgent": 1, "high": 2, "medium": 4, "low": 3, NO_PRIORITY: 3}],
    )


class TaskProjection(SqliteProjection):
    """Counts of tasks and a search over them, as far as the changes of the table have been read."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, tables=_TABLES + RECENT_CHANGES, apply=_apply)

    def counts(self, user_id: str | None = None) -> Counts:
        """The counts of one user, or of all users."""
        rows = self.read("SELECT field, value, tasks FROM counts WHERE user_id = ?", [user_id or _EVERYBODY])
        found = {(field, value): tasks for field, value, tasks in rows}
        return Counts(
            by_status={status: found.get(("status", status), 0) for status in Status},
            by_priority={value: found.get(("priority", value), 0) for value in (*map(str, Priority), NO_PRIORITY)},
        )

    def search(self, user_id: str, text: str, limit: int, offset: int = 0) -> Found:
        """The identifiers of a user's tasks that have all the words, best first; the last one may be a prefix."""
        return search_words(self.read, _owner(user_id), text, limit, offset)


def _apply(connection: apsw.Connection, change: ItemChange) -> None:
    """Replace the row of the task with its current state."""
    if change.entity is not Task:
        return
    key = (change.keys["PK"], change.keys["SK"])
    user_id, task_id = (part.partition("#")[2] for part in key)
    note_change(connection, user_id, task_id)
    if change.new is not None:
        row = (*key, *_columns(change.new))
        connection.execute(_ADD, row)
        if connection.changes():
            return  # it is new, as most are
        connection.execute(_REMOVE, key)
        connection.execute(_ADD, row)
    else:
        connection.execute(_REMOVE, key)


def _columns(task: Task) -> tuple[Any, ...]:
    priority = task.priority or NO_PRIORITY
    owner = _owner(task.user_id)
    return task.user_id, task.task_id, owner, task.status, priority, task.title, task.description or ""


def _owner(user_id: str) -> str:
    """A user's id as one word, so that the word index can select the tasks of a user."""
    return f"u{user_id.encode().hex()}"
