"""Handlers of requests that read a queue without changing it."""

from __future__ import annotations

from typing import Final

from partita.errors import StoreDamaged
from partita.queue._interface import (
    MAX_HIDDEN_SECONDS,
    Create,
    DeadLetter,
    GetStats,
    QueueRequest,
    QueueStats,
    ReadDead,
)
from partita.queue.embedded._file import DAMAGED, MICROSECONDS, QueueConnection

_WRONG_GROUPS: Final = """
    SELECT coalesce(groups.name, found.name) FROM groups FULL JOIN (
        SELECT group_name AS name, min(sequence) AS first, ifnull(max(visible_at), 0) AS held_until
        FROM messages GROUP BY group_name
    ) AS found ON groups.name = found.name
    WHERE groups.first IS NOT found.first OR groups.held_until IS NOT found.held_until
"""


class IsReady(QueueRequest[bool], frozen=True):
    """Whether there is a message to receive."""


def is_ready(reader: QueueConnection, request: IsReady) -> bool:  # noqa: ARG001 - has no fields
    """Look for a group that is not held back."""
    return bool(reader.rows("SELECT 1 FROM groups WHERE held_until NOT BETWEEN ? AND ? LIMIT 1", *reader.hidden()))


class GetNextVisible(QueueRequest[float], frozen=True):
    """The seconds until the next hidden message can be received; without one, the maximum hidden time."""


def get_next_visible(reader: QueueConnection, request: GetNextVisible) -> float:  # noqa: ARG001 - has no fields
    """Look for the group that is held back for the shortest time."""
    [(first,)] = reader.rows("SELECT min(held_until) FROM groups WHERE held_until BETWEEN ? AND ?", *reader.hidden())
    return MAX_HIDDEN_SECONDS if first is None else max(first - reader.now(), 0) / MICROSECONDS


def create(reader: QueueConnection, request: Create) -> None:
    """Do nothing: opening the queue has created the file."""


def get_stats(reader: QueueConnection, request: GetStats) -> QueueStats:  # noqa: ARG001 - has no fields
    """Count the messages."""
    now = reader.now()
    [(count, in_flight, oldest)] = reader.rows(
        "SELECT count(*), (SELECT count(*) FROM messages WHERE visible_at IS NOT NULL AND visible_at BETWEEN ? AND ?),"
        " (SELECT sent_at FROM messages ORDER BY sequence LIMIT 1) FROM messages",
        *reader.hidden(),
    )
    [(dead,)] = reader.rows("SELECT count(*) FROM dead")
    age = None if oldest is None else max(now - oldest, 0) / MICROSECONDS
    return QueueStats(count - in_flight, in_flight, dead, age)


def read_dead(reader: QueueConnection, request: ReadDead) -> tuple[DeadLetter, ...]:
    """Read the oldest dead letters."""
    statement = "SELECT sequence, body, group_name, sent_at FROM dead ORDER BY sequence LIMIT ?"
    rows = reader.rows(statement, request.limit)
    return tuple(
        DeadLetter(str(sequence), body, group, sent_at / MICROSECONDS) for sequence, body, group, sent_at in rows
    )


class Verify(QueueRequest[None], frozen=True):
    """Check the queue for damage."""


def verify(reader: QueueConnection, request: Verify) -> None:  # noqa: ARG001 - has no fields
    """Check the file, and that each row in `groups` matches the messages of the group.

    Raises:
        StoreDamaged: the file is damaged; the message says where.
    """
    path = reader.connection.filename
    with reader.connection:  # one snapshot for everything
        for (finding,) in reader.rows("PRAGMA integrity_check"):
            if finding != "ok":
                raise StoreDamaged(f"The queue {path} is damaged: {finding}.", hint=DAMAGED)
        for (group,) in reader.rows(_WRONG_GROUPS):
            raise StoreDamaged(f"The queue {path} is damaged: group {group} disagrees with its messages.", hint=DAMAGED)
